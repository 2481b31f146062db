/* elementwise.c -- operations on each element: formulas, as a rule. Where ONNX has no operator that
 * keeps the digits of a small result (expm1, log1p), the formula does. */
#include "../rules.h"

static eddy_dtype own(const onnx_part *p) { return p->node->outputs[0].dtype; }

static bool cast(onnx_part *p)
{
    return eddy__part_put(p, 0, eddy__part_cast(p, eddy__part_in(p, 0), eddy__part_dtype(p, 0),
                                                own(p)));
}

/* Sum takes floating-point numbers only. */
static bool add_n(onnx_part *p)
{
    const char *sum = eddy__part_in(p, 0);
    for (int i = 1; i < p->node->n_inputs && !p->failed; i++)
        sum = eddy__part_binary(p, "Add", sum, eddy__part_in(p, i));
    return eddy__part_put(p, 0, sum);
}

/* Comparisons of types that ONNX does not compare. */
static bool compare(onnx_part *p)
{
    const char      *op = p->node->op->name;
    const eddy_dtype d = eddy__part_dtype(p, 0);
    const bool       narrow = d == EDDY_BOOL || d == EDDY_UINT8;
    const eddy_dtype as = narrow ? EDDY_INT32 : d;
    const char *a = eddy__part_cast(p, eddy__part_in(p, 0), d, as);
    const char *b = eddy__part_cast(p, eddy__part_in(p, 1), d, as);
    if (op[0] == 'N')
        return eddy__part_put(p, 0, eddy__part_formula(p, as, "Not(Equal(a, b))", a, b));
    const char *name = op[0] == 'L' ? op[4] ? "LessOrEqual" : "Less"
                     : op[0] == 'G' ? op[7] ? "GreaterOrEqual" : "Greater" : "Equal";
    return eddy__part_put(p, 0, eddy__part_binary(p, name, a, b));
}

/* Bits of integers: ~x is -1 - x, and 255 - x for uint8. */
static bool invert(onnx_part *p)
{
    const eddy_dtype d = own(p);
    return eddy__part_put(p, 0,
                          eddy__part_binary(p, "Sub",
                                            eddy__part_number(p, d, d == EDDY_UINT8 ? 255 : -1),
                                            eddy__part_in(p, 0)));
}

static bool cross(onnx_part *p)
{
    const char *a = eddy__part_in(p, 0), *b = eddy__part_in(p, 1);
    const char *next = eddy__part_ints(p, 3, (const int64_t[]){ 1, 2, 0 });
    const char *last = eddy__part_ints(p, 3, (const int64_t[]){ 2, 0, 1 });
    return eddy__part_put(
        p, 0,
        eddy__part_formula(p, own(p),
                           "Sub(Mul(Gather[axis=-1](a, c), Gather[axis=-1](b, d)),"
                           "    Mul(Gather[axis=-1](a, d), Gather[axis=-1](b, c)))",
                           a, b, next, last));
}

/* Of 1/x beyond 1; then half of the angle twice, and the series. */
static const char arc_tangent[] =
    "u=Greater(Abs(a), 1); v=Where(u, Reciprocal(a), a); "
    "v=Div(v, Add(1, Sqrt(Add(1, Mul(v, v))))); v=Div(v, Add(1, Sqrt(Add(1, Mul(v, v))))); "
    "w=Mul(v, v); x=Sub(0.076923076923076923, Mul(w, Sub(0.066666666666666667, Mul(w, "
    "    Sub(0.058823529411764706, Mul(w, Sub(0.052631578947368421, Mul(w, "
    "        Sub(0.047619047619047619, Mul(w, 0.043478260869565217)))))))))); "
    "x=Sub(1, Mul(w, Sub(0.33333333333333333, Mul(w, Sub(0.2, Mul(w, Sub(0.14285714285714286, "
    "    Mul(w, Sub(0.11111111111111111, Mul(w, Sub(0.090909090909090909, Mul(w, x)))))))))))); "
    "v=Mul(4, Mul(v, x)); Where(u, Sub(Mul(Sign(a), 1.5707963267948966), v), v)";

static const onnx_row rows[] = {
    { "Neg", .formula = "Neg(a)" },
    { "Abs", .formula = "Abs(a)" },
    { "Sign", .formula = "Sign(a)" },
    { "Square", .formula = "Mul(a, a)" },
    { "Reciprocal", .formula = "Reciprocal(a)" },
    { "Sqrt", .formula = "Sqrt(a)" },
    { "Rsqrt", .formula = "Reciprocal(Sqrt(a))" },
    { "Cbrt", .formula = "Mul(Sign(a), Pow(Abs(a), 0.33333333333333333))" },
    { "Exp", .formula = "Exp(a)" },
    { "Exp2", .formula = "Pow(2, a)" },
    { "Expm1", .formula = "u=Exp(a); v=Sub(u, 1); w=Or(Equal(v, -1), IsInf(u)); "
                          "Where(Equal(u, 1), a, Where(w, v, Mul(v, Div(a, Log(u)))))" },
    { "Log", .formula = "Log(a)" },
    { "Log1p", .formula = "u=Add(a, 1); v=Div(a, Sub(u, 1)); "
                          "Where(Equal(u, 1), a, Mul(Log(u), Where(IsInf(u), 1, v)))" },
    { "Log2", .formula = "Mul(Log(a), 1.4426950408889634)" },
    { "Log10", .formula = "Mul(Log(a), 0.43429448190325183)" },
    { "Entr", .formula = "Where(Greater(a, 0), Neg(Mul(a, Log(a))),"
                         "      Where(Equal(a, 0), 0, Add(a, -inf)))" },
    { "Logit", .formula = "u=@Log1p(Div(Sub(Mul(2, a), 1), Sub(1, a))); "
                          "Where(Less(Abs(Sub(a, 0.5)), 0.25), u, Sub(Log(a), Log(Sub(1, a))))" },
    { "Sigmoid", .formula = "Sigmoid(a)" },
    { "Softplus", .formula = "Softplus(a)",
      .doubles = "Add(Max(a, 0), Log(Add(1, Exp(Neg(Abs(a))))))" },
    { "Softsign", .formula = "Softsign(a)", .doubles = "Div(a, Add(1, Abs(a)))" },
    { "Tanh", .formula = "Tanh(a)" },
    { "Sin", .formula = "Sin(a)" },
    { "Cos", .formula = "Cos(a)", .doubles = "Sin(Add(a, 1.5707963267948966))" },
    { "Tan", .formula = "Tan(a)", .doubles = "Div(Sin(a), @Cos(a))" },
    { "Asin", .formula = "Asin(a)",
      .doubles = "Mul(2, @Atan(Div(a, Add(1, Sqrt(Sub(1, Mul(a, a)))))))" },
    { "Acos", .formula = "Acos(a)", .doubles = "Mul(2, @Atan(Sqrt(Div(Sub(1, a), Add(1, a)))))" },
    { "Atan", .formula = "Atan(a)", .doubles = arc_tangent },
    { "Sinh", .formula = "Sinh(a)",
      .doubles = "u=Tanh(Mul(0.5, a)); v=Div(Mul(2, u), Sub(1, Mul(u, u))); "
                 "Where(Less(Abs(a), 1), v, Mul(0.5, Sub(Exp(a), Exp(Neg(a)))))" },
    { "Cosh", .formula = "Cosh(a)", .doubles = "Mul(0.5, Add(Exp(a), Exp(Neg(a))))" },
    { "Asinh", .formula = "Asinh(a)",
      .doubles = "u=Abs(a); v=Mul(a, a); w=@Log1p(Add(u, Div(v, Add(1, Sqrt(Add(1, v)))))); "
                 "Mul(Sign(a), Where(Less(u, 1e8), w, Add(Log(u), 0.69314718055994531)))" },
    { "Acosh", .formula = "Acosh(a)",
      .doubles = "u=Sub(a, 1); v=@Log1p(Add(u, Sqrt(Mul(u, Add(u, 2))))); "
                 "Where(Less(a, 1e8), v, Add(Log(a), 0.69314718055994531))" },
    { "Atanh", .formula = "Atanh(a)",
      .doubles = "Mul(0.5, @Log1p(Div(Mul(2, a), Sub(1, a))))" },
    { "Sinc", .formula = "u=Mul(a, 3.1415926535897932); v=Where(Equal(u, 0), 1, u); "
                         "Where(Equal(u, 0), 1, Div(Sin(v), v))" },
    { "Deg2Rad", .formula = "Mul(a, 0.017453292519943296)" },
    { "Rad2Deg", .formula = "Mul(a, 57.295779513082321)" },
    { "Erf", .formula = "Erf(a)", .doubles = "@Erf(a)" },
    { "Ndtr", .formula = "Mul(0.5, real(@Erfc(double(Mul(a, -0.70710678118654752)))))" },
    { "Floor", .formula = "Floor(a)" },
    { "Ceil", .formula = "Ceil(a)" },
    { "Round", .formula = "Round(a)", .integers = "Identity(a)" },
    { "Rint", .formula = "Round(a)" },
    { "Trunc", .formula = "Mul(Sign(a), Floor(Abs(a)))" },
    { "Frac", .formula = "Sub(a, Mul(Sign(a), Floor(Abs(a))))" },
    { "IsNan", .formula = "IsNaN(a)" },
    { "IsInf", .formula = "IsInf(a)" },
    { "IsFinite", .formula = "Not(Or(IsNaN(a), IsInf(a)))" },
    { "Invert", invert },
    { "Cast", cast },
    { "LogicalNot", .formula = "Not(a)" },
    /* activations */
    { "Relu", .formula = "Relu(a)", .integers = "Max(a, 0)" },
    { "ReluGrad", .formula = "Mul(a, real(Greater(b, 0)))" },
    { "Relu6", .formula = "Min(Max(a, 0), 6)" },
    { "Elu", .formula = "Elu(a)", .doubles = "Where(Greater(a, 0), a, Sub(Exp(Min(a, 0)), 1))" },
    { "Selu", .formula = "Selu(a)",
      .doubles = "Mul(1.0507009873554805,"
                 "    Where(Greater(a, 0), a, Mul(1.6732632423543772, Sub(Exp(Min(a, 0)), 1))))" },
    { "Mish", .formula = "Mul(a, Tanh(@Softplus(a)))" },
    { "LeakyRelu", .formula = "Where(Greater(a, 0), a, Mul(a, #alpha))" },
    { "LeakyReluGrad", .formula = "Where(Greater(b, 0), a, Mul(a, #alpha))" },
    { "Prelu", .formula = "Where(Greater(a, 0), a, Mul(a, b))" },
    { "HardSigmoid", .formula = "Max(Min(Add(Mul(#slope, a), 0.5), 1), 0)" },
    { "HardSigmoidGrad", .formula = "u=Add(Mul(#slope, b), 0.5); v=Or(Less(u, 0), Greater(u, 1)); "
                                    "Where(v, 0, Mul(#slope, a))" },
    { "HardShrink", .formula = "Where(LessOrEqual(Abs(a), #lambda), 0, a)" },
    { "Huber", .formula = "u=Sub(a, b); v=Max(Min(u, #delta), Neg(#delta)); "
                          "Mul(Mul(#factor, v), Sub(u, Mul(0.5, v)))" },
    { "SoftShrink", .formula = "Where(Greater(a, #lambda), Sub(a, #lambda),"
                               "      Where(Less(a, Neg(#lambda)), Add(a, #lambda), Mul(a, 0)))" },
    /* in the form that ONNX Runtime recognizes */
    { "Gelu", .formula = "Mul(Mul(0.5, a), Add(1, @Erf(Div(a, 1.4142135623730951))))" },
    { "GeluGrad", .formula = "u=Mul(0.5, Add(1, @Erf(Mul(b, 0.70710678118654752)))); "
                             "v=Mul(0.39894228040143268, Exp(Mul(-0.5, Mul(b, b)))); "
                             "Mul(a, Add(u, Mul(b, v)))" },
    /* ONNX Runtime's Sigmoid is 0 below -18. */
    { "GeluTanh", .formula = "u=Add(1.5957691216057308, Mul(0.071354816272600247, Mul(a, a))); "
                             "Div(a, Add(1, Exp(Neg(Mul(a, u)))))" },
    { "GeluTanhGrad", .formula = "z=Mul(b, b); "
                                 "u=Mul(b, Add(1.5957691216057308, Mul(0.071354816272600247, z))); "
                                 "v=Add(1.5957691216057308, Mul(0.21406444881780074, z)); "
                                 "w=Mul(Sigmoid(u), Sigmoid(Neg(u))); "
                                 "Mul(a, Add(Sigmoid(u), Mul(b, Mul(w, v))))" },
    /* of two operands */
    { "Add", .formula = "Add(a, b)" },
    { "BiasAdd", .formula = "Add(a, b)" },
    { "AddN", add_n },
    { "Sub", .formula = "Sub(a, b)" },
    { "Mul", .formula = "Mul(a, b)" },
    { "RealDiv", .formula = "Div(a, b)" },
    { "DivNoNan", .formula = "u=Equal(b, 0); Where(u, 0, Div(a, Where(u, 1, b)))" },
    { "MulNoNan", .formula = "Where(Equal(b, 0), 0, Mul(a, b))" },
    { "Xlogy", .formula = "Where(Equal(a, 0), 0, Mul(a, Log(b)))" },
    { "Xdivy", .formula = "Where(Equal(a, 0), 0, Div(a, b))" },
    { "FloorDiv", .formula = "Floor(Div(a, b))",
      .integers = "u=Div(a, b); v=Sub(a, Mul(u, b)); "
                  "w=And(Not(Equal(v, 0)), Xor(Less(v, 0), Less(b, 0))); Where(w, Sub(u, 1), u)" },
    { "FloorMod",
      .formula = "u=Mod[fmod=1](a, b); v=And(Not(Equal(u, 0)), Xor(Less(u, 0), Less(b, 0))); "
                 "Where(v, Add(u, b), u)",
      .integers = "Mod(a, b)" },
    { "TruncateDiv", .formula = "u=Div(a, b); Mul(Sign(u), Floor(Abs(u)))",
      .integers = "Div(a, b)" },
    { "TruncateMod", .formula = "Mod[fmod=1](a, b)" },
    { "SquaredDifference", .formula = "u=Sub(a, b); Mul(u, u)" },
    { "Maximum", .formula = "Max(a, b)" },
    { "Minimum", .formula = "Min(a, b)" },
    { "Pow", .formula = "Pow(a, b)" },
    { "Hypot", .formula =
                   "u=Max(Abs(a), Abs(b)); v=Div(Min(Abs(a), Abs(b)), Where(Equal(u, 0), 1, u)); "
                   "Where(IsInf(u), u, Mul(u, Sqrt(Add(1, Mul(v, v)))))" },
    { "Atan2", .formula =
                   "u=@Atan(Div(a, Where(Equal(b, 0), 1, b))); v=Mul(Sign(a), 1.5707963267948966); "
                   "w=Add(u, Where(Less(a, 0), -3.1415926535897932, 3.1415926535897932)); "
                   "Where(Greater(b, 0), u, Where(Less(b, 0), w, v))" },
    { "LogAddExp", .formula =
                       "u=Max(a, b); v=Neg(Abs(Sub(a, b))); "
                       "Where(Equal(a, b), Add(a, 0.69314718055994531), Add(u, @Softplus(v)))" },
    { "CopySign", .formula = "Mul(Abs(a), Where(Or(Less(b, 0), Less(Reciprocal(b), 0)), -1, 1))" },
    { "Heaviside",
      .formula = "Where(Greater(a, 0), 1, Where(Less(a, 0), 0,"
                 "      Where(Equal(a, 0), b, Add(a, b))))",
      .integers = "Where(Greater(a, 0), 1, Where(Less(a, 0), 0, b))" },
    { "SigmoidCrossEntropyWithLogits", .formula = "u=@Softplus(Neg(Abs(b))); "
                                                  "Add(Sub(Max(b, 0), Mul(a, b)), u)" },
    { "Cross", cross },
    { "Equal", compare },
    { "NotEqual", compare },
    { "Less", compare },
    { "LessEqual", compare },
    { "Greater", compare },
    { "GreaterEqual", compare },
    { "LogicalAnd", .formula = "And(a, b)" },
    { "LogicalOr", .formula = "Or(a, b)" },
    { "LogicalXor", .formula = "Xor(a, b)" },
    { "SelectV2", .formula = "Where(a, b, c)" },
};

const onnx_family eddy__write_elementwise = FAMILY_OF(rows);
