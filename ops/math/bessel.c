/* bessel.c -- modified Bessel functions of the first kind, of orders 0 and 1; elementwise, in
 * double precision.
 *
 * Both use Chebyshev series: up to 8 in x, for e^-x I0(x) and e^-x I1(x) / x; beyond 8 in 1 / x,
 * for these functions times sqrt(x). */
#include "ops/math/elementwise_rows.h"
#include "ops/kernels/elementwise/vector_powers.h"

static const double i0_near[] = {
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764,
    0.04930528423967071, -0.02373741480589947, 0.010546460394594998, -0.004324309995050576,
    0.0016394756169413357, -0.0005763755745385824, 0.00018850288509584165,
    -5.754195010082104e-05, 1.6448448070728896e-05, -4.4167383584587505e-06,
    1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08,
    -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10,
    9.675809035373237e-11, -1.726826291441556e-11, 2.95505266312964e-12,
    -4.856446783111929e-13, 7.676185498604936e-14, -1.1685332877993451e-14,
    1.715391285555133e-15, -2.431279846547955e-16, 3.3307945188222384e-17,
    -4.4153416464793395e-18,
};
static const double i0_far[] = {
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05,
    2.8913705208347567e-06, 2.0489185894690638e-07, 2.266668990498178e-08,
    3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11,
    -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
    7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
    -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15,
    1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16,
    3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18,
    -7.233180487874754e-18,
};
static const double i1_near[] = {
    0.12629359322181682, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499,
    0.024726449030626516, -0.010564084894626197, 0.004156422944312888,
    -0.0015135724506312532, 0.0005122859561685758, -0.00016176081582589674,
    4.781565107550054e-05, -1.3273163656039436e-05, 3.4702513081376785e-06,
    -8.568720264695455e-07, 2.0032947535521353e-07, -4.445059128796328e-08,
    9.381537386495773e-09, -1.8872497517228294e-09, 3.625590281552117e-10,
    -6.663489723502027e-11, 1.1736186298890901e-11, -1.9839743977649436e-12,
    3.223793365945575e-13, -5.042185504727912e-14, 7.600684294735408e-15,
    -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17,
    2.7779141127610464e-18,
};
static const double i1_far[] = {
    0.38928811750914005, -0.009761097491361469, -0.00011058893876262371,
    -3.882564808877691e-06, -2.512236237870209e-07, -2.6314688468895196e-08,
    -3.835380385964237e-09, -5.589743462196584e-10, -1.8974958123505413e-11,
    3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
    -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14,
    4.272440016711951e-14, 1.0420276984128802e-14, -3.8144030724370075e-15,
    -1.8803547755107825e-15, 3.3082023109209285e-16, 2.96262899764595e-16,
    -3.209525921993424e-17, -4.6503053684893586e-17, 4.414348323071708e-18,
    7.517296310842105e-18,
};

/* c[0] + c[1] T1(t) + ..., by Clenshaw's recurrence. */
static double chebyshev(int n, const double *c, double t)
{
    double y = 0, last = 0;
    for (int i = n - 1; i > 0; i--) {
        const double next = 2 * t * y - last + c[i];
        last = y;
        y = next;
    }
    return t * y - last + c[0];
}
#define CHEBYSHEV(c, t) chebyshev((int)(sizeof c / sizeof *c), c, t)

static double i0e_of(double x)
{
    const double u = fabs(x);
    if (u <= 8) return CHEBYSHEV(i0_near, 0.25 * u - 1);
    return CHEBYSHEV(i0_far, 16 / u - 1) / sqrt(u);
}

static double i1e_of(double x)
{
    const double u = fabs(x);
    if (u <= 8) return x * CHEBYSHEV(i1_near, 0.25 * u - 1);
    return copysign(CHEBYSHEV(i1_far, 16 / u - 1) / sqrt(u), x);
}

/* --------------------------------------------------------------- of float32 -- */

/* The first of these series as polynomials, with as many terms as float32 needs: both intervals
 * are computed without branches, and one is selected. */
static const double i0_near_powers[] = {
    0.20700192113010857, -0.11300433639506779, 0.094515647197986996, -0.089042875363844268,
    0.08734280515487014, -0.084973243959292552, 0.079282972772139901, -0.069463288802251333,
    0.056727288301881659, -0.043317893014879816, 0.030360637139794727, -0.018857354836155985,
    0.01155406559808401, -0.0080182367823112902, 0.0041692736581264876, -0.00075489499048180127,
    0.00041265146039947277, -0.00085198439054458752, 0.00034862841524156978,
};
static const double i1_near_powers[] = {
    0.044687709864187575, -0.061124339255198515, 0.068057602180870633, -0.068482533198116202,
    0.06376732927373735, -0.055281312761998984, 0.044675517297251582, -0.03366128286674043,
    0.023679943771561573, -0.015614300990375505, 0.0096063064521672049, -0.0054274213248927256,
    0.0029560039669504091, -0.0016985943146705417, 0.00081240347420454689,
    -0.00020262658881413433, 9.3568200858073903e-05, -0.00012368279972890735,
    4.7521336938359911e-05,
};
static const double i0_far_powers[] = {
    0.40217650941921212, 0.003360555700142715, 0.000136217164243224, 1.111214828523939e-05,
    1.4761157343412487e-06, 3.6266703847970849e-07, 1.0867942482266837e-07,
};
static const double i1_far_powers[] = {
    0.38939845905965925, -0.0097495813703771805, -0.0002192371253818986, -1.5003965466132856e-05,
    -1.8256907317698832e-06, -4.2103501550232313e-07, -1.2273217235085558e-07,
};

/* In double precision, as the rest of the formulas. */
EDDY_INLINE double i0e_wide(float x)
{
    const double u = fabsf(x), near = EDDY_POWERS(i0_near_powers, 0.25 * u - 1);
    const double far = EDDY_POWERS(i0_far_powers, 16 / u - 1) / sqrt(u);
    return u <= 8 ? near : far;
}

EDDY_INLINE double i1e_wide(float x)
{
    const double u = fabsf(x), near = u * EDDY_POWERS(i1_near_powers, 0.25 * u - 1);
    const double far = EDDY_POWERS(i1_far_powers, 16 / u - 1) / sqrt(u), y = u <= 8 ? near : far;
    return eddy__bits_of_f32(x) & EDDY_SIGN_BIT ? -y : y;
}

EDDY_INLINE float grown_f32(double y, float x)
{
    const double half = eddy__exp_f32(0.5f * fabsf(x)), all = y * half * half;
    return fabsf(x) == INFINITY ? eddy__with_sign(INFINITY, (float)y) : (float)all;
}

/* ------------------------------------------------------------------ formulas -- */

/* e^x is split into two factors, because it overflows before the product does. */
static double grown(double y, double x)
{
    const double half = eddy__exp_f64(0.5 * fabs(x));
    return fabs(x) == INFINITY ? copysign(INFINITY, y) : y * half * half;
}

/* I1(x) / x from its power series near 0, where the quotient has no derivatives. */
static eddy_tensor i1_by_x(eddy_tensor x)
{
    enum { TERMS = 9 };
    const eddy_tensor near = Less(Abs(x), 1), outside = Where(near, 1, x);
    const eddy_tensor z = Mul(0.25, Square(Where(near, x, 0)));
    double c[TERMS] = { 0.5 };
    for (int k = 1; k < TERMS; k++) c[k] = c[k - 1] / (k * (k + 1));
    eddy_tensor y = Mul(c[TERMS - 1], z);
    for (int k = TERMS - 2; k > 0; k--) y = Mul(z, Add(c[k], y));
    return Where(near, Add(c[0], y), Div(eddy_bessel_i1(outside), outside));
}

static eddy_tensor i1e_by_x(eddy_tensor x)
{
    const eddy_tensor near = Less(Abs(x), 1), outside = Where(near, 1, x);
    const eddy_tensor inside = Where(near, x, 0);
    return Where(near, Mul(Exp(Neg(Abs(inside))), i1_by_x(inside)),
                 Div(eddy_bessel_i1e(outside), outside));
}

/** y = e^-|x| I0(x), with I0 the modified Bessel function of the first kind of order 0.
 *
 *  Gradient: dx = dy (e^-|x| I1(x) - sign(x) y).  TensorFlow: BesselI0e. */
UNARY(bessel_i0e, "BesselI0e", "BesselI0e", FLOATS,
      _Generic((x), float: (float)i0e_wide((float)(x)), default: i0e_of(x)),
      Mul(dy, Sub(eddy_bessel_i1e(x), Mul(Sign(x), y))))

/** y = e^-|x| I1(x), with I1 the modified Bessel function of the first kind of order 1.
 *
 *  Gradient: dx = dy (e^-|x| (I0(x) - I1(x) / x) - sign(x) y), 0.5 dy at 0.
 *  TensorFlow: BesselI1e. */
UNARY(bessel_i1e, "BesselI1e", "BesselI1e", FLOATS,
      _Generic((x), float: (float)i1e_wide((float)(x)), default: i1e_of(x)),
      Mul(dy, Sub(Sub(eddy_bessel_i0e(x), i1e_by_x(x)), Mul(Sign(x), y))))

/** y = I0(x), the modified Bessel function of the first kind of order 0.
 *
 *  Gradient: dx = dy I1(x).  TensorFlow: tf.math.bessel_i0. */
UNARY(bessel_i0, "BesselI0", "BesselI0", FLOATS,
      _Generic((x), float: grown_f32(i0e_wide((float)(x)), (float)(x)),
               default: grown(i0e_of(x), x)),
      Mul(dy, eddy_bessel_i1(x)))

/** y = I1(x), the modified Bessel function of the first kind of order 1.
 *
 *  Gradient: dx = dy (I0(x) - I1(x) / x), 0.5 dy at 0.  TensorFlow: tf.math.bessel_i1. */
UNARY(bessel_i1, "BesselI1", "BesselI1", FLOATS,
      _Generic((x), float: grown_f32(i1e_wide((float)(x)), (float)(x)),
               default: grown(i1e_of(x), x)),
      Mul(dy, Sub(eddy_bessel_i0(x), i1_by_x(x))))
