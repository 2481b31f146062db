/* test_log_probs.c -- densities, distribution functions, entropies and divergences against PyTorch
 * 1.13, also at singular points; multivariate normals; triangular factors, eigenvalues. */
#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>

Suite *log_probs_suite(void);

static eddy_graph *g;

static void setup(void) { g = eddy_graph_new(.seed = 5); }
static void teardown(void) { eddy_graph_free(g); }

static eddy_array *value(eddy_tensor t)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s %s", eddy_graph_message(g), eddy_session_message(s));
    eddy_session_free(s);
    return a;
}

static void near(const char *name, eddy_tensor t, int n, const double *want, double tolerance)
{
    eddy_array *a = value(t);
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++) {
        const double v = eddy_array_get(a, i);
        const bool   same = v == want[i] || (isnan(v) && isnan(want[i]));
        ck_assert_msg(same || fabs(v - want[i]) <= tolerance * fmax(1, fabs(want[i])),
                      "%s: element %d is %.17g, not %.17g", name, i, v, want[i]);
    }
    eddy_array_free(a);
}

/* ------------------------------------------------------------ of one number -- */

/* The arguments of the figures; the fifth row counts, the last are parts of [0,1). */
enum { POINT, LOC, SCALE, SHAPE, WHOLE, ODDS, ABOVE, PART, SOME, BITS, ROWS };
static const double rows[ROWS][4] = {
    { -1.5, 0, 0.25, 3 }, { 0.5, 0, 0.25, -2 }, { 0.5, 1, 2, 3 }, { 0.5, 1, 2.5, 30 },
    { 0, 1, 3, 12 }, { -3, 0, 0.5, 40 }, { 0.125, 0.5, 2, 7 }, { 0.125, 0.5, 0.9, 0.01 },
    { 0, 0.5, 2, 7 }, { 0, 1, 0, 1 },
};

#define OF(name, formula) \
    static eddy_tensor name(const eddy_tensor *x) { return formula; }
OF(normal, eddy_normal_log_prob(x[POINT], x[LOC], x[SCALE]))
OF(normal_cdf, eddy_normal_cdf(x[POINT], x[LOC], x[SCALE]))
OF(normal_log_cdf, Exp(eddy_normal_log_cdf(x[POINT], x[LOC], x[SCALE])))
OF(normal_entropy, eddy_normal_entropy(x[SCALE]))
OF(laplace, eddy_laplace_log_prob(x[POINT], x[LOC], x[SCALE]))
OF(laplace_cdf, eddy_laplace_cdf(x[POINT], x[LOC], x[SCALE]))
OF(laplace_entropy, eddy_laplace_entropy(x[SCALE]))
OF(bernoulli, eddy_bernoulli_log_prob(x[BITS], x[ODDS]))
OF(bernoulli_entropy, eddy_bernoulli_entropy(x[ODDS]))
OF(exponential, eddy_exponential_log_prob(x[SOME], x[SCALE]))
OF(exponential_cdf, eddy_exponential_cdf(x[SOME], x[SCALE]))
OF(exponential_entropy, eddy_exponential_entropy(x[SCALE]))
OF(gamma_of, eddy_gamma_log_prob(x[ABOVE], x[SHAPE], x[SCALE]))
OF(gamma_cdf, eddy_gamma_cdf(x[ABOVE], x[SHAPE], x[SCALE]))
OF(gamma_entropy, eddy_gamma_entropy(x[SHAPE], x[SCALE]))
OF(beta_of, eddy_beta_log_prob(x[PART], x[SHAPE], x[SCALE]))
OF(beta_cdf, eddy_beta_cdf(x[PART], x[SHAPE], x[SCALE]))
OF(beta_entropy, eddy_beta_entropy(x[SHAPE], x[SCALE]))
OF(poisson_of, eddy_poisson_log_prob(x[WHOLE], x[SCALE]))
OF(poisson_cdf, eddy_poisson_cdf(Add(x[WHOLE], 0.75), x[SCALE]))
OF(student, eddy_student_t_log_prob(x[POINT], x[SHAPE], x[LOC], x[SCALE]))
OF(student_entropy, eddy_student_t_entropy(x[SHAPE], x[SCALE]))

/* By PyTorch 1.13's torch.distributions in float64; of the gamma and Poisson distributions the
 * function is torch.special's, of beta the integral of the density. */
static const struct { const char *name; eddy_tensor (*of)(const eddy_tensor *x); double want[4]; }
figures[] = {
    { "normal", normal, { -8.2257913526447268, -0.91893853320467267, -1.6120857137646181,
                          -3.4064397107616711 } },
    { "normal cdf", normal_cdf, { 3.1671241833119924e-05, 0.5, 0.5, 0.9522096477271853 } },
    { "normal log cdf", normal_log_cdf, { 3.1671241833119924e-05, 0.5, 0.5, 0.9522096477271853 } },
    { "normal entropy", normal_entropy, { 0.72579135264472738, 1.4189385332046727,
                                          2.1120857137646181, 2.5175508218727822 } },
    { "laplace", laplace, { -4, -0.69314718055994529, -1.3862943611198906, -3.4584261358947215 } },
    { "laplace cdf", laplace_cdf, { 0.0091578194443671102, 0.5, 0.5, 0.90556219858121911 } },
    { "laplace entropy", laplace_entropy, { 1, 1.6931471805599454, 2.3862943611198908,
                                            2.791759469228055 } },
    { "bernoulli", bernoulli, { -0.048587351573741965, -0.69314718055994529,
                                -0.97407698418010669, 0 } },
    { "bernoulli entropy", bernoulli_entropy, { 0.19086497110644221, 0.69314718055994529,
                                                0.66284731857917945, 0 } },
    { "exponential", exponential, { -0.69314718055994529, -0.5, -3.3068528194400546,
                                    -19.901387711331889 } },
    { "exponential cdf", exponential_cdf, { 0, 0.39346934028736658, 0.98168436111126578,
                                            0.99999999924174399 } },
    { "exponential entropy", exponential_entropy, { 1.6931471805599454, 1, 0.30685281944005471,
                                                    -0.098612288668109782 } },
    { "gamma", gamma_of, { 0.058282237635245093, -0.5, -1.512094148233138, -2.8672759845206457 } },
    { "gamma cdf", gamma_cdf, { 0.27632639016823696, 0.39346934028736652, 0.84376437242227764,
                                0.037418797279233001 } },
    { "gamma entropy", gamma_entropy, { 0.78375711047393393, 1, 1.0368007289451091,
                                        2.0097208306196848 } },
    { "beta", beta_of, { -0.038243418697220921, 0, -0.29157216611126202, -123.96226275697457 } },
    { "beta cdf", beta_cdf, { 0.23005345616261594, 0.5, 0.9605418392761457,
                              4.86446500000005e-58 } },
    { "beta entropy", beta_entropy, { -0.24156447527048996, 0, -0.17439568053703325,
                                      -1.6823823798796411 } },
    { "poisson", poisson_of, { -0.5, -1, -1.7123179275482192, -9.8038670316445682 } },
    { "poisson cdf", poisson_cdf, { 0.60653065971263342, 0.73575888234288467,
                                    0.85712346049854704, 0.99998385095144404 } },
    { "student", student, { -3.2397664164514248, -1.1447298858494002, -1.7097867740203954,
                            -3.3984602728393516 } },
    { "student entropy", student_entropy, { 2.9735802355439098, 2.5310242469692907,
                                            2.5409072511358666, 2.5511556184553159 } },
};
enum { FIGURES = sizeof figures / sizeof *figures };

START_TEST(as_pytorch)
{
    for (int narrow = 0; narrow < 2; narrow++) {
        eddy_tensor x[ROWS];
        for (int i = 0; i < ROWS; i++)
            x[i] = Cast(vector(g, 4, rows[i]), narrow ? EDDY_FLOAT32 : EDDY_FLOAT64);
        near(figures[_i].name, figures[_i].of(x), 4, figures[_i].want, narrow ? 1e-5 : 2e-12);
    }
}
END_TEST

START_TEST(divergence_of_normals)
{
    const double apart[] = { 1, 2, 0.5, 4 };
    const double want[] = { 2.3181471805599454, 0.31814718055994529, 6.1137056388801092,
                            0.8501820724517809 };
    near("normal kl", eddy_normal_kl(vector(g, 4, rows[LOC]), vector(g, 4, rows[SCALE]),
                                     vector(g, 4, rows[POINT]), vector(g, 4, apart)), 4, want,
         1e-12);
    near("itself", eddy_normal_kl(vector(g, 4, rows[LOC]), vector(g, 4, rows[SCALE]),
                                  vector(g, 4, rows[LOC]), vector(g, 4, rows[SCALE])), 4,
         (double[4]){ 0 }, 0);
}
END_TEST

/* Outside of the support the density is 0, and so is the gradient. */
START_TEST(outside)
{
    const double never = -(double)INFINITY;
    const eddy_tensor x = vector(g, 4, (double[]){ -1, 0, 1, (double)NAN });
    const eddy_tensor one = real(g, 1), two = real(g, 2), zero = real(g, 0), half = real(g, 0.5);
    near("uniform", eddy_uniform_log_prob(x, zero, one), 4,
         (double[]){ never, 0, never, (double)NAN }, 0);
    near("uniform cdf", eddy_uniform_cdf(x, zero, two), 4, (double[]){ 0, 0, 0.5, (double)NAN }, 0);
    near("uniform entropy", eddy_uniform_entropy(half, two), 1, (double[]){ log(1.5) }, 1e-15);
    near("exponential", eddy_exponential_log_prob(x, one), 4,
         (double[]){ never, 0, -1, (double)NAN }, 0);
    near("gamma", eddy_gamma_log_prob(x, one, one), 4, (double[]){ never, 0, -1, (double)NAN },
         1e-15);
    near("gamma cdf", eddy_gamma_cdf(x, one, one), 3 + 1,
         (double[]){ 0, 0, 0.63212055882855767, (double)NAN }, 1e-15);
    near("beta", eddy_beta_log_prob(x, two, one), 4,
         (double[]){ never, never, log(2), (double)NAN }, 1e-14);
    near("poisson", eddy_poisson_log_prob(x, one), 4, (double[]){ never, -1, -1, (double)NAN },
         1e-15);
    near("poisson cdf", eddy_poisson_cdf(eddy_index(x, ":3"), one), 3,
         (double[]){ 0, 0.36787944117144233, 0.73575888234288467 }, 1e-15);
    const eddy_tensor sure = eddy_index(x, ":2");
    near("gradient", eddy_gradient(eddy_gamma_log_prob(sure, two, one), sure), 2,
         (double[]){ 0, (double)INFINITY }, 0);
    near("rate", eddy_gradient(eddy_exponential_log_prob(eddy_index(x, ":3"), half), half), 1,
         (double[]){ 3 }, 1e-14);
}
END_TEST

/* Cauchy's for one degree of freedom; an algebraic one for two; the slope at 0. */
START_TEST(student_cdf)
{
    const double at[] = { -3, -0.25, 0, 1, 40 };
    const double pi = 3.14159265358979323846;
    double of_1[5], of_2[5], slope[5];
    for (int i = 0; i < 5; i++) {
        of_1[i] = 0.5 + atan(at[i]) / pi;
        of_2[i] = 0.5 + at[i] / (2 * sqrt(2 + at[i] * at[i]));
        slope[i] = 1 / (pi * (1 + at[i] * at[i]));
    }
    const eddy_tensor x = vector(g, 5, at), one = real(g, 1), two = real(g, 2), zero = real(g, 0);
    const eddy_tensor y = eddy_student_t_cdf(x, one, zero, one);
    near("one", y, 5, of_1, 1e-14);
    near("two", eddy_student_t_cdf(x, two, zero, one), 5, of_2, 1e-14);
    near("slope", eddy_gradient(y, x), 5, slope, 1e-13);
}
END_TEST

/* --------------------------------------------------------------- of several -- */

/* By PyTorch 1.13's Categorical, Dirichlet and MultivariateNormal. */
START_TEST(classes_and_parts)
{
    const eddy_tensor a = matrix(g, 2, 3, (double[]){ 1, 2, -1, 0.5, 0.25, 3 });
    const eddy_tensor b = matrix(g, 2, 3, (double[]){ 0, 1, 1, -2, 0.5, 0.5 });
    const eddy_tensor c = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), ((int32_t[]){ 2, 0 }));
    near("log_prob", eddy_categorical_log_prob(c, a), 2,
         (double[]){ -3.3490122167681862, -2.6362888397222628 }, 1e-14);
    near("entropy", eddy_categorical_entropy(a), 2,
         (double[]){ 0.71386575798862451, 0.46875815855216751 }, 1e-14);
    near("kl", eddy_categorical_kl(a, b), 2,
         (double[]){ 0.40762550641204592, 0.4436781230072081 }, 1e-14);
    const double never = -(double)INFINITY;
    near("one class", eddy_categorical_entropy(vector(g, 3, (double[]){ never, 3, never })), 1,
         (double[]){ 0 }, 0);
    const eddy_tensor d = matrix(g, 2, 3, (double[]){ 0.5, 1, 2, 3, 4, 0.25 });
    const eddy_tensor p = matrix(g, 2, 3, (double[]){ 0.2, 0.3, 0.5, 0.6, 0.3, 0.1 });
    near("dirichlet", eddy_dirichlet_log_prob(p, d), 2,
         (double[]){ 0.74018043507947906, 0.3726254354882057 }, 1e-13);
    near("entropy", eddy_dirichlet_entropy(d), 2,
         (double[]){ -1.4815696872089312, -3.9443406125211178 }, 1e-13);
}
END_TEST

static const double tril[] = { 2, 7, 7, 0.5, 1, 7, -1, 0.25, 0.5 };      /* 7 is not read */
static const double tril_b[] = { 1, 0, 0, -0.5, 2, 0, 0.75, 0.5, 1.5 };
static const double middle[] = { 0.5, -1, 2 };

START_TEST(normal_vectors)
{
    const eddy_tensor l = matrix(g, 3, 3, tril), m = vector(g, 3, middle);
    const eddy_tensor x = matrix(g, 2, 3, (double[]){ 0, 0, 0, 1, -2, 3 });
    const eddy_tensor b = vector(g, 3, (double[]){ 0, 1, 0 });
    near("log_prob", eddy_multivariate_normal_log_prob(x, m, l), 2,
         (double[]){ -16.235331224614018, -8.1103312246140185 }, 1e-13);
    near("entropy", eddy_multivariate_normal_entropy(l), 1, (double[]){ 4.2568155996140185 },
         1e-14);
    near("kl", eddy_multivariate_normal_kl(m, l, b, matrix(g, 3, 3, tril_b)), 1,
         (double[]){ 5.3503483997792198 }, 1e-13);
}
END_TEST

/* The means and the products of many numbers are those of the distribution: apart by less than
 * five of their deviations.  One matrix for all and one for each vector draw alike. */
START_TEST(drawn_vectors)
{
    enum { N = 40000 };
    const eddy_tensor l = matrix(g, 3, 3, tril), m = vector(g, 3, middle);
    const eddy_tensor seed = eddy_const(g, EDDY_INT64, EDDY_SHAPE(2), ((int64_t[]){ 3, 4 }));
    const eddy_tensor y = eddy_random_multivariate_normal(m, l, EDDY_DIMS(N), .seed = 7);
    const eddy_tensor z = Sub(y, m);
    const eddy_tensor product = Div(eddy_matmul(z, z, .transpose_a = true), (double)N);
    near("mean", Mean(y, EDDY_AXES(0)), 3, middle, 5 * 2.0 / 200);
    const double want[] = { 4, 1, -2, 1, 1.25, -0.25, -2, -0.25, 1.3125 };
    near("covariance", product, 9, want, 5 * 6.0 / 200);
    const eddy_tensor one = eddy_random_multivariate_normal(m, l, EDDY_DIMS(4),
                                                            .stateless_seed = seed);
    const eddy_tensor each = eddy_random_multivariate_normal(m, eddy_stack(EDDY_LIST(l, l, l, l)),
                                                             .stateless_seed = seed);
    eddy_array *a = value(one), *b = value(each);
    ck_assert(eddy_shape_equal(eddy_array_shape(b), EDDY_SHAPE(4, 3)));
    for (int i = 0; i < 12; i++)
        ck_assert(fabs(eddy_array_get(a, i) - eddy_array_get(b, i)) < 1e-14);
    eddy_array_free(a);
    eddy_array_free(b);
}
END_TEST

/* ------------------------------------------------------------------ factors -- */

static double number_of(int i, int j) { return sin(1.7 * i * i + 3.1 * j) + (i == 2 - j); }

/* Rows of x at p are l u, and no element of l is above 1. */
START_TEST(factors)
{
    enum { N = 9 };
    double x[N * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) x[N * i + j] = number_of(i, j);
    const eddy_tensor t = eddy_lu(matrix(g, N, N, x), _i ? EDDY_INT64 : 0);
    eddy_array *lu = value(t), *p = value(eddy_output(t, 1));
    ck_assert_int_eq(eddy_array_dtype(p), _i ? EDDY_INT64 : EDDY_INT32);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k <= (i < j ? i : j); k++)
                sum += (k == i ? 1 : eddy_array_get(lu, N * i + k)) * eddy_array_get(lu, N * k + j);
            ck_assert(fabs(sum - x[N * (int)eddy_array_get(p, i) + j]) < 1e-13);
            ck_assert(j >= i || fabs(eddy_array_get(lu, N * i + j)) <= 1);
        }
    near("back", eddy_lu_reconstruct(t, eddy_output(t, 1)), N * N, x, 1e-13);
    eddy_array_free(lu);
    eddy_array_free(p);
}
END_TEST

START_TEST(no_factors)
{
    eddy_session *s = eddy_session_new(g);
    const eddy_tensor x = matrix(g, 2, 2, (double[]){ 1, 2, 2, 4 });
    ck_assert_ptr_null(eddy_fetch(s, eddy_lu(x, 0)));
    run_fails(s, EDDY_INVALID_ARGUMENT, "Input is not invertible: matrix 0 has a pivot of 0");
    eddy_session_free(s);
    eddy_array *a = value(eddy_lu(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 0, 0)), 0));
    ck_assert_int_eq(eddy_array_count(a), 0);
    eddy_array_free(a);
}
END_TEST

/* x v = v e for vectors of length 1, of real and of complex numbers; the values alone are the
 * same; the sum of the values is the trace. */
START_TEST(eigenvectors)
{
    enum { N = 6 };
    double x[N * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) x[N * i + j] = number_of(i, j);
    const eddy_dtype d = (eddy_dtype[]){ EDDY_FLOAT64, EDDY_COMPLEX128, EDDY_FLOAT32 }[_i];
    const double     few = _i == 2 ? 2e-5 : 1e-12;
    const eddy_tensor real_part = matrix(g, N, N, x);
    const eddy_tensor t = _i == 1 ? Complex(real_part, eddy_matrix_transpose(real_part))
                                  : Cast(real_part, d);
    const eddy_tensor e = eddy_eig(t), v = eddy_output(e, 1);
    const eddy_tensor whole = _i == 1 ? t : Cast(t, eddy_dtype_of(e));
    is_number(Cast(Less(Max(Abs(Sub(eddy_matmul(whole, v), Mul(v, ExpandDims(e, 0))))), few),
                   EDDY_FLOAT64), 1);
    is_number(Cast(Less(Max(Abs(Sub(Sum(Square(Abs(v)), EDDY_AXES(0)), 1))), few), EDDY_FLOAT64),
              1);
    is_number(Cast(Less(Abs(Sub(Sum(e), eddy_trace(whole))), 10 * few), EDDY_FLOAT64), 1);
    is_number(Cast(Less(Abs(Sub(Sum(Square(eddy_eigvals(t))), Sum(Square(e)))), 100 * few),
                   EDDY_FLOAT64), 1);
}
END_TEST

/* A quarter turn has the eigenvalues i and -i; a matrix with NaN or infinity gives NaN. */
START_TEST(turns)
{
    const eddy_tensor e = eddy_eigvals(matrix(g, 2, 2, (double[]){ 0, -1, 1, 0 }));
    has_value(Abs(Real(e)), 2, (double[]){ 0, 0 });
    has_value(Abs(Imag(e)), 2, (double[]){ 1, 1 });
    is_number(Abs(Imag(Sum(e))), 0);
    const eddy_tensor bad = eddy_eig(matrix(g, 2, 2, (double[]){ 0, (double)INFINITY, 1, 0 }));
    is_number(Cast(eddy_all(IsNan(Real(eddy_output(bad, 1)))), EDDY_FLOAT64), 1);
    eddy_array *a = value(eddy_eig(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 0, 0))));
    ck_assert_int_eq(eddy_array_dtype(a), EDDY_COMPLEX64);
    eddy_array_free(a);
}
END_TEST

Suite *log_probs_suite(void)
{
    Suite *suite = suite_create("log_probs");
    TCase *c = tcase_create("log_probs");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, as_pytorch, 0, FIGURES);
    tcase_add_test(c, divergence_of_normals);
    tcase_add_test(c, outside);
    tcase_add_test(c, student_cdf);
    tcase_add_test(c, classes_and_parts);
    tcase_add_test(c, normal_vectors);
    tcase_add_test(c, drawn_vectors);
    tcase_add_loop_test(c, factors, 0, 2);
    tcase_add_test(c, no_factors);
    tcase_add_loop_test(c, eigenvectors, 0, 3);
    tcase_add_test(c, turns);
    suite_add_tcase(suite, c);
    return suite;
}
