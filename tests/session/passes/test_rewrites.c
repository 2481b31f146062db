/* test_rewrites.c -- graphs that the passes rewrite, some of which a pass once got wrong: the same
 * values with all passes and with none. */
#include "tests/lib/graph_fixture.h"

#include <math.h>

Suite *rewrites_suite(void);

static eddy_array *value_of(eddy_tensor y, unsigned without)
{
    eddy_session *s = eddy_session_new(g, .without = without);
    eddy_array   *a = eddy_fetch(s, y);
    ck_assert_msg(a, "%s", eddy_session_message(s));
    eddy_session_free(s);
    return a;
}

static void same(eddy_tensor y)
{
    eddy_array *a = value_of(y, 0), *b = value_of(y, EDDY_PASSES_ALL);
    ck_assert_int_eq(eddy_array_count(a), eddy_array_count(b));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double v = eddy_array_get(a, i), w = eddy_array_get(b, i);
        const bool   alike = (isnan(v) && isnan(w)) || v == w || fabs(v - w) <= 1e-5 * fabs(w);
        ck_assert_msg(alike, "element %d is %g, not %g", (int)i, v, w);
    }
    eddy_array_free(a);
    eddy_array_free(b);
}

/* Numbers that are not known while the plan is made. */
static eddy_tensor numbers(eddy_dtype d, eddy_shape s)
{
    return eddy_cast(eddy_round(eddy_random_uniform(g, s, -9, 9, EDDY_FLOAT64, .seed = 3)), d);
}

START_TEST(sums_of_products)
{
    const eddy_tensor a = numbers(EDDY_FLOAT64, EDDY_SHAPE(2, 5, 2));
    const eddy_tensor b = numbers(EDDY_FLOAT64, EDDY_SHAPE(2, 5, 3));
    const eddy_tensor p = MatMul(a, b, .transpose_a = true);
    for (int axis = 0; axis < 3; axis++) {
        same(Sum(p, EDDY_DIMS(axis)));
        same(eddy_sum(p, .axes = EDDY_AXES(axis), .keepdims = true));
    }
    same(eddy_sum_like(p, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 1, 3))));
    same(eddy_sum_like(p, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 3))));
}
END_TEST

START_TEST(nearly_one)
{
    const eddy_tensor x = numbers(EDDY_FLOAT64, EDDY_SHAPE(3)), p = Exp(Mul(1e-30, x));
    same(Log(Sub(eddy_number(g, EDDY_FLOAT64, 1 + 1e-7), p)));
    same(Log(Add(eddy_number(g, EDDY_FLOAT64, 1 + 1e-7), Mul(1e-9, x))));
}
END_TEST

START_TEST(wild_factors)
{
    const eddy_tensor bad = Log(Neg(Add(Abs(numbers(EDDY_FLOAT64, EDDY_SHAPE(20, 20))), 1)));
    same(Mul(MatMul(bad, bad), 0));
    const eddy_tensor big = Mul(Add(Abs(numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 2))), 1), 1e30);
    same(MatMul(Mul(big, 1e-30), big));
    const eddy_tensor none = Mul(numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 2)), 0);
    same(Mul(Mul(MatMul(none, none), 1e30), 1e30));
}
END_TEST

START_TEST(another_shift)
{
    const eddy_tensor x = Mul(numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 2)), 0.5);
    const eddy_tensor m = eddy_max(x, .axes = EDDY_AXES(1));
    const eddy_tensor sum = Add(Log(eddy_sum(Exp(Sub(x, m)), .axes = EDDY_AXES(1))), m);
    same(Sub(x, eddy_reshape(sum, EDDY_SHAPE(2, 1))));
}
END_TEST

START_TEST(nothing_to_divide)
{
    const eddy_tensor zero = numbers(EDDY_INT32, EDDY_SHAPE(1));
    const eddy_tensor none = eddy_broadcast_to(Sub(zero, zero), EDDY_SHAPE(0));
    same(FloorDiv(none, none));
}
END_TEST

/* The pass has something to do for y, and then `instructions` are left; -1: any number. */
static void fires(eddy_tensor y, unsigned pass, int instructions)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_fetch(s, y);
    ck_assert_msg(a, "%s", eddy_session_message(s));
    const eddy_plan_info info = eddy_session_plan_info(s);
    ck_assert_int_gt(info.changes[__builtin_ctz(pass)], 0);
    if (instructions >= 0) ck_assert_int_eq(info.instructions, instructions);
    eddy_array_free(a);
    eddy_session_free(s);
    same(y);
}

START_TEST(passes_fire)
{
    const eddy_tensor x = numbers(EDDY_FLOAT32, EDDY_SHAPE(4, 6));
    const eddy_tensor w = numbers(EDDY_FLOAT32, EDDY_SHAPE(4, 6));
    const eddy_tensor b = numbers(EDDY_FLOAT32, EDDY_SHAPE(6));
    const eddy_tensor square = numbers(EDDY_FLOAT32, EDDY_SHAPE(6, 6));
    /* drawn, rounded and cast in two instructions each; the loops of x and w are one */
    fires(MatMul(eddy_transpose(x), w), EDDY_PASS_PRODUCTS, 4);
    fires(Mul(MatMul(x, square), 0.5), EDDY_PASS_PRODUCTS, 5);
    fires(Relu(BiasAdd(MatMul(x, square), b)), EDDY_PASS_EPILOGUES, 7);
    const eddy_tensor rows = numbers(EDDY_FLOAT32, EDDY_SHAPE(12, 6));
    eddy_tensor terms[12];
    for (int i = 0; i < 12; i++)
        terms[i] = MatMul(eddy_slice(rows, EDDY_DIMS(i, 0), EDDY_DIMS(1, 6)),
                          eddy_slice(rows, EDDY_DIMS(11 - i, 0), EDDY_DIMS(1, 6)),
                          .transpose_a = true);
    fires(eddy_add_n((eddy_list){ 12, terms }, NULL), EDDY_PASS_PRODUCTS, -1);
    const eddy_tensor image = numbers(EDDY_FLOAT32, EDDY_SHAPE(1, 5, 5, 6));
    const eddy_tensor filter = numbers(EDDY_FLOAT32, EDDY_SHAPE(3, 3, 6, 6));
    fires(Relu(BiasAdd(eddy_conv2d(image, filter), b)), EDDY_PASS_EPILOGUES, 7);
}
END_TEST

/* A batch of products of a m by k and a k by n matrix, one of which all products share, in every
 * combination of transposes; it becomes a single product. */
static void one_product(eddy_dtype d, int64_t m, int64_t k, int64_t n, bool left)
{
    for (int how = 0; how < 4; how++) {
        const bool ta = how & 1, tb = how & 2;
        eddy_shape a = ta ? EDDY_SHAPE(2, 3, k, m) : EDDY_SHAPE(2, 3, m, k);
        eddy_shape b = tb ? EDDY_SHAPE(2, 3, n, k) : EDDY_SHAPE(2, 3, k, n);
        if (left) a = EDDY_SHAPE(a.dim[2], a.dim[3]);
        else b = EDDY_SHAPE(1, b.dim[2], b.dim[3]);
        const eddy_tensor x = numbers(d, a), y = numbers(d, b);
        fires(MatMul(x, y, .transpose_a = ta, .transpose_b = tb), EDDY_PASS_PRODUCTS, -1);
    }
}

START_TEST(shared_operands)
{
    for (int left = 0; left < 2; left++) {
        one_product(EDDY_FLOAT64, left ? 4 : 1, 5, left ? 1 : 4, left);
        one_product(EDDY_COMPLEX64, left ? 4 : 1, 5, left ? 1 : 4, left);
        one_product(EDDY_FLOAT32, 1, 5, 1, left);
    }
    const eddy_tensor a = numbers(EDDY_FLOAT64, EDDY_SHAPE(5, 4));
    for (int n = 1; n < 4; n++)                    /* columns; several are not rows in memory */
        for (int k = 0; k < 5; k += 2) {
            const eddy_tensor x = numbers(EDDY_FLOAT64, EDDY_SHAPE(3, 4, n));
            const eddy_tensor none = numbers(EDDY_FLOAT64, EDDY_SHAPE(5, k));
            same(MatMul(a, x));
            same(MatMul(none, numbers(EDDY_FLOAT64, EDDY_SHAPE(3, k, n))));
            same(MatMul(x, a, .transpose_a = true, .transpose_b = true));
        }
}
END_TEST

/* The gradient of a matrix that all examples share, a sum of outer products, is one product. */
START_TEST(sum_of_outer_products)
{
    const eddy_tensor x = numbers(EDDY_FLOAT64, EDDY_SHAPE(7, 3, 1));
    const eddy_tensor y = numbers(EDDY_FLOAT64, EDDY_SHAPE(7, 1, 5));
    fires(Sum(MatMul(x, y), EDDY_AXES(0)), EDDY_PASS_PRODUCTS, -1);
    fires(Sum(MatMul(x, x, .transpose_b = true), EDDY_AXES(0)), EDDY_PASS_PRODUCTS, -1);
    same(Sum(MatMul(x, y), EDDY_AXES(1)));
}
END_TEST

/* Zeros that no memory could hold, around an image of sixteen pixels, are not stored: the
 * filter's middle alone meets pixels. */
START_TEST(a_huge_dilation)
{
    const eddy_tensor x = numbers(EDDY_FLOAT32, EDDY_SHAPE(1, 4, 4, 1));
    const eddy_tensor w = numbers(EDDY_FLOAT32, EDDY_SHAPE(3, 3, 1, 1));
    const eddy_tensor middle = eddy_slice(w, EDDY_DIMS(1, 1, 0, 0), EDDY_DIMS(1, 1, 1, 1));
    const eddy_tensor y = eddy_conv2d(x, w, .padding = "SAME",
                                      .dilations = EDDY_DIMS(1073741822, 1073741822));
    const eddy_tensor off = Sum(Abs(Sub(y, eddy_conv2d(x, middle))));
    eddy_array *a = value_of(off, 0);
    ck_assert_double_eq(eddy_array_item(a), 0);
    eddy_array_free(a);
}
END_TEST

Suite *rewrites_suite(void)
{
    Suite *s = suite_create("rewrites");
    TCase *c = tcase_create("rewrites");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, sums_of_products);
    tcase_add_test(c, nearly_one);
    tcase_add_test(c, wild_factors);
    tcase_add_test(c, another_shift);
    tcase_add_test(c, nothing_to_divide);
    tcase_add_test(c, passes_fire);
    tcase_add_test(c, shared_operands);
    tcase_add_test(c, sum_of_outer_products);
    tcase_add_test(c, a_huge_dilation);
    suite_add_tcase(s, c);
    return s;
}
