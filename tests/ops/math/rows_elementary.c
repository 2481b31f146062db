/* rows_elementary.c -- further elementwise operations; see rows.h. */
#include "tests/lib/rows.h"

static eddy_tensor ints(eddy_tensor x) { return Cast(eddy_round(Mul(x, 8)), EDDY_INT32); }
static eddy_tensor bits_and(eddy_tensor a, eddy_tensor b)
{
    return eddy_bitwise_and(ints(a), ints(b));
}
static eddy_tensor bits_or(eddy_tensor a, eddy_tensor b)
{
    return eddy_bitwise_or(ints(a), ints(b));
}
static eddy_tensor bits_xor(eddy_tensor a, eddy_tensor b)
{
    return eddy_bitwise_xor(ints(a), ints(b));
}
static eddy_tensor up(eddy_tensor a, eddy_tensor b) { return eddy_left_shift(ints(a), ints(b)); }
static eddy_tensor down(eddy_tensor a, eddy_tensor b) { return eddy_right_shift(ints(a), ints(b)); }
static eddy_tensor inverted(eddy_tensor x) { return eddy_invert(ints(x)); }
static eddy_tensor counted(eddy_tensor x) { return eddy_population_count(ints(x)); }

static eddy_tensor leaky(eddy_tensor x) { return eddy_leaky_relu(x); }
static eddy_tensor celu(eddy_tensor x) { return eddy_celu(x, .alpha = 1.5); }
static eddy_tensor hard_tanh(eddy_tensor x) { return eddy_hard_tanh(x); }
static eddy_tensor hard_sigmoid(eddy_tensor x) { return eddy_hard_sigmoid(x); }
static eddy_tensor soft_shrink(eddy_tensor x) { return eddy_soft_shrink(x, .lambda = 0.5); }
static eddy_tensor hard_shrink(eddy_tensor x) { return eddy_hard_shrink(x, .lambda = 0.5); }
static eddy_tensor threshold(eddy_tensor x) { return eddy_threshold(x, 0.5, -1); }
static eddy_tensor crelu(eddy_tensor x) { return eddy_crelu(x); }
static eddy_tensor glu(eddy_tensor x) { return eddy_glu(x); }
static eddy_tensor numbers(eddy_tensor x) { return eddy_nan_to_num(x); }
static eddy_tensor trigamma(eddy_tensor x) { return eddy_polygamma(NumberLike(1, x), x); }
static eddy_tensor zeta(eddy_tensor x) { return eddy_zeta(NumberLike(2.5, x), x); }
static eddy_tensor close_to(eddy_tensor a, eddy_tensor b)
{
    return eddy_is_close(a, b, .rtol = 0.5);
}
static eddy_tensor about(eddy_tensor a, eddy_tensor b)
{
    return eddy_approximate_equal(a, b, .tolerance = 0.5);
}
BUILD(lerp, eddy_lerp(x[0], x[1], x[2]))
BUILD(addcmul, eddy_addcmul(x[0], x[1], x[2], .value = 0.5))
BUILD(polyval, eddy_polyval(EDDY_LIST(x[0], x[1], x[0]), x[2]))
BUILD(betainc, eddy_betainc(x[0], x[1], x[2]))
BUILD(glu_first, eddy_glu(x[0], .axis = EDDY_AXES(0)))

#define NAMED(type, option, fn, from, to)                                       \
    { .op = type, .how = option, .unary = fn, .n = 1, .shape = { S(3, 4) },     \
      .low = { from }, .high = { to } }
#define NAMED_OF_2(type, option, fn, from, to)                                  \
    { .op = type, .how = option, .binary = fn, .n = 2, .shape = { S(3, 4), S(3, 4) }, \
      .low = { from, from }, .high = { to, to } }

static const sweep_row rows[] = {
    UNARY("Tan", eddy_tan, -1, 1),
    UNARY("Asin", eddy_asin, -0.75, 0.75),
    UNARY("Acos", eddy_acos, -0.75, 0.75),
    UNARY("Atan", eddy_atan, -2, 2),
    BINARY_OF("Atan2", eddy_atan2, -2, 2, 0.5, 2),
    BINARY("Hypot", eddy_hypot, 0.5, 2),
    UNARY("Sinc", eddy_sinc, -1.5, 1.5),
    UNARY("Sinh", eddy_sinh, -2, 2),
    UNARY("Cosh", eddy_cosh, -2, 2),
    UNARY("Asinh", eddy_asinh, -2, 2),
    UNARY("Acosh", eddy_acosh, 1.5, 3),
    UNARY("Atanh", eddy_atanh, -0.75, 0.75),

    UNARY("Exp2", eddy_exp2, -2, 2),
    UNARY("Log2", eddy_log2, 0.5, 3),
    UNARY("Log10", eddy_log10, 0.5, 3),
    UNARY("Cbrt", eddy_cbrt, 0.5, 3),
    UNARY("Entr", eddy_entr, 0.5, 3),
    UNARY("Logit", eddy_logit, 0.25, 0.75),
    UNARY("Trunc", eddy_trunc, -3, 3),
    UNARY("Frac", eddy_frac, 1.1, 1.9),
    UNARY("Deg2Rad", eddy_deg2rad, -2, 2),
    UNARY("Rad2Deg", eddy_rad2deg, -2, 2),
    NAMED("DivNoNan", "reciprocal_no_nan", eddy_reciprocal_no_nan, 0.5, 2),
    NAMED("SelectV2", "nan_to_num", numbers, -2, 2),

    BINARY_OF("TruncateMod", eddy_truncatemod, 4.2, 4.8, 2, 2.08),
    BINARY_OF("TruncateMod", eddy_truncatemod, -4.8, -4.2, 2, 2.08),
    NAMED_OF_2("FloorMod", "mod", eddy_mod, 0.5, 0.75),
    NAMED_OF_2("RealDiv", "truediv", eddy_truediv, 0.5, 2),
    BINARY("LogAddExp", eddy_logaddexp, -2, 2),
    NAMED_OF_2("LogAddExp", "of 2", eddy_logaddexp2, -2, 2),
    BINARY_OF("CopySign", eddy_copysign, 0.5, 2, -2, -0.5),
    BINARY("NextAfter", eddy_nextafter, 0.5, 2),
    BINARY("Heaviside", eddy_heaviside, -2, 2),
    NAMED_OF_2("Exp2", "ldexp", eddy_ldexp, -1, 1),
    NAMED_OF_2("LessEqual", "is_close", close_to, -1, 1),
    NAMED_OF_2("Less", "approximate_equal", about, -1, 1),
    OP("Mul", "lerp", lerp, 3, S(3, 4), S(4), S(3, 1)),
    OP("Mul", "addcmul", addcmul, 3, S(3, 4), S(4), S(3, 1)),
    OP("Mul", "polyval", polyval, 3, S(4), S(1), S(3, 4)),

    BINARY("BitwiseAnd", bits_and, -2, 2),
    BINARY("BitwiseOr", bits_or, -2, 2),
    BINARY("BitwiseXor", bits_xor, -2, 2),
    BINARY("LeftShift", up, -2, 2),
    BINARY("RightShift", down, -2, 2),
    UNARY("Invert", inverted, -2, 2),
    UNARY("PopulationCount", counted, -2, 2),

    UNARY("Elu", eddy_elu, -2, 2),
    UNARY("Selu", eddy_selu, -2, 2),
    NAMED("Elu", "celu", celu, -2, 2),
    UNARY("Relu6", eddy_relu6, -3, 8),
    UNARY("LeakyRelu", leaky, -2, 2),
    BINARY("Prelu", eddy_prelu, -2, 2),
    UNARY("Mish", eddy_mish, -3, 3),
    UNARY("Softsign", eddy_softsign, -2, 2),
    NAMED("Softplus", "log_sigmoid", eddy_log_sigmoid, -3, 3),
    NAMED("Sigmoid", "swish", eddy_swish, -3, 3),
    NAMED("Relu6", "hard_swish", eddy_hard_swish, -5, 5),
    NAMED("Maximum", "hard_tanh", hard_tanh, -3, 3),
    UNARY("HardSigmoid", hard_sigmoid, -5, 6),
    UNARY("SoftShrink", soft_shrink, -2, 2),
    UNARY("HardShrink", hard_shrink, -2, 2),
    NAMED("Tanh", "tanh_shrink", eddy_tanh_shrink, -2, 2),
    NAMED("SelectV2", "threshold", threshold, -2, 2),
    NAMED("Relu", "crelu", crelu, -2, 2),
    { .op = "Split", .how = "glu", .unary = glu, .n = 1, .shape = { S(3, 4) }, .keep = { 4 } },
    OP_KEEP("Split", "glu along 0", glu_first, 1, KEEP(4), S(4, 3)),

    UNARY("Erfc", eddy_erfc, -2, 2),
    UNARY("Erfcx", eddy_erfcx, -1, 3),
    UNARY("Ndtr", eddy_ndtr, -2, 2),
    UNARY("LogNdtr", eddy_log_ndtr, -3, 2),
    UNARY("Ndtri", eddy_ndtri, 0.2, 0.8),
    UNARY("Erfinv", eddy_erfinv, -0.75, 0.75),
    UNARY("Erfcinv", eddy_erfcinv, 0.25, 1.75),
    UNARY("Dawsn", eddy_dawsn, -3, 3),
    UNARY("Lgamma", eddy_lgamma, 0.5, 4),
    UNARY("Digamma", eddy_digamma, 0.5, 4),
    UNARY("Polygamma", trigamma, 0.5, 3),
    UNARY("Zeta", zeta, 0.75, 2),
    BINARY("Igamma", eddy_igamma, 0.75, 3),
    BINARY("Igammac", eddy_igammac, 0.75, 3),
    { .op = "Betainc", .build = betainc, .n = 3, .shape = { S(3, 4), S(4), S(3, 1) },
      .low = { 0.75, 0.75, 0.25 }, .high = { 3, 3, 0.75 }, .constant = 3 },
    UNARY("BesselI0e", eddy_bessel_i0e, 0.25, 4),
    UNARY("BesselI1e", eddy_bessel_i1e, 0.25, 4),
    UNARY("BesselI0", eddy_bessel_i0, -2, 2),
    UNARY("BesselI1", eddy_bessel_i1, -2, 2),
};

static const sweep_exempt exempts[] = {
    { "LeakyReluGrad", "the gradient of LeakyRelu, whose row has it" },
    { "HardSigmoidGrad", "the gradient of HardSigmoid, whose row has it" },
    { "IgammaGradA", "the row would ask for its derivatives up to the fourth; Igamma's has it" },
};
FAMILY(elementary, rows, exempts);
