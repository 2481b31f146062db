/* test_stop.c -- runs that are cancelled, time out or lose their session, and preparing runs. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"
#include "tests/lib/mixed_runs.h"
#include "tests/lib/third_rows.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new(.seed = 1);
    s = eddy_session_new(g, .threads = 2);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static void pause_for(double seconds)
{
    const struct timespec t = { .tv_nsec = (long)(seconds * 1e9) };
    nanosleep(&t, NULL);
}

static eddy_status run(eddy_tensor y) { return eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL); }

static void says(const char *what)
{
    ck_assert_msg(strstr(eddy_session_message(s), what) != NULL, "no '%s' in '%s'", what,
                  eddy_session_message(s));
}

/* -------------------------------------------------------- loops without end -- */

BODY(always, eddy_greater_equal(x[0], eddy_number(x[0].graph, EDDY_INT32, -5)))
BODY(wait, Mul(x[0], 1), Tanh(x[1]))
BODY(longer_and_shorter, Mul(x[0], 1), eddy_index(eddy_concat(EDDY_LIST(x[1], x[1]), 0), ":3"))

/* A compiled loop, or one whose shapes change. */
static eddy_tensor endless(bool grows)
{
    const eddy_shape any[] = { { 0 }, { .rank = 1, .dim = { EDDY_ANY } } };
    eddy_tensor      y[EDDY_MAX_RESULTS], zero = eddy_number(g, EDDY_INT32, 0);
    eddy_tensor      x = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2));
    const int        n = grows ? eddy_while_loop(PLAIN(always), PLAIN(longer_and_shorter),
                                                 EDDY_LIST(zero, x), y, any)
                               : eddy_while_loop(PLAIN(always), PLAIN(wait), EDDY_LIST(zero, x), y);
    ck_assert_msg(n == 2, "%s", eddy_graph_message(g));
    return y[1];
}

static void *cancel_soon(void *of)
{
    pause_for(0.05);
    eddy_session_cancel(of);
    return NULL;
}

static void *close_soon(void *of)
{
    pause_for(0.05);
    eddy_session_close(of);
    return NULL;
}

static eddy_status run_with(void *(*other)(void *), eddy_tensor y)
{
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, other, s), 0);
    const eddy_status status = run(y);
    pthread_join(t, NULL);
    return status;
}

START_TEST(cancelled_by_a_thread)
{
    const eddy_tensor y = endless(_i), one = eddy_scalar(g, 1);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(run_with(cancel_soon, y), EDDY_CANCELLED);
        says("the run was cancelled");
        ck_assert_int_eq(run(one), EDDY_OK);
    }
}
END_TEST

START_TEST(closed_by_a_thread)
{
    const eddy_tensor y = endless(_i);
    ck_assert_int_eq(run_with(close_soon, y), EDDY_CANCELLED);
    says("the session was closed during the run");
    ck_assert_int_eq(run(y), EDDY_CLOSED);
}
END_TEST

static void on_alarm(int number)
{
    (void)number;
    eddy_session_cancel(s);
}

START_TEST(cancelled_by_a_signal)
{
    const struct itimerval soon = { .it_value = { .tv_usec = 50000 } };
    struct sigaction       old, new = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    const eddy_tensor      y = endless(_i);
    sigaction(SIGALRM, &new, &old);
    setitimer(ITIMER_REAL, &soon, NULL);
    ck_assert_int_eq(run(y), EDDY_CANCELLED);
    sigaction(SIGALRM, &old, NULL);
}
END_TEST

START_TEST(timed_out)
{
    const eddy_tensor y = endless(_i), one = eddy_scalar(g, 1);
    ck_assert_int_eq(eddy_session_set_timeout(s, 0.05), EDDY_OK);
    ck_assert_int_eq(run(y), EDDY_TIMED_OUT);
    says("the run took longer than its timeout of 0.05 s");
    ck_assert_ptr_null(eddy_eval_in(s, y));
    ck_assert_int_eq(eddy_session_status(s), EDDY_TIMED_OUT);
    ck_assert_int_eq(eddy_session_set_timeout(s, 0), EDDY_OK);
    ck_assert_int_eq(run(one), EDDY_OK);
    eddy_session *t = eddy_session_new(g, .timeout = 0.02);
    ck_assert_int_eq(eddy_run(t, EDDY_FEED(), EDDY_FETCH(y), NULL), EDDY_TIMED_OUT);
    eddy_session_free(t);
}
END_TEST

static int goes_on(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_less(x.at[0], eddy_number(g, EDDY_INT32, 100000));
    return 1;
}

static int append_one(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_add(x.at[0], eddy_number(g, EDDY_INT32, 1));
    y[1] = eddy_concat(EDDY_LIST(eddy_sin(x.at[1]), eddy_index(x.at[1], ":1")), 0);
    return 2;
}

static void overwrite_stack(void)
{
    volatile char bytes[100000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0x41;
}

/* What a stopped loop on 24 MB leaves is freed by the next run or with the session, when the run's
 * own memory is gone. */
START_TEST(large_values_of_a_stopped_loop)
{
    static const eddy_shape shapes[] = { { 0 }, { .rank = 1, .dim = { EDDY_ANY } } };
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_array       *v = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(6000000));
    eddy_session     *t = eddy_session_new(g, .timeout = 0.1, .max_bytes = 1 << 30);
    eddy_tensor       y[2];
    eddy_while_loop({ .build = goes_on }, { .build = append_one },
                    EDDY_LIST(eddy_number(g, EDDY_INT32, 0), x), y,
                    .shape_invariants = shapes);
    fits(g);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(eddy_run(t, EDDY_FEED({ x, v }), EDDY_FETCH(y[1]), NULL), EDDY_TIMED_OUT);
        overwrite_stack();
    }
    eddy_session_free(t);
    eddy_array_free(v);
}
END_TEST

/* A kernel that waits for something that never comes. */
static bool wait_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static eddy_status wait_kernel(eddy_kernel *k)
{
    eddy_status status;
    while ((status = eddy_kernel_stopped(k)) == EDDY_OK) pause_for(0.001);
    return eddy_kernel_fail(k, status, "nothing came");
}

static const eddy_op_def wait_op = {
    .name = "Wait", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_STATEFUL,
    .infer = wait_infer, .kernel = wait_kernel,
};

START_TEST(waiting_kernels)
{
    const eddy_tensor y = eddy_apply1(&wait_op, NULL, eddy_scalar(g, 1));
    ck_assert_int_eq(run_with(cancel_soon, y), EDDY_CANCELLED);
    says("nothing came");
    eddy_session_set_timeout(s, 0.05);
    ck_assert_int_eq(run(y), EDDY_TIMED_OUT);
    eddy_session_set_timeout(s, 0);
    ck_assert_int_eq(run_with(close_soon, y), EDDY_CANCELLED);
    ck_assert_int_eq(eddy_kernel_stopped(NULL), EDDY_OK);
}
END_TEST

static void *run_endless(void *y)
{
    return (void *)(intptr_t)run(*(eddy_tensor *)y);
}

/* A run that updates waits for another one, but not beyond its timeout. */
START_TEST(timed_out_while_waiting)
{
    eddy_tensor v = eddy_variable(g, eddy_scalar(g, 0)), held = endless(false);
    pthread_t   t;
    void       *status;
    ck_assert_int_eq(run(eddy_initializer(g)), EDDY_OK);
    eddy_tensor add = eddy_assign_add(v, eddy_scalar(g, 1));
    eddy_tensor never = eddy_assign_add(v, Cast(eddy_sum(held), EDDY_FLOAT32));
    ck_assert_int_eq(pthread_create(&t, NULL, run_endless, &never), 0);
    pause_for(0.05);
    eddy_session_set_timeout(s, 0.05);
    ck_assert_int_eq(run(add), EDDY_TIMED_OUT);
    says("while it waited for another one");
    eddy_session_set_timeout(s, 0);
    eddy_session_cancel(s);
    pthread_join(t, &status);
    ck_assert_int_eq((intptr_t)status, EDDY_CANCELLED);
}
END_TEST

/* The message has the timeout of the run, which a later one does not change. */
START_TEST(timeout_of_the_run)
{
    eddy_tensor held = endless(false);
    pthread_t   t;
    eddy_session_set_timeout(s, 0.1);
    ck_assert_int_eq(pthread_create(&t, NULL, run_endless, &held), 0);
    pause_for(0.05);
    eddy_session_set_timeout(s, 0);
    pthread_join(t, NULL);
    says("the run took longer than its timeout of 0.1 s");
}
END_TEST

/* A run does not wait beyond its timeout for one that compiles and waits for a third. */
START_TEST(timed_out_behind_a_waiting_run)
{
    eddy_tensor    held = endless(false), other = eddy_exp(held), one = eddy_scalar(g, 1);
    eddy_callable *c = eddy_callable_new(s, EDDY_FETCH(), EDDY_FETCH(one));
    pthread_t      t[2];
    ck_assert_int_eq(eddy_callable_run(c, NULL, NULL), EDDY_OK);
    ck_assert_int_eq(pthread_create(&t[0], NULL, run_endless, &held), 0);
    pause_for(0.05);
    ck_assert_int_eq(pthread_create(&t[1], NULL, run_endless, &other), 0);
    pause_for(0.05);
    eddy_session_set_timeout(s, 0.05);
    ck_assert_int_eq(run(one), EDDY_TIMED_OUT);
    says("while it waited for another one");
    ck_assert_int_eq(eddy_callable_run(c, NULL, NULL), EDDY_TIMED_OUT);
    ck_assert_ptr_null(eddy_eval_in(s, one));
    ck_assert_int_eq(eddy_session_status(s), EDDY_TIMED_OUT);
    eddy_session_set_timeout(s, 0);
    eddy_session_cancel(s);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
END_TEST

/* ------------------------------------------------- what a cancelled run leaves -- */

typedef struct canceller {
    atomic_bool done;
    unsigned    seed;
} canceller;

static void *cancel_often(void *of)
{
    canceller *c = of;
    while (!atomic_load(&c->done)) {
        c->seed = c->seed * 1664525u + 1013904223u;
        pause_for((double)(c->seed >> 8) / (1 << 24) * 2e-3);
        eddy_session_cancel(s);
    }
    return NULL;
}

/* Runs y, of which each element is `want` in a run that succeeds, under cancels at random moments;
 * returns how many runs succeeded. */
static int run_under_fire(eddy_tensor y, int times, double want)
{
    canceller c = { .seed = 7 };
    pthread_t t;
    int       good = 0;
    ck_assert_int_eq(pthread_create(&t, NULL, cancel_often, &c), 0);
    for (int i = 0; i < times; i++) {
        eddy_array       *out = NULL;
        const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out);
        ck_assert(status == EDDY_OK || status == EDDY_CANCELLED);
        good += status == EDDY_OK;
        for (int64_t k = 0; out && k < eddy_array_count(out); k += 97)
            ck_assert_double_eq_tol(eddy_array_get(out, k), want, 1e-3 * want);
        eddy_array_free(out);
    }
    atomic_store(&c.done, true);
    pthread_join(t, NULL);
    return good;
}

/* No value of an operation that was left unfinished comes out. */
START_TEST(results_are_whole)
{
    enum { N = 300 };
    const eddy_tensor ones =
        Cast(Less(eddy_random_uniform(g, EDDY_SHAPE(N, N)), 2), EDDY_FLOAT32);
    eddy_tensor y = MatMul(ones, ones);
    y = _i == 0 ? MatMul(y, ones)
      : _i == 1 ? Mul(eddy_sqrt(Mul(y, y)), (double)N)
      : _i == 2 ? eddy_broadcast_to(Mul(eddy_sum(y), 1.0 / N), EDDY_SHAPE(N, N))
                : eddy_cumsum(Mul(y, (double)N), 0);
    if (_i == 3) y = eddy_index(y, ":1");
    run_under_fire(y, 60, (double)N * N);
    ck_assert_int_eq(run(y), EDDY_OK);
}
END_TEST

/* Each variable has its old value or its new one, in all elements. */
START_TEST(updates_are_whole)
{
    enum { N = 4, SIZE = 200000 };
    const int   rounds = _i ? 9 : 1;
    eddy_tensor v[N], update[N];
    eddy_array *a[N] = { NULL };
    for (int i = 0; i < N; i++) {
        v[i] = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(SIZE)));
        const eddy_tensor far = Mul(eddy_exp(Mul(v[i], 0.0)), 1.0);
        update[i] = eddy_assign_add(v[i], far);
    }
    eddy_tensor all = eddy_group(g, { N, update });
    ck_assert_int_eq(run(eddy_initializer(g)), EDDY_OK);
    for (int round = 0; round < rounds; round++) {
        run_under_fire(all, 20, 0);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), (eddy_list){ N, v }, a), EDDY_OK);
        for (int i = 0; i < N; i++) {
            const float *value = eddy_array_data(a[i]);
            int64_t      others = 0;
            for (int64_t k = 1; k < SIZE; k++) others += value[k] != value[0];
            ck_assert_int_eq(others, 0);
        }
    }
    for (int i = 0; i < N; i++) eddy_array_free(a[i]);
}
END_TEST

BODY(product_of_longer, Mul(x[0], 1), MatMul(eddy_concat(EDDY_LIST(x[1], x[1]), 0), c[0]))

/* An evaluation that ends during the last operation of a body gives, and keeps, nothing. */
START_TEST(evaluations_are_whole)
{
    enum { N = 600 };
    const eddy_shape any[] = { { 0 }, { .rank = 2, .dim = { EDDY_ANY, N } } };
    eddy_tensor      y[EDDY_MAX_RESULTS], zero = eddy_number(g, EDDY_INT32, 0);
    eddy_tensor      x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(N, N));
    const int        n = eddy_while_loop(PLAIN(always), FUNCTION(product_of_longer, x),
                                         EDDY_LIST(zero, x), y, any, .maximum_iterations = 1);
    ck_assert_msg(n == 2, "%s", eddy_graph_message(g));
    for (double timeout = 5e-4; timeout < 0.1; timeout *= 1.2) {
        eddy_eval_forget(s);
        eddy_session_set_timeout(s, timeout);
        const eddy_array *a = eddy_eval_in(s, y[1]);
        if (!a) ck_assert_int_eq(eddy_session_status(s), EDDY_TIMED_OUT);
        for (int64_t k = 0; a && k < eddy_array_count(a); k += 97)
            ck_assert_double_eq(eddy_array_get(a, k), N);
    }
}
END_TEST

/* An update that an evaluation has applied before it ends is not applied again by the next. */
START_TEST(evaluated_updates_happen_once)
{
    enum { SIZE = 2000000 };
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(SIZE)));
    eddy_tensor one = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(SIZE)), add = eddy_assign_add(v, one);
    double      times = 0;
    ck_assert_ptr_nonnull(eddy_eval_in(s, v));
    for (double timeout = 1e-4; timeout < 0.05; timeout *= 1.3) {
        eddy_session_set_timeout(s, 0);
        eddy_eval_forget(s);
        ck_assert_ptr_nonnull(eddy_eval_in(s, one));
        eddy_session_set_timeout(s, timeout);
        eddy_eval_in(s, add);
        eddy_session_set_timeout(s, 0);
        ck_assert_ptr_nonnull(eddy_eval_in(s, add));
        eddy_array *value = eddy_variable_value(s, v);
        times++;
        for (int64_t k = 0; k < SIZE; k += 97) ck_assert_double_eq(eddy_array_get(value, k), times);
        eddy_array_free(value);
    }
}
END_TEST

/* Kernels that look at the stop between pieces; x is [300, 1500], with elements from 0 to 1. */
static eddy_tensor sorted(eddy_tensor x)    { return eddy_sort(eddy_ravel(x)); }
static eddy_tensor best(eddy_tensor x)      { return eddy_top_k(eddy_ravel(x), 2000); }
static eddy_tensor running(eddy_tensor x)   { return eddy_cumsum(x, 0); }
static eddy_tensor largest(eddy_tensor x)   { return eddy_argmax(x, 0); }
static eddy_tensor nonzero(eddy_tensor x)   { return eddy_nonzero(Greater(x, 0.5)); }
static eddy_tensor different(eddy_tensor x) { return eddy_unique(eddy_ravel(x)); }
static eddy_tensor equal_rows(eddy_tensor x) { return eddy_unique_along(x, 1); }
static eddy_tensor attention(eddy_tensor x) { return eddy_scaled_dot_product_attention(x, x, x); }
static eddy_tensor wide_attention(eddy_tensor x) { return attention(Cast(x, EDDY_FLOAT64)); }
static eddy_tensor wide_product(eddy_tensor x)
{
    const eddy_tensor y = Cast(x, EDDY_FLOAT64);
    return eddy_matmul(y, y, .transpose_b = true);
}
static eddy_tensor gathered(eddy_tensor x)
{
    return eddy_take_along(x, Cast(Mul(x, 299.0), EDDY_INT64), 0);
}
static eddy_tensor found(eddy_tensor x)     { return eddy_searchsorted(eddy_sort(x), x); }
static eddy_tensor sums(eddy_tensor x)      { return eddy_sum(x, EDDY_DIMS(0)); }
static eddy_tensor filter(eddy_tensor x)
{
    const eddy_tensor images = Reshape(x, EDDY_SHAPE(10, 100, 50, 9));
    return eddy_gradient(eddy_sum(eddy_square(eddy_conv2d(
                             images, Reshape(eddy_index(x, "0, :729"), EDDY_SHAPE(3, 3, 9, 9))))),
                         x);
}

static eddy_tensor (*const kernels[])(eddy_tensor) = {
    sorted, best, running, largest, nonzero, different, equal_rows, attention, wide_attention,
    wide_product, gathered, found, sums, filter,
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* A run that ends in the middle of a kernel gives nothing, and the next one the same bits. */
START_TEST(kernels_are_whole)
{
    enum { ROWS = 300, COLUMNS = 1500 };
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(ROWS, COLUMNS));
    eddy_tensor   y = kernels[_i](x);
    eddy_session *t = eddy_session_new(g, .threads = 1 + _i % 2);
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(ROWS, COLUMNS)), *whole = NULL;
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        eddy_array_set(a, i, (double)(i * 7919 % 1009) / 1009);
    ck_assert_msg(eddy_run(t, EDDY_FEED({ x, a }), EDDY_FETCH(y), &whole) == EDDY_OK, "%s",
                  eddy_session_message(t));
    for (double timeout = 2e-5; timeout < 0.1; timeout *= 1.5) {
        eddy_array *out = NULL;
        eddy_session_set_timeout(t, timeout);
        const eddy_status status = eddy_run(t, EDDY_FEED({ x, a }), EDDY_FETCH(y), &out);
        ck_assert_msg(status == EDDY_OK || status == EDDY_TIMED_OUT, "%s", eddy_session_message(t));
        ck_assert_msg((out != NULL) == (status == EDDY_OK), "kernel %d", _i);
        if (out)
            ck_assert_mem_eq(eddy_array_data(out), eddy_array_data(whole), eddy_array_bytes(whole));
        eddy_array_free(out);
    }
    eddy_array_free(whole);
    eddy_array_free(a);
    eddy_session_free(t);
}
END_TEST

/* ------------------------------------------------------ everything at once -- */

/* `make threads` does the same with more threads and runs. */
START_TEST(used_by_threads)
{
    mixed_counts c;
    char         text[300] = "";
    ck_assert_msg(mixed_runs(4, 240, &c, text), "%s", text);
    ck_assert_int_eq(c.ok + c.cancelled + c.timed_out + c.closed, 4 * 240);
    ck_assert_int_gt(c.ok, 400);
    ck_assert_int_gt(c.closed, 0);
}
END_TEST

/* --------------------------------------------------------------- preparing -- */

START_TEST(prepared)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor v = eddy_variable(g, eddy_scalar(g, 0)), y = Mul(x, v);
    const float data[3] = { 1, 2, 3 };
    ck_assert_int_eq(eddy_prepare(s, EDDY_FEED({ x, EDDY_VIEW(data, 3) }), EDDY_FETCH(y)), EDDY_OK);
    ck_assert_int_eq(run(eddy_initializer(g)), EDDY_OK);
    const int plans = eddy_session_plan_info(s).plans;
    ck_assert_int_eq(
        eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(data, 3) }), EDDY_FETCH(y), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_session_plan_info(s).plans, plans);
    ck_assert_int_eq(
        eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(data, 2) }), EDDY_FETCH(y), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_session_plan_info(s).plans, plans + 1);
}
END_TEST

static void cancel_now(void *of, const char *line)
{
    (void)line;
    eddy_session_cancel(of);
}

START_TEST(messages)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor size = eddy_cast(eddy_sum(x), EDDY_INT32);
    eddy_tensor y = eddy_fill(Reshape(size, EDDY_SHAPE(1)), eddy_scalar(g, 1));
    golden_begin("session/stop");
    ck_assert_int_eq(eddy_session_set_timeout(s, -1), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_session_set_timeout(s, NAN), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_session_set_timeout(NULL, 1), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_prepare(s, EDDY_FEED(), EDDY_FETCH(y)), EDDY_NOT_FED);
    golden_line(eddy_session_message(s));
    const float data[2] = { 1, 2 };
    ck_assert_int_eq(eddy_prepare(s, EDDY_FEED({ x, EDDY_VIEW(data, 2) }), EDDY_FETCH(y)),
                     EDDY_UNIMPLEMENTED);
    golden_line(eddy_session_message(s));
    eddy_session *t = eddy_session_new(g, .timeout = -2);
    ck_assert_int_eq(eddy_run(t, EDDY_FEED(), EDDY_FETCH(size), NULL), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(t));
    eddy_session_free(t);
    eddy_session_set_timeout(s, 1e-9);
    ck_assert_int_eq(run(eddy_scalar(g, 3)), EDDY_TIMED_OUT);
    golden_line(eddy_session_message(s));
    eddy_session_set_timeout(s, 0);
    const eddy_tensor shown = eddy_print(eddy_scalar(g, 8), .write = cancel_now, .user = s);
    eddy_tensor v = eddy_variable(g, eddy_scalar(g, 0));
    ck_assert_int_eq(run(eddy_assign(v, shown)), EDDY_CANCELLED);
    golden_line(eddy_session_message(s));
    golden_end();
    eddy_session_cancel(NULL);
}
END_TEST

Suite *stop_suite(void)
{
    Suite *suite = suite_create("stop");
    TCase *c = tcase_create("stop"), *threads = tcase_create("threads");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_checked_fixture(threads, setup, teardown);
    tcase_set_tags(threads, "threads");
    tcase_set_timeout(threads, 60);
    TCase *many = tcase_create("other kernels");
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_set_tags(many, "threads many");
    tcase_set_timeout(many, 60);
    tcase_add_loop_test(threads, cancelled_by_a_thread, 0, 2);
    tcase_add_loop_test(threads, closed_by_a_thread, 0, 2);
    tcase_add_loop_test(threads, cancelled_by_a_signal, 0, 2);
    tcase_add_loop_test(threads, timed_out, 0, 2);
    tcase_add_test(threads, large_values_of_a_stopped_loop);
    tcase_add_test(threads, waiting_kernels);
    tcase_add_test(threads, timed_out_while_waiting);
    tcase_add_test(threads, timeout_of_the_run);
    tcase_add_test(threads, timed_out_behind_a_waiting_run);
    tcase_add_loop_test(threads, results_are_whole, 0, 4);
    tcase_add_loop_test(threads, updates_are_whole, 0, 1);
    tcase_add_loop_test(many, updates_are_whole, 1, 2);
    tcase_add_test(threads, evaluations_are_whole);
    add_third_rows(threads, many, kernels_are_whole, 1, KERNELS);
    tcase_add_test(threads, evaluated_updates_happen_once);
    tcase_add_test(threads, used_by_threads);
    tcase_add_test(c, prepared);
    tcase_add_test(c, messages);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, threads);
    suite_add_tcase(suite, many);
    return suite;
}
