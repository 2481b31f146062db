/* test_quantized_matmul.c -- products with 8-bit weights against loops over integers, on every
 * instruction set; what quantizing loses; gradients and batching. */
#include "graph/base/cpu.h"
#include "session/compile/packed_operands.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>

Suite *quantized_matmul_suite(void);

enum { CHUNK = 1024 };

typedef struct product {
    int64_t m, n, k, groups;
} product;

static const product products[] = {
    { 1, 1, 1, 1 },      { 3, 5, 7, 1 },    { 12, 32, 64, 1 },   { 13, 33, 65, 1 },
    { 25, 70, 1500, 1 }, { 7, 40, 3000, 3 }, { 1, 100, 129, 1 }, { 97, 27, 32, 1 },
    { 200, 31, 256, 8 }, { 2, 1100, 1030, 1 }, { 0, 3, 4, 2 },   { 4, 3, 0, 1 }, { 2, 0, 3, 3 },
    { 3, 37, 4400, 2 },  { 98, 50, 15, 3 },
};
enum { PRODUCTS = sizeof products / sizeof *products };

/* Numbers from 0 to below 1 that look random. */
static double draw(int64_t i) { return fabs(fmod(sin((double)i * 12.9898) * 43758.5453, 1)); }

static float activation(int64_t i) { return (float)(8 * draw(i) - 4); }
static uint8_t stored(int64_t i) { return (uint8_t)(256 * draw(i + 7)); }
static float scale(int64_t i) { return (float)(0.001 + draw(i + 3) / 50); }

static eddy_array *activations_of(product p)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(p.m, p.k));
    for (int64_t i = 0; i < p.m * p.k; i++) ((float *)eddy_array_data(a))[i] = activation(i);
    return a;
}
static eddy_array *values_of(product p)
{
    eddy_array *a = eddy_array_new(EDDY_UINT8, EDDY_SHAPE(p.k, p.n));
    for (int64_t i = 0; i < p.k * p.n; i++) ((uint8_t *)eddy_array_data(a))[i] = stored(i);
    return a;
}
static eddy_array *scales_of(product p)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, p.groups == 1 ? EDDY_SHAPE(p.n)
                                                               : EDDY_SHAPE(p.groups, p.n));
    for (int64_t i = 0; i < p.groups * p.n; i++) ((float *)eddy_array_data(a))[i] = scale(i);
    return a;
}

/* An element of the product of a row, by the formula of quantized_product.h. */
static float element(product p, const float *x, const uint8_t *w, const float *s, int64_t j)
{
    const int64_t group = p.k / p.groups;
    float         y = 0;
    for (int64_t g = 0; g < p.groups; g++) {
        float most = 0;
        for (int64_t i = g * group; i < (g + 1) * group; i++) most = fmaxf(most, fabsf(x[i]));
        for (int64_t from = g * group; from < (g + 1) * group; from += CHUNK) {
            int32_t sum = 0;
            for (int64_t i = from; i < from + CHUNK && i < (g + 1) * group; i++)
                sum += (int32_t)lrintf(x[i] * (127 / most)) * (w[i * p.n + j] - 128);
            const float part = (float)sum * (most / 127 * s[g * p.n + j]);
            y = from == 0 ? part : y + part;
        }
    }
    return y;
}

/* With EDDY_PASS_HOIST in `without`, the weights are packed in each run, otherwise once. */
static eddy_array *run_product(const eddy_array *x, const eddy_array *w, const eddy_array *scales,
                               int threads, unsigned without)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   in = eddy_placeholder(g, "x", EDDY_FLOAT32, eddy_array_shape(x));
    eddy_tensor   y = eddy_quantized_matmul(in, eddy_constant(g, w), eddy_constant(g, scales));
    eddy_session *s = eddy_session_new(g, .threads = threads, .without = without);
    eddy_array   *out = eddy_fetch(s, y, EDDY_FEED({ in, x }));
    ck_assert_msg(out, "%s %s", eddy_graph_message(g), eddy_session_message(s));
    const bool packs = !without && eddy_array_count(w) > 0;
    ck_assert((eddy__packed_bytes_of_session(s) > 0) == packs);
    eddy_session_free(s);
    eddy_graph_free(g);
    return out;
}

START_TEST(integers_are_exact)
{
    const product p = products[_i];
    eddy_array   *x = activations_of(p), *w = values_of(p), *scales = scales_of(p);
    float        *want = malloc(sizeof(float) * (size_t)(p.m * p.n + 1));
    for (int64_t i = 0; i < p.m * p.n; i++)
        want[i] = element(p, (float *)eddy_array_data(x) + i / p.n * p.k, eddy_array_data(w),
                          eddy_array_data(scales), i % p.n);
    for (int set = EDDY_BASELINE; set <= EDDY_AVX512; set++)
        for (int way = 0; way < 4; way++) {
            const int threads = way < 2 ? 1 : 3;
            eddy__instructions_limit((eddy_instructions)set);
            eddy_array  *y = run_product(x, w, scales, threads, way % 2 ? EDDY_PASS_HOIST : 0);
            const float *got = eddy_array_data(y);
            for (int64_t i = 0; i < p.m * p.n; i++)
                ck_assert_msg(got[i] == want[i], "set %d, threads %d, element %d: %g, not %g", set,
                              threads, (int)i, (double)got[i], (double)want[i]);
            eddy_array_free(y);
        }
    eddy_limit_instructions(NULL);
    free(want);
    eddy_array_free(x);
    eddy_array_free(w);
    eddy_array_free(scales);
}
END_TEST

/* An infinity or NaN makes its row NaN, and small numbers are zeros, on every instruction set. */
START_TEST(special_rows)
{
    const float numbers[] = { 1, 2, -3, INFINITY, 0, 1, NAN, 5, 4, 0, 0, 0,
                              1e-37f, -1e-38f, 0, 1e-45f, 1e-30f, 0, 0, 0, 3e38f, -3e38f, 1, 0 };
    for (int set = EDDY_BASELINE; set <= EDDY_AVX512; set++) {
        eddy__instructions_limit((eddy_instructions)set);
        eddy_graph       *g = eddy_graph_new();
        eddy_tensor       x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(6, 4), numbers);
        const uint8_t     w[] = { 129, 0, 255, 128 };
        eddy_tensor       values = eddy_const(g, EDDY_UINT8, EDDY_SHAPE(4, 1), w);
        eddy_session     *s = eddy_session_new(g, .without = EDDY_PASSES_ALL);
        eddy_array       *out = eddy_fetch(s, eddy_quantized_matmul(x, values, eddy_floats(g, 2)));
        ck_assert_msg(out, "%s", eddy_session_message(s));
        const float *y = eddy_array_data(out);
        ck_assert(isnan(y[0]) && isnan(y[1]) && isfinite(y[2]) && y[3] == 0);
        ck_assert_double_eq_tol((double)y[4], 2e-30, 1e-36);
        ck_assert(isinf(y[5]) && y[5] > 0);             /* 3e38 (1 + 128) overflows */
        eddy_array_free(out);
        eddy_session_free(s);
        eddy_graph_free(g);
    }
    eddy_limit_instructions(NULL);
}
END_TEST

/* ------------------------------------------------------------ quantizing -- */

static eddy_tensor weights(eddy_graph *g, int64_t k, int64_t n)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(k, n));
    for (int64_t i = 0; i < k * n; i++)
        ((float *)eddy_array_data(a))[i] = i % n == 1 ? 0 : (float)(draw(i) - 0.5) / 3;
    eddy_tensor t = eddy_constant(g, a);
    eddy_array_free(a);
    return t;
}

/* Half a scale at most is lost; a column of zeros stays zero. */
START_TEST(quantizing_loses_half_a_unit)
{
    enum { K = 24, N = 5 };
    const int64_t group = _i == 0 ? K : 8;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   w = weights(g, K, N);
    eddy_tensor   both = _i == 0 ? eddy_quantize(w) : eddy_quantize(w, .group = group);
    eddy_tensor   scales = eddy_output(both, 1), back = eddy_dequantize(both, scales);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[4] = { NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(w, both, scales, back), out) == EDDY_OK,
                  "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_shape(out[2]).rank, _i == 0 ? 1 : 2);
    for (int64_t i = 0; i < K * N; i++) {
        const int64_t at = i / N / group * N + i % N;
        double        most = 0;
        for (int64_t r = i / N / group * group; r < (i / N / group + 1) * group; r++)
            most = fmax(most, fabs(eddy_array_get(out[0], r * N + i % N)));
        ck_assert_double_eq_tol(eddy_array_get(out[2], at), most / 127, 1e-9);
        ck_assert_double_le(fabs(eddy_array_get(out[3], i) - eddy_array_get(out[0], i)),
                            most / 127 * 0.50001);
        ck_assert_double_ge(eddy_array_get(out[1], i), 1);
        if (i % N == 1) ck_assert_double_eq(eddy_array_get(out[1], i), 128);
    }
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(scales_along_any_axis)
{
    static const uint8_t q[] = { 129, 130, 131, 132, 127, 126, 125, 124 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   w = eddy_const(g, EDDY_UINT8, EDDY_SHAPE(4, 2), q);
    const float   rows[] = { 1, 2, 3, 4 }, halves[] = { 1, 10, 2, 20 };
    has_value(eddy_cast(eddy_dequantize(w, eddy_floats(g, 1, 10)), EDDY_FLOAT64), 8,
              (const double[]){ 1, 20, 3, 40, -1, -20, -3, -40 });
    has_value(eddy_cast(eddy_dequantize(w, eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(4, 1), rows)),
                        EDDY_FLOAT64), 8, (const double[]){ 1, 2, 6, 8, -3, -6, -12, -16 });
    has_value(eddy_cast(eddy_dequantize(w, eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 2), halves)),
                        EDDY_FLOAT64), 8, (const double[]){ 1, 20, 3, 40, -2, -40, -6, -80 });
    eddy_graph_free(g);
}
END_TEST

/* -------------------------------------------------- gradients and batching -- */

enum { ROWS = 3, IN = 6, OUT = 4 };

/* The gradient is that of the product with the weights that the values stand for, as differences
 * of that product show; so the second derivative of a square is that of a square. */
START_TEST(gradient_is_of_exact_activations)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor both = _i == 0 ? eddy_quantize(weights(g, IN, OUT))
                               : eddy_quantize(weights(g, IN, OUT), .group = 2);
    eddy_tensor w = eddy_dequantize(both, eddy_output(both, 1));
    eddy_array *numbers = activations_of((product){ ROWS, OUT, IN, 1 });
    eddy_tensor x = eddy_constant(g, numbers);
    eddy_tensor y = eddy_quantized_matmul(x, both, eddy_output(both, 1));
    eddy_tensor slope = eddy_gradient(Sum(y), x);
    eddy_tensor twice = eddy_gradient(Sum(Square(eddy_gradient(Sum(Square(y)), x))), x);
    /* 2 y w', whose square has the derivative 2 (2 w w') (2 y w') */
    eddy_tensor first = Mul(2, eddy_matmul(y, w, .transpose_b = true));
    eddy_tensor second = Mul(4, eddy_matmul(first, eddy_matmul(w, w, .transpose_b = true)));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[4] = { NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(slope, w, twice, second), out) == EDDY_OK,
                  "%s %s", eddy_graph_message(g), eddy_session_message(s));
    for (int64_t i = 0; i < ROWS * IN; i++) {
        double sum = 0;
        for (int64_t j = 0; j < OUT; j++) sum += eddy_array_get(out[1], i % IN * OUT + j);
        ck_assert_double_eq_tol(eddy_array_get(out[0], i), sum, 1e-6);
        ck_assert_double_eq_tol(eddy_array_get(out[2], i), eddy_array_get(out[3], i), 1e-4);
    }
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
    eddy_array_free(numbers);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

static int product_of(eddy_list x, eddy_tensor *y, void *scales)
{
    y[0] = eddy_quantized_matmul(x.at[0], x.at[1], *(eddy_tensor *)scales);
    return 1;
}

static eddy_tensor part(eddy_tensor x, int i) { return eddy_output(eddy_unstack(x), i); }

/* The product of each example, with one matrix of weights and with one for each. */
START_TEST(examples)
{
    enum { EXAMPLES = 2 };
    eddy_graph   *g = eddy_graph_new();
    eddy_array   *numbers = activations_of((product){ EXAMPLES * ROWS, OUT, IN, 1 });
    eddy_array   *q = values_of((product){ ROWS, OUT, EXAMPLES * IN, 1 });
    eddy_tensor   x = Reshape(eddy_constant(g, numbers), EDDY_SHAPE(EXAMPLES, ROWS, IN));
    eddy_tensor   w = Reshape(eddy_constant(g, q), EDDY_SHAPE(EXAMPLES, IN, OUT));
    eddy_tensor   scales = eddy_floats(g, 1, 2, 3, 4), one = part(w, 0), y[2], want[2];
    eddy_function f = { .build = product_of, .context = &scales };
    eddy_vmap(f, EDDY_LIST(x, one), &y[0], (const int[]){ 0, EDDY_SHARED });
    eddy_vmap(f, EDDY_LIST(x, w), &y[1]);
    eddy_tensor each[2][EXAMPLES];
    for (int i = 0; i < EXAMPLES; i++) {
        each[0][i] = eddy_quantized_matmul(part(x, i), one, scales);
        each[1][i] = eddy_quantized_matmul(part(x, i), part(w, i), scales);
    }
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < 2; i++) {
        want[i] = eddy_stack(((eddy_list){ EXAMPLES, each[i] }));
        eddy_array *out[2] = { NULL };
        ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y[i], want[i]), out) == EDDY_OK, "%s %s",
                      eddy_graph_message(g), eddy_session_message(s));
        ck_assert(eddy_array_equal(out[0], out[1]));
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
    eddy_array_free(numbers);
    eddy_array_free(q);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* bfloat16 activations give the product of the same numbers in float32, rounded. */
START_TEST(narrow_activations)
{
    const product p = { 5, 9, 40, 1 };
    eddy_graph   *g = eddy_graph_new();
    eddy_array   *numbers = activations_of(p), *q = values_of(p), *sizes = scales_of(p);
    eddy_tensor   x = Cast(eddy_constant(g, numbers), EDDY_BFLOAT16);
    eddy_tensor   w = eddy_constant(g, q), scales = eddy_constant(g, sizes);
    eddy_tensor   narrow = eddy_quantized_matmul(x, w, scales);
    eddy_tensor   wide = eddy_quantized_matmul(Cast(x, EDDY_FLOAT32), w, scales);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[2] = { NULL };
    ck_assert_int_eq(eddy_dtype_of(narrow), EDDY_BFLOAT16);
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(narrow, Cast(wide, EDDY_BFLOAT16)), out) ==
                  EDDY_OK, "%s", eddy_session_message(s));
    ck_assert(eddy_array_equal(out[0], out[1]));
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    eddy_array_free(numbers);
    eddy_array_free(q);
    eddy_array_free(sizes);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *quantized_matmul_suite(void)
{
    Suite *suite = suite_create("quantized_matmul");
    TCase *t = tcase_create("quantized_matmul");
    tcase_add_loop_test(t, integers_are_exact, 0, PRODUCTS);
    tcase_add_test(t, special_rows);
    tcase_add_loop_test(t, quantizing_loses_half_a_unit, 0, 2);
    tcase_add_test(t, scales_along_any_axis);
    tcase_add_loop_test(t, gradient_is_of_exact_activations, 0, 2);
    tcase_add_test(t, examples);
    tcase_add_test(t, narrow_activations);
    suite_add_tcase(suite, t);
    return suite;
}
