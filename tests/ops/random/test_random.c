/* test_random.c -- the generator against published vectors, the distributions against their exact
 * laws, and documented properties of the operations. */
#include "../../../eddy.h"
#include "ops/short_names.h"
#include "ops/kernels/random/philox.h"
#include "build/gen/table.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *random_suite(void);

enum { SAMPLE = 100000 };

static eddy_stream stream(uint64_t own, uint64_t step)
{
    return (eddy_stream){ eddy__philox_key(87654321, own, 0), step };
}

/* ------------------------------------------------------------- the cipher -- */

START_TEST(known_answers)
{
    static const struct { uint64_t key, low, high; uint32_t word[4]; } rows[] = {
        { 0, 0, 0, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { ~0ull, ~0ull, ~0ull, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { 0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e,
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    eddy_philox_block b = eddy__philox(rows[_i].key, rows[_i].low, rows[_i].high);
    ck_assert_mem_eq(b.word, rows[_i].word, sizeof b.word);
}
END_TEST

/* Many blocks at once are the single ones, also across 2^32. */
START_TEST(words_are_blocks)
{
    static uint32_t w[4 * 100];
    const uint64_t  first = 0xFFFFFFC0u;
    for (int64_t n = 1; n <= 100; n += 33) {
        memset(w, 0, sizeof w);
        eddy__philox_words(stream(1, 7), first, n, w);
        for (int64_t i = 0; i < n; i++) {
            eddy_philox_block b = eddy__philox(stream(1, 7).key, first + (uint64_t)i, 7);
            ck_assert_mem_eq(w + 4 * i, b.word, sizeof b.word);
        }
    }
}
END_TEST

/* ---------------------------------------------------------- distributions -- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: sqrt(n) times the largest distance between the
 * sample's distribution and the law.  Above 1.95 once in 1000 samples. */
static double distance(double *v, int64_t n, double (*law)(double))
{
    double d = 0;
    qsort(v, (size_t)n, sizeof *v, ascending);
    for (int64_t i = 0; i < n; i++) {
        double f = law(v[i]);
        d = fmax(d, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
    }
    return d * sqrt((double)n);
}

static double uniform_law(double x) { return x; }
static double normal_law(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double truncated_law(double x)
{
    return (normal_law(x) - normal_law(-2)) / (normal_law(2) - normal_law(-2));
}

typedef enum { U32, U64, N32, N64, T32, T64 } kind;

static void fill(kind what, eddy_stream s, int64_t n, double *v)
{
    static float f[SAMPLE];
    eddy_interval unit = { 0, 1 };
    eddy_gaussian g = { 0, 1, what >= T32 };
    if (what == U64) eddy__fill_uniform_f64(s, 0, n, unit, v);
    else if (what == U32) eddy__fill_uniform_f32(s, 0, n, unit, f);
    else if (what == N64 || what == T64) eddy__fill_normal_f64(s, 0, n, g, v);
    else eddy__fill_normal_f32(s, 0, n, g, f);
    bool single = what == U32 || what == N32 || what == T32;
    for (int64_t i = 0; i < n && single; i++) v[i] = (double)f[i];
}

/* sum of (x - mean)^power, in units of its own standard deviation: within 4
 * but once in 16000 samples. */
static double moment(const double *v, int64_t n, double mean, int power, double expected,
                     double variance)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += pow(v[i] - mean, power) - expected;
    return sum / sqrt(variance * (double)n);
}

static double correlation(const double *v, const double *w, int64_t n, double mean, double variance)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (v[i] - mean) * (w[i] - mean);
    return sum / (variance * sqrt((double)n));
}

START_TEST(laws)
{
    static double v[SAMPLE];
    kind          what = (kind)_i;
    double (*law)(double) = what <= U64 ? uniform_law : what <= N64 ? normal_law : truncated_law;
    fill(what, stream(5, 1), SAMPLE, v);
    if (what <= U64) {
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0.5, 1, 0, 1 / 12.0)), 4);
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0.5, 2, 1 / 12.0, 1 / 180.0)), 4);
    } else if (what <= N64) {
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0, 1, 0, 1)), 4);
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0, 2, 1, 2)), 4);
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0, 3, 0, 15)), 4);
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0, 4, 3, 96)), 4);
    } else {
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0, 1, 0, 0.773741)), 4);
        ck_assert_double_lt(fabs(moment(v, SAMPLE, 0, 2, 0.773741, 0.8175)), 4);
    }
    ck_assert_double_lt(distance(v, SAMPLE, law), 1.95);
    double low = what <= U64 ? 0 : what <= N64 ? -9 : -2, high = what <= U64 ? 1 : -low;
    ck_assert_double_ge(v[0], low);
    ck_assert_double_lt(v[SAMPLE - 1], high);
}
END_TEST

/* Neighbors in an array, in steps, in seeds, and in the graph's seed. */
START_TEST(independence)
{
    static double v[SAMPLE], w[SAMPLE];
    kind          what = (kind)_i;
    double        mean = what <= U64 ? 0.5 : 0;
    double        variance = what <= U64 ? 1 / 12.0 : what <= N64 ? 1 : 0.773741;
    fill(what, stream(9, 3), SAMPLE, v);
    for (int lag = 1; lag <= 8; lag++)
        ck_assert_double_lt(fabs(correlation(v, v + lag, SAMPLE - lag, mean, variance)), 4);
    fill(what, stream(9, 4), SAMPLE, w);
    ck_assert_double_lt(fabs(correlation(v, w, SAMPLE, mean, variance)), 4);
    fill(what, stream(10, 3), SAMPLE, w);
    ck_assert_double_lt(fabs(correlation(v, w, SAMPLE, mean, variance)), 4);
    fill(what, (eddy_stream){ eddy__philox_key(87654322, 9, 0), 3 }, SAMPLE, w);
    ck_assert_double_lt(fabs(correlation(v, w, SAMPLE, mean, variance)), 4);
}
END_TEST

/* The two halves of a pair have independent sizes, too. */
START_TEST(normal_pairs)
{
    static double v[SAMPLE];
    fill(_i ? N64 : N32, stream(6, 1), SAMPLE, v);
    double sum = 0;
    for (int i = 0; i < SAMPLE; i += 2) sum += (v[i] * v[i] - 1) * (v[i + 1] * v[i + 1] - 1);
    ck_assert_double_lt(fabs(sum / sqrt(4 * SAMPLE / 2.0)), 4);
}
END_TEST

/* Normals agree with the textbook formula, computed by the C library. */
START_TEST(normal_values)
{
    static double   v[4000];
    static uint32_t w[8000];
    eddy__philox_words(stream(3, 0), 0, 2000, w);
    fill(N64, stream(3, 0), 4000, v);
    for (int i = 0; i < 4000; i += 2) {
        double u = eddy__unit_f64(w[2 * i], w[2 * i + 1]) + 0x1p-53;
        double turn = eddy__unit_f64(w[2 * i + 2], w[2 * i + 3]);
        double r = sqrt(-2 * log(u)), angle = 6.283185307179586 * turn;
        ck_assert_double_eq_tol(v[i], r * cos(angle), 2e-14);
        ck_assert_double_eq_tol(v[i + 1], r * sin(angle), 2e-14);
    }
}
END_TEST

/* An element's value does not depend on how many there are, nor on where a
 * piece of the tensor begins. */
START_TEST(pieces)
{
    static double whole[5000], piece[5000];
    for (int truncated = 0; truncated < 2; truncated++) {
        eddy_gaussian g = { 0, 1, truncated };
        eddy__fill_normal_f64(stream(2, 2), 0, 5000, g, whole);
        for (int64_t at = 0; at < 5000; at += 1252) {
            int64_t n = 5000 - at < 1252 ? 5000 - at : 1252;
            eddy__fill_normal_f64(stream(2, 2), at, n, g, piece + at);
        }
        ck_assert_mem_eq(whole, piece, sizeof whole);
    }
}
END_TEST

/* Where rounding would reach the upper bound, it must not. */
START_TEST(uniform_bounds)
{
    static float v[SAMPLE];
    const float  low = 1, high = 1 + 0x1p-22f;
    int          at_low = 0, above = 0;
    eddy__fill_uniform_f32(stream(1, 1), 0, SAMPLE, (eddy_interval){ (double)low, (double)high },
                           v);
    for (int i = 0; i < SAMPLE; i++) {
        ck_assert(v[i] >= low && v[i] < high);
        if (v[i] == low) at_low++;
        else above++;
    }
    ck_assert_int_gt(at_low, SAMPLE / 5);
    ck_assert_int_gt(above, SAMPLE / 5);
}
END_TEST

/* ---------------------------------------------------------------- integers -- */

/* (chi^2 - mean)/deviation of counts that should be equal. */
static double chi_square(const double *count, int bins, double n)
{
    double x = 0, e = n / bins;
    for (int i = 0; i < bins; i++) x += (count[i] - e) * (count[i] - e) / e;
    return (x - (bins - 1)) / sqrt(2.0 * (bins - 1));
}

START_TEST(integers_are_even)
{
    static int32_t v[SAMPLE];
    static double  count[1000];
    const int      range[] = { 2, 7, 1000 }, low = -3;
    for (int r = 0; r < 3; r++) {
        memset(count, 0, sizeof count);
        eddy__fill_integer_i32(stream(4, (uint64_t)r), 0, SAMPLE, low, (uint64_t)range[r], v);
        for (int i = 0; i < SAMPLE; i++) {
            ck_assert(v[i] >= low && v[i] < low + range[r]);
            count[v[i] - low]++;
        }
        ck_assert_double_lt(fabs(chi_square(count, range[r], SAMPLE)), 4);
    }
}
END_TEST

/* 64 random bits scaled to this range would give remainders 2:1:1. */
START_TEST(wide_integers_are_even)
{
    static int64_t v[SAMPLE];
    double         count[3] = { 0 };
    eddy__fill_integer_i64(stream(4, 9), 0, SAMPLE, INT64_MIN, 3ull << 62, v);
    for (int i = 0; i < SAMPLE; i++) {
        ck_assert(v[i] < (int64_t)1 << 62);
        count[((uint64_t)v[i] - (uint64_t)INT64_MIN) % 3]++;
    }
    ck_assert_double_lt(fabs(chi_square(count, 3, SAMPLE)), 4);
}
END_TEST

/* --------------------------------------------------------------------- ops */

/* The value of t in run number `run` of a new session. */
static eddy_array *value_in_run(eddy_graph *g, eddy_tensor t, int run)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out = NULL;
    for (int i = 0; i <= run; i++)
        ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), &out) == EDDY_OK, "%s",
                      eddy_session_message(s));
    eddy_session_free(s);
    ck_assert_ptr_nonnull(out);
    return out;
}

/* Whether a and b have the same value in run `run_a` and `run_b`. */
static bool same_values(eddy_tensor a, int run_a, eddy_tensor b, int run_b)
{
    eddy_array *x = value_in_run(a.graph, a, run_a), *y = value_in_run(b.graph, b, run_b);
    bool        same = eddy_array_equal(x, y);
    eddy_array_free(x);
    eddy_array_free(y);
    return same;
}

static eddy_tensor numbers(eddy_graph *g, int64_t n)
{
    return eddy_range(eddy_number(g, EDDY_INT32, 0), eddy_number(g, EDDY_INT32, (double)n),
                      eddy_number(g, EDDY_INT32, 1));
}

/* One of each op, [50] or [7,7]. */
enum { OPS = 7 };
static eddy_tensor random_op(eddy_graph *g, int which, int64_t seed)
{
    eddy_shape s = EDDY_SHAPE(50);
    switch (which) {
    case 0: return eddy_random_uniform(g, s, .seed = seed);
    case 1: return eddy_random_uniform(g, s, .dtype = EDDY_FLOAT64, .seed = seed);
    case 2: return eddy_random_uniform_int(g, s, 0, 1000, .seed = seed);
    case 3: return eddy_random_normal(g, s, .seed = seed);
    case 4: return eddy_truncated_normal(g, s, .seed = seed);
    case 5: return eddy_random_shuffle(numbers(g, 50), .seed = seed);
    default: return eddy_init_orthogonal(g, EDDY_FLOAT32, EDDY_SHAPE(7, 7), seed);
    }
}

/* Values repeat in a new session and differ between runs, seeds, ops without a
 * seed, and graphs of another seed; nodes built elsewhere do not matter. */
START_TEST(seeds)
{
    eddy_graph *g = eddy_graph_new(.seed = 7), *h = eddy_graph_new(.seed = 8);
    eddy_tensor own = random_op(g, _i, 0), own_2 = random_op(g, _i, 0);
    eddy_tensor five = random_op(g, _i, 5), five_2 = random_op(g, _i, 5), six = random_op(g, _i, 6);
    eddy_tensor as_own = random_op(g, _i, own.node);
    ck_assert(same_values(own, 0, own, 0) && same_values(own, 3, own, 3));
    ck_assert(!same_values(own, 0, own, 1));
    ck_assert(!same_values(own, 0, own_2, 0));
    ck_assert(!same_values(own, 0, as_own, 0));
    ck_assert(same_values(five, 1, five_2, 1));
    ck_assert(!same_values(five, 0, six, 0));
    ck_assert(!same_values(random_op(h, _i, 5), 0, five, 0));
    eddy_graph_set_seed(h, 7);
    ck_assert(same_values(random_op(h, _i, 5), 2, five, 2));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    eddy_graph_free(g);
    eddy_graph_free(h);
}
END_TEST

/* A graph read from a file is the same graph, and gives the same numbers. */
START_TEST(loaded)
{
    eddy_graph *g = eddy_graph_new(.seed = 7);
    eddy_tensor own = random_op(g, _i, 0), five = random_op(g, _i, INT64_MIN);
    char       *text = eddy_graph_to_yaml(g);
    ck_assert_ptr_nonnull(text);
    eddy_error  e = { 0 };
    eddy_graph *h = eddy_graph_load(.text = text, .error = &e);
    ck_assert_msg(h != NULL, "%s", e.message);
    ck_assert(same_values(own, 1, eddy_graph_operation(h, eddy_name_of(own)), 1));
    ck_assert(same_values(five, 1, eddy_graph_operation(h, eddy_name_of(five)), 1));
    eddy_string_free(text);
    eddy_graph_free(g);
    eddy_graph_free(h);
}
END_TEST

/* Other nodes of a run do not change a draw; fetched twice, it is drawn once. */
START_TEST(company)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   u = eddy_random_uniform(g, EDDY_SHAPE(9));
    eddy_tensor   v = eddy_random_normal(g, EDDY_SHAPE(9));
    eddy_array   *alone = value_in_run(g, v, 0), *out[3] = { NULL };
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(v, u, v), out), EDDY_OK);
    ck_assert(eddy_array_equal(out[0], alone) && eddy_array_equal(out[2], alone));
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_array_free(alone);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The shape comes from x at each run; elements that both shapes have are the same. */
START_TEST(like_forms)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_tensor   t[4] = { eddy_random_uniform_like(x), eddy_random_normal_like(x),
                           eddy_truncated_normal_like(x),
                           eddy_random_uniform_like(x, 1, 7, .dtype = EDDY_UINT8) };
    eddy_array   *two = eddy_array_new(EDDY_INT32, EDDY_SHAPE(2, 3));
    eddy_array   *five = eddy_array_new(EDDY_INT32, EDDY_SHAPE(5, 3)), *a = NULL, *b = NULL;
    for (int i = 0; i < 4; i++) {
        eddy_session *s = eddy_session_new(g), *r = eddy_session_new(g);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(t[i]), &a), EDDY_OK);
        ck_assert_int_eq(eddy_run(r, EDDY_FEED({ x, five }), EDDY_FETCH(t[i]), &b), EDDY_OK);
        ck_assert(eddy_shape_equal(eddy_array_shape(b), EDDY_SHAPE(5, 3)));
        ck_assert_mem_eq(eddy_array_data(a), eddy_array_data(b), eddy_array_bytes(a));
        eddy_session_free(s);
        eddy_session_free(r);
    }
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(two);
    eddy_array_free(five);
    eddy_graph_free(g);
}
END_TEST

/* The attributes arrive: bounds, mean, deviation. */
START_TEST(parameters)
{
    eddy_graph *g = eddy_graph_new();
    eddy_array *u = value_in_run(g, eddy_random_uniform(g, EDDY_SHAPE(10000), -3, 5), 0);
    eddy_array *n = value_in_run(g, eddy_random_normal(g, EDDY_SHAPE(10000), 10, 2), 0);
    eddy_array *d =
        value_in_run(g, eddy_random_uniform(g, EDDY_SHAPE(10000), .minval = -5, .maxval = 0), 0);
    double      su = 0, sn = 0, sd = 0;
    for (int i = 0; i < 10000; i++) {
        double x = eddy_array_get(u, i), z = (eddy_array_get(n, i) - 10) / 2;
        ck_assert(x >= -3 && x < 5);
        su += x - 1;
        sn += z;
        sd += z * z - 1;
        x = eddy_array_get(d, i);
        ck_assert(x >= -5 && x < 0);
    }
    ck_assert_double_lt(fabs(su) / (8 / sqrt(12) * 100), 4);
    ck_assert_double_lt(fabs(sn) / 100, 4);
    ck_assert_double_lt(fabs(sd) / (sqrt(2) * 100), 4);
    eddy_array_free(u);
    eddy_array_free(n);
    eddy_array_free(d);
    eddy_graph_free(g);
}
END_TEST

/* All 24 orders of four rows, equally often; rows stay whole. */
START_TEST(shuffle_orders)
{
    enum { RUNS = 4800 };
    eddy_graph   *g = eddy_graph_new();
    const int32_t rows[4][3] = { { 0, 10, 20 }, { 1, 11, 21 }, { 2, 12, 22 }, { 3, 13, 23 } };
    eddy_tensor   y = eddy_random_shuffle(eddy_const(g, EDDY_INT32, EDDY_SHAPE(4, 3), rows));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out = NULL;
    double        count[256] = { 0 }, order[24];
    for (int i = 0; i < RUNS; i++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out), EDDY_OK);
        const int32_t *v = eddy_array_data(out);
        for (int r = 0; r < 4; r++) ck_assert_mem_eq(v + 3 * r, rows[v[3 * r]], sizeof rows[0]);
        count[v[0] * 64 + v[3] * 16 + v[6] * 4 + v[9]]++;
    }
    int seen = 0;
    for (int i = 0; i < 256; i++)
        if (count[i] > 0 && seen < 24) order[seen++] = count[i];
    ck_assert_int_eq(seen, 24);
    ck_assert_double_lt(fabs(chi_square(order, 24, RUNS)), 4);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Of a long tensor every place gets every element; none is lost. */
START_TEST(shuffle_places)
{
    enum { N = 20000, BINS = 20 };
    eddy_graph    *g = eddy_graph_new();
    eddy_array    *a = value_in_run(g, eddy_random_shuffle(numbers(g, N)), 0);
    const int32_t *v = eddy_array_data(a);
    static bool    seen[N];
    double         count[BINS * BINS] = { 0 };
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < N; i++) {
        ck_assert(v[i] >= 0 && v[i] < N && !seen[v[i]]);
        seen[v[i]] = true;
        count[i / (N / BINS) * BINS + v[i] / (N / BINS)]++;
    }
    ck_assert_double_lt(fabs(chi_square(count, BINS * BINS, N)), 4);
    eddy_array_free(a);
    eddy_graph_free(g);
}
END_TEST

START_TEST(small_shapes)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor t[] = {
        eddy_random_uniform(g, EDDY_SCALAR),
        eddy_random_normal(g, EDDY_SHAPE(1), .dtype = EDDY_FLOAT64),
        eddy_truncated_normal(g, EDDY_SHAPE(3, 0, 2)),
        eddy_random_uniform_int(g, EDDY_SHAPE(0), 0, 1),
        eddy_random_shuffle(eddy_scalar(g, 3)),
        eddy_random_shuffle(eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(0, 4))),
        eddy_init_orthogonal(g, EDDY_FLOAT32, EDDY_SHAPE(0, 3), 0),
        eddy_dropout(eddy_scalar(g, 1), 0.5),
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        eddy_array *a = value_in_run(g, t[i], 0);
        ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_shape_of(t[i])));
        eddy_array_free(a);
    }
    eddy_graph_free(g);
}
END_TEST

static void refused(eddy_graph *g, eddy_tensor t, eddy_status s)
{
    ck_assert(!eddy_is_valid(t));
    ck_assert_msg(eddy_graph_status(g) == s, "%s: %s", eddy_status_name(eddy_graph_status(g)),
                  eddy_graph_message(g));
    eddy_graph_clear_error(g);
}

START_TEST(refusals)
{
    eddy_graph *g = eddy_graph_new();
    eddy_shape  s = EDDY_SHAPE(2);
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    refused(g, eddy_random_uniform(g, EDDY_SHAPE(EDDY_ANY)), EDDY_BAD_SHAPE);
    refused(g, eddy_random_uniform(g, EDDY_UNKNOWN_SHAPE), EDDY_BAD_SHAPE);
    refused(g, eddy_random_normal(g, eddy_shape_of_dims(NULL, 3)), EDDY_BAD_SHAPE);
    refused(g, eddy_random_uniform(g, s, 2, 2), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform(g, s, 2, (double)NAN), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform(g, s, -1e39, 0), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform(g, s, -1.7e308, 1.7e308, EDDY_FLOAT64), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform(g, s, 1, 1 + 1e-9), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform(g, s, 0, 1, EDDY_BOOL), EDDY_BAD_DTYPE);
    refused(g, eddy_random_uniform(g, s, .dtype = EDDY_INT32), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform(g, s, 0, 1.5, EDDY_INT32), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform(g, s, 0, 1e300, EDDY_INT64), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform_int(g, s, 0, 257, EDDY_UINT8), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_uniform_int(g, s, 0, 1, EDDY_FLOAT32), EDDY_BAD_DTYPE);
    refused(g, eddy_random_normal(g, s, 0, -1), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_random_normal(g, s, (double)INFINITY), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_truncated_normal(g, s, .dtype = EDDY_INT32), EDDY_BAD_DTYPE);
    refused(g, eddy_dropout(x, 1), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_dropout(x, -0.1), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_dropout(x, (double)NAN), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_dropout(x, 0.5, EDDY_DIMS(3, 3)), EDDY_BAD_SHAPE);
    refused(g, eddy_dropout(x, 0.5, EDDY_DIMS(1, 2, 3)), EDDY_BAD_SHAPE);
    refused(g, eddy_dropout(numbers(g, 3), 0.5), EDDY_BAD_DTYPE);
    refused(g, eddy_init_orthogonal(g, EDDY_FLOAT32, s, 0), EDDY_BAD_SHAPE);
    refused(g, eddy_gradient(eddy_random_shuffle(x), x), EDDY_NO_GRADIENT);
    ck_assert(!eddy_is_valid(eddy_random_uniform(NULL, s)));
    ck_assert(!eddy_is_valid(eddy_random_uniform_like(EDDY_NO_TENSOR)));
    ck_assert(!eddy_is_valid(eddy_dropout(EDDY_NO_TENSOR, 0.5)));
    eddy_graph_free(g);
}
END_TEST

Suite *random_suite(void)
{
    Suite *s = suite_create("random");
    TCase *t = tcase_create("philox");
    tcase_add_loop_test(t, known_answers, 0, 3);
    tcase_add_test(t, words_are_blocks);
    suite_add_tcase(s, t);
    t = tcase_create("distributions");
    tcase_add_loop_test(t, laws, 0, 6);
    tcase_add_loop_test(t, independence, 0, 6);
    tcase_add_loop_test(t, normal_pairs, 0, 2);
    tcase_add_test(t, normal_values);
    tcase_add_test(t, pieces);
    tcase_add_test(t, uniform_bounds);
    tcase_add_test(t, integers_are_even);
    tcase_add_test(t, wide_integers_are_even);
    suite_add_tcase(s, t);
    t = tcase_create("ops");
    tcase_add_loop_test(t, seeds, 0, OPS);
    tcase_add_loop_test(t, loaded, 0, OPS);
    tcase_add_test(t, company);
    tcase_add_test(t, like_forms);
    tcase_add_test(t, parameters);
    tcase_add_test(t, shuffle_orders);
    tcase_add_test(t, shuffle_places);
    tcase_add_test(t, small_shapes);
    tcase_add_test(t, refusals);
    suite_add_tcase(s, t);
    return s;
}
