/* test_complex.c -- complex64 and complex128: values of every operation against C's functions,
 * casts, real and imaginary parts, files, and TensorFlow's convention for gradients;
 * test_complex_sweep.c tests the remaining gradients. */
#include "ops/kernels/elementwise/complex_numbers.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"
#include "graph/files/safetensors.h"

Suite *complex_suite(void);

static eddy_graph *g;

static void setup(void) { ck_assert_ptr_nonnull(g = eddy_graph_new()); }
static void teardown(void) { eddy_graph_free(g); }

/* ---------------------------------------------------------------------- tools -- */

enum { N = 12 };

/* In each quadrant, on the axes, and 0. */
static const double complex points[N] = {
    1 + 2 * I, -1 + 0.5 * I, 0.25 - 3 * I, -2 - 0.75 * I, 0.5, 2 * I,
    -0.5 * I, 3, 1e-9 + 2e-9 * I, -0.9 + 0.1 * I, 0.7 + 0.7 * I, 0,
};
static const double complex others[N] = {
    2 - 1 * I, 0.5 + 0.5 * I, -1 - 1 * I, 3, -0.25 * I, 1 + 1 * I,
    2 + 0.1 * I, -1 + 2 * I, 1, 0.3 - 0.3 * I, 0, 2,
};

static eddy_tensor complex_vector(eddy_dtype d, int n, const double complex *v)
{
    float complex narrow[N];
    if (d == EDDY_COMPLEX128) return eddy_const(g, d, EDDY_SHAPE(n), v);
    for (int i = 0; i < n; i++) narrow[i] = (float complex)v[i];
    return eddy_const(g, d, EDDY_SHAPE(n), narrow);
}

static eddy_array *value_of(eddy_tensor t)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = NULL;
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), &a) == EDDY_OK, "%s",
                  eddy_session_message(s));
    eddy_session_free(s);
    return a;
}

static bool near(double got, double want, double tolerance)
{
    return got == want || (isnan(got) && isnan(want)) ||
           fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

/* t has these values, and is of the type or, if real, of its parts. */
static void is_complex(const char *what, eddy_tensor t, int n, const double complex *want)
{
    eddy_array  *a = value_of(t);
    const double tolerance = eddy_dtype_real(eddy_array_dtype(a)) == EDDY_FLOAT32 ? 2e-6 : 1e-14;
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++) {
        const double re = eddy_array_get(a, i), im = eddy_array_get_imag(a, i);
        ck_assert_msg(near(re, creal(want[i]), tolerance) && near(im, cimag(want[i]), tolerance),
                      "%s %s: element %d is %.17g %+.17gi, not %.17g %+.17gi",
                      eddy_dtype_name(eddy_array_dtype(a)), what, i, re, im, creal(want[i]),
                      cimag(want[i]));
    }
    eddy_array_free(a);
}
#define IS(t, ...)                                                              \
    is_complex(#t, t, (int)(sizeof((double complex[]){ __VA_ARGS__ }) / sizeof(double complex)), \
               (const double complex[]){ __VA_ARGS__ })

/* --------------------------------------------------------------------- values -- */

typedef double complex unary_fn(double complex);
typedef double complex binary_fn(double complex, double complex);

static double complex c_neg(double complex x) { return -x; }
static double complex c_square(double complex x) { return x * x; }
static double complex c_reciprocal(double complex x) { return 1 / x; }
static double complex c_rsqrt(double complex x) { return 1 / csqrt(x); }
static double complex c_sigmoid(double complex x) { return 1 / (1 + cexp(-x)); }
static double complex c_abs(double complex x) { return cabs(x); }
static double complex c_angle(double complex x) { return carg(x); }
static double complex c_real(double complex x) { return creal(x); }
static double complex c_imag(double complex x) { return cimag(x); }
static double complex c_sign(double complex x) { return x == 0 ? 0 : x / cabs(x); }
static double complex c_expm1(double complex x) { return cexp(x) - 1; }
static double complex c_log1p(double complex x) { return clog(1 + x); }

static double complex c_add(double complex a, double complex b) { return a + b; }
static double complex c_sub(double complex a, double complex b) { return a - b; }
static double complex c_mul(double complex a, double complex b) { return a * b; }
static double complex c_div(double complex a, double complex b) { return a / b; }
static double complex c_div_no_nan(double complex a, double complex b)
{
    return b == 0 ? 0 : a / b;
}
static double complex c_xlogy(double complex a, double complex b)
{
    return a == 0 ? 0 : a * clog(b);
}
static double complex c_xdivy(double complex a, double complex b) { return a == 0 ? 0 : a / b; }
static double complex c_distance(double complex a, double complex b)
{
    return (a - b) * conj(a - b);
}
static double complex c_pow(double complex a, double complex b)
{
    return b == 0 ? 1 : a == 0 && creal(b) > 0 ? 0 : cpow(a, b);
}
static double complex c_equal(double complex a, double complex b) { return a == b; }
static double complex c_not_equal(double complex a, double complex b) { return a != b; }

static const struct {
    const char *name;
    eddy_tensor (*op)(eddy_tensor);
    unary_fn    *c;
    bool         pole_at_0;
} unary[] = {
    { "neg", eddy_neg, c_neg, false },       { "square", eddy_square, c_square, false },
    { "reciprocal", eddy_reciprocal, c_reciprocal, true },
    { "sqrt", eddy_sqrt, csqrt, false },     { "rsqrt", eddy_rsqrt, c_rsqrt, true },
    { "exp", eddy_exp, cexp, false },        { "log", eddy_log, clog, true },
    { "sin", eddy_sin, csin, false },        { "cos", eddy_cos, ccos, false },
    { "tanh", eddy_tanh, ctanh, false },     { "sigmoid", eddy_sigmoid, c_sigmoid, false },
    { "conj", eddy_conj, conj, false },      { "abs", eddy_abs, c_abs, false },
    { "angle", eddy_angle, c_angle, false }, { "real", eddy_real, c_real, false },
    { "imag", eddy_imag, c_imag, false },    { "sign", eddy_sign, c_sign, false },
    { "expm1", eddy_expm1, c_expm1, false }, { "log1p", eddy_log1p, c_log1p, false },
};

START_TEST(unary_values)
{
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
        double complex want[N];
        const int n = unary[k].pole_at_0 ? N - 1 : N;
        for (int i = 0; i < n; i++) want[i] = unary[k].c(points[i]);
        is_complex(unary[k].name, unary[k].op(complex_vector(EDDY_COMPLEX128, n, points)), n, want);
        for (int i = 0; i < n; i++) want[i] = unary[k].c((float complex)points[i]);
        is_complex(unary[k].name, unary[k].op(complex_vector(EDDY_COMPLEX64, n, points)), n, want);
    }
}
END_TEST

static const struct {
    const char *name;
    eddy_tensor (*op)(eddy_tensor, eddy_tensor);
    binary_fn   *c;
    int          n;              /* of the points; the later ones are poles */
} binary[] = {
    { "add", eddy_add, c_add, N },      { "sub", eddy_sub, c_sub, N },
    { "mul", eddy_mul, c_mul, N },      { "div", eddy_div, c_div, N - 2 },
    { "div_no_nan", eddy_div_no_nan, c_div_no_nan, N },
    { "mul_no_nan", eddy_mul_no_nan, c_mul, N },
    { "xlogy", eddy_xlogy, c_xlogy, N - 2 }, { "xdivy", eddy_xdivy, c_xdivy, N - 2 },
    { "squared_difference", eddy_squared_difference, c_distance, N },
    { "pow", eddy_pow, c_pow, N },      { "equal", eddy_equal, c_equal, N },
    { "not_equal", eddy_not_equal, c_not_equal, N },
};

START_TEST(binary_values)
{
    const eddy_dtype dtypes[] = { EDDY_COMPLEX128, EDDY_COMPLEX64 };
    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++)
        for (int d = 0; d < 2; d++) {
            const int n = binary[k].n;
            double complex want[N];
            for (int i = 0; i < n; i++)
                want[i] = d == 0 ? binary[k].c(points[i], others[i])
                                 : binary[k].c((float complex)points[i], (float complex)others[i]);
            const eddy_tensor y = binary[k].op(complex_vector(dtypes[d], n, points),
                                               complex_vector(dtypes[d], n, others));
            is_complex(binary[k].name, y, n, want);
        }
}
END_TEST

START_TEST(corners)
{
    const double complex zero[] = { 0 }, one[] = { 1 + I }, infinite[] = { INFINITY };
    const double complex tiny[] = { 1e-12 + 1e-12 * I };
    const eddy_tensor o = complex_vector(EDDY_COMPLEX128, 1, zero);
    const eddy_tensor x = complex_vector(EDDY_COMPLEX128, 1, one);
    const eddy_tensor big = complex_vector(EDDY_COMPLEX128, 1, infinite);
    const eddy_tensor small = complex_vector(EDDY_COMPLEX128, 1, tiny);
    IS(DivNoNan(x, o), 0);
    IS(MulNoNan(big, o), 0);
    IS(Xlogy(o, o), 0);
    IS(Xdivy(o, o), 0);
    IS(Pow(o, 0), 1);
    IS(Pow(o, 2), 0);
    IS(Sign(o), 0);
    IS(Angle(o), 0);
    IS(Complex(Real(x), Real(big)), eddy__c128(1, INFINITY));
    /* Where the plain formulas lose all digits. */
    eddy_array *a = value_of(Expm1(small)), *b = value_of(Log1p(small));
    ck_assert_double_eq_tol(eddy_array_get(a, 0), 1e-12, 1e-23);
    ck_assert_double_eq_tol(eddy_array_get_imag(a, 0), 1e-12, 1e-23);
    ck_assert_double_eq_tol(eddy_array_get(b, 0), 1e-12, 1e-23);
    ck_assert_double_eq_tol(eddy_array_get_imag(b, 0), 1e-12, 1e-23);
    eddy_array_free(a);
    eddy_array_free(b);
}
END_TEST

START_TEST(reductions_and_arrays)
{
    const double complex v[] = { 1 + 2 * I, -1 + I, 3, 2 - I, I, 1 - I };
    for (int d = 0; d < 2; d++) {
        const eddy_tensor x = Reshape(complex_vector(d ? EDDY_COMPLEX64 : EDDY_COMPLEX128, 6, v),
                                      EDDY_SHAPE(2, 3));
        IS(Sum(x), 6 + 2 * I);
        IS(Sum(x, .axes = EDDY_AXES(0)), 3 + I, -1 + 2 * I, 4 - I);
        IS(Mean(x, .axes = EDDY_AXES(1)), (v[0] + v[1] + v[2]) / 3, (v[3] + v[4] + v[5]) / 3);
        IS(Prod(x), v[0] * v[1] * v[2] * v[3] * v[4] * v[5]);
        IS(Cumsum(x, 1), v[0], v[0] + v[1], v[0] + v[1] + v[2], v[3], v[3] + v[4],
           v[3] + v[4] + v[5]);
        IS(Cumprod(x, 0), v[0], v[1], v[2], v[0] * v[3], v[1] * v[4], v[2] * v[5]);
        IS(Transpose(x), v[0], v[3], v[1], v[4], v[2], v[5]);
        IS(eddy_concat(EDDY_LIST(x, x), 0), v[0], v[1], v[2], v[3], v[4], v[5], v[0], v[1], v[2],
           v[3], v[4], v[5]);
        IS(eddy_slice(x, EDDY_DIMS(0, 1), EDDY_DIMS(2, 1)), v[1], v[4]);
        IS(Gather(x, eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), &(int32_t){ 1 })), v[3], v[4], v[5]);
        IS(eddy_pad(x, EDDY_DIMS(0, 1), EDDY_DIMS(0, 0), .value = 7), 7, v[0], v[1], v[2], 7, v[3],
           v[4], v[5]);
        IS(eddy_add_n(EDDY_LIST(x, x, x), NULL), 3 * v[0], 3 * v[1], 3 * v[2], 3 * v[3], 3 * v[4],
           3 * v[5]);
        IS(OnesLike(Gather(x, eddy_number(g, EDDY_INT32, 0))), 1, 1, 1);
        IS(eddy_ones(g, eddy_dtype_of(x), EDDY_SHAPE(2)), 1, 1);
        IS(eddy_one_hot(eddy_number(g, EDDY_INT32, 1), 2, .dtype = eddy_dtype_of(x)), 0, 1);
        IS(Where(Equal(x, 3), x, 0), 0, 0, v[2], 0, 0, 0);
    }
}
END_TEST

START_TEST(matrix_products)
{
    const double complex v[] = { 1 + 2 * I, -1 + I, 3, 2 - I, I, 1 - I };
    for (int d = 0; d < 2; d++) {
        const eddy_tensor x = complex_vector(d ? EDDY_COMPLEX64 : EDDY_COMPLEX128, 6, v);
        const eddy_tensor a = Reshape(x, EDDY_SHAPE(2, 3)), b = Reshape(x, EDDY_SHAPE(3, 2));
        double complex ab[4], aa[4];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                ab[2 * i + j] = aa[2 * i + j] = 0;
                for (int k = 0; k < 3; k++) {
                    ab[2 * i + j] += v[3 * i + k] * v[2 * k + j];
                    aa[2 * i + j] += v[3 * i + k] * conj(v[3 * j + k]);
                }
            }
        is_complex("a b", MatMul(a, b), 4, ab);
        is_complex("a'' b''", MatMul(Transpose(a), Transpose(b), .transpose_a = true,
                                     .transpose_b = true), 4, ab);
        is_complex("a adj(a)", MatMul(a, a, .adjoint_b = true), 4, aa);
        IS(BiasAdd(b, complex_vector(eddy_dtype_of(b), 2, v)), v[0] + v[0], v[1] + v[1],
           v[2] + v[0], v[3] + v[1], v[4] + v[0], v[5] + v[1]);
    }
    const eddy_tensor m = eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(2, 2));
    MatMul(m, m, .transpose_a = true, .adjoint_a = true);
    fails(g, EDDY_INVALID_ARGUMENT, "Only one of transpose_a and adjoint_a can be True.");
}
END_TEST

/* -------------------------------------------------------------- types and parts -- */

START_TEST(casts)
{
    const double complex v[] = { 1.75 - 2 * I, -3 + 1e10 * I, 5 * I };
    const eddy_tensor x = complex_vector(EDDY_COMPLEX128, 3, v);
    const eddy_dtype real_types[] = { EDDY_FLOAT32, EDDY_FLOAT64 };
    for (int i = 0; i < 2; i++) {
        IS(Cast(x, real_types[i]), 1.75, -3, 0);
        IS(Cast(Cast(x, real_types[i]), EDDY_COMPLEX64), 1.75, -3, 0);
    }
    IS(Cast(x, EDDY_INT32), 1, -3, 0);
    IS(Cast(x, EDDY_INT64), 1, -3, 0);
    IS(Cast(x, EDDY_UINT8), 1, 0, 0);
    IS(Cast(x, EDDY_BOOL), 1, 1, 0);
    IS(Cast(x, EDDY_COMPLEX64), v[0], v[1], v[2]);
    IS(Cast(Equal(x, x), EDDY_COMPLEX128), 1, 1, 1);
    IS(Cast(eddy_number(g, EDDY_INT64, -7), EDDY_COMPLEX64), -7);
    ck_assert(eddy_same(Cast(x, EDDY_COMPLEX128), x));
}
END_TEST

/* Functions of complex numbers add no nodes for real tensors, so real models keep their graphs. */
START_TEST(parts_of_real_tensors)
{
    const eddy_tensor x = vector(g, 2, (const double[]){ -1, 2 });
    const int32_t size = eddy_graph_size(g);
    ck_assert(eddy_same(eddy_conj(x), x) && eddy_same(eddy_real(x), x));
    ck_assert_int_eq(eddy_graph_size(g), size);
    has_value(eddy_imag(x), 2, (const double[]){ 0, 0 });
    has_value(eddy_angle(x), 2, (const double[]){ acos(-1), 0 });
    has_value(eddy_abs(x), 2, (const double[]){ 1, 2 });
    ck_assert_str_eq(eddy_type_of(eddy_abs(x)), "Abs");
    const eddy_tensor z = eddy_complex(x, x);
    ck_assert_str_eq(eddy_type_of(eddy_abs(z)), "ComplexAbs");
    ck_assert_int_eq(eddy_dtype_of(z), EDDY_COMPLEX128);
    ck_assert_int_eq(eddy_dtype_of(eddy_abs(Cast(z, EDDY_COMPLEX64))), EDDY_FLOAT32);
}
END_TEST

START_TEST(refusals)
{
    const eddy_tensor z = eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(2));
    const eddy_tensor w = eddy_zeros(g, EDDY_COMPLEX128, EDDY_SHAPE(2));
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor b = Equal(x, x);
    eddy_tensor (*const ordered[])(eddy_tensor, eddy_tensor) = {
        eddy_less, eddy_less_equal, eddy_greater, eddy_greater_equal, eddy_maximum, eddy_minimum,
        eddy_floordiv, eddy_floormod,
    };
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
        ordered[i](z, z);
        fails(g, EDDY_BAD_DTYPE, "complex64");
    }
    eddy_tensor (*const parts[])(eddy_tensor) = { eddy_conj, eddy_real, eddy_imag, eddy_angle };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i](b);
        fails(g, EDDY_BAD_DTYPE, "bool");
    }
    Add(z, w);
    fails(g, EDDY_BAD_DTYPE, "b is complex128, but a is complex64");
    Max(z);
    fails(g, EDDY_BAD_DTYPE, "complex64");
    eddy_complex(z, z);
    fails(g, EDDY_BAD_DTYPE, "complex64");
    eddy_complex(x, Cast(x, EDDY_FLOAT64));
    fails(g, EDDY_BAD_DTYPE, "imag is float64, but real is float32");
    eddy_angle(Cast(x, EDDY_INT32));
    fails(g, EDDY_BAD_DTYPE, "int32");
    ck_assert(!eddy_is_valid(eddy_conj((eddy_tensor)EDDY_ZERO_TENSOR)));
}
END_TEST

START_TEST(elements)
{
    char text[128];
    float complex two[] = { 1 + 2 * I, -0.5 * I };
    eddy_array *a = eddy_array_borrow(EDDY_COMPLEX64, EDDY_SHAPE(2), two);
    ck_assert_double_eq(eddy_array_get(a, 0), 1);
    ck_assert_double_eq(eddy_array_get_imag(a, 0), 2);
    ck_assert_str_eq(eddy_array_print(a, 9, text, sizeof text), "[(1,2), (-0,-0.5)]");
    ck_assert(eddy_array_set_complex(a, 1, 3, 4) && two[1] == 3 + 4 * I);
    ck_assert(eddy_array_set(a, 1, 5) && two[1] == 5);
    ck_assert(!eddy_array_set_complex(a, 2, 3, 4) && isnan(eddy_array_get_imag(a, 2)));
    eddy_array *r = eddy_array_of(EDDY_INT32, 7);
    ck_assert_double_eq(eddy_array_get_imag(r, 0), 0);
    ck_assert(!eddy_array_set_complex(r, 0, 1, 0) && isnan(eddy_array_get_imag(NULL, 0)));
    ck_assert_int_eq(eddy_dtype_real(EDDY_COMPLEX64), EDDY_FLOAT32);
    ck_assert_int_eq(eddy_dtype_real(EDDY_BOOL), EDDY_BOOL);
    eddy_array_free(r);
    eddy_array_free(a);
}
END_TEST

static void keep_line(void *user, const char *line) { snprintf(user, 100, "%s", line); }

START_TEST(printing)
{
    char line[100] = "";
    const double complex v[] = { 1 + 2 * I, -0.5 };
    for (int d = 0; d < 2; d++) {
        const eddy_tensor x = complex_vector(d ? EDDY_COMPLEX64 : EDDY_COMPLEX128, 2, v);
        eddy_array_free(value_of(eddy_print(x, .write = keep_line, .user = line)));
        ck_assert_msg(strstr(line, "[(1,2) (-0.5,0)]"), "%s", line);
    }
}
END_TEST

/* ------------------------------------------------------------------- gradients -- */

/* G-35, and the convention: df/dRe + i df/dIm of a real f, conj(f') of others. */
START_TEST(conventions)
{
    const double complex v[] = { 7 + 3 * I };
    const eddy_tensor x = complex_vector(EDDY_COMPLEX64, 1, v), y = Square(x);
    eddy_tensor dx;
    ck_assert(!eddy_is_valid(eddy_gradient(y, x)));
    fails(g, EDDY_BAD_DTYPE,
          "Gradients of complex tensors must set grad_ys (y.dtype = complex64)");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, .grad_ys = EDDY_LIST(OnesLike(y)));
    IS(dx, 14 - 6 * I);
    IS(eddy_gradient(Abs(x), x), v[0] / cabs(v[0]));
    IS(eddy_gradient(Square(Abs(x)), x), 2 * v[0]);
    IS(eddy_gradient(Real(x), x), 1);
    IS(eddy_gradient(Imag(x), x), I);
    IS(eddy_gradient(Real(Mul(x, Conj(x))), x), 2 * v[0]);
    IS(eddy_gradient(Angle(x), x), I * v[0] / (58.));
    IS(eddy_gradient(Cast(y, EDDY_FLOAT32), x), 14 - 6 * I);
    /* Only the real part of a gradient flows to a real input. */
    const eddy_tensor a = eddy_scalar(g, 2);
    IS(eddy_gradient(Abs(Cast(a, EDDY_COMPLEX64)), a), 1);
    IS(eddy_gradient(Abs(Complex(a, a)), a), sqrt(2));
    /* Complex weights of a gradient must be complex. */
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, .grad_ys = EDDY_LIST(Real(OnesLike(y))));
    fails(g, EDDY_BAD_DTYPE, "it must be complex64[1], like ys[0]");
}
END_TEST

/* Where a derivative has a pole, 0 wins as it does for real types. */
START_TEST(gradient_corners)
{
    const double complex v[] = { 0 };
    const eddy_tensor x = complex_vector(EDDY_COMPLEX128, 1, v);
    IS(eddy_gradient(Abs(x), x), 0);
    IS(eddy_gradient(Mul(0, Real(Sqrt(x))), x), 0);
    IS(eddy_gradient(Real(Sign(x)), x), 0);
    IS(eddy_gradient(Real(Pow(x, 2)), x), 0);
    IS(eddy_gradient(Real(DivNoNan(1, x)), x), 0);
    const eddy_tensor b = complex_vector(EDDY_COMPLEX128, 1, v);
    IS(eddy_gradient(Real(Pow(x, Add(b, 1))), b), 0);
}
END_TEST

/* Compares first and second derivatives of y = f(x) with slope[i] and bend[i]. */
static void compare_derivatives(eddy_tensor y, eddy_tensor x, const double complex *slope,
                                const double complex *bend)
{
    const eddy_tensor first = eddy_gradient(Real(y), x);
    eddy_array *one = value_of(first), *two = value_of(eddy_gradient(Real(first), x));
    for (int i = 0; i < 3; i++) {
        const double complex s = eddy_array_get(one, i) - I * eddy_array_get_imag(one, i);
        const double complex b = eddy_array_get(two, i) - I * eddy_array_get_imag(two, i);
        ck_assert_double_le(cabs(s - slope[i]), 1e-12 * cabs(slope[i]));
        ck_assert_double_le(cabs(b - bend[i]), 1e-12 * cabs(bend[i]));
    }
    eddy_array_free(one);
    eddy_array_free(two);
}

/* The tangent is i there except for digits that it does not have; its slope is 1 / cos^2. */
START_TEST(tangents_far_from_the_real_axis)
{
    const double complex v[] = { 1 + 30 * I, -2 - 12 * I, 0.5 + 300 * I };
    double complex       slope[3], bend[3];
    for (int i = 0; i < 3; i++) {
        slope[i] = 1 / (ccos(v[i]) * ccos(v[i]));
        bend[i] = 2 * ctan(v[i]) * slope[i];
    }
    const eddy_tensor x = complex_vector(EDDY_COMPLEX128, 3, v);
    compare_derivatives(eddy_tan(x), x, slope, bend);
}
END_TEST

START_TEST(tanh_far_from_the_imaginary_axis)
{
    const double complex v[] = { 30 + I, -12 - 2 * I, 300 + 0.5 * I };
    double complex       slope[3], bend[3];
    for (int i = 0; i < 3; i++) {
        slope[i] = 1 / (ccosh(v[i]) * ccosh(v[i]));
        bend[i] = -2 * ctanh(v[i]) * slope[i];
    }
    const eddy_tensor x = complex_vector(EDDY_COMPLEX128, 3, v);
    compare_derivatives(eddy_tanh(x), x, slope, bend);
}
END_TEST

/* ----------------------------------------------------------------------- files -- */

START_TEST(graph_files_keep_complex_numbers)
{
    const double complex v[] = { 1 + 2 * I, -0.1, eddy__c128(INFINITY, -0.0) };
    const eddy_tensor x = complex_vector(EDDY_COMPLEX128, 3, v);
    complex_vector(EDDY_COMPLEX64, 2, v);
    eddy_real(eddy_conj(x));
    char       *text = eddy_graph_to_yaml(g);
    eddy_error  e = { 0 };
    ck_assert_msg(strstr(text, "values: [1, 2, -0.1"), "%s", text);
    eddy_graph *h = eddy_graph_load(.path = "x", .text = text, .error = &e);
    ck_assert_msg(h != NULL, "%s", e.message);
    char *again = eddy_graph_to_yaml(h);
    ck_assert_str_eq(text, again);
    ck_assert(eddy_array_equal(eddy_constant_value(eddy_node_at(h, 1)), eddy_constant_value(x)));
    eddy_string_free(text);
    eddy_string_free(again);
    eddy_graph_free(h);
}
END_TEST

START_TEST(safetensors_know_complex64)
{
    memory_files m;
    eddy_error   e = { 0 };
    eddy_array  *a = eddy_array_new(EDDY_COMPLEX64, EDDY_SHAPE(2));
    eddy_array_set_complex(a, 1, 3, -4);
    memory_files_init(&m);
    ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", 1, (const char *[]){ "z" },
                                             (const eddy_array *[]){ a }, 0, NULL, &e), EDDY_OK);
    const memory_content *c = memory_files_get(&m, "f");
    ck_assert(strstr((const char *)c->bytes + 8, "\"C64\"") != NULL);
    memory_files_free(&m);
    eddy_array_free(a);
}
END_TEST

START_TEST(checkpoints)
{
    memory_files m;
    memory_files_init(&m);
    eddy_graph_free(g);
    g = eddy_graph_new(.files = &m.table);
    const double complex v[] = { 1 + 2 * I, -3 };
    const eddy_tensor z = eddy_variable(g, .initial_value = complex_vector(EDDY_COMPLEX64, 2, v));
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_save(s, "model", EDDY_LIST(z)), EDDY_OK);
    runs(s, eddy_assign(z, ZerosLike(z)));
    ck_assert_int_eq(eddy_restore(s, "model", EDDY_LIST(z)), EDDY_OK);
    eddy_array *a = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(z), &a), EDDY_OK);
    ck_assert_double_eq(eddy_array_get_imag(a, 0), 2);
    ck_assert_double_eq(eddy_array_get(a, 1), -3);
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
    memory_files_free(&m);
    setup();
}
END_TEST

Suite *complex_suite(void)
{
    const TTest *const tests[] = {
        unary_values,
        binary_values,
        corners,
        reductions_and_arrays,
        matrix_products,
        casts,
        parts_of_real_tensors,
        refusals,
        elements,
        printing,
        conventions,
        gradient_corners,
        tangents_far_from_the_real_axis,
        tanh_far_from_the_imaginary_axis,
        graph_files_keep_complex_numbers,
        safetensors_know_complex64,
        checkpoints,
    };
    Suite *s = suite_create("complex");
    TCase *t = tcase_create("complex");
    tcase_add_checked_fixture(t, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(t, tests[i]);
    suite_add_tcase(s, t);
    return s;
}
