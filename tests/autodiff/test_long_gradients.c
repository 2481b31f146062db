/* test_long_gradients.c -- gradients of graphs of up to a million nodes. */
#include "build/gen/suites.h"
#include "tests/lib/graph_fixture.h"

#include <math.h>

static int32_t appended(int n)
{
    eddy_graph *h = eddy_graph_new();
    eddy_tensor x = eddy_scalar(h, 0.5), y = x;
    for (int i = 0; i < n; i++) y = Tanh(y);
    const int32_t before = eddy_graph_size(h);
    ck_assert(eddy_is_valid(eddy_gradient(y, x)));
    const int32_t made = eddy_graph_size(h) - before;
    eddy_graph_free(h);
    return made;
}

START_TEST(nodes_grow_in_proportion)
{
    const int32_t little = appended(1000), half = appended(50000), all = appended(100000);
    ck_assert_int_eq(all - half, half - little + (half - little) / 49);
    ck_assert_int_le(all, 400000);
}
END_TEST

/* A chain of a million nodes builds, differentiates and runs. */
START_TEST(a_million_nodes)
{
    enum { N = 1000000 };
    eddy_tensor x = real(g, 0.5), y = x, out[2];
    for (int i = 0; i < N; i++) y = Add(y, x);
    out[0] = y;
    out[1] = eddy_gradient(y, x);
    is_number(out[0], 0.5 * (N + 1));
    is_number(out[1], N + 1);
}
END_TEST

START_TEST(a_long_chain_of_tanh)
{
    enum { N = 200000 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR), y = x, d;
    double      want = 0.5, slope = 1;
    for (int i = 0; i < N; i++) {
        y = Tanh(y);
        want = tanh(want);
        slope *= 1 - want * want;
    }
    d = eddy_gradient(y, x);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *at = eddy_array_of(EDDY_FLOAT64, 0.5), *out[2] = { NULL, NULL };
    const eddy_status status = eddy_run(s, EDDY_FEED({ x, at }), EDDY_FETCH(y, d), out);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
    ck_assert_double_eq_tol(eddy_array_item(out[0]), want, 1e-9);
    ck_assert_double_eq_tol(eddy_array_item(out[1]) / slope, 1, 1e-6);
    eddy_array_free(at);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
}
END_TEST

Suite *long_gradients_suite(void)
{
    Suite *suite = suite_create("long_gradients");
    TCase *c = tcase_create("lengths"), *slow = tcase_create("long_chains");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, nodes_grow_in_proportion);
    suite_add_tcase(suite, c);
    tcase_add_checked_fixture(slow, setup, teardown);
    tcase_set_tags(slow, "slow");
    tcase_add_test(slow, a_million_nodes);
    tcase_add_test(slow, a_long_chain_of_tanh);
    suite_add_tcase(suite, slow);
    return suite;
}
