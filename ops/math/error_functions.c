/* error_functions.c -- erfc, erfcx, the normal distribution function (ndtr, log_ndtr) and their
 * inverses: elementwise; erf itself is in ops/math/erf.c.
 *
 * Functions without a float32 implementation of their own are computed in double precision. */
#include "ops/math/elementwise_rows.h"
#include "ops/math/within.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"

#define SQRT_HALF      0.70710678118654752440
#define SQRT_2_BY_PI   0.79788456080286535588      /* the square root of 2 / pi */
#define INV_SQRT_PI    0.56418958354775628695
#define INV_SQRT_PI_LOW 7.66772980658294037e-18
#define HALF_SQRT_PI   0.88622692545275801365
#define SQRT_2_PI      2.50662827463100050242
#define NORMAL_DENSITY 0.39894228040143267794      /* at 0 */

/* ------------------------------------------------------------ complements -- */

/* e^(u*u) (1 - erf u) for u >= 0 as the result + *low; from 10, the asymptotic series in powers of
 * 1 / (2 u*u). Here and below, all alternatives are computed and one is selected, so that loops
 * become vectors. */
EDDY_INLINE double erfcx_above_0(double u, double *low)
{
    enum { TERMS = 13 };
    const double near = eddy__erfcx_f64(u > 28.0 ? 28.0 : u, low), t = 0.5 / (u * u);
    double sum = 1;
    for (int k = TERMS; k > 1; k--) sum = 1 - (2 * k - 1) * t * sum;
    *low = u < 10 ? *low : 0;
    return u < 10 ? near : (INV_SQRT_PI - (INV_SQRT_PI * t * sum - INV_SQRT_PI_LOW)) / u;
}

/* Below 0, 2 e^(x*x) less the value at -x; from n = 1024 on, infinity. */
EDDY_INLINE double erfcx_of(double x)
{
    double       low, n;
    const double u = fabs(x), above = erfcx_above_0(u, &low);
    const double part = eddy__gauss_parts_f64(u > 28.0 ? 28.0 : u, -1.0, &n);
    const double small = eddy__power_of_2_f64(n > 60.0 ? -60.0 : -n);
    const double size = eddy__power_of_2_f64(n > 1024.0 ? 1024.0 : n);
    const double below = (2.0 + ((2.0 * part - low * small) - above * small)) * size;
    return x < 0 ? below : above + low;
}

/** y = 1 - erf x, accurate to rounding even where it is small.
 *
 *  Gradient: dx = -dy 2 e^(-x*x) / sqrt(pi).  TensorFlow: Erfc. */
UNARY(erfc, "Erfc", "Erfc", FLOATS, EDDY_REAL_MATH(erfc, x),
      Mul(dy, Mul(-2 * INV_SQRT_PI, Exp(Neg(Square(eddy__within(x, 30)))))))

/* The sum of (2k + 1)!! u^k for k = 0, 1, 2, ...; for |u| < 1 / 288 it converges as far as float64
 * can tell. */
static eddy_tensor asymptotic(eddy_tensor u)
{
    enum { TERMS = 14 };
    eddy_tensor sum = Add(1, Mul(2.0 * TERMS + 1, u));
    for (int k = TERMS - 1; k > 0; k--) sum = Add(1, Mul(Mul(2.0 * k + 1, u), sum));
    return sum;
}

/* The sum for u = sign / (2 x*x), divided by x*x. */
static eddy_tensor far_series(eddy_tensor x, int sign)
{
    const eddy_tensor z = Square(Reciprocal(x));
    return Mul(z, asymptotic(Mul(0.5 * sign, z)));
}

/* The derivative of erfcx, which is a small difference of large numbers: in float64, and by its
 * asymptotic series where that loses digits too. */
static eddy_tensor erfcx_slope(eddy_tensor of)
{
    const eddy_tensor x = Cast(of, EDDY_FLOAT64), far = Greater(x, 12);
    const eddy_tensor near = Where(far, 0, x), outside = Where(far, x, 12);
    const eddy_tensor inside = Sub(Mul(2, Mul(near, eddy_erfcx(near))), 2 * INV_SQRT_PI);
    return CastLike(Where(far, Mul(-INV_SQRT_PI, far_series(outside, -1)), inside), of);
}

/** y = e^(x*x) (1 - erf x), about 1 / (x sqrt(pi)) for large x.
 *
 *  Overflows to infinity below about -26, in float32 below about -9.  In float64 within 2 units in
 *  the last place.
 *  Gradient: dx = dy (2 x y - 2 / sqrt(pi)), for large x by its asymptotic series.
 *  TensorFlow: tf.math.erfcx. */
UNARY(erfcx, "Erfcx", "Erfcx", FLOATS, erfcx_of(x), Mul(dy, erfcx_slope(x)))

/* ----------------------------------------------------------- distribution -- */

EDDY_INLINE double log_ndtr_of(double x)
{
    double       low, tail_low, n;
    const double y = erfcx_above_0(SQRT_HALF * fabs(x), &low);
    const double v = fabs(x) > 40 ? 40 : fabs(x), high = eddy__ndtr_tail_f64(v, &tail_low, &n);
    const double tail = eddy__scaled_f64(high, n), less = eddy__scaled_f64(tail_low, n);
    const double sum = 1 - tail, rest = ((1 - sum) - tail) - less;
    const int    far = x < -1;
    const double near = x < 0 ? tail : sum, near_low = x < 0 ? less : rest;
    const double log = eddy__log_of_sum_f64(far ? 0.5 * y : near, far ? 0.5 * low : near_low);
    return x > 0 && tail < 0x1p-54 ? -eddy__scaled_f64(high + tail_low, n)
                                   : far ? log - 0.5 * x * x : log;
}

/* For float32, where rounding errors of float64 do not matter. */
EDDY_INLINE double log_ndtr_for_float32(double x)
{
    double       low;
    const double y = erfcx_above_0(SQRT_HALF * fabs(x), &low);
    const double below = eddy__log_f64(0.5 * y) - 0.5 * x * x;
    const double above = eddy__log1p_f64(-eddy__ndtr_f64(-fabs(x)));
    return x < 0 ? below : above;
}

static eddy_tensor density(eddy_tensor x)
{
    return Mul(NORMAL_DENSITY, Exp(Mul(-0.5, Square(eddy__within(x, 40)))));
}

/** y = the standard normal distribution function at x, (1 + erf(x / sqrt(2))) / 2.
 *
 *  Accurate to rounding even where it is small.
 *  Gradient: dx = dy e^(-x*x / 2) / sqrt(2 pi).  TensorFlow: none; TensorFlow Probability's
 *  ndtr. */
UNARY(ndtr, "Ndtr", "Ndtr", FLOATS, EDDY_REAL_MATH(ndtr, x), Mul(dy, density(x)))

/* The density over the distribution function, in float64. Below 0, where both may be 0, by erfcx,
 * and far below by the asymptotic series of their quotient, -x / (1 - 1 / x^2 + 3 / x^4 - ...). */
static eddy_tensor log_ndtr_slope(eddy_tensor of)
{
    const eddy_tensor x = Cast(of, EDDY_FLOAT64), high = Greater(x, 0), far = Less(x, -17);
    const eddy_tensor above = Where(high, x, 0), outside = Where(far, x, -17);
    const eddy_tensor below = Where(LogicalOr(high, far), 0, x);
    const eddy_tensor middle = Div(SQRT_2_BY_PI, eddy_erfcx(Mul(-SQRT_HALF, below)));
    const eddy_tensor u = Neg(Square(Reciprocal(outside)));
    const eddy_tensor low = Div(Neg(outside), Add(1, Mul(u, asymptotic(u))));
    const eddy_tensor top = Div(density(above), eddy_ndtr(above));
    return CastLike(Where(high, top, Where(far, low, middle)), of);
}

/** y = the logarithm of the standard normal distribution function at x.
 *
 *  About -x*x / 2 far below 0, where ndtr underflows to 0.  In float64 within 2 units in the last
 *  place.
 *  Gradient: dx = dy p(x) / P(x), the density over the distribution function.
 *  TensorFlow: none; TensorFlow Probability's log_ndtr. */
UNARY(log_ndtr, "LogNdtr", "LogNdtr", FLOATS,
      sizeof(T) == sizeof(float) ? log_ndtr_for_float32(x) : log_ndtr_of(x),
      Mul(dy, log_ndtr_slope(x)))

/* --------------------------------------------------------------- inverses -- */

/* The rational functions of AS 241 (Wichura 1988): for |p - 1/2| up to 0.425, for sqrt(-ln tail)
 * up to 5, and above. */
enum { QUANTILE_TERMS = 8 };
static const double quantile[3][2][QUANTILE_TERMS] = {
    { { 2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
        4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
        1.3314166789178437745e2, 3.3871328727963666080 },
      { 5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
        2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
        4.2313330701600911252e1, 1 } },
    { { 7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
        1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550,
        4.63033784615654529590, 1.42343711074968357734 },
      { 1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
        2.05319162663775882187, 1 } },
    { { 2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580,
        5.46378491116411436990, 6.65790464350110377720 },
      { 2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
        7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
        5.99832206555887937690e-1, 1 } },
};

static double quantile_at(int range, double r)
{
    double sum[2];
    for (int part = 0; part < 2; part++) {
        sum[part] = 0;
        for (int i = 0; i < QUANTILE_TERMS; i++)
            sum[part] = sum[part] * r + quantile[range][part][i];
    }
    return sum[0] / sum[1];
}

/* The p-quantile, from q = p - 1/2 and the smaller of p and 1 - p, so that neither loses digits. */
static double quantile_of(double q, double tail)
{
    if (!(tail >= 0)) return NAN;
    if (tail == 0) return q < 0 ? -INFINITY : INFINITY;
    if (fabs(q) <= 0.425) return q * quantile_at(0, 0.180625 - q * q);
    const double r = sqrt(-eddy__log_f64(tail));
    const double x = r <= 5 ? quantile_at(1, r - 1.6) : quantile_at(2, r - 5);
    return q < 0 ? -x : x;
}

static double ndtri_of(double p) { return quantile_of(p - 0.5, p < 0.5 ? p : 1 - p); }
static double erfinv_of(double x) { return SQRT_HALF * quantile_of(0.5 * x, 0.5 - 0.5 * fabs(x)); }
static double erfcinv_of(double x)
{
    return SQRT_HALF * quantile_of(0.5 * (1 - x), 0.5 * (x < 1 ? x : 2 - x));
}

/** y = the quantile of the standard normal distribution at probability x: the inverse of ndtr.
 *
 *  x  a probability, float32 or float64, any shape; y has its type
 *
 *  -infinity at 0, infinity at 1, NaN outside.
 *  Gradient: dx = dy sqrt(2 pi) e^(y*y / 2).  TensorFlow: Ndtri, tf.math.ndtri. */
UNARY(ndtri, "Ndtri", "Ndtri", FLOATS, ndtri_of(x),
      Mul(dy, Mul(SQRT_2_PI, Exp(Mul(0.5, Square(y))))))

/** y = the inverse of erf: the number whose erf is x.
 *
 *  Infinite at -1 and 1, NaN outside.
 *  Gradient: dx = dy sqrt(pi) / 2 e^(y*y).  TensorFlow: Erfinv, tf.math.erfinv. */
UNARY(erfinv, "Erfinv", "Erfinv", FLOATS, erfinv_of(x),
      Mul(dy, Mul(HALF_SQRT_PI, Exp(Square(y)))))

/** y = the inverse of erfc: the number whose erfc is x.
 *
 *  Infinity at 0, -infinity at 2, NaN outside.
 *  Gradient: dx = -dy sqrt(pi) / 2 e^(y*y).  TensorFlow: tf.math.erfcinv. */
UNARY(erfcinv, "Erfcinv", "Erfcinv", FLOATS, erfcinv_of(x),
      Mul(dy, Mul(-HALF_SQRT_PI, Exp(Square(y)))))

/* ---------------------------------------------------------------- Dawson -- */

/* Rybicki's sum over odd multiples of a step, whose error is e^-(pi / 2 step)^2; below 1/2, where
 * that would lose digits, a power series. */
static double dawsn_of(double x)
{
    enum { TERMS = 13, SERIES = 16 };
    const double step = 0.25, u = fabs(x);
    if (u < 0.5) {
        double sum = 1;
        for (int k = SERIES; k > 0; k--) sum = 1 - 2 * x * x / (2 * k + 1) * sum;
        return x * sum;
    }
    if (u > 12) {
        const double t = 0.5 / (x * x);
        double sum = 1;
        for (int k = TERMS; k > 0; k--) sum = 1 + (2 * k - 1) * t * sum;
        return 0.5 * sum / x;
    }
    const double n = 2 * rint(0.5 * u / step), rest = u - n * step;
    double sum = 0;
    for (int k = 0; k < TERMS; k++) {
        const double odd = 2 * k + 1, far = rest - odd * step, near = rest + odd * step;
        sum += eddy__exp_f64(-far * far) / (n + odd) + eddy__exp_f64(-near * near) / (n - odd);
    }
    return copysign(INV_SQRT_PI * sum, x);
}

/* As erfcx_slope. */
static eddy_tensor dawsn_slope(eddy_tensor of)
{
    const eddy_tensor x = Cast(of, EDDY_FLOAT64), far = Greater(Abs(x), 12);
    const eddy_tensor near = Where(far, 0, x), outside = Where(far, x, 12);
    const eddy_tensor inside = Sub(1, Mul(2, Mul(near, eddy_dawsn(near))));
    return CastLike(Where(far, Mul(-0.5, far_series(outside, 1)), inside), of);
}

/** y = Dawson's integral: e^(-x*x) times the integral of e^(t*t) for t from 0 to x.
 *
 *  Gradient: dx = dy (1 - 2 x y), for large |x| by its asymptotic series.
 *  TensorFlow: Dawsn, tf.math.special.dawsn. */
UNARY(dawsn, "Dawsn", "Dawsn", FLOATS, dawsn_of(x), Mul(dy, dawsn_slope(x)))
