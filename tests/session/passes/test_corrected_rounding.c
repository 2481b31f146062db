/* test_corrected_rounding.c -- formulas that correct their own rounding keep their digits in the
 * pass for numerically safer forms, and other formulas beside them keep those forms. */
#include "tests/lib/graph_fixture.h"

#include <math.h>

Suite *corrected_rounding_suite(void);

static bool near(double a, double b, double rel) { return a == b || fabs(a - b) <= rel * fabs(b); }
static double log1m(double x) { return log1p(-x); }

static eddy_array *value(eddy_tensor y, eddy_tensor x, const eddy_array *v)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out = NULL;
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, v }), EDDY_FETCH(y), &out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    eddy_session_free(s);
    return out;
}

/* log1p and expm1 as they are written without these functions: both parts of the quotient have one
 * rounding error, so neither may be replaced by a form without it. */
static eddy_tensor log1p_by_hand(eddy_tensor a)
{
    const eddy_tensor u = Add(a, 1), l = Log(u), v = Sub(u, 1);
    return Mul(l, Div(a, v));
}
static eddy_tensor log1p_by_sum(eddy_tensor a)
{
    const eddy_tensor u = Add(1, a), v = Add(u, -1), w = Div(a, v);
    return Mul(w, Log(u));
}
static eddy_tensor log1p_by_error(eddy_tensor a)
{
    const eddy_tensor u = Add(1, a), l = Log(u), error = Sub(Sub(u, 1), a);
    return Sub(l, Div(error, u));
}
static eddy_tensor log1m_by_hand(eddy_tensor a)
{
    const eddy_tensor u = Sub(1, a), v = Sub(1, u), l = Log(u);
    return Mul(l, Div(a, v));
}
static eddy_tensor expm1_by_hand(eddy_tensor a)
{
    const eddy_tensor u = Exp(a), v = Sub(u, 1), l = Log(u);
    return Mul(v, Div(a, l));
}
static eddy_tensor expm1_by_quotient(eddy_tensor a)
{
    const eddy_tensor u = Exp(a), l = Log(u), v = Sub(u, 1);
    return Div(Mul(v, a), l);
}

START_TEST(corrected_by_hand)
{
    static const struct { eddy_tensor (*of)(eddy_tensor); double (*f)(double); } all[] = {
        { log1p_by_hand, log1p }, { log1p_by_sum, log1p }, { log1p_by_error, log1p },
        { log1m_by_hand, log1m }, { expm1_by_hand, expm1 }, { expm1_by_quotient, expm1 },
    };
    static const double points[] = { 0.3, 0.01, 1e-3, -1e-3, 1e-5, 3e-7, 1e-9, -1e-12, 5e-15 };
    enum { COUNT = sizeof points / sizeof *points };
    eddy_array       *v = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(COUNT), points);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(COUNT));
    eddy_array       *y = value(all[_i].of(x), x, v);
    for (int i = 0; i < COUNT; i++) {
        const double want = all[_i].f(points[i]);
        ck_assert_msg(near(eddy_array_get(y, i), want, 1e-15), "%d, %g: %.17g, not %.17g", _i,
                      points[i], eddy_array_get(y, i), want);
    }
    eddy_array_free(y);
    eddy_array_free(v);
}
END_TEST

/* u - 1 beside the logarithm of u corrects nothing: the form is stable as without it. */
START_TEST(not_corrected)
{
    static const double points[] = { 1000, -40 }, want[] = { 1000, 4.248354255291589e-18 };
    eddy_array       *v = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), points);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    const eddy_tensor u = Add(1, Exp(x)), less = Sub(u, 1), l = Log(u);
    eddy_array       *y[2] = { NULL };
    eddy_session     *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, v }), EDDY_FETCH(l, less), y), EDDY_OK);
    for (int i = 0; i < 2; i++) ck_assert(near(eddy_array_get(y[0], i), want[i], 1e-15));
    eddy_array_free(y[0]);
    eddy_array_free(y[1]);
    eddy_array_free(v);
    eddy_session_free(s);
}
END_TEST

Suite *corrected_rounding_suite(void)
{
    Suite *s = suite_create("corrected_rounding");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, corrected_by_hand, 0, 6);
    tcase_add_test(c, not_corrected);
    suite_add_tcase(s, c);
    return s;
}
