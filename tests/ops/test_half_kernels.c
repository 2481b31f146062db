/* test_half_kernels.c -- kernels that take bfloat16 themselves give the bits of float32 between
 * casts: convolutions and their gradients, batch normalization, relu, sums. */
#include "build/gen/table.h"
#include "ops/kernels/bfloat16_pairs.h"
#include "session/state/internal.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/levels.h"

#include <math.h>
#include <string.h>

Suite *half_kernels_suite(void);

/* Numbers whose sums are rounded. */
static eddy_tensor rough(trial *t, eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_BFLOAT16, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(t, 20001) - 10000) / 7013.0);
    return fed(t, a);
}

static eddy_tensor rough_like(trial *t, eddy_tensor y)
{
    eddy_array *a = value(t, y);
    eddy_tensor x = rough(t, eddy_array_shape(a));
    eddy_array_free(a);
    return x;
}

/* Convolutions and normalizations widen themselves with AVX2 only. */
static void use_avx2(void) { eddy__instructions_limit(EDDY_AVX2); }
static void use_all(void) { eddy__instructions_limit(EDDY_AVX512); }

/* Whether the instruction of the operation of this name that computes y takes bfloat16, without a
 * cast. */
static bool takes_halves(trial *t, eddy_tensor y, const char *op)
{
    bool takes = false;
    eddy_session_free(t->session);
    t->session = eddy_session_new(t->graph, .threads = 1);
    eddy_array_free(value(t, y));
    for (const eddy_plan *p = t->session->plans; p; p = p->next)
        for (int32_t i = 0; i < p->n_code; i++)
            takes = takes || (strcmp(p->code[i].kernel.op->name, op) == 0 &&
                              p->code[i].kernel.in[0]->type.dtype == EDDY_BFLOAT16);
    return takes;
}

static eddy_tensor wide(eddy_tensor x) { return Cast(x, EDDY_FLOAT32); }

/* y has the bits of the bfloat16 of `want`, on one thread and on three. */
static void check_rounded(trial *t, eddy_tensor y, eddy_tensor want)
{
    eddy_session_free(t->session);
    t->session = eddy_session_new(t->graph, .threads = 1);
    eddy_array *a = value(t, Cast(want, EDDY_BFLOAT16));
    for (int threads = 1; threads < 4; threads += 2) {
        eddy_session_free(t->session);
        t->session = eddy_session_new(t->graph, .threads = threads);
        eddy_array *got = value(t, y);
        ck_assert_int_eq(eddy_array_dtype(got), EDDY_BFLOAT16);
        ck_assert_mem_eq(eddy_array_data(got), eddy_array_data(a), eddy_array_bytes(a));
        eddy_array_free(got);
    }
    eddy_array_free(a);
}

/* ----------------------------------------------------------------- convolutions -- */

/* Minimal filtering with and without whole vectors and tiles, direct sums in one band and in
 * several, products of pixels and of patches, groups. */
static const struct shape {
    int64_t     batch, side, in_c, filter, out_c, stride, gap, groups;
    const char *padding;
} convs[] = {
    { 3, 13, 16, 3, 20, 1, 1, 1, "SAME" },  { 2, 12, 5, 5, 9, 1, 1, 1, "SAME" },
    { 2, 20, 19, 3, 33, 1, 1, 1, "VALID" }, { 2, 9, 6, 3, 16, 2, 1, 1, "SAME" },
    { 1, 120, 17, 3, 8, 2, 1, 1, "SAME" },  { 2, 12, 4, 3, 18, 1, 2, 1, "SAME" },
    { 3, 11, 34, 1, 40, 1, 1, 1, "VALID" }, { 3, 11, 34, 1, 40, 2, 1, 1, "VALID" },
    { 4, 15, 64, 3, 64, 2, 1, 1, "SAME" },  { 2, 10, 8, 3, 12, 1, 1, 2, "SAME" },
    { 2, 9, 3, 1, 4, 3, 1, 1, "SAME" },
};

static eddy_tensor convolution(const struct shape *c, eddy_tensor x, eddy_tensor w)
{
    return eddy_conv2d(x, w, EDDY_DIMS(c->stride), .padding = c->padding,
                       .dilations = EDDY_DIMS(c->gap));
}

/* Where instructions multiply pairs, their sums have another order. */
START_TEST(convolutions)
{
    const struct shape *c = &convs[_i];
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor x = rough(&t, EDDY_SHAPE(c->batch, c->side, c->side, c->in_c));
    const int64_t     depth = c->in_c / c->groups;
    const eddy_tensor w = rough(&t, EDDY_SHAPE(c->filter, c->filter, depth, c->out_c));
    const eddy_tensor b = rough(&t, EDDY_SHAPE(c->out_c)), x32 = wide(x), w32 = wide(w);
    const eddy_tensor y = convolution(c, x, w), y32 = convolution(c, x32, w32);
    const eddy_tensor dy = rough_like(&t, y);
    eddy_tensor       xs[2] = { x, w }, wides[2] = { x32, w32 }, dx[2], dx32[2];
    eddy_gradients(EDDY_LIST(Sum(Mul(y, dy))), (eddy_list){ 2, xs }, dx);
    eddy_gradients(EDDY_LIST(Sum(Mul(y32, wide(dy)))), (eddy_list){ 2, wides }, dx32);
    if (!eddy__conv_has_pairs(depth) && !eddy__conv_has_pairs(c->out_c)) {
        check_rounded(&t, y, y32);
        if (eddy__kernels_widen()) ck_assert(takes_halves(&t, y, eddy_op_conv2d.name));
        check_rounded(&t, eddy_relu(eddy_bias_add(y, b)), eddy_relu(eddy_bias_add(y32, wide(b))));
        for (int i = 0; i < 2; i++) check_rounded(&t, dx[i], dx32[i]);
        eddy_array_set(t.array[0], 40, INFINITY);
        check_rounded(&t, y, y32);
        check_rounded(&t, dx[1], dx32[1]);
    }
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------- batch normalization -- */

/* A few and many channels, and columns whose squares have no number. */
START_TEST(batch_norms)
{
    static const int64_t sizes[][2] = { { 150, 3 }, { 70, 16 }, { 700, 33 }, { 50, 64 },
                                        { 9, 200 }, { 5, 5000 }, { 1, 7 } };
    trial             t = trial_begin((unsigned)_i);
    const int64_t     n = sizes[_i][0], c = sizes[_i][1];
    const eddy_tensor x = rough(&t, EDDY_SHAPE(2, n, c)), dy = rough(&t, EDDY_SHAPE(2, n, c));
    const eddy_tensor scale = wide(rough(&t, EDDY_SHAPE(c)));
    const eddy_tensor offset = wide(rough(&t, EDDY_SHAPE(c)));
    const eddy_tensor x32 = wide(x);
    const eddy_tensor y = eddy_fused_batch_norm(x, scale, offset, .is_training = true);
    const eddy_tensor y32 = eddy_fused_batch_norm(x32, scale, offset, .is_training = true);
    eddy_tensor       xs[2] = { x, scale }, wides[2] = { x32, scale }, dx[2], dx32[2];
    eddy_gradients(EDDY_LIST(Sum(Mul(y, dy))), (eddy_list){ 2, xs }, dx);
    eddy_gradients(EDDY_LIST(Sum(Mul(y32, wide(dy)))), (eddy_list){ 2, wides }, dx32);
    if (eddy__kernels_widen()) ck_assert(takes_halves(&t, y, eddy_op_fused_batch_norm.name));
    for (int far = 0; far < 2; far++) {
        check_rounded(&t, y, y32);
        check_rounded(&t, dx[0], dx32[0]);
        check_rounded(&t, Cast(dx[1], EDDY_BFLOAT16), dx32[1]);
        eddy_array_set(t.array[0], 1, 1e30);
    }
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------------ relu -- */

/* All bfloat16, and their pairs with some of both signs, 0, infinity and NaN. */
START_TEST(elements)
{
    static const uint16_t some[] = { 0, 0x8000, 0x3f80, 0xbf80, 1, 0x7f80, 0xff80, 0x7fc1, 0x7f81,
                                     0x4123, 0x7f7f };
    enum { ALL = 65536, N = sizeof some / sizeof *some };
    trial       t = trial_begin(0);
    eddy_array *a = eddy_array_new(EDDY_BFLOAT16, EDDY_SHAPE(ALL + 5));
    eddy_array *b = eddy_array_new(EDDY_BFLOAT16, EDDY_SHAPE(ALL + 5));
    uint16_t   *at = eddy_array_data(a), *with = eddy_array_data(b);
    for (int i = 0; i < ALL + 5; i++) at[i] = (uint16_t)i;
    const eddy_tensor x = fed(&t, a), y = fed(&t, b);
    check_rounded(&t, Relu(x), Relu(wide(x)));
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < ALL + 5; i++) with[i] = some[k];
        check_rounded(&t, ReluGrad(x, y), ReluGrad(wide(x), wide(y)));
        check_rounded(&t, ReluGrad(y, x), ReluGrad(wide(y), wide(x)));
        /* Of two NaN, a sum is either. */
        if ((some[k] & 0x7fff) <= 0x7f80) check_rounded(&t, Add(x, y), Add(wide(x), wide(y)));
    }
    trial_end(&t);
}
END_TEST

/* Sums of shapes that broadcast, and of a number with itself. */
START_TEST(sums)
{
    trial             t = trial_begin(1);
    const eddy_tensor x = rough(&t, EDDY_SHAPE(50, 37)), row = rough(&t, EDDY_SHAPE(37));
    const eddy_tensor other[] = { x, row, rough(&t, EDDY_SHAPE(50, 1)), rough(&t, EDDY_SHAPE(1)),
                                  rough(&t, EDDY_SCALAR) };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        check_rounded(&t, Add(x, other[i]), Add(wide(x), wide(other[i])));
        check_rounded(&t, Add(other[i], x), Add(wide(other[i]), wide(x)));
    }
    check_rounded(&t, Add(Add(x, row), x), Add(wide(Cast(Add(wide(x), wide(row)), EDDY_BFLOAT16)),
                                               wide(x)));
    if (eddy__kernels_widen()) ck_assert(takes_halves(&t, Add(x, row), "Add"));
    trial_end(&t);
}
END_TEST

/* A plan goes on if other instructions are permitted between its runs. */
START_TEST(instructions_change_between_runs)
{
    trial             t = trial_begin(2);
    const eddy_tensor y = MatMul(rough(&t, EDDY_SHAPE(70, 300)), rough(&t, EDDY_SHAPE(300, 200)));
    eddy_array       *want = value(&t, y);
    for (int i = 0; i < 3; i++) {
        eddy__instructions_limit((eddy_instructions)i);
        eddy_array *got = value(&t, y);
        for (int64_t j = 0; j < eddy_array_count(got); j++)
            ck_assert_double_eq_tol(eddy_array_get(got, j), eddy_array_get(want, j), 0.5);
        eddy_array_free(got);
    }
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

Suite *half_kernels_suite(void)
{
    Suite *s = suite_create("half_kernels");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, use_avx2, use_all);
    tcase_add_loop_test(c, convolutions, 0, sizeof convs / sizeof *convs);
    tcase_add_loop_test(c, batch_norms, 0, 7);
    tcase_add_test(c, elements);
    tcase_add_test(c, sums);
    tcase_add_test(c, instructions_change_between_runs);
    suite_add_tcase(s, c);
    return s;
}
