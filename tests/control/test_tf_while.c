/* test_tf_while.c -- TensorFlow's own cases of while_loop: values, nesting, variables
 * (control_flow_ops_py_test.py, while_v2_test.py). Their gradients: test_tf_while_grad.c. */
#include "build/gen/suites.h"
#include "tests/lib/tf_cases.h"

BODY(below, Less(x[0], c[0]))
BODY(below_at_0, Less(eddy_index(x[0], "0"), c[0]))
BODY(add_one, Add(x[0], 1))
BODY(add_captured, Add(x[0], c[0]))
BODY(add_copy, Add(x[0], Identity(c[0])))
BODY(sum_step, Add(x[0], 1), Add(x[1], x[0]))
BODY(four, Add(x[0], 1), Add(x[1], 1), Add(x[2], 1), Add(Add(x[3], Add(x[1], 1)), Add(x[2], 1)))
BODY(gathered, Add(x[0], 1), Gather(c[0], x[0]), Gather(c[0], x[0]),
     Add(Add(x[3], Gather(c[0], x[0])), Gather(c[0], x[0])))
BODY(twice, Add(x[0], x[0]))
BODY(squares, Add(x[0], 1), Square(x[1]))
BODY(nested_input, Add(x[0], 1), x[1], Add(x[2], 1), x[3], Add(x[4], 2))
BODY(minus_one, Sub(x[0], 1))
BODY(itself, x[0])
BODY(captured, c[0])
BODY(plus_captured, Add(c[0], c[1]))
BODY(minus_captured, Sub(c[0], c[1]))
BODY(ten, eddy_number(x[0].graph, EDDY_INT32, 10))
BODY(squared_again, eddy_assign(c[0], Square(c[0])))
BODY(tile_it, Add(x[0], 1), eddy_tile(x[1], EDDY_DIMS(2, 2)))

/* A body that runs another loop: repeats while x[0] is below `limit`. */
static int repeat(eddy_tensor limit, eddy_function body, eddy_list x, eddy_tensor *y)
{
    return eddy_while_loop(FUNCTION(below, limit), body, x, y);
}
static int count_to(trial *t, double n, eddy_function body, eddy_tensor *y)
{
    return repeat(whole(t, n), body, EDDY_LIST(whole(t, 0)), y);
}

/* ------------------------------------------------------------------- values -- */

static int while_1(trial *t, eddy_tensor *y) { return count_to(t, 10000, PLAIN(add_one), y); }
static int while_2(trial *t, eddy_tensor *y)
{
    return repeat(whole(t, 10), PLAIN(sum_step), EDDY_LIST(whole(t, 0), whole(t, 0)), y);
}
static int while_3(trial *t, eddy_tensor *y)
{
    const eddy_tensor z = whole(t, 0);
    return repeat(integer(t, 100), PLAIN(four), EDDY_LIST(z, z, z, z), y);
}
static int while_4(trial *t, eddy_tensor *y)
{
    const double      six[] = { 1, 2, 3, 4, 5, 6 };
    const eddy_tensor z = whole(t, 0), v = given(t, I32, EDDY_SHAPE(6), six);
    return repeat(eddy_size(v, I32), FUNCTION(gathered, v), EDDY_LIST(z, z, z, z), y);
}
static int gpu_1(trial *t, eddy_tensor *y)
{
    return repeat(constant(t, 10), PLAIN(add_one), EDDY_LIST(constant(t, 1)), y);
}
static int limited(trial *t, eddy_tensor *y)
{
    const eddy_tensor s = given(t, I32, EDDY_SHAPE(5), (double[]){ 1, 2, 3, 4, 5 });
    return eddy_while_loop(FUNCTION(below, whole(t, 10)), PLAIN(sum_step),
                           EDDY_LIST(whole(t, 0), s), y, .maximum_iterations = 3);
}
static int limited_to_one(trial *t, eddy_tensor *y)
{
    return eddy_while_loop(FUNCTION(below, whole(t, 3)), PLAIN(add_one), EDDY_LIST(whole(t, 0)), y,
                           .maximum_iterations = 1);
}
static int vector(trial *t, eddy_tensor *y)
{
    const eddy_tensor n = given(t, I32, EDDY_SHAPE(1), (double[]){ 0 });
    return eddy_while_loop(FUNCTION(below_at_0, whole(t, 10000)), PLAIN(add_one), EDDY_LIST(n), y);
}
static int nest(trial *t, eddy_tensor *y)
{
    return repeat(constant(t, 100), PLAIN(nested_input),
                  EDDY_LIST(constant(t, 0), constant(t, 1), constant(t, 2), constant(t, 3),
                            constant(t, 4)), y);
}
static int loop_tensor(trial *t, eddy_tensor *y)
{
    return repeat(whole(t, 5), PLAIN(ten), EDDY_LIST(whole(t, 4)), y);
}
static int func_basic(trial *t, eddy_tensor *y)
{
    return repeat(whole(t, 4), PLAIN(squares), EDDY_LIST(whole(t, 0), constant(t, 2)), y);
}

/* ------------------------------------------------------------------ nesting -- */

static int add_sum(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor       z[EDDY_MAX_RESULTS];
    const eddy_tensor zero = eddy_number(in.at[0].graph, I32, 0);
    (void)context;
    repeat(eddy_number(in.at[0].graph, I32, 10), PLAIN(sum_step), EDDY_LIST(zero, zero), z);
    y[0] = Add(in.at[0], z[1]);
    return 1;
}
static int nested_1(trial *t, eddy_tensor *y) { return count_to(t, 200, PLAIN(add_sum), y); }
static int square_of_doubles(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor z[EDDY_MAX_RESULTS];
    (void)context;
    repeat(eddy_number(in.at[0].graph, F64, 20), PLAIN(twice), in, z);
    y[0] = Square(z[0]);
    return 1;
}
static int nested_2(trial *t, eddy_tensor *y)
{
    return repeat(constant(t, 3000), PLAIN(square_of_doubles), EDDY_LIST(constant(t, 2)), y);
}
static int counting(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    (void)in;
    return repeat(c[1], PLAIN(add_one), EDDY_LIST(c[0]), y);
}
static int cond_while(trial *t, bool first, eddy_tensor *y)
{
    const eddy_tensor   n = whole(t, 0), ten_of = whole(t, 10);
    const eddy_function loop = FUNCTION(counting, n, ten_of), other = FUNCTION(captured, n);
    return eddy_cond(truth(t, first), first ? loop : other, first ? other : loop, y);
}
static int cond_while_1(trial *t, eddy_tensor *y) { return cond_while(t, true, y); }
static int cond_while_2(trial *t, eddy_tensor *y) { return cond_while(t, false, y); }

static int by_cond(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    return eddy_cond(c[0], FUNCTION(plus_captured, in.at[0], c[1]),
                     FUNCTION(minus_captured, in.at[0], c[1]), y);
}
static int while_cond(trial *t, eddy_tensor *y)
{
    const eddy_tensor p = eddy_less(whole(t, 0), whole(t, 1));
    return count_to(t, 10, FUNCTION(by_cond, p, whole(t, 1)), y);
}
static int back_to_start(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    return eddy_cond(c[0], PLAIN(add_one), FUNCTION(captured, c[1]), y, in);
}
static int while_cond_2(trial *t, eddy_tensor *y)
{
    return count_to(t, 10, FUNCTION(back_to_start, truth(t, true), whole(t, 0)), y);
}
static int positive_by_cond(eddy_list in, eddy_tensor *y, void *context)
{
    const bool  yes = true, no = false;
    eddy_graph *g = in.at[0].graph;
    (void)context;
    return eddy_cond(Greater(in.at[0], 0),
                     FUNCTION(captured, eddy_const(g, EDDY_BOOL, EDDY_SCALAR, &yes)),
                     FUNCTION(captured, eddy_const(g, EDDY_BOOL, EDDY_SCALAR, &no)), y);
}
static int less_if_positive(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    return eddy_cond(Greater(in.at[0], 0), PLAIN(minus_one), PLAIN(itself), y, in);
}
static int cond_with_control(trial *t, eddy_tensor *y)
{
    eddy_control_begin(t->graph, EDDY_LIST(whole(t, 7)));
    const int n = eddy_while_loop(PLAIN(positive_by_cond), PLAIN(less_if_positive),
                                  EDDY_LIST(whole(t, 5)), y);
    eddy_control_end(t->graph);
    return n;
}

/* ----------------------------------------------------------------- controls -- */

static int twelve(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_graph *g = in.at[0].graph;
    (void)context;
    eddy_control_begin(g, EDDY_LIST(in.at[in.count - 1]));
    if (in.count == 2) y[0] = Add(in.at[0], 1);
    y[in.count - 1] = eddy_number(g, I32, 12);
    eddy_control_end(g);
    return in.count;
}
static int control_1(trial *t, eddy_tensor *y)
{
    return repeat(whole(t, 10), PLAIN(twelve), EDDY_LIST(whole(t, 0), whole(t, 0)), y);
}
static int control_2(trial *t, eddy_tensor *y) { return count_to(t, 10, PLAIN(twelve), y); }
static int control_outside(trial *t, eddy_function body, eddy_tensor *y)
{
    eddy_control_begin(t->graph, EDDY_LIST(truth(t, true)));
    const int n = count_to(t, 10, body, y);
    eddy_control_end(t->graph);
    return n;
}
static int control_3(trial *t, eddy_tensor *y)
{
    return control_outside(t, FUNCTION(add_captured, whole(t, 1)), y);
}
static int control_4(trial *t, eddy_tensor *y)
{
    return control_outside(t, FUNCTION(add_copy, whole(t, 1)), y);
}
static int add_after(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_control_begin(c[0].graph, EDDY_LIST(c[1]));
    y[0] = Add(in.at[0], c[0]);
    eddy_control_end(c[0].graph);
    return 1;
}
static int control_5(trial *t, eddy_tensor *y)
{
    return count_to(t, 10, FUNCTION(add_after, whole(t, 1), truth(t, true)), y);
}

/* ---------------------------------------------------------------- variables -- */

static eddy_tensor number(trial *t, eddy_dtype d, double v)
{
    return eddy_variable(t->graph, eddy_number(t->graph, d, v));
}
static eddy_tensor three_numbers(trial *t)
{
    return eddy_variable(t->graph, eddy_const(t->graph, F64, EDDY_SHAPE(3), (double[]){ 3, 4, 5 }));
}
/* One more, when the update is done. */
static eddy_tensor next(eddy_tensor i, eddy_tensor update)
{
    eddy_control_begin(i.graph, EDDY_LIST(update));
    const eddy_tensor y = Add(i, 1);
    eddy_control_end(i.graph);
    return y;
}
/* Writes 10 to element x[0] of the captured variables. */
static int scatter_tens(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    const eddy_tensor  one = eddy_number(c[0].graph, F64, 10);
    y[0] = next(in.at[0], eddy_scatter_update(c[0], in.at[0], one));
    if (eddy_is_valid(c[1])) y[0] = next(Sub(y[0], 1), eddy_scatter_update(c[1], in.at[0], one));
    return 1;
}
static int update_1(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = three_numbers(t);
    count_to(t, 3, FUNCTION(scatter_tens, v, eddy_none(t->graph)), y);
    y[1] = after(y[0], v);
    return 2;
}
static int update_2(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = three_numbers(t), w = three_numbers(t);
    count_to(t, 3, FUNCTION(scatter_tens, v, w), y);
    y[1] = after(y[0], v), y[2] = after(y[0], w);
    return 3;
}
static int scattered_value(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor v = *(eddy_tensor *)context;
    y[0] = Add(in.at[0], 1);
    y[1] = eddy_scatter_update(v, in.at[0], eddy_number(v.graph, F64, 10));
    return 2;
}
static int update_3(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = three_numbers(t);
    return repeat(whole(t, 3), FUNCTION(scattered_value, v), EDDY_LIST(whole(t, 0), Identity(v)),
                  y);
}
static int add_update(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    y[0] = next(in.at[0], eddy_assign_add(c[0], c[1]));
    return 1;
}
/* The update of a is outside, and is made once. */
static int update_4(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = number(t, I32, 0), b = number(t, I32, 0);
    const eddy_tensor once = eddy_assign_add(a, whole(t, 1));
    count_to(t, 10, FUNCTION(add_update, b, once), y);
    y[0] = after(y[0], b);
    return 1;
}
BODY(captured_below_ten, Less(c[0], 10))
static int both_up(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context, one = eddy_number(c[0].graph, I32, 1);
    (void)in;
    eddy_control_begin(c[0].graph, EDDY_LIST(eddy_assign_add(c[0], one),
                                             eddy_assign_add(c[1], one)));
    y[0] = eddy_read(c[1]);
    eddy_control_end(c[0].graph);
    return 1;
}
static int update_5(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = number(t, I32, 0), b = number(t, I32, 0);
    eddy_while_loop(FUNCTION(captured_below_ten, b), FUNCTION(both_up, a, b), EDDY_LIST(b), y);
    y[1] = after(y[0], a), y[2] = after(y[0], b);
    return 3;
}
static int one_into_other(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    const eddy_tensor  first = eddy_assign_add(c[0], eddy_number(c[0].graph, I32, 1));
    eddy_control_begin(c[0].graph, EDDY_LIST(first));
    y[0] = next(in.at[0], eddy_assign_add(c[1], eddy_read(c[0])));
    eddy_control_end(c[0].graph);
    return 1;
}
static int update_6(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = number(t, I32, 0), b = number(t, I32, 0);
    count_to(t, 10, FUNCTION(one_into_other, a, b), y);
    y[0] = after(y[0], b), y[1] = after(y[0], a);
    return 2;
}
static int square_in_branch(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_tensor        z[EDDY_MAX_RESULTS] = { eddy_none(c[0].graph) };
    eddy_cond(c[1], FUNCTION(squared_again, c[0]), FUNCTION(captured, c[0]), z);
    y[0] = next(in.at[0], z[0]);
    return 1;
}
static int cond_with_control_1(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = number(t, F64, 2);
    count_to(t, 4, FUNCTION(square_in_branch, v, truth(t, true)), y);
    y[1] = after(y[0], v);
    return 2;
}
static int assigns_and_counts(eddy_list in, eddy_tensor *y, void *context)
{
    y[0] = Add(eddy_assign(*(eddy_tensor *)context, in.at[0]), 1);
    return 1;
}
static int loops_and_is_six(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor v = *(eddy_tensor *)context;
    eddy_tensor       z[EDDY_MAX_RESULTS] = { eddy_none(v.graph) };
    (void)in;
    repeat(eddy_number(v.graph, I32, 100), FUNCTION(assigns_and_counts, v),
           EDDY_LIST(eddy_number(v.graph, I32, 0)), z);
    eddy_control_begin(v.graph, EDDY_LIST(z[0]));
    y[0] = eddy_number(v.graph, F64, 6);
    eddy_control_end(v.graph);
    return 1;
}
static int cond_exit_control(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = number(t, I32, 1);
    eddy_cond(truth(t, false), FUNCTION(captured, constant(t, 1)), FUNCTION(loops_and_is_six, v),
              y);
    y[1] = after(y[0], v);
    return 2;
}

static const tf_case cases[] = {
    TF_CASE("testWhile_1", while_1, 10000),
    TF_CASE("testWhile_2", while_2, 10, 45),
    TF_CASE("testWhile_3", while_3, 100, 100, 100, 10100),
    TF_CASE("testWhile_4", while_4, 6, 6, 6, 42),
    TF_CASE("testWhile_Gpu_1", gpu_1, 10),
    TF_CASE("testWhileWithMaximumIterations", limited, 3, 4, 5, 6, 7, 8),
    TF_CASE("testWhileWithMaximumIterationsAndSingleArgument", limited_to_one, 1),
    TF_CASE("testWhileWithNonTensorInput_Vector", vector, 10000),
    TF_CASE("testWhile_NestedInput", nest, 100, 1, 102, 3, 204),
    TF_CASE("testRunLoopTensor", loop_tensor, 10),
    TF_CASE("testWhileFuncBasic", func_basic, 4, 65536),
    TF_CASE("testNestedWhile_1", nested_1, 225),
    TF_CASE("testNestedWhile_2", nested_2, 1048576),
    TF_CASE("testCondWhile_1", cond_while_1, 10),
    TF_CASE("testCondWhile_2", cond_while_2, 10),
    TF_CASE("testWhileCond_1", while_cond, 10),
    TF_CASE("testWhileCond_2", while_cond_2, 10),
    TF_CASE("testWhileCondWithControl", cond_with_control, 0),
    TF_CASE("testWhileWithControl_1", control_1, 10, 12),
    TF_CASE("testWhileWithControl_2", control_2, 12),
    TF_CASE("testWhileWithControl_3", control_3, 10),
    TF_CASE("testWhileWithControl_4", control_4, 10),
    TF_CASE("testWhileWithControl_5", control_5, 10),
    TF_CASE("testWhileUpdateVariable_1", update_1, 3, 10, 10, 10),
    TF_CASE("testWhileUpdateVariable_2", update_2, 3, 10, 10, 10, 10, 10, 10),
    TF_CASE("testWhileUpdateVariable_3", update_3, 3, 10, 10, 10),
    TF_CASE("testWhileUpdateVariable_4", update_4, 10),
    TF_CASE("testWhileUpdateVariable_5", update_5, 10, 10, 10),
    TF_CASE("testWhileUpdateVariable_6", update_6, 55, 10),
    TF_CASE("testWhileCondWithControl_1", cond_with_control_1, 4, 65536),
    TF_CASE("testWhileCondExitControl", cond_exit_control, 6, 99),
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(while_cases) { check_tf_case(&cases[_i % CASES], (unsigned)_i / CASES); }
END_TEST

/* testWhile_5, testWhileShape, testWhileShapeInference: loop variables that grow. Without an
 * invariant that is an error of the graph. */
BODY(both_longer, Add(x[0], 1), eddy_concat(EDDY_LIST(x[1], eddy_reshape(x[0], EDDY_SHAPE(1))), 0),
     eddy_concat(EDDY_LIST(x[2], eddy_reshape(Mul(x[0], 2), EDDY_SHAPE(1))), 0))

START_TEST(growing_variables)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor i = whole(&t, 0), y[EDDY_MAX_RESULTS];
    eddy_tensor m = eddy_ones(t.graph, F64, EDDY_SHAPE(2, 2));
    const eddy_shape open[] = { EDDY_SCALAR, EDDY_SHAPE(EDDY_ANY, EDDY_ANY) };
    ck_assert_int_eq(eddy_while_loop(FUNCTION(below, whole(&t, 2)), PLAIN(tile_it),
                                     EDDY_LIST(i, m), y, open), 2);
    ck_assert(eddy_shape_equal(eddy_shape_of(y[1]), EDDY_SHAPE(EDDY_ANY, EDDY_ANY)));
    eddy_array *a = value(&t, y[1]);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(8, 8)));
    ck_assert_double_eq(eddy_array_get(a, 63), 1);
    eddy_array_free(a);
    eddy_tensor      z = eddy_zeros(t.graph, I32, EDDY_SHAPE(1));
    const eddy_shape vectors[] = { EDDY_SCALAR, EDDY_SHAPE(EDDY_ANY), EDDY_SHAPE(EDDY_ANY) };
    ck_assert_int_eq(eddy_while_loop(FUNCTION(below, whole(&t, 3)), PLAIN(both_longer),
                                     EDDY_LIST(i, z, z), y, vectors),
                     3);
    check_values(&t, y[1], EDDY_SHAPE(4), (double[]){ 0, 0, 1, 2 });
    check_values(&t, y[2], EDDY_SHAPE(4), (double[]){ 0, 0, 2, 4 });
    ck_assert_int_eq(eddy_while_loop(FUNCTION(below, whole(&t, 2)), PLAIN(tile_it),
                                     EDDY_LIST(i, m), y), 0);
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_BAD_SHAPE);
    ck_assert_ptr_nonnull(strstr(eddy_graph_message(t.graph), "is not an invariant for the loop"));
    trial_end(&t);
}
END_TEST

Suite *tf_while_suite(void)
{
    Suite *s = suite_create("tf_while");
    TCase *c = tcase_create("tf");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, while_cases, 0, CASES * SEEDS);
    tcase_add_loop_test(c, growing_variables, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
