/* math.c -- elementwise operators. */
#include "../build.h"
#include "../../../ops/short_names.h"

/* Cast: numbers to bool are != 0; to uint8 and others as in C. */
static bool cast(tf_build *b)
{
    const int        to = eddy__tf_type(b, "DstT", TF_NO_TYPE);
    const eddy_dtype d = eddy__tf_dtype(to);
    if (d == EDDY_DEFAULT_DTYPE)
        return eddy__tf_missing(b, "there are no values of type %s", eddy__tf_type_name(to));
    return eddy__tf_put_as(b, 0, Cast(eddy__tf_in(b, 0), d), to);
}

static bool add_n(tf_build *b)
{
    eddy_tensor *x = eddy__region_take(b->memory, (size_t)b->n_in, sizeof *x);
    for (int i = 0; x && i < b->n_in; i++) x[i] = eddy__tf_in(b, i);
    return x && eddy__tf_put(b, 0, eddy_add_n({ b->n_in, x }));
}

static bool leaky_relu(tf_build *b)
{
    return eddy__tf_put(b, 0, eddy_leaky_relu(eddy__tf_in(b, 0),
                                              .alpha = eddy__tf_float(b, "alpha", 0.2)));
}

static bool prelu(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), alpha = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, Where(Greater(x, 0), x, Mul(alpha, x)));
}

/* Select's condition may be a vector that chooses rows. */
static bool select_rows(tf_build *b)
{
    eddy_tensor       c = eddy__tf_in(b, 0);
    const eddy_tensor x = eddy__tf_in(b, 1), y = eddy__tf_in(b, 2);
    const int         rank = eddy_shape_of(x).rank;
    if (b->op->variant != 2 && eddy_shape_of(c).rank == 1 && rank > 1)
        for (int i = 1; i < rank; i++) c = ExpandDims(c, -1);
    return eddy__tf_put_as(b, 0, Where(c, x, y), eddy__tf_type_in(b, 1));
}

static bool clip(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), lo = eddy__tf_in(b, 1), hi = eddy__tf_in(b, 2);
    return eddy__tf_put(b, 0, eddy_clip_by_value(x, lo, hi));
}

static bool approximate_equal(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy_approximate_equal(
                                  x, y, .tolerance = eddy__tf_float(b, "tolerance", 1e-5)));
}

static bool complex_of(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy_complex(x, y));
}

static bool betainc(tf_build *b)
{
    const eddy_tensor p = eddy__tf_in(b, 0), q = eddy__tf_in(b, 1), x = eddy__tf_in(b, 2);
    return eddy__tf_put(b, 0, eddy_betainc(p, q, x));
}

const tf_operator eddy__tf_math[] = {
    { "Abs", .one = eddy_abs },
    { "Acos", .one = eddy_acos },
    { "Acosh", .one = eddy_acosh },
    { "Add", .two = eddy_add },
    { "AddN", add_n },
    { "AddV2", .two = eddy_add },
    { "Angle", .one = eddy_angle },
    { "ApproximateEqual", approximate_equal },
    { "Asin", .one = eddy_asin },
    { "Asinh", .one = eddy_asinh },
    { "Atan", .one = eddy_atan },
    { "Atan2", .two = eddy_atan2 },
    { "Atanh", .one = eddy_atanh },
    { "BesselI0", .one = eddy_bessel_i0 },
    { "BesselI0e", .one = eddy_bessel_i0e },
    { "BesselI1", .one = eddy_bessel_i1 },
    { "BesselI1e", .one = eddy_bessel_i1e },
    { "Betainc", betainc },
    { "BitwiseAnd", .two = eddy_bitwise_and },
    { "BitwiseOr", .two = eddy_bitwise_or },
    { "BitwiseXor", .two = eddy_bitwise_xor },
    { "Cast", cast },
    { "Ceil", .one = eddy_ceil },
    { "ClipByValue", clip },
    { "Complex", complex_of },
    { "ComplexAbs", .one = eddy_abs },
    { "Conj", .one = eddy_conj },
    { "Cos", .one = eddy_cos },
    { "Cosh", .one = eddy_cosh },
    { "Digamma", .one = eddy_digamma },
    { "Div", .two = eddy_div },
    { "DivNoNan", .two = eddy_div_no_nan },
    { "Elu", .one = eddy_elu },
    { "Equal", .two = eddy_equal },
    { "Erf", .one = eddy_erf },
    { "Erfc", .one = eddy_erfc },
    { "Erfinv", .one = eddy_erfinv },
    { "Exp", .one = eddy_exp },
    { "Expm1", .one = eddy_expm1 },
    { "Floor", .one = eddy_floor },
    { "FloorDiv", .two = eddy_floordiv },
    { "FloorMod", .two = eddy_floormod },
    { "Greater", .two = eddy_greater },
    { "GreaterEqual", .two = eddy_greater_equal },
    { "Igamma", .two = eddy_igamma },
    { "Igammac", .two = eddy_igammac },
    { "Imag", .one = eddy_imag },
    { "Inv", .one = eddy_reciprocal },
    { "Invert", .one = eddy_invert },
    { "IsFinite", .one = eddy_is_finite },
    { "IsInf", .one = eddy_is_inf },
    { "IsNan", .one = eddy_is_nan },
    { "LeakyRelu", leaky_relu },
    { "LeftShift", .two = eddy_left_shift },
    { "Less", .two = eddy_less },
    { "LessEqual", .two = eddy_less_equal },
    { "Lgamma", .one = eddy_lgamma },
    { "Log", .one = eddy_log },
    { "Log1p", .one = eddy_log1p },
    { "LogicalAnd", .two = eddy_logical_and },
    { "LogicalNot", .one = eddy_logical_not },
    { "LogicalOr", .two = eddy_logical_or },
    { "LogicalXor", .two = eddy_logical_xor },
    { "Maximum", .two = eddy_maximum },
    { "Minimum", .two = eddy_minimum },
    { "Mod", .two = eddy_truncatemod },
    { "Mul", .two = eddy_mul },
    { "MulNoNan", .two = eddy_mul_no_nan },
    { "Ndtri", .one = eddy_ndtri },
    { "Neg", .one = eddy_neg },
    { "NextAfter", .two = eddy_nextafter },
    { "NotEqual", .two = eddy_not_equal },
    { "Polygamma", .two = eddy_polygamma },
    { "PopulationCount", .one = eddy_population_count },
    { "Pow", .two = eddy_pow },
    { "Prelu", prelu },
    { "Real", .one = eddy_real },
    { "RealDiv", .two = eddy_div },
    { "Reciprocal", .one = eddy_reciprocal },
    { "Relu", .one = eddy_relu },
    { "Relu6", .one = eddy_relu6 },
    { "RightShift", .two = eddy_right_shift },
    { "Rint", .one = eddy_rint },
    { "Round", .one = eddy_round },
    { "Rsqrt", .one = eddy_rsqrt },
    { "Select", select_rows },
    { "SelectV2", select_rows, .variant = 2 },
    { "Selu", .one = eddy_selu },
    { "Sigmoid", .one = eddy_sigmoid },
    { "Sign", .one = eddy_sign },
    { "Sin", .one = eddy_sin },
    { "Sinh", .one = eddy_sinh },
    { "Softplus", .one = eddy_softplus },
    { "Softsign", .one = eddy_softsign },
    { "Sqrt", .one = eddy_sqrt },
    { "Square", .one = eddy_square },
    { "SquaredDifference", .two = eddy_squared_difference },
    { "Sub", .two = eddy_sub },
    { "Tan", .one = eddy_tan },
    { "Tanh", .one = eddy_tanh },
    { "TruncateDiv", .two = eddy_truncatediv },
    { "TruncateMod", .two = eddy_truncatemod },
    { "Xdivy", .two = eddy_xdivy },
    { "Xlogy", .two = eddy_xlogy },
    { "Zeta", .two = eddy_zeta },
    { NULL },
};
