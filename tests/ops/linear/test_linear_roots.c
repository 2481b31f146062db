/* test_linear_roots.c -- matrix square roots, Sylvester's equation, tridiagonal systems and
 * solutions with LU factors, against formulas and loops in double precision. */
#include "tests/lib/element_checks.h"

#include <complex.h>

Suite *linear_roots_suite(void);

enum { MOST = 12 };
typedef double complex number;

static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX64, EDDY_COMPLEX128 };

static number at(const eddy_array *a, int64_t i)
{
    return eddy_array_get(a, i) + I * eddy_array_get_imag(a, i);
}

/* Numbers without a pattern, complex ones for a complex type. */
static eddy_tensor numbers(eddy_dtype d, eddy_shape s, double seed)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double re = sin(seed + 1.3 * (double)(i * i)), im = cos(seed + 0.7 * (double)i);
        eddy_array_set(a, i, re);
        if (eddy_dtype_is_complex(d)) eddy_array_set_complex(a, i, re, im);
    }
    eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

static eddy_tensor identity(eddy_dtype d, int64_t n, double v)
{
    return Mul(eddy_eye(g, n, n, d), v);
}

static void fetch(int n, const eddy_tensor *t, eddy_array **a)
{
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < n; i++) a[i] = NULL;
    ck_assert_msg(eddy_run(s, EDDY_FEED(), (eddy_list){ n, t }, a) == EDDY_OK, "%s",
                  eddy_session_message(s));
    eddy_session_free(s);
}

/* Both are the same to this part of the largest element. */
static void agree(const char *what, eddy_tensor x, eddy_tensor y, double part)
{
    eddy_array *a[2];
    double most = 1e-30;
    fetch(2, (eddy_tensor[]){ x, y }, a);
    ck_assert(eddy_shape_equal(eddy_array_shape(a[0]), eddy_array_shape(a[1])));
    for (int64_t i = 0; i < eddy_array_count(a[1]); i++) most = fmax(most, cabs(at(a[1], i)));
    for (int64_t i = 0; i < eddy_array_count(a[0]); i++)
        ck_assert_msg(cabs(at(a[0], i) - at(a[1], i)) <= part * most, "%s: %g%+gi, not %g%+gi",
                      what, creal(at(a[0], i)), cimag(at(a[0], i)), creal(at(a[1], i)),
                      cimag(at(a[1], i)));
    eddy_array_free(a[0]), eddy_array_free(a[1]);
}

static double accuracy(eddy_dtype d)
{
    return d == EDDY_FLOAT32 || d == EDDY_COMPLEX64 ? 2e-5 : 1e-12;
}

/* ------------------------------------------------------------------ roots -- */

/* Squares of the roots of matrices that have one; all eigenvalues of a root are on the right. */
START_TEST(squares_of_roots)
{
    const eddy_dtype d = types[_i % 4];
    const int64_t n = _i / 4;
    const eddy_tensor q = numbers(d, EDDY_SHAPE(3, n, n), 0.4);
    const eddy_tensor x = Add(MatMul(q, q), identity(d, n, 1.5 * (double)n));
    const eddy_tensor y = eddy_matrix_sqrt(x);
    agree("square", MatMul(y, y), x, accuracy(d) * (double)(n + 1));
    const eddy_tensor e = eddy_eigvals(y);
    eddy_array *a;
    fetch(1, &e, &a);
    for (int64_t i = 0; i < eddy_array_count(a); i++) ck_assert(eddy_array_get(a, i) > 0);
    eddy_array_free(a);
}
END_TEST

/* Of 2 by 2: (x + s 1) / t with s the root of the determinant and t that of trace + 2 s. */
START_TEST(roots_of_two_by_two)
{
    for (int i = 0; i < 8; i++) {
        const double a = 2 + 0.3 * i, b = sin(i), c = cos(3.0 * i), d = 1 + 0.5 * i;
        const double s = sqrt(a * d - b * c), t = sqrt(a + d + 2 * s);
        const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ a, b, c, d });
        agree("2 by 2", eddy_matrix_sqrt(x), shaped(F64, EDDY_SHAPE(2, 2), (double[]){
            (a + s) / t, b / t, c / t, (d + s) / t }), 1e-14);
    }
}
END_TEST

/* Turns by a quarter have a real root with complex eigenvalues; a reflection has none, its
 * complex one has; a matrix of rank one has a root, a nilpotent one has not. */
START_TEST(corners_of_roots)
{
    const double h = sqrt(0.5);
    const eddy_shape two = EDDY_SHAPE(2, 2);
    agree("turn", eddy_matrix_sqrt(shaped(F64, two, (double[]){ 0, -1, 1, 0 })),
          shaped(F64, two, (double[]){ h, -h, h, h }), 1e-14);
    agree("rank one", eddy_matrix_sqrt(shaped(F64, two, (double[]){ 2, 2, 2, 2 })),
          shaped(F64, two, (double[]){ 1, 1, 1, 1 }), 1e-7);
    agree("zeros", eddy_matrix_sqrt(shaped(F64, two, (double[]){ 0, 0, 0, 0 })),
          shaped(F64, two, (double[]){ 0, 0, 0, 0 }), 1e-14);
    const eddy_tensor flip = shaped(F64, two, (double[]){ -4, 0, 0, 9 });
    const eddy_tensor complex_root = eddy_matrix_sqrt(Cast(flip, EDDY_COMPLEX128));
    agree("complex", MatMul(complex_root, complex_root), Cast(flip, EDDY_COMPLEX128), 1e-14);
    const eddy_tensor none[] = {
        eddy_matrix_sqrt(flip), eddy_matrix_sqrt(shaped(F64, two, (double[]){ 0, 1, 0, 0 })),
        eddy_matrix_sqrt(shaped(F64, two, (double[]){ 1, INFINITY, 0, 1 })),
    };
    eddy_array *a[3];
    fetch(3, none, a);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 4; i++) ck_assert(isnan(eddy_array_get(a[k], i)));
        eddy_array_free(a[k]);
    }
}
END_TEST

/* ---------------------------------------------------------------- equations -- */

START_TEST(sylvester_equations)
{
    const eddy_dtype d = types[_i % 4];
    const int64_t m = 1 + _i / 4, n = 7 - m;
    const eddy_tensor a = Add(numbers(d, EDDY_SHAPE(2, m, m), 0.1), identity(d, m, (double)m + 1));
    const eddy_tensor b = Add(numbers(d, EDDY_SHAPE(2, n, n), 0.8), identity(d, n, (double)n));
    const eddy_tensor c = numbers(d, EDDY_SHAPE(2, m, n), 2.3);
    const eddy_tensor x = eddy_sylvester(a, b, c);
    agree("a x + x b", Add(MatMul(a, x), MatMul(x, b)), c, 20 * accuracy(d));
}
END_TEST

/* The same matrix in full, by places. */
static eddy_tensor in_full(eddy_tensor d, int64_t n)
{
    const eddy_dtype t = eddy_dtype_of(d);
    eddy_array *v, *full = eddy_array_new(t, EDDY_SHAPE(2, n, n));
    fetch(1, &d, &v);
    for (int64_t k = 0; k < 2; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const int64_t row = j - i == 1 ? 0 : j == i ? 1 : i - j == 1 ? 2 : -1;
                const number  x = row < 0 ? 0 : at(v, (k * 3 + row) * n + i);
                const int64_t to = (k * n + i) * n + j;
                if (eddy_dtype_is_complex(t)) eddy_array_set_complex(full, to, creal(x), cimag(x));
                else eddy_array_set(full, to, creal(x));
            }
    const eddy_tensor y = eddy_constant(g, full, NULL);
    eddy_array_free(v), eddy_array_free(full);
    return y;
}

START_TEST(three_diagonals)
{
    const eddy_dtype d = types[_i % 4];
    const int64_t n = 1 + _i / 4;
    const eddy_tensor t = numbers(d, EDDY_SHAPE(2, 3, n), 0.2), full = in_full(t, n);
    const eddy_tensor x = numbers(d, EDDY_SHAPE(2, n, 3), 1.1);
    agree("product", eddy_tridiagonal_matmul(t, x), MatMul(full, x), 20 * accuracy(d));
    agree("solution", MatMul(full, eddy_tridiagonal_solve(t, x)), x, 400 * accuracy(d));
}
END_TEST

/* Places that count for nothing may hold anything; a pivot of 0 is gone round. */
START_TEST(corners_of_diagonals)
{
    const eddy_tensor t = shaped(F64, EDDY_SHAPE(3, 3), (double[]){ 2, 1, NAN, 0, 0, 3,
                                                                    INFINITY, 4, 5 });
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(3, 1), (double[]){ 1, 2, 3 });
    agree("product", eddy_tridiagonal_matmul(t, x),
          shaped(F64, EDDY_SHAPE(3, 1), (double[]){ 4, 7, 19 }), 1e-14);
    agree("solution", eddy_tridiagonal_solve(t, eddy_tridiagonal_matmul(t, x)), x, 1e-13);
    const eddy_tensor dt = eddy_gradient(Sum(eddy_tridiagonal_solve(t, x)), t);
    eddy_array *a;
    fetch(1, &dt, &a);
    ck_assert(eddy_array_get(a, 2) == 0 && eddy_array_get(a, 6) == 0);
    eddy_array_free(a);
    /* Five diagonals, or of another length. */
    ck_assert(!eddy_is_valid(eddy_tridiagonal_matmul(eddy_ones(g, F64, EDDY_SHAPE(5, 3)), x)));
    eddy_graph_clear_error(g);
    ck_assert(!eddy_is_valid(eddy_tridiagonal_matmul(eddy_ones(g, F64, EDDY_SHAPE(3, 2)), x)));
    eddy_graph_clear_error(g);
}
END_TEST

START_TEST(of_factors)
{
    const eddy_dtype d = types[_i];
    const eddy_tensor x = Add(numbers(d, EDDY_SHAPE(2, 5, 5), 0.3), identity(d, 5, 2));
    const eddy_tensor lu = eddy_lu(x, EDDY_INT64), p = eddy_output(lu, 1);
    const eddy_tensor rhs = numbers(d, EDDY_SHAPE(2, 5, 3), 0.9);
    agree("lu_solve", MatMul(x, eddy_lu_solve(lu, p, rhs)), rhs, 50 * accuracy(d));
    agree("inverse", eddy_lu_matrix_inverse(lu, p), eddy_inverse(x), 50 * accuracy(d));
    /* The number of columns is that of rows. */
    const eddy_tensor open = eddy_placeholder(g, NULL, d, EDDY_SHAPE(EDDY_ANY, 3));
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_output(eddy_lu(open, EDDY_INT64), 1)),
                               EDDY_SHAPE(3)));
}
END_TEST

START_TEST(normalized)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 3, 4, -6, 8 });
    const eddy_tensor y = eddy_normalize(x, .axes = EDDY_AXES(1)), z = eddy_normalize(x, "1");
    agree("rows", y, shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 0.6, 0.8, -0.6, 0.8 }), 1e-15);
    agree("norms", eddy_output(y, 1), shaped(F64, EDDY_SHAPE(2, 1), (double[]){ 5, 10 }), 1e-15);
    agree("all", z, Div(x, 21), 1e-15);
    const eddy_tensor c = eddy_normalize(numbers(EDDY_COMPLEX128, EDDY_SHAPE(4), 0));
    agree("complex", eddy_norm(c), num(F64, 1), 1e-15);
}
END_TEST

/* What NumPy 1.24.2 says of the root: v diag(e^0.5) v^-1 with e, v = numpy.linalg.eig(x). */
START_TEST(figures_of_numpy)
{
    const double x[] = { 5, 1, 0.5, -1, 6, 2, 0.25, -2, 7 };
    const double y[] = {
        2.245841830181014, 0.2180904181420181, 0.0843081232492043, -0.21396757050505116,
        2.489700046054081, 0.390829512277394, 0.03390836635066681, -0.38876808845891003,
        2.673776971191116,
    };
    agree("numpy", eddy_matrix_sqrt(shaped(F64, EDDY_SHAPE(3, 3), x)),
          shaped(F64, EDDY_SHAPE(3, 3), y), 1e-14);
}
END_TEST

Suite *linear_roots_suite(void)
{
    Suite *s = suite_create("linear_roots");
    TCase *c = tcase_create("roots");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, squares_of_roots, 0, 4 * MOST);
    tcase_add_test(c, roots_of_two_by_two);
    tcase_add_test(c, corners_of_roots);
    tcase_add_test(c, figures_of_numpy);
    tcase_add_loop_test(c, sylvester_equations, 0, 4 * 6);
    tcase_add_loop_test(c, three_diagonals, 0, 4 * 7);
    tcase_add_test(c, corners_of_diagonals);
    tcase_add_loop_test(c, of_factors, 0, 4);
    tcase_add_test(c, normalized);
    suite_add_tcase(s, c);
    return s;
}
