/* test_plans.c -- the plans that a session keeps, and their memory. */
#include "tests/lib/session_fixture.h"

Suite *plans_suite(void);

START_TEST(plans_of_several_shapes)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor y = Sum(Exp(Mul(x, Sqrt(Add(real(g, 3), 1)))));
    for (int i = 0; i < 6; i++) {
        eddy_array *v = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(1 + i % 3)), *out = NULL;
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, v }), EDDY_FETCH(y), &out), EDDY_OK);
        ck_assert_double_eq(eddy_array_item(out), 1 + i % 3);
        ck_assert_int_eq(eddy_session_plan_info(s).plans, i < 3 ? i + 1 : 3);
        eddy_array_free(v);
        eddy_array_free(out);
    }
    const eddy_plan_info p = eddy_session_plan_info(s);
    ck_assert_int_ge(p.folded, 2);
    ck_assert_int_ge(p.in_place, 1);
    ck_assert_int_ge(p.nodes, p.instructions);
    ck_assert_int_le(p.instructions, 3);
    ck_assert_uint_gt(p.live_bytes, 0);
    ck_assert_uint_ge(p.arena_bytes, p.live_bytes);
}
END_TEST

/* Runs y, the sum of n ones, for several n in turn, and checks the number of plans after each. */
static void run_sizes(eddy_session *t, int sizes, int rounds, int64_t step, int most_plans)
{
    eddy_tensor    x = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor    y = eddy_sort(eddy_reverse(eddy_sort(Exp(x)), EDDY_AXES(0)));
    eddy_callable *c = eddy_callable_new(t, EDDY_LIST(x), EDDY_LIST(Sum(y)));
    for (int i = 0; i < rounds * sizes; i++) {
        const int64_t n = step * (1 + i % sizes);
        eddy_array   *v = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n)), *out = NULL;
        ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ v }, &out), EDDY_OK);
        ck_assert_double_eq(eddy_array_item(out), (double)n);
        const eddy_plan_info p = eddy_session_plan_info(t);
        ck_assert_uint_ge(p.arena_bytes, (size_t)n * sizeof(double));
        ck_assert_int_eq(p.plans, i + 1 < most_plans ? i + 1 : most_plans);
        eddy_array_free(v);
        eddy_array_free(out);
    }
    eddy_callable_free(c);
}

/* Above kept_bytes the least recently used plan is dropped, and a callable makes its own again. */
START_TEST(plans_hold_little_memory)
{
    eddy_session *t = eddy_session_new(g, .kept_bytes = 1);
    run_sizes(t, 4, 3, 1000, 1);
    eddy_session_free(t);
}
END_TEST

/* Plans of many sizes are kept: they compute in the same memory. */
START_TEST(plans_share_memory)
{
    eddy_session *t = eddy_session_new(g, .kept_bytes = 3000000);
    run_sizes(t, 100, 3, 1000, 100);
    eddy_session_free(t);
}
END_TEST

/* More sizes than a session kept when it counted them, 1024, are compiled once each. */
START_TEST(thousands_of_sizes_are_kept)
{
    run_sizes(s, 1500, 2, 1, 1500);
}
END_TEST

/* After finalize no error of the graph stops a run; before, each does. */
START_TEST(errors_after_finalize)
{
    eddy_tensor x = Exp(real(g, 0));
    eddy_graph_finalize(g);
    ck_assert(!eddy_is_valid(eddy_graph_tensor(g, "typo:0")));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_NOT_FOUND);
    ck_assert(!eddy_is_valid(Exp(x)));
    has(s, x, 1, (double[]){ 1 });
    eddy_session *late = eddy_session_new(g);
    ck_assert_int_eq(eddy_session_status(late), EDDY_OK);
    has(late, x, 1, (double[]){ 1 });
    eddy_session_free(late);

    eddy_graph   *h = eddy_graph_new();
    eddy_tensor   z = Exp(real(h, 0));
    eddy_session *t = eddy_session_new(h);
    eddy_graph_tensor(h, "typo:0");
    eddy_graph_finalize(h);
    ck_assert_int_eq(eddy_run(t, EDDY_FEED(), EDDY_FETCH(z), NULL), EDDY_NOT_FOUND);
    eddy_session_free(t);
    eddy_graph_free(h);
}
END_TEST

Suite *plans_suite(void)
{
    Suite *suite = suite_create("plans");
    TCase *c = tcase_create("plans");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, plans_of_several_shapes);
    tcase_add_test(c, plans_hold_little_memory);
    tcase_add_test(c, plans_share_memory);
    tcase_add_test(c, thousands_of_sizes_are_kept);
    tcase_add_test(c, errors_after_finalize);
    suite_add_tcase(suite, c);
    return suite;
}
