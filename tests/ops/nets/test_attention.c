/* test_attention.c -- scaled dot-product attention against plain loops in double precision, and its
 * gradients against those of the products and softmax that it replaces. */
#include "graph/base/cpu.h"
#include "tests/lib/golden.h"
#include "tests/lib/array_trial.h"
#include "build/gen/table.h"

#include <math.h>

Suite *attention_suite(void);

static const eddy_dtype F32 = EDDY_FLOAT32, F64 = EDDY_FLOAT64;

/* Sizes of one case; `set` limits the instructions. */
typedef struct attention {
    int64_t heads, s, t, d, e;
    bool    causal, masked;
    int     set;
} attention;

static attention some_attention(trial *t, int i)
{
    const int64_t sizes[] = { 1, 2, 15, 16, 31, 32, 33, 64, 70 };
    attention a = { .heads = 1 + pick(t, 3), .s = sizes[pick(t, 9)], .t = sizes[pick(t, 9)],
                    .d = sizes[pick(t, 6)], .e = sizes[pick(t, 6)], .causal = pick(t, 2),
                    .masked = pick(t, 3) == 0, .set = i % 3 };
    if (pick(t, 2)) a.t = a.s;
    return a;
}

static eddy_array *numbers(trial *t, eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(t, 2001) - 1000) / 512.0);
    return a;
}

/* The elements of a mask, some of them -infinity, but never a whole row. */
static eddy_array *some_mask(trial *t, eddy_dtype d, int64_t rows, int64_t columns)
{
    eddy_array *a = numbers(t, d, EDDY_SHAPE(rows, columns));
    for (int64_t i = 0; i < rows * columns; i++)
        if (i % columns > 0 && pick(t, 5) == 0) eddy_array_set(a, i, -INFINITY);
    return a;
}

static void check_close(trial *t, eddy_tensor y, eddy_tensor want, double tolerance)
{
    eddy_array *a = value(t, y), *b = value(t, want);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double have = eddy_array_get(a, i), right = eddy_array_get(b, i);
        ck_assert_msg(fabs(have - right) <= tolerance * fmax(1, fabs(right)),
                      "%s: element %d is %g, not %g", eddy_name_of(y), (int)i, have, right);
    }
    eddy_array_free(a);
    eddy_array_free(b);
}

/* One head by loops: y and the logarithms of the row sums. */
static void head_by_loops(const attention *a, const double *q, const double *k, const double *v,
                          const double *mask, double *y, double *log_sum)
{
    for (int64_t i = 0; i < a->s; i++) {
        double sum = 0;
        for (int64_t j = 0; j < a->e; j++) y[i * a->e + j] = 0;
        for (int64_t j = 0; j < a->t && !(a->causal && j > i); j++) {
            double score = 0;
            for (int64_t p = 0; p < a->d; p++) score += q[i * a->d + p] * k[j * a->d + p];
            const double w = exp(score / sqrt((double)a->d) + (mask ? mask[i * a->t + j] : 0));
            sum += w;
            for (int64_t p = 0; p < a->e; p++) y[i * a->e + p] += w * v[j * a->e + p];
        }
        for (int64_t j = 0; j < a->e; j++) y[i * a->e + j] /= sum;
        log_sum[i] = log(sum);
    }
}

START_TEST(values_against_loops)
{
    trial t = trial_begin((unsigned)_i);
    const attention a = some_attention(&t, _i);
    const eddy_dtype d = pick(&t, 4) ? F32 : F64;
    eddy__instructions_limit((eddy_instructions)a.set);
    const int64_t n = a.heads;
    eddy_array *q = numbers(&t, F64, EDDY_SHAPE(n, a.s, a.d));
    eddy_array *k = numbers(&t, F64, EDDY_SHAPE(n, a.t, a.d));
    eddy_array *v = numbers(&t, F64, EDDY_SHAPE(n, a.t, a.e));
    eddy_array *mask = some_mask(&t, F64, a.s, a.t);
    eddy_array *y = eddy_array_new(F64, EDDY_SHAPE(n, a.s, a.e));
    eddy_array *sum = eddy_array_new(F64, EDDY_SHAPE(n, a.s));
    for (int64_t i = 0; i < n; i++)
        head_by_loops(&a, (double *)eddy_array_data(q) + i * a.s * a.d,
                      (double *)eddy_array_data(k) + i * a.t * a.d,
                      (double *)eddy_array_data(v) + i * a.t * a.e,
                      a.masked ? eddy_array_data(mask) : NULL,
                      (double *)eddy_array_data(y) + i * a.s * a.e,
                      (double *)eddy_array_data(sum) + i * a.s);
    const eddy_tensor mask_tensor = fed(&t, mask), none = EDDY_ZERO_TENSOR;
    const eddy_tensor have = eddy_scaled_dot_product_attention(
        .q = Cast(fed(&t, q), d), .k = Cast(fed(&t, k), d), .v = Cast(fed(&t, v), d),
        .mask = a.masked ? Cast(mask_tensor, d) : none, .causal = a.causal);
    check_close(&t, have, fed(&t, y), d == F32 ? 2e-5 : 1e-12);
    check_close(&t, eddy_output(have, 1), fed(&t, sum), d == F32 ? 2e-5 : 1e-12);
    eddy__instructions_limit(EDDY_AVX512);
    trial_end(&t);
}
END_TEST

/* Attention, composed of operations. The causal mask hides the upper triangle. */
static eddy_tensor composed(eddy_tensor q, eddy_tensor k, eddy_tensor v, eddy_tensor mask,
                            bool causal, int64_t d)
{
    eddy_tensor s = Mul(1 / sqrt((double)d), eddy_batch_matmul(q, k, .adj_y = true));
    if (mask.graph) s = Add(s, mask);
    const eddy_tensor ones = OnesLike(s);
    if (causal) s = Where(GreaterEqual(Cumsum(ones, -2), Cumsum(ones, -1)), s, -INFINITY);
    return eddy_batch_matmul(Softmax(s), v);
}

START_TEST(gradients_against_products)
{
    trial t = trial_begin((unsigned)_i);
    const attention a = some_attention(&t, _i);
    eddy__instructions_limit((eddy_instructions)a.set);
    const int64_t n = a.heads;
    const eddy_tensor x[] = { fed(&t, numbers(&t, F64, EDDY_SHAPE(n, a.s, a.d))),
                              fed(&t, numbers(&t, F64, EDDY_SHAPE(n, a.t, a.d))),
                              fed(&t, numbers(&t, F64, EDDY_SHAPE(n, a.t, a.e))),
                              fed(&t, some_mask(&t, F64, a.s, a.t)) };
    const eddy_tensor w = fed(&t, numbers(&t, F64, EDDY_SHAPE(n, a.s, a.e)));
    const eddy_tensor none = EDDY_ZERO_TENSOR;
    const eddy_tensor y = eddy_scaled_dot_product_attention(
        .q = Cast(x[0], F32), .k = Cast(x[1], F32), .v = Cast(x[2], F32),
        .mask = a.masked ? Cast(x[3], F32) : none, .causal = a.causal);
    const eddy_tensor z = composed(x[0], x[1], x[2], a.masked ? x[3] : none, a.causal, a.d);
    for (int i = 0; i < 3 + a.masked; i++)
        check_close(&t, gradient_with(y, Cast(w, F32), x[i]), gradient_with(z, w, x[i]), 2e-4);
    eddy__instructions_limit(EDDY_AVX512);
    trial_end(&t);
}
END_TEST

/* Beside a mask of -1e9 and scores of 1e9, the logarithm of a sum of exponentials loses the sum. */
START_TEST(gradients_of_scores_far_from_0)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_dtype d = _i % 2 ? F64 : F32;
    const double     far = _i % 2 ? 1e18 : 1e9;
    eddy__instructions_limit((eddy_instructions)(_i / 2 % 3));
    eddy_array *mask = numbers(&t, d, EDDY_SHAPE(5, 7));
    for (int64_t i = 0; i < 35; i++)
        if (i / 7 == 1 || i % 7 == 3) eddy_array_set(mask, i, -far);
    const eddy_tensor q = fed(&t, numbers(&t, d, EDDY_SHAPE(2, 5, 4))), k = fed(&t,
        numbers(&t, d, EDDY_SHAPE(2, 7, 4))), v = fed(&t, numbers(&t, d, EDDY_SHAPE(2, 7, 3)));
    const eddy_tensor m = fed(&t, mask), w = fed(&t, numbers(&t, d, EDDY_SHAPE(2, 5, 3)));
    const eddy_tensor x[] = { q, k, v, m };
    const eddy_tensor large = _i < 6 ? q : Mul(far, q);
    const eddy_tensor y = eddy_scaled_dot_product_attention(large, k, v, m);
    const eddy_tensor z = composed(large, k, v, m, false, 4);
    for (int i = _i < 6 ? 0 : 2; i < 4; i++) {
        const eddy_tensor dy = gradient_with(y, w, x[i]), dz = gradient_with(z, w, x[i]);
        check_close(&t, dy, dz, 2e-4);
        check_close(&t, eddy_gradient(Sum(Square(dy)), w), eddy_gradient(Sum(Square(dz)), w), 2e-4);
    }
    eddy__instructions_limit(EDDY_AVX512);
    trial_end(&t);
}
END_TEST

/* The packed op is the other one between transposes. */
START_TEST(packed_is_the_same)
{
    trial t = trial_begin((unsigned)_i);
    const attention a = some_attention(&t, _i);
    const eddy_dtype d = pick(&t, 2) ? F32 : F64;
    const eddy_shape shape = EDDY_SHAPE(2, a.s, 3, a.heads, a.d);
    const eddy_tensor x = eddy_set_shape(fed(&t, numbers(&t, d, shape)), shape);
    const eddy_tensor parts = eddy_unstack(x, 2), w = fed(&t, numbers(&t, d, EDDY_SHAPE(2, a.s,
                                                                                  a.heads, a.d)));
    eddy_tensor qkv[3];
    for (int i = 0; i < 3; i++)
        qkv[i] = Transpose(eddy_output(parts, i), EDDY_DIMS(0, 2, 1, 3));
    const eddy_tensor z = Transpose(eddy_scaled_dot_product_attention(qkv[0], qkv[1], qkv[2],
                                                                      .causal = a.causal),
                                    EDDY_DIMS(0, 2, 1, 3));
    const eddy_tensor y = eddy_packed_self_attention(x, .causal = a.causal);
    check_close(&t, y, z, 1e-6);
    check_close(&t, gradient_with(y, w, x), gradient_with(z, w, x), 1e-5);
    trial_end(&t);
}
END_TEST

START_TEST(rows_without_anything_to_see)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor q = eddy_zeros(g, F32, EDDY_SHAPE(2, 3)), v = Add(q, 1);
    const eddy_tensor mask = eddy_const(g, F32, EDDY_SHAPE(2, 2),
                                        (const float[]){ -INFINITY, -INFINITY, 0, -INFINITY });
    const eddy_tensor none = eddy_zeros(g, F32, EDDY_SHAPE(0, 3));
    eddy_session *s = eddy_session_new(g);
    eddy_array *y = eddy_fetch(s, eddy_scaled_dot_product_attention(q, q, v, mask));
    eddy_array *z = eddy_fetch(s, eddy_scaled_dot_product_attention(q, none, none));
    for (int i = 0; i < 6; i++) {
        ck_assert(i < 3 ? isnan(eddy_array_get(y, i)) : eddy_array_get(y, i) == 1);
        ck_assert(eddy_array_get(z, i) == 0);
    }
    eddy_array_free(y);
    eddy_array_free(z);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The gradient of the gradient of a sequence of an unknown length. */
static void open_steps(eddy_graph *g)
{
    const eddy_tensor xw = eddy_placeholder(g, "xw", F32, EDDY_SHAPE(EDDY_ANY, 3, 8));
    const eddy_tensor h = eddy_zeros(g, F32, EDDY_SHAPE(3, 2));
    const eddy_tensor u = eddy_zeros(g, F32, EDDY_SHAPE(2, 8));
    const eddy_tensor y = eddy_block_lstm(xw, h, h, u);
    eddy_gradient(Square(eddy_gradient(Square(y), xw)), xw);
}

START_TEST(messages)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(2, 3, 4));
    const eddy_tensor k = eddy_placeholder(g, "k", F32, EDDY_SHAPE(2, 5, 4));
    const eddy_tensor ints = eddy_placeholder(g, "ints", EDDY_INT32, EDDY_SHAPE(2, 3, 4));
    const eddy_tensor wide = eddy_placeholder(g, "wide", F64, EDDY_SHAPE(2, 3, 4));
    const eddy_tensor mask = eddy_placeholder(g, "mask", F32, EDDY_SHAPE(4, 5));
    golden_begin("ops/attention");
    eddy_scaled_dot_product_attention(ints, ints, ints), golden_graph(g);
    eddy_scaled_dot_product_attention(x, k, wide), golden_graph(g);
    eddy_scaled_dot_product_attention(x, k, x), golden_graph(g);
    eddy_scaled_dot_product_attention(x, k, k, mask), golden_graph(g);
    eddy_packed_self_attention(x), golden_graph(g);
    eddy_lstm_gates(x, x), golden_graph(g);
    eddy_block_lstm(x, x, x, x), golden_graph(g);
    const eddy_tensor grad[] = { x, k, k, x, x, x, x }, back[] = { x, x, x, x, x };
    eddy_apply(&eddy_op_scaled_dot_product_attention_grad, &(struct { bool b; double s; }){ 0 }, 7,
               grad, (eddy_apply_args){ 0 });
    golden_graph(g);
    eddy_apply(&eddy_op_block_lstm_grad, NULL, 5, back, (eddy_apply_args){ 0 }), golden_graph(g);
    open_steps(g), golden_graph(g);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *attention_suite(void)
{
    Suite *suite = suite_create("attention");
    TCase *all = tcase_create("attention");
    tcase_add_loop_test(all, values_against_loops, 0, 120);
    tcase_add_loop_test(all, gradients_against_products, 0, 120);
    tcase_add_loop_test(all, gradients_of_scores_far_from_0, 0, 12);
    tcase_add_loop_test(all, packed_is_the_same, 0, 40);
    tcase_add_test(all, rows_without_anything_to_see);
    tcase_add_test(all, messages);
    suite_add_tcase(suite, all);
    return suite;
}
