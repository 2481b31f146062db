/* test_vector_math.c -- float32 functions against float64 over all exponents, and equal bits from
 * each instruction set.
 *
 * EDDY_EVERY_FLOAT=1 makes the case tagged slow take every float there is, 7 each seventh. */
#include "build/gen/table.h"
#include "graph/base/cpu.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *vector_math_suite(void);

enum { BLOCK = 4096, QUICK = 2039, SLOW = 401 };

static double sigmoid(double x)  { return 1 / (1 + exp(-x)); }
static double gelu(double x)     { return 0.5 * x * erfc(-sqrt(0.5) * x); }
static double softplus(double x) { return x > 40 ? x : x < -40 ? exp(x) : log1p(exp(x)); }
static double logit(double x)    { return log(x) - log1p(-x); }
static double ndtr(double x)     { return 0.5 * erfc(-sqrt(0.5) * x); }
/* musl's gives numbers for large negative arguments. */
static double arcosh(double x)   { return x < 1 ? NAN : acosh(x); }

static const struct function {
    const eddy_op_def *op;
    double (*exact)(double x);
    double most;                   /* units in the last place */
} functions[] = {
    { &eddy_op_exp, exp, 1.1 },
    { &eddy_op_expm1, expm1, 1.7 },
    { &eddy_op_tanh, tanh, 2.6 },
    { &eddy_op_sigmoid, sigmoid, 2.5 },
    { &eddy_op_softplus, softplus, 1.8 },
    { &eddy_op_erf, erf, 1.8 },
    { &eddy_op_gelu, gelu, 5.2 },
    { &eddy_op_log, log, 0.9 },
    { &eddy_op_log1p, log1p, 1.5 },
    { &eddy_op_sin, sin, 1.6 },
    { &eddy_op_cos, cos, 1.6 },
    { &eddy_op_tan, tan, 3.4 },
    { &eddy_op_asin, asin, 2 },
    { &eddy_op_acos, acos, 1.5 },
    { &eddy_op_atan, atan, 1.7 },
    { &eddy_op_sinh, sinh, 2.4 },
    { &eddy_op_cosh, cosh, 1.6 },
    { &eddy_op_asinh, asinh, 1.9 },
    { &eddy_op_acosh, arcosh, 2.5 },
    { &eddy_op_atanh, atanh, 2.2 },
    { &eddy_op_logit, logit, 2.2 },
    { &eddy_op_exp2, exp2, 1.1 },
    { &eddy_op_log2, log2, 1.9 },
    { &eddy_op_log10, log10, 2 },
    { &eddy_op_cbrt, cbrt, 0.6 },
    { &eddy_op_erfc, erfc, 5.2 },
    { &eddy_op_ndtr, ndtr, 4.6 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const eddy_type f32 = { EDDY_FLOAT32, { .rank = 0 } };

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void apply(const eddy_op_def *op, int64_t n, float *y, const float *x)
{
    const void *in = x;
    ck_assert_int_eq(op->tile(&f32, &f32)(n, y, &in, NULL), EDDY_OK);
}

/* One over float32's unit in the last place of a number above 0. */
static double units_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t exponent = bits >> 52 < 1023 - 126 ? 1023 - 126 : bits >> 52;
    bits = (2 * 1023 + 23 - exponent) << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The error of y where `exact` is right, in float32's units in the last place;
 * beyond its largest number comes 2^128, and the sign of 0 counts. */
static double error_of(float y, double exact)
{
    const double over = 0x1p128;
    if (isnan(exact) || isnan(y)) return isnan(exact) && isnan(y) ? 0 : INFINITY;
    if (!signbit(y) != !signbit(exact)) return INFINITY;
    const double got = fmin(fabs((double)y), over), want = fmin(fabs(exact), over);
    if (isinf(exact)) return isinf(y) ? 0 : INFINITY;
    if (want == 0) return got == 0 ? 0 : INFINITY;
    return fabs(got - want) * units_of(want);
}

/* --------------------------------------------------------------- accuracy -- */

/* Every stride-th float through the function. */
static void hold(const struct function *f, uint64_t stride)
{
    float  x[BLOCK], y[BLOCK], at = 0, got = 0;
    double worst = 0;
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += BLOCK * stride) {
        for (uint64_t i = 0; i < BLOCK; i++) x[i] = from_bits((uint32_t)(bits + i * stride));
        apply(f->op, BLOCK, y, x);
        for (int i = 0; i < BLOCK; i++) {
            const double error = error_of(y[i], f->exact((double)x[i]));
            if (error > worst) worst = error, at = x[i], got = y[i];
        }
    }
    if (getenv("EDDY_EVERY_FLOAT")) printf("%s: %.3f at %a\n", f->op->name, worst, (double)at);
    ck_assert_msg(worst <= f->most, "%s(%a) is %a, wrong by %g units in the last place, not %g",
                  f->op->name, (double)at, (double)got, worst, f->most);
}

START_TEST(floats_of_every_exponent) { hold(&functions[_i], QUICK); }
END_TEST
START_TEST(many_floats)
{
    const char *stride = getenv("EDDY_EVERY_FLOAT");
    hold(&functions[_i], stride && atoi(stride) > 0 ? (uint64_t)atoi(stride) : SLOW);
}
END_TEST

START_TEST(edges_are_those_of_the_c_library)
{
    static const float edges[] = {
        0, INFINITY, NAN, 0x1p-149f, 0x1.8p-127f, 0x1p-126f, 0x1.fffffep127f, 1, 0x1p-25f,
        0x1p-24f, 0x1.62e42ep6f, 0x1.62e43p6f, 88, 89, 103.97208f, 103.97209f, 104, 150,
        0x1p20f, 0x1.000002p20f,
    };
    const struct function *f = &functions[_i];
    for (size_t i = 0; i < 2 * sizeof edges / sizeof *edges; i++) {
        const float x = i % 2 ? -edges[i / 2] : edges[i / 2];
        float y;
        apply(f->op, 1, &y, &x);
        const double error = error_of(y, f->exact((double)x));
        ck_assert_msg(error <= f->most, "%s(%a) is %a", f->op->name, (double)x, (double)y);
    }
}
END_TEST

/* A large argument of a sine takes another way, and its neighbors one by one. */
START_TEST(large_arguments_leave_their_neighbors_alone)
{
    const eddy_op_def *op = _i ? &eddy_op_cos : &eddy_op_sin;
    float x[BLOCK], y[BLOCK], alone[BLOCK];
    for (int i = 0; i < BLOCK; i++) x[i] = 0.37f * (float)(i - BLOCK / 2);
    apply(op, BLOCK, alone, x);
    for (int i = 3; i < BLOCK; i += 1000) x[i] = 1e30f;
    apply(op, BLOCK, y, x);
    for (int i = 0; i < BLOCK; i++) {
        const float far = _i ? cosf(x[i]) : sinf(x[i]), want = x[i] > 1e6f ? far : alone[i];
        ck_assert_msg(memcmp(&y[i], &want, sizeof want) == 0, "%s: element %d", op->name, i);
    }
}
END_TEST

/* ------------------------------------------------------- instruction sets -- */

enum { BYTES = BLOCK * 16 };     /* the largest results are complex128 */
typedef union elements {
    uint8_t  bytes[BYTES];
    float    f32[BYTES / sizeof(float)];
    double   f64[BYTES / sizeof(double)];
} elements;

/* Bits of any kind, or about one in all floats; bools are 0 and 1. */
static void fill(eddy_dtype d, elements *e, uint64_t seed)
{
    for (int i = 0; i < BYTES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        e->bytes[i] = (uint8_t)(seed >> 56) & (d == EDDY_BOOL ? 1 : 255);
    }
    for (int i = 0; i < BLOCK; i += 2) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const double value = ldexp((double)(int64_t)seed, -61);
        if (d == EDDY_FLOAT32) e->f32[i] = (float)value;
        if (d == EDDY_FLOAT64) e->f64[i] = value;
    }
}

/* To the bit, but for which NaN it is. */
static bool same(eddy_dtype d, const elements *a, const elements *b)
{
    if (memcmp(a, b, sizeof *a) == 0) return true;
    const size_t size = eddy_dtype_size(d);
    for (size_t i = 0; i < BYTES / size; i++) {
        if (d == EDDY_FLOAT32 && isnan(a->f32[i]) && isnan(b->f32[i])) continue;
        if (d == EDDY_FLOAT64 && isnan(a->f64[i]) && isnan(b->f64[i])) continue;
        if (memcmp(a->bytes + i * size, b->bytes + i * size, size) != 0) return false;
    }
    return true;
}

static void compare_loops(const eddy_op_def *op, eddy_dtype d)
{
    static elements x[2], first, y;
    const int       n = BLOCK - 3;
    const eddy_type t[2] = { { d, EDDY_SHAPE(n) }, { d, EDDY_SHAPE(n) } };
    const void     *in[2] = { &x[0], &x[1] };
    fill(d, &x[0], 1);
    fill(d, &x[1], 2);
    for (int level = EDDY_BASELINE; level <= EDDY_AVX512; level++) {
        eddy__instructions_limit((eddy_instructions)level);
        const eddy_tile_fn fn = op->tile(t, t);
        if (!fn) break;
        memset(&y, 0, sizeof y);
        fn(n, &y, in, NULL);
        if (level == EDDY_BASELINE) first = y;
        ck_assert_msg(same(d, &first, &y), "%s of %s differs between instruction sets 0 and %d",
                      op->name, eddy_dtype_name(d), level);
    }
    eddy__instructions_limit(EDDY_AVX512);
}

START_TEST(instruction_sets_agree_to_the_bit)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                         EDDY_UINT8, EDDY_BOOL };
    int compared = 0;
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++) {
        if (!(*op)->tile || (*op)->max_inputs > 2 || (*op)->attrs_size > 0) continue;
        compared++;
        for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) compare_loops(*op, dtypes[i]);
    }
    ck_assert_int_gt(compared, 40);
}
END_TEST

Suite *vector_math_suite(void)
{
    Suite *s = suite_create("vector_math");
    TCase *t = tcase_create("vector_math");
    tcase_add_loop_test(t, floats_of_every_exponent, 0, FUNCTIONS);
    tcase_add_loop_test(t, edges_are_those_of_the_c_library, 0, FUNCTIONS);
    tcase_add_loop_test(t, large_arguments_leave_their_neighbors_alone, 0, 2);
    tcase_add_test(t, instruction_sets_agree_to_the_bit);
    suite_add_tcase(s, t);

    TCase *slow = tcase_create("many");
    tcase_set_tags(slow, "slow");
    tcase_set_timeout(slow, 0);
    tcase_add_loop_test(slow, many_floats, 0, FUNCTIONS);
    suite_add_tcase(s, slow);
    return s;
}
