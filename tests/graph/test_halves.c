/* test_halves.c -- float16 and bfloat16: casts against plain arithmetic and against NumPy. */
#include "graph/base/cpu.h"
#include "graph/base/half.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

Suite *halves_suite(void);

/* The value of a number of two bytes with so many bits of exponent and of fraction. */
static double value_of(uint16_t h, int exponents, int fractions)
{
    const int    most = (1 << exponents) - 1, bias = most / 2, exponent = h >> fractions & most;
    const double fraction = h & ((1 << fractions) - 1), whole = 1 << fractions;
    const double size = exponent == most ? (fraction > 0 ? NAN : INFINITY)
                      : exponent == 0 ? ldexp(fraction, 1 - bias - fractions)
                                      : ldexp(whole + fraction, exponent - bias - fractions);
    return h >> 15 ? -size : size;
}

static double half(uint16_t h) { return value_of(h, 5, 10); }
static double brain(uint16_t h) { return value_of(h, 8, 7); }

/* b is the nearest to v, the even one of two; what is nearer to the next power of two than to the
 * largest is infinite. */
static void nearest(double v, uint16_t b, double (*value)(uint16_t), double limit)
{
    const double y = value(b);
    if (isnan(v)) {
        ck_assert(isnan(y));
        return;
    }
    ck_assert_msg(!isnan(y) && signbit(y) == signbit(v), "%a became %a", v, y);
    if (isinf(y)) {
        ck_assert_msg(fabs(v) >= limit, "%a became infinite", v);
        return;
    }
    const double down = (b & 0x7fff) > 0 ? value((uint16_t)(b - 1)) : -value((uint16_t)(b + 1));
    const double above = value((uint16_t)(b + 1)), up = isinf(above) ? copysign(limit, v) : above;
    const double off = fabs(v - y), other = fmin(fabs(v - down), fabs(v - up));
    const bool   even = !(b & 1), at_end = isinf(above) && fabs(v) >= limit;
    ck_assert_msg(!at_end && (off < other || (off == other && even) || isinf(above)),
                  "%a became %a, neighbors are %a and %a", v, y, down, up);
}

START_TEST(values_of_all)
{
    for (uint32_t i = 0; i < 65536; i++) {
        const uint16_t h = (uint16_t)i;
        const float    x = eddy__f32_of_f16(h), y = eddy__f32_of_bf16(h);
        if (isnan(half(h))) ck_assert(isnan(x) && isnan((float)half(eddy__f16_of_f32(x))));
        else ck_assert(memcmp(&x, &(float){ (float)half(h) }, 4) == 0 && eddy__f16_of_f32(x) == h);
        if (isnan(brain(h))) ck_assert(isnan(y) && isnan((float)brain(eddy__bf16_of_f32(y))));
        else
            ck_assert(memcmp(&y, &(float){ (float)brain(h) }, 4) == 0 && eddy__bf16_of_f32(y) == h);
    }
}
END_TEST

/* The loops of each instruction set give the same bits as the functions. */
START_TEST(loops)
{
    enum { N = 1 << 16, ROUNDS = 24 };
    float       *f = malloc(N * sizeof *f), *back = malloc(N * sizeof *back);
    uint16_t    *h = malloc(N * sizeof *h);
    const void  *x[] = { f }, *y[] = { h };
    uint64_t     state = 3;
    ck_assert(f && h && back);
    for (int s = 0; s < ROUNDS; s++) {
        const int        n = N - s % 31;
        const eddy_dtype d = s % 2 ? EDDY_FLOAT16 : EDDY_BFLOAT16;
        eddy__instructions_limit((eddy_instructions)(s / 2 % EDDY_SETS));
        for (int i = 0; i < n; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint32_t word = (uint32_t)(state >> 24);
            if (s % 3 == 0) word = (uint32_t)i << 16 | (word & 0x8000u) | (word & 1);
            memcpy(&f[i], &word, sizeof word);
        }
        eddy__f32_to_half(d)(n, h, x, NULL);
        eddy__half_to_f32(d)(n, back, y, NULL);
        for (int i = 0; i < n; i++) {
            const uint16_t want = d == EDDY_FLOAT16 ? eddy__f16_of_f32(f[i])
                                                    : eddy__bf16_of_f32(f[i]);
            const float wide = d == EDDY_FLOAT16 ? eddy__f32_of_f16(h[i]) : eddy__f32_of_bf16(h[i]);
            if (h[i] != want || memcmp(&back[i], &wide, sizeof wide) != 0)
                ck_abort_msg("%a is %x, not %x", (double)f[i], h[i], want);
        }
    }
    eddy_limit_instructions(NULL);
    free(f);
    free(h);
    free(back);
}
END_TEST

/* Near every float16 and bfloat16, and anything. */
START_TEST(rounding)
{
    const double most_half = 65520, most_brain = ldexp(511, 119);
    uint64_t     state = 7;
    for (int i = 0; i < 400000; i++) {
        double   x;
        uint64_t bits;
        float    f;
        state = state * 6364136223846793005u + 1442695040888963407u;
        bits = state ^ state >> 29;
        const uint32_t word = (uint32_t)(bits >> 7);
        memcpy(&f, &word, 4);
        if (i % 2) f = (float)(half((uint16_t)word) * (1 + ldexp((double)(bits >> 60), -14)));
        nearest((double)f, eddy__f16_of_f32(f), half, most_half);
        nearest((double)f, eddy__bf16_of_f32(f), brain, most_brain);
        memcpy(&x, &bits, 8);
        if (i % 2) x = (double)f * (1 + ldexp((double)(bits >> 61) - 4, -40));
        nearest(x, eddy__f16_of_f64(x), half, most_half);
        nearest(x, eddy__bf16_of_f64(x), brain, most_brain);
    }
}
END_TEST

/* NumPy 1.24: numpy.float64(x).astype(numpy.float16).view(numpy.uint16). */
START_TEST(as_numpy)
{
    static const struct { double x; uint16_t bits; } rows[] = {
        { 0x1.5555555555555p-2, 0x3555 }, { 0x1.ffdffae147ae1p+15, 0x7bff },
        { 0x1.ffep+15, 0x7c00 }, { 0x1.0p-24, 0x1 },
        { 0x1.0p-25, 0x0 }, { 0x1.00068db8bac71p-25, 0x1 },
        { 0x1.ffb480a5accd5p-15, 0x3ff }, { 0x1.fff5c939522dbp-25, 0x1 },
        { 0x1.5798ee2308c3ap-27, 0x0 }, { 0x1.002p+11, 0x6800 },
        { 0x1.006p+11, 0x6802 }, { -0x1.999999999999ap-4, 0xae66 },
        { 0x1.921fb54442d11p+1, 0x4248 }, { 0x1.002p+0, 0x3c00 },
        { 0x1.0020000001p+0, 0x3c01 }, { -0x1.7e43c8800759cp+996, 0xfc00 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_uint_eq(eddy__f16_of_f64(rows[i].x), rows[i].bits);
}
END_TEST

static const eddy_dtype halves[] = { EDDY_FLOAT16, EDDY_BFLOAT16 };
static const eddy_dtype others[] = {
    EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32,   EDDY_INT64,    EDDY_UINT8,
    EDDY_BOOL, EDDY_COMPLEX64, EDDY_COMPLEX128, EDDY_FLOAT16, EDDY_BFLOAT16,
};

/* There and back again from each type, alone and in a loop with others. */
START_TEST(casts)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_dtype  h = halves[_i];
    const double      v[] = { 0, 1, 2, 7, 100, 128, 255 };
    eddy_array       *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(7), v);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(7));
    eddy_session     *s = eddy_session_new(g);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        const eddy_tensor there = Cast(Cast(Cast(Mul(x, 1), others[k]), h), others[k]);
        const eddy_tensor y = Add(Cast(there, EDDY_FLOAT64), 0.5);
        eddy_array       *out = NULL;
        ck_assert_msg(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), &out) == EDDY_OK, "%s",
                      eddy_session_message(s));
        for (int i = 0; i < 7; i++)
            ck_assert_double_eq(eddy_array_get(out, i),
                                0.5 + (others[k] == EDDY_BOOL ? v[i] != 0 : v[i]));
        eddy_array_free(out);
    }
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Stored in half the memory, computed with in float32; the gradient passes the casts. */
START_TEST(ones_of_halves)
{
    const eddy_dtype d = _i == 0 ? EDDY_FLOAT16 : EDDY_BFLOAT16;
    eddy_graph  *g = eddy_graph_new();
    eddy_array  *zeros = eddy_array_new(d, EDDY_SHAPE(3));
    const eddy_array *y = eddy_eval(eddy_ones_like(eddy_const(g, d, EDDY_SHAPE(3),
                                                              eddy_array_data(zeros))));
    ck_assert_ptr_nonnull(y);
    for (int i = 0; i < 3; i++) ck_assert_double_eq(eddy_array_get(y, i), 1);
    eddy_array_free(zeros);
    eddy_graph_free(g);
}
END_TEST

START_TEST(a_variable_of_halves)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_dtype  h = halves[_i];
    const eddy_tensor w = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(3), (float[]){ 0.5f, -2, 3 });
    const eddy_tensor v = eddy_variable(g, Cast(w, h), .name = "w");
    const eddy_tensor loss = Sum(Square(Cast(v, EDDY_FLOAT32)));
    const eddy_tensor init = eddy_initializer(g);
    eddy_tensor       dv;
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(v), &dv);
    ck_assert_int_eq(eddy_dtype_of(dv), h);
    eddy_session *s = eddy_session_new(g), *t = eddy_session_new(g);
    runs(s, init);
    char path[] = "/tmp/eddy-halves-XX" "XX" "XX";
    ck_assert_int_ge(close(mkstemp(path)), 0);
    ck_assert_int_eq(eddy_save(s, path, EDDY_LIST()), EDDY_OK);
    ck_assert_int_eq(eddy_restore(t, path, EDDY_LIST()), EDDY_OK);
    unlink(path);
    has(t, Cast(v, EDDY_FLOAT64), 3, (double[]){ 0.5, -2, 3 });
    has(t, Cast(dv, EDDY_FLOAT64), 3, (double[]){ 1, -4, 6 });
    runs(t, eddy_assign(v, Cast(Mul(Cast(v, EDDY_FLOAT32), 2), h)));
    has(t, Cast(v, EDDY_FLOAT64), 3, (double[]){ 1, -4, 6 });
    eddy_session_free(s);
    eddy_session_free(t);
    eddy_graph_free(g);
}
END_TEST

Suite *halves_suite(void)
{
    Suite *s = suite_create("halves");
    TCase *c = tcase_create("halves");
    tcase_add_test(c, values_of_all);
    tcase_add_test(c, rounding);
    tcase_add_test(c, loops);
    tcase_add_test(c, as_numpy);
    tcase_add_loop_test(c, casts, 0, 2);
    tcase_add_loop_test(c, ones_of_halves, 0, 2);
    tcase_add_loop_test(c, a_variable_of_halves, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
