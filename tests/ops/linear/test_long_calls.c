/* test_long_calls.c -- decompositions and Fourier transforms that are large enough for threads of
 * their own: right values, also after runs that left them behind. */
#include "build/gen/suites.h"
#include "ops/kernels/libraries/fftw.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/third_rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* The results, and a number that is small if they are right. */
typedef struct results {
    eddy_tensor y[3], error;
    int         n;
} results;

typedef struct operation {
    const char *name;
    eddy_shape  shape;
    results   (*build)(eddy_tensor x);
    double      tolerance;
    bool        fourier;
} operation;

static eddy_tensor size_of(eddy_tensor x) { return eddy_max(eddy_abs(x)); }
static eddy_tensor distance(eddy_tensor x, eddy_tensor y) { return size_of(Sub(x, y)); }
static eddy_tensor turned(eddy_tensor x) { return eddy_adjoint(x); }
static eddy_tensor complexes(eddy_tensor x) { return Cast(x, EDDY_COMPLEX128); }
static eddy_tensor columns(eddy_tensor x, eddy_tensor by)
{
    return Mul(x, eddy_expand_dims(by, -2));
}

static results eigh(eddy_tensor x)
{
    const eddy_tensor a = Add(x, turned(x)), e = eddy_eigh(a), v = eddy_output(e, 1);
    return (results){ { e, v }, distance(MatMul(a, v), columns(v, e)), 2 };
}
static results eigenvalues(eddy_tensor x)
{
    const eddy_tensor a = Add(x, turned(x)), e = eddy_eigvalsh(a);
    return (results){ { e }, distance(eddy_sum(e), eddy_trace(a)), 1 };
}
static results eig(eddy_tensor x)
{
    const eddy_tensor e = eddy_eig(x), v = eddy_output(e, 1);
    return (results){ { e, v }, distance(MatMul(complexes(x), v), columns(v, e)), 2 };
}
static results svd(eddy_tensor x)
{
    const eddy_tensor s = eddy_svd(x), u = eddy_output(s, 1), v = eddy_output(s, 2);
    return (results){ { s, u, v }, distance(MatMul(columns(u, s), turned(v)), x), 3 };
}
static results pinv(eddy_tensor x)
{
    const eddy_tensor y = eddy_pinv(x);
    return (results){ { y }, distance(MatMul(MatMul(x, y), x), x), 1 };
}
static results root(eddy_tensor x)
{
    const eddy_tensor a = Add(MatMul(x, turned(x)), eddy_eye(x.graph, 140, .dtype = EDDY_FLOAT64));
    const eddy_tensor y = eddy_matrix_sqrt(a);
    return (results){ { y }, distance(MatMul(y, y), a), 1 };
}
static results sylvester(eddy_tensor x)
{
    const eddy_tensor one = eddy_eye(x.graph, 110, .dtype = EDDY_FLOAT64);
    const eddy_tensor a = MatMul(x, turned(x)), b = Add(a, one);
    const eddy_tensor y = eddy_sylvester(a, b, x);
    return (results){ { y }, distance(Add(MatMul(a, y), MatMul(y, b)), x), 1 };
}
static results tridiagonal(eddy_tensor x)
{
    const double      heavy[] = { 0, 4, 0 };
    const eddy_tensor d = Add(eddy_index(x, ":3"), matrix(x.graph, 3, 1, heavy));
    const eddy_tensor b = turned(x), y = eddy_tridiagonal_solve(d, b);
    return (results){ { y }, distance(eddy_tridiagonal_matmul(d, y), b), 1 };
}
static results fft(eddy_tensor x)
{
    const eddy_tensor z = eddy_complex(x, Mul(x, x)), y = eddy_fft(z);
    return (results){ { y }, distance(eddy_ifft(y), z), 1 };
}
static results rfft(eddy_tensor x)
{
    const eddy_tensor y = eddy_rfft2d(x), z = eddy_irfft2d(y);
    return (results){ { y, z }, distance(z, x), 2 };
}

static const operation operations[] = {
    { "eigh", { 3, { 2, 180, 180 } }, eigh, 1e-9, false },
    { "eigvalsh", { 2, { 340, 340 } }, eigenvalues, 1e-9, false },
    { "eig", { 2, { 130, 130 } }, eig, 1e-9, false },
    { "svd", { 3, { 2, 150, 180 } }, svd, 1e-9, false },
    { "pinv", { 2, { 180, 150 } }, pinv, 1e-7, false },
    { "sqrtm", { 2, { 140, 140 } }, root, 1e-6, false },
    { "sylvester", { 2, { 110, 110 } }, sylvester, 1e-4, false },
    { "tridiagonal", { 2, { 400, 2000 } }, tridiagonal, 1e-9, false },
    { "fft", { 1, { 1 << 18 } }, fft, 1e-9, true },
    { "rfft2d", { 2, { 512, 516 } }, rfft, 1e-9, true },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   x;
static results       r;
static eddy_array   *given, *whole[3];

static bool missing(const operation *o) { return o->fourier && eddy__fft_missing(false); }

static void build(const operation *o)
{
    g = eddy_graph_new();
    s = eddy_session_new(g, .threads = 2);
    x = eddy_placeholder(g, "x", EDDY_FLOAT64, o->shape);
    r = o->build(x);
    fits(g);
    given = eddy_array_new(EDDY_FLOAT64, o->shape);
    for (int64_t i = 0; i < eddy_array_count(given); i++)
        eddy_array_set(given, i, (double)((i * 7919 + i / 7 * 104729) % 1009) / 1009 - 0.5);
}

static void free_all(void)
{
    for (int i = 0; i < 3; i++) eddy_array_free(whole[i]);
    eddy_array_free(given);
    eddy_session_free(s);
    eddy_graph_free(g);
    memset(whole, 0, sizeof whole);
}

static eddy_status run(eddy_array **out)
{
    return eddy_run(s, EDDY_FEED({ x, given }), ((eddy_list){ r.n, r.y }), out);
}

static void is_whole(eddy_array **out)
{
    for (int i = 0; i < r.n; i++) {
        ck_assert_mem_eq(eddy_array_data(out[i]), eddy_array_data(whole[i]),
                         eddy_array_bytes(whole[i]));
        eddy_array_free(out[i]);
        out[i] = NULL;
    }
}

START_TEST(right_values)
{
    const operation *o = &operations[_i];
    if (missing(o)) return;
    build(o);
    const double error = eddy_fetch_number(s, r.error, EDDY_FEED({ x, given }));
    ck_assert_msg(error < o->tolerance, "%s: %g %s", o->name, error, eddy_session_message(s));
    free_all();
}
END_TEST

/* A run that ends at any moment gives nothing, and the next one the same bits. */
START_TEST(timed_out)
{
    const operation *o = &operations[_i];
    if (missing(o)) return;
    build(o);
    ck_assert_int_eq(run(whole), EDDY_OK);
    int ended = 0;
    for (double timeout = 1e-4; timeout < 0.2; timeout *= 1.7) {
        eddy_array *out[3] = { NULL };
        eddy_session_set_timeout(s, timeout);
        const eddy_status status = run(out);
        ck_assert(status == EDDY_OK || status == EDDY_TIMED_OUT);
        if (status == EDDY_OK) is_whole(out);
        else ended += out[0] == NULL;
        eddy_session_set_timeout(s, 0);
        ck_assert_int_eq(run(out), EDDY_OK);
        is_whole(out);
    }
    ck_assert_int_gt(ended, 0);
    free_all();
}
END_TEST

/* The session is freed, and with it the allocator, as soon as a run has been left. */
START_TEST(freed_at_once)
{
    const operation *o = &operations[_i];
    for (int i = 0; i < 6 && !missing(o); i++) {
        build(o);
        ck_assert_int_eq(eddy_prepare(s, EDDY_FEED({ x, given }), ((eddy_list){ r.n, r.y })),
                         EDDY_OK);
        eddy_session_set_timeout(s, 1e-3 * (i + 1));
        run(whole);
        free_all();
    }
}
END_TEST

typedef struct canceller {
    atomic_bool   done;
    atomic_int    runs;            /* that have begun */
} canceller;

static void *cancel_each(void *of)
{
    canceller *c = of;
    for (int seen = 0; !atomic_load(&c->done);) {
        const struct timespec t = { .tv_nsec = 1000000 + seen % 5 * 1000000 };
        nanosleep(&t, NULL);
        if (atomic_load(&c->runs) == seen) continue;
        seen = atomic_load(&c->runs);
        eddy_session_cancel(s);
    }
    return NULL;
}

/* A hundred cancels in a row, with no more threads and memory than there are cores. */
START_TEST(cancelled_often)
{
    canceller c = { .done = false };
    pthread_t t;
    build(&operations[2]);
    ck_assert_int_eq(run(whole), EDDY_OK);
    ck_assert_int_eq(pthread_create(&t, NULL, cancel_each, &c), 0);
    for (int i = 0; i < 100; i++) {
        eddy_array *out[3] = { NULL };
        atomic_fetch_add(&c.runs, 1);
        const eddy_status status = run(out);
        ck_assert(status == EDDY_OK || status == EDDY_CANCELLED);
        if (status == EDDY_OK) is_whole(out);
    }
    atomic_store(&c.done, true);
    pthread_join(t, NULL);
    eddy_array *out[3] = { NULL };
    ck_assert_int_eq(run(out), EDDY_OK);
    is_whole(out);
    free_all();
}
END_TEST

static double seconds_between(struct timespec a, struct timespec b)
{
    return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/* A run of seconds is left long before its end: the time of a whole run is the measure, so that a
 * slow machine does not matter. */
START_TEST(left_early)
{
    const operation o = { "eig", { 2, { 600, 600 } }, eig, 0, false };
    struct timespec t[3];
    build(&o);
    r.n = 1;
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    ck_assert_int_eq(run(whole), EDDY_OK);
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
    eddy_session_set_timeout(s, 0.02);
    ck_assert_int_eq(run(whole), EDDY_TIMED_OUT);
    clock_gettime(CLOCK_MONOTONIC, &t[2]);
    const double full = seconds_between(t[0], t[1]), left = seconds_between(t[1], t[2]);
    ck_assert_msg(full < 0.1 || left < 0.8 * full, "%g s of %g s", left, full);
    free_all();
}
END_TEST

/* ------------------------------------------------------------- without memory -- */

static const operation *without;

static void run_without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    eddy_array *out[3] = { NULL };
    f->at = 0;
    g = eddy_graph_new(.allocator = &f->table);
    s = eddy_session_new(g, .threads = 1);
    x = eddy_placeholder(g, "x", EDDY_FLOAT64, without->shape);
    r = without->build(x);
    given = eddy_array_new(EDDY_FLOAT64, without->shape);
    for (int64_t i = 0; i < eddy_array_count(given); i++)
        eddy_array_set(given, i, (double)(i % 101));
    ck_assert_int_eq(eddy_prepare(s, EDDY_FEED({ x, given }), ((eddy_list){ r.n, r.y })), EDDY_OK);
    f->at = f->calls + at;
    e->status = run(out);
    if (e->status != EDDY_OK)
        snprintf(e->message, sizeof e->message, "%s", eddy_session_message(s));
    for (int i = 0; i < r.n && e->status == EDDY_OK; i++) eddy_array_free(out[i]);
    eddy_array_free(given);
    eddy_session_free(s);
    eddy_graph_free(g);
}

START_TEST(of_memory)
{
    golden_begin("ops/long_calls_memory");
    without = &operations[2];
    golden_no_memory(run_without_memory);
    if (!missing(&operations[8])) {
        without = &operations[8];
        golden_no_memory(run_without_memory);
    }
    golden_end();
}
END_TEST

Suite *long_calls_suite(void)
{
    Suite *suite = suite_create("long_calls");
    TCase *c = tcase_create("threads");
    tcase_set_tags(c, "threads");
    tcase_set_timeout(c, 120);
    TCase *many = tcase_create("other operations");
    tcase_set_tags(many, "threads many");
    tcase_set_timeout(many, 120);
    tcase_add_loop_test(c, right_values, 0, OPERATIONS);
    add_third_rows(c, many, timed_out, 0, OPERATIONS);
    tcase_add_loop_test(c, freed_at_once, 0, OPERATIONS);
    tcase_add_test(c, cancelled_often);
    tcase_add_test(c, left_early);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, many);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "threads");
    tcase_set_timeout(memory, 60);
    tcase_add_test(memory, of_memory);
    suite_add_tcase(suite, memory);
    return suite;
}
