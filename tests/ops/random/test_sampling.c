/* test_sampling.c -- filters of logits against plain loops, and the frequencies of sampled classes
 * against the filtered distribution. */
#include "build/gen/suites.h"
#include "ops/short_names.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/golden.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 40, ROWS = 4, SAMPLES = 40000 };

typedef struct options {
    double  temperature, top_p, min_p;
    int64_t top_k;
} options;

/* ----------------------------------------------------------------- in plain C -- */

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void keep_from(double *x, int n, double least)
{
    for (int i = 0; i < n; i++)
        if (x[i] < least) x[i] = -INFINITY;
}

/* The kth largest of x; the least of those that are needed for a probability of p. */
static double nth(const double *x, int n, int64_t k, double p)
{
    double sorted[MOST], sum = 0, before = 0;
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, descending);
    if (k) return sorted[(k < n ? k : n) - 1];
    for (int i = 0; i < n; i++) sum += exp(sorted[i] - sorted[0]);
    int last = 0;
    for (int i = 0; i < n; i++) {
        if (before < p) last = i;
        before += exp(sorted[i] - sorted[0]) / sum;
    }
    return sorted[last];
}

static void plain_filter(const options *o, double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) x[i] = -INFINITY;
    const double top = nth(x, n, 1, 0);
    for (int i = 0; i < n && o->temperature != 1; i++) x[i] = (x[i] - top) / o->temperature;
    if (o->top_k) keep_from(x, n, nth(x, n, o->top_k, 0));
    if (o->top_p < 1) keep_from(x, n, nth(x, n, 0, o->top_p));
    if (o->min_p > 0) keep_from(x, n, nth(x, n, 1, 0) + log(o->min_p));
}

static options some_options(trial *t)
{
    options o = { .temperature = pick(t, 2) ? 1 : 0.1 + pick(t, 30) / 10.0,
                  .top_p = pick(t, 2) ? 1 : 0.013 + pick(t, 98) / 100.0,
                  .min_p = pick(t, 2) ? 0 : 0.0037 + pick(t, 99) / 100.0,
                  .top_k = pick(t, 2) ? 0 : 1 + pick(t, MOST + 5) };
    return o;
}

/* Logits of which some are equal, and some are not finite, but never all of a row. */
static eddy_array *some_logits(trial *t, eddy_dtype d, int64_t classes)
{
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(ROWS, classes));
    for (int64_t i = 0; i < ROWS * classes; i++) {
        const double odd[] = { (double)NAN, (double)INFINITY, -(double)INFINITY };
        const bool   finite = i % classes == 0 || pick(t, 12);
        eddy_array_set(a, i, finite ? (pick(t, 65) - 32) / 8.0 : odd[pick(t, 3)]);
    }
    return a;
}

static eddy_tensor filter(const options *o, eddy_tensor x)
{
    return eddy_filter_logits(x, o->temperature, o->top_k ? o->top_k : EDDY_OMITTED, o->top_p,
                              o->min_p);
}

START_TEST(filters)
{
    trial            t = trial_begin((unsigned)_i);
    const options    o = some_options(&t);
    const eddy_dtype d = pick(&t, 2) ? EDDY_FLOAT32 : EDDY_FLOAT64;
    const int        classes = 1 + pick(&t, MOST);
    eddy_array      *x = some_logits(&t, d, classes);
    eddy_tensor      logits = eddy_set_shape(fed(&t, x), EDDY_SHAPE(EDDY_ANY, classes));
    eddy_array      *y = value(&t, filter(&o, logits));
    for (int r = 0; r < ROWS; r++) {
        double want[MOST];
        for (int i = 0; i < classes; i++) want[i] = eddy_array_get(x, r * classes + i);
        plain_filter(&o, want, classes);
        for (int i = 0; i < classes; i++) {
            const double have = eddy_array_get(y, r * classes + i);
            ck_assert_msg(isfinite(want[i]) ? fabs(have - want[i]) < 1e-5 : have == want[i],
                          "row %d, class %d: %g, not %g", r, i, have, want[i]);
        }
    }
    eddy_array_free(y);
    trial_end(&t);
}
END_TEST

/* A probability that float32 cannot represent, and temperatures at which the difference of the
 * largest floats, divided, is finite. */
START_TEST(extremes)
{
    const double inf = (double)INFINITY, x[3] = { -FLT_MAX, FLT_MAX, 1 };
    trial             t = trial_begin(3);
    const eddy_tensor wide = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(1, 3), x);
    const eddy_tensor logits = Cast(wide, EDDY_FLOAT32), small = eddy_zeros_like(logits);
    check_values(&t, eddy_filter_logits(logits, .top_p = 1e-50), EDDY_SHAPE(1, 3),
                 (double[]){ -inf, (double)FLT_MAX, -inf });
    check_values(&t, eddy_filter_logits(wide, .top_p = 1e-320), EDDY_SHAPE(1, 3),
                 (double[]){ -inf, (double)FLT_MAX, -inf });
    check_values(&t, eddy_sample_logits(logits, .top_p = 1e-50), EDDY_SHAPE(1), (double[]){ 1 });
    check_values(&t, eddy_filter_logits(small, .top_p = 1e-50), EDDY_SHAPE(1, 3),
                 (double[]){ 0, 0, 0 });
    check_values(&t, Div(eddy_filter_logits(logits, 1e30), (double)FLT_MAX / 1e30),
                 EDDY_SHAPE(1, 3), (double[]){ -2, 0, -1 });
    trial_end(&t);
}
END_TEST

START_TEST(gradients)
{
    trial         t = trial_begin((unsigned)_i);
    const options o = some_options(&t);
    eddy_array   *x = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, 7));
    for (int i = 0; i < 14; i++) eddy_array_set(x, i, (i * 5 + 3) % 14 / 3.0);
    const eddy_tensor logits = fed(&t, x);
    const eddy_tensor y = filter(&o, eddy_set_shape(logits, EDDY_SHAPE(2, 7)));
    const eddy_tensor dx = eddy_gradient(y, logits), kept = Cast(IsFinite(y), EDDY_FLOAT64);
    eddy_array *have = value(&t, dx), *want = value(&t, Div(kept, o.temperature));
    for (int i = 0; i < 14; i++)
        ck_assert(fabs(eddy_array_get(have, i) - eddy_array_get(want, i)) < 1e-12);
    eddy_array_free(have);
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------------------- samples -- */

/* (chi^2 - mean) / deviation; no class without probability occurs. */
static double surprise(const double *count, const double *p, int n)
{
    double x = 0;
    int    used = 0;
    for (int i = 0; i < n; i++) {
        if (p[i] <= 0) ck_assert(count[i] == 0);
        else x += pow(count[i] - p[i] * SAMPLES, 2) / (p[i] * SAMPLES), used++;
    }
    return used < 2 ? 0 : (x - (used - 1)) / sqrt(2.0 * (used - 1));
}

START_TEST(frequencies)
{
    static const options all[] = {
        { 1, 1, 0, 0 }, { 0.5, 1, 0, 0 }, { 2, 1, 0, 3 }, { 1, 0.8, 0, 0 }, { 1, 1, 0.3, 0 },
        { 1.5, 0.9, 0.1, 5 }, { 1, 1, 0, 1 },
    };
    enum { CLASSES = 8 };
    const options *o = &all[_i % 7];
    const double   x[CLASSES] = { 0.3, -1, 1.5, 0.7, 2.1, (double)NAN, 0.1, 1.2 };
    double         p[CLASSES], count[CLASSES] = { 0 }, sum = 0;
    trial          t = trial_begin((unsigned)_i);
    const eddy_dtype d = _i < 7 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    memcpy(p, x, sizeof p);
    plain_filter(o, p, CLASSES);
    for (int i = 0; i < CLASSES; i++) sum += p[i] = exp(p[i]);
    for (int i = 0; i < CLASSES; i++) p[i] /= sum;
    const eddy_tensor row = Cast(eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(1, CLASSES), x), d);
    const eddy_tensor rows = Add(row, eddy_zeros(t.graph, d, EDDY_SHAPE(SAMPLES, 1)));
    eddy_array *y = value(&t, eddy_sample_logits(rows, o->temperature,
                                                 o->top_k ? o->top_k : EDDY_OMITTED, o->top_p,
                                                 o->min_p, .seed = 7));
    ck_assert(eddy_array_dtype(y) == EDDY_INT32 && eddy_array_count(y) == SAMPLES);
    for (int i = 0; i < SAMPLES; i++) count[(int)eddy_array_get(y, i)]++;
    ck_assert_double_lt(fabs(surprise(count, p, CLASSES)), 4);
    eddy_array_free(y);
    trial_end(&t);
}
END_TEST

static void run_fails_with(eddy_tensor y, eddy_status status)
{
    eddy_session *s = eddy_session_new(y.graph);
    eddy_array   *out = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out), status);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

/* The first of the largest finite logits, for any rank. */
START_TEST(greedy)
{
    trial       t = trial_begin(1);
    const double x[12] = { 1, 3, 3, (double)NAN, (double)INFINITY, -2, -5, -2,
                           -(double)INFINITY, -7, (double)NAN, -9 };
    const eddy_tensor logits = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(3, 1, 4), x);
    const eddy_tensor y = eddy_sample_logits(logits, 0, .dtype = EDDY_INT64);
    eddy_array *a = value(&t, y);
    eddy_array *b = value(&t, eddy_sample_logits(Neg(Cumsum(eddy_ones(t.graph, EDDY_FLOAT32,
                                                                      EDDY_SHAPE(4)))), 0));
    ck_assert(eddy_array_dtype(a) == EDDY_INT64 && eddy_array_shape(a).rank == 2);
    for (int i = 0; i < 3; i++) ck_assert(eddy_array_get(a, i) == 1);
    ck_assert(eddy_array_shape(b).rank == 0 && eddy_array_get(b, 0) == 0);
    eddy_array_free(a);
    eddy_array_free(b);
    trial_end(&t);
}
END_TEST

/* A session draws anew in each run, and the same again in another session. */
START_TEST(seeds)
{
    eddy_graph   *g = eddy_graph_new(.seed = 3);
    eddy_tensor   y = eddy_sample_logits(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(64, 50)));
    eddy_session *s[2] = { eddy_session_new(g), eddy_session_new(g) };
    eddy_array   *a = eddy_fetch(s[0], y), *b = eddy_fetch(s[0], y), *c = eddy_fetch(s[1], y);
    int           same = 0;
    for (int i = 0; i < 64; i++) {
        ck_assert(eddy_array_get(a, i) == eddy_array_get(c, i));
        same += eddy_array_get(a, i) == eddy_array_get(b, i);
    }
    ck_assert_int_lt(same, 16);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(c);
    eddy_session_free(s[0]);
    eddy_session_free(s[1]);
    eddy_graph_free(g);
}
END_TEST

START_TEST(repetitions)
{
    trial        t = trial_begin(5);
    const double x[10] = { 1, -2, 3, 0, 5, -1, -2, 3, 4, 0.5 };
    const double want[10] = { 0.5, -4, 3, 0, 5, -1, -2, 3, 4, 0.25 };
    const eddy_tensor logits = eddy_const(t.graph, EDDY_FLOAT64, EDDY_SHAPE(2, 5), x);
    const eddy_tensor ids = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2, 3),
                                       (int32_t[]){ 0, 1, 0, -1, 4, -3 });
    check_values(&t, eddy_repetition_penalty(logits, ids, 2), EDDY_SHAPE(2, 5), want);
    const eddy_tensor moved = Add(logits, 0.25), y = eddy_repetition_penalty(moved, ids, 3);
    eddy_array *dx = value(&t, eddy_gradient(y, moved)), *rate = value(&t, Div(y, moved));
    for (int i = 0; i < 10; i++)
        ck_assert(fabs(eddy_array_get(dx, i) - eddy_array_get(rate, i)) < 1e-12);
    eddy_array_free(dx);
    eddy_array_free(rate);
    trial_end(&t);
}
END_TEST

START_TEST(messages)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 5));
    const eddy_tensor ids = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2, 1), (int32_t[]){ 1, 5 });
    const eddy_tensor open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(2, EDDY_ANY));
    golden_begin("ops/sampling");
    eddy_filter_logits(ids), golden_graph(g);
    eddy_filter_logits(Sum(x)), golden_graph(g);
    eddy_filter_logits(x, 0), golden_graph(g);
    eddy_filter_logits(x, -1), golden_graph(g);
    eddy_filter_logits(x, (double)NAN), golden_graph(g);
    eddy_sample_logits(x, (double)INFINITY), golden_graph(g);
    eddy_sample_logits(x, .top_k = 0), golden_graph(g);
    eddy_sample_logits(open, .top_k = 2), golden_graph(g);
    eddy_sample_logits(x, .top_p = 0), golden_graph(g);
    eddy_sample_logits(x, .top_p = 1.5), golden_graph(g);
    eddy_sample_logits(x, .min_p = -0.5), golden_graph(g);
    eddy_sample_logits(x, .dtype = EDDY_FLOAT32), golden_graph(g);
    eddy_repetition_penalty(x, x, 2), golden_graph(g);
    eddy_repetition_penalty(x, Sum(ids, EDDY_AXES(0)), 2), golden_graph(g);
    eddy_repetition_penalty(x, ids, 0), golden_graph(g);
    eddy_repetition_penalty(x, ids, 1e-320), golden_graph(g);
    const eddy_tensor none = Log(Sub(x, 1));
    run_fails_with(eddy_sample_logits(none), EDDY_INVALID_ARGUMENT);
    run_fails_with(eddy_sample_logits(none, .top_p = 0.5), EDDY_INVALID_ARGUMENT);
    run_fails_with(eddy_sample_logits(none, 2, 3, .min_p = 0.1), EDDY_INVALID_ARGUMENT);
    run_fails_with(eddy_sample_logits(none, 0), EDDY_CHECK_FAILED);
    run_fails_with(eddy_repetition_penalty(x, ids, 2), EDDY_CHECK_FAILED);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *sampling_suite(void)
{
    Suite *suite = suite_create("sampling");
    TCase *t = tcase_create("sampling");
    tcase_add_loop_test(t, filters, 0, 400);
    tcase_add_test(t, extremes);
    tcase_add_loop_test(t, gradients, 0, 20);
    tcase_add_loop_test(t, frequencies, 0, 14);
    tcase_add_test(t, greedy);
    tcase_add_test(t, seeds);
    tcase_add_test(t, repetitions);
    tcase_add_test(t, messages);
    suite_add_tcase(suite, t);
    return suite;
}
