/* test_random.c -- the generator against published vectors, the distributions
 * against their exact laws, and the ops against what they promise. */
#include "eddy.h"
#include "ops/math.h"
#include "ops/philox.h"
#include "build/gen/table.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *random_suite(void);

enum { SAMPLE = 100000 };

static eddy_stream stream(uint64_t own, uint64_t step)
{
    return (eddy_stream){ eddy_philox_key(87654321, own, 0), step };
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
    eddy_philox_block b = eddy_philox(rows[_i].key, rows[_i].low, rows[_i].high);
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
        eddy_philox_words(stream(1, 7), first, n, w);
        for (int64_t i = 0; i < n; i++) {
            eddy_philox_block b = eddy_philox(stream(1, 7).key, first + (uint64_t)i, 7);
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
    if (what == U64) eddy_fill_uniform_f64(s, 0, n, unit, v);
    else if (what == U32) eddy_fill_uniform_f32(s, 0, n, unit, f);
    else if (what == N64 || what == T64) eddy_fill_normal_f64(s, 0, n, g, v);
    else eddy_fill_normal_f32(s, 0, n, g, f);
    for (int64_t i = 0; i < n && (what == U32 || what == N32 || what == T32); i++) v[i] = (double)f[i];
}

/* sum of (x - mean)^power, in units of its own standard deviation: within 4
 * but once in 16000 samples. */
static double moment(const double *v, int64_t n, double mean, int power, double expected, double variance)
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

/* Neighbours in an array, in steps, in seeds, and in the graph's seed. */
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
    fill(what, (eddy_stream){ eddy_philox_key(87654322, 9, 0), 3 }, SAMPLE, w);
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
    eddy_philox_words(stream(3, 0), 0, 2000, w);
    fill(N64, stream(3, 0), 4000, v);
    for (int i = 0; i < 4000; i += 2) {
        double u = eddy_unit_f64(w[2 * i], w[2 * i + 1]) + 0x1p-53;
        double turn = eddy_unit_f64(w[2 * i + 2], w[2 * i + 3]);
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
        eddy_fill_normal_f64(stream(2, 2), 0, 5000, g, whole);
        for (int64_t at = 0; at < 5000; at += 1252) {
            int64_t n = 5000 - at < 1252 ? 5000 - at : 1252;
            eddy_fill_normal_f64(stream(2, 2), at, n, g, piece + at);
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
    eddy_fill_uniform_f32(stream(1, 1), 0, SAMPLE, (eddy_interval){ (double)low, (double)high }, v);
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
        eddy_fill_integer_i32(stream(4, (uint64_t)r), 0, SAMPLE, low, (uint64_t)range[r], v);
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
    eddy_fill_integer_i64(stream(4, 9), 0, SAMPLE, INT64_MIN, 3ull << 62, v);
    for (int i = 0; i < SAMPLE; i++) {
        ck_assert(v[i] < (int64_t)1 << 62);
        count[((uint64_t)v[i] - (uint64_t)INT64_MIN) % 3]++;
    }
    ck_assert_double_lt(fabs(chi_square(count, 3, SAMPLE)), 4);
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
    return s;
}
