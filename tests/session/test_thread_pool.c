/* test_thread_pool.c -- the threads that kernels share: the distribution of items, simultaneous
 * callers, nested calls, forks, signals, options of a session, and OpenBLAS's own setting. */
#include "graph/base/thread_pool.h"
#include "tests/lib/checks.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

Suite *thread_pool_suite(void);

extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int  openblas_get_num_threads(void) __attribute__((weak));

/* ThreadSanitizer cannot follow a child that makes threads. */
#if defined(__SANITIZE_THREAD__)
enum { FORKS = 0 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { FORKS = 0 };
#else
enum { FORKS = 1 };
#endif
#else
enum { FORKS = 1 };
#endif

enum { MOST = 4096, THREADS = 7 };

/* ------------------------------------------------------- who gets what -- */

typedef struct tally {
    const eddy_kernel *kernel;
    int64_t      n, grain;
    atomic_int   times[MOST];             /* that an item was given out */
    atomic_int   at_once[THREADS];        /* bodies with this number of a worker */
    atomic_int   wrong;
    int64_t      inner;                   /* items of a nested call; 0: none */
} tally;

typedef struct nested {
    pthread_t  thread;
    int64_t    n, calls;
    tally     *of;
} nested;

/* All of it, in one piece, on the thread that asks. */
static void count_nested(void *arg, int64_t from, int64_t to, int worker)
{
    nested *in = arg;
    in->calls++;
    in->of->wrong += from != 0 || to != in->n || !pthread_equal(in->thread, pthread_self()) ||
                     worker < 0 || worker >= in->of->kernel->threads;
}

static void count(void *arg, int64_t from, int64_t to, int worker)
{
    tally     *t = arg;
    const bool last = to == t->n;
    if (worker < 0 || worker >= t->kernel->threads || from < 0 || from >= to || to > t->n ||
        from % t->grain != 0 || (!last && to - from < t->grain)) {
        t->wrong++;
        return;
    }
    t->wrong += atomic_fetch_add(&t->at_once[worker], 1) != 0;
    for (int64_t i = from; i < to; i++) t->times[i]++;
    if (t->inner > 0) {
        nested in = { pthread_self(), t->inner, 0, t };
        eddy_parallel(t->kernel, in.n, 1, count_nested, &in);
        t->wrong += in.calls != 1;
    }
    atomic_fetch_sub(&t->at_once[worker], 1);
}

static int share_out(tally *t, int threads, int64_t n, int64_t grain, int64_t inner)
{
    const eddy_kernel k = { .threads = threads };
    memset(t, 0, sizeof *t);
    t->kernel = &k;
    t->n = n;
    t->grain = grain;
    t->inner = inner;
    eddy_parallel(&k, n, grain, count, t);
    for (int64_t i = 0; i < MOST; i++) t->wrong += t->times[i] != (i < n);
    return t->wrong;
}

static const int     few_threads[] = { 1, 2, 3, THREADS };
static const int64_t lengths[] = { 0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, MOST };
static const int64_t grains[] = { 1, 2, 3, 8, 64, 1000, MOST + 1 };
#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

START_TEST(every_item_once)
{
    static tally t;
    const int64_t inner = _i ? 100 : 0;
    for (int k = 0; k < COUNT(few_threads); k++)
        for (int n = 0; n < COUNT(lengths); n++)
            for (int g = 0; g < COUNT(grains); g++)
                ck_assert_msg(share_out(&t, few_threads[k], lengths[n], grains[g], inner) == 0,
                              "%d threads, %d items, grain %d", few_threads[k], (int)lengths[n],
                              (int)grains[g]);
    ck_assert_int_eq(share_out(&t, 2, -1, 1, 0), 0);
    for (int i = 0; i < 2000; i++) ck_assert_int_eq(share_out(&t, 2 + i % 2, 64, 1, inner), 0);
}
END_TEST

/* A grain of no items is one of one. */
START_TEST(no_grain)
{
    static tally t;
    const eddy_kernel k = { .threads = 3 };
    t = (tally){ .kernel = &k, .n = 50, .grain = 1 };
    eddy_parallel(&k, t.n, 0, count, &t);
    eddy_parallel(&k, t.n, -5, count, &t);
    ck_assert_int_eq(t.wrong, 0);
    for (int i = 0; i < 50; i++) ck_assert_int_eq(t.times[i], 2);
}
END_TEST

static void *share_often(void *p)
{
    tally *t = malloc(sizeof *t);
    int    wrong = t == NULL;
    for (int i = 0; t && i < 300; i++)
        wrong += share_out(t, 2 + (i + *(int *)p) % 4, 500 + i, 3, i % 3 ? 0 : 10);
    free(t);
    *(int *)p = wrong;
    return NULL;
}

START_TEST(callers_side_by_side)
{
    pthread_t threads[THREADS];
    int       wrong[THREADS];
    for (int i = 0; i < THREADS; i++) {
        wrong[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, share_often, &wrong[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(wrong[i], 0);
    }
}
END_TEST

/* ------------------------------------------------------------- sessions -- */

enum { ROWS = 300, COLUMNS = 1001, RESULTS = 6 };

/* Elementwise results of many elements, with each kind of broadcasting. */
typedef struct work {
    eddy_graph *g;
    eddy_tensor x, y[RESULTS];
    eddy_array *fed;
} work;

static work make_work(void)
{
    work w = { .g = eddy_graph_new(),
               .fed = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(ROWS, COLUMNS)) };
    float *at = eddy_array_data(w.fed);
    for (int i = 0; i < ROWS * COLUMNS; i++) at[i] = (float)(i % 1777) * 0.01f - 8;
    w.x = eddy_placeholder(w.g, "x", EDDY_FLOAT32, EDDY_SHAPE(ROWS, COLUMNS));
    eddy_tensor seven = eddy_const(w.g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 7 });
    eddy_tensor row = eddy_gather(w.x, seven);
    eddy_tensor column = eddy_sum(w.x, .axes = EDDY_DIMS(1), .keepdims = true);
    w.y[0] = Tanh(w.x);
    w.y[1] = Add(w.x, row);
    w.y[2] = Mul(column, w.x);
    w.y[3] = Sub(2, w.x);
    w.y[4] = Add(column, row);
    w.y[5] = Greater(w.x, row);
    fits(w.g);
    return w;
}

static void free_work(work *w)
{
    eddy_array_free(w->fed);
    eddy_graph_free(w->g);
}

/* 0 if a session with this number of threads gives the values in `want`, or fills it. */
static int run_work(const work *w, int threads, bool fuse, eddy_array **want)
{
    eddy_array   *got[RESULTS] = { NULL };
    eddy_session *s = eddy_session_new(w->g, .threads = threads,
                                       .without = fuse ? 0 : EDDY_PASS_FUSE);
    int wrong = eddy_run(s, EDDY_FEED({ w->x, w->fed }), (eddy_list){ RESULTS, w->y }, got) != 0;
    for (int i = 0; i < RESULTS; i++) {
        if (!want[i]) want[i] = eddy_array_retain(got[i]);
        wrong += !eddy_array_equal(got[i], want[i]);
        eddy_array_free(got[i]);
    }
    eddy_session_free(s);
    return wrong;
}

static void free_results(eddy_array **a)
{
    for (int i = 0; i < RESULTS; i++) eddy_array_free(a[i]);
}

START_TEST(same_bits_for_any_number)
{
    work        w = make_work();
    eddy_array *want[RESULTS] = { NULL };
    for (int i = 0; i < COUNT(few_threads); i++)
        for (int fuse = 0; fuse < 2; fuse++)
            ck_assert_int_eq(run_work(&w, few_threads[i], fuse, want), 0);
    ck_assert_int_eq(run_work(&w, 0, false, want), 0);
    const float *x = eddy_array_data(w.fed), *sum = eddy_array_data(want[1]);
    const float *minus = eddy_array_data(want[3]), *both = eddy_array_data(want[4]);
    const bool  *more = eddy_array_data(want[5]);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        const float y = x[7 * COLUMNS + i % COLUMNS];
        ck_assert(sum[i] == x[i] + y && minus[i] == 2 - x[i] && more[i] == (x[i] > y));
        ck_assert(both[i] - both[i - i % COLUMNS] - (y - x[7 * COLUMNS]) < 1e-2f);
    }
    free_results(want);
    free_work(&w);
}
END_TEST

typedef struct user {
    const work  *w;
    eddy_array **want;
    pthread_t    thread;
    int          number, wrong;
} user;

static void *use(void *p)
{
    user *u = p;
    for (int i = 0; i < 6; i++)
        u->wrong += run_work(u->w, 1 + (i + u->number) % 4, i % 2, u->want);
    return NULL;
}

START_TEST(sessions_side_by_side)
{
    work        w = make_work();
    eddy_array *want[RESULTS] = { NULL };
    user        users[THREADS];
    run_work(&w, 1, false, want);
    for (int i = 0; i < THREADS; i++) {
        users[i] = (user){ .w = &w, .want = want, .number = i };
        ck_assert_int_eq(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(users[i].thread, NULL);
        ck_assert_int_eq(users[i].wrong, 0);
    }
    free_results(want);
    free_work(&w);
}
END_TEST

/* One element among many is impossible: the message is that of one thread. */
START_TEST(a_piece_fails)
{
    char          one[1000] = "";
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(ROWS * COLUMNS));
    eddy_tensor   y = FloorDiv(x, x);
    eddy_array   *a = eddy_array_new(EDDY_INT32, EDDY_SHAPE(ROWS * COLUMNS));
    for (int i = 0; i < ROWS * COLUMNS; i++) eddy_array_set(a, i, i + 1);
    for (int i = 0; i < COUNT(few_threads); i++) {
        eddy_session *s = eddy_session_new(g, .threads = few_threads[i]);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL), EDDY_OK);
        eddy_array_set(a, (i + 1) * 70000, 0);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL),
                         EDDY_INVALID_ARGUMENT);
        if (i == 0) snprintf(one, sizeof one, "%s", eddy_session_message(s));
        ck_assert_str_eq(eddy_session_message(s), one);
        eddy_array_set(a, (i + 1) * 70000, 1);
        eddy_session_free(s);
    }
    eddy_array_free(a);
    eddy_graph_free(g);
}
END_TEST

/* ---------------------------------------------------------- the processes -- */

/* The number of threads of this process; 0 if unknown. */
static int thread_count(void)
{
    int  n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

/* Runs `check` in a child, which must find nothing wrong.  The child ends by a
 * signal, for which no leak check has a status: there, what glibc keeps of the parent's
 * threads looks like one. */
static void in_child(int (*check)(const work *w, eddy_array **want), const work *w,
                     eddy_array **want)
{
    int         status;
    const pid_t child = fork();
    if (child == 0) {
        if (check(w, want) == 0) raise(SIGKILL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %d", status);
}

/* OpenBLAS makes its threads again when its number is set in a child. */
static int count_new_threads(const work *w, eddy_array **want)
{
    if (openblas_set_num_threads) openblas_set_num_threads(openblas_get_num_threads());
    const int before = thread_count();
    int       wrong = run_work(w, 1, false, want);
    wrong += thread_count() != before;
    wrong += run_work(w, 3, false, want);
    wrong += before > 0 && thread_count() != before + 2;
    wrong += run_work(w, 2, false, want) + run_work(w, 1, false, want);
    return wrong + (before > 0 && thread_count() != before + 2);
}

/* A child has no workers at first, however many its parent has. */
START_TEST(threads_are_made_when_needed)
{
    work        w = make_work();
    eddy_array *want[RESULTS] = { NULL };
    const int   before = thread_count();
    ck_assert_int_eq(run_work(&w, 1, false, want), 0);
    if (FORKS) in_child(count_new_threads, &w, want);
    else ck_assert_int_eq(thread_count(), before);
    free_results(want);
    free_work(&w);
}
END_TEST

static int run_in_child(const work *w, eddy_array **want)
{
    return run_work(w, 3, false, want) + run_work(w, 2, true, want);
}

static int run_in_grandchild(const work *w, eddy_array **want)
{
    in_child(run_in_child, w, want);
    return run_in_child(w, want);
}

START_TEST(a_child_goes_on)
{
    work        w = make_work();
    eddy_array *want[RESULTS] = { NULL };
    ck_assert_int_eq(run_work(&w, 3, false, want), 0);
    for (int i = 0; FORKS && i < 3; i++) {
        in_child(i ? run_in_child : run_in_grandchild, &w, want);
        ck_assert_int_eq(run_work(&w, 3, false, want), 0);
    }
    free_results(want);
    free_work(&w);
}
END_TEST

/* -------------------------------------------------------------- signals -- */

static _Thread_local bool is_worker;
static atomic_int         helped, on_workers, on_others;    /* items of workers; signals */

static void note_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(is_worker ? &on_workers : &on_others, 1);
}

/* Sends a signal to the process from whichever thread runs the item. */
static void send_signal(void *caller, int64_t from, int64_t to, int worker)
{
    (void)from, (void)to, (void)worker;
    is_worker = !pthread_equal(pthread_self(), *(const pthread_t *)caller);
    atomic_fetch_add(&helped, is_worker);
    kill(getpid(), SIGUSR1);
    nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

/* The caller handles them, or they wait until it does not block them any more. */
START_TEST(workers_take_no_signals)
{
    const struct sigaction noted = { .sa_handler = note_signal };
    const eddy_kernel      k = { .threads = THREADS };
    pthread_t              caller = pthread_self();
    struct sigaction       action;
    sigset_t               usr1, mask;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    ck_assert_int_eq(sigaction(SIGUSR1, &noted, &action), 0);
    for (int blocked = 0; blocked < 2; blocked++) {
        if (blocked) ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &usr1, &mask), 0);
        atomic_store(&helped, 0);
        for (int i = 0; i < 2000 && (i < 20 || atomic_load(&helped) < 100); i++)
            eddy__side_by_side(&k, 32, send_signal, &caller);
        ck_assert_int_gt(atomic_load(&helped), 0);
        if (!blocked) ck_assert_int_gt(atomic_load(&on_others), 0);
    }
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(atomic_load(&on_workers), 0);
}
END_TEST

/* ------------------------------------------------------------- OpenBLAS -- */

static int  seen;                         /* OpenBLAS's threads in a kernel */
static int  set_inside;                   /* what the kernel sets; 0: nothing */
static bool may_succeed;

static eddy_status probe_kernel(eddy_kernel *k)
{
    seen = openblas_get_num_threads();
    if (set_inside > 0) openblas_set_num_threads(set_inside);
    return may_succeed ? EDDY_OK : eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "asked to fail");
}

static bool probe_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static double probe_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)in, (void)out;
    return 1e6;
}

static const eddy_op_def probe = { .name = "Probe", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
                                   .infer = probe_infer, .kernel = probe_kernel,
                                   .flops = probe_flops };

START_TEST(openblas_is_restored)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads) return;
    const int before = openblas_get_num_threads();
    openblas_set_num_threads(2);
    if (openblas_get_num_threads() != 2) return;    /* a serial library */
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor   y = eddy_apply1(&probe, NULL, x);
    eddy_array   *one = eddy_array_of(EDDY_FLOAT32, 1);
    for (int threads = 1; threads <= 2; threads++)
        for (int ok = 0; ok < 2; ok++) {
            openblas_set_num_threads(threads);
            may_succeed = ok;
            const eddy_status status = eddy_run(s, EDDY_FEED({ x, one }), EDDY_FETCH(y), NULL);
            ck_assert_int_eq(status, ok ? EDDY_OK : EDDY_INVALID_ARGUMENT);
            ck_assert_int_eq(seen, 1);
            ck_assert_int_eq(openblas_get_num_threads(), threads);
        }
    set_inside = 2;
    eddy_run(s, EDDY_FEED({ x, one }), EDDY_FETCH(y), NULL);
    ck_assert_int_eq(openblas_get_num_threads(), 2);
    set_inside = 0;
    openblas_set_num_threads(before);
    eddy_array_free(one);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------ the option -- */

START_TEST(numbers_of_threads)
{
    static const int bad[] = { -1, -1000, 257, 1 << 30 }, good[] = { 0, 1, 2, 256 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor y = eddy_scalar(g, 1);
    for (int i = 0; i < COUNT(bad); i++) {
        eddy_session *s = eddy_session_new(g, .threads = bad[i]);
        ck_assert_ptr_null(eddy_fetch(s, y));
        run_fails(s, EDDY_INVALID_ARGUMENT, "session_new: threads is");
        ck_assert_ptr_null(eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(y)));
        ck_assert_ptr_null(eddy_eval_in(s, y));
        eddy_session_free(s);
    }
    for (int i = 0; i < COUNT(good); i++) {
        eddy_session *s = eddy_session_new(g, .threads = good[i], .deterministic = i % 2);
        ck_assert_double_eq(number(s, y), 1);
        eddy_session_free(s);
    }
    eddy_graph_free(g);
}
END_TEST

Suite *thread_pool_suite(void)
{
    Suite *suite = suite_create("thread_pool");
    TCase *c = tcase_create("pool"), *threads = tcase_create("threads");
    tcase_add_test(c, openblas_is_restored);
    tcase_add_test(c, numbers_of_threads);
    suite_add_tcase(suite, c);
    tcase_set_tags(threads, "threads");
    tcase_add_loop_test(threads, every_item_once, 0, 2);
    tcase_add_test(threads, no_grain);
    tcase_add_test(threads, callers_side_by_side);
    tcase_add_test(threads, same_bits_for_any_number);
    tcase_add_test(threads, sessions_side_by_side);
    tcase_add_test(threads, a_piece_fails);
    tcase_add_test(threads, workers_take_no_signals);
    suite_add_tcase(suite, threads);
    c = tcase_create("processes");
    tcase_set_tags(c, "threads native");
    tcase_add_test(c, threads_are_made_when_needed);
    tcase_add_test(c, a_child_goes_on);
    suite_add_tcase(suite, c);
    return suite;
}
