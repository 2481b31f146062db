/* rows_basic.c -- common elementwise operations, bit operations, special functions. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)
#define REAL(x) eddy_cast(x, EDDY_FLOAT32)

BUILD(add_, Add(x[0], x[1]))
BUILD(sub_, Sub(x[0], x[1]))
BUILD(mul_, Mul(x[0], x[1]))
BUILD(div_, Div(x[0], x[1]))
BUILD(div_no_nan_, DivNoNan(x[0], x[1]))
BUILD(floordiv_, FloorDiv(x[0], x[1]))
BUILD(floormod_, FloorMod(x[0], x[1]))
BUILD(maximum_, Maximum(x[0], x[1]))
BUILD(squared_difference_, SquaredDifference(x[0], x[1]))
BUILD(xlogy_, Xlogy(x[0], x[1]))
BUILD(lerp_, eddy_lerp(x[0], x[1], x[2]))
BUILD(addcmul_, eddy_addcmul(x[0], x[1], x[2]))
BUILD(row_added, Add(x[0], x[1]))
BUILD(less_, REAL(Less(x[0], x[1])))
BUILD(close_, REAL(eddy_is_close(x[0], x[1])))
BUILD(where_, Where(Greater(x[0], 0), x[1], x[2]))
BUILD(clip_, eddy_clip_by_value(x[0], eddy_scalar(g, -0.5), eddy_scalar(g, 0.5)))
BUILD(copysign_, eddy_copysign(x[0], x[1]))
BUILD(nextafter_, eddy_nextafter(x[0], x[1]))
BUILD(neg_, Neg(x[0]))
BUILD(abs_, Abs(x[0]))
BUILD(sign_, Sign(x[0]))
BUILD(sqrt_, Sqrt(x[0]))
BUILD(rsqrt_, eddy_rsqrt(x[0]))
BUILD(reciprocal_, eddy_reciprocal(x[0]))
BUILD(cbrt_, eddy_cbrt(x[0]))
BUILD(expm1_, eddy_expm1(x[0]))
BUILD(log_, eddy_log(x[0]))
BUILD(log1p_, eddy_log1p(x[0]))
BUILD(sin_, eddy_sin(x[0]))
BUILD(cos_, eddy_cos(x[0]))
BUILD(acos_, eddy_acos(x[0]))
BUILD(acosh_, eddy_acosh(x[0]))
BUILD(sinc_, eddy_sinc(x[0]))
BUILD(sigmoid_, eddy_sigmoid(x[0]))
BUILD(softplus_, eddy_softplus(x[0]))
BUILD(erf_, eddy_erf(x[0]))
BUILD(gelu_, eddy_gelu(x[0]))
BUILD(gelu_tanh_, eddy_gelu(x[0], true))
BUILD(relu_, eddy_relu(x[0]))
BUILD(celu_, eddy_celu(x[0]))
BUILD(prelu_, eddy_prelu(x[0], x[1]))
BUILD(glu_, eddy_glu(x[0]))
BUILD(hard_sigmoid_, eddy_hard_sigmoid(x[0], 1.0 / 6))
BUILD(hard_tanh_, eddy_hard_tanh(x[0]))
BUILD(hard_shrink_, eddy_hard_shrink(x[0]))
BUILD(tanh_shrink_, eddy_tanh_shrink(x[0]))
BUILD(floor_, eddy_floor(x[0]))
BUILD(round_, eddy_round(x[0]))
BUILD(trunc_, eddy_trunc(x[0]))
BUILD(frac_, eddy_frac(x[0]))
BUILD(finite_, REAL(eddy_is_finite(x[0])))
BUILD(nan_to_num_, eddy_nan_to_num(x[0]))
BUILD(logit_, eddy_logit(x[0]))
BUILD(entr_, eddy_entr(x[0]))
BUILD(and_, REAL(eddy_bitwise_and(AT(x[0]), AT(x[1]))))
BUILD(shift_, REAL(eddy_left_shift(AT(x[0]), AT(x[1]))))
BUILD(bits_, REAL(eddy_population_count(AT(x[0]))))
BUILD(product_, eddy_real(Mul(Complex(x[0], x[1]), Complex(x[1], x[0]))))
BUILD(size_, Abs(Complex(x[0], x[1])))
BUILD(angle_, eddy_angle(Complex(x[0], x[1])))
BUILD(ndtr_, eddy_ndtr(x[0]))
BUILD(log_ndtr_, eddy_log_ndtr(x[0]))
BUILD(ndtri_, eddy_ndtri(x[0]))
BUILD(erfcx_, eddy_erfcx(x[0]))
BUILD(erfcinv_, eddy_erfcinv(x[0]))
BUILD(dawsn_, eddy_dawsn(x[0]))
BUILD(i0_, eddy_bessel_i0(x[0]))
BUILD(i1_, eddy_bessel_i1(x[0]))
BUILD(i1e_, eddy_bessel_i1e(x[0]))
BUILD(polygamma_, eddy_polygamma(eddy_number_like(1, x[0]), x[0]))
BUILD(zeta_, eddy_zeta(x[0], x[1]))
BUILD(igammac_, eddy_igammac(x[0], x[1]))
BUILD(betainc_, eddy_betainc(x[0], x[1], x[2]))

#define LARGE S(1000, 1000)
#define SMALL S(100, 100)
#define FROM(called, fn, shape_, a, b) \
    { .name = called, .build = fn, .n = 1, .shape = { shape_ }, .low = { a }, .high = { b } }
#define FROM_2(called, fn, a, b)                                                \
    { .name = called, .build = fn, .n = 2, .shape = { LARGE, LARGE }, .low = { a, a }, \
      .high = { b, b } }

static const ops_row rows[] = {
    OPS_ROW("add", add_, 2, LARGE, LARGE),
    OPS_ROW("sub", sub_, 2, LARGE, LARGE),
    OPS_ROW("mul", mul_, 2, LARGE, LARGE),
    FROM_2("div", div_, 1, 2),
    FROM_2("div_no_nan", div_no_nan_, 1, 2),
    FROM_2("floordiv", floordiv_, 1, 9),
    FROM_2("floormod", floormod_, 1, 9),
    OPS_ROW("maximum", maximum_, 2, LARGE, LARGE),
    OPS_ROW("squared_difference", squared_difference_, 2, LARGE, LARGE),
    FROM_2("xlogy", xlogy_, 0.1, 2),
    OPS_ROW("lerp", lerp_, 3, LARGE, LARGE, LARGE),
    OPS_ROW("addcmul", addcmul_, 3, LARGE, LARGE, LARGE),
    OPS_ROW("add a row", row_added, 2, LARGE, S(1000)),
    OPS_ROW("add a column", row_added, 2, LARGE, S(1000, 1)),
    OPS_GRADIENT("add a row, gradient", row_added, 2, LARGE, S(1000)),
    OPS_ROW("less", less_, 2, LARGE, LARGE),
    OPS_ROW("is_close", close_, 2, LARGE, LARGE),
    OPS_ROW("where", where_, 3, LARGE, LARGE, LARGE),
    OPS_ROW("clip_by_value", clip_, 1, LARGE),
    OPS_GRADIENT("clip_by_value, gradient", clip_, 1, LARGE),
    OPS_ROW("copysign", copysign_, 2, LARGE, LARGE),
    OPS_ROW("nextafter", nextafter_, 2, LARGE, LARGE),
    OPS_ROW("neg", neg_, 1, LARGE),
    OPS_ROW("abs", abs_, 1, LARGE),
    OPS_ROW("sign", sign_, 1, LARGE),
    FROM("sqrt", sqrt_, LARGE, 0.1, 4),
    FROM("rsqrt", rsqrt_, LARGE, 0.1, 4),
    FROM("reciprocal", reciprocal_, LARGE, 1, 4),
    FROM("cbrt", cbrt_, LARGE, 0.1, 4),
    OPS_ROW("expm1", expm1_, 1, LARGE),
    FROM("log", log_, LARGE, 0.1, 4),
    FROM("log1p", log1p_, LARGE, -0.5, 4),
    FROM("sin", sin_, LARGE, -4, 5),
    FROM("cos", cos_, LARGE, -4, 4),
    OPS_ROW("acos", acos_, 1, LARGE),
    FROM("acosh", acosh_, LARGE, 1.1, 4),
    FROM("sinc", sinc_, LARGE, -2, 2),
    FROM("sigmoid", sigmoid_, LARGE, -4, 4),
    OPS_GRADIENT("sigmoid, gradient", sigmoid_, 1, LARGE),
    FROM("softplus", softplus_, LARGE, -4, 4),
    FROM("erf", erf_, LARGE, -2, 3),
    FROM("gelu", gelu_, LARGE, -3, 3),
    OPS_GRADIENT("gelu, gradient", gelu_, 1, LARGE),
    FROM("gelu, approximate", gelu_tanh_, LARGE, -3, 3),
    OPS_GRADIENT("gelu, approximate, gradient", gelu_tanh_, 1, LARGE),
    OPS_ROW("relu", relu_, 1, LARGE),
    OPS_GRADIENT("relu, gradient", relu_, 1, LARGE),
    OPS_ROW("celu", celu_, 1, LARGE),
    OPS_ROW("prelu", prelu_, 2, LARGE, S(1000)),
    OPS_GRADIENT("prelu, gradient", prelu_, 2, LARGE, S(1000)),
    OPS_ROW("glu", glu_, 1, LARGE),
    FROM("hard_sigmoid", hard_sigmoid_, LARGE, -4, 5),
    FROM("hard_tanh", hard_tanh_, LARGE, -2, 3),
    OPS_ROW("hard_shrink", hard_shrink_, 1, LARGE),
    FROM("tanh_shrink", tanh_shrink_, LARGE, -2, 3),
    FROM("floor", floor_, LARGE, -4, 4),
    FROM("round", round_, LARGE, -4, 5),
    FROM("trunc", trunc_, LARGE, -4, 5),
    FROM("frac", frac_, LARGE, -4, 5),
    OPS_ROW("is_finite", finite_, 1, LARGE),
    OPS_ROW("nan_to_num", nan_to_num_, 1, LARGE),
    FROM("logit", logit_, LARGE, 0.1, 0.8),
    FROM("entr", entr_, LARGE, 0.1, 1),
    FROM_2("bitwise_and", and_, 0, 1000),
    FROM_2("left_shift", shift_, 0, 9),
    FROM("population_count", bits_, LARGE, 0, 1000000),
    OPS_ROW("product of complex numbers", product_, 2, LARGE, LARGE),
    OPS_ROW("abs of complex numbers", size_, 2, LARGE, LARGE),
    OPS_ROW("angle", angle_, 2, LARGE, LARGE),
    FROM("ndtr", ndtr_, LARGE, -3, 3),
    FROM("log_ndtr", log_ndtr_, LARGE, -9, 3),
    FROM("ndtri", ndtri_, LARGE, 0.1, 0.8),
    FROM("erfcx", erfcx_, LARGE, -1, 9),
    FROM("erfcinv", erfcinv_, LARGE, 0.1, 1.5),
    FROM("dawsn", dawsn_, LARGE, 0, 9),
    FROM("bessel_i0", i0_, LARGE, -4, 4),
    FROM("bessel_i1", i1_, LARGE, -1, 4),
    FROM("bessel_i1e", i1e_, LARGE, -1, 9),
    FROM("polygamma", polygamma_, LARGE, 0.5, 9),
    { .name = "zeta", .build = zeta_, .n = 2, .shape = { SMALL, SMALL }, .low = { 1.5, 0.5 },
      .high = { 9, 9 } },
    { .name = "igammac", .build = igammac_, .n = 2, .shape = { SMALL, SMALL }, .low = { 0.5, 0.5 },
      .high = { 9, 9 } },
    { .name = "betainc", .build = betainc_, .n = 3, .shape = { SMALL, SMALL, SMALL },
      .low = { 0.5, 0.5, 0.1 }, .high = { 9, 9, 0.9 } },
};
OPS_FAMILY(basic, rows);
