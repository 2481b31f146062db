/* test_distributions.c -- random numbers against the exact laws of their distributions, seeds given
 * as tensors, choices, and extreme parameters. */
#include "../../../eddy.h"
#include "ops/short_names.h"
#include "ops/kernels/special/special_beta.h"
#include "ops/kernels/special/special_igamma.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *distributions_suite(void);

enum { N = 50000 };

static eddy_graph *g;

static void setup(void) { g = eddy_graph_new(.seed = 11); }
static void teardown(void)
{
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    eddy_graph_free(g);
}

static eddy_tensor number(eddy_dtype d, double v) { return eddy_number(g, d, v); }
static eddy_tensor pair(int32_t a, int32_t b)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), ((int32_t[]){ a, b }));
}

static eddy_array *value(eddy_tensor t)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s %s", eddy_graph_message(g), eddy_session_message(s));
    eddy_session_free(s);
    return a;
}

/* ------------------------------------------------------ continuous laws -- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: above 1.95 once in 1000 samples. */
static double distance(double *v, double (*law)(double))
{
    double d = 0;
    qsort(v, N, sizeof *v, ascending);
    for (int i = 0; i < N; i++) {
        const double f = law(v[i]);
        d = fmax(d, fmax(f - (double)i / N, (double)(i + 1) / N - f));
    }
    return d * sqrt((double)N);
}

static double exponential_law(double x) { return -expm1(-2 * x); }
static double laplace_law(double x)
{
    const double z = (x - 1) / 2;
    return z < 0 ? exp(z) / 2 : 1 - exp(-z) / 2;
}
static double gumbel_law(double x) { return exp(-exp(-(x - 1) / 2)); }
static double logistic_law(double x) { return 1 / (1 + exp(-(x - 1) / 2)); }
static double cauchy_law(double x) { return 0.5 + atan((x - 1) / 2) / 3.14159265358979324; }
static double log_normal_law(double x) { return 0.5 * erfc(-(log(x) - 1) / 2 / sqrt(2)); }
static double gamma_law(double x) { return eddy__igamma_of(2.5, 2 * x, false); }
static double small_gamma_law(double x) { return eddy__igamma_of(0.3, x, false); }
static double large_gamma_law(double x) { return eddy__igamma_of(1000, x, false); }
static double beta_law(double x) { return eddy__betainc_of(2, 0.5, x); }
static double chi2_law(double x) { return eddy__igamma_of(1.5, x / 2, false); }
static double student_t_law(double x)
{
    const double tail = eddy__betainc_of(1.5, 0.5, 3 / (3 + x * x)) / 2;
    return x < 0 ? tail : 1 - tail;
}

/* Row `i` with its parameters; the law beside it. */
static eddy_tensor draw(int i, eddy_dtype d, double (**law)(double))
{
    const eddy_tensor one = number(d, 1), two = number(d, 2);
    const eddy_dims   n = EDDY_DIMS(N);
    static double (*const laws[])(double) = {
        exponential_law, laplace_law, gumbel_law, logistic_law, cauchy_law, log_normal_law,
        gamma_law, small_gamma_law, large_gamma_law, beta_law, chi2_law, student_t_law };
    *law = laws[i];
    switch (i) {
    case 0:  return eddy_random_exponential(two, n);
    case 1:  return eddy_random_laplace(one, two, n);
    case 2:  return eddy_random_gumbel(one, two, n);
    case 3:  return eddy_random_logistic(one, two, n);
    case 4:  return eddy_random_cauchy(one, two, n);
    case 5:  return eddy_random_log_normal(one, two, n);
    case 6:  return eddy_random_gamma(number(d, 2.5), two, n);
    case 7:  return eddy_random_gamma(number(d, 0.3), .sample_shape = n);
    case 8:  return eddy_random_gamma(number(d, 1000), .sample_shape = n);
    case 9:  return eddy_random_beta(two, number(d, 0.5), n);
    case 10: return eddy_random_chi2(number(d, 3), n);
    default: return eddy_random_student_t(number(d, 3), n);
    }
}
enum { LAWS = 12 };

START_TEST(laws)
{
    static double v[N];
    for (int single = 0; single < 2; single++) {
        double (*law)(double);
        const eddy_tensor y = draw(_i, single ? EDDY_FLOAT32 : EDDY_FLOAT64, &law);
        eddy_array *a = value(y);
        ck_assert_int_eq(eddy_array_count(a), N);
        for (int i = 0; i < N; i++) v[i] = eddy_array_get(a, i);
        const double d = distance(v, law);
        ck_assert_msg(d < 1.95, "law %d, %s: %g", _i, single ? "float32" : "float64", d);
        ck_assert(isfinite(v[0]) && isfinite(v[N - 1]));
        eddy_array_free(a);
    }
}
END_TEST

/* -------------------------------------------------------- whole numbers -- */

/* (chi^2 - mean) / deviation of counts against probabilities, with rare values together. */
static double surprise(const double *count, const double *p, int bins)
{
    double x = 0, rare = 0, rare_p = 0;
    int used = 0;
    for (int i = 0; i < bins; i++) {
        if (p[i] * N < 10) {
            rare += count[i];
            rare_p += p[i];
            continue;
        }
        x += pow(count[i] - p[i] * N, 2) / (p[i] * N);
        used++;
    }
    if (rare_p * N >= 10) {
        x += pow(rare - rare_p * N, 2) / (rare_p * N);
        used++;
    } else {
        ck_assert_double_lt(rare, 40);
    }
    return used < 2 ? 0 : (x - (used - 1)) / sqrt(2.0 * (used - 1));
}

enum { BINS = 1000 };
static double binomial_p(double n, double q, double k)
{
    return k > n ? 0 : exp(eddy__ln_gamma(n + 1) - eddy__ln_gamma(k + 1) - eddy__ln_gamma(n - k + 1)
                           + k * log(q) + (n - k) * log1p(-q));
}
static double poisson_p(double rate, double k)
{
    return exp(k * log(rate) - rate - eddy__ln_gamma(k + 1));
}

static void check_counts(eddy_tensor y, const double *p)
{
    static double count[BINS];
    eddy_array *a = value(y);
    memset(count, 0, sizeof count);
    for (int i = 0; i < N; i++) {
        const double k = eddy_array_get(a, i);
        ck_assert(k >= 0 && k < BINS && k == floor(k));
        count[(int)k]++;
    }
    const double x = surprise(count, p, BINS);
    ck_assert_msg(fabs(x) < 4, "'%s': %g", eddy_name_of(y), x);
    eddy_array_free(a);
}

START_TEST(poisson)
{
    static const double rates[] = { 0.1, 3, 9.9, 10, 42.5, 300 };
    static double p[BINS];
    for (int k = 0; k < BINS; k++) p[k] = poisson_p(rates[_i], k);
    check_counts(eddy_random_poisson(number(EDDY_FLOAT64, rates[_i]), EDDY_DIMS(N)), p);
    check_counts(eddy_random_poisson(number(EDDY_FLOAT32, rates[_i]), EDDY_DIMS(N)), p);
}
END_TEST

START_TEST(binomial)
{
    static const double n[] = { 1, 10, 40, 900, 900, 100 };
    static const double q[] = { 0.3, 0.5, 0.9, 0.002, 0.5, 0.8 };
    static double p[BINS];
    for (int k = 0; k < BINS; k++) p[k] = binomial_p(n[_i], q[_i], k);
    check_counts(eddy_random_binomial(number(EDDY_FLOAT64, n[_i]), number(EDDY_FLOAT64, q[_i]),
                                      EDDY_DIMS(N)), p);
}
END_TEST

START_TEST(of_few)
{
    static double p[BINS];
    const double  logits[] = { 0, 1, -2, (double)-INFINITY, 1.5, (double)NAN, -0.5 };
    double all = 0;
    p[0] = 0.3, p[1] = 0.7;
    check_counts(eddy_random_bernoulli(number(EDDY_FLOAT32, 0.7), .sample_shape = EDDY_DIMS(N)), p);
    check_counts(eddy_random_bernoulli(.logits = number(EDDY_FLOAT64, log(0.7 / 0.3)),
                                       .sample_shape = EDDY_DIMS(N)), p);
    for (int k = 0; k < BINS; k++) p[k] = 0.25 * pow(0.75, k);
    check_counts(eddy_random_geometric(number(EDDY_FLOAT64, 0.25), EDDY_DIMS(N)), p);
    memset(p, 0, sizeof p);
    for (int k = 0; k < 7; k++) all += isfinite(logits[k]) ? exp(logits[k]) : 0;
    for (int k = 0; k < 7; k++) p[k] = isfinite(logits[k]) ? exp(logits[k]) / all : 0;
    const eddy_tensor row = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(7), logits);
    check_counts(eddy_random_categorical(row, N), p);
    check_counts(eddy_random_categorical(Cast(row, EDDY_FLOAT32), N, EDDY_INT32), p);
    check_counts(eddy_random_categorical(row, N, .stateless_seed = pair(1, 2)), p);
}
END_TEST

/* Of a batch of rows each has its own law: here one class can be. */
START_TEST(rows_of_classes)
{
    static double logits[50][30];
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 30; j++) logits[i][j] = j == (7 * i) % 30 ? 3 : (double)-INFINITY;
    eddy_array *a = value(eddy_random_categorical(
        eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(5, 10, 30), logits), 4));
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(5, 10, 4)));
    for (int i = 0; i < 200; i++) ck_assert_int_eq((int)eddy_array_get(a, i), 7 * (i / 4) % 30);
    eddy_array_free(a);
}
END_TEST

/* Sums 1; each number has the law of a beta number: here the mean and the variance. */
START_TEST(dirichlet)
{
    static const double alpha[] = { 0.5, 2, 1e-3, 4 }, total = 6.501;
    const eddy_tensor y = eddy_random_dirichlet(
        eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(4), alpha), EDDY_DIMS(N));
    eddy_array   *a = value(y);
    const double *v = eddy_array_data(a);
    double mean[4] = { 0 };
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(N, 4)));
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < 4; j++) sum += v[4 * i + j];
        for (int j = 0; j < 4; j++) mean[j] += v[4 * i + j] / N;
        ck_assert_double_eq_tol(sum, 1, 1e-12);
    }
    for (int j = 0; j < 4; j++) {
        const double m = alpha[j] / total, deviation = sqrt(m * (1 - m) / (total + 1) / N);
        ck_assert_double_lt(fabs(mean[j] - m), 4 * deviation);
    }
    eddy_array_free(a);
}
END_TEST

/* ----------------------------------------------------------------- seeds -- */

static eddy_tensor seeded(eddy_graph *h, int i, eddy_tensor seed)
{
    const eddy_tensor x = eddy_fill(eddy_const(h, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 1000 }),
                                    eddy_number(h, EDDY_FLOAT64, 0.4));
    switch (i) {
    case 0:  return eddy_stateless_random_uniform(EDDY_SHAPE(1000), seed);
    case 1:  return eddy_stateless_random_normal(EDDY_SHAPE(1000), seed, 2, 3);
    case 2:  return eddy_stateless_truncated_normal(EDDY_SHAPE(1000), seed);
    case 3:  return eddy_random_gamma(x, .stateless_seed = seed);
    case 4:  return eddy_random_poisson(Mul(x, 20), .stateless_seed = seed);
    case 5:  return eddy_random_binomial(OnesLike(Mul(x, 50)), x, .stateless_seed = seed);
    case 6:  return eddy_random_categorical(x, 1000, .stateless_seed = seed);
    case 7:  return eddy_random_beta(x, x, .stateless_seed = seed);
    case 8:  return eddy_random_student_t(x, .stateless_seed = seed);
    default: return eddy_random_laplace(x, .stateless_seed = seed);
    }
}
enum { SEEDED = 10 };

/* The same numbers in each run and in another graph; others of another seed. */
START_TEST(stateless)
{
    eddy_graph *h = eddy_graph_new(.seed = 5);
    eddy_tensor seed = eddy_placeholder(g, "seed", EDDY_INT64, EDDY_SHAPE(2));
    eddy_tensor y = seeded(g, _i, seed);
    eddy_tensor again = seeded(h, _i, eddy_const(h, EDDY_INT32, EDDY_SHAPE(2),
                                                 ((int32_t[]){ 3, -4 })));
    eddy_session *s = eddy_session_new(g), *t = eddy_session_new(h);
    eddy_array   *at = eddy_array_new(EDDY_INT64, EDDY_SHAPE(2)), *a[4] = { NULL };
    for (int run = 0; run < 4; run++) {
        eddy_array_set(at, 0, 3 + (run == 2));
        eddy_array_set(at, 1, -4 + (run == 3));
        ck_assert_msg(eddy_run(s, EDDY_FEED({ seed, at }), EDDY_FETCH(y), &a[run]) == EDDY_OK,
                      "%s", eddy_session_message(s));
    }
    eddy_array *other = eddy_fetch(t, again);
    ck_assert_msg(other != NULL, "%s %s", eddy_graph_message(h), eddy_session_message(t));
    ck_assert(eddy_array_equal(a[0], a[1]) && eddy_array_equal(a[0], other));
    ck_assert(!eddy_array_equal(a[0], a[2]) && !eddy_array_equal(a[0], a[3]));
    for (int run = 0; run < 4; run++) eddy_array_free(a[run]);
    eddy_array_free(other);
    eddy_array_free(at);
    eddy_session_free(s);
    eddy_session_free(t);
    eddy_graph_free(h);
}
END_TEST

/* One number of threads is like another; a seed that is given is not the op's own, and two
 * numbers of one formula are not the same. */
START_TEST(streams)
{
    const eddy_tensor x = eddy_fill(eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ N }),
                                    number(EDDY_FLOAT64, 1));
    const eddy_tensor y[] = { eddy_random_gamma(x, .seed = 5), eddy_random_poisson(Mul(x, 30)),
                              eddy_random_beta(x, x, .seed = 5),
                              eddy_random_gamma(x, .seed = 5), eddy_random_gamma(x) };
    eddy_session *s[2] = { eddy_session_new(g, .threads = 1), eddy_session_new(g, .threads = 3) };
    eddy_array   *a[2][5] = { { NULL } };
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(eddy_run(s[i], EDDY_FEED(), (eddy_list){ 5, y }, a[i]), EDDY_OK);
    for (int j = 0; j < 5; j++) ck_assert(eddy_array_equal(a[0][j], a[1][j]));
    ck_assert(eddy_array_equal(a[0][0], a[0][3]) && !eddy_array_equal(a[0][0], a[0][4]));
    double off = 0;
    for (int i = 0; i < N; i++) off += fabs(eddy_array_get(a[0][2], i) - 0.5);
    ck_assert_double_gt(off / N, 0.2);                   /* 0.25 of uniform numbers */
    for (int i = 0; i < 2; i++) eddy_session_free(s[i]);
    for (int i = 0; i < 10; i++) eddy_array_free(a[i / 5][i % 5]);
}
END_TEST

/* ------------------------------------------------------------- gradients -- */

/* The x for which P(alpha, x) = p. */
static double quantile(double alpha, double p)
{
    double low = -800, high = log(alpha + 100);          /* of log x */
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        if (eddy__igamma_of(alpha, exp(middle), false) < p) low = middle;
        else high = middle;
    }
    return exp((low + high) / 2);
}

/* By alpha: the quantile's. */
START_TEST(gamma_slopes)
{
    static const double alpha[] = { 0.2, 0.9, 1, 3.5, 40 };
    enum { EACH = 4 };
    eddy_tensor x = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(5), alpha);
    eddy_tensor y = eddy_random_gamma(x, .sample_shape = EDDY_DIMS(EACH),
                                      .stateless_seed = pair(1, 7)), dx[EACH];
    for (int i = 0; i < EACH; i++)
        dx[i] = eddy_gradient(eddy_slice(y, EDDY_DIMS(i, 0), EDDY_DIMS(1, 5)), x);
    eddy_array *v = value(y);
    for (int i = 0; i < EACH; i++) {
        eddy_array *d = value(dx[i]), *dd = value(eddy_gradient(dx[i], x));
        for (int j = 0; j < 5; j++) {
            const double at = eddy_array_get(v, 5 * i + j), h = 1e-4 * alpha[j];
            const double p = eddy__igamma_of(alpha[j], at, false);
            const double want = (quantile(alpha[j] + h, p) - quantile(alpha[j] - h, p)) / (2 * h);
            const double have = eddy_array_get(d, j);
            ck_assert_msg(fabs(have - want) < 1e-5 * (1e-3 + fabs(want)),
                          "alpha %g, x %g: %.9g, not %.9g", alpha[j], at, have, want);
            const double bend = (quantile(alpha[j] + 30 * h, p) - 2 * at +
                                 quantile(alpha[j] - 30 * h, p)) / (900 * h * h);
            ck_assert_msg(fabs(eddy_array_get(dd, j) - bend) < 1e-3 * (1e-3 + fabs(bend)),
                          "alpha %g, x %g: second derivative %.9g, not %.9g", alpha[j], at,
                          eddy_array_get(dd, j), bend);
        }
        eddy_array_free(d);
        eddy_array_free(dd);
    }
    eddy_array_free(v);
}
END_TEST

/* A mean's gradient is that of the expectation: of gamma numbers alpha, of exponential ones
 * 1 / rate. */
START_TEST(slopes_of_means)
{
    eddy_tensor alpha = number(EDDY_FLOAT32, 0.05), rate = number(EDDY_FLOAT64, 4), loc;
    eddy_tensor y = eddy_random_gamma(alpha, .sample_shape = EDDY_DIMS(N));
    eddy_array *a = value(eddy_gradient(Mean(y), alpha));
    ck_assert_double_lt(fabs(eddy_array_item(a) - 1), 0.05);
    eddy_array_free(a);
    a = value(eddy_gradient(Mean(eddy_random_exponential(rate, EDDY_DIMS(N))), rate));
    ck_assert_double_eq_tol(eddy_array_item(a), -1.0 / 16, 4.0 / 16 / sqrt((double)N));
    eddy_array_free(a);
    loc = number(EDDY_FLOAT64, 4);
    a = value(eddy_gradient(Mean(eddy_random_gumbel(loc, rate, EDDY_DIMS(N))), loc));
    ck_assert_double_eq_tol(eddy_array_item(a), 1, 1e-12);
    eddy_array_free(a);
}
END_TEST

/* --------------------------------------------------------------- corners -- */

static double single(eddy_tensor y)
{
    eddy_array  *a = value(y);
    const double v = eddy_array_item(a);
    eddy_array_free(a);
    return v;
}

START_TEST(corners)
{
    const eddy_dtype  d = EDDY_FLOAT64;
    const eddy_tensor nan = number(d, (double)NAN), zero = number(d, 0), one = number(d, 1);
    const eddy_tensor inf = number(d, (double)INFINITY), minus = number(d, -1);
    ck_assert(isnan(single(eddy_random_poisson(nan))) &&
              isnan(single(eddy_random_poisson(minus))) &&
              isnan(single(eddy_random_poisson(inf))) && single(eddy_random_poisson(zero)) == 0);
    ck_assert(isnan(single(eddy_random_gamma(nan))) && isnan(single(eddy_random_gamma(minus))) &&
              isinf(single(eddy_random_gamma(inf))) && single(eddy_random_gamma(zero)) == 0);
    ck_assert(isnan(single(eddy_random_binomial(minus, one))) &&
              isnan(single(eddy_random_binomial(one, number(d, 1.5)))) &&
              isnan(single(eddy_random_binomial(inf, zero))));
    ck_assert(single(eddy_random_binomial(number(d, 70), one)) == 70 &&
              single(eddy_random_binomial(number(d, 70), zero)) == 0);
    ck_assert(single(eddy_random_bernoulli(one)) == 1 && single(eddy_random_bernoulli(zero)) == 0 &&
              single(eddy_random_bernoulli(nan)) == 0 && single(eddy_random_geometric(one)) == 0);
    const double p = single(eddy_random_beta(number(d, 1e-300), number(d, 1e-300)));
    ck_assert(p == 0 || p == 1);
    const double events = single(eddy_random_poisson(number(d, 1e12)));
    ck_assert_double_lt(fabs(events - 1e12), 8e6);
    eddy_array *a = value(eddy_random_gamma(eddy_zeros(g, d, EDDY_SHAPE(3, 0))));
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(3, 0)));
    eddy_array_free(a);
}
END_TEST

START_TEST(no_class)
{
    eddy_tensor   x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 1), ((float[]){ 1, -INFINITY }));
    eddy_session *s = eddy_session_new(g);
    ck_assert_ptr_null(eddy_fetch(s, eddy_random_categorical(x, 3)));
    ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "no logit of row 1 is finite"));
    eddy_session_free(s);
}
END_TEST

/* --------------------------------------------------------------- choices -- */

START_TEST(permutation)
{
    eddy_array *a = value(eddy_random_permutation(g, 1000, EDDY_INT64));
    static bool seen[1000];
    int moved = 0;
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 1000; i++) {
        const int at = (int)eddy_array_get(a, i);
        ck_assert(at >= 0 && at < 1000 && !seen[at]);
        seen[at] = true;
        moved += at != i;
    }
    ck_assert_int_gt(moved, 980);
    eddy_array_free(a);
}
END_TEST

START_TEST(choices)
{
    static double p[BINS];
    const double  w[] = { 1, 0, 3, 4 };
    const eddy_tensor of = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(4), w);
    const eddy_tensor x = eddy_range(number(EDDY_INT32, 0), number(EDDY_INT32, 4),
                                     number(EDDY_INT32, 1));
    memset(p, 0, sizeof p);
    for (int i = 0; i < 4; i++) p[i] = 0.25;
    check_counts(eddy_random_choice(x, N), p);
    for (int i = 0; i < 4; i++) p[i] = w[i] / 8;
    check_counts(eddy_random_choice(x, N, of), p);
    for (int way = 0; way < 2; way++) {
        const eddy_tensor y = way ? eddy_random_choice(x, 3, of, .without_replacement = true)
                                  : eddy_random_choice(x, 4, .without_replacement = true);
        eddy_array *a = value(y);
        int seen = 0;
        for (int i = 0; i < 4 - way; i++) seen |= 1 << (int)eddy_array_get(a, i);
        ck_assert_int_eq(seen, way ? 1 + 4 + 8 : 15);
        eddy_array_free(a);
    }
}
END_TEST

Suite *distributions_suite(void)
{
    Suite *s = suite_create("distributions");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, laws, 0, LAWS);
    tcase_add_loop_test(t, poisson, 0, 6);
    tcase_add_loop_test(t, binomial, 0, 6);
    tcase_add_test(t, of_few);
    tcase_add_test(t, rows_of_classes);
    tcase_add_test(t, dirichlet);
    tcase_add_loop_test(t, stateless, 0, SEEDED);
    tcase_add_test(t, streams);
    tcase_add_test(t, gamma_slopes);
    tcase_add_test(t, slopes_of_means);
    tcase_add_test(t, corners);
    tcase_add_test(t, no_class);
    tcase_add_test(t, permutation);
    tcase_add_test(t, choices);
    suite_add_tcase(s, t);
    return s;
}
