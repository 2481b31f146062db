/* test_tf_while_grad.c -- TensorFlow's own cases of the gradients of while_loop
 * (control_flow_ops_py_test.py, while_v2_test.py). */
#include "build/gen/suites.h"
#include "tests/lib/tf_cases.h"
#include "optim/optim.h"

BODY(below, Less(x[0], c[0]))
BODY(sum_below, Less(Sum(x[0]), c[0]))
BODY(square, Square(x[0]))
BODY(times, Mul(x[0], c[0]))
BODY(times_captured, Add(x[0], 1), Mul(c[0], x[1]))
BODY(plus_captured, Add(x[0], c[0]))
BODY(doubled_and_counted, Add(x[0], 1), Mul(x[1], 2))
BODY(doubled, Mul(x[0], 2))
BODY(same, x[0])
BODY(captured, c[0])
BODY(minus_captured, Sub(x[0], c[0]))
BODY(fed_back, Mul(x[0], Add(x[0], x[1])), Add(x[0], x[1]))
BODY(passed_on, Add(x[0], 1), x[1], x[1])
BODY(replaced, Add(x[0], 1), c[0])
BODY(one_adds, Add(x[0], 1), Identity(x[1]), Add(x[1], x[2]))
BODY(squares_add, Add(Square(x[0]), Square(x[1])), Square(x[1]))
BODY(stopped_inside, Add(Square(x[0]), StopGradient(Square(x[1]))), StopGradient(Square(x[1])))
BODY(sum_of_products, Add(x[0], 1), Mul(x[1], c[0]), Add(x[2], Sum(Mul(x[1], c[0]))))
BODY(never, Less(Sum(x[0]), Sub(Sum(x[0]), 1)))
BODY(fourth_power, Add(x[0], 1), Square(Square(x[1])))
BODY(times_element, Mul(x[0], c[0]))
BODY(one_more_times, Add(x[0], Square(c[0])))

static int repeat(eddy_tensor limit, eddy_function body, eddy_list x, eddy_tensor *y)
{
    const int n = eddy_while_loop(FUNCTION(below, limit), body, x, y);
    ck_assert_msg(n == x.count, "%s", eddy_graph_message(limit.graph));
    return n;
}
/* Of one variable, while it is below `limit`. */
static eddy_tensor loop(eddy_tensor limit, eddy_function body, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    repeat(limit, body, EDDY_LIST(x), y);
    return y[0];
}
/* The second variable, after n iterations. */
static eddy_tensor counted(double n, eddy_function body, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    repeat(eddy_number(x.graph, I32, n), body, EDDY_LIST(eddy_number(x.graph, I32, 0), x), y);
    return y[1];
}
static eddy_tensor squared_to_256(trial *t, eddy_tensor x)
{
    return loop(constant(t, 100), PLAIN(square), x);
}

/* ------------------------------------------------------------------ one loop -- */

static int grad_square(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 2), r = squared_to_256(t, v);
    eddy_cond(eddy_less(whole(t, 1), whole(t, 2)), FUNCTION(captured, r), FUNCTION(captured, v), y);
    y[0] = slope(y[0], v);
    return 1;
}
static int grad_shape(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = numbers(t, V(3, 4)), i = whole(t, 0);
    const eddy_tensor v = eddy_const(t->graph, F64, EDDY_SHAPE(1), (double[]){ 2 });
    const eddy_shape  open[] = { EDDY_SCALAR, EDDY_UNKNOWN_SHAPE };
    eddy_while_loop(FUNCTION(below, whole(t, 5)), FUNCTION(times_captured, x),
                    EDDY_LIST(i, eddy_broadcast_like(v, x)), y, open);
    y[0] = slope(y[1], x);
    return 1;
}
static int grad_base_shape(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = numbers(t, V(1, 2));
    const eddy_tensor v = eddy_const(t->graph, F64, EDDY_SHAPE(2), (double[]){ 2, 2 });
    eddy_while_loop(PLAIN(never), FUNCTION(times, eddy_ensure_shape(x, EDDY_SHAPE(2))),
                    EDDY_LIST(v), y);
    const eddy_tensor both[] = { y[0], Square(x) };
    eddy_gradients(EDDY_LIST(both[0], both[1]), EDDY_LIST(x), y);
    return 1;
}
static int grad_multiple_uses(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 2), r = squared_to_256(t, v);
    y[0] = slope(Mul(r, r), v);
    return 1;
}
static int grad_loop_add(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 2), r = squared_to_256(t, v);
    y[0] = slope(Add(r, r), v);
    return 1;
}
static int grad_mul(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = constant(t, 3), v = constant(t, 2);
    const eddy_tensor r = loop(constant(t, 100), FUNCTION(times, a), v);
    y[0] = slope(r, a), y[1] = slope(r, v);
    return 2;
}
static int grad_variable(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = eddy_variable(t->graph, constant(t, 3));
    y[0] = slope(loop(constant(t, 100), FUNCTION(times, a), constant(t, 2)), a);
    return 1;
}
static int grad_ys_xs(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = constant(t, 3), b = constant(t, 2);
    eddy_tensor       r[EDDY_MAX_RESULTS];
    repeat(constant(t, 100), PLAIN(fed_back), EDDY_LIST(a, b), r);
    eddy_gradients(EDDY_LIST(r[0], r[1]), EDDY_LIST(a), &y[0]);
    eddy_gradients(EDDY_LIST(r[0], r[1]), EDDY_LIST(b), &y[1]);
    y[2] = slope(r[0], a), y[3] = slope(r[0], b);
    return 4;
}
static int grad_dependency(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 2);
    eddy_tensor       r[EDDY_MAX_RESULTS];
    repeat(whole(t, 10), PLAIN(doubled_and_counted), EDDY_LIST(whole(t, 0), x), r);
    eddy_gradients(EDDY_LIST(r[0], r[1]), EDDY_LIST(x), &y[0]);
    y[1] = slope(r[1], x);
    return 2;
}
static int grad_no_gradient(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 2);
    eddy_while_loop(FUNCTION(below, constant(t, 100)), PLAIN(square), EDDY_LIST(v), y,
                    .no_back_prop = true);
    y[0] = slope(Add(y[0], v), v);
    return 1;
}
static int grad_no_dependency(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = eddy_variable(t->graph, eddy_ones(t->graph, F64, EDDY_SHAPE(2, 3)));
    eddy_tensor       r[EDDY_MAX_RESULTS];
    repeat(whole(t, 10), PLAIN(passed_on), EDDY_LIST(whole(t, 0), v, v), r);
    eddy_gradients(EDDY_LIST(Sum(r[2])), EDDY_LIST(v), y);
    return 1;
}
static int grad_const(trial *t, eddy_tensor *y)
{
    const eddy_tensor c0 = constant(t, 0);
    y[0] = slope(counted(1, FUNCTION(replaced, constant(t, 1)), c0), c0);
    return 1;
}
static int grad_serial(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 2);
    y[0] = slope(counted(5, PLAIN(doubled_and_counted),
                         counted(5, PLAIN(doubled_and_counted), x)), x);
    return 1;
}
static int grad_parallel(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 2);
    y[0] = slope(Add(counted(5, PLAIN(doubled_and_counted), x),
                     counted(5, PLAIN(doubled_and_counted), x)), x);
    return 1;
}
static int grad_one_output(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = constant(t, 1), b = constant(t, 1);
    eddy_tensor       r[EDDY_MAX_RESULTS];
    repeat(whole(t, 1), PLAIN(one_adds), EDDY_LIST(whole(t, 0), a, b), r);
    eddy_control_begin(t->graph, EDDY_LIST(r[1]));
    y[0] = Identity(r[2]);
    eddy_control_end(t->graph);
    y[1] = slope(y[0], a);
    return 2;
}
static int func_basic(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 2);
    y[0] = counted(2, PLAIN(fourth_power), x), y[1] = slope(y[0], x);
    return 2;
}
/* The second derivative, which TensorFlow has since while_v2: x^4 of 2. */
static int double_derivative(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 2);
    y[0] = loop(constant(t, 8), PLAIN(square), x);
    y[1] = slope(y[0], x), y[2] = slope(y[1], x);
    return 3;
}
static int single_loop_var(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = fed_real(t, 2);
    y[0] = loop(constant(t, 8), PLAIN(square), x), y[1] = slope(y[0], x);
    return 2;
}

/* ------------------------------------------------------------------ stopping -- */

static int stop_grad(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = constant(t, 3), b = constant(t, 2);
    eddy_tensor       r[EDDY_MAX_RESULTS];
    repeat(constant(t, 100), PLAIN(squares_add), EDDY_LIST(a, b), r);
    ck_assert(!eddy_is_valid(eddy_gradient(StopGradient(r[0]), b)));
    ck_assert(!eddy_is_valid(eddy_gradient(StopGradient(Square(r[1])), b)));
    ck_assert(!eddy_is_valid(eddy_gradient(StopGradient(Add(r[0], r[1])), a)));
    y[0] = slope(r[0], b), y[1] = slope(r[1], b), y[2] = slope(Add(r[0], r[1]), b);
    y[3] = slope(Add(r[0], StopGradient(r[1])), b), y[4] = slope(Add(StopGradient(r[0]), r[1]), b);
    return 5;
}
static int stop_inside(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = constant(t, 3), b = constant(t, 2);
    eddy_tensor       r[EDDY_MAX_RESULTS];
    repeat(constant(t, 100), PLAIN(stopped_inside), EDDY_LIST(a, b), r);
    eddy_gradients(EDDY_LIST(r[0]), EDDY_LIST(b), &y[0],
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    y[1] = slope(r[0], a);
    return 2;
}
static int stop_inside_no_shape(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = numbers(t, V(3, 4)), b = numbers(t, V(2, 3));
    const eddy_shape  open[] = { EDDY_UNKNOWN_SHAPE, EDDY_UNKNOWN_SHAPE };
    eddy_tensor       r[EDDY_MAX_RESULTS];
    eddy_while_loop(FUNCTION(sum_below, constant(t, 100)), PLAIN(stopped_inside), EDDY_LIST(a, b),
                    r, open);
    eddy_gradients(EDDY_LIST(r[0]), EDDY_LIST(b), &y[0],
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    y[1] = slope(r[0], a);
    return 2;
}
static int stop_on_grad(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = constant(t, 2), b = constant(t, 2);
    const eddy_tensor r = loop(constant(t, 100), FUNCTION(times, b), a);
    y[0] = slope(Add(Add(Square(b), r), StopGradient(slope(r, b))), b);
    return 1;
}
static int stop_multi_flows(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = eddy_variable(t->graph, constant(t, 1));
    eddy_tensor       r[EDDY_MAX_RESULTS];
    repeat(whole(t, 1), FUNCTION(sum_of_products, v),
           EDDY_LIST(whole(t, 0), eddy_ones(t->graph, F64, EDDY_SHAPE(5)), constant(t, 0)), r);
    const eddy_tensor norm = Abs(slope(r[2], v));
    y[0] = slope(Add(r[2], StopGradient(norm)), v);
    return 1;
}

/* ------------------------------------------------------------------- nesting -- */

static int cond_while_3(trial *t, bool first, eddy_tensor *y)
{
    const eddy_tensor n = constant(t, 0), r = loop(constant(t, 10),
                                                   FUNCTION(plus_captured, constant(t, 1)), n);
    eddy_cond(truth(t, first), FUNCTION(captured, r), FUNCTION(captured, Mul(n, 2)), y);
    y[1] = slope(y[0], n);
    return 2;
}
static int cond_while_3_true(trial *t, eddy_tensor *y) { return cond_while_3(t, true, y); }
static int cond_while_3_false(trial *t, eddy_tensor *y) { return cond_while_3(t, false, y); }

static int slope_of_loop(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    const eddy_tensor  start = in.count > 0 ? in.at[0] : c[1];
    y[0] = slope(loop(eddy_number(c[0].graph, F64, 10), FUNCTION(plus_captured, c[0]), start),
                 c[0]);
    return 1;
}
static int grad_in_cond(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = fed_real(t, 1), n = constant(t, 1);
    eddy_cond(eddy_less(whole(t, 1), whole(t, 2)), FUNCTION(slope_of_loop, x, n),
              FUNCTION(captured, x), y);
    return 1;
}
static int grad_in_while(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = fed_real(t, 1);
    y[0] = loop(constant(t, 6), FUNCTION(slope_of_loop, x), constant(t, 1));
    return 1;
}
static int slope_of_cond(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor z[EDDY_MAX_RESULTS];
    (void)context;
    eddy_cond(Less(in.at[1], 1), PLAIN(doubled), PLAIN(same), z, EDDY_LIST(in.at[1]));
    y[0] = Add(in.at[0], 1);
    y[1] = slope(z[0], in.at[1]);
    return 2;
}
static int three_of_these(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(in.at[0], 1);
    y[1] = counted(3, PLAIN(slope_of_cond), eddy_number(in.at[0].graph, F64, 0));
    return 2;
}
static int cond_grad_in_whiles(trial *t, eddy_tensor *y)
{
    y[0] = counted(3, PLAIN(three_of_these), constant(t, 0));
    return 1;
}
static int square_of_loop(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Square(counted(4, PLAIN(doubled_and_counted), in.at[0]));
    return 1;
}
static int loop_or_double(eddy_list in, eddy_tensor *y, void *context)
{
    return eddy_cond(*(eddy_tensor *)context, PLAIN(square_of_loop), PLAIN(doubled), y, in);
}
static int nested_while_cond_while(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 1);
    y[0] = slope(loop(constant(t, 128), FUNCTION(loop_or_double, truth(t, true)), v), v);
    return 1;
}
static int double_of_loop(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Mul(loop(eddy_number(in.at[0].graph, F64, 4), PLAIN(doubled), in.at[0]), 2);
    return 1;
}
static int nested_simple(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 1);
    y[0] = slope(loop(constant(t, 2), PLAIN(double_of_loop), v), v);
    return 1;
}
static int loop_of_loop(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = counted(4, PLAIN(doubled_and_counted), counted(4, PLAIN(doubled_and_counted), in.at[0]));
    return 1;
}
static int product_of_loops(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Mul(counted(4, PLAIN(doubled_and_counted), in.at[0]),
               counted(4, PLAIN(doubled_and_counted), in.at[0]));
    return 1;
}
static int nested(trial *t, eddy_function body, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 1);
    y[0] = slope(loop(constant(t, 128), body, v), v);
    return 1;
}
static int nested_serial(trial *t, eddy_tensor *y) { return nested(t, PLAIN(loop_of_loop), y); }
static int nested_parallel(trial *t, eddy_tensor *y)
{
    return nested(t, PLAIN(product_of_loops), y);
}
static int square_or_less(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    return eddy_cond(c[0], PLAIN(square), FUNCTION(minus_captured, c[1]), y, in);
}
static int while_cond_grad(trial *t, eddy_tensor v, eddy_tensor *y)
{
    const eddy_shape open[] = { eddy_shape_of(v) };
    eddy_while_loop(FUNCTION(below, constant(t, 100)),
                    FUNCTION(square_or_less, truth(t, true), constant(t, 1)), EDDY_LIST(v), y,
                    open);
    y[0] = slope(y[0], v);
    return 1;
}
static int while_cond_simple(trial *t, eddy_tensor *y)
{
    return while_cond_grad(t, constant(t, 2), y);
}
static int while_cond_unknown(trial *t, eddy_tensor *y)
{
    return while_cond_grad(t, fed_real(t, 2), y);
}
static int adds_a_slope(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    const eddy_tensor  data = eddy_const(c[0].graph, F64, EDDY_SHAPE(3), (double[]){ 1, 2, 3 });
    y[0] = Add(in.at[0], 1);
    y[1] = Add(in.at[1], slope(Mul(data, c[1]), c[0]));
    return 2;
}
static int call_grad_in_loop(trial *t, eddy_tensor *y)
{
    const eddy_tensor p = constant(t, 5);
    y[0] = counted(10, FUNCTION(adds_a_slope, p, Square(p)), constant(t, 0));
    return 1;
}
static int mapped(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_function f = { .build = times_element, .context = context };
    y[0] = Add(in.at[0], 1);
    return eddy_map_fn(f, EDDY_LIST(in.at[1]), &y[1]) + 1;
}
static int while_and_map(trial *t, eddy_tensor *y)
{
    const eddy_tensor p = constant(t, 2), v = numbers(t, V(1, 2, 3, 4, 5, 6));
    y[0] = slope(counted(10, FUNCTION(mapped, p), eddy_ensure_shape(v, EDDY_SHAPE(6))), p);
    return 1;
}
static int map_row(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_function f = { .build = one_more_times, .context = context };
    return eddy_map_fn(f, in, y);
}
/* A step of Adam: 0.001 less, but for epsilon. */
static int parallel_iterations(trial *t, eddy_tensor *y)
{
    const double      in[] = { 1, 2, 3, 4, 5, 6 };
    const eddy_tensor v = eddy_variable(t->graph, constant(t, 3));
    eddy_map_fn(FUNCTION(map_row, v), EDDY_LIST(given(t, F64, EDDY_SHAPE(3, 2), in)), y);
    eddy_optimizer   *adam = eddy_adam(t->graph, .learning_rate = constant(t, 0.001));
    const eddy_tensor step = eddy_minimize(adam, Mean(Square(y[0])));
    eddy_control_begin(t->graph, EDDY_LIST(step));
    y[0] = eddy_read(v);
    eddy_control_end(t->graph);
    return 1;
}

static const tf_case cases[] = {
    TF_CASE("testWhileGrad_Square", grad_square, 1024),
    TF_CASE("testWhileGrad_Shape", grad_shape, 810, 2560),
    TF_CASE("testWhileGrad_BaseShape", grad_base_shape, 2, 4),
    TF_CASE("testWhileGrad_MultipleUses", grad_multiple_uses, 524288),
    TF_CASE("testWhileGrad_LoopAdd", grad_loop_add, 2048),
    TF_CASE("testWhileGrad_Mul", grad_mul, 216, 81),
    TF_CASE("testWhileGrad_Variable", grad_variable, 216),
    TF_CASE("testWhileGrad_ys_xs", grad_ys_xs, 304, 124, 295, 120),
    TF_CASE("testWhileGrad_Dependency", grad_dependency, 1024, 1024),
    TF_CASE("testWhileGrad_NoGradient", grad_no_gradient, 1),
    TF_CASE("testWhileGrad_NoDependency", grad_no_dependency, 1, 1, 1, 1, 1, 1),
    TF_CASE("testWhileGrad_Const", grad_const, 0),
    TF_CASE("testWhileGrad_SerialTwoLoops", grad_serial, 1024),
    TF_CASE("testWhileGrad_ParallelTwoLoops", grad_parallel, 64),
    TF_CASE("testWhileGrad_OneOutputWithControlDependencyOnSecond", grad_one_output, 2, 1),
    TF_CASE("testWhileFuncBasic", func_basic, 65536, 524288),
    TF_CASE("testDoubleDerivative", double_derivative, 16, 32, 48),
    TF_CASE("testSingleLoopVar", single_loop_var, 16, 32),
    TF_CASE("testWhileGrad_StopGrad", stop_grad, 136, 32, 168, 136, 32),
    TF_CASE("testWhileGrad_StopGradInside", stop_inside, 0, 156),
    TF_CASE("testWhileGrad_StopGradInsideNoShape", stop_inside_no_shape, 0, 0, 156, 400),
    TF_CASE("testStopGradOnWhileGrad", stop_on_grad, 388),
    TF_CASE("testStopGradMultiFlows", stop_multi_flows, 5),
    TF_CASE("testCondWhile_3, true", cond_while_3_true, 10, 1),
    TF_CASE("testCondWhile_3, false", cond_while_3_false, 0, 2),
    TF_CASE("testWhileGradInCond", grad_in_cond, 9),
    TF_CASE("testWhileGradInWhile", grad_in_while, 9),
    TF_CASE("testCondGradInNestedWhiles", cond_grad_in_whiles, 1),
    TF_CASE("testNestedWhileCondWhileGrad", nested_while_cond_while, 512),
    TF_CASE("testNestedWhileGrad_Simple", nested_simple, 8),
    TF_CASE("testNestedWhileGrad_SerialInner", nested_serial, 256),
    TF_CASE("testNestedWhileGrad_ParallelInner", nested_parallel, 512),
    TF_CASE("testNestedWhileGrad_ParallelIterations", parallel_iterations, 2.999),
    TF_CASE("testWhileCondGrad_Simple", while_cond_simple, 1024),
    TF_CASE("testWhileCondGrad_UnknownShape", while_cond_unknown, 1024),
    TF_CASE("testCallGradInLoop", call_grad_in_loop, 600),
    TF_CASE("testWhileAndTensorArray", while_and_map, 107520),
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(gradient_cases) { check_tf_case(&cases[_i % CASES], (unsigned)_i / CASES); }
END_TEST

Suite *tf_while_grad_suite(void)
{
    Suite *s = suite_create("tf_while_grad");
    TCase *c = tcase_create("tf");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, gradient_cases, 0, CASES * SEEDS);
    suite_add_tcase(s, c);
    return s;
}
