/* test_blas_turns.c -- an OpenBLAS without threads, which has no lock around its working memory, is
 * called from one thread at a time: each operation that calls it waits while another thread does,
 * and has the right value then; products on many threads have the right values. */
#include "build/gen/suites.h"
#include "ops/kernels/libraries/blas_threads.h"
#include "tests/lib/golden.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* The library takes this one. */
int openblas_get_parallel(void);
extern void *blas_memory_alloc(int position) __attribute__((weak));
extern int   exec_blas(long count, void *queue) __attribute__((weak));

static atomic_bool without_threads;

int openblas_get_parallel(void)
{
    return without_threads || (blas_memory_alloc && !exec_blas) ? 0 : 1;
}

typedef struct operation {
    const char  *name;
    int64_t      rows;                    /* of x, which is square */
    eddy_tensor (*build)(eddy_tensor x);
} operation;

static eddy_tensor product(eddy_tensor x) { return eddy_matmul(x, x); }
static eddy_tensor complex_product(eddy_tensor x)
{
    const eddy_tensor z = eddy_complex(x, x);
    return eddy_real(eddy_matmul(z, z));
}
static eddy_tensor by_vector(eddy_tensor x) { return eddy_matvec(x, eddy_index(x, "0")); }
static eddy_tensor qr(eddy_tensor x) { return eddy_output(eddy_qr(x), 1); }
static eddy_tensor lu(eddy_tensor x) { return eddy_lu(x, EDDY_INT32); }
static eddy_tensor inverse(eddy_tensor x) { return eddy_inverse(x); }
static eddy_tensor solve(eddy_tensor x) { return eddy_solve(x, x); }
static eddy_tensor triangle(eddy_tensor x) { return eddy_triangular_solve(x, x); }
static eddy_tensor svd(eddy_tensor x) { return eddy_svd(x); }
static eddy_tensor eigenvalues(eddy_tensor x) { return eddy_real(eddy_eigvals(x)); }
static eddy_tensor complex_eigenvalues(eddy_tensor x)
{
    return eddy_real(eddy_eigvals(eddy_complex(x, x)));
}
static eddy_tensor tridiagonal(eddy_tensor x)
{
    return eddy_tridiagonal_solve(eddy_exp(eddy_index(x, ":3")), eddy_matrix_transpose(x));
}
static eddy_tensor sylvester(eddy_tensor x) { return eddy_sylvester(x, x, x); }

static const operation operations[] = {
    { "matmul", 24, product }, { "complex matmul", 24, complex_product },
    { "matvec", 24, by_vector }, { "cholesky", 24, eddy_cholesky },
    { "cholesky by blocks", 400, eddy_cholesky }, { "lu", 24, lu }, { "lu by blocks", 400, lu },
    { "inverse", 24, inverse }, { "solve", 24, solve }, { "triangular_solve", 24, triangle },
    { "triangular_solve by blocks", 400, triangle }, { "qr", 24, qr },
    { "det", 24, eddy_det }, { "svd", 24, svd }, { "eigvalsh", 24, eddy_eigvalsh },
    { "eigvals", 24, eigenvalues }, { "complex eigvals", 24, complex_eigenvalues },
    { "tridiagonal_solve", 24, tridiagonal }, { "matrix_exp", 24, eddy_matrix_exp },
    { "matrix_sqrt", 24, eddy_matrix_sqrt }, { "sylvester", 24, sylvester },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

typedef struct work {
    eddy_graph   *graph;
    eddy_session *session;
    eddy_tensor   x, y;
    eddy_array   *given, *value;
    atomic_bool   ended;
} work;

/* x is symmetric, and its diagonal is the largest of its row. */
static void begin(work *w, const operation *o)
{
    w->graph = eddy_graph_new();
    w->session = eddy_session_new(w->graph, .threads = 1);
    w->x = eddy_placeholder(w->graph, "x", EDDY_FLOAT64, EDDY_SHAPE(o->rows, o->rows));
    w->y = o->build(w->x);
    fits(w->graph);
    w->given = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(o->rows, o->rows));
    for (int64_t i = 0; i < o->rows * o->rows; i++) {
        const int64_t row = i / o->rows, column = i % o->rows;
        const double  near = row == column ? 2 : 0;
        eddy_array_set(w->given, i,
                       near + (double)((row + 1) * (column + 1) % 7) / (double)o->rows);
    }
}

static void end(work *w)
{
    eddy_array_free(w->given);
    eddy_array_free(w->value);
    eddy_session_free(w->session);
    eddy_graph_free(w->graph);
}

static void *run(void *at)
{
    work *w = at;
    eddy_run(w->session, EDDY_FEED({ w->x, w->given }), EDDY_FETCH(w->y), &w->value);
    w->ended = true;
    return NULL;
}

static void sleep_milliseconds(int n)
{
    nanosleep(&(struct timespec){ .tv_nsec = n * 1000000 }, NULL);
}

START_TEST(waits_for_its_turn)
{
    const operation *o = &operations[_i];
    work             w = { 0 };
    pthread_t        thread;
    begin(&w, o);
    run(&w);
    ck_assert_msg(w.value, "%s: %s", o->name, eddy_session_message(w.session));
    eddy_array *expected = w.value;
    w.value = NULL;
    w.ended = false;
    without_threads = true;
    eddy__blas_enter();
    ck_assert_int_eq(pthread_create(&thread, NULL, run, &w), 0);
    sleep_milliseconds(20);
    ck_assert_msg(!w.ended, "%s", o->name);
    eddy__blas_leave();
    pthread_join(thread, NULL);
    without_threads = false;
    ck_assert_msg(w.value && eddy_array_equal(w.value, expected), "%s", o->name);
    eddy_array_free(expected);
    end(&w);
}
END_TEST

/* With an OpenBLAS that has threads, nothing waits. */
START_TEST(others_do_not_wait)
{
    work      w = { 0 };
    pthread_t thread;
    if (openblas_get_parallel() == 0) return;
    begin(&w, &operations[0]);
    eddy__blas_enter();
    ck_assert_int_eq(pthread_create(&thread, NULL, run, &w), 0);
    pthread_join(thread, NULL);
    eddy__blas_leave();
    ck_assert(w.value);
    end(&w);
}
END_TEST

Suite *blas_turns_suite(void)
{
    Suite *s = suite_create("blas_turns");
    TCase *c = tcase_create("turns");
    tcase_set_tags(c, "threads");
    tcase_add_loop_test(c, waits_for_its_turn, 0, OPERATIONS);
    tcase_add_test(c, others_do_not_wait);
    suite_add_tcase(s, c);
    return s;
}
