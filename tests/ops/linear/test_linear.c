/* test_linear.c -- decompositions against their definitions and against results of NumPy 1.24 and
 * PyTorch 1.13 (float64), singular cases, and errors during runs. */
#include "tests/lib/checks.h"
#include "tests/lib/array_trial.h"

#include <math.h>

/* LAPACK gives other bits where it takes several threads: looks and runs let it have one. */
START_TEST(one_thread_for_lapack)
{
    eddy_graph *g = eddy_graph_new();
    double      d[9];
    for (int i = 0; i < 9; i++) d[i] = (_i * 7919 + i * 104729) % 1000 / 250.0 - 2;
    eddy_tensor   v = eddy_variable(g, .initial_value = eddy_const(g, EDDY_FLOAT64,
                                                                   EDDY_SHAPE(3, 3), d));
    eddy_tensor   e = eddy_eigvalsh(eddy_batch_matmul(v, v, .adj_y = true));
    eddy_session *s = eddy_session_new(g, .threads = 2);
    eddy_array   *out[1] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(e), out), EDDY_OK);
    ck_assert(eddy_array_equal(out[0], eddy_eval_in(s, e)));
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *linear_suite(void);

static void near(eddy_tensor t, double tolerance, int n, const double *want)
{
    eddy_session *s = eddy_session_new(t.graph);
    eddy_array   *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++) {
        const double x = eddy_array_get(a, i);
        ck_assert_msg(fabs(x - want[i]) <= tolerance * fmax(1, fabs(want[i])) || x == want[i] ||
                      (isnan(x) && isnan(want[i])), "%s[%d] is %.17g, not %.17g", eddy_name_of(t),
                      i, x, want[i]);
    }
    eddy_array_free(a);
    eddy_session_free(s);
}
#define NEAR(t, ...) \
    near(t, 1e-12, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), \
         (double[]){ __VA_ARGS__ })

static void fails_with(eddy_tensor t, eddy_status status, const char *says)
{
    eddy_session *s = eddy_session_new(t.graph);
    ck_assert_ptr_null(eddy_fetch(s, t));
    run_fails(s, status, says);
    eddy_session_free(s);
}

static void refuses(eddy_tensor t, const char *says)
{
    fails_with(t, EDDY_INVALID_ARGUMENT, says);
}

static const double spd[] = { 4, 1, 2, 1, 5, -1, 2, -1, 6 };
static const double tall[] = { 1, 2, 0, 3, -1, 2, 0, 1, 1, 2, 0, -1 };
static const double plain[] = { 0.5, -1, 2, 1, 0.25, -0.5, 0, 3, -1 };

START_TEST(against_numpy)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor a = matrix(g, 3, 3, spd), b = matrix(g, 4, 3, tall);
    const eddy_tensor c = matrix(g, 3, 3, plain);
    const eddy_tensor rhs = matrix(g, 4, 1, (double[]){ 1, 2, 3, 4 });
    NEAR(eddy_cholesky(a), 2, 0, 0, 0.5, 2.179449471770337, 0, 1, -0.6882472016116852,
         2.127513992779762);
    NEAR(eddy_eigvalsh(a), 2.104893484072468, 5.602704930702909, 7.292401585224621);
    NEAR(eddy_svd(b), 3.978812875072828, 2.4494897427831783, 2.041824699908075);
    NEAR(eddy_svd(b, .no_uv = true), 3.978812875072828, 2.4494897427831783, 2.041824699908075);
    NEAR(eddy_pinv(b), 0.09848484848484845, 0.1439393939393938, -0.05303030303030304,
         0.23484848484848483, 0.3484848484848487, -0.10606060606060612, 0.19696969696969696,
         -0.015151515151514963, -0.007575757575757531, 0.21969696969696972, 0.23484848484848497,
         -0.32575757575757597);
    NEAR(eddy_matrix_exp(c), 1.9844492641837568, 1.3463761300411883, 1.6518972683100672,
         1.260413586994278, 1.017648438176319, 0.5645718268107832, 1.3033948585177333,
         1.8261484732062327, 0.6912181938462997);
    NEAR(eddy_matrix_exp(Mul(c, 4)), 122.54559180967375, 106.79373313833389, 80.81776552835338,
         69.84940594467881, 60.922455552750776, 46.036735774041425, 88.32156954150635,
         77.06586352177679, 58.252202265845895);
    NEAR(eddy_det(c), 5.625);
    NEAR(eddy_slogdet(c), 1);
    NEAR(eddy_output(eddy_slogdet(Neg(c)), 1), 1.7272209480904839);
    NEAR(eddy_slogdet(Neg(c)), -1);
    NEAR(eddy_logdet(a), log(86));
    NEAR(eddy_inverse(c), 2.0 / 9, 8.0 / 9, 0, 8.0 / 45, -4.0 / 45, 0.4, 8.0 / 15, -4.0 / 15, 0.2);
    NEAR(eddy_lstsq(b, rhs), 7.0 / 6, 2.0 / 3, -1.0 / 6);
    NEAR(eddy_lstsq(b, rhs, .complete = true), 7.0 / 6, 2.0 / 3, -1.0 / 6);
    NEAR(eddy_lstsq(b, rhs, .l2_regularizer = 0.5), 1.1122320302648172, 0.6128625472887768,
         -0.12862547288776793);
    NEAR(eddy_matrix_rank(b), 3);
    NEAR(eddy_matrix_rank(matrix(g, 3, 3, (double[]){ 1, 2, 3, 2, 4, 6, 1, 0, 1 })), 2);
    fits(g);
    eddy_graph_free(g);
}
END_TEST

START_TEST(norms)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor b = matrix(g, 4, 3, tall), v = vector(g, 4, (double[]){ 3, -4, 0, 1.5 });
    const char *const ords[] = { "fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf" };
    const double of_b[] = { 5.0990195135927845, 8.470127317764081, 6, 4, 3.978812875072828,
                            2.041824699908075, 6, 2 };
    for (int i = 0; i < 8; i++) {
        near(eddy_norm(b, ords[i], EDDY_AXES(0, 1)), 1e-12, 1, &of_b[i]);
        near(eddy_norm(Transpose(b), ords[i], EDDY_AXES(-1, -2)), 1e-12, 1, &of_b[i]);
    }
    NEAR(eddy_norm(v, "0"), 3);
    NEAR(eddy_norm(v, "1"), 8.5);
    NEAR(eddy_norm(v), 5.220153254455275);
    NEAR(eddy_norm(v, "3"), 4.552874245617287);
    NEAR(eddy_norm(v, "0.5"), 24.56982340296115);
    NEAR(eddy_norm(v, "inf"), 4);
    NEAR(eddy_norm(v, "-inf"), 0);
    NEAR(eddy_norm(b, NULL, EDDY_AXES(1)), sqrt(5), sqrt(14), sqrt(2), sqrt(5));
    NEAR(eddy_condition_number(b, NULL), 1.9486554723586005);
    const eddy_tensor c = matrix(g, 3, 3, plain);
    NEAR(eddy_condition_number(c, "fro"), 4.874426208713958);
    NEAR(eddy_condition_number(c, "nuc"), 11.735790133105258);
    NEAR(eddy_condition_number(c, "1"), 5.288888888888889);
    NEAR(eddy_condition_number(c, "inf"), 4.444444444444445);
    NEAR(eddy_condition_number(c, "-2"), 0.2916813529926814);
    const eddy_tensor zero = vector(g, 3, (double[]){ 0, 0, 0 });
    NEAR(eddy_gradient(eddy_norm(zero), zero), 0, 0, 0);
    NEAR(eddy_gradient(eddy_norm(zero, "3"), zero), 0, 0, 0);
    const double nan_ = (double)NAN;
    const eddy_tensor bad = vector(g, 2, (double[]){ nan_, 1 });
    static const char *const all[] = { "2", "1", "3", "0.5", "inf", "-inf", "-1" };
    for (int i = 0; i < 7; i++) NEAR(eddy_norm(bad, all[i]), nan_);
    NEAR(eddy_norm(matrix(g, 2, 2, (double[]){ 1, nan_, 3, 4 }), "fro", EDDY_AXES(-2, -1)), nan_);
    const eddy_tensor z = Complex(vector(g, 2, (double[]){ 3, 0 }),
                                  vector(g, 2, (double[]){ 4, 12 }));
    NEAR(eddy_norm(z), 13);
    fits(g);
    eddy_graph_free(g);
}
END_TEST

/* The product of the factors must be the matrix, for all sizes. */
static void same(eddy_tensor a, eddy_tensor b, double tolerance)
{
    if (eddy_shape_count(eddy_shape_of(a)) == 0) return;
    const eddy_tensor most = Max(Abs(Cast(Abs(Sub(a, b)), EDDY_FLOAT64)));
    near(most, tolerance, 1, (double[]){ 0 });
}

static void check_factors(eddy_dtype d, int64_t m, int64_t n, bool full)
{
    const double tolerance = d == EDDY_FLOAT32 ? 2e-4 : 1e-12;
    eddy_graph *g = eddy_graph_new();
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(3, m, n));
    for (int64_t i = 0; i < 3 * m * n; i++) eddy_array_set(a, i, sin((double)(i * i + 3 * i)));
    const eddy_tensor x = eddy_constant(g, a, NULL), q = eddy_qr(x, .full_matrices = full);
    const eddy_tensor r = eddy_output(q, 1), s = eddy_svd(x, .full_matrices = full);
    const eddy_tensor u = eddy_output(s, 1), v = eddy_output(s, 2);
    same(MatMul(q, r), x, tolerance);
    same(r, eddy_triu(r, 0), 0);
    same(MatMul(q, q, .transpose_a = true),
         eddy_matrix_band_part(OnesLike(MatMul(q, q, .transpose_a = true)), 0, 0), tolerance);
    same(MatMul(u, u, .transpose_a = true),
         eddy_matrix_band_part(OnesLike(MatMul(u, u, .transpose_a = true)), 0, 0), tolerance);
    same(MatMul(v, v, .transpose_a = true),
         eddy_matrix_band_part(OnesLike(MatMul(v, v, .transpose_a = true)), 0, 0), tolerance);
    const int64_t k = m < n ? m : n;
    const eddy_dims begin = EDDY_DIMS(0, 0, 0);
    const eddy_tensor left = eddy_slice(u, begin, EDDY_DIMS(3, m, k));
    const eddy_tensor right = eddy_slice(v, begin, EDDY_DIMS(3, n, k));
    same(MatMul(Mul(left, ExpandDims(s, 1)), right, .transpose_b = true), x, tolerance);
    fits(g);
    eddy_array_free(a);
    eddy_graph_free(g);
}

START_TEST(factors)
{
    static const int64_t sizes[][2] = { { 1, 1 }, { 5, 5 }, { 7, 3 }, { 3, 8 }, { 40, 33 },
                                        { 0, 3 }, { 4, 0 }, { 1, 6 }, { 130, 20 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int how = 0; how < 4; how++)
            check_factors(how & 1 ? EDDY_FLOAT32 : EDDY_FLOAT64, sizes[i][0], sizes[i][1], how & 2);
}
END_TEST

/* Hermitian and general systems in each element type: x' x + 3 and x. */
static void check_systems(eddy_dtype d, int64_t n)
{
    const bool   single = d == EDDY_FLOAT32 || d == EDDY_COMPLEX64;
    const double tolerance = single ? 2e-3 : 1e-11;
    eddy_graph *g = eddy_graph_new();
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(2, n, n));
    eddy_array *b = eddy_array_new(d, EDDY_SHAPE(n, 3));
    for (int64_t i = 0; i < 2 * n * n; i++) {
        eddy_array_set(a, i, sin((double)(i * i)));
        eddy_array_set_complex(a, i, sin((double)(i * i)), cos((double)(i * i * 3)));
    }
    for (int64_t i = 0; i < 3 * n; i++) eddy_array_set(b, i, cos((double)i));
    const eddy_tensor plain_x = eddy_constant(g, a, NULL), rhs = eddy_constant(g, b, NULL);
    const eddy_tensor one = eddy_matrix_band_part(OnesLike(plain_x), 0, 0);
    const eddy_tensor x = Add(plain_x, Mul(one, (double)n));
    const eddy_tensor h = Add(MatMul(plain_x, plain_x, .adjoint_b = true), Mul(3, one));
    const eddy_tensor l = eddy_cholesky(h), e = eddy_eigh(h), v = eddy_output(e, 1);
    same(Div(MatMul(l, l, .adjoint_b = true), (double)n), Div(h, (double)n), tolerance);
    same(MatMul(h, eddy_cholesky_solve(l, rhs)), BroadcastLike(rhs, MatMul(h, rhs)), tolerance);
    same(MatMul(x, eddy_solve(x, rhs)), BroadcastLike(rhs, MatMul(x, rhs)), tolerance);
    same(MatMul(x, eddy_solve(x, rhs, .adjoint = true), .adjoint_a = true),
         BroadcastLike(rhs, MatMul(x, rhs)), tolerance);
    same(MatMul(x, eddy_inverse(x)), one, tolerance);
    same(Div(MatMul(h, v), (double)n), Div(Mul(v, ExpandDims(e, 1)), (double)n), tolerance);
    same(MatMul(v, v, .adjoint_a = true), one, tolerance);
    same(Div(Real(eddy_logdet(h)), (double)n), Div(Sum(Log(Real(e)), EDDY_AXES(-1)), (double)n),
         tolerance);
    fits(g);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_graph_free(g);
}

START_TEST(systems)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX64,
                                         EDDY_COMPLEX128 };
    static const int64_t sizes[] = { 1, 2, 5, 70 };
    for (int i = 0; i < 4; i++) check_systems(dtypes[_i], sizes[i]);
}
END_TEST

START_TEST(corners)
{
    const double nan_ = (double)NAN;
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor bad = matrix(g, 2, 2, (double[]){ 1, nan_, nan_, 1 });
    NEAR(eddy_cholesky(Mul(bad, bad)), 1, 0, nan_, nan_);
    NEAR(eddy_svd(bad), nan_, nan_);
    NEAR(eddy_eigvalsh(bad), nan_, nan_);
    NEAR(eddy_pinv(bad), nan_, nan_, nan_, nan_);
    NEAR(eddy_matrix_exp(bad), nan_, nan_, nan_, nan_);
    NEAR(eddy_det(matrix(g, 2, 2, (double[]){ 1, 2, 2, 4 })), 0);
    const eddy_tensor flat = matrix(g, 2, 2, (double[]){ 0, 0, 0, 4 });
    NEAR(eddy_output(eddy_slogdet(flat), 1), -(double)INFINITY);
    NEAR(eddy_slogdet(flat), 0);
    NEAR(eddy_det(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 0, 0))), 1, 1);
    NEAR(eddy_pinv(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 1))), 0, 0);
    /* No matrices take no memory, however large they are. */
    const eddy_tensor none = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0, 200000, 200000));
    const eddy_tensor flat_none = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0, 20000, 20000));
    const eddy_tensor of_none[] = {
        eddy_det(none), eddy_inverse(none), eddy_cholesky(none), eddy_qr(none),
        eddy_svd(none, .no_uv = true), eddy_eigvalsh(none), eddy_matrix_exp(none),
        eddy_svd(flat_none), eddy_pinv(flat_none), eddy_eigh(flat_none),
        eddy_matrix_diag_part(none, EDDY_DIMS(-199999, 199999)),
    };
    for (size_t i = 0; i < sizeof of_none / sizeof *of_none; i++) near(of_none[i], 0, 0, NULL);
    /* Far beyond the range of the determinant. */
    NEAR(eddy_output(eddy_slogdet(matrix(g, 2, 2, (double[]){ 1e200, 0, 0, 1e200 })), 1),
         400 * log(10));
    NEAR(eddy_matrix_exp(matrix(g, 2, 2, (double[]){ 0, 1e-9, 0, 0 })), 1, 1e-9, 0, 1);
    /* Equal eigenvalues: their gradient is finite, and that of a matrix of them is exact. */
    const eddy_tensor one = matrix(g, 2, 2, (double[]){ 1, 0, 0, 1 });
    NEAR(eddy_gradient(Sum(Square(eddy_eigvalsh(one))), one), 2, 0, 0, 2);
    NEAR(eddy_gradient(Sum(eddy_svd(one)), one), 1, 0, 0, 1);
    fits(g);
    eddy_graph_free(g);
}
END_TEST

/* The matrix that a run cannot do is named by its number. */
/* The cofactors of x [3,3], and their derivative along h, from the formula. */
static void cofactors(const double *x, const double *h, double *c, double *dc)
{
    for (int i = 0; i < 9; i++) {
        const int r = (i / 3 + 1) % 3 * 3, s = (i / 3 + 2) % 3 * 3, p = (i + 1) % 3,
                  q = (i + 2) % 3;
        c[i] = x[r + p] * x[s + q] - x[r + q] * x[s + p];
        dc[i] = h[r + p] * x[s + q] - h[r + q] * x[s + p] + x[r + p] * h[s + q] -
                x[r + q] * h[s + p];
    }
}

/* Of the ranks 2, 2 without a pivot of exactly 0, 1, 0 and 3; in the middle of a batch too. */
START_TEST(singular_determinants)
{
    static const double of[5][9] = {
        { 1, 2, 3, 2, 4, 6, 1, 0, 5 }, { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 },
        { 1, 2, 3, 2, 4, 6, 3, 6, 9 }, { 0 }, { 2, 1, 0, 1, 3, 1, 0, 1, 4 } };
    static const double h[9] = { 1, -2, 0.5, 3, 1, -1, 0.25, 2, -3 };
    eddy_graph *g = eddy_graph_new();
    double c[9], dc[9], all[45];
    const eddy_tensor along = matrix(g, 3, 3, h);
    for (int i = 0; i < 5; i++) {
        const eddy_tensor x = matrix(g, 3, 3, of[i]), y = eddy_det(x);
        const eddy_tensor slope = eddy_gradient(y, x);
        cofactors(of[i], h, c, dc);
        near(slope, 1e-13, 9, c);
        near(eddy_gradient(Sum(Mul(slope, along)), x), 1e-13, 9, dc);
        if (i < 4) near(eddy_gradient(Square(y), x), 1e-13, 9, (double[9]){ 0 });
        memcpy(all + 9 * i, c, sizeof c);
    }
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(5, 3, 3), of);
    near(eddy_gradient(Sum(eddy_det(x)), x), 1e-13, 45, all);
    const eddy_tensor z = eddy_cast(x, EDDY_COMPLEX128);
    near(Real(eddy_gradient(Sum(Real(eddy_det(z))), z)), 1e-13, 45, all);
    const eddy_tensor one = matrix(g, 1, 1, (double[]){ 0 });
    NEAR(eddy_gradient(eddy_det(one), one), 1);
    const eddy_tensor third = eddy_gradient(Sum(Mul(eddy_gradient(Sum(Mul(eddy_gradient(
        eddy_det(x), x), along)), x), along)), x);
    refuses(third, "Input matrix is not invertible: matrix ");
    eddy_graph_free(g);
}
END_TEST

/* The sum of squares of eigenvalues, and of singular values, is that of the elements of x. */
START_TEST(second_derivatives)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor at[] = { matrix(g, 2, 2, (double[]){ 1, 0, 0.5, 3 }),
                               matrix(g, 2, 2, (double[]){ 2, 0, 0, 2 }) };
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = at[i], e = eddy_eigvalsh(x), s = eddy_svd(x);
        const eddy_tensor de = eddy_gradient(Sum(Square(e)), x);
        const eddy_tensor ds = eddy_gradient(Sum(Square(s)), x);
        const eddy_tensor dde = eddy_gradient(Sum(de), x), dds = eddy_gradient(Sum(ds), x);
        NEAR(eddy_gradient(Sum(eddy_gradient(Sum(e), x)), x), 0, 0, 0, 0);
        if (i == 0) {
            NEAR(dde, 2, 0, 4, 2);
            NEAR(dds, 2, 2, 2, 2);
        } else {
            fails_with(dde, EDDY_CHECK_FAILED,
                       "eigh: a second derivative is not computed where eigenvalues are equal");
            fails_with(dds, EDDY_CHECK_FAILED,
                       "svd: a second derivative is not computed where singular values are equal");
        }
    }
    /* The derivative of the sum of singular values is u v', that of an element off the diagonal by
     * itself 1 / (s0 + s1). */
    const eddy_tensor off = eddy_index(eddy_gradient(Sum(eddy_svd(at[1])), at[1]), "0, 1");
    NEAR(eddy_gradient(off, at[1]), 0, 0.25, -0.25, 0);
    /* The derivative along a direction is a first derivative, although two sweeps compute it. */
    eddy_tensor along[1];
    const eddy_tensor x = at[1], direction = matrix(g, 2, 2, (double[]){ 1, 2, 3, 5 });
    eddy_jvp(EDDY_LIST(Sum(Square(eddy_eigvalsh(x)))), EDDY_LIST(x), EDDY_LIST(direction), along);
    NEAR(along[0], 24);
    fits(g);
    eddy_graph_free(g);
}
END_TEST

START_TEST(refusals)
{
    eddy_graph *g = eddy_graph_new();
    const double two[] = { 1, 0, 0, 1, 1, 2, 2, 4 };
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2, 2, 2), two);
    refuses(eddy_inverse(x), "Input is not invertible: matrix 1 has");
    refuses(eddy_solve(x, x), "Input matrix is not invertible: matrix 1 has");
    refuses(eddy_triangular_solve(Sub(x, OnesLike(x)), x), "matrix 0 has a pivot of 0");
    refuses(eddy_cholesky(Neg(x)), "Cholesky decomposition was not successful");
    eddy_svd(eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(2, 2)));
    fails(g, EDDY_BAD_DTYPE, "x is complex64; float32 or float64 expected");
    eddy_qr(eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(2, 2)));
    fails(g, EDDY_BAD_DTYPE, "x is int32; float32 or float64 expected");
    const eddy_tensor q = eddy_qr(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3, 2)),
                                  .full_matrices = true);
    eddy_gradient(Sum(q), eddy_input(q, 0));
    fails(g, EDDY_NO_GRADIENT, "Qr with full_matrices");
    eddy_graph_free(g);
}
END_TEST

/* The same bits on one thread and on three. */
START_TEST(threads)
{
    eddy_graph *g = eddy_graph_new();
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(64, 24, 24)), *got[2];
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, sin((double)(i * i)));
    const eddy_tensor x = eddy_constant(g, a, NULL);
    const eddy_tensor y = Add(eddy_solve(x, x), eddy_output(eddy_svd(x), 1));
    for (int i = 0; i < 2; i++) {
        eddy_session *s = eddy_session_new(g, .threads = 1 + 2 * i);
        got[i] = eddy_fetch(s, y);
        ck_assert_ptr_nonnull(got[i]);
        eddy_session_free(s);
    }
    ck_assert(eddy_array_equal(got[0], got[1]));
    eddy_array_free(got[0]);
    eddy_array_free(got[1]);
    eddy_array_free(a);
    eddy_graph_free(g);
}
END_TEST

Suite *linear_suite(void)
{
    Suite *s = suite_create("linear");
    TCase *c = tcase_create("decompositions");
    tcase_add_test(c, against_numpy);
    tcase_add_test(c, norms);
    tcase_add_test(c, factors);
    tcase_add_loop_test(c, systems, 0, 4);
    tcase_add_test(c, corners);
    tcase_add_test(c, singular_determinants);
    tcase_add_test(c, second_derivatives);
    tcase_add_test(c, refusals);
    tcase_add_test(c, threads);
    tcase_add_loop_test(c, one_thread_for_lapack, 0, 20);
    suite_add_tcase(s, c);
    return s;
}
