/* test_bfloat16_pairs.c -- products of bfloat16 matrices of many sizes and layouts, alone, in
 * batches and with an epilogue, against plain sums, and of float32 matrices that are rounded to
 * it; convolutions against those in float64, and pooling against that in float32. */
#include "ops/kernels/bfloat16_pairs.h"
#include "ops/kernels/convolution/conv.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/third_rows.h"

#include <math.h>

Suite *bfloat16_pairs_suite(void);

/* Small multiples of 1/8, whose products and sums of these are exact in float32. */
static eddy_array *drawn(trial *t, eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_BFLOAT16, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(t, 33) - 16) / 8.0);
    return a;
}

static eddy_shape matrix(int64_t batch, int64_t rows, int64_t columns, bool transposed)
{
    if (batch > 1) return transposed ? EDDY_SHAPE(batch, columns, rows)
                                     : EDDY_SHAPE(batch, rows, columns);
    return transposed ? EDDY_SHAPE(columns, rows) : EDDY_SHAPE(rows, columns);
}

/* Element (i, p) of matrix e. */
static double at(const eddy_array *a, int64_t e, int64_t rows, int64_t columns, int64_t i,
                 int64_t p, bool transposed)
{
    return eddy_array_get(a, e * rows * columns + (transposed ? p * rows + i : i * columns + p));
}

/* The nearest bfloat16. */
static double rounded(double x)
{
    eddy_array *a = eddy_array_new(EDDY_BFLOAT16, EDDY_SCALAR);
    eddy_array_set(a, 0, x);
    const double y = eddy_array_item(a);
    eddy_array_free(a);
    return y;
}

/* With a bias, a session without epilogues rounds twice. */
static void check_product(int64_t batch, int64_t m, int64_t n, int64_t k, int how)
{
    trial       t = trial_begin((unsigned)(m * 131 + n * 17 + k + how));
    const bool  ta = how & 1, tb = how & 2, bias = batch == 1 && (how & 4);
    eddy_array *a = drawn(&t, matrix(batch, m, k, ta)), *b = drawn(&t, matrix(batch, k, n, tb));
    eddy_array *c = drawn(&t, EDDY_SHAPE(n));
    eddy_tensor y = batch > 1
        ? eddy_batch_matmul(fed(&t, a), fed(&t, b), .adj_x = ta, .adj_y = tb)
        : MatMul(fed(&t, a), fed(&t, b), .transpose_a = ta, .transpose_b = tb);
    if (bias) y = eddy_relu(eddy_bias_add(y, fed(&t, c)));
    else eddy_array_free(c);
    eddy_array *got = value(&t, y);
    for (int64_t e = 0; e < batch; e++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t p = 0; p < k; p++)
                    sum += at(a, e, m, k, i, p, ta) * at(b, e, k, n, p, j, tb);
                if (bias) sum = fmax(0, sum + eddy_array_get(c, j));
                const double off = eddy_array_get(got, (e * m + i) * n + j) - rounded(sum);
                ck_assert_msg(fabs(off) <= (bias ? 0x1p-7 * (fabs(sum) + 2) : 0),
                              "%d x [%d,%d] [%d,%d] %d: [%d,%d] is %g, not %g", (int)batch, (int)m,
                              (int)k, (int)k, (int)n, how, (int)i, (int)j,
                              eddy_array_get(got, (e * m + i) * n + j), sum);
            }
    eddy_array_free(got);
    trial_end(&t);
}

START_TEST(sizes)
{
    static const int64_t some[] = { 1, 2, 3, 13, 14, 15, 29, 33, 64 };
    enum { N = sizeof some / sizeof *some };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            check_product(1, some[i], some[j], 2 + 2 * ((i + j) % 9) + (i * j % 7 == 3), _i);
}
END_TEST

/* Several blocks of the inner size and of the columns. */
START_TEST(large)
{
    check_product(1, 45, 400, 1602, _i);
    check_product(1, 400, 37, 802, _i);
}
END_TEST

START_TEST(batches)
{
    check_product(3, 17, 20, 24, _i);
    check_product(9, 5, 40, 6, _i);
    check_product(4, 6, 5, 7, _i);
}
END_TEST

/* Numbers whose sums are rounded. */
static eddy_array *rough(trial *t, eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_BFLOAT16, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(t, 20001) - 10000) / 7013.0);
    return a;
}

static void session_with(trial *t, int threads)
{
    eddy_session_free(t->session);
    t->session = eddy_session_new(t->graph, .threads = threads);
}

/* With a bias, a residual and an activation: the same bits on three threads as on one, and if the
 * operands are constants, so that the product is folded. */
START_TEST(bits)
{
    enum { M = 70, N = 190, K = 1300 };
    trial       t = trial_begin((unsigned)_i);
    const bool  ta = _i & 1, tb = _i & 2;
    eddy_array *a = rough(&t, matrix(1, M, K, ta)), *b = rough(&t, matrix(1, K, N, tb));
    eddy_array *c = rough(&t, EDDY_SHAPE(N)), *r = rough(&t, EDDY_SHAPE(M, N));
    const eddy_tensor folded = MatMul(eddy_constant(t.graph, a), eddy_constant(t.graph, b),
                                      .transpose_a = ta, .transpose_b = tb);
    const eddy_tensor plain = MatMul(fed(&t, a), fed(&t, b), .transpose_a = ta, .transpose_b = tb);
    const eddy_tensor more = eddy_relu(Add(eddy_bias_add(plain, fed(&t, c)), fed(&t, r)));
    session_with(&t, 1);
    eddy_array *want = value(&t, plain), *all = value(&t, more);
    /* Products of pairs are folded with the tiles of float32. */
    if (!eddy__product_has_pairs(M, N, K)) check_array(&t, folded, want);
    session_with(&t, 3);
    check_array(&t, plain, want);
    check_array(&t, more, all);
    eddy_array_free(want);
    eddy_array_free(all);
    trial_end(&t);
}
END_TEST

START_TEST(empty_batch)
{
    trial       t = trial_begin(0);
    eddy_array *a = rough(&t, EDDY_SHAPE(0, 4, 8)), *b = rough(&t, EDDY_SHAPE(8, 16));
    session_with(&t, 2);
    eddy_array *y = value(&t, eddy_batch_matmul(fed(&t, a), fed(&t, b)));
    ck_assert_int_eq(eddy_array_count(y), 0);
    eddy_array_free(y);
    trial_end(&t);
}
END_TEST

/* An inner size above the bound up to which columns are packed whole. */
START_TEST(long_inner_size)
{
    enum { K = 32 * 1024 + 2 };
    ck_assert(!eddy__product_widens(4, 5, K));
    check_product(1, 4, 5, K, _i);
}
END_TEST

/* A run that ends at any moment gives nothing, and the next one the same bits. */
START_TEST(stopped)
{
    enum { M = 700, N = 800, K = 900 };
    trial       t = trial_begin((unsigned)_i);
    const bool  ta = _i & 1, tb = _i & 2;
    eddy_array *a = rough(&t, matrix(1, M, K, ta)), *b = rough(&t, matrix(1, K, N, tb));
    const eddy_tensor y = MatMul(fed(&t, a), fed(&t, b), .transpose_a = ta, .transpose_b = tb);
    session_with(&t, _i == 0 ? 1 : 3);
    eddy_array *want = value(&t, y);
    int         ended = 0;
    for (double timeout = 1e-4; timeout < 0.1; timeout *= 2) {
        eddy_array *out = NULL;
        eddy_session_set_timeout(t.session, timeout);
        const eddy_status status =
            eddy_run(t.session, EDDY_FEED({ t.tensor[0], a }, { t.tensor[1], b }), EDDY_FETCH(y),
                     &out);
        ck_assert(status == EDDY_OK || status == EDDY_TIMED_OUT);
        ended += status == EDDY_TIMED_OUT && out == NULL;
        eddy_array_free(out);
        eddy_session_set_timeout(t.session, 0);
        check_array(&t, y, want);
    }
    ck_assert_int_gt(ended, 0);
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

/* Numbers that round up and down, ties, and NaN. */
static eddy_array *wide_numbers(trial *t, eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, i % 3 ? (pick(t, 20001) - 10000) / 7013.0 : 1 + pick(t, 9) * 0x1p-8);
    eddy_array_set(a, 0, NAN);
    return a;
}

/* A fed operand and a variable that the run updates are rounded by the product; casts that are
 * fetched are computed first, and give the same bits. */
START_TEST(rounded_operands)
{
    enum { M = 71, N = 190, K = 530 };
    trial       t = trial_begin((unsigned)_i);
    const bool  ta = _i & 1, tb = _i & 2;
    const int   batch = _i < 4 ? 1 : 9;
    eddy_array *a = wide_numbers(&t, matrix(batch, M, K, ta)), *out[3] = { NULL };
    eddy_array *b = wide_numbers(&t, matrix(1, K, N, tb));
    const eddy_tensor x = fed(&t, a), v = eddy_variable(t.graph, eddy_constant(t.graph, b));
    const eddy_tensor x16 = Cast(x, EDDY_BFLOAT16), v16 = Cast(v, EDDY_BFLOAT16);
    const eddy_tensor y = batch > 1
        ? eddy_batch_matmul(x16, v16, .adj_x = ta, .adj_y = tb)
        : MatMul(x16, v16, .transpose_a = ta, .transpose_b = tb);
    eddy_array *other = wide_numbers(&t, matrix(1, K, N, tb));
    const eddy_tensor changed = eddy_assign(v, eddy_constant(t.graph, other));
    session_with(&t, 1);
    initialize(&t);
    ck_assert_int_eq(eddy_run(t.session, EDDY_FEED({ x, a }), EDDY_FETCH(y, x16, v16), out),
                     EDDY_OK);
    eddy_array_free(out[1]);
    eddy_array_free(out[2]);
    for (int threads = 1; threads < 4; threads += 2) {
        session_with(&t, threads);
        initialize(&t);
        eddy_array *got[2] = { NULL };
        ck_assert_int_eq(eddy_run(t.session, EDDY_FEED({ x, a }), EDDY_FETCH(y, changed), got),
                         EDDY_OK);
        ck_assert_mem_eq(eddy_array_data(got[0]), eddy_array_data(out[0]),
                         eddy_array_bytes(out[0]));
        for (int i = 0; i < 2; i++) eddy_array_free(got[i]);
    }
    eddy_array_free(other);
    eddy_array_free(out[0]);
    eddy_array_free(b);
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------------- pooling -- */

static eddy_tensor pooled(eddy_tensor x)
{
    return eddy_max_pool2d(x, EDDY_DIMS(3), EDDY_DIMS(2), .padding = "SAME");
}

/* Examples that are converted one at a time have the bits of whole arrays in float32. */
START_TEST(maxima)
{
    static const int64_t examples[] = { 7, 8, 13 };
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor x = fed(&t, rough(&t, EDDY_SHAPE(examples[_i], 9, 14, 5)));
    const eddy_tensor wide = Cast(x, EDDY_FLOAT32), y = pooled(x), wide_y = pooled(wide);
    session_with(&t, 1);
    eddy_array       *want = value(&t, Cast(wide_y, EDDY_BFLOAT16));
    const eddy_tensor dy = fed(&t, rough(&t, eddy_array_shape(want)));
    const eddy_tensor dx = eddy_gradient(Sum(Mul(y, dy)), x);
    const eddy_tensor wide_dx =
        eddy_gradient(Sum(Mul(wide_y, Cast(dy, EDDY_FLOAT32))), wide);
    eddy_array *want_dx = value(&t, Cast(wide_dx, EDDY_BFLOAT16));
    for (int threads = 1; threads < 4; threads += 2) {
        session_with(&t, threads);
        check_array(&t, y, want);
        check_array(&t, dx, want_dx);
    }
    eddy_array_free(want);
    eddy_array_free(want_dx);
    trial_end(&t);
}
END_TEST

/* ----------------------------------------------------------------- convolutions -- */

typedef struct shape_of_conv {
    int64_t     side, in_c, filter, out_c, stride, gap;
    const char *padding;
} shape_of_conv;

static const shape_of_conv convs[] = {
    { 7, 2, 3, 5, 1, 1, "SAME" },   { 9, 16, 3, 34, 1, 1, "SAME" },  { 8, 6, 5, 16, 2, 1, "VALID" },
    { 12, 4, 3, 18, 1, 2, "SAME" }, { 11, 34, 1, 64, 1, 1, "VALID" }, { 6, 3, 3, 4, 1, 1, "SAME" },
    { 13, 8, 4, 6, 3, 1, "SAME" },  { 20, 32, 5, 34, 1, 1, "SAME" },
};

/* The values are multiples of 1/64, and sums of them are exact. Minimal filtering, which processors
 * without products of pairs would use, has fractions. */
START_TEST(convolutions)
{
    eddy__conv_method_ask(EDDY_CONV_DIRECT);
    const shape_of_conv *c = &convs[_i];
    trial             t = trial_begin((unsigned)_i);
    const eddy_dims   step = EDDY_DIMS(c->stride), gap = EDDY_DIMS(c->gap);
    const eddy_tensor x = fed(&t, drawn(&t, EDDY_SHAPE(2, c->side, c->side, c->in_c)));
    const eddy_tensor w = fed(&t, drawn(&t, EDDY_SHAPE(c->filter, c->filter, c->in_c, c->out_c)));
    const eddy_tensor wide_x = Cast(x, EDDY_FLOAT64), wide_w = Cast(w, EDDY_FLOAT64);
    const eddy_tensor y = eddy_conv2d(x, w, step, .padding = c->padding, .dilations = gap);
    const eddy_tensor want =
        eddy_conv2d(wide_x, wide_w, step, .padding = c->padding, .dilations = gap);
    eddy_array *a = value(&t, Cast(want, EDDY_BFLOAT16));
    check_array(&t, y, a);
    const eddy_tensor dy = fed(&t, drawn(&t, eddy_array_shape(a)));
    const eddy_tensor wide = eddy_conv2d_backprop_input(wide_x, wide_w, Cast(dy, EDDY_FLOAT64),
                                                        step, .padding = c->padding,
                                                        .dilations = gap);
    eddy_array *dx = value(&t, Cast(wide, EDDY_BFLOAT16));
    check_array(&t, eddy_conv2d_backprop_input(x, w, dy, step, .padding = c->padding,
                                               .dilations = gap), dx);
    eddy_array_free(a);
    eddy_array_free(dx);
    trial_end(&t);
    eddy__conv_method_ask(EDDY_CONV_BY_RULE);
}
END_TEST

Suite *bfloat16_pairs_suite(void)
{
    Suite *s = suite_create("bfloat16_pairs");
    TCase *c = tcase_create("all"), *many = tcase_create("other rows");
    tcase_set_tags(many, "many");
    tcase_add_loop_test(c, sizes, 0, 8);
    add_third_rows(c, many, large, 1, 8);
    tcase_add_loop_test(c, batches, 0, 4);
    tcase_add_loop_test(c, bits, 0, 4);
    tcase_add_test(c, empty_batch);
    tcase_add_loop_test(c, long_inner_size, 0, 4);
    add_third_rows(c, many, stopped, 0, 4);
    tcase_add_loop_test(c, rounded_operands, 0, 8);
    tcase_add_loop_test(c, maxima, 0, 3);
    tcase_add_loop_test(c, convolutions, 0, sizeof convs / sizeof *convs);
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
