/* test_plans.c -- the plans that a session keeps, their memory, and when they are compiled. */
#include "tests/lib/session_fixture.h"

#include <time.h>

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

/* ------------------------------------------------------------- preparing -- */

static int  inferred, kernels;              /* calls of the functions below */
static long nanoseconds;                    /* that a compilation takes, at least */

static bool slow_infer(eddy_infer *c)
{
    inferred++;
    nanosleep(&(struct timespec){ .tv_nsec = nanoseconds }, NULL);
    c->out[0] = c->in[0];
    return true;
}
static eddy_status slow_prepare(eddy_kernel *k)
{
    (void)k;
    kernels++;
    return EDDY_OK;
}
static eddy_status copy_kernel(eddy_kernel *k)
{
    memcpy(k->out[0]->data, k->in[0]->data, (size_t)k->in[0]->count * sizeof(float));
    return EDDY_OK;
}
static const eddy_op_def slow_op = { .name = "Slow", .min_inputs = 1, .max_inputs = 1,
                                     .outputs = 1, .infer = slow_infer, .prepare = slow_prepare,
                                     .kernel = copy_kernel };

/* A compilation takes longer than the timeout, so the first run misses it; one that was prepared
 * compiles nothing. */
START_TEST(prepared_runs_keep_a_deadline)
{
    const float       v[3] = { 1, 2, 3 };
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor y = eddy_apply1(&slow_op, NULL, x);
    const eddy_feeds  fed = EDDY_FEED({ x, EDDY_VIEW(v, 3) });
    for (int prepared = 0; prepared < 2; prepared++) {
        eddy_session *t = eddy_session_new(g, .threads = 1, .timeout = 0.5);
        nanoseconds = 0;
        if (prepared) ck_assert_int_eq(eddy_prepare(t, fed, EDDY_FETCH(y)), EDDY_OK);
        nanoseconds = 600000000;
        const eddy_memory_info m = eddy_session_memory_info(t);
        const int              n = inferred + kernels;
        ck_assert_int_eq(m.plans, prepared);
        ck_assert_int_eq(eddy_run(t, fed, EDDY_FETCH(y), NULL),
                         prepared ? EDDY_OK : EDDY_TIMED_OUT);
        ck_assert_int_eq(inferred + kernels == n, prepared);
        ck_assert_int_eq(eddy_session_memory_info(t).plans, 1);
        ck_assert_int_eq(eddy_session_memory_info(t).plan_bytes == m.plan_bytes, prepared);
        ck_assert_int_eq(eddy_run(t, fed, EDDY_FETCH(y), NULL), EDDY_OK);
        eddy_session_free(t);
    }
    nanoseconds = 0;
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
    tcase_add_test(c, prepared_runs_keep_a_deadline);
    suite_add_tcase(suite, c);
    return suite;
}
