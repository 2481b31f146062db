/* math.c -- elementwise operators. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <math.h>
#include <string.h>

/* Integers of a type that Eddy lacks wrap around as that type does. */
static eddy_tensor wrapped(const onnx_build *b, eddy_tensor x)
{
    const int type = eddy__onnx_type_in(b, 0);
    return eddy__onnx_is_float(type) ? x : eddy__onnx_narrow(x, type);
}

static bool unary(onnx_build *b) { return eddy__onnx_put(b, 0, b->op->one(eddy__onnx_in(b, 0))); }

static bool wrapping_unary(onnx_build *b)
{
    return eddy__onnx_put(b, 0, wrapped(b, b->op->one(eddy__onnx_in(b, 0))));
}

/* Before operator set 7, the second operand broadcasts only if `broadcast` is set, with its first
 * dimension at `axis`. */
static eddy_tensor second(onnx_build *b)
{
    const eddy_tensor y = eddy__onnx_in(b, 1);
    const eddy_shape  sx = eddy_shape_of(eddy__onnx_in(b, 0)), sy = eddy_shape_of(y);
    if (b->version >= 7 || !eddy__onnx_attr(b, "axis")) return y;
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), sy.rank < 0 ? -1 : sx.rank);
    eddy_shape s = sy;
    if (axis < 0) return y;
    for (int i = axis + sy.rank; i < sx.rank; i++) s.dim[s.rank++] = 1;
    return eddy_reshape(y, s);
}

static bool binary(onnx_build *b)
{
    return eddy__onnx_put(b, 0, b->op->two(eddy__onnx_in(b, 0), second(b)));
}

static bool wrapping_binary(onnx_build *b)
{
    return eddy__onnx_put(b, 0, wrapped(b, b->op->two(eddy__onnx_in(b, 0), second(b))));
}

static bool compare(onnx_build *b)
{
    return eddy__onnx_put_as(b, 0, b->op->two(eddy__onnx_in(b, 0), second(b)), ONNX_BOOL);
}

static bool divide(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const bool whole = eddy_dtype_is_integer(eddy_dtype_of(x));
    return eddy__onnx_put(b, 0, whole ? eddy_truncatediv(x, second(b)) : eddy_div(x, second(b)));
}

/* The result has the type of the base; mixed types are computed in float64. */
static bool power(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), y = second(b);
    const eddy_dtype  dx = eddy_dtype_of(x), dy = eddy_dtype_of(y);
    if (dx == dy || eddy_dtype_is_floating(dx)) return eddy__onnx_put(b, 0, Pow(x, Cast(y, dx)));
    if (eddy_dtype_is_integer(dy)) return eddy__onnx_put(b, 0, Pow(x, Cast(y, dx)));
    return eddy__onnx_put(b, 0, Cast(Pow(Cast(x, EDDY_FLOAT64), Cast(y, EDDY_FLOAT64)), dx));
}

static bool modulo(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), y = eddy__onnx_in(b, 1);
    return eddy__onnx_put(
        b, 0, eddy__onnx_int(b, "fmod", 0) ? eddy_truncatemod(x, y) : eddy_floormod(x, y));
}

static bool shift(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), y = eddy__onnx_in(b, 1);
    const bool left = eddy__onnx_is(b, "direction", "LEFT", false);
    return eddy__onnx_put(b, 0, wrapped(b, left ? eddy_left_shift(x, y) : eddy_right_shift(x, y)));
}

/* ------------------------------------------------------------ many operands -- */

static eddy_tensor combined(onnx_build *b, eddy_tensor (*two)(eddy_tensor, eddy_tensor))
{
    eddy_tensor y = eddy__onnx_in(b, 0);
    for (int i = 1; i < b->n_in; i++) y = two(y, eddy__onnx_in(b, i));
    return y;
}

static bool many(onnx_build *b) { return eddy__onnx_put(b, 0, combined(b, b->op->two)); }

static bool extreme(onnx_build *b)
{
    const bool is_bool = eddy__onnx_type_in(b, 0) == ONNX_BOOL;
    eddy_tensor (*of_bools)(eddy_tensor, eddy_tensor) =
        b->op->two == eddy_maximum ? eddy_logical_or : eddy_logical_and;
    return eddy__onnx_put(b, 0, combined(b, is_bool ? of_bools : b->op->two));
}

static bool mean(onnx_build *b)
{
    return eddy__onnx_put(b, 0, Div(combined(b, eddy_add), (double)(b->n_in ? b->n_in : 1)));
}

/* -------------------------------------------------------------- activations -- */

static bool elu(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const double      alpha = eddy__onnx_float(b, "alpha", 1);
    if (alpha == 1) return eddy__onnx_put(b, 0, eddy_elu(x));
    return eddy__onnx_put(b, 0, Where(Greater(x, 0), x, Mul(alpha, eddy_elu(x))));
}

static bool selu(onnx_build *b)
{
    const bool        new = b->version >= 6;
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const double alpha = eddy__onnx_float(b, "alpha", new ? 1.67326319217681884765625 : 1.6732);
    const double gamma = eddy__onnx_float(b, "gamma", new ? 1.05070102214813232421875 : 1.0507);
    return eddy__onnx_put(b, 0, Mul(gamma, Where(Greater(x, 0), x, Mul(alpha, eddy_elu(x)))));
}

static bool celu(onnx_build *b)
{
    return eddy__onnx_put(b, 0,
                          eddy_celu(eddy__onnx_in(b, 0), .alpha = eddy__onnx_float(b, "alpha", 1)));
}

static bool leaky_relu(onnx_build *b)
{
    const double alpha = eddy__onnx_float(b, "alpha", 0.01);
    return eddy__onnx_put(b, 0, eddy_leaky_relu(eddy__onnx_in(b, 0), .alpha = alpha));
}

static bool thresholded_relu(onnx_build *b)
{
    return eddy__onnx_put(b, 0,
                          eddy_threshold(eddy__onnx_in(b, 0), eddy__onnx_float(b, "alpha", 1), 0));
}

static bool hard_sigmoid(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_tensor y =
        Add(Mul(eddy__onnx_float(b, "alpha", 0.2), x), eddy__onnx_float(b, "beta", 0.5));
    return eddy__onnx_put(b, 0, Maximum(Minimum(y, 1), 0));
}

/* x / 6 + 1/2 clipped to [0, 1], times x; Eddy's is the same. */
static bool gelu(onnx_build *b)
{
    const bool tanh = eddy__onnx_is(b, "approximate", "tanh", false);
    return eddy__onnx_put(b, 0, eddy_gelu(eddy__onnx_in(b, 0), .approximate = tanh));
}

static bool swish(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    return eddy__onnx_put(b, 0, Mul(x, Sigmoid(Mul(eddy__onnx_float(b, "alpha", 1), x))));
}

static bool shrink(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const double lambda = eddy__onnx_float(b, "lambd", 0.5), bias = eddy__onnx_float(b, "bias", 0);
    const eddy_tensor above = Where(Greater(x, lambda), Sub(x, bias), ZerosLike(x));
    return eddy__onnx_put(b, 0, Where(Less(x, -lambda), Add(x, bias), above));
}

/* A slope of shape [C] belongs to axis 1 before operator set 7, or, of later models in the same
 * form, where it does not broadcast. */
static bool prelu(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), slope = eddy__onnx_in(b, 1);
    const eddy_shape  sx = eddy_shape_of(x), ss = eddy_shape_of(slope);
    eddy_shape        s = { .rank = sx.rank - 1 };
    if (ss.rank != 1 || sx.rank < 2 || b->version >= 7)
        return eddy__onnx_put(b, 0, eddy_prelu(x, slope));
    s.dim[0] = ss.dim[0];
    for (int i = 1; i < s.rank; i++) s.dim[i] = 1;
    return eddy__onnx_put(b, 0, eddy_prelu(x, eddy_reshape(slope, s)));
}

/* The bounds are attributes before operator set 11. */
static bool clip(onnx_build *b)
{
    eddy_tensor x = eddy__onnx_in(b, 0);
    if (b->version < 11) {
        const double least = eddy__onnx_float(b, "min", -HUGE_VAL),
                     most = eddy__onnx_float(b, "max", HUGE_VAL);
        if (most < HUGE_VAL) x = Minimum(x, most);
        if (least > -HUGE_VAL) x = Maximum(x, least);
    } else {
        if (eddy__onnx_has(b, 1)) x = Maximum(x, eddy__onnx_in(b, 1));
        if (eddy__onnx_has(b, 2)) x = Minimum(x, eddy__onnx_in(b, 2));
    }
    return eddy__onnx_put(b, 0, Identity(x));
}

static bool is_infinite(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const bool        below = eddy__onnx_int(b, "detect_negative", 1),
               above = eddy__onnx_int(b, "detect_positive", 1);
    eddy_tensor y = IsInf(x);
    if (!below) y = LogicalAnd(y, Greater(x, 0));
    if (!above) y = LogicalAnd(y, Less(x, 0));
    return eddy__onnx_put(b, 0, y);
}

/* -------------------------------------------------------------------- casts -- */

static bool cast_to(onnx_build *b, int type)
{
    const eddy_dtype d = eddy__onnx_dtype(type);
    const eddy_tensor x = eddy__onnx_in(b, 0);
    if (d == EDDY_DEFAULT_DTYPE)
        return eddy__onnx_missing(b, "the element type %s is not supported",
                                  eddy__onnx_type_name(type));
    if (type >= ONNX_FLOAT8E4M3FN && type <= ONNX_FLOAT8E5M2FNUZ)
        return eddy__onnx_missing(b, "rounding to %s is not supported", eddy__onnx_type_name(type));
    if (type == eddy__onnx_type_in(b, 0)) return eddy__onnx_put_as(b, 0, Identity(x), type);
    return eddy__onnx_put_as(b, 0, eddy__onnx_narrow(Cast(x, d), type), type);
}

/* Before operator set 6, the type is a word. */
static bool cast(onnx_build *b)
{
    static const char *const names[] = {
        "UNDEFINED", "FLOAT", "UINT8",  "INT8", "UINT16",  "INT16",
        "INT32",     "INT64", "STRING", "BOOL", "FLOAT16", "DOUBLE"
    };
    if (b->version >= 6) return cast_to(b, (int)eddy__onnx_int(b, "to", 0));
    const char *word = eddy__onnx_text(b, "to", "");
    for (int i = 1; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(word, names[i]) == 0) return cast_to(b, i);
    return eddy__onnx_missing(b, "the element type '%s' is not supported", word);
}

static bool cast_like(onnx_build *b) { return cast_to(b, eddy__onnx_type_in(b, 1)); }

static bool where(onnx_build *b)
{
    const eddy_tensor y = Where(eddy__onnx_in(b, 0), eddy__onnx_in(b, 1), eddy__onnx_in(b, 2));
    return eddy__onnx_put_as(b, 0, y, eddy__onnx_type_in(b, 1));
}

/* Bits of one type read as another of the same size: between equal types only. */
static bool bit_cast(onnx_build *b)
{
    const int from = eddy__onnx_type_in(b, 0), to = (int)eddy__onnx_int(b, "to", 0);
    if (from == to) return eddy__onnx_put(b, 0, Identity(eddy__onnx_in(b, 0)));
    double least, most;
    if (eddy__onnx_range(from, &least, &most) && eddy__onnx_range(to, &least, &most))
        return eddy__onnx_put_as(
            b, 0, eddy__onnx_narrow(Cast(eddy__onnx_in(b, 0), eddy__onnx_dtype(to)), to), to);
    return eddy__onnx_missing(b, "Eddy has no operation that reads %s as %s",
                              eddy__onnx_type_name(from), eddy__onnx_type_name(to));
}

const onnx_operator eddy__onnx_math[] = {
    { "Abs", 1, unary, .one = eddy_abs },
    { "Neg", 1, wrapping_unary, .one = eddy_neg },
    { "Ceil", 1, unary, .one = eddy_ceil },
    { "Floor", 1, unary, .one = eddy_floor },
    { "Round", 11, unary, .one = eddy_rint },
    { "Sign", 9, unary, .one = eddy_sign },
    { "Exp", 1, unary, .one = eddy_exp },
    { "Log", 1, unary, .one = eddy_log },
    { "Sqrt", 1, unary, .one = eddy_sqrt },
    { "Reciprocal", 1, unary, .one = eddy_reciprocal },
    { "Sin", 7, unary, .one = eddy_sin },
    { "Cos", 7, unary, .one = eddy_cos },
    { "Tan", 7, unary, .one = eddy_tan },
    { "Asin", 7, unary, .one = eddy_asin },
    { "Acos", 7, unary, .one = eddy_acos },
    { "Atan", 7, unary, .one = eddy_atan },
    { "Sinh", 9, unary, .one = eddy_sinh },
    { "Cosh", 9, unary, .one = eddy_cosh },
    { "Asinh", 9, unary, .one = eddy_asinh },
    { "Acosh", 9, unary, .one = eddy_acosh },
    { "Atanh", 9, unary, .one = eddy_atanh },
    { "Erf", 9, unary, .one = eddy_erf },
    { "Sigmoid", 1, unary, .one = eddy_sigmoid },
    { "Tanh", 1, unary, .one = eddy_tanh },
    { "Relu", 1, unary, .one = eddy_relu },
    { "Softplus", 1, unary, .one = eddy_softplus },
    { "Softsign", 1, unary, .one = eddy_softsign },
    { "HardSwish", 14, unary, .one = eddy_hard_swish },
    { "Mish", 18, unary, .one = eddy_mish },
    { "Not", 1, unary, .one = eddy_logical_not },
    { "BitwiseNot", 18, wrapping_unary, .one = eddy_invert },
    { "IsNaN", 9, unary, .one = eddy_is_nan },
    { "IsInf", 10, is_infinite },
    { "Add", 1, wrapping_binary, .two = eddy_add },
    { "Sub", 1, wrapping_binary, .two = eddy_sub },
    { "Mul", 1, wrapping_binary, .two = eddy_mul },
    { "Div", 1, divide },
    { "Pow", 1, power },
    { "Mod", 10, modulo },
    { "And", 1, binary, .two = eddy_logical_and },
    { "Or", 1, binary, .two = eddy_logical_or },
    { "Xor", 1, binary, .two = eddy_logical_xor },
    { "Equal", 1, compare, .two = eddy_equal },
    { "Less", 1, compare, .two = eddy_less },
    { "Greater", 1, compare, .two = eddy_greater },
    { "LessOrEqual", 12, compare, .two = eddy_less_equal },
    { "GreaterOrEqual", 12, compare, .two = eddy_greater_equal },
    { "BitShift", 11, shift },
    { "BitwiseAnd", 18, binary, .two = eddy_bitwise_and },
    { "BitwiseOr", 18, binary, .two = eddy_bitwise_or },
    { "BitwiseXor", 18, binary, .two = eddy_bitwise_xor },
    { "Max", 1, extreme, .two = eddy_maximum },
    { "Min", 1, extreme, .two = eddy_minimum },
    { "Sum", 1, many, .two = eddy_add },
    { "Mean", 1, mean },
    { "Elu", 1, elu },
    { "Selu", 1, selu },
    { "Celu", 12, celu },
    { "LeakyRelu", 1, leaky_relu },
    { "ThresholdedRelu", 10, thresholded_relu },
    { "HardSigmoid", 1, hard_sigmoid },
    { "Gelu", 20, gelu },
    { "Swish", 24, swish },
    { "Shrink", 9, shrink },
    { "PRelu", 1, prelu },
    { "Clip", 1, clip },
    { "Cast", 1, cast },
    { "CastLike", 15, cast_like },
    { "Where", 9, where },
    { "BitCast", 26, bit_cast },
    { NULL },
};
