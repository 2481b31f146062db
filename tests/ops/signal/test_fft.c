/* test_fft.c -- Fourier transforms against sums in long double, extreme sizes and all types;
 * windows against NumPy 1.24, Vorbis's against TensorFlow's formula. */
#include "tests/lib/checks.h"
#include "tests/lib/long_double.h"

#include <math.h>

Suite *fft_suite(void);

/* ---------------------------------------------------------------- transforms -- */

typedef struct numbers {
    int     rank;
    int64_t n[3], count;
    double  re[2048], im[2048];
} numbers;

static void draw(numbers *x, int rank, const int64_t *n, bool complex_too)
{
    *x = (numbers){ .rank = rank, .count = 1 };
    for (int i = 0; i < rank; i++) x->count *= x->n[i] = n[i];
    for (int64_t i = 0; i < x->count; i++) {
        x->re[i] = (double)((i * 7919 + 31) % 1009) / 500 - 1;
        x->im[i] = complex_too ? (double)((i * 104729 + 7) % 997) / 500 - 1 : 0;
    }
}

/* Along one axis of `n` numbers, `step` apart. */
static void sum_along(numbers *x, int64_t n, int64_t step, int64_t from, int sign)
{
    static double re[2048], im[2048];
    for (int64_t k = 0; k < n; k++) {
        long double a = 0, b = 0;
        for (int64_t j = 0; j < n; j++) {
            const long double t = 6.283185307179586476925286766559L * (long double)(j * k % n) /
                                  (long double)n * (long double)sign;
            const long double u = x->re[from + j * step], v = x->im[from + j * step];
            a += u * cosl(t) - v * sinl(t);
            b += u * sinl(t) + v * cosl(t);
        }
        re[k] = (double)a, im[k] = (double)b;
    }
    for (int64_t k = 0; k < n; k++) x->re[from + k * step] = re[k], x->im[from + k * step] = im[k];
}

/* x becomes its transform. */
static void transform(numbers *x, int sign)
{
    for (int64_t axis = x->rank, step = 1; axis-- > 0; step *= x->n[axis])
        for (int64_t i = 0; i < x->count; i++)
            if (i / step % x->n[axis] == 0) sum_along(x, x->n[axis], step, i, sign);
    for (int64_t i = 0; sign > 0 && i < x->count; i++) {
        x->re[i] /= (double)x->count;
        x->im[i] /= (double)x->count;
    }
}

static eddy_tensor constant(eddy_graph *g, const numbers *x, eddy_dtype d)
{
    eddy_array *a = eddy_array_new(d, eddy_shape_of_dims(x->n, (size_t)x->rank));
    const bool  real_one = eddy_dtype_is_floating(d);
    for (int64_t i = 0; i < x->count; i++)
        ck_assert(real_one ? eddy_array_set(a, i, x->re[i])
                           : eddy_array_set_complex(a, i, x->re[i], x->im[i]));
    const eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

/* t is w along all axes, of the last the first `last` places. */
static void is(eddy_tensor t, const numbers *w, int64_t last, double tolerance)
{
    eddy_session *s = eddy_session_new(t.graph);
    eddy_array   *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    const int64_t n = w->n[w->rank - 1], rows = w->count / n;
    const double  looser = long_double_has_its_digits() ? 1 : 1000;
    const double  limit = looser * tolerance * sqrt((double)w->count);
    ck_assert_int_eq(eddy_array_count(a), rows * last);
    for (int64_t i = 0; i < rows * last; i++) {
        const int64_t at = i / last * n + i % last;
        const double  re = eddy_array_get(a, i), im = eddy_array_get_imag(a, i);
        ck_assert_msg(fabs(re - w->re[at]) <= limit && fabs(im - w->im[at]) <= limit,
                      "%lld of %lld: %.17g %.17g, not %.17g %.17g", (long long)i,
                      (long long)n, re, im, w->re[at], w->im[at]);
    }
    eddy_array_free(a);
    eddy_session_free(s);
}

typedef eddy_tensor one(eddy_tensor x);
static one *const forward[] = { eddy_fft, eddy_fft2d, eddy_fft3d };
static one *const inverse[] = { eddy_ifft, eddy_ifft2d, eddy_ifft3d };

static eddy_tensor real_forward(eddy_tensor x, int rank)
{
    return rank == 1 ? eddy_rfft(x) : rank == 2 ? eddy_rfft2d(x) : eddy_rfft3d(x);
}
static eddy_tensor real_inverse(eddy_tensor x, int rank, eddy_dims n)
{
    if (rank == 1) return eddy_irfft(x, n.at[0]);
    return rank == 2 ? eddy_irfft2d(x, n) : eddy_irfft3d(x, n);
}

/* The four transforms of these sizes in double and single precision. */
static void compare(int rank, const int64_t *n)
{
    static numbers x, w;
    for (int single = 0; single < 2; single++) {
        const double     tolerance = single ? 2e-6 : 4e-15;
        const eddy_dtype z = single ? EDDY_COMPLEX64 : EDDY_COMPLEX128;
        eddy_graph *g = eddy_graph_new();
        draw(&x, rank, n, true), w = x, transform(&w, -1);
        is(forward[rank - 1](constant(g, &x, z)), &w, n[rank - 1], tolerance);
        draw(&x, rank, n, true), w = x, transform(&w, 1);
        is(inverse[rank - 1](constant(g, &x, z)), &w, n[rank - 1], tolerance);
        draw(&x, rank, n, false), w = x, transform(&w, -1);
        const eddy_tensor r = constant(g, &x, eddy_dtype_real(z));
        const eddy_tensor y = real_forward(r, rank);
        is(y, &w, n[rank - 1] / 2 + 1, tolerance);
        eddy_dims length = { .count = rank };
        for (int i = 0; i < rank; i++) length.at[i] = n[i];
        is(real_inverse(y, rank, length), &x, n[rank - 1], tolerance);
        eddy_graph_free(g);
    }
}

START_TEST(one_axis)
{
    static const int64_t more[] = { 64, 97, 100, 105, 111, 127, 148, 225, 1024 };
    for (int64_t n = 1; n <= 17; n++) compare(1, &n);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) compare(1, &more[i]);
}
END_TEST

START_TEST(more_axes)
{
    static const int64_t sizes[][3] = { { 4, 6, 5 }, { 3, 1, 2 }, { 1, 5, 1 }, { 2, 3, 8 },
                                        { 7, 2, 1 }, { 1, 1, 1 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        compare(2, sizes[i]), compare(2, sizes[i] + 1), compare(3, sizes[i]);
}
END_TEST

/* Of frequencies that are not those of real numbers, the real part of the sum is taken: what
 * is missing is the conjugate of what is there, and the imaginary parts of what stands for
 * itself are not read. */
START_TEST(not_of_real_numbers)
{
    static const int64_t sizes[][2] = { { 4, 6 }, { 3, 5 }, { 4, 1 }, { 5, 2 }, { 16, 16 } };
    static numbers x, z, w;
    eddy_graph *g = eddy_graph_new();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t n = sizes[i][1], half = n / 2 + 1;
        draw(&x, 2, (int64_t[]){ sizes[i][0], half }, true);
        draw(&w, 2, sizes[i], false);
        for (int64_t j = 0; j < w.count; j++) {
            const int64_t row = j / n * half, k = j % n;
            const bool    there = k < half, twice = k > 0 && 2 * k != n;
            w.re[j] = there ? x.re[row + k] * (twice ? 2 : 1) : 0;
            w.im[j] = there ? x.im[row + k] * (twice ? 2 : 1) : 0;
        }
        z = w;
        transform(&w, 1);
        for (int64_t j = 0; j < w.count; j++) w.im[j] = 0;
        const eddy_tensor t = constant(g, &x, EDDY_COMPLEX128);
        is(eddy_irfft2d(t, EDDY_DIMS(sizes[i][0], n)), &w, n, 1e-14);
        for (int64_t j = 0; j < sizes[i][0]; j++) sum_along(&z, n, 1, j * n, 1);
        for (int64_t j = 0; j < z.count; j++) z.re[j] /= (double)n, z.im[j] = 0;
        is(eddy_irfft(t, n), &z, n, 1e-14);
    }
    eddy_graph_free(g);
}
END_TEST

/* Many rows are cut into blocks; each must be as it is alone, for any number of threads. */
START_TEST(many_rows)
{
    static const int64_t lengths[] = { 3, 16, 37, 640, 962, 999, 5000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int64_t n = lengths[i], rows = 20000 / n + 3;
        eddy_graph   *g = eddy_graph_new();
        eddy_array   *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(rows, n));
        for (int64_t j = 0; j < rows * n; j++)
            eddy_array_set(a, j, (double)(j * 7919 % 1009) / 500 - 1);
        const eddy_tensor x = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(rows, n));
        const eddy_tensor y = eddy_rfft(x), back = eddy_irfft(y, n);
        eddy_array *got[2][2] = { { NULL } };
        for (int threads = 1; threads <= 2; threads++) {
            eddy_session *s = eddy_session_new(g, .threads = threads);
            ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(Abs(y), back),
                                      got[threads - 1]), EDDY_OK);
            eddy_session_free(s);
        }
        ck_assert(eddy_array_equal(got[0][0], got[1][0]));
        ck_assert(eddy_array_equal(got[0][1], got[1][1]));
        for (int64_t j = 0; j < rows * n; j++)
            ck_assert_double_eq_tol(eddy_array_get(got[0][1], j), eddy_array_get(a, j), 1e-5);
        for (int k = 0; k < 4; k++) eddy_array_free(got[k / 2][k % 2]);
        eddy_array_free(a);
        eddy_graph_free(g);
    }
}
END_TEST

/* More kinds of transforms than plans are kept. */
START_TEST(many_plans)
{
    for (int round = 0; round < 2; round++)
        for (int64_t n = 20; n < 200; n++) {
            eddy_graph *g = eddy_graph_new();
            const eddy_tensor x = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(n));
            is_number(Real(eddy_index(eddy_rfft(x), "0")), (double)n);
            eddy_graph_free(g);
        }
}
END_TEST

START_TEST(empty_ones)
{
    eddy_graph *g = eddy_graph_new();
    has_value(Real(eddy_fft(eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(0)))), 0, NULL);
    has_value(Real(eddy_rfft(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(3, 0)))), 0, NULL);
    has_value(Real(eddy_rfft(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0, 3)))), 0, NULL);
    has_value(Real(eddy_rfft(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0)), 4)), 3,
              (double[]){ 0, 0, 0 });
    const eddy_tensor x = eddy_ones(g, EDDY_COMPLEX128, EDDY_SHAPE(2, 1));
    has_value(eddy_irfft(x), 0, NULL);
    has_value(Real(eddy_gradient(Sum(eddy_irfft(x)), x)), 2, (double[]){ 0, 0 });
    has_value(eddy_irfft(x, 1), 2, (double[]){ 1, 1 });
    has_value(eddy_irfft2d(eddy_zeros(g, EDDY_COMPLEX128, EDDY_SHAPE(2, 0))), 0, NULL);
    fits(g);
    eddy_graph_free(g);
}
END_TEST

/* A NaN spreads as far as the sums reach, and into no other row. */
START_TEST(not_finite)
{
    const double x[] = { 1, NAN, 2, 3, 1, 2, 3, 4 };
    eddy_graph  *g = eddy_graph_new();
    const eddy_tensor y = eddy_rfft(matrix(g, 2, 4, x));
    has_value(Where(IsNan(Real(y)), 99, Real(y)), 6, (double[]){ 99, -1, 99, 10, -2, -2 });
    eddy_graph_free(g);
}
END_TEST

/* Row 1 of 3, whatever the others hold; of sizes with tables of their own, too. */
START_TEST(rows_alone)
{
    static const int64_t lengths[] = { 105, 148, 999 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int64_t n = lengths[i];
        eddy_graph   *g = eddy_graph_new();
        eddy_array   *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3, n));
        for (int64_t j = 0; j < 3 * n; j++)
            eddy_array_set(a, j, j / n == 1 ? (double)(j * 7919 % 1009) / 500 - 1
                                 : j % 7 ? 1e30 : (double)NAN);
        const eddy_tensor x = eddy_constant(g, a, NULL), y = eddy_rfft(x);
        eddy_session *s = eddy_session_new(g);
        eddy_array   *got[2] = { NULL };
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(),
                                  EDDY_FETCH(eddy_index(y, "1:2"), eddy_rfft(eddy_index(x, "1:2"))),
                                  got), EDDY_OK);
        ck_assert(eddy_array_equal(got[0], got[1]));
        ck_assert(eddy_array_get_imag(got[0], 0) == 0);
        ck_assert(n % 2 || eddy_array_get_imag(got[0], n / 2) == 0);
        eddy_array_free(a), eddy_array_free(got[0]), eddy_array_free(got[1]);
        eddy_session_free(s);
        eddy_graph_free(g);
    }
}
END_TEST

START_TEST(shapes_not_known)
{
    eddy_graph *g = eddy_graph_new();
    char        buf[64];
    const eddy_tensor open = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor rows = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 8));
    const eddy_tensor any = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(2, EDDY_ANY));
#define SHAPE_IS(t, text) \
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), buf, sizeof buf), text)
    SHAPE_IS(eddy_rfft(open), "?");
    SHAPE_IS(eddy_rfft(rows), "[?,5]");
    SHAPE_IS(eddy_rfft(any), "[2,?]");
    SHAPE_IS(eddy_rfft(any, 6), "[2,4]");
    SHAPE_IS(eddy_rfft2d(rows, EDDY_DIMS(4, 5)), "[4,3]");
    SHAPE_IS(eddy_irfft(eddy_rfft(rows)), "[?,8]");
    SHAPE_IS(eddy_irfft(eddy_rfft(any)), "[2,?]");
    SHAPE_IS(eddy_irfft(eddy_rfft(any), 7), "[2,7]");
    SHAPE_IS(eddy_fftshift(any), "[2,?]");
    fits(g);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- windows -- */

static void near(eddy_tensor t, int n, const double *want)
{
    eddy_session *s = eddy_session_new(t.graph);
    eddy_array   *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++)
        ck_assert_double_eq_tol(eddy_array_get(a, i), want[i], 1e-14);
    eddy_array_free(a);
    eddy_session_free(s);
}
#define NEAR(t, ...) \
    near(t, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), (double[]){ __VA_ARGS__ })

/* numpy.hanning, hamming, blackman, bartlett and kaiser of 5 places; periodic ones are those
 * of one place more, the last left out. */
START_TEST(windows)
{
    const eddy_dtype d = EDDY_FLOAT64;
    eddy_graph      *g = eddy_graph_new();
    NEAR(eddy_hann_window(g, 5, false, d), 0, 0.5, 1, 0.5, 0);
    NEAR(eddy_hann_window(g, 5, true, d), 0, 0.5, 1, 0.5, 0);
    NEAR(eddy_hann_window(g, 4, true, d), 0, 0.5, 1, 0.5);
    NEAR(eddy_hamming_window(g, 5, false, d), 0.08, 0.54, 1, 0.54, 0.08);
    NEAR(eddy_hamming_window(g, 4, true, d), 0.08, 0.54, 1, 0.54);
    NEAR(eddy_blackman_window(g, 5, false, d), 0, 0.34, 1, 0.34, 0);
    NEAR(eddy_blackman_window(g, 4, true, d), 0, 0.34, 1, 0.34);
    NEAR(eddy_bartlett_window(g, 5, false, d), 0, 0.5, 1, 0.5, 0);
    NEAR(eddy_bartlett_window(g, 4, true, d), 0, 0.5, 1, 0.5);
    NEAR(eddy_kaiser_window(g, 5, 12, d), 5.2773441320097665e-05, 0.21567274475896714, 1,
         0.21567274475896714, 5.2773441320097665e-05);
    NEAR(eddy_kaiser_window(g, 4, 2.5, d), 0.3039662294153687, 0.8974290203504975,
         0.8974290203504975, 0.3039662294153687);
    NEAR(eddy_kaiser_window(g, 3, 5000, d), 0, 1, 0);
    NEAR(eddy_vorbis_window(g, 6, d), 0.10502933764982536, 0.7071067811865477,
         0.9944691238207645, 0.9944691238207645, 0.7071067811865478, 0.10502933764982555);
    NEAR(eddy_kaiser_window(g, 3, 0, d), 1, 1, 1);
    NEAR(eddy_kaiser_window(g, 1, 12, d), 1);
    NEAR(eddy_hann_window(g, 1, true, d), 1);
    ck_assert_int_eq(eddy_dtype_of(eddy_vorbis_window(g, 4, 0)), EDDY_FLOAT32);
    fits(g);
    eddy_graph_free(g);
}
END_TEST

START_TEST(halves)
{
    eddy_graph *g = eddy_graph_new();
    const double x[] = { 0, 1, 2, 3, 4, 5 };
    const eddy_tensor t = matrix(g, 2, 3, x), five = vector(g, 5, x);
    has_value(eddy_fftshift(five), 5, (double[]){ 3, 4, 0, 1, 2 });
    has_value(eddy_ifftshift(five), 5, (double[]){ 2, 3, 4, 0, 1 });
    has_value(eddy_fftshift(t), 6, (double[]){ 5, 3, 4, 2, 0, 1 });
    has_value(eddy_fftshift(t, EDDY_AXES(-1)), 6, (double[]){ 2, 0, 1, 5, 3, 4 });
    has_value(eddy_ifftshift(eddy_fftshift(t)), 6, x);
    /* fftshift(x) + ifftshift(x) */
    has_value(eddy_gradient(Sum(Mul(five, eddy_fftshift(five))), five), 5,
              (double[]){ 5, 7, 4, 1, 3 });
    eddy_graph_free(g);
}
END_TEST

/* A size that is not known is asked for in the run. */
START_TEST(halves_of_open_sizes)
{
    for (int64_t n = 0; n < 6; n++) {
        eddy_graph *g = eddy_graph_new();
        eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, n));
        for (int64_t i = 0; i < 2 * n; i++) eddy_array_set(a, i, (double)(i * i));
        const eddy_tensor known = eddy_constant(g, a, NULL);
        const eddy_tensor open = eddy_placeholder(g, NULL, EDDY_FLOAT64,
                                                  EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
        eddy_tensor of[2][4];
        for (int i = 0; i < 2; i++) {
            const eddy_tensor x = i ? open : known;
            of[i][0] = eddy_fftshift(x), of[i][1] = eddy_ifftshift(x, EDDY_AXES(1));
            of[i][2] = eddy_gradient(Sum(Mul(x, of[i][0])), x);
            of[i][3] = eddy_gradient(Sum(Mul(x, of[i][1])), x);
        }
        fits(g);
        eddy_array   *got[8] = { NULL };
        eddy_session *s = eddy_session_new(g);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ open, a }), (eddy_list){ 8, of[0] }, got),
                         EDDY_OK);
        for (int i = 0; i < 4; i++) ck_assert(eddy_array_equal(got[i], got[i + 4]));
        for (int i = 0; i < 8; i++) eddy_array_free(got[i]);
        eddy_array_free(a);
        eddy_session_free(s);
        eddy_graph_free(g);
    }
}
END_TEST

Suite *fft_suite(void)
{
    Suite *suite = suite_create("fft");
    TCase *c = tcase_create("fft");
    tcase_add_test(c, one_axis);
    tcase_add_test(c, more_axes);
    tcase_add_test(c, not_of_real_numbers);
    tcase_add_test(c, many_rows);
    tcase_add_test(c, many_plans);
    tcase_add_test(c, empty_ones);
    tcase_add_test(c, not_finite);
    tcase_add_test(c, rows_alone);
    tcase_add_test(c, shapes_not_known);
    tcase_add_test(c, windows);
    tcase_add_test(c, halves);
    tcase_add_test(c, halves_of_open_sizes);
    tcase_set_timeout(c, 60);
    suite_add_tcase(suite, c);
    return suite;
}
