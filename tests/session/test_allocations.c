/* test_allocations.c -- a run of a cached plan allocates nothing: every call of malloc and related
 * functions is counted that the library itself makes, on any thread; those that OpenBLAS, FFTW and
 * libc make for themselves are not. */
#include "bench/workloads/allocations.h"
#include "build/gen/suites.h"
#include "control/control.h"
#include "tests/lib/session_fixture.h"
#include "tests/lib/training_rows.h"

enum { WARM_UP = 4, RUNS = 10, MOST_OUT = 3 };

/* A run with its feeds; out is used again by every run, or freed after each. */
typedef struct steady {
    eddy_session *session;
    eddy_feeds    feeds[2];             /* in turn */
    eddy_list     fetches;
    eddy_array   *out[MOST_OUT];
} steady;

static void run_once(steady *r, int i)
{
    ck_assert_msg(eddy_run(r->session, r->feeds[i % 2], r->fetches, r->out) == EDDY_OK, "%s",
                  eddy_session_message(r->session));
}

static void free_results(steady *r)
{
    for (int i = 0; i < MOST_OUT; i++) {
        eddy_array_free(r->out[i]);
        r->out[i] = NULL;
    }
}

/* How often malloc is called in 10 runs, after as many as need it to make and tune the plans. */
static long allocations(steady *r, bool keep_out)
{
    long before = 0;
    for (int i = 0; i < WARM_UP + RUNS; i++) {
        if (i == WARM_UP) before = allocations_so_far();
        run_once(r, i);
        if (!keep_out) free_results(r);
    }
    const long n = allocations_so_far() - before;
    free_results(r);
    return n;
}

/* ------------------------------------------------------------- trainings -- */

/* Two batches of different sizes, each of which has a plan. */
START_TEST(trainings)
{
    static const float   x[7 * 4] = { 1, 2, 3 };
    static const int32_t y[7] = { 0, 1, 2, 1 };
    const training_row  *row = &training_rows[_i];
    eddy_graph          *h = training_graph(row, NULL);
    fits(h);
    const eddy_tensor px = eddy_graph_tensor(h, "x:0"), py = eddy_graph_tensor(h, "y:0");
    for (int threads = 1; threads <= 2; threads++) {
        steady r = { .session = eddy_session_new(h, .threads = threads),
                     .feeds = { EDDY_FEED({ px, EDDY_VIEW(x, 7, 4) }, { py, EDDY_VIEW(y, 7) }),
                                EDDY_FEED({ px, EDDY_VIEW(x, 5, 4) }, { py, EDDY_VIEW(y, 5) }) },
                     .fetches = EDDY_LIST(eddy_graph_operation(h, "train"),
                                          eddy_graph_tensor(h, "loss:0")) };
        runs(r.session, eddy_graph_operation(h, "init"));
        const long n = allocations(&r, true);
        ck_assert_msg(n == 0, "%s: %ld allocations in %d runs on %d threads", row->name, n, RUNS,
                      threads);
        eddy_session_free(r.session);
    }
    eddy_graph_free(h);
}
END_TEST

/* ----------------------------------------------------------------- loops -- */

static int step(eddy_list x, eddy_tensor *y, void *w)
{
    y[0] = eddy_tanh(eddy_matmul(x.at[0], *(eddy_tensor *)w));
    y[1] = eddy_add(x.at[1], eddy_number(x.at[0].graph, EDDY_INT32, 1));
    return 2;
}

static int below_n(eddy_list x, eddy_tensor *y, void *n)
{
    y[0] = eddy_less(x.at[1], *(eddy_tensor *)n);
    return 1;
}

/* The gradient of a loop of n iterations, with stacks that are planned or that grow in a run: these
 * stay for the next one. */
START_TEST(loops)
{
    eddy_tensor   n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor   w = eddy_variable(g, eddy_random_normal(g, EDDY_SHAPE(8, 8))), y[2];
    eddy_while_loop({ .build = below_n, .context = &n }, { .build = step, .context = &w },
                    EDDY_LIST(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3, 8)),
                              eddy_number(g, EDDY_INT32, 0)), y,
                    .maximum_iterations = _i ? -1 : 100);
    const eddy_tensor loss = eddy_sum(y[0]), dw = eddy_gradient(loss, w);
    const eddy_tensor train = eddy_assign_sub(w, eddy_mul(dw, eddy_scalar(g, 1e-3)));
    fits(g);
    runs(s, eddy_initializer(g));
    steady r = { .session = s, .feeds = { EDDY_FEED({ n, EDDY_NUMBER(EDDY_INT32, 100) }),
                                          EDDY_FEED({ n, EDDY_NUMBER(EDDY_INT32, 30) }) },
                 .fetches = EDDY_LIST(loss, eddy_group(g, EDDY_LIST(train))) };
    ck_assert_int_eq(allocations(&r, true), 0);
}
END_TEST

/* --------------------------------------------------------------- updates -- */

START_TEST(fed_updates)
{
    static const float v[6] = { 1, 2, 3, 4, 5, 6 };
    eddy_tensor        a = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    eddy_tensor        x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    runs(s, eddy_initializer(g));
    const eddy_feeds fed = EDDY_FEED({ x, EDDY_VIEW(v, 2, 3) });
    steady r = { .session = s, .feeds = { fed, fed },
                 .fetches = EDDY_LIST(_i ? eddy_assign_add(a, x) : eddy_assign(a, x)) };
    ck_assert_int_eq(allocations(&r, true), 0);
}
END_TEST

/* --------------------------------------------------------------- results -- */

/* A small result and a large one: an array that is given back is used again; a new one is two
 * allocations, its header and its elements. */
START_TEST(results)
{
    const eddy_tensor x = eddy_random_uniform(g, EDDY_SHAPE(_i ? 50000 : 2));
    const eddy_tensor y = eddy_sort(eddy_exp(x));
    steady            r = { .session = s, .fetches = EDDY_LIST(y, x) };
    ck_assert_int_eq(allocations(&r, true), 0);
    ck_assert_int_eq(allocations(&r, false), 2 * 2 * RUNS);
}
END_TEST

START_TEST(callables)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_callable    *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(eddy_softmax(x)));
    eddy_array       *fed = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(4, 3)), *out = NULL;
    long              before = 0;
    for (int i = 0; i < WARM_UP + RUNS; i++) {
        if (i == WARM_UP) before = allocations_so_far();
        ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *const[]){ fed }, &out), EDDY_OK);
    }
    ck_assert_int_eq(allocations_so_far() - before, 0);
    eddy_array_free(fed);
    eddy_array_free(out);
    eddy_callable_free(c);
}
END_TEST

/* The counter counts. */
START_TEST(counted)
{
    const long before = allocations_so_far();
    eddy_array_free(eddy_array_of(EDDY_FLOAT32, 1));
    ck_assert_int_eq(allocations_so_far() - before, 2);
}
END_TEST

Suite *allocations_suite(void)
{
    Suite *suite = suite_create("allocations");
    TCase *c = tcase_create("allocations");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, counted);
    tcase_add_loop_test(c, trainings, 0, TRAINING_ROWS);
    tcase_add_loop_test(c, loops, 0, 2);
    tcase_add_loop_test(c, fed_updates, 0, 2);
    tcase_add_loop_test(c, results, 0, 2);
    tcase_add_test(c, callables);
    suite_add_tcase(suite, c);
    return suite;
}
