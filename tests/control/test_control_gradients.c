/* test_control_gradients.c -- derivatives of models with loops and branches against finite
 * differences, to the third order and for several numbers of iterations; Jacobians and other
 * products. */
#include "build/gen/suites.h"
#include "tests/lib/control_models.h"
#include "tests/lib/finite_differences.h"

static const int counts[] = { 0, 1, 2, 7 };
enum { COUNTS = 4 };

/* Placeholders of known shape: unknown shapes have their own tests. */
static eddy_tensor fed_known(trial *t, eddy_shape s)
{
    return eddy_set_shape(fed_numbers(t, s, -0.8, 0.8), s);
}

typedef struct model {
    trial       t;
    model_args  args;
    eddy_tensor fed[2], y;       /* what is fed for x and a */
} model;

static model build(const control_model *c, int count, unsigned seed)
{
    model m = { .t = trial_begin(seed) };
    m.args.count = count;
    m.args.n = integer(&m.t, count);
    m.args.x = fed_known(&m.t, EDDY_SHAPE(3));
    m.args.a = fed_known(&m.t, EDDY_SHAPE(c->rows ? count : 3, 3));
    m.fed[0] = m.t.tensor[1], m.fed[1] = m.t.tensor[2];
    m.y = c->build(&m.args);
    ck_assert_msg(eddy_is_valid(m.y), "%s: %s", c->name, eddy_graph_message(m.t.graph));
    return m;
}

START_TEST(derivatives_are_differences)
{
    const control_model *c = &control_models[_i / COUNTS];
    model m = build(c, counts[_i % COUNTS], (unsigned)_i % 95);
    check_slopes(&m.t, m.y, 2, m.fed, 3);
    trial_end(&m.t);
}
END_TEST

/* u (J v) = (u J) v, and H v of both as one. */
START_TEST(products_with_vectors)
{
    const control_model *c = &control_models[_i];
    model       m = build(c, 3, (unsigned)_i);
    eddy_array *shape = value(&m.t, m.y);
    eddy_tensor          u = fed_known(&m.t, eddy_array_shape(shape)), x = m.fed[0],
                v = fed_known(&m.t, EDDY_SHAPE(3));
    eddy_tensor jv, ju, hv;
    eddy_array_free(shape);
    eddy_jvp(EDDY_LIST(m.y), EDDY_LIST(x), EDDY_LIST(v), &jv);
    eddy_vjp(EDDY_LIST(m.y), EDDY_LIST(x), EDDY_LIST(u), &ju);
    const double a = scalar_value(&m.t, Sum(Mul(u, jv))), b = scalar_value(&m.t, Sum(Mul(ju, v)));
    ck_assert_msg(fabs(a - b) <= 1e-12 * (1 + fabs(a)), "%s: %.17g, %.17g", c->name, a, b);
    eddy_tensor f = Sum(Mul(u, m.y)), df = slope(f, x);
    eddy_hessian_vector_product(f, EDDY_LIST(x), EDDY_LIST(v), &hv);
    const double p = scalar_value(&m.t, Sum(Mul(hv, v)));
    const double q = scalar_value(&m.t, Sum(Mul(slope(Sum(Mul(df, v)), x), v)));
    ck_assert_msg(fabs(p - q) <= 1e-12 * (1 + fabs(p)), "%s: %.17g, %.17g", c->name, p, q);
    trial_end(&m.t);
}
END_TEST

/* Several gradients of one loop, asked for one after the other, are those asked for at once. */
START_TEST(gradients_of_the_same_loop)
{
    const control_model *c = &control_models[_i];
    model       m = build(c, 3, (unsigned)_i);
    eddy_tensor d[2], e[2] = { slope(m.y, m.fed[0]), slope(m.y, m.fed[1]) };
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(m.y), ((eddy_list){ 2, m.fed }), d), EDDY_OK);
    for (int k = 0; k < 2; k++) {
        eddy_array *want = value(&m.t, d[k]);
        is(&m.t, e[k], (int)eddy_array_count(want), eddy_array_data(want));
        eddy_array_free(want);
    }
    trial_end(&m.t);
}
END_TEST

/* Loops without a limit keep what gradients need in another way. */
START_TEST(loops_without_a_limit)
{
    const control_model *c = &control_models[_i / COUNTS];
    if (!c->limited) return;
    model       m = build(c, counts[_i % COUNTS], (unsigned)_i);
    eddy_tensor y = m.y, z = c->limited(&m.args), w = fed_known(&m.t, EDDY_SHAPE(3));
    for (int order = 0; order < 4; order++) {
        eddy_array *want = value(&m.t, z);
        is(&m.t, y, (int)eddy_array_count(want), eddy_array_data(want));
        eddy_array_free(want);
        eddy_tensor x[2] = { m.args.x, m.args.a }, dy[2], dz[2];
        eddy_gradients(EDDY_LIST(y), ((eddy_list){ 2, x }), dy,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
        eddy_gradients(EDDY_LIST(z), ((eddy_list){ 2, x }), dz,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
        y = Add(Mul(dy[0], w), Sum(Mul(dy[1], w)));
        z = Add(Mul(dz[0], w), Sum(Mul(dz[1], w)));
    }
    trial_end(&m.t);
}
END_TEST

/* The rows of a Jacobian are gradients of one element each. */
START_TEST(jacobians)
{
    const control_model *c = &control_models[_i / 2];
    model       m = build(c, 2, (unsigned)_i);
    eddy_array *shape = value(&m.t, m.y);
    const int   n = (int)eddy_array_count(shape);
    eddy_tensor y = eddy_reshape(m.y, EDDY_SHAPE(n)), x = m.args.x, j, rows[9];
    ck_assert_int_le(n, 9);
    eddy_array_free(shape);
    ck_assert_msg(eddy_jacobian(y, EDDY_LIST(x), &j, .no_pfor = _i % 2) == EDDY_OK, "%s: %s",
                  c->name, eddy_graph_message(m.t.graph));
    for (int k = 0; k < n; k++)
        rows[k] = slope(Mul(y, eddy_one_hot(whole(&m.t, k), n, .dtype = F64)), x);
    eddy_array *want = value(&m.t, eddy_stack((eddy_list){ n, rows }));
    is(&m.t, j, 3 * n, eddy_array_data(want));
    eddy_array_free(want);
    trial_end(&m.t);
}
END_TEST

/* ------------------------------------------------------------ other operators -- */

BODY(fewer, Less(x[0], c[0]))
BODY(count_and_multiply, Add(x[0], 1), Mul(x[1], c[0]))
static eddy_tensor power(trial *t, eddy_tensor base, eddy_tensor n)
{
    eddy_tensor y[2];
    eddy_while_loop(FUNCTION(fewer, n), FUNCTION(count_and_multiply, base),
                    EDDY_LIST(whole(t, 0), eddy_identity(base)), y, .maximum_iterations = 20);
    return y[1];
}

START_TEST(tapes_record_loops)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 4), x = fed_real(&t, 1.5), d = { 0 };
    eddy_tape  *tape = eddy_tape_begin(eddy_tape_new(t.graph));
    eddy_tape_watch(tape, EDDY_LIST(x));
    eddy_tensor y = power(&t, x, n);
    eddy_tape_end(tape);
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &d);
    eddy_tape_free(tape);
    is(&t, y, V(pow(1.5, 5))), is(&t, d, V(5 * pow(1.5, 4)));
    trial_end(&t);
}
END_TEST

/* Gradients within a body: f' in the loop, and then the derivative of all of it. */
BODY(descend, Sub(x[0], Mul(eddy_gradient(Square(Sub(Square(x[0]), c[0])), x[0]), 0.02)))
START_TEST(gradients_within_bodies)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = fed_real(&t, 2), x = fed_real(&t, 1.25), y[1];
    ck_assert_int_eq(eddy_iterate(60, FUNCTION(descend, a), EDDY_LIST(x), y), 1);
    eddy_array *root = value(&t, y[0]), *d = value(&t, slope(y[0], a));
    ck_assert_double_le(fabs(eddy_array_item(root) - sqrt(2)), 1e-4);
    ck_assert_double_le(fabs(eddy_array_item(d) - 0.5 / sqrt(2)), 1e-2);
    double v = 1.25, dv = 0;
    for (int i = 0; i < 60; i++) {
        dv = dv - 0.02 * (dv * (12 * v * v - 8) - 4 * v);
        v -= 0.02 * 4 * v * (v * v - 2);
    }
    ck_assert_double_le(fabs(eddy_array_item(d) - dv), 1e-9);
    eddy_array_free(root), eddy_array_free(d);
    trial_end(&t);
}
END_TEST

/* A step of descent through a loop changes the variable that it captured. */
START_TEST(training_through_a_loop)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor w = eddy_variable(t.graph, constant(&t, 1.1), .name = "w"), n = integer(&t, 3);
    eddy_tensor loss = Square(Sub(power(&t, w, n), 16));
    eddy_tensor train =
        eddy_minimize(eddy_gradient_descent(t.graph, eddy_number(t.graph, F64, 1e-4)), loss);
    double      v = 1.1;
    initialize(&t);
    for (int k = 0; k < 200; k++) {
        const eddy_feed feed = { t.tensor[0], t.array[0] };
        ck_assert_msg(eddy_run(t.session, (eddy_feeds){ 1, &feed }, EDDY_FETCH(train), NULL) ==
                      EDDY_OK,
                      "%s", eddy_session_message(t.session));
        v -= 1e-4 * 2 * (pow(v, 4) - 16) * 4 * pow(v, 3);
    }
    eddy_array *a = value(&t, w);
    ck_assert_double_le(fabs(eddy_array_item(a) - v), 1e-9);
    ck_assert_double_le(fabs(v - 2), 1e-3);
    eddy_array_free(a);
    trial_end(&t);
}
END_TEST

/* A model that its gradient computes again has the same derivatives, and twice is no other. */
START_TEST(recomputed_models)
{
    const control_model *c = &control_models[_i];
    model       m = build(c, 3, (unsigned)_i);
    eddy_tensor x[2] = { m.args.x, m.args.a }, again, y = m.y, w = fed_known(&m.t, EDDY_SHAPE(3));
    ck_assert_int_eq(eddy_recompute_grad(EDDY_LIST(m.y), ((eddy_list){ 2, x }), &again), EDDY_OK);
    for (int order = 0; order < 3; order++) {
        eddy_array *want = value(&m.t, y);
        is(&m.t, again, (int)eddy_array_count(want), eddy_array_data(want));
        eddy_array_free(want);
        const eddy_tensor dy = eddy_gradient(y, x[0]), d_again = eddy_gradient(again, x[0]);
        ck_assert_int_eq(eddy_is_valid(dy), eddy_is_valid(d_again));
        if (!eddy_is_valid(dy)) break;
        y = Mul(dy, w), again = Mul(d_again, w);
    }
    trial_end(&m.t);
}
END_TEST

/* The check finds nothing wrong in any model, to the second order. */
START_TEST(checked_models)
{
    const control_model *c = &control_models[_i / 2];
    model       m = build(c, _i % 2 ? 3 : 1, (unsigned)_i);
    eddy_feed   feeds[TRIAL_FEEDS];
    eddy_gradient_report r;
    for (int i = 0; i < m.t.n; i++) feeds[i] = (eddy_feed){ m.t.tensor[i], m.t.array[i] };
    ck_assert_msg(eddy_gradient_check(m.t.session, EDDY_LIST(m.y), EDDY_LIST(m.fed[0], m.fed[1]),
                                      (eddy_feeds){ m.t.n, feeds }, .order = 2, .report = &r) ==
                  EDDY_OK, "%s: %s", c->name, r.text);
    eddy_string_free(r.text);
    trial_end(&m.t);
}
END_TEST

/* The gradient of a matrix without columns or rows, of which each iteration has a product. */
BODY(plus_empty_product, Add(x[0], Sum(MatMul(Tanh(x[1]), c[0]))))

START_TEST(empty_matrices)
{
    trial         t = trial_begin(0);
    const int64_t columns = _i, inner = 1 - _i;
    eddy_tensor   w = fed_known(&t, EDDY_SHAPE(inner, columns));
    eddy_tensor   rows = fed_known(&t, EDDY_SHAPE(3, 2, inner));
    eddy_tensor y;
    ck_assert_int_eq(eddy_foldl(FUNCTION(plus_empty_product, w), EDDY_LIST(rows), &y,
                                EDDY_LIST(constant(&t, 5))), 1);
    is(&t, y, V(5));
    is_shaped(&t, slope(y, w), EDDY_SHAPE(inner, columns));
    trial_end(&t);
}
END_TEST

/* A rule that is not the derivative: 3 dy for the sine of x. In a body it holds in each iteration;
 * around a loop it holds for all of them. */
static void three_times(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], 3); }
static int sine_by_rule(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_custom_gradient(EDDY_LIST(Sin(in.at[0])), in, y, three_times);
    return 1;
}
BODY(plain_sine, Sin(x[0]))
START_TEST(custom_gradients)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 0.5), y[1], z[1];
    ck_assert_int_eq(eddy_iterate(4, PLAIN(sine_by_rule), EDDY_LIST(x), y), 1);
    is(&t, y[0], V(sin(sin(sin(sin(0.5))))));
    is(&t, slope(y[0], x), V(81));
    is(&t, slope(Square(y[0]), x), V(162 * sin(sin(sin(sin(0.5))))));
    is(&t, slope(slope(Square(y[0]), x), x), V(2 * 81 * 81));
    ck_assert_int_eq(eddy_iterate(4, PLAIN(plain_sine), EDDY_LIST(x), y), 1);
    ck_assert_int_eq(eddy_custom_gradient(EDDY_LIST(y[0]), EDDY_LIST(x), z, three_times), EDDY_OK);
    is(&t, z[0], V(sin(sin(sin(sin(0.5))))));
    is(&t, slope(z[0], x), V(3));
    const eddy_function again = { .build = sine_by_rule, .name = "again" };
    eddy_cond(Greater(x, 0), again, PLAIN(plain_sine), y, EDDY_LIST(x));
    is(&t, slope(y[0], x), V(3));
    refeed(&t, x, -0.5);
    is(&t, slope(y[0], x), V(cos(-0.5)));
    trial_end(&t);
}
END_TEST

Suite *control_gradients_suite(void)
{
    Suite *s = suite_create("control_gradients");
    TCase *c = tcase_create("models");
    tcase_add_loop_test(c, derivatives_are_differences, 0, CONTROL_MODELS * COUNTS);
    tcase_add_loop_test(c, products_with_vectors, 0, CONTROL_MODELS);
    tcase_add_loop_test(c, gradients_of_the_same_loop, 0, CONTROL_MODELS);
    tcase_add_loop_test(c, loops_without_a_limit, 0, CONTROL_MODELS * COUNTS);
    tcase_add_loop_test(c, jacobians, 0, 2 * CONTROL_MODELS);
    tcase_add_loop_test(c, recomputed_models, 0, CONTROL_MODELS);
    tcase_add_loop_test(c, checked_models, 0, 2 * CONTROL_MODELS);
    suite_add_tcase(s, c);
    c = tcase_create("operators");
    tcase_add_loop_test(c, tapes_record_loops, 0, SEEDS);
    tcase_add_loop_test(c, gradients_within_bodies, 0, SEEDS);
    tcase_add_loop_test(c, training_through_a_loop, 0, SEEDS);
    tcase_add_loop_test(c, empty_matrices, 0, 2);
    tcase_add_loop_test(c, custom_gradients, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
