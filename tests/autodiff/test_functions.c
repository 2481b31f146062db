/* test_functions.c -- gradient functions, custom gradients,
 * overridden rules; TensorFlow's cases G-37 to G-41, N-16, T-03, T-17 to T-35. */
#include "tests/lib/graph_fixture.h"

#include <math.h>

Suite *functions_suite(void);

static void none(eddy_tensor t)
{
    fits(g);
    ck_assert_msg(!eddy_is_valid(t), "there is a gradient, '%s'", eddy_name_of(t));
}

/* ------------------------------------------------------ gradient functions -- */

static int calls;

static int first(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = x.at[0];
    return 1;
}

static int product(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    calls++;
    y[0] = Mul(x.at[0], x.at[1]);
    return 1;
}

/* w1 x1 + w2 x2 of four parameters; and of two and the variables in context. */
static int sum_of_four(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    calls++;
    y[0] = Add(Mul(x.at[0], x.at[1]), Mul(x.at[2], x.at[3]));
    return 1;
}

static int weighted_sum(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor *w = context;
    calls++;
    y[0] = Add(Mul(w[0], x.at[0]), Mul(w[1], x.at[1]));
    return 1;
}

static int fails_once(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = MatMul(x.at[0], x.at[0]);
    return 1;
}

static int two_results(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Mul(3, x.at[0]);
    y[1] = Square(x.at[0]);
    return 2;
}

START_TEST(all_parameters)
{
    eddy_function f = { .build = product, .name = "product", .parameters = "a, b" };
    eddy_tensor   a = real(g, 2), b = real(g, 5), d[2], value[EDDY_MAX_RESULTS];
    calls = 0;
    ck_assert_int_eq(eddy_gradients_function(f, EDDY_LIST(a, b), d, .value = value), 2);
    is_number(d[0], 5);
    is_number(d[1], 2);
    is_number(value[0], 10);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(eddy_gradients_function(f, EDDY_LIST(a, a), d), 2);    /* T-29 */
    is_number(d[0], 2);
    is_number(d[1], 2);
    ck_assert_int_eq(eddy_gradients_function((eddy_function){ .build = first }, EDDY_LIST(a), d,
                                             .dy = EDDY_LIST(b)), 1);       /* T-03 */
    is_number(d[0], 5);
    ck_assert_int_eq(eddy_gradients_function((eddy_function){ .build = two_results },
                                             EDDY_LIST(a), d), 1);
    is_number(d[0], 7);
}
END_TEST

START_TEST(chosen_parameters)
{
    eddy_function f = { .build = sum_of_four, .name = "f", .parameters = "w1, x1, w2, x2" };
    eddy_list     x = EDDY_LIST(real(g, 2), real(g, 5), real(g, 3), real(g, 7));
    eddy_tensor   d[4];
    ck_assert_int_eq(eddy_gradients_function(f, x, d, .names = "w1, w2"), 2);
    is_number(d[0], 5);
    is_number(d[1], 7);
    ck_assert_int_eq(eddy_gradients_function(f, x, d, .indices = EDDY_DIMS(3, 0)), 2);
    is_number(d[0], 3);
    is_number(d[1], 5);
    ck_assert_int_eq(eddy_gradients_function(f, x, d, .names = "x2"), 1);
    is_number(d[0], 3);
}
END_TEST

/* One parameter more often than there are. */
START_TEST(a_parameter_repeated)
{
    eddy_function f = { .build = first, .name = "first", .parameters = "x" };
    eddy_tensor   x = real(g, 2), d[EDDY_MAX_RANK];
    ck_assert_int_eq(eddy_gradients_function(f, EDDY_LIST(x), d, .indices = EDDY_DIMS(0, 0, 0)), 3);
    for (int i = 0; i < 3; i++) is_number(d[i], 1);
    ck_assert_int_eq(eddy_gradients_function(f, EDDY_LIST(x), d, .names = "x, x"), 2);
    ck_assert_int_eq(eddy_gradients_function(f, EDDY_LIST(x), d, .indices = { .count = 12 }), 0);
    fails(g, EDDY_INVALID_ARGUMENT, "the number of entries of 'indices' is 12; expected 0 to 8");
    ck_assert_int_eq(eddy_gradients_function(f, EDDY_LIST(x), d, .names = ""), 0);
    fails(g, EDDY_INVALID_ARGUMENT, "no parameter is given");
}
END_TEST

/* T-31: a function that fails leaves nothing recording. */
START_TEST(after_a_failure)
{
    eddy_tensor   a = real(g, 1), v = eddy_variable(g, a), d[2], w[2];
    eddy_function bad = { .build = fails_once, .name = "bad" }, f = { .build = product };
    ck_assert_int_eq(eddy_implicit_gradients(bad, EDDY_LIST(v), d, w, 2), 0);
    fails(g, EDDY_BAD_SHAPE, "MatMul");
    ck_assert_int_eq(eddy_gradients_function(f, EDDY_LIST(a, a), d), 2);
    is_number(Add(d[0], d[1]), 2);
}
END_TEST

/* F5 to F7; T-33: pairs in order of creation. */
START_TEST(implicit)
{
    eddy_tensor   w[2] = { eddy_variable(g, real(g, 2)), eddy_variable(g, real(g, 3)) }, d[2], v[2];
    eddy_tensor   value[EDDY_MAX_RESULTS], swapped[2] = { w[1], w[0] };
    eddy_function f = { .build = weighted_sum, .context = w, .name = "weighted_sum" };
    eddy_session *s = eddy_session_new(g);
    calls = 0;
    ck_assert_int_eq(eddy_implicit_gradients(f, EDDY_LIST(real(g, 5), real(g, 7)), d, v, 2, value),
                     2);
    ck_assert_int_eq(calls, 1);
    ck_assert(eddy_same(v[0], w[0]) && eddy_same(v[1], w[1]));
    runs(s, eddy_initializer(g));
    ck_assert_double_eq(number(s, value[0]), 31);
    ck_assert_double_eq(number(s, d[0]), 5);
    ck_assert_double_eq(number(s, d[1]), 7);
    f.context = swapped;
    ck_assert_int_eq(eddy_implicit_gradients(f, EDDY_LIST(real(g, 5), real(g, 7)), d, v, 2), 2);
    ck_assert(eddy_same(v[0], w[0]) && eddy_same(v[1], w[1]));
    ck_assert_double_eq(number(s, d[0]), 7);
    ck_assert_int_eq(eddy_implicit_gradients(f, EDDY_LIST(real(g, 5), real(g, 7))), 2);
    ck_assert_int_eq(eddy_implicit_gradients(f, EDDY_LIST(real(g, 5), real(g, 7)), d, v, 1), 0);
    fails(g, EDDY_INVALID_ARGUMENT,
          "implicit_gradients: the number of variables is 2, but there is room for 1");
    ck_assert_int_eq(eddy_implicit_gradients(f, EDDY_LIST(real(g, 5), real(g, 7)), d, v), 0);
    fails(g, EDDY_INVALID_ARGUMENT,
          "implicit_gradients: the number of variables is 2, but there is room for 0");
    eddy_session_free(s);
}
END_TEST

/* A call within a call costs the compiler no more than one beside it: x (1 + x (1 + ...)) of
 * degree 20, numbers and tensors on either side.  dy/dx = sum of k x^(k-1). */
START_TEST(polynomial)
{
#define STEP(y) Mul(x, Add(1, y))
#define STEPS(y) STEP(STEP(STEP(STEP(STEP(STEP(STEP(STEP(STEP(STEP(y))))))))))
    const eddy_tensor x = real(g, 0.5), condition = Less(Sub(x, 1), Sub(1, x));
    const eddy_tensor y = STEPS(STEPS(Where(condition, 0, Div(Pow(x, 2), Add(Mul(x, x), 1)))));
    double            value = 0, slope = 0;
    for (int k = 1; k <= 20; k++) value += pow(0.5, k), slope += k * pow(0.5, k - 1);
    is_number(y, value);
    is_number(eddy_gradient(y, x), slope);
#undef STEPS
#undef STEP
}
END_TEST

/* The lists of a product may be written bare, as those of eddy_gradients. */
START_TEST(bare_lists)
{
    eddy_tensor       x = real(g, 3), y = Mul(x, x), v = real(g, 2), d, e;
    const eddy_list   ys = EDDY_LIST(y), xs = EDDY_LIST(x);
    eddy_jvp({ 1, &y }, { 1, &x }, { 1, &v }, &d, .name = "forward");
    is_number(d, 12);
    ck_assert_int_eq(strncmp(eddy_name_of(d), "forward/", 8), 0);
    eddy_vjp({ 1, &y }, { 1, &x }, .us = { 1, &v }, .out = &d);
    eddy_vjp(ys, xs, EDDY_LIST(), &e);
    is_number(Mul(d, e), 72);
    eddy_hessian_vector_product(y, { 1, &x }, { 1, &v }, &d, "product");
    is_number(d, 4);
    ck_assert_int_eq(strncmp(eddy_name_of(d), "product/", 8), 0);
    eddy_gauss_newton_vector_product(Square(y), { 1, &y }, { 1, &x }, { 1, &v }, &d, .name = "gn");
    is_number(d, 144);
    eddy_hessians(y, { 1, &x }, &d, .name = "second");
    is_number(d, 2);
}
END_TEST

static int squared(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x;
    y[0] = Square(*(eddy_tensor *)context);
    return 1;
}

/* If no argument has a graph, the error is recorded on the graph of the function's results. */
START_TEST(without_a_graph)
{
    eddy_tensor         v = eddy_variable(g, real(g, 3)), d[2], w[2];
    const eddy_function f = { .build = squared, .context = &v };
    const eddy_list     nothing = { 0, NULL };
    ck_assert_int_eq(eddy_implicit_gradients(f, nothing, d, w, 1), 0);
    fails(g, EDDY_INVALID_ARGUMENT, "implicit_gradients: the graph is unknown; give x or .graph");
    ck_assert_int_eq(eddy_gradients_function(f, nothing, d), 0);
    fails(g, EDDY_INVALID_ARGUMENT, "gradients_function: x is empty");
    ck_assert_int_eq(eddy_vmap(f, nothing, d), 0);
    fails(g, EDDY_INVALID_ARGUMENT, "vmap: x is empty");
    ck_assert_int_ne(eddy_jacobian(EDDY_NO_TENSOR, EDDY_LIST(v), d), EDDY_OK);
    fails(g, EDDY_INVALID_ARGUMENT, "jacobian: y[0] is not a tensor of this graph");
    ck_assert_int_ne(eddy_hessians(EDDY_NO_TENSOR, EDDY_LIST(v), d), EDDY_OK);
    fails(g, EDDY_INVALID_ARGUMENT, "hessians: y[0] is not a tensor of this graph");
    ck_assert(!eddy_is_valid(eddy_hessian_diagonal(EDDY_NO_TENSOR, v)));
    fails(g, EDDY_INVALID_ARGUMENT, "hessian_diagonal: y[0] is not a tensor of this graph");
    ck_assert_int_ne(eddy_custom_gradient(nothing, EDDY_LIST(v), d), EDDY_OK);
    fails(g, EDDY_INVALID_ARGUMENT, "custom_gradient: y is empty");
    ck_assert_int_ne(eddy_jvp(nothing, EDDY_LIST(v), EDDY_LIST(v), d), EDDY_OK);
    fails(g, EDDY_INVALID_ARGUMENT, "jvp: ys is empty");
}
END_TEST

START_TEST(implicit_only_trainable)
{
    eddy_tensor   w[2] = { eddy_variable(g, real(g, 2), .not_trainable = true),
                           eddy_variable(g, real(g, 3)) }, d[2], v[2];
    eddy_function f = { .build = weighted_sum, .context = w };
    ck_assert_int_eq(eddy_implicit_gradients(f, EDDY_LIST(real(g, 5), real(g, 7)), d, v, 2), 1);
    ck_assert(eddy_same(v[0], w[1]));
    is_number(d[0], 7);
}
END_TEST

/* The value and the gradients share the function's nodes. */
START_TEST(evaluated_once)
{
    eddy_tensor   w[2] = { eddy_variable(g, real(g, 2)), eddy_variable(g, real(g, 3)) }, d[2], v[2];
    eddy_tensor   value[EDDY_MAX_RESULTS];
    eddy_function f = { .build = weighted_sum, .context = w };
    int           products = 0;
    eddy_implicit_gradients(f, EDDY_LIST(real(g, 5), real(g, 7)), d, v, 2, value);
    for (int32_t id = 1; id <= eddy_graph_size(g); id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(g, id));
        products += strcmp(node->op->name, "Mul") == 0 && node->origin == 0;
    }
    ck_assert_int_eq(products, 2);
}
END_TEST

/* ---------------------------------------------------------- custom gradients -- */

static void swapped(eddy_rule *r)           /* on purpose: dx1 = dy x1 */
{
    r->dx[0] = Mul(r->dy[0], r->x[0]);
    r->dx[1] = Mul(r->dy[0], r->x[1]);
}

START_TEST(g37_custom)
{
    eddy_tensor x[2] = { real(g, 3), real(g, 5) }, y, d[2];
    eddy_custom_gradient(EDDY_LIST(Mul(x[0], x[1])), EDDY_LIST(x[0], x[1]), &y, swapped);
    is_number(y, 15);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x[0], x[1]), d);
    is_number(d[0], 3);
    is_number(d[1], 5);
    is_number(eddy_gradient(d[0], x[0]), 1);        /* the rule's own ops */
}
END_TEST

/* dx of a product with a captured variable; ones for the variable itself. */
static void ones_for_w(eddy_rule *r)
{
    r->dx[0] = MatMul(r->dy[0], r->x[1], .transpose_b = true);
    r->dx[1] = eddy_ones_like(r->x[1]);
}

static void inner_too(eddy_rule *r)
{
    eddy_gradients(EDDY_LIST(*(eddy_tensor *)r->context), EDDY_LIST(r->x[0], r->x[1]), r->dx,
                   .grad_ys = EDDY_LIST(r->dy[0]));
}

START_TEST(g39_variables)
{
    eddy_tensor x = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2, 4)), y, z, d[2];
    eddy_tensor w = eddy_variable(g, eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(4, 3)), .name = "W");
    eddy_custom_gradient(EDDY_LIST(MatMul(x, w)), EDDY_LIST(x), &y, ones_for_w,
                         .variables = EDDY_LIST(w));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, w), d);
    ck_assert(eddy_is_valid(d[0]));
    is_number(Sum(d[1]), 12);
    eddy_custom_gradient(EDDY_LIST(y), EDDY_LIST(x), &z, inner_too, &y, EDDY_LIST(w));
    eddy_gradients(EDDY_LIST(z), EDDY_LIST(x, w), d);
    is_number(Sum(d[1]), 12);
    eddy_custom_gradient(EDDY_LIST(MatMul(x, w)), EDDY_LIST(x), &y, ones_for_w);
    fails(g, EDDY_INVALID_ARGUMENT, "the trainable variable 'W' is used");
}
END_TEST

START_TEST(g41_pass_through)
{
    eddy_tensor   x = eddy_variable(g, real(g, 1)), z = eddy_variable(g, real(g, 3)), y, square;
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    none(eddy_gradient(eddy_assign(x, Square(z)), z));
    square = Square(z);
    y = eddy_grad_pass_through(eddy_assign(x, square), square);
    ck_assert_double_eq(number(s, eddy_gradient(y, z)), 6);
    y = eddy_grad_pass_through(Mul(x, z), z);
    none(eddy_gradient(y, x));
    ck_assert_double_eq(number(s, eddy_gradient(y, z)), 1);
    eddy_session_free(s);
}
END_TEST

/* T-35 */
static void plus_one(eddy_rule *r) { r->dx[0] = Add(Mul(Mul(2, r->dy[0]), r->x[0]), 1); }

static int my_square(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x;
    eddy_tensor v = *(eddy_tensor *)context, v2 = Mul(v, v);
    eddy_custom_gradient(EDDY_LIST(v2), EDDY_LIST(v), y, plus_one);
    return 1;
}

START_TEST(t35_custom_in_function)
{
    eddy_tensor   v = eddy_variable(g, real(g, 3)), d, var;
    eddy_function f = { .build = my_square, .context = &v };
    ck_assert_int_eq(eddy_implicit_gradients(f, EDDY_LIST(), &d, &var, 1, .graph = g), 1);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    ck_assert_double_eq(number(s, d), 7);
    eddy_session_free(s);
}
END_TEST

/* Several results, one of them unused; a rule that leaves an input without. */
static void of_two(eddy_rule *r) { r->dx[0] = Add(r->dy[0], Mul(10, r->dy[1])); }

START_TEST(several_results)
{
    eddy_tensor x = real(g, 2), z = real(g, 1), y[2], d[2];
    eddy_custom_gradient(EDDY_LIST(Mul(x, z), Square(x)), EDDY_LIST(x, z), y, of_two);
    is_number(y[0], 2);
    is_number(y[1], 4);
    eddy_gradients(EDDY_LIST(y[0], y[1]), EDDY_LIST(x, z), d);
    is_number(d[0], 11);
    none(d[1]);
    eddy_gradients(EDDY_LIST(y[1]), EDDY_LIST(x, z), d);
    is_number(d[0], 10);
}
END_TEST

/* Read back from a file, the rule comes under its name. */
START_TEST(custom_through_a_file)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR), y;
    eddy_custom_gradient(EDDY_LIST(Square(x)), EDDY_LIST(x), &y, plus_one, .name = "plus_one");
    eddy_named("y", y);
    char       *text = eddy_graph_to_yaml(g);
    eddy_graph *read = eddy_graph_load(.text = text);
    ck_assert_ptr_nonnull(read);
    eddy_tensor in = eddy_graph_tensor(read, "x:0");
    eddy_tensor out = eddy_graph_tensor(read, "y:0");
    ck_assert(!eddy_is_valid(eddy_gradient(out, in)));
    ck_assert_ptr_nonnull(
        strstr(eddy_graph_message(read), "No gradient is registered as 'plus_one'"));
    eddy_graph_clear_error(read);
    ck_assert(eddy_register_custom_gradient(read, "plus_one", plus_one, NULL));
    eddy_tensor   d = eddy_gradient(out, in);
    eddy_session *s = eddy_session_new(read);
    eddy_array   *three = eddy_array_of(EDDY_FLOAT64, 3), *got = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ in, three }), EDDY_FETCH(d), &got), EDDY_OK);
    ck_assert_double_eq(eddy_array_get(got, 0), 7);
    eddy_array_free(got);
    eddy_array_free(three);
    eddy_session_free(s);
    eddy_graph_free(read);
    eddy_string_free(text);
}
END_TEST

/* -------------------------------------------------------------- overriding -- */

static void ten_times(eddy_rule *r) { r->dx[0] = Mul(*(double *)r->context, r->dy[0]); }
static void wrong_count(eddy_rule *r) { r->n_dx = 3; }

START_TEST(n16_override)
{
    static double ten = 10;
    eddy_tensor   x = real(g, 3), y[3];
    ck_assert(eddy_register_gradient(g, "TenTimes", ten_times, &ten));
    ck_assert(eddy_register_gradient(g, "WrongCount", wrong_count, NULL));
    eddy_gradient_override_begin(g, "Square", "TenTimes");
    y[0] = Square(x);
    eddy_gradient_override_begin(g, "Square", NULL);
    y[1] = Square(x);
    eddy_gradient_override_end(g);
    y[2] = Square(x);
    eddy_gradient_override_end(g);
    is_number(eddy_gradient(y[0], x), 10);
    is_number(eddy_gradient(y[1], x), 6);
    is_number(eddy_gradient(y[2], x), 10);
    is_number(eddy_gradient(Square(x), x), 6);
    eddy_gradient_override_begin(g, "Square", "WrongCount");
    eddy_gradient(Square(x), x);
    fails(g, EDDY_INVALID_ARGUMENT, "Num gradients 3 generated for op");
    eddy_gradient_override_end(g);
}
END_TEST

/* The same rule may come again under its name; the library's own name is taken. */
START_TEST(names_of_gradients)
{
    eddy_tensor x = real(g, 3), y;
    for (int i = 0; i < 2; i++)
        eddy_custom_gradient(EDDY_LIST(Square(x)), EDDY_LIST(x), &y, plus_one, .name = "plus_one");
    is_number(eddy_gradient(y, x), 7);
    eddy_custom_gradient(EDDY_LIST(Square(x)), EDDY_LIST(x), &y, swapped, .name = "plus_one");
    fails(g, EDDY_INVALID_ARGUMENT, "a gradient is already registered as 'plus_one'");
    ck_assert(!eddy_register_gradient(g, "recompute_grad", plus_one, NULL));
    fails(g, EDDY_INVALID_ARGUMENT, "a gradient is already registered as 'recompute_grad'");
}
END_TEST

/* --------------------------------------------------------------- products -- */

/* T-17: make_vjp is eddy_vjp, as often as one likes. */
START_TEST(t17_vjp)
{
    eddy_tensor x = real(g, 3), y = Mul(x, x), d;
    is_number(y, 9);
    for (int i = 0; i < 2; i++) {
        eddy_vjp(EDDY_LIST(y), EDDY_LIST(x), EDDY_LIST(real(g, 2)), &d);
        is_number(d, 12);
    }
}
END_TEST

/* A small network's outputs and loss, float64. */
static eddy_tensor small(eddy_tensor x, eddy_tensor w1, eddy_tensor w2)
{
    return MatMul(Tanh(MatMul(x, w1)), w2);
}

static void agree(eddy_tensor a, eddy_tensor b)
{
    fits(g);
    eddy_session *s = eddy_session_new(g);
    ck_assert_double_lt(number(s, eddy_max(Abs(Sub(a, b)))), 1e-13);
    eddy_session_free(s);
}

START_TEST(products)
{
    const double a[] = { .1, .2, -.3, .4, .5, .6 }, b[] = { .3, -.1, .2, .7, .4, -.5 };
    eddy_tensor  x = matrix(g, 2, 3, a), w1 = matrix(g, 3, 2, b), w2 = matrix(g, 2, 2, a);
    eddy_tensor  v1 = matrix(g, 3, 2, (double[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor  v2 = matrix(g, 2, 2, (double[]){ 1, -2, 3, -4 });
    eddy_tensor  z = small(x, w1, w2), loss = Sum(Exp(z)), j[2], h[2], dz, out[2];
    eddy_list    ws = EDDY_LIST(w1, w2), vs = EDDY_LIST(v1, v2);
    eddy_jacobian(z, ws, j);
    eddy_tensor j1 = eddy_reshape(j[0], EDDY_SHAPE(4, 6)),
                j2 = eddy_reshape(j[1], EDDY_SHAPE(4, 4));
    eddy_tensor want = Add(MatMul(j1, eddy_reshape(v1, EDDY_SHAPE(6, 1))),
                           MatMul(j2, eddy_reshape(v2, EDDY_SHAPE(4, 1))));
    eddy_jvp(EDDY_LIST(z), ws, vs, &dz);
    agree(eddy_reshape(dz, EDDY_SHAPE(4, 1)), want);
    /* J' H J v with H = diag(exp z) */
    eddy_tensor u = Mul(want, eddy_reshape(Exp(z), EDDY_SHAPE(4, 1)));
    eddy_gauss_newton_vector_product(loss, EDDY_LIST(z), ws, vs, out);
    agree(eddy_reshape(out[0], EDDY_SHAPE(6, 1)), MatMul(j1, u, .transpose_a = true));
    agree(eddy_reshape(out[1], EDDY_SHAPE(4, 1)), MatMul(j2, u, .transpose_a = true));
    eddy_hessians(loss, EDDY_LIST(w1), h);
    eddy_hessian_vector_product(loss, EDDY_LIST(w1), EDDY_LIST(v1), out);
    eddy_tensor h1 = eddy_reshape(h[0], EDDY_SHAPE(6, 6));
    agree(eddy_reshape(out[0], EDDY_SHAPE(6, 1)), MatMul(h1, eddy_reshape(v1, EDDY_SHAPE(6, 1))));
    agree(eddy_reshape(eddy_hessian_diagonal(loss, w1), EDDY_SHAPE(6)),
          eddy_sum(Mul(h1, eddy_basis_like(eddy_reshape(w1, EDDY_SHAPE(6)))), EDDY_AXES(0)));
    agree(h1, eddy_transpose(h1));
}
END_TEST

Suite *functions_suite(void)
{
    Suite *suite = suite_create("functions");
    TCase *c = tcase_create("functions");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, all_parameters);
    tcase_add_test(c, chosen_parameters);
    tcase_add_test(c, a_parameter_repeated);
    tcase_add_test(c, after_a_failure);
    tcase_add_test(c, implicit);
    tcase_add_test(c, without_a_graph);
    tcase_add_test(c, polynomial);
    tcase_add_test(c, bare_lists);
    tcase_add_test(c, implicit_only_trainable);
    tcase_add_test(c, evaluated_once);
    tcase_add_test(c, g37_custom);
    tcase_add_test(c, g39_variables);
    tcase_add_test(c, g41_pass_through);
    tcase_add_test(c, t35_custom_in_function);
    tcase_add_test(c, several_results);
    tcase_add_test(c, custom_through_a_file);
    tcase_add_test(c, n16_override);
    tcase_add_test(c, names_of_gradients);
    tcase_add_test(c, t17_vjp);
    tcase_add_test(c, products);
    suite_add_tcase(suite, c);
    return suite;
}
