/* short_names.h -- short names for building graphs: with them, gradient rules, optimizers and
 * models read like the mathematics. Mul(dy, Sub(1, Square(y))) is dy (1 - y*y).
 *
 * A plain number may stand for either operand of a binary operation and takes the element type of
 * the other. Every argument is evaluated once, the last one first. eddy.h does not include this
 * header: use #include <eddy/ops/short_names.h>. */
#ifndef EDDY_OPS_SHORT_NAMES_H
#define EDDY_OPS_SHORT_NAMES_H

#include "ops.h"

#ifndef __cplusplus

typedef eddy_tensor (*eddy_binary_fn_)(eddy_tensor, eddy_tensor);

/* f of two tensors, of a number and a tensor, of a tensor and a number. */
static inline eddy_tensor eddy_math_tt_(eddy_binary_fn_ f, eddy_tensor a, eddy_tensor b)
{
    return f(a, b);
}
static inline eddy_tensor eddy_math_nt_(eddy_binary_fn_ f, double a, eddy_tensor b)
{
    return f(eddy_number_like(a, b), b);
}
static inline eddy_tensor eddy_math_tn_(eddy_binary_fn_ f, eddy_tensor a, double b)
{
    return f(a, eddy_number_like(b, a));
}
static inline eddy_tensor eddy_where_nt_(eddy_tensor c, double a, eddy_tensor b)
{
    return eddy_where(c, eddy_number_like(a, b), b);
}
static inline eddy_tensor eddy_where_tn_(eddy_tensor c, eddy_tensor a, double b)
{
    return eddy_where(c, a, eddy_number_like(b, a));
}

/* Calls one of three functions with x, a and b: the one for the types of a and b.
 *
 * _Generic contains an operand once to find its type and once to use it, so the text of nested
 * calls would double with each level.  Therefore the operands are stored in variables first,
 * whose types gcc and clang deduce.  Those of a nested call hide the outer ones, as intended. */
#define EDDY_BY_KIND_(tt, nt, tn, x, a, b)                                                      \
    (__extension__({                                                                            \
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"")           \
        __auto_type eddy_b_ = (b);                                                              \
        __auto_type eddy_a_ = (a);                                                              \
        _Pragma("GCC diagnostic pop")                                                           \
        _Generic(eddy_a_, eddy_tensor: _Generic(eddy_b_, eddy_tensor: tt, default: tn),         \
                 default: nt)((x), eddy_a_, eddy_b_);                                           \
    }))
#define EDDY_BINARY_(f, a, b) EDDY_BY_KIND_(eddy_math_tt_, eddy_math_nt_, eddy_math_tn_, f, a, b)

#define Add(a, b)               EDDY_BINARY_(eddy_add, a, b)
#define Sub(a, b)               EDDY_BINARY_(eddy_sub, a, b)
#define Mul(a, b)               EDDY_BINARY_(eddy_mul, a, b)
#define Div(a, b)               EDDY_BINARY_(eddy_div, a, b)
#define DivNoNan(a, b)          EDDY_BINARY_(eddy_div_no_nan, a, b)
#define MulNoNan(a, b)          EDDY_BINARY_(eddy_mul_no_nan, a, b)
#define Xlogy(a, b)             EDDY_BINARY_(eddy_xlogy, a, b)
#define Xdivy(a, b)             EDDY_BINARY_(eddy_xdivy, a, b)
#define Pow(a, b)               EDDY_BINARY_(eddy_pow, a, b)
#define Maximum(a, b)           EDDY_BINARY_(eddy_maximum, a, b)
#define Minimum(a, b)           EDDY_BINARY_(eddy_minimum, a, b)
#define SquaredDifference(a, b) EDDY_BINARY_(eddy_squared_difference, a, b)
#define FloorDiv(a, b)          EDDY_BINARY_(eddy_floordiv, a, b)
#define FloorMod(a, b)          EDDY_BINARY_(eddy_floormod, a, b)
#define TruncateDiv(a, b)       EDDY_BINARY_(eddy_truncatediv, a, b)
#define Less(a, b)              EDDY_BINARY_(eddy_less, a, b)
#define LessEqual(a, b)         EDDY_BINARY_(eddy_less_equal, a, b)
#define Greater(a, b)           EDDY_BINARY_(eddy_greater, a, b)
#define GreaterEqual(a, b)      EDDY_BINARY_(eddy_greater_equal, a, b)
#define Equal(a, b)             EDDY_BINARY_(eddy_equal, a, b)
#define NotEqual(a, b)          EDDY_BINARY_(eddy_not_equal, a, b)
#define Complex(a, b)           EDDY_BINARY_(eddy_complex, a, b)
#define LogicalAnd(a, b)        eddy_logical_and(a, b)
#define LogicalOr(a, b)         eddy_logical_or(a, b)
#define LogicalXor(a, b)        eddy_logical_xor(a, b)
#define LogicalNot(x)           eddy_logical_not(x)
#define Where(c, a, b)          EDDY_BY_KIND_(eddy_where, eddy_where_nt_, eddy_where_tn_, c, a, b)

#define Neg(x)                  eddy_neg(x)
#define Abs(x)                  eddy_abs(x)
#define Sign(x)                 eddy_sign(x)
#define Conj(x)                 eddy_conj(x)
#define Real(x)                 eddy_real(x)
#define Imag(x)                 eddy_imag(x)
#define Angle(x)                eddy_angle(x)
#define Square(x)               eddy_square(x)
#define Sqrt(x)                 eddy_sqrt(x)
#define Rsqrt(x)                eddy_rsqrt(x)
#define Reciprocal(x)           eddy_reciprocal(x)
#define Exp(x)                  eddy_exp(x)
#define Expm1(x)                eddy_expm1(x)
#define Log(x)                  eddy_log(x)
#define Log1p(x)                eddy_log1p(x)
#define Sin(x)                  eddy_sin(x)
#define Cos(x)                  eddy_cos(x)
#define Floor(x)                eddy_floor(x)
#define Ceil(x)                 eddy_ceil(x)
#define Round(x)                eddy_round(x)
#define Tanh(x)                 eddy_tanh(x)
#define Sigmoid(x)              eddy_sigmoid(x)
#define Softplus(x)             eddy_softplus(x)
#define Erf(x)                  eddy_erf(x)
#define Relu(x)                 eddy_relu(x)
#define ReluGrad(dy, y)         eddy_relu_grad(dy, y)
#define IsNan(x)                eddy_is_nan(x)
#define IsInf(x)                eddy_is_inf(x)
#define IsFinite(x)             eddy_is_finite(x)

#define Cast(x, dtype)          eddy_cast(x, dtype)
#define CastLike(x, t)          eddy_cast(x, eddy_dtype_of(t))
#define NumberLike(v, t)        eddy_number_like(v, t)
#define ZerosLike(x)            eddy_zeros_like(x)
#define OnesLike(x)             eddy_ones_like(x)
#define Identity(x)             eddy_identity(x)
#define StopGradient(x)         eddy_stop_gradient(x)

#define MatMul(...)             eddy_matmul(__VA_ARGS__)
#define BiasAdd(...)            eddy_bias_add(__VA_ARGS__)
#define Sum(...)                eddy_sum(__VA_ARGS__)
#define Mean(...)               eddy_mean(__VA_ARGS__)
#define Max(...)                eddy_max(__VA_ARGS__)
#define Min(...)                eddy_min(__VA_ARGS__)
#define Prod(...)               eddy_prod(__VA_ARGS__)
#define LogSumExp(...)          eddy_logsumexp(__VA_ARGS__)
#define Softmax(...)            eddy_softmax(__VA_ARGS__)
#define LogSoftmax(...)         eddy_log_softmax(__VA_ARGS__)
#define BroadcastAlong(...)     eddy_broadcast_along(__VA_ARGS__)
#define BroadcastLike(x, ref)   eddy_broadcast_like(x, ref)
#define SumLike(x, ref)         eddy_sum_like(x, ref)
#define ReshapeLike(x, ref)     eddy_reshape_like(x, ref)
#define Reshape(...)            eddy_reshape(__VA_ARGS__)
#define Transpose(...)          eddy_transpose(__VA_ARGS__)
#define ExpandDims(...)         eddy_expand_dims(__VA_ARGS__)
#define Squeeze(...)            eddy_squeeze(__VA_ARGS__)
#define Gather(...)             eddy_gather(__VA_ARGS__)
#define OneHot(...)             eddy_one_hot(__VA_ARGS__)
#define Cumsum(...)             eddy_cumsum(__VA_ARGS__)
#define Cumprod(...)            eddy_cumprod(__VA_ARGS__)

#endif
#endif
