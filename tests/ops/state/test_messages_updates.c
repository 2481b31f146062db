/* test_messages_updates.c -- error messages of updates of parts of variables, of assertions, and of
 * formulas of distributions. */
#include "tests/lib/golden.h"
#include "tests/lib/session_fixture.h"
#include "build/gen/table.h"

Suite *messages_updates_suite(void);

/* A run of t fails with the next line. */
static void run_says(eddy_tensor t)
{
    fits(g);
    ck_assert_int_ne(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL), EDDY_OK);
    golden_line(eddy_session_message(s));
}

static eddy_tensor ints(eddy_shape shape, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, shape, v);
}

static void rows(eddy_tensor v, eddy_tensor yes)
{
    const eddy_tensor at = ints(EDDY_SHAPE(2), (const int32_t[]){ 0, 5 });
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor flags = eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(2));
    const eddy_tensor pairs = ExpandDims(at, 1);
    eddy_scatter_mul(yes, at, flags), golden_graph(g);
    eddy_scatter_div(yes, at, flags), golden_graph(g);
    eddy_scatter_max(yes, at, flags), golden_graph(g);
    eddy_scatter_min(v, at, flags), golden_graph(g);
    eddy_scatter_nd_sub(yes, pairs, flags), golden_graph(g);
    eddy_scatter_nd_update(v, pairs, flags), golden_graph(g);
    eddy_scatter_nd_update(v, pairs, eddy_index(x, "0")), golden_graph(g);
    eddy_scatter_nd_add(v, pairs, x, .batch_dims = 2), golden_graph(g);
    eddy_batch_scatter_update(v, eddy_index(at, "0"), x), golden_graph(g);
    eddy_scatter_add(x, at, x), golden_graph(g);
    run_says(eddy_scatter_mul(v, at, x));
    run_says(eddy_scatter_nd_max(v, pairs, x));
}

static void slices(eddy_tensor v)
{
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_index_assign(v, "1", x), golden_graph(g);
    eddy_index_assign(v, "1, :2", Cast(x, EDDY_INT32)), golden_graph(g);
    eddy_index_assign(v, "1, 3", eddy_index(x, "0")), golden_graph(g);
    eddy_index_assign(v, "1:2:x", x), golden_graph(g);
    eddy_index_assign(v, NULL, x), golden_graph(g);
    eddy_index_assign(x, ":", x), golden_graph(g);
}

static void counters(eddy_tensor v, eddy_tensor n)
{
    const eddy_tensor three = eddy_variable(g, ints(EDDY_SHAPE(3), (const int32_t[]){ 0, 1, 2 }));
    eddy_count_up_to(v, 5), golden_graph(g);
    eddy_count_up_to(three, 5), golden_graph(g);
    eddy_count_up_to(n, INT64_MAX), golden_graph(g);
    run_says(eddy_count_up_to(n, 3));
}

/* An integer row is divided by 0. */
static void quotients(void)
{
    const int32_t     numbers[] = { 4, 5, 0, 7 };
    const eddy_tensor var = eddy_variable(g, ints(EDDY_SHAPE(2, 2), numbers));
    run_says(eddy_scatter_div(var, ints(EDDY_SHAPE(2), (const int32_t[]){ 0, 1 }),
                              ints(EDDY_SHAPE(2, 2), numbers)));
}

START_TEST(updates)
{
    const eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    const eddy_tensor yes = eddy_variable(g, eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(2)));
    const eddy_tensor n = eddy_variable(g, eddy_number(g, EDDY_INT32, 3), .name = "n");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    golden_begin("ops/updates");
    rows(v, yes);
    quotients();
    slices(v);
    counters(v, n);
    golden_end();
}
END_TEST

/* ------------------------------------------------------------- assertions -- */

static void claims(eddy_tensor x, eddy_tensor n)
{
    const eddy_tensor y = eddy_number(g, EDDY_FLOAT32, 2);
    eddy_assert_equal(y, NumberLike(3, y)), golden_graph(g);
    eddy_assert_none_equal(y, y, .message = "of y."), golden_graph(g);
    eddy_assert_negative(y), golden_graph(g);
    eddy_assert_near(n, n), golden_graph(g);
    eddy_assert_less(y, n), golden_graph(g);
    eddy_assert_type(x, EDDY_BOOL, "x"), golden_graph(g);
    eddy_assert_integer(x, NULL), golden_graph(g);
    run_says(eddy_assert_greater(x, y, .message = "x is small.", .summarize = 1));
    run_says(eddy_assert_near(x, y, .rtol = 0.5, .atol = -1));
    run_says(eddy_assert_non_positive(Add(x, 1)));
    run_says(eddy_assert_all_finite(Div(Add(x, 1), 0), "1 / 0"));
}

static void shapes(eddy_tensor x, eddy_tensor n)
{
    eddy_ensure_shape(x, EDDY_SHAPE(3, EDDY_ANY)), golden_graph(g);
    eddy_assert_rank(x, 1), golden_graph(g);
    eddy_assert_rank(x, -1), golden_graph(g);
    eddy_assert_rank_at_least(x, 3, .message = "x"), golden_graph(g);
    eddy_assert_rank_in(x, EDDY_DIMS(0, 1)), golden_graph(g);
    eddy_assert_rank_in(x, (eddy_dims){ .count = 9 }), golden_graph(g);
    eddy_assert_scalar(x, NULL), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), "a, 3"), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), "a, 4;"), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), ">=4, a;"), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), "a, a;"), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), "a;"), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), "..., a, b, c;"), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), "..., ...;"), golden_graph(g);
    eddy_assert_shapes(EDDY_LIST(x, n), "a, ?;"), golden_graph(g);
}

START_TEST(asserts)
{
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3), ((float[6]){ 0 }));
    const eddy_tensor n = eddy_number(g, EDDY_INT32, 3);
    golden_begin("ops/updates_asserts");
    claims(Identity(x), n);
    shapes(x, n);
    golden_end();
}
END_TEST

/* --------------------------------------------------- distributions, corners -- */

START_TEST(formulas)
{
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 3));
    const eddy_tensor y = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(4));
    const eddy_tensor n = ints(EDDY_SHAPE(2), (const int32_t[]){ 2, -1 });
    const eddy_tensor fed = eddy_placeholder_with_default(n, "n", EDDY_SHAPE(2));
    golden_begin("ops/updates_log_probs");
    eddy_normal_log_prob(x, n, x), golden_graph(g);
    eddy_normal_log_prob(x, (eddy_tensor){ .graph = g }, x), golden_graph(g);
    eddy_gamma_cdf(x, y, x), golden_graph(g);
    eddy_categorical_log_prob(n, n), golden_graph(g);
    eddy_random_multivariate_normal(x, n), golden_graph(g);
    eddy_multivariate_normal_log_prob(x, x, x), golden_graph(g);
    eddy_lu(x, 0), golden_graph(g);
    eddy_lu(eddy_index(x, ":, :2"), EDDY_FLOAT32), golden_graph(g);
    run_says(eddy_lu(eddy_index(x, ":, :2"), 0));
    eddy_eig(n), golden_graph(g);
    eddy_eig(x), golden_graph(g);
    eddy_apply1(&eddy_op_eig, &(bool){ true }, eddy_index(x, ":, :2")), golden_graph(g);
    eddy_dot(x, y), golden_graph(g);
    eddy_matrix_power(x, 0), golden_graph(g);
    Mul(n, 0.2), golden_graph(g);
    run_says(eddy_repeat(eddy_index(x, ":, 0"), fed, .size = 3));
    golden_end();
}
END_TEST

Suite *messages_updates_suite(void)
{
    Suite *suite = suite_create("messages_updates");
    TCase *c = tcase_create("updates");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, updates);
    tcase_add_test(c, asserts);
    tcase_add_test(c, formulas);
    suite_add_tcase(suite, c);
    return suite;
}
