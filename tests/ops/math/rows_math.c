/* rows_math.c -- elementwise operations; see rows.h. */
#include "tests/lib/rows.h"
#include "ops/math/fused_elementwise.h"
#include "build/gen/table.h"

static eddy_dtype other_float(eddy_tensor x)
{
    return eddy_dtype_of(x) == EDDY_FLOAT32 ? EDDY_FLOAT64 : EDDY_FLOAT32;
}

static eddy_tensor where_larger(eddy_tensor a, eddy_tensor b) { return Where(Greater(a, b), a, b); }
static eddy_tensor both(eddy_tensor a, eddy_tensor b)
{
    return LogicalAnd(Greater(a, 0), Greater(b, 0));
}
static eddy_tensor either(eddy_tensor a, eddy_tensor b)
{
    return LogicalOr(Greater(a, 0), Greater(b, 0));
}
static eddy_tensor one_of(eddy_tensor a, eddy_tensor b)
{
    return LogicalXor(Greater(a, 0), Greater(b, 0));
}
/* Real functions of a + bi. */
static eddy_tensor conj_ab(eddy_tensor a, eddy_tensor b) { return Imag(Exp(Conj(Complex(a, b)))); }
static eddy_tensor real_ab(eddy_tensor a, eddy_tensor b) { return Real(Square(Complex(a, b))); }
static eddy_tensor imag_ab(eddy_tensor a, eddy_tensor b) { return Imag(Square(Complex(a, b))); }
static eddy_tensor abs_ab(eddy_tensor a, eddy_tensor b) { return Abs(Complex(a, b)); }
static eddy_tensor angle_ab(eddy_tensor a, eddy_tensor b) { return Angle(Complex(a, b)); }
static eddy_tensor complex_ab(eddy_tensor a, eddy_tensor b) { return Real(Sin(Complex(a, b))); }
static eddy_tensor not_positive(eddy_tensor x) { return LogicalNot(Greater(x, 0)); }

BUILD(there_and_back, Cast(Cast(x[0], other_float(x[0])), eddy_dtype_of(x[0])))
BUILD(clipped, eddy_clip_by_value(x[0], x[1], x[2]))
BUILD(add_n, eddy_add_n((eddy_list){ 3, x }, NULL))
BUILD(check_numerics, eddy_check_numerics(x[0], "sweep"))
BUILD(ensured, eddy_ensure(x[0], Equal(x[0], x[0]), "sweep"))
BUILD(with_default, eddy_placeholder_with_default(x[0], NULL, eddy_shape_of(x[0])))
BUILD(pass_through, eddy_grad_pass_through(eddy_stop_gradient(x[0]), x[0]))
BUILD(identity_n, eddy_identity_n((eddy_list){ 2, x }, 2))
BUILD(prevent, eddy_prevent_gradient(x[0], "sweep"))
BUILD(fill, eddy_fill(INTS(EDDY_SHAPE(2), 2, 3), x[0]))
BUILD(constant, Add(INTS(EDDY_SHAPE(2), 2, 3), 1))

/* Steps are written as operations and operands, the first in the lowest bits. */
#define STEP(op, operand) (EDDY_CHAIN_##op + 16 * (operand))
static eddy_tensor chain(const eddy_tensor *x, int n, int first, int second, int64_t rest)
{
    return eddy_apply(&eddy_op_chain, &(eddy_chain_attrs){ first + 1024 * second + 1048576 * rest },
                      n, x, (eddy_apply_args){ 0 });
}
BUILD(add_sub, chain(x, 3, STEP(ADD, 1), STEP(SUB, 2), 0))
BUILD(sub_mul, chain(x, 3, STEP(SUB, 1), STEP(MUL, 2), 0))
BUILD(sub_from, chain(x, 3, STEP(SUB, 1), STEP(SUB_FROM, 2), 0))
BUILD(mul_add, chain(x, 3, STEP(MUL, 1), STEP(ADD, 2), 0))
BUILD(mul_div, chain(x, 3, STEP(MUL, 1), STEP(DIV, 2), 0))
BUILD(max_min, chain(x, 3, STEP(MAX, 1), STEP(MIN, 2), 0))
BUILD(min_max, chain(x, 3, STEP(MIN, 1), STEP(MAX, 2), 0))
BUILD(div_into, chain(x, 3, STEP(ADD, 1), STEP(DIV_INTO, 2), 0))
BUILD(distance, chain(x, 2, STEP(SUB, 1), STEP(SQUARE, 0), STEP(NEG, 0)))
BUILD(toward, chain(x, 3, STEP(SUB, 1), STEP(MUL, 2), STEP(ADD, 1)))
#define PRODUCT(op, a, b) (STEP(op##_PRODUCT, a) + 128 * (b))
BUILD(add_product, chain(x, 3, STEP(SQUARE, 0), PRODUCT(ADD, 1, 2), STEP(SUB, 0)))
BUILD(sub_product, chain(x, 3, STEP(NEG, 0), PRODUCT(SUB, 1, 2), 0))
BUILD(sub_from_product, chain(x, 3, STEP(MUL, 1), PRODUCT(SUB_FROM, 2, 0), 0))
BUILD(div_into_product, chain(x, 3, STEP(SQRT, 0), PRODUCT(DIV_INTO, 1, 2), 0))
BUILD(root_sum, chain(x, 2, STEP(SQRT, 0), STEP(ADD, 1), STEP(DIV_INTO, 0)))

static eddy_tensor choice(const eddy_tensor *x, int64_t test)
{
    const eddy_tensor in[] = { x[0], x[1], Mul(x[0], x[2]), Square(x[1]) };
    return eddy_apply(&eddy_op_choice, &(eddy_choice_attrs){ test }, 4, in, (eddy_apply_args){ 0 });
}
BUILD(choice_less, choice(x, EDDY_CHOICE_LESS))
BUILD(choice_at_most, choice(x, EDDY_CHOICE_AT_MOST))
BUILD(choice_equal, choice(x, EDDY_CHOICE_EQUAL))

static const sweep_row rows[] = {
    UNARY("Neg", eddy_neg, -2, 2),
    UNARY("Abs", eddy_abs, -2, 2),
    UNARY("Sign", eddy_sign, -2, 2),
    UNARY("Square", eddy_square, -2, 2),
    UNARY("Reciprocal", eddy_reciprocal, 0.5, 2),
    UNARY("Reciprocal", eddy_reciprocal, -2, -0.5),
    UNARY("Sqrt", eddy_sqrt, 0.5, 3),
    UNARY("Rsqrt", eddy_rsqrt, 0.5, 3),
    UNARY("Exp", eddy_exp, -2, 2),
    UNARY("Expm1", eddy_expm1, -2, 2),
    UNARY("Log", eddy_log, 0.5, 3),
    UNARY("Log1p", eddy_log1p, -0.5, 3),
    UNARY("Sin", eddy_sin, -4, 4),
    UNARY("Cos", eddy_cos, -4, 4),
    UNARY("Tanh", eddy_tanh, -2, 2),
    UNARY("Sigmoid", eddy_sigmoid, -4, 4),
    UNARY("Softplus", eddy_softplus, -4, 4),
    UNARY("Erf", eddy_erf, -2, 2),
    UNARY("Relu", eddy_relu, -2, 2),
    UNARY("Floor", eddy_floor, -3, 3),
    UNARY("Ceil", eddy_ceil, -3, 3),
    UNARY("Round", eddy_round, -3, 3),
    UNARY("Rint", eddy_rint, -3, 3),
    UNARY("IsNan", eddy_is_nan, -2, 2),
    UNARY("IsInf", eddy_is_inf, -2, 2),
    UNARY("IsFinite", eddy_is_finite, -2, 2),
    UNARY("LogicalNot", not_positive, -2, 2),
    UNARY("Identity", eddy_identity, -2, 2),
    UNARY("StopGradient", eddy_stop_gradient, -2, 2),
    UNARY("ZerosLike", eddy_zeros_like, -2, 2),
    UNARY("OnesLike", eddy_ones_like, -2, 2),
    UNARY("BasisLike", eddy_basis_like, -2, 2),
    UNARY("Example", eddy_example, -2, 2),
    UNARY("Rank", eddy_rank, -2, 2),


    BINARY("Add", eddy_add, -2, 2),
    BINARY("Sub", eddy_sub, -2, 2),
    BINARY("Mul", eddy_mul, -2, 2),
    BINARY("RealDiv", eddy_div, 0.5, 2),
    BINARY("DivNoNan", eddy_div_no_nan, 0.5, 2),
    BINARY("MulNoNan", eddy_mul_no_nan, 0.5, 2),
    BINARY("Xlogy", eddy_xlogy, 0.5, 2),
    BINARY("Xdivy", eddy_xdivy, 0.5, 2),
    BINARY("Pow", eddy_pow, 0.5, 2),
    BINARY("Maximum", eddy_maximum, -2, 2),
    BINARY("Minimum", eddy_minimum, -2, 2),
    BINARY("SquaredDifference", eddy_squared_difference, -2, 2),
    BINARY("FloorDiv", eddy_floordiv, 0.5, 3),
    BINARY_OF("FloorMod", eddy_floormod, 4.2, 4.8, 2, 2.08),
    BINARY_OF("FloorMod", eddy_floormod, -4.8, -4.2, 2, 2.08),
    BINARY("TruncateDiv", eddy_truncatediv, 0.5, 3),
    BINARY("Less", eddy_less, -2, 2),
    BINARY("LessEqual", eddy_less_equal, -2, 2),
    BINARY("Greater", eddy_greater, -2, 2),
    BINARY("GreaterEqual", eddy_greater_equal, -2, 2),
    BINARY("Equal", eddy_equal, -2, 2),
    BINARY("NotEqual", eddy_not_equal, -2, 2),
    BINARY("LogicalAnd", both, -2, 2),
    BINARY("LogicalOr", either, -2, 2),
    BINARY("LogicalXor", one_of, -2, 2),
    BINARY("SelectV2", where_larger, -2, 2),
    BINARY("ReluGrad", eddy_relu_grad, -2, 2),
    BINARY("GeluGrad", eddy_gelu_grad, -2, 2),
    BINARY("GeluTanhGrad", eddy_gelu_tanh_grad, -2, 2),
    BINARY("Conj", conj_ab, -1, 1),
    BINARY("Real", real_ab, -2, 2),
    BINARY("Imag", imag_ab, -2, 2),
    BINARY_OF("ComplexAbs", abs_ab, -2, 2, 0.5, 2),
    BINARY_OF("Angle", angle_ab, -2, 2, 0.5, 2),
    BINARY("Complex", complex_ab, -2, 2),

    OP("Cast", "", there_and_back, 1, S(3, 4)),
    { .op = "Minimum", .how = "clip", .build = clipped, .n = 3,
      .shape = { S(3, 4), S(4), S(4) }, .low = { -2, -1.5, 0.5 }, .high = { 2, -0.5, 1.5 } },
    OP("AddN", "", add_n, 3, S(3, 4), S(3, 4), S(3, 4)),
    OP("CheckNumerics", "", check_numerics, 1, S(3, 4)),
    OP("Ensure", "", ensured, 1, S(3, 4)),
    OP("PlaceholderWithDefault", "", with_default, 1, S(3, 4)),
    OP("GradPassThrough", "", pass_through, 1, S(3, 4)),
    OP("IdentityN", "", identity_n, 2, S(3, 4), S(2)),
    { .op = "PreventGradient", .build = prevent, .n = 1, .shape = { S(3, 4) },
      .options = SWEEP_REFUSES },
    OP("Fill", "", fill, 1, { .rank = 0 }),
    OP("Const", "", constant, 1, S(3, 4)),

    OP("_Chain", "a + b - c", add_sub, 3, S(2, 3), S(3), S(2, 1)),
    OP("_Chain", "(a - b) c", sub_mul, 3, S(2, 3), S(2, 3), S(1)),
    OP("_Chain", "c - (a - b)", sub_from, 3, S(2, 1), S(1, 3), S(2, 3)),
    OP("_Chain", "a b + c", mul_add, 3, S(2, 3), S(3), S(3)),
    OP("_Chain", "min(max(a, b), c)", max_min, 3, S(2, 3), S(3), S(3)),
    OP("_Chain", "max(min(a, b), c)", min_max, 3, S(2, 3), S(2, 1), S(3)),
    OP("_Chain", "-(a - b)^2", distance, 2, S(2, 3), S(3)),
    OP("_Chain", "(a - b) c + b", toward, 3, S(2, 3), S(2, 3), S(1)),
    OP("_Chain", "a^2 + b c - a", add_product, 3, S(2, 3), S(3), S(2, 1)),
    OP("_Chain", "-a - b c", sub_product, 3, S(2, 3), S(2, 3), S(3)),
    OP("_Chain", "c a - a b", sub_from_product, 3, S(2, 1), S(1, 3), S(2, 3)),
    OP("_Choice", "a < b", choice_less, 3, S(2, 3), S(3), S(2, 1)),
    OP("_Choice", "a <= b", choice_at_most, 3, S(2, 3), S(2, 3), S(3)),
    OP("_Choice", "a = b", choice_equal, 3, S(2, 3), S(2, 3), S(2, 3)),
    { .op = "_Chain", .how = "a b / c", .build = mul_div, .n = 3,
      .shape = { S(2, 3), S(2, 3), S(2, 3) }, .low = { -2, -2, 1 }, .high = { 2, 2, 3 } },
    { .op = "_Chain", .how = "c / (a + b)", .build = div_into, .n = 3,
      .shape = { S(2, 3), S(1), S(3) }, .low = { 1, 1, -2 }, .high = { 2, 2, 2 } },
    { .op = "_Chain", .how = "b c / sqrt(a)", .build = div_into_product, .n = 3,
      .shape = { S(2, 3), S(2, 3), S(3) }, .low = { 1, -2, -2 }, .high = { 2, 2, 2 } },
    { .op = "_Chain", .how = "a / (sqrt(a) + b)", .build = root_sum, .n = 2,
      .shape = { S(2, 3), S(3) }, .low = { 1, 1 }, .high = { 2, 2 } },
};
FAMILY_OF_ROWS(math, rows);
