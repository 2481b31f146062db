/* test_lapack_blocks.c -- factors and solutions by blocks: against their definitions, applied to a
 * vector; the same bits on any number of threads; ends at any moment. */
#include "build/gen/suites.h"
#include "eddy.h"
#include "graph/base/stop.h"
#include "graph/op.h"
#include "ops/kernels/libraries/blas_threads.h"
#include "ops/kernels/libraries/lapack_blocks.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX64, EDDY_COMPLEX128 };

static number get(eddy_dtype d, const void *x, int64_t i)
{
    if (d == EDDY_FLOAT32) return (double)((const float *)x)[i];
    if (d == EDDY_FLOAT64) return ((const double *)x)[i];
    if (d == EDDY_COMPLEX64) return ((const float complex *)x)[i];
    return ((const number *)x)[i];
}

static void put(eddy_dtype d, void *x, int64_t i, number v)
{
    if (d == EDDY_FLOAT32) ((float *)x)[i] = (float)creal(v);
    else if (d == EDDY_FLOAT64) ((double *)x)[i] = creal(v);
    else if (d == EDDY_COMPLEX64) ((float complex *)x)[i] = (float complex)v;
    else ((number *)x)[i] = v;
}

/* Numbers between -1/2 and 1/2 that differ for each i. */
static number any(eddy_dtype d, int64_t i)
{
    const uint64_t a = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    const uint64_t b = (a ^ a >> 29) * 0xbf58476d1ce4e5b9u;
    const double   x = (double)(b >> 40) / (1 << 24) - 0.5;
    const double   y = (double)(b & 0xffffff) / (1 << 24) - 0.5;
    return eddy_dtype_is_complex(d) ? x + y * I : x;
}

static void *matrix(eddy_dtype d, int64_t m, int64_t n, double diagonal)
{
    void *x = malloc((size_t)(m * n) * eddy_dtype_size(d));
    for (int64_t i = 0; i < m * n; i++)
        put(d, x, i, any(d, i) + (i / n == i % n ? diagonal : 0));
    return x;
}

static void *copy(eddy_dtype d, int64_t n, const void *x)
{
    void *y = malloc((size_t)n * eddy_dtype_size(d));
    return memcpy(y, x, (size_t)n * eddy_dtype_size(d));
}

enum { GENERAL, LOWER, UPPER, UNIT_LOWER, UNIT_UPPER };

/* y = op(a) x with a [m,n] or a triangle of it. */
static void times(eddy_dtype d, int part, bool adjoint, int64_t m, int64_t n, const void *a,
                  const number *x, number *y)
{
    for (int64_t i = 0; i < (adjoint ? n : m); i++) y[i] = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const bool unit = part == UNIT_LOWER || part == UNIT_UPPER;
            if ((part == LOWER || part == UNIT_LOWER) && j > i) continue;
            if ((part == UPPER || part == UNIT_UPPER) && j < i) continue;
            const number v = unit && i == j ? 1 : get(d, a, i * n + j);
            if (adjoint) y[j] += conj(v) * x[i];
            else y[i] += v * x[j];
        }
}

static void near(eddy_dtype d, int64_t n, const number *x, const number *y, const char *what)
{
    const bool   narrow = d == EDDY_FLOAT32 || d == EDDY_COMPLEX64;
    double       most = 0, size = 1;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, cabs(x[i] - y[i]));
        size = fmax(size, cabs(y[i]));
        ck_assert(isfinite(cabs(x[i])));
    }
    ck_assert_msg(most <= size * (narrow ? 1e-2 : 1e-10), "%s in %s differs by %g of %g", what,
                  eddy_dtype_name(d), most, size);
}

static number *vector(eddy_dtype d, int64_t n)
{
    number *x = calloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = any(d, 77 + i);
    return x;
}

/* ---------------------------------------------------------------- results -- */

enum { N = 700, K = 530 };

static number *x, *y, *z;

static void vectors(eddy_dtype d)
{
    x = vector(d, N + K);
    y = vector(d, N + K);
    z = vector(d, N + K);
}

static void free_vectors(void)
{
    free(x);
    free(y);
    free(z);
}

/* The results of a function on 1 and on 3 threads must have the same bits. */
static void same(eddy_dtype d, int64_t n, void *one, void *three)
{
    ck_assert_msg(memcmp(one, three, (size_t)n * eddy_dtype_size(d)) == 0, "threads change %s",
                  eddy_dtype_name(d));
    free(three);
}

static const eddy_kernel alone = { .threads = 1 }, together = { .threads = 3 };

START_TEST(cholesky)
{
    const eddy_dtype d = types[_i];
    void *a = matrix(d, N, N, 0), *b, *l;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++)
            put(d, a, j * N + i, i == j ? 40 : conj(get(d, a, i * N + j)));
    l = copy(d, N * N, a);
    b = copy(d, N * N, a);
    ck_assert_int_eq(eddy__blocks_cholesky(&alone, d, N, l), 0);
    ck_assert_int_eq(eddy__blocks_cholesky(&together, d, N, b), 0);
    same(d, N * N, l, b);
    vectors(d);
    times(d, LOWER, true, N, N, l, x, y);
    times(d, LOWER, false, N, N, l, y, z);
    times(d, GENERAL, false, N, N, a, x, y);
    near(d, N, z, y, "l l'");
    free(l);
    l = copy(d, N * N, a);
    put(d, l, 600 * N + 600, -1);
    ck_assert_int_eq(eddy__blocks_cholesky(&alone, d, N, l), 601);
    free_vectors();
    free(a);
    free(l);
}
END_TEST

/* a = p'' u'' l'' with '' the transpose of the factors, which are in column-major order. */
START_TEST(lu)
{
    const eddy_dtype d = types[_i];
    void    *a = matrix(d, N, N, 0), *f = copy(d, N * N, a), *other = copy(d, N * N, a);
    int32_t *p = calloc(N, sizeof *p), *q = calloc(N, sizeof *q);
    ck_assert_int_eq(eddy__blocks_lu(&alone, d, N, f, p), 0);
    ck_assert_int_eq(eddy__blocks_lu(&together, d, N, other, q), 0);
    same(d, N * N, f, other);
    ck_assert_mem_eq(p, q, N * sizeof *p);
    vectors(d);
    for (int adjoint = 0; adjoint < 2; adjoint++) {
        void *s = matrix(d, N, K, 0), *right = copy(d, N * K, s), *t = copy(d, N * K, s);
        eddy__blocks_lu_solve(&alone, d, adjoint, N, K, f, p, s);
        eddy__blocks_lu_solve(&together, d, adjoint, N, K, f, p, t);
        same(d, N * K, s, t);
        times(d, GENERAL, false, N, K, s, x, y);
        times(d, GENERAL, adjoint, N, N, a, y, z);
        times(d, GENERAL, false, N, K, right, x, y);
        near(d, N, z, y, adjoint ? "a' x" : "a x");
        free(s);
        free(right);
    }
    const int64_t elements = eddy__blocks_inverse_work(d, N);
    void *work = malloc((size_t)elements * eddy_dtype_size(d)), *v = copy(d, N * N, f);
    eddy__blocks_lu_inverse(&alone, d, N, f, p, work, elements);
    eddy__blocks_lu_inverse(&together, d, N, v, p, work, elements);
    same(d, N * N, f, v);
    times(d, GENERAL, false, N, N, a, x, y);
    times(d, GENERAL, false, N, N, f, y, z);
    near(d, N, z, x, "inverse");
    free(work);
    for (int64_t i = 0; i < N; i++) put(d, a, 650 * N + i, 0);
    ck_assert_int_eq(eddy__blocks_lu(&alone, d, N, a, p), 651);
    free_vectors();
    free(a);
    free(f);
    free(p);
    free(q);
}
END_TEST

START_TEST(triangle_solve)
{
    const eddy_dtype d = types[_i / 8];
    const bool lower = _i & 1, adjoint = _i & 2, unit = _i & 4;
    void *a = matrix(d, N, N, 30), *b = matrix(d, N, K, 0), *s = copy(d, N * K, b);
    if (unit)
        for (int64_t i = 0; i < N * N; i++) put(d, a, i, get(d, a, i) / 30);
    void *t = copy(d, N * K, b);
    eddy__blocks_triangle_solve(&alone, d, lower, adjoint, unit, N, K, a, s);
    eddy__blocks_triangle_solve(&together, d, lower, adjoint, unit, N, K, a, t);
    same(d, N * K, s, t);
    vectors(d);
    times(d, GENERAL, false, N, K, s, x, y);
    const int part = unit ? lower ? UNIT_LOWER : UNIT_UPPER : lower ? LOWER : UPPER;
    times(d, part, adjoint, N, N, a, y, z);
    times(d, GENERAL, false, N, K, b, x, y);
    near(d, N, z, y, "t x");
    free_vectors();
    free(a);
    free(b);
    free(s);
}
END_TEST

/* q r = a and q' q = 1, for tall, wide and square matrices, with all columns of q and without. */
START_TEST(qr)
{
    const eddy_dtype d = types[_i / 4];
    const int64_t m = _i % 4 == 1 ? K : N, n = _i % 4 == 0 || _i % 4 == 3 ? K : N;
    const int64_t count = m < n ? m : n, c = _i % 4 == 3 ? m : count;
    void *a = matrix(d, m, n, 0), *f = copy(d, m * n, a), *other = copy(d, m * n, a);
    void *tau = malloc((size_t)count * 8), *tau2 = malloc((size_t)count * 8);
    void *work = malloc((size_t)eddy__blocks_qr_work(n, c) * 8);
    void *q = matrix(d, m, c, 0), *q2 = matrix(d, m, c, 0);
    eddy__blocks_qr(&alone, d, m, n, f, tau, work);
    eddy__blocks_qr(&together, d, m, n, other, tau2, work);
    same(d, m * n, f, other);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < count; j++) {
            put(d, q, i * c + j, get(d, f, i * n + j));
            put(d, q2, i * c + j, get(d, f, i * n + j));
        }
    eddy__blocks_qr_columns(&alone, d, m, c, count, q, tau, work);
    eddy__blocks_qr_columns(&together, d, m, c, count, q2, tau2, work);
    same(d, m * c, q, q2);
    vectors(d);
    times(d, UPPER, false, count, n, f, x, y);
    for (int64_t i = count; i < c; i++) y[i] = 0;
    times(d, GENERAL, false, m, c, q, y, z);
    times(d, GENERAL, false, m, n, a, x, y);
    near(d, m, z, y, "q r");
    times(d, GENERAL, false, m, c, q, x, y);
    times(d, GENERAL, true, m, c, q, y, z);
    near(d, c, z, x, "q' q");
    free_vectors();
    free(a);
    free(f);
    free(tau);
    free(tau2);
    free(work);
    free(q);
}
END_TEST

/* ----------------------------------------------------------------- ending -- */

/* A stop at any moment: no place outside of the matrices is touched, and nothing is reported. */
START_TEST(ends)
{
    static atomic_uint requests;
    const eddy_dtype   d = EDDY_FLOAT64;
    eddy_stop          stop = { .requests = &requests };
    const eddy_kernel  k = { .threads = 1 + _i % 2, .stop = &stop };
    void    *a = matrix(d, N, N, 40), *b = matrix(d, N, N, 0), *tau = calloc(N, 8);
    void    *work = calloc((size_t)eddy__blocks_qr_work(N, N), 8);
    int32_t *p = malloc(N * sizeof *p);
    memset(p, 0x7f, N * sizeof *p);
    stop.deadline = _i == 0 ? 1 : eddy__monotonic_nanoseconds() + _i * 300000;
    if (_i % 4 == 0) ck_assert_int_eq(eddy__blocks_lu(&k, d, N, a, p), 0);
    else if (_i % 4 == 1) ck_assert_int_eq(eddy__blocks_cholesky(&k, d, N, a), 0);
    else if (_i % 4 == 2) eddy__blocks_qr(&k, d, N, N, a, tau, work);
    else eddy__blocks_triangle_solve(&k, d, true, false, false, N, N, a, b);
    for (int i = 0; _i == 0 && i < N; i++) ck_assert_int_eq(p[i], 0x7f7f7f7f);
    free(a);
    free(b);
    free(tau);
    free(work);
    free(p);
}
END_TEST

static eddy_tensor positive(eddy_tensor a)
{
    return eddy_add(eddy_matmul(a, a, .transpose_b = true),
                    eddy_cast(eddy_eye(a.graph, 420), EDDY_FLOAT64));
}
static eddy_tensor of_cholesky(eddy_tensor a) { return eddy_cholesky(positive(a)); }
static eddy_tensor of_solve(eddy_tensor a)    { return eddy_solve(a, a); }
static eddy_tensor of_lu(eddy_tensor a)       { return eddy_output(eddy_lu(a, EDDY_INT32), 1); }
static eddy_tensor of_inverse(eddy_tensor a)  { return eddy_inverse(a); }
static eddy_tensor of_det(eddy_tensor a)
{
    return eddy_det(eddy_mul(a, eddy_number(a.graph, EDDY_FLOAT64, 0.1)));
}
static eddy_tensor of_dets(eddy_tensor a)     { return eddy_gradient(of_det(a), a); }
static eddy_tensor of_qr(eddy_tensor a)       { return eddy_qr(a); }
static eddy_tensor of_exp(eddy_tensor a)      { return eddy_matrix_exp(a); }
static eddy_tensor (*const operations[])(eddy_tensor) = {
    of_cholesky, of_solve, of_lu, of_inverse, of_det, of_dets, of_qr, of_exp,
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* A run that ends during an operation gives nothing, and the next one the same bits. */
START_TEST(operations_end)
{
    enum { ROWS = 420 };
    eddy_graph   *g = eddy_graph_new(.seed = 1);
    eddy_tensor   a = eddy_placeholder(g, "a", EDDY_FLOAT64, EDDY_SHAPE(ROWS, ROWS));
    eddy_tensor   b = operations[_i](a);
    eddy_session *s = eddy_session_new(g, .threads = 1 + _i % 2);
    eddy_array   *value = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(ROWS, ROWS)), *whole = NULL;
    for (int64_t i = 0; i < ROWS * ROWS; i++)
        eddy_array_set(value, i, creal(any(EDDY_FLOAT64, i)));
    ck_assert_msg(eddy_run(s, EDDY_FEED({ a, value }), EDDY_FETCH(b), &whole) == EDDY_OK, "%s",
                  eddy_session_message(s));
    for (double timeout = 2e-5; timeout < 0.1; timeout *= 1.4) {
        eddy_array *out = NULL;
        eddy_session_set_timeout(s, timeout);
        const eddy_status status = eddy_run(s, EDDY_FEED({ a, value }), EDDY_FETCH(b), &out);
        ck_assert_msg(status == EDDY_OK || status == EDDY_TIMED_OUT, "%s", eddy_session_message(s));
        if (out)
            ck_assert_mem_eq(eddy_array_data(out), eddy_array_data(whole), eddy_array_bytes(whole));
        eddy_array_free(out);
    }
    eddy_array_free(whole);
    eddy_array_free(value);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *lapack_blocks_suite(void)
{
    Suite *s = suite_create("lapack_blocks");
    TCase *c = tcase_create("results"), *e = tcase_create("ending");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, eddy__blas_begin, eddy__blas_end);
    tcase_add_checked_fixture(e, eddy__blas_begin, eddy__blas_end);
    tcase_set_tags(c, "threads");
    tcase_add_loop_test(c, cholesky, 0, 4);
    tcase_add_loop_test(c, lu, 0, 4);
    tcase_add_loop_test(c, triangle_solve, 0, 32);
    tcase_add_loop_test(c, qr, 0, 8);
    suite_add_tcase(s, c);
    tcase_set_tags(e, "threads");
    tcase_add_loop_test(e, ends, 0, 32);
    tcase_add_loop_test(e, operations_end, 0, OPERATIONS);
    tcase_set_timeout(e, 60);
    suite_add_tcase(s, e);
    return s;
}
