/* test_far_derivatives.c -- derivatives of elementwise functions near 0 and far from it, where a
 * formula loses digits, overflows or multiplies 0 by infinity. `make hunt` looks for others. */
#include "tests/lib/scaled_cases.h"

Suite *far_derivatives_suite(void);

static eddy_tensor gelu(eddy_tensor x) { return eddy_gelu(x); }
static eddy_tensor tanh_gelu(eddy_tensor x) { return eddy_gelu(x, .approximate = true); }

/* In float64, the derivatives there are no more than 1e-75. */
#define BIG 3e38
#define INF ((double)INFINITY)

/* Numbers from differences in MPFR with 2000 bits. */
static const struct far_case {
    const char *name;
    unary_fn    f;
    int         order;
    double      x, want;
} far_cases[] = {
    { "asin", eddy_asin, 2, 1e-7, 1e-7 },
    { "acos", eddy_acos, 2, 1e-7, -1e-7 },
    { "atanh", eddy_atanh, 2, 1e-7, 2e-7 },
    { "asin", eddy_asin, 2, 1e-30, 1e-30 },
    { "atan", eddy_atan, 2, BIG, 0 },
    { "softsign", eddy_softsign, 2, BIG, 0 },
    { "sinc", eddy_sinc, 1, 1e6, 1e-6 },
    { "sinc", eddy_sinc, 2, 300, -2.2222222e-5 },
    { "sinc", eddy_sinc, 3, 1e6, -9.8696044e-6 },
    { "erf", eddy_erf, 2, BIG, 0 },
    { "erf", eddy_erf, 3, INF, 0 },
    { "erfc", eddy_erfc, 3, -BIG, 0 },
    { "ndtr", eddy_ndtr, 2, INF, 0 },
    { "ndtr", eddy_ndtr, 3, BIG, 0 },
    { "erfcx", eddy_erfcx, 1, 100, -5.6410498e-5 },
    { "erfcx", eddy_erfcx, 1, 1e10, -5.6418958e-21 },
    { "erfcx", eddy_erfcx, 2, 20, 1.3999934e-4 },
    { "erfcx", eddy_erfcx, 3, 6, -2.2946892e-3 },
    { "erfcx", eddy_erfcx, 2, BIG, 0 },
    { "dawsn", eddy_dawsn, 1, 1e10, -5e-21 },
    { "dawsn", eddy_dawsn, 1, -BIG, 0 },
    { "log_ndtr", eddy_log_ndtr, 2, -1e10, -1 },
    { "log_ndtr", eddy_log_ndtr, 2, 10, -7.6945986e-22 },
    { "log_ndtr", eddy_log_ndtr, 3, 40, 0 },
    { "log_ndtr", eddy_log_ndtr, 3, -1e10, 2e-30 },
    { "mish", eddy_mish, 2, 6, -2.4285763e-4 },
    { "mish", eddy_mish, 2, 10, -1.4837162e-7 },
    { "mish", eddy_mish, 3, 10, 2.8022595e-7 },
    { "mish", eddy_mish, 3, BIG, 0 },
    { "gelu", gelu, 2, 1e25, 0 },
    { "gelu", gelu, 3, -BIG, 0 },
    { "gelu by tanh", tanh_gelu, 3, 1e10, 0 },
};
enum { FAR_CASES = sizeof far_cases / sizeof *far_cases };

START_TEST(far_derivatives)
{
    const struct far_case *c = &far_cases[_i];
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = vec(floats[i], V(c->x));
        eddy_tensor y = c->f(x);
        for (int order = 0; order < c->order; order++) y = slope(y, x);
        double got[ROOM];
        ck_assert_int_eq(values(y, got), 1);
        ck_assert_msg(fabs(got[0] - c->want) <= 2e-5 * fabs(c->want) + 1e-75,
                      "%s: derivative %d at %g is %.9g, not %.9g", c->name, c->order, c->x, got[0],
                      c->want);
    }
}
END_TEST

/* Of e^-x, x e^-x and x^2 e^-x / 2, the derivatives of the functions. */
START_TEST(igamma_at_0)
{
    for (int i = 0; i < 2; i++) {
        const eddy_tensor a = vec(floats[i], V(1, 2, 3)), x = vec(floats[i], V(0, 0, 0));
        const eddy_tensor first = slope(eddy_igamma(a, x), x), second = slope(first, x);
        IS(first, 1, 0, 0);
        IS(second, -1, 1, 0);
        IS(slope(second, x), 1, -2, 1);
        IS(slope(slope(eddy_igammac(a, x), x), x), 1, -1, 0);
    }
}
END_TEST

/* Powers of x times powers of its logarithm, which tend to 0, except for a = 1. */
START_TEST(igamma_by_both_at_0)
{
    for (int i = 0; i < 2; i++) {
        const eddy_tensor a = vec(floats[i], V(1.5, 2, 4)), x = vec(floats[i], V(0, 0, 0));
        const eddy_tensor one = vec(floats[i], V(1)), zero = vec(floats[i], V(0));
        const eddy_tensor y = eddy_igamma(a, x), by_a = slope(y, a), by_both = slope(by_a, x);
        IS(by_both, 0, 0, 0);
        IS(slope(slope(y, x), a), 0, 0, 0);
        IS(slope(by_both, a), 0, 0, 0);
        IS(slope(slope(by_a, a), x), 0, 0, 0);
        IS(eddy_slice(slope(by_both, x), EDDY_DIMS(2), EDDY_DIMS(1)), 0);
        IS(slope(slope(eddy_igammac(a, x), a), x), 0, 0, 0);
        IS(slope(slope(eddy_igamma(one, zero), one), zero), -INF);
    }
}
END_TEST

/* x^2 (1 - x)^999 / B(3, 1000), a difference of logarithms in the thousands. */
START_TEST(betainc_of_a_large_parameter)
{
    for (int i = 0; i < 2; i++) {
        const eddy_tensor a = vec(floats[i], V(3)), b = vec(floats[i], V(1000));
        const eddy_tensor x = vec(floats[i], V(0x1p-9));
        near("slope", 1e-6, Div(slope(eddy_betainc(a, b, x), x), 271.343923952), V(1));
    }
}
END_TEST

/* A derivative at NaN is NaN, of each order. */
START_TEST(at_nan)
{
    static const unary_fn of[] = { eddy_erf, eddy_erfc, eddy_ndtr, gelu, tanh_gelu };
    for (int i = 0; i < 10; i++) {
        const eddy_tensor x = vec(floats[i % 2], V(NAN));
        eddy_tensor       y = of[i / 2](x);
        for (int order = 1; order < 4; order++) {
            double got[ROOM];
            y = slope(y, x);
            ck_assert_int_eq(values(y, got), 1);
            ck_assert_msg(isnan(got[0]), "function %d, derivative %d: %g", i / 2, order, got[0]);
        }
    }
}
END_TEST

Suite *far_derivatives_suite(void)
{
    Suite *suite = suite_create("far_derivatives");
    TCase *c = tcase_create("functions");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, far_derivatives, 0, FAR_CASES);
    tcase_add_test(c, igamma_at_0);
    tcase_add_test(c, igamma_by_both_at_0);
    tcase_add_test(c, betainc_of_a_large_parameter);
    tcase_add_test(c, at_nan);
    suite_add_tcase(suite, c);
    return suite;
}
