/* test_special.c -- special functions: values and derivatives against numbers computed with mpmath
 * 1.2.1 to 40 digits, and singular points. */
#include "tests/lib/element_checks.h"

Suite *special_suite(void);

enum { PLACES = 8 };

static eddy_tensor grad_a_1(eddy_tensor a, eddy_tensor x) { return eddy_igamma_grad_a(a, x); }
static eddy_tensor grad_a_2(eddy_tensor a, eddy_tensor x)
{
    return eddy_igamma_grad_a(a, x, .order = 2);
}
static eddy_tensor grad_a_3(eddy_tensor a, eddy_tensor x)
{
    return eddy_igamma_grad_a(a, x, .order = 3);
}

static const struct unary_value {
    const char *name;
    unary_fn    fn;
    double      x[PLACES], y[PLACES];
} unary_values[] = {
    { "erfc", eddy_erfc,
      { -3.0, -0.4, 0.0, 0.01, 1.5, 5.0, 12.0, 26.0 },
      { 1.9999779095030014, 1.4283923550466685, 1.0, 0.98871658444415038,
        0.033894853524689273, 1.5374597944280349e-12, 1.3562611692059042e-64,
        5.6631924088561428e-296 } },
    { "erfcx", eddy_erfcx,
      { -5.0, -0.5, 0.0, 0.3, 2.7, 9.9, 10.1, 100000.0 },
      { 144009798674.66104, 1.9523604891825571, 1.0, 0.73459933456765515,
        0.19687412733195577, 0.056702456938832268, 0.055590487009239876,
        5.6418958351954681e-6 } },
    { "ndtr", eddy_ndtr,
      { -35.0, -8.0, -1.25, -0.01, 0.0, 0.7, 2.0, 6.0 },
      { 1.1249107064724062e-268, 6.2209605742717841e-16, 0.10564977366685526,
        0.4960106436853684, 0.5, 0.75803634777692697, 0.97724986805182079,
        0.99999999901341235 } },
    { "log_ndtr", eddy_log_ndtr,
      { -1000.0, -37.0, -6.0, -0.5, 0.0, 0.5, 5.0, 10.0 },
      { -500007.82669481218, -689.03058557689059, -20.736768949974706,
        -1.1759117615936186, -0.69314718055994531, -0.36894641528865639,
        -2.8665161296376359e-7, -7.6198530241605261e-24 } },
    { "ndtri", eddy_ndtri,
      { 1e-300, 1e-20, 0.001, 0.07, 0.3, 0.5001, 0.9, 0.99 },
      { -37.047096299361199, -9.2623400897984076, -3.0902323061678135,
        -1.4757910281791707, -0.52440051270804082, 0.00025066283008800749,
        1.2815515655446006, 2.3263478740408408 } },
    { "erfinv", eddy_erfinv,
      { -0.99, -0.5, 1e-10, 0.01, 0.3, 0.84, 0.86, 0.9999 },
      { -1.8213863677184495, -0.47693627620446987, 8.8622692545275805e-11,
        0.0088625012809505981, 0.27246271472675435, 0.99353562834730419,
        1.0435418436397588, 2.7510639057120797 } },
    { "erfcinv", eddy_erfcinv,
      { 1e-300, 1e-30, 0.001, 0.2, 0.9, 1.1, 1.5, 1.99 },
      { 26.209469960516124, 8.1486162231698646, 2.3267537655135247, 0.9061938024368232,
        0.088855990494257667, -0.088855990494257766, -0.47693627620446987,
        -1.8213863677184495 } },
    { "dawsn", eddy_dawsn,
      { -2.0, 0.001, 0.4999, 0.5, 0.9241, 3.0, 11.9, 40.0 },
      { -0.30134038892379197, 0.00099999933333360002, 0.42437882001833693,
        0.4244363835020223, 0.54104422381758452, 0.17827103061055829,
        0.042166760562027799, 0.012503909917843973 } },
    { "lgamma", eddy_lgamma,
      { -3.5, -0.2, 1e-20, 0.3, 1.4, 2.5, 10.0, 1000000.0 },
      { -1.309006684993042, 1.7614975908339379, 46.051701859880914, 1.0957979948180756,
        -0.11961291417237129, 0.28468287047291916, 12.80182748008147, 12815504.569147612 } },
    { "digamma", eddy_digamma,
      { -7.3, -0.5, 1e-05, 0.4, 1.25, 1.4616, 5.0, 10000.0 },
      { 4.3373073055100501, 0.036489973978576521, -100000.57719921567,
        -2.561384544585116, -0.22745353337626541, -3.110625123034165e-5,
        1.5061176684318005, 9.2102903711428494 } },
    { "bessel_i0", eddy_bessel_i0,
      { -3.0, -0.1, 0.0, 0.5, 4.0, 8.0, 8.1, 50.0 },
      { 4.8807925858650241, 1.0025015629340956, 1.0, 1.0634833707413235,
        11.30192195213633, 427.56411572180479, 469.50060671012147, 2.9325537838493363e+20 } },
    { "bessel_i1", eddy_bessel_i1,
      { -3.0, -0.1, 0.0, 0.5, 4.0, 8.0, 8.1, 50.0 },
      { -3.9533702174026094, -0.050062526047092695, 0.0, 0.25789430539089632,
        9.7594651537044499, 399.8731367825601, 439.48430891035846, 2.9030785901035568e+20 } },
    { "bessel_i0e", eddy_bessel_i0e,
      { -3.0, -0.1, 0.0, 0.5, 4.0, 8.0, 20.0, 10000.0 },
      { 0.2430003541618254, 0.90710092578230109, 1.0, 0.64503527044915007,
        0.2070019212239867, 0.14343178185685031, 0.089780311884826022,
        0.0039894726746047321 } },
    { "bessel_i1e", eddy_bessel_i1e,
      { -3.0, -0.1, 0.0, 0.5, 4.0, 8.0, 20.0, 10000.0 },
      { -0.19682671329730085, -0.045298446808809327, 0.0, 0.1564208031848717,
        0.17875083950243533, 0.13414249329269818, 0.087506222183288665,
        0.0039892731959836623 } },
};

static const struct binary_value {
    const char *name;
    binary_fn   fn;
    double      a[PLACES], x[PLACES], y[PLACES];
} binary_values[] = {
    { "polygamma", eddy_polygamma,
      { 0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0 },
      { 2.5, 0.01, -3.3, 4.0, 100.0, 0.7, -0.4, 2.0 },
      { 0.70315664064524319, 10001.621213528313, 14.817739525515929,
        -0.080039732245114497, 2.030199990001333e-6, -144.70825364302466,
        31876.506907768459, 360.91142238262681 } },
    { "zeta", eddy_zeta,
      { 1.001, 1.5, 2.0, 2.5, 3.0, 7.0, 20.0, 2.0 },
      { 1.0, 0.25, 1.0, 10.0, 0.001, 3.0, 1.5, 10000.0 },
      { 1000.5772884760116, 10.213055360466601, 1.6449340668482264, 0.022728699194534541,
        1000000001.1988161, 0.00053677738192282684, 0.00030073966816718435,
        0.00010000500016666667 } },
    { "igamma", eddy_igamma,
      { 0.001, 0.5, 0.5, 7.0, 30.0, 150.0, 150.0, 20000.0 },
      { 0.2, 0.5, 3.0, 2.0, 32.0, 140.0, 400.0, 20100.0 },
      { 0.99877745216052679, 0.6826894921370859, 0.98569412156457036,
        0.0045338055262488663, 0.66199413528048203, 0.20954362391860707, 1.0,
        0.76061670556141765 } },
    { "igammac", eddy_igammac,
      { 0.001, 0.001, 0.5, 7.0, 30.0, 150.0, 150.0, 20000.0 },
      { 0.2, 3.0, 3.0, 2.0, 90.0, 170.0, 400.0, 20100.0 },
      { 0.0012225478394732088, 1.3073139801213743e-5, 0.01430587843542964,
        0.99546619447375113, 6.3926569911374996e-14, 0.055634431310193294,
        4.0711477635616176e-47, 0.23938329443858235 } },
    { "igamma_grad_a 1", grad_a_1,
      { 0.1, 0.5, 0.5, 7.0, 30.0, 150.0, 150.0, 2.0 },
      { 0.3, 0.5, 3.0, 2.0, 32.0, 140.0, 260.0, 0.01 },
      { -0.92198716199340112, -0.64720035237775388, -0.047240326447973751,
        -0.0061649420147662017, -0.066334576470583931, -0.023793726651202103,
        -2.8062038027107948e-14, -0.00027461721015550322 } },
    { "igamma_grad_a 2", grad_a_2,
      { 0.1, 0.5, 0.5, 7.0, 30.0, 150.0, 150.0, 2.0 },
      { 0.3, 0.5, 3.0, 2.0, 32.0, 140.0, 260.0, 0.01 },
      { -0.013411920410931669, 0.15585302936750689, -0.085989868973685684,
        0.0078236380377710881, -0.0042869045051658333, 0.0016425984483329274,
        -1.5443858954924986e-14, 0.0014987981652401205 } },
    { "igamma_grad_a 3", grad_a_3,
      { 0.1, 0.5, 0.5, 7.0, 30.0, 150.0, 150.0, 2.0 },
      { 0.3, 0.5, 3.0, 2.0, 32.0, 140.0, 260.0, 0.01 },
      { 2.7710062906805009, 0.96716491469299215, -0.062516056470523029,
        -0.0090541757662753444, 0.0019402650488715069, 4.5309071372336375e-5,
        -8.3122433374423181e-15, -0.008062833219976356 } },
};

static const double beta_a[PLACES] = { 0.5, 2.0, 0.01, 30.0, 100.0, 5.0, 2000.0, 1.0 };
static const double beta_b[PLACES] = { 0.5, 3.0, 4.0, 1.0, 100.0, 0.1, 3000.0, 1.0 };
static const double beta_x[PLACES] = { 0.3, 0.5, 0.2, 0.9, 0.45, 0.999, 0.41, 1e-20 };
static const double beta_y[PLACES] = {
    0.36901011956554538, 0.6875, 0.99679181226734553, 0.042391158275216235,
    0.07838793271222053, 0.38710164062500546, 0.92526212620830418, 9.9999999999999995e-21,
};

/* Relative to the number itself, also where it is small. */
static void holds(const char *name, double tolerance, eddy_tensor t, const double *want)
{
    double got[ROOM];
    ck_assert_int_eq(values(t, got), PLACES);
    for (int i = 0; i < PLACES; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= tolerance * fabs(want[i]),
                      "%s: element %d is %.17g, not %.17g", name, i, got[i], want[i]);
}

START_TEST(unary_values_are_right)
{
    const struct unary_value *r = &unary_values[_i];
    holds(r->name, 2e-14, r->fn(vec(F64, PLACES, r->x)), r->y);
}
END_TEST

START_TEST(binary_values_are_right)
{
    const struct binary_value *r = &binary_values[_i];
    holds(r->name, 2e-13, r->fn(vec(F64, PLACES, r->a), vec(F64, PLACES, r->x)), r->y);
}
END_TEST

START_TEST(beta_values_are_right)
{
    const eddy_tensor a = vec(F64, PLACES, beta_a), b = vec(F64, PLACES, beta_b);
    holds("betainc", 5e-14, eddy_betainc(a, b, vec(F64, PLACES, beta_x)), beta_y);
    /* lbeta of pairs: ln B(1/2, 1/2) is ln pi, B(3, 4) is 1/60. */
    const double pairs[] = { 0.5, 0.5, 3, 4 };
    near("lbeta", 1e-14, eddy_lbeta(shaped(F64, EDDY_SHAPE(2, 2), pairs)),
         V(1.1447298858494002, -4.0943445622221007));
}
END_TEST

/* The result in float32 is the rounded result in float64. */
START_TEST(float32_is_rounded)
{
    const struct unary_value *r = &unary_values[_i];
    double x[PLACES], wide[ROOM], narrow[ROOM];
    for (int i = 0; i < PLACES; i++) x[i] = (double)(float)r->x[i];
    values(r->fn(vec(F64, PLACES, x)), wide);
    values(r->fn(vec(F32, PLACES, x)), narrow);
    for (int i = 0; i < PLACES; i++)
        ck_assert_msg(fabs(narrow[i] - wide[i]) <= 3.6e-7 * fabs(wide[i]) + 1e-44 ||
                      fabs(wide[i]) > 3.4e38, "%s(%g) is %.9g, not %.9g", r->name, x[i], narrow[i],
                      wide[i]);
}
END_TEST

START_TEST(corners)
{
    const eddy_tensor far = vec(F64, V(-INFINITY, INFINITY, NAN));
    IS(eddy_erfc(far), 2, 0, NAN);
    IS(eddy_erfcx(far), INFINITY, 0, NAN);
    IS(eddy_ndtr(far), 0, 1, NAN);
    IS(eddy_log_ndtr(far), -INFINITY, 0, NAN);
    IS(eddy_dawsn(far), 0, 0, NAN);
    IS(eddy_lgamma(far), INFINITY, INFINITY, NAN);
    IS(eddy_digamma(vec(F64, V(0, -0.0, -3, INFINITY, NAN))), -INFINITY, INFINITY, NAN, INFINITY,
       NAN);
    IS(eddy_bessel_i0(far), INFINITY, INFINITY, NAN);
    IS(eddy_bessel_i1(far), -INFINITY, INFINITY, NAN);
    IS(eddy_bessel_i0e(far), 0, 0, NAN);
    IS(eddy_erfinv(vec(F64, V(-1, 0, 1, 1.5, -2, NAN))), -INFINITY, 0, INFINITY, NAN, NAN, NAN);
    IS(eddy_erfcinv(vec(F64, V(0, 1, 2, 2.5, -1, NAN))), INFINITY, 0, -INFINITY, NAN, NAN, NAN);
    IS(eddy_ndtri(vec(F64, V(0, 0.5, 1, 1.5, -1, NAN))), -INFINITY, 0, INFINITY, NAN, NAN, NAN);
    IS(eddy_erfc(vec(F32, V(-INFINITY, INFINITY, NAN, 0))), 2, 0, NAN, 1);
    IS(eddy_ndtr(vec(F32, V(-INFINITY, INFINITY, NAN, 0))), 0, 1, NAN, 0.5);
}
END_TEST

START_TEST(corners_of_two)
{
    IS(eddy_polygamma(vec(F64, V(-1, 1.5, 1, 2, 1)), vec(F64, V(2, 2, -3, -3, INFINITY))), NAN, NAN,
       INFINITY, NAN, 0);
    IS(eddy_zeta(vec(F64, V(1, 0.5, 2, 3, 2.5, NAN)), vec(F64, V(2, 2, -1, 0, -0.5, 1))), INFINITY,
       NAN, INFINITY, NAN, NAN, NAN);
    const eddy_tensor a = vec(F64, V(1, 0, -1, 2, 2, 2, INFINITY, NAN));
    const eddy_tensor x = vec(F64, V(-1, 1, 1, 0, INFINITY, NAN, 3, 1));
    IS(eddy_igamma(a, x), NAN, NAN, NAN, 0, 1, NAN, 0, NAN);
    IS(eddy_igammac(a, x), NAN, NAN, NAN, 1, 0, NAN, 1, NAN);
    IS(eddy_igamma_grad_a(a, x), NAN, NAN, NAN, 0, 0, NAN, NAN, NAN);
    const eddy_tensor at = vec(F64, V(0, 1, -0.5, 1.5, NAN));
    IS(eddy_betainc(num(F64, 2), num(F64, 3), at), 0, 1, NAN, NAN, NAN);
    IS(eddy_betainc(num(F64, 0), num(F64, 3), num(F64, 0.5)), NAN);
}
END_TEST

/* Orders whose factorials, and powers of x, leave the range of numbers. */
START_TEST(polygamma_of_large_orders)
{
    static const double n[] = { 40, 8, 140, 200, 300, 170, 171, 1, 5 };
    static const double x[] = { -12.5, -12.5, 200, 40, -12.5, 150, 90, -1e-20, -3.25 };
    static const double y[] = {
        -39.093529098809559, -6.0708648357349592e-6, -9.5949210944128044e-84,
        -7.6891739198839497e+52, -1.8002744876150104e+274, -8.2806450232030367e-66,
        1.0830976586371273e-27, 1e40, 492231.23733572134,
    };
    double got[ROOM];
    const int count = values(eddy_polygamma(vec(F64, 9, n), vec(F64, 9, x)), got);
    for (int i = 0; i < count; i++)
        ck_assert_msg(fabs(got[i] - y[i]) <= 1e-12 * fabs(y[i]), "polygamma(%g, %g) is %.17g", n[i],
                      x[i], got[i]);
    const eddy_tensor orders = vec(F64, V(200, 200, 300, 300, 1e6));
    IS(eddy_polygamma(orders, vec(F64, V(-0.1, 0.001, -60.3, INFINITY, -60.3))), INFINITY,
       -INFINITY, INFINITY, 0, INFINITY);
    ck_assert_int_eq(values(eddy_zeta(num(F64, 41), num(F64, -12.5)), got), 1);
    ck_assert(fabs(got[0] / 4.7913711020574006e-47 - 1) < 1e-12);
}
END_TEST

/* Near a = x the series is long. */
START_TEST(igamma_grad_a_of_large_numbers)
{
    static const double a[] = { 2e5, 2e5, 3e7, 1e8 }, x[] = { 2e5, 2.01e5, 3e7, 1e8 };
    static const double y[] = { -0.000892062429769049, -7.36514270804744e-5, -7.284e-5, -3.989e-5 };
    double got[ROOM];
    const int count = values(eddy_igamma_grad_a(vec(F64, 4, a), vec(F64, 4, x)), got);
    for (int i = 0; i < count; i++)
        ck_assert_msg(fabs(got[i] / y[i] - 1) < (i < 2 ? 1e-10 : 2e-4), "at %g, %g: %.17g", a[i],
                      x[i], got[i]);
    IS(eddy_igamma_grad_a(num(F64, 1.01e8), num(F64, 1e8)), NAN);
}
END_TEST

/* Where the formula of a derivative is 0 / 0 the power series steps in. */
START_TEST(slopes_at_0)
{
    const eddy_tensor x = num(F64, 0), i1 = eddy_bessel_i1(x), i0 = eddy_bessel_i0(x);
    IS(slope(i0, x), 0);
    IS(slope(i1, x), 0.5);
    IS(slope(slope(i1, x), x), 0);
    near("third", 1e-15, slope(slope(slope(i1, x), x), x), V(0.375));
    near("second", 1e-15, slope(slope(i0, x), x), V(0.5));
    IS(slope(eddy_bessel_i1e(x), x), 0.5);
}
END_TEST

/* The ratio of the density and the distribution, which both vanish. */
START_TEST(slope_of_log_ndtr_far_below)
{
    const eddy_tensor x = vec(F64, V(-1e4, -50, 40));
    near("slope", 1e-14, slope(eddy_log_ndtr(x), x), V(10000.000099999998, 50.019984031905641, 0));
}
END_TEST

START_TEST(what_has_no_gradient)
{
    const eddy_tensor n = vec(F64, V(1, 2)), x = vec(F64, V(1.5, 2.5));
    ck_assert(!connected(eddy_polygamma(n, x), n));
    ck_assert(!connected(eddy_zeta(Add(n, 1), x), n));
    ck_assert(!connected(eddy_betainc(n, x, Mul(0.2, StopGradient(x))), n));
    ck_assert(connected(eddy_igamma(n, x), n));
}
END_TEST

Suite *special_suite(void)
{
    Suite *s = suite_create("special");
    TCase *t = tcase_create("special");
    tcase_add_checked_fixture(t, setup, teardown);
    const int unary = sizeof unary_values / sizeof *unary_values;
    tcase_add_loop_test(t, unary_values_are_right, 0, unary);
    tcase_add_loop_test(t, float32_is_rounded, 0, unary);
    tcase_add_loop_test(t, binary_values_are_right, 0,
                        (int)(sizeof binary_values / sizeof *binary_values));
    tcase_add_test(t, beta_values_are_right);
    tcase_add_test(t, corners);
    tcase_add_test(t, corners_of_two);
    tcase_add_test(t, polygamma_of_large_orders);
    tcase_add_test(t, igamma_grad_a_of_large_numbers);
    tcase_add_test(t, slopes_at_0);
    tcase_add_test(t, slope_of_log_ndtr_far_below);
    tcase_add_test(t, what_has_no_gradient);
    suite_add_tcase(s, t);
    return s;
}
