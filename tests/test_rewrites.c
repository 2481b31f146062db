/* test_rewrites.c -- what rewriting once took for something else: the same values with all
 * passes and with none. */
#include "tests/core.h"

#include <math.h>

Suite *rewrites_suite(void);

static eddy_graph *g;

static void setup(void) { g = eddy_graph_new(); }
static void teardown(void) { eddy_graph_free(g); }

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
    suite_add_tcase(s, c);
    return s;
}
