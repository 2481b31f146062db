/* test_sorting.c -- sorting, top-k, cumulative extremes and logsumexp, quantiles, statistics and
 * bins against plain loops, and at their limits. */
#include "tests/lib/array_trial.h"

#include <math.h>
#include <stdlib.h>

Suite *sorting_suite(void);

enum { SEEDS = 60 };

static eddy_dtype some_dtype(trial *t)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                         EDDY_UINT8, EDDY_BOOL };
    return dtypes[pick(t, 6)];
}

/* Where lane (o, c) has element j, of n and `inner` lanes side by side. */
static int64_t lane_at(int64_t o, int64_t n, int64_t inner, int64_t j, int64_t c)
{
    return (o * n + j) * inner + c;
}

static int64_t product(eddy_shape s, int from, int to)
{
    int64_t p = 1;
    for (int i = from; i < to; i++) p *= s.dim[i];
    return p;
}

/* NaN is the largest. */
static bool before(double a, double b, bool descending)
{
    if (isnan(a) || isnan(b)) return descending ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
    return descending ? a > b : a < b;
}

/* The stable order of n elements `step` apart from x[at] on, by insertion. */
static void order(const eddy_array *x, int64_t at, int64_t n, int64_t step, bool descending,
                  int64_t *place)
{
    for (int64_t i = 0; i < n; i++) {
        const double v = eddy_array_get(x, at + i * step);
        int64_t j = i;
        for (; j > 0 && before(v, eddy_array_get(x, at + place[j - 1] * step), descending); j--)
            place[j] = place[j - 1];
        place[j] = i;
    }
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* The first m of each lane in its order. */
static void check_order(trial *t, eddy_tensor y, const eddy_array *x, int axis, int64_t m,
                        bool descending)
{
    const eddy_shape s = eddy_array_shape(x);
    const int64_t outer = product(s, 0, axis), n = s.dim[axis];
    const int64_t inner = product(s, axis + 1, s.rank);
    eddy_array *values = value(t, y), *places = value(t, eddy_output(y, 1));
    int64_t    *place = calloc((size_t)n + 1, sizeof *place);
    ck_assert(values && places && place);
    ck_assert_int_eq(eddy_array_count(values), outer * m * inner);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < inner; c++) {
            order(x, lane_at(o, n, inner, 0, c), n, inner, descending, place);
            for (int64_t j = 0; j < m; j++) {
                const int64_t to = lane_at(o, m, inner, j, c);
                const double  v = eddy_array_get(x, lane_at(o, n, inner, place[j], c));
                ck_assert_int_eq((int64_t)eddy_array_get(places, to), place[j]);
                ck_assert(same(eddy_array_get(values, to), v));
            }
        }
    free(place);
    eddy_array_free(values);
    eddy_array_free(places);
}

START_TEST(sorts)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = some_shape(&t, 1, 4);
    if (_i % 4 == 0) s = EDDY_SHAPE(2, 300 + pick(&t, 500));
    if (_i % 4 == 1) s = EDDY_SHAPE(70 + pick(&t, 90), 1 + pick(&t, 40));
    const int  axis = pick(&t, s.rank);
    const bool descending = pick(&t, 2);
    eddy_array *x = filled(&t, some_dtype(&t), s);
    for (int64_t i = 0; i < eddy_array_count(x); i++)
        if (eddy_array_dtype(x) != EDDY_BOOL && eddy_array_dtype(x) != EDDY_UINT8 && pick(&t, 2))
            eddy_array_set(x, i, -1e9 * eddy_array_get(x, i));
    eddy_tensor in = fed(&t, x);
    const int64_t shown = pick(&t, 2) && eddy_shape_of(in).rank >= 0 ? axis - s.rank : axis;
    eddy_tensor y = eddy_sort(in, EDDY_AXES(shown), descending);
    check_order(&t, y, x, axis, s.dim[axis], descending);
    trial_end(&t);
}
END_TEST

START_TEST(largest)
{
    trial t = trial_begin((unsigned)_i);
    static const int64_t sizes[] = { 1, 2, 9, 33, 280, 1000, 2500 };
    const int64_t n = sizes[pick(&t, 7)], k = pick(&t, 2) ? pick(&t, (int)n + 1) : pick(&t, 3) % n;
    eddy_array *x = filled(&t, some_dtype(&t), EDDY_SHAPE(1 + pick(&t, 3), n));
    if (_i % 3 == 0)            /* ascending, so that each replaces what was found before */
        for (int64_t i = 0; i < eddy_array_count(x); i++) eddy_array_set(x, i, (double)(i / 7));
    check_order(&t, eddy_top_k(fed(&t, x), k), x, 1, k, true);
    trial_end(&t);
}
END_TEST

START_TEST(sorts_special_values)
{
    trial t = trial_begin(1);
    const double inf = (double)INFINITY, nan = (double)NAN;
    const double v[] = { 0.0, nan, -inf, -0.0, 5e-324, inf, -1, nan, -5e-324, 0.0 };
    const float  f[] = { 1e-45f, -1e-45f, -INFINITY, NAN, 3e38f, -NAN, 0, -0.0f };
    eddy_array *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(10), v);
    eddy_array *b = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(8), f);
    eddy_tensor x = fed(&t, a), y = fed(&t, b);
    check_order(&t, eddy_sort(x), a, 0, 10, false);
    check_order(&t, eddy_sort(x, .descending = true), a, 0, 10, true);
    check_order(&t, eddy_top_k(x, 4), a, 0, 4, true);
    check_order(&t, eddy_sort(y), b, 0, 8, false);
    check_order(&t, eddy_top_k(y, 8), b, 0, 8, true);
    const int64_t w[] = { INT64_MAX, INT64_MIN, 0, -1, INT64_MAX - 1 };
    check_values(&t, eddy_argsort(eddy_const(t.graph, EDDY_INT64, EDDY_SHAPE(5), w)),
                 EDDY_SHAPE(5), (const double[]){ 1, 3, 2, 4, 0 });
    trial_end(&t);
}
END_TEST

START_TEST(sorting_gradients)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = some_shape(&t, 1, 3);
    eddy_array *x = eddy_array_new(EDDY_FLOAT64, s);       /* all different */
    for (int64_t i = 0; i < eddy_array_count(x); i++)
        eddy_array_set(x, i, (double)((i * 7919 + _i) % 10007));
    eddy_tensor in = fed(&t, x);
    const int axis = pick(&t, s.rank);
    check_gradient(&t, eddy_sort(in, EDDY_AXES(axis)), 1, &in);
    check_gradient(&t, eddy_cummax(in, axis, .reverse = pick(&t, 2)), 1, &in);
    check_gradient(&t, eddy_cummin(in, axis), 1, &in);
    check_gradient(&t, eddy_top_k(in, s.dim[s.rank - 1] / 2), 1, &in);
    trial_end(&t);
}
END_TEST

/* Rows enough for several workers, each with scratch memory of its own. */
START_TEST(threads)
{
    trial t = trial_begin(9);
    eddy_array *x = filled(&t, _i ? EDDY_FLOAT64 : EDDY_FLOAT32, EDDY_SHAPE(90, 700));
    eddy_tensor in = eddy_constant(t.graph, x, NULL);
    const eddy_tensor y[] = {
        eddy_sort(in), eddy_argsort(in, EDDY_AXES(0), true), eddy_output(eddy_top_k(in, 20), 1),
        eddy_cummax(in, 1), eddy_cumulative_logsumexp(in, 0), eddy_reduce_std(in, EDDY_AXES(1)),
    };
    for (int k = 0; k < (int)(sizeof y / sizeof *y); k++) {
        eddy_session *many = eddy_session_new(t.graph, .threads = 4, .without = ~0u);
        eddy_session *one = eddy_session_new(t.graph, .threads = 1, .without = ~0u);
        eddy_array *a = eddy_fetch(many, y[k]), *b = eddy_fetch(one, y[k]);
        ck_assert(a && b && eddy_array_equal(a, b));
        eddy_array_free(a);
        eddy_array_free(b);
        eddy_session_free(many);
        eddy_session_free(one);
    }
    check_order(&t, y[0], x, 1, 700, false);
    eddy_array_free(x);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------ running values -- */

typedef struct running {
    double best;
    int64_t place;
} running;

static void check_running(trial *t, const eddy_array *x, eddy_tensor in, int axis, bool reverse)
{
    const eddy_shape s = eddy_array_shape(x);
    const int64_t n = s.dim[axis], outer = product(s, 0, axis);
    const int64_t inner = product(s, axis + 1, s.rank);
    const eddy_tensor made = eddy_cummax(in, axis, .reverse = reverse);
    eddy_array *max = value(t, made), *at = value(t, eddy_output(made, 1));
    eddy_array *min = value(t, eddy_cummin(in, axis, .reverse = reverse));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < inner; c++) {
            running high = { -(double)INFINITY, 0 }, low = { (double)INFINITY, 0 };
            for (int64_t i = 0; i < n; i++) {
                const int64_t j = reverse ? n - 1 - i : i, e = lane_at(o, n, inner, j, c);
                const double  v = eddy_array_get(x, e);
                if (isnan(v) || v >= high.best) high = (running){ v, j };
                if (isnan(v) || v <= low.best) low = (running){ v, j };
                ck_assert(same(eddy_array_get(max, e), high.best));
                ck_assert(same(eddy_array_get(min, e), low.best));
                ck_assert_int_eq((int64_t)eddy_array_get(at, e), high.place);
            }
        }
    eddy_array_free(max);
    eddy_array_free(min);
    eddy_array_free(at);
}

START_TEST(running_extremes)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = _i % 5 ? some_shape(&t, 1, 4) : EDDY_SHAPE(20, 130);
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                         EDDY_UINT8 };
    const int   type = pick(&t, 5);
    eddy_array *x = filled(&t, dtypes[type], s);
    for (int64_t i = 0; type < 2 && i < eddy_array_count(x); i++)
        if (pick(&t, 20) == 0) eddy_array_set(x, i, (double)NAN);
    check_running(&t, x, fed(&t, x), pick(&t, s.rank), pick(&t, 2));
    trial_end(&t);
}
END_TEST

START_TEST(running_logarithms)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = _i % 5 ? some_shape(&t, 1, 4) : EDDY_SHAPE(20, 130);
    const int  axis = pick(&t, s.rank);
    const bool exclusive = pick(&t, 2), reverse = pick(&t, 2);
    eddy_array *x = filled(&t, EDDY_FLOAT64, s);
    for (int64_t i = 0; i < eddy_array_count(x); i++)
        eddy_array_set(x, i, pick(&t, 12) ? 10 * eddy_array_get(x, i) - 500 : -(double)INFINITY);
    eddy_tensor y = eddy_cumulative_logsumexp(fed(&t, x), axis, exclusive, reverse);
    eddy_array *got = value(&t, y);
    const int64_t n = s.dim[axis], inner = product(s, axis + 1, s.rank);
    for (int64_t o = 0; o < product(s, 0, axis); o++)
        for (int64_t c = 0; c < inner; c++) {
            long double sum = 0;
            for (int64_t i = 0; i < n; i++) {
                const int64_t e = lane_at(o, n, inner, reverse ? n - 1 - i : i, c);
                const long double more = expl((long double)eddy_array_get(x, e));
                const double want = (double)logl(exclusive ? sum : sum + more);
                const double is = eddy_array_get(got, e);
                ck_assert_msg(want == is || fabs(want - is) < 1e-12 * (1 + fabs(want)),
                              "%.17g, not %.17g", is, want);
                sum += more;
            }
        }
    eddy_array_free(got);
    trial_end(&t);
}
END_TEST

/* No overflow, and gradients at the ends of the range. */
START_TEST(running_logarithms_of_extremes)
{
    trial t = trial_begin(2);
    const double inf = (double)INFINITY;
    const double v[] = { -inf, -1e300, 1e300, 0, -7, -inf };
    eddy_tensor x = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(6), v);
    eddy_tensor y = eddy_cumulative_logsumexp(x, 0);
    check_values(&t, y, EDDY_SHAPE(6),
                 (const double[]){ -inf, -1e300, 1e300, 1e300, 1e300, 1e300 });
    eddy_tensor dx = gradient_with(y, eddy_ones_like(y), x);
    check_values(&t, dx, EDDY_SHAPE(6), (const double[]){ 0, 1, 4, 0, 0, 0 });
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------ statistics -- */

/* numpy.quantile(x, q, axis=1, method=...) of NumPy 1.24. */
START_TEST(quantiles)
{
    trial t = trial_begin(3);
    const double v[] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3 };
    eddy_tensor x = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(2, 5), v);
    const eddy_dims rows = EDDY_AXES(1);
    const eddy_shape two = EDDY_SHAPE(2);
    check_values(&t, eddy_quantile(x, 0.3, rows), two, (const double[]){ 1.4, 3.4 });
    check_values(&t, eddy_quantile(x, 0.3, rows, EDDY_LOWER), two, (const double[]){ 1, 3 });
    check_values(&t, eddy_quantile(x, 0.3, rows, EDDY_HIGHER), two, (const double[]){ 3, 5 });
    check_values(&t, eddy_quantile(x, 0.3, rows, EDDY_NEAREST), two, (const double[]){ 1, 3 });
    check_values(&t, eddy_quantile(x, 0.3, rows, EDDY_MIDPOINT), two, (const double[]){ 2, 4 });
    check_values(&t, eddy_percentile(x, 100, rows), two, (const double[]){ 5, 9 });
    check_values(&t, eddy_median(x), EDDY_SCALAR, (const double[]){ 3.5 });
    check_values(&t, eddy_median(x, .axis = EDDY_AXES(0)), EDDY_SHAPE(5),
                 (const double[]){ 6, 1.5, 5, 3, 4 });
    check_values(&t, eddy_nth_element(x, 1, false), two, (const double[]){ 1, 3 });
    check_values(&t, eddy_nth_element(x, 0, true), two, (const double[]){ 5, 9 });
    eddy_tensor bad = eddy_concat(EDDY_LIST(x, Mul(x, (double)NAN)), 0);
    eddy_array *m = value(&t, eddy_median(bad, .axis = rows));
    ck_assert(eddy_array_get(m, 0) == 3 && isnan(eddy_array_get(m, 3)));
    eddy_array_free(m);
    trial_end(&t);
}
END_TEST

/* A large mean, which the mean of squares less the square of the mean would not survive. */
START_TEST(variances)
{
    trial t = trial_begin(4);
    eddy_array *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3, 1000));
    double mean[3] = { 0 }, square[3] = { 0 };
    for (int64_t i = 0; i < 3000; i++) {
        eddy_array_set(x, i, 1e4 * (double)(i / 1000) + pick(&t, 64));
        mean[i / 1000] += eddy_array_get(x, i) / 1000;
    }
    for (int64_t i = 0; i < 3000; i++) {
        const double off = eddy_array_get(x, i) - mean[i / 1000];
        square[i / 1000] += off * off;
    }
    eddy_tensor in = fed(&t, x);
    eddy_array *var = value(&t, eddy_reduce_variance(in, EDDY_AXES(1)));
    eddy_array *std = value(&t, eddy_reduce_std(in, EDDY_AXES(1), .ddof = 1));
    for (int64_t r = 0; r < 3; r++) {
        ck_assert_double_eq_tol(eddy_array_get(var, r), square[r] / 1000, 1e-4 * square[r] / 1000);
        ck_assert_double_eq_tol(eddy_array_get(std, r), sqrt(square[r] / 999), 1e-3);
    }
    eddy_array_free(var);
    eddy_array_free(std);
    trial_end(&t);
}
END_TEST

START_TEST(norms_and_counts)
{
    trial t = trial_begin(5);
    const double v[] = { 3, 4, 0, 0, (double)NAN, -1 };
    eddy_tensor x = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(3, 2), v);
    eddy_tensor rows = eddy_slice(x, EDDY_DIMS(0, 0), EDDY_DIMS(2, 2));
    check_values(&t, eddy_euclidean_norm(rows, EDDY_AXES(1)), EDDY_SHAPE(2),
                 (const double[]){ 5, 0 });
    check_values(&t, eddy_l2_normalize(rows, EDDY_AXES(1)), EDDY_SHAPE(2, 2),
                 (const double[]){ 0.6, 0.8, 0, 0 });
    check_values(&t, eddy_count_nonzero(x, EDDY_AXES(1), .keepdims = true), EDDY_SHAPE(3, 1),
                 (const double[]){ 2, 0, 2 });
    check_values(&t, eddy_count_nonzero(Greater(x, 0)), EDDY_SCALAR, (const double[]){ 2 });
    check_values(&t, eddy_zero_fraction(rows), EDDY_SCALAR, (const double[]){ 0.5 });
    eddy_tensor w = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 1, 3 });
    eddy_tensor m = eddy_weighted_moments(rows, EDDY_AXES(1), w);
    check_values(&t, m, EDDY_SHAPE(2), (const double[]){ 3.75, 0 });
    check_values(&t, eddy_output(m, 1), EDDY_SHAPE(2), (const double[]){ 0.1875, 0 });
    eddy_tensor s = eddy_sufficient_statistics(rows, EDDY_AXES(0));
    eddy_tensor n = eddy_normalize_moments(s, eddy_output(s, 1), eddy_output(s, 2),
                                           (eddy_tensor){ .graph = t.graph });
    check_values(&t, n, EDDY_SHAPE(2), (const double[]){ 1.5, 2 });
    check_values(&t, eddy_output(n, 1), EDDY_SHAPE(2), (const double[]){ 2.25, 4 });
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------------ bins -- */

START_TEST(bins)
{
    trial t = trial_begin(6);
    const int32_t v[] = { 1, 1, 2, 7, -3, 0, 2, 1 }, l[] = { 0, 1, 2, 2, 1, 9, 0, 0 };
    const float   w[] = { 0.5f, 1, 2, 100, 100, 4, 0.25f, 1 };
    eddy_tensor x = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2, 4), v);
    eddy_tensor y = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2, 4), l);
    eddy_tensor weights = eddy_const(t.graph, EDDY_FLOAT32, EDDY_SHAPE(2, 4), w);
    eddy_tensor sums = eddy_bincount(x, 4, weights);
    check_values(&t, eddy_bincount(x, 4), EDDY_SHAPE(4), (const double[]){ 1, 3, 2, 0 });
    check_values(&t, sums, EDDY_SHAPE(4), (const double[]){ 4, 2.5, 2.25, 0 });
    check_values(&t, eddy_bincount(x, 0), EDDY_SHAPE(0), NULL);
    check_values(&t, gradient_with(sums, Square(sums), weights), EDDY_SHAPE(2, 4),
                 (const double[]){ 6.25, 6.25, 5.0625, 0, 0, 16, 5.0625, 6.25 });
    check_values(&t, eddy_confusion_matrix(y, x, 3, (eddy_tensor){ .graph = t.graph }),
                 EDDY_SHAPE(3, 3), (const double[]){ 0, 2, 1, 0, 1, 0, 0, 0, 1 });
    /* The example in the documentation of tf.histogram_fixed_width, and what is outside. */
    const double h[] = { -1, 0, 1.5, 2, 5, 15, (double)NAN };
    eddy_tensor values = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(7), h);
    eddy_tensor range = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 0, 5 });
    check_values(&t, eddy_histogram_fixed_width_bins(values, range, 5), EDDY_SHAPE(7),
                 (const double[]){ 0, 0, 1, 2, 4, 4, -1 });
    check_values(&t, eddy_histogram_fixed_width(values, range, 5), EDDY_SHAPE(5),
                 (const double[]){ 2, 1, 1, 0, 2 });
    /* That of tf.raw_ops.Bucketize. */
    const int32_t b[] = { -5, 10000, 150, 10, 5, 100 };
    const float   edges[] = { 0, 10, 100 };
    check_values(&t, eddy_bucketize(eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(3, 2), b),
                                    eddy_const(t.graph, EDDY_FLOAT32, EDDY_SHAPE(3), edges)),
                 EDDY_SHAPE(3, 2), (const double[]){ 0, 3, 3, 2, 1, 3 });
    trial_end(&t);
}
END_TEST

START_TEST(among_the_largest)
{
    trial t = trial_begin(7);
    const double p[] = { 0.1, 0.3, 0.2, 0.4, 0.1, 0.2, 0.3, 0.4,      /* as in TensorFlow's test */
                         1, 1, 1, 0, 1, (double)INFINITY, 2, 3 };
    const int32_t l[] = { 2, 2, 0, 0 }, off[] = { 4, -1, 3, 2 };
    eddy_tensor x = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(4, 4), p);
    eddy_tensor labels = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(4), l);
    eddy_tensor none = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(4), off);
    check_values(&t, eddy_in_top_k(x, labels, 2), EDDY_SHAPE(4), (const double[]){ 0, 1, 1, 0 });
    check_values(&t, eddy_in_top_k(x, labels, 0), EDDY_SHAPE(4), (const double[]){ 0, 0, 0, 0 });
    check_values(&t, eddy_in_top_k(x, none, 9), EDDY_SHAPE(4), (const double[]){ 0, 0, 1, 0 });
    trial_end(&t);
}
END_TEST

START_TEST(along_an_axis)
{
    trial t = trial_begin(8);
    eddy_tensor x = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2, 3),
                               (int32_t[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor at = eddy_const(t.graph, EDDY_INT64, EDDY_SHAPE(2, 2), (int64_t[]){ 2, 3, 0, 0 });
    eddy_tensor taken = eddy_take_along(x, at, 1);
    check_values(&t, taken, EDDY_SHAPE(2, 2), (const double[]){ 3, 0, 4, 4 });
    check_values(&t, eddy_put_along(taken, at, x, -1), EDDY_SHAPE(2, 3),
                 (const double[]){ 0, 0, 3, 8, 0, 0 });
    check_values(&t, eddy_take_along(Cast(x, EDDY_COMPLEX128), at, 1), EDDY_SHAPE(2, 2),
                 (const double[]){ 3, 0, 4, 4 });
    trial_end(&t);
}
END_TEST

Suite *sorting_suite(void)
{
    Suite *suite = suite_create("sorting");
    TCase *c = tcase_create("sorting");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, sorts, 0, SEEDS);
    tcase_add_loop_test(c, largest, 0, SEEDS);
    tcase_add_test(c, sorts_special_values);
    tcase_add_loop_test(c, sorting_gradients, 0, SEEDS);
    tcase_add_loop_test(c, threads, 0, 2);
    tcase_add_loop_test(c, running_extremes, 0, SEEDS);
    tcase_add_loop_test(c, running_logarithms, 0, SEEDS);
    tcase_add_test(c, running_logarithms_of_extremes);
    tcase_add_test(c, quantiles);
    tcase_add_test(c, variances);
    tcase_add_test(c, norms_and_counts);
    tcase_add_test(c, bins);
    tcase_add_test(c, among_the_largest);
    tcase_add_test(c, along_an_axis);
    suite_add_tcase(suite, c);
    return suite;
}
