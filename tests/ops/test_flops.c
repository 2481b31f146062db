/* test_flops.c -- the counted arithmetic operations of a run against counts by hand. */
#include "tests/lib/checks.h"

Suite *flops_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g, .without = EDDY_PASSES_ALL);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_tensor ones(eddy_shape shape) { return eddy_ones(g, EDDY_FLOAT64, shape); }

/* Checks the number of operations of a run. */
static void cost(eddy_list fetches, double want)
{
    ck_assert_msg(eddy_run(s, EDDY_FEED(), fetches, NULL) == EDDY_OK, "%s",
                  eddy_session_message(s));
    const double got = eddy_session_plan_info(s).flops;
    ck_assert_msg(got == want, "%s takes %g operations, not %g", eddy_type_of(fetches.at[0]), got,
                  want);
}
static void costs(eddy_tensor t, double want) { cost(EDDY_LIST(t), want); }

START_TEST(products)
{
    const eddy_tensor a = ones(EDDY_SHAPE(3, 4)), b = ones(EDDY_SHAPE(4, 5));
    costs(MatMul(a, b), 2 * 3 * 4 * 5);
    costs(MatMul(b, a, .transpose_a = true, .transpose_b = true), 2 * 5 * 4 * 3);
    costs(eddy_bias_add(MatMul(a, b), ones(EDDY_SHAPE(5))), 2 * 3 * 4 * 5 + 3 * 5);
    const eddy_tensor y = MatMul(a, b);
    eddy_tensor d[2];
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(a, b), d, .grad_ys = EDDY_LIST(ones(EDDY_SHAPE(3, 5))));
    cost(EDDY_LIST(d[0], d[1]), 2 * 2 * 3 * 4 * 5);
}
END_TEST

START_TEST(elements)
{
    const eddy_tensor x = ones(EDDY_SHAPE(2, 3)), row = ones(EDDY_SHAPE(3));
    costs(eddy_tanh(x), 6);
    costs(Add(x, row), 6);
    costs(Add(Mul(x, x), x), 12);
    costs(eddy_add_n(EDDY_LIST(x, x, x), NULL), 12);
    costs(eddy_cumsum(x, .axis = 0), 6);
}
END_TEST

START_TEST(reductions)
{
    const eddy_tensor x = ones(EDDY_SHAPE(6, 7));
    costs(eddy_sum(x), 42);
    costs(eddy_mean(x, .axes = EDDY_AXES(1)), 42);
    costs(eddy_argmax(x, .axis = 1), 42);
    costs(eddy_softmax(x), 5 * 42);
    costs(eddy_log_softmax(x), 5 * 42);
    costs(eddy_l2_loss(x), 2 * 42);
    costs(eddy_softmax_cross_entropy(x, x), 8 * 42);
    costs(eddy_sigmoid_cross_entropy(x, x), 8 * 42);
}
END_TEST

START_TEST(moving_is_free)
{
    const eddy_tensor x = ones(EDDY_SHAPE(2, 3));
    costs(x, 0);
    costs(eddy_transpose(x), 0);
    costs(eddy_reshape(x, EDDY_SHAPE(6)), 0);
    costs(eddy_concat(EDDY_LIST(x, x), 0), 0);
    costs(eddy_identity(x), 0);
    costs(eddy_gather(x, eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 0 })), 0);
    costs(eddy_zeros_like(x), 0);
}
END_TEST

START_TEST(drawing)
{
    costs(eddy_random_uniform(g, EDDY_SHAPE(10)), 10);
    costs(eddy_random_normal(g, EDDY_SHAPE(10)), 10);
}
END_TEST

/* Each callable tells of its own plan, the session of the last run's. */
START_TEST(each_run)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 4));
    const eddy_tensor y = MatMul(x, ones(EDDY_SHAPE(4, 5))), z = eddy_exp(x);
    eddy_callable *a = eddy_callable_new(s, EDDY_LIST(x), EDDY_FETCH(y));
    eddy_callable *b = eddy_callable_new(s, EDDY_LIST(x), EDDY_FETCH(z));
    eddy_array    *rows = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(3, 4)), *out = NULL;
    const eddy_array *const feeds[] = { rows };
    ck_assert_double_eq(eddy_callable_plan_info(a).flops, 0);
    ck_assert_int_eq(eddy_callable_run(a, feeds, &out), EDDY_OK);
    ck_assert_int_eq(eddy_callable_run(b, feeds, &out), EDDY_OK);
    ck_assert_double_eq(eddy_callable_plan_info(a).flops, 2 * 3 * 4 * 5);
    ck_assert_double_eq(eddy_callable_plan_info(b).flops, 12);
    ck_assert_double_eq(eddy_session_plan_info(s).flops, 12);
    ck_assert_int_eq(eddy_callable_run(a, feeds, &out), EDDY_OK);
    ck_assert_double_eq(eddy_session_plan_info(s).flops, 2 * 3 * 4 * 5);
    ck_assert_int_eq(eddy_callable_plan_info(NULL).instructions, 0);
    eddy_array_free(rows);
    eddy_array_free(out);
}
END_TEST

/* Updates cost their arithmetic, the copies that keep older values nothing. */
START_TEST(updates)
{
    const eddy_tensor v = eddy_variable(g, ones(EDDY_SHAPE(8)), .name = "v");
    const eddy_tensor init = eddy_initializer(g), more = eddy_assign_add(v, ones(EDDY_SHAPE(8)));
    costs(init, 0);
    costs(more, 8);
    cost(EDDY_LIST(more, eddy_exp(v)), 16);
}
END_TEST

Suite *flops_suite(void)
{
    Suite *suite = suite_create("flops");
    TCase *t = tcase_create("counts");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, products);
    tcase_add_test(t, elements);
    tcase_add_test(t, reductions);
    tcase_add_test(t, moving_is_free);
    tcase_add_test(t, drawing);
    tcase_add_test(t, each_run);
    tcase_add_test(t, updates);
    suite_add_tcase(suite, t);
    return suite;
}
