/* test_hoist_memory.c -- values kept from run to run: their memory, limits, and threads that run
 * and change the variables they depend on. */
#include "tests/lib/hoist_sessions.h"

Suite *hoist_memory_suite(void);

/* ------------------------------------------------------------------------ memory -- */

static size_t arena(const eddy_session *s) { return eddy_session_plan_info(s).arena_bytes; }

/* Kept values take hardly more bytes than their operands. */
START_TEST(memory)
{
    enum { LAYERS = 40, SPARE = 1 << 16 };
    const size_t      all = (size_t)SIZE * SIZE * sizeof(double);
    const eddy_tensor x = fed(), v = square(1);
    eddy_array       *a = numbers(EDDY_SHAPE(SIZE, SIZE), 3);
    eddy_tensor       k = v, y = x;
    for (int i = 0; i < LAYERS; i++) {
        k = Tanh(MatMul(k, v));
        y = MatMul(y, k);
    }
    begin();
    same(x, a, y);
    same(x, a, y);
    uint64_t kept = 0;
    for (int32_t r = 0; r < on->plans->n_roots; r++)
        if (on->plans->roots[r].kept) kept += on->plans->roots[r].bytes;
    ck_assert_uint_le(kept, all + SPARE);
    ck_assert_uint_le(arena(on), arena(off) + all + SPARE);
    eddy_array_free(a);
}
END_TEST

START_TEST(limit)
{
    const served m = ready();
    const size_t bytes = arena(on) + eddy_array_bytes(m.a);      /* and the result's */
    for (int fits_in = 0; fits_in < 2; fits_in++) {
        eddy_session *s = eddy_session_new(g, .threads = 1, .max_bytes = bytes - (fits_in ? 0 : 1));
        runs(s, eddy_initializer(g));
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ m.x, m.a }), EDDY_FETCH(m.y), NULL),
                         fits_in ? EDDY_OK : EDDY_LIMIT);
        eddy_session_free(s);
    }
    eddy_array_free(m.a);
}
END_TEST

/* ----------------------------------------------------------------------- threads -- */

enum { THREADS = 6, ROUNDS = 200 };

typedef struct job {
    pthread_t   thread;
    eddy_tensor v, y;
    eddy_callable *call;
    int         number, wrong;
} job;

/* y = sum(v v) for a v of equal numbers k: SIZE^3 k^2. */
static void *read_often(void *p)
{
    job        *j = p;
    eddy_array *out[1] = { NULL };
    for (int i = 0; i < ROUNDS; i++) {
        const eddy_status s = j->number % 2 ? eddy_callable_run(j->call, NULL, out)
                                            : eddy_run(on, EDDY_FEED(), EDDY_FETCH(j->y), out);
        const double k = s == EDDY_OK ? sqrt(eddy_array_item(out[0]) / (SIZE * SIZE * SIZE)) : -1;
        j->wrong += k != floor(k) || k < 1;
    }
    eddy_array_free(out[0]);
    return NULL;
}

static void *write_often(void *p)
{
    job        *j = p;
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(SIZE, SIZE));
    for (int i = 0; i < ROUNDS; i++) {
        const int n = 1 + i % 9;
        for (int64_t k = 0; k < eddy_array_count(a); k++) eddy_array_set(a, k, n);
        j->wrong += eddy_variable_set(on, j->v, a) != EDDY_OK;
        eddy_array *out = eddy_fetch(on, j->y);
        j->wrong += eddy_array_item(out) != (double)(SIZE * SIZE * SIZE * n * n);
        eddy_array_free(out);
    }
    eddy_array_free(a);
    return NULL;
}

START_TEST(threads)
{
    job               jobs[THREADS];
    eddy_array       *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(SIZE, SIZE));
    const eddy_tensor v = square(1), y = Sum(MatMul(v, v));
    for (int64_t k = 0; k < eddy_array_count(a); k++) eddy_array_set(a, k, 1);
    fits(g);
    ck_assert_int_eq(eddy_variable_set(on, v, a), EDDY_OK);
    eddy_callable *c = eddy_callable_new(on, EDDY_LIST(), EDDY_LIST(y));
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){ .v = v, .y = y, .call = c, .number = i };
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, i == 0 ? write_often : read_often,
                                        &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        ck_assert_int_eq(jobs[i].wrong, 0);
    }
    check_session(on);
    eddy_callable_free(c);
    eddy_array_free(a);
}
END_TEST

/* A limit of memory comes first: nothing is kept that would take more. */
START_TEST(not_with_a_limit)
{
    const eddy_shape s256 = EDDY_SHAPE(256, 256);
    eddy_graph   *h = eddy_graph_new();
    eddy_tensor   w = eddy_variable(h, .initial_value = eddy_ones(h, EDDY_FLOAT32, s256));
    eddy_tensor   x = eddy_placeholder(h, NULL, EDDY_FLOAT32, s256);
    eddy_tensor   y = MatMul(x, MatMul(w, w));
    for (int i = 0; i < 3; i++) y = MatMul(Softmax(y), x);
    eddy_session *limited = eddy_session_new(h, .max_bytes = 900 * 1024, .threads = 1);
    eddy_array   *in = eddy_array_new(EDDY_FLOAT32, s256), *out[1] = { NULL };
    eddy_variable_set(limited, w, in);
    ck_assert_msg(eddy_run(limited, EDDY_FEED({ x, in }), EDDY_FETCH(Sum(y)), out) == EDDY_OK, "%s",
                  eddy_session_message(limited));
    eddy_array_free(in);
    eddy_array_free(out[0]);
    eddy_session_free(limited);
    eddy_graph_free(h);
}
END_TEST

Suite *hoist_memory_suite(void)
{
    Suite *s = suite_create("hoist_memory");
    add(s, "memory", memory, 1);
    add(s, "limit", limit, 1);
    add(s, "not_with_a_limit", not_with_a_limit, 1);
    add(s, "threads", threads, 1);
    return s;
}
