/* test_gradient_check_complex.c -- the gradient check of complex numbers. */
#include "tests/lib/gradient_check_fixture.h"

Suite *gradient_check_complex_suite(void);

/* ------------------------------------------------------------- operations -- */

/* y = x0 x1 of complex numbers; the gradient of x1 forgets a conjugate. */
static eddy_status product_kernel(eddy_kernel *k)
{
    const double *a = k->in[0]->data, *b = k->in[1]->data;
    double       *y = k->out[0]->data;
    for (int64_t i = 0; i < 2 * k->out[0]->count; i += 2) {
        y[i] = a[i] * b[i] - a[i + 1] * b[i + 1];
        y[i + 1] = a[i] * b[i + 1] + a[i + 1] * b[i];
    }
    return EDDY_OK;
}
static void product_gradient(eddy_rule *rule)
{
    rule->dx[0] = Mul(rule->dy[0], Conj(rule->x[1]));
    rule->dx[1] = Mul(rule->dy[0], rule->x[0]);
}
static const eddy_op_def product_op = {
    .name = "FlawedProduct", .min_inputs = 2, .max_inputs = 2, .outputs = 1, .infer = same_infer,
    .kernel = product_kernel, .gradient = product_gradient,
};

/* y = x x of complex numbers, whose gradient is made of the op above. */
static eddy_status twice_kernel(eddy_kernel *k)
{
    const double *x = k->in[0]->data;
    double       *y = k->out[0]->data;
    for (int64_t i = 0; i < 2 * k->out[0]->count; i += 2) {
        y[i] = x[i] * x[i] - x[i + 1] * x[i + 1];
        y[i + 1] = 2 * x[i] * x[i + 1];
    }
    return EDDY_OK;
}
static void twice_gradient(eddy_rule *rule)
{
    const eddy_tensor d = eddy_apply2(&product_op, NULL, rule->dy[0], Conj(rule->x[0]));
    rule->dx[0] = Add(d, d);
}
static const eddy_op_def twice_op = {
    .name = "ComplexSquare", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = same_infer,
    .kernel = twice_kernel, .gradient = twice_gradient,
};

/* ----------------------------------------------------------------- checks -- */

/* Analytic functions, others, and ways from real numbers and to them. */
START_TEST(complex_ops)
{
    const eddy_dtype  d = _i ? EDDY_COMPLEX64 : EDDY_COMPLEX128;
    const eddy_tensor z = complex_vector(3, d), w = Conj(Mul(z, z));
    const eddy_tensor x = eddy_cast(vector(g, 3, (double[]){ 0.5, -1, 2 }), eddy_dtype_real(d));
    agrees(eddy_gradient_check(s, EDDY_LIST(eddy_exp(z), Mul(z, w), Square(Conj(z))),
                               EDDY_LIST(z, w), .report = &r, .order = 2));
    agrees(eddy_gradient_check(s, EDDY_LIST(Abs(z), Square(Imag(z)), Mul(z, Complex(x, x))),
                               EDDY_LIST(x, z), .report = &r, .order = 2));
    agrees(eddy_gradient_check(s, EDDY_LIST(eddy_angle(Complex(x, Square(x)))), EDDY_LIST(x),
                               .report = &r, .order = 2));
    ck_assert_double_lt(r.absolute, _i ? 2e-3 : 1e-7);
    ck_assert(!r.imaginary);
}
END_TEST

START_TEST(complex_large)
{
    const eddy_tensor z = complex_vector(300, EDDY_COMPLEX128);
    agrees(eddy_gradient_check(s, EDDY_LIST(eddy_tanh(z)), EDDY_LIST(z), .report = &r));
    ck_assert_double_lt(r.absolute, 1e-6);
    const eddy_tensor y = eddy_apply2(&product_op, NULL, z, Conj(z));
    ck_assert_int_eq(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(z), .report = &r),
                     EDDY_CHECK_FAILED);
    ck_assert_str_eq(eddy_type_of(r.op), "FlawedProduct");
    ck_assert_int_eq(r.input, 1);
}
END_TEST

/* dy x instead of dy x': for x imaginary, the sign of all that it gives is wrong. */
START_TEST(complex_wrong)
{
    const double      i[] = { 0, 0, 0, 3 };
    const eddy_tensor a = eddy_const(g, EDDY_COMPLEX128, EDDY_SHAPE(2), i);
    const eddy_tensor b = eddy_ones_like(a), y = eddy_apply2(&product_op, NULL, a, b);
    disagrees(eddy_gradient_check(s, EDDY_LIST(Imag(y)), EDDY_LIST(a, b), .report = &r),
              "FlawedProduct", 1, 1);
    agrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(a), .report = &r, .order = 2));
    disagrees(eddy_gradient_check(s, EDDY_LIST(Real(y)), EDDY_LIST(b), .report = &r),
              "FlawedProduct", 1, 1);
    ck_assert_double_eq_tol(fabs(r.analytic), 3, 1e-6);
    ck_assert_double_eq_tol(r.analytic, -r.numeric, 1e-6);
}
END_TEST

START_TEST(complex_part)
{
    const eddy_tensor z = complex_vector(2, EDDY_COMPLEX128);
    disagrees(eddy_gradient_check(s, EDDY_LIST(eddy_apply1(&drop_op, NULL, z)), EDDY_LIST(z),
                                  .report = &r), "Dropped", 0, 0);
    ck_assert(r.imaginary);
    ck_assert_double_eq_tol(r.numeric, 1, 1e-6);
    ck_assert_double_eq(r.analytic, 0);
    agrees(eddy_gradient_check(s, EDDY_LIST(Real(eddy_apply1(&drop_op, NULL, z))), EDDY_LIST(z),
                               .report = &r));
}
END_TEST

START_TEST(complex_wrong_second)
{
    const eddy_tensor z = complex_vector(3, EDDY_COMPLEX128);
    const eddy_tensor y = eddy_apply1(&twice_op, NULL, z);
    agrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(z), .report = &r));
    ck_assert_int_eq(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(z), .report = &r, .order = 2),
                     EDDY_CHECK_FAILED);
    ck_assert_str_eq(eddy_type_of(r.op), "FlawedProduct");
    ck_assert_int_eq(r.order, 2);
    ck_assert_int_eq(r.input, 1);
}
END_TEST

Suite *gradient_check_complex_suite(void)
{
    Suite *suite = suite_create("gradient_check_complex");
    TCase *t = tcase_create("checks");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, complex_ops, 0, 2);
    tcase_add_test(t, complex_large);
    tcase_add_test(t, complex_wrong);
    tcase_add_test(t, complex_part);
    tcase_add_test(t, complex_wrong_second);
    suite_add_tcase(suite, t);
    return suite;
}
