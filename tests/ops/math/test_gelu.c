/* test_gelu.c -- the error function and gelu: float64 and gradients against PyTorch,
 * float32 against float64.
 *
 * Numbers marked PyTorch are those of torch.nn.functional.gelu of its 1.13 in float64, and
 * of its first two derivatives, at the places in `at`. */
#include "tests/lib/element_checks.h"
#include "graph/base/cpu.h"

Suite *gelu_suite(void);

enum { PLACES = 11 };
static const double at[PLACES] = { -5, -3, -1.5, -.5, -.01, 0, .01, .5, 1.5, 3, 5 };

/* Without and with the hyperbolic tangent: the value and two derivatives, by PyTorch. */
static const double wanted[2][3][PLACES] = {
    { { -1.4332578593401202e-06, -0.0040496940948903104, -0.10021080190328704,
        -0.15426876936299344, -0.004960106436853684, 0, 0.0050398935631463162,
        0.34573123063700656, 1.399789198096713, 2.9959503059051098, 4.9999985667421409 },
      { -7.1469460018034646e-06, -0.01194564720418392, -0.1274691922299796, 0.13250487534383712,
        0.49202142034750757, 0.5, 0.50797857965249238, 0.86749512465616285, 1.1274691922299795,
        1.0119456472041839, 1.0000071469460019 },
      { -3.4194548838888845e-05, -0.031022938883566054, -0.032379398916472957,
        0.61611432183752413, 0.79780477533878569, 0.79788456080286541, 0.79780477533878569,
        0.61611432183752413, -0.032379398916472957, -0.031022938883566054,
        -3.4194548838888845e-05 } },
    { { -2.2917961972623857e-07, -0.0036373920817729943, -0.10042842301976707,
        -0.15428599017485606, -0.0049601064401444276, 0, 0.0050398935598555726,
        0.34571400982514394, 1.3995715769802328, 2.9963626079182268, 4.9999997708203807 },
      { -1.5463619879596227e-06, -0.011584166630969648, -0.12771079315143308,
        0.13263009646535764, 0.49202142166375923, 0.5, 0.50797857833624072, 0.86736990353464238,
        1.127710793151433, 1.0115841666309695, 1.000001546361988 },
      { -9.9341322248937217e-06, -0.031767658886074919, -0.030518196484224859,
        0.615506895115985, 0.79780438049064983, 0.79788456080286541, 0.79780438049064983,
        0.615506895115985, -0.030518196484224859, -0.031767658886074919,
        -9.9341322248937217e-06 } },
};

START_TEST(gelu_is_that_of_pytorch)
{
    for (int single = 0; single < 2; single++) {
        const double      tolerance = single ? 3e-7 : 1e-13;
        const eddy_tensor x = vec(single ? F32 : F64, PLACES, at);
        const eddy_tensor y = eddy_gelu(x, .approximate = _i), d = slope(y, x);
        near("value", tolerance, y, PLACES, wanted[_i][0]);
        near("slope", tolerance, d, PLACES, wanted[_i][1]);
        near("curve", 10 * tolerance, slope(d, x), PLACES, wanted[_i][2]);
    }
}
END_TEST

/* Where little is left, its digits are right: x P(x) at -10 is 10 times 7.6e-24. */
START_TEST(no_digits_are_lost_where_little_is_left)
{
    const double x[] = { -4, -7, -10, -13 };
    double       got[ROOM];
    ck_assert_int_eq(values(eddy_gelu(vec(F32, 4, x)), got), 4);
    for (int i = 0; i < 4; i++) {
        const double want = 0.5 * x[i] * erfc(-x[i] / sqrt(2));
        ck_assert_msg(fabs(got[i] - want) <= 1e-6 * fabs(want), "gelu(%g) is %g", x[i], got[i]);
    }
}
END_TEST

START_TEST(far_away)
{
    IS(eddy_gelu(vec(F32, V(INFINITY, -INFINITY, NAN, 1e30, -1e30))), INFINITY, NAN, NAN,
       (double)1e30f, 0);
    IS(eddy_gelu(vec(F64, V(INFINITY, -INFINITY, NAN, 1e30, -1e30))), INFINITY, NAN, NAN, 1e30, 0);
    for (int single = 0; single < 2; single++)
        for (int approximate = 0; approximate < 2; approximate++) {
            const eddy_tensor x = vec(single ? F32 : F64, V(INFINITY, -INFINITY, NAN, 1e30, -1e30));
            IS(slope(eddy_gelu(x, .approximate = approximate), x), 1, 0, NAN, 1, 0);
        }
    IS(Erf(vec(F32, V(INFINITY, -INFINITY, NAN, 0, 5))), 1, -1, NAN, 0, 1);
}
END_TEST

/* float32's slopes beside float64's, over all that is not flat. */
START_TEST(slopes_of_float32_are_those_of_float64)
{
    for (int block = 0; block < 100; block++) {
        double v[ROOM], narrow[ROOM], wide[ROOM];
        for (int i = 0; i < ROOM; i++) v[i] = (double)(float)uniform(-9, 9);
        const eddy_tensor a = vec(F32, ROOM, v), b = vec(F64, ROOM, v);
        values(slope(eddy_gelu(a, .approximate = _i), a), narrow);
        values(slope(eddy_gelu(b, .approximate = _i), b), wide);
        for (int i = 0; i < ROOM; i++)
            ck_assert_msg(fabs(narrow[i] - wide[i]) <= 4e-7, "slope at %.9g is %.9g, not %.9g",
                          v[i], narrow[i], wide[i]);
    }
}
END_TEST

/* A call that is a macro because of its options is also a function, for use as a function
 * pointer. */
START_TEST(activations_are_functions)
{
    eddy_tensor (*const f[])(eddy_tensor) = {
        eddy_celu, eddy_gelu, eddy_glu, eddy_hard_sigmoid, eddy_hard_tanh, eddy_leaky_relu,
        eddy_log_softmax, eddy_softmax,
    };
    const eddy_tensor x = vec(F64, 6, (double[]){ -4, -2, -.5, .25, 2, 4 });
    const eddy_tensor by_macro[] = {
        eddy_celu(x), eddy_gelu(x), eddy_glu(x), eddy_hard_sigmoid(x), eddy_hard_tanh(x),
        eddy_leaky_relu(x), eddy_log_softmax(x), eddy_softmax(x),
    };
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        double have[6] = { 0 }, want[6] = { 0 };
        values(f[i](x), have);
        values(by_macro[i], want);
        for (int k = 0; k < 6; k++) ck_assert_double_eq(have[k], want[k]);
    }
}
END_TEST

Suite *gelu_suite(void)
{
    Suite *s = suite_create("gelu");
    TCase *t = tcase_create("gelu");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, gelu_is_that_of_pytorch, 0, 2);
    tcase_add_test(t, no_digits_are_lost_where_little_is_left);
    tcase_add_test(t, far_away);
    tcase_add_test(t, activations_are_functions);
    tcase_add_loop_test(t, slopes_of_float32_are_those_of_float64, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
