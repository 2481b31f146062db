/* activations.c -- activation functions: ELU, SELU, CELU, leaky ReLU, PReLU, hard sigmoid,
 * swish, mish, softsign and others (relu, sigmoid, tanh, softplus: ops/math/unary.c; gelu:
 * ops/math/gelu.c).
 *
 * Activations with a row have a loop of their own; the others are composed of other operations,
 * which the session runs in one loop. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "ops/math/elementwise_rows.h"

/* x, or an error for integers, for which the constants would be truncated. */
static eddy_tensor floats(const char *what, eddy_tensor x)
{
    if (!eddy_is_valid(x) || !eddy_dtype_is_integer(eddy_dtype_of(x))) return x;
    eddy__expect_type(x.graph, what, "x", eddy_dtype_of(x), EDDY_TAKES_FLOATS);
    return eddy_none(x.graph);
}

/* x, or an error if x is integer and v is not, since v would be truncated. */
static eddy_tensor whole(const char *what, eddy_tensor x, double v)
{
    if (!eddy_is_valid(x) || !eddy_dtype_is_integer(eddy_dtype_of(x)) || v == floor(v)) return x;
    return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: %g is not an integer, but x is %s",
                     what, v, eddy_dtype_name(eddy_dtype_of(x)));
}

/* -------------------------------------------------- exponential branches -- */

/* The constants of selu, which keep mean 0 and variance 1 (Klambauer et al. 2017). */
#define SELU_SCALE 1.0507009873554804934
#define SELU_DEPTH 1.7580993408473768600       /* SELU_SCALE times alpha */

#define EXPM1(x) EDDY_REAL_MATH(expm1, x)

/** y = x where x > 0, else e^x - 1.
 *
 *  Gradient: dx = dy where y >= 0 (including x = 0), else dy (y + 1).  TensorFlow: Elu. */
UNARY(elu, "Elu", "Elu", FLOATS, x > 0 ? x : EXPM1(x),
      Where(Less(y, 0), Mul(dy, Add(y, 1)), dy))

/** y = s x where x > 0, else s a (e^x - 1), with s about 1.0507 and a about 1.6733.
 *
 *  Gradient: dx = dy s where y >= 0 (including x = 0), else dy (y + s a).  TensorFlow: Selu. */
UNARY(selu, "Selu", "Selu", FLOATS, (x > 0 ? (T)SELU_SCALE * x : (T)SELU_DEPTH * EXPM1(x)),
      Mul(dy, Where(Less(y, 0), Add(y, SELU_DEPTH), SELU_SCALE)))

#ifdef EDDY_HEADER
typedef struct eddy_celu_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_celu_args));
    eddy_tensor x;
    double      alpha EDDY_DEFAULT(1);
} eddy_celu_args;
#endif
/** y = alpha elu(x / alpha): max(x, 0) + min(alpha (e^(x / alpha) - 1), 0).
 *
 *  x      float32 or float64, any shape; y has its type
 *  alpha  must not be 0
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT if alpha is 0.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's celu. */
eddy_tensor eddy_celu_with(const eddy_celu_args *given)
{
    eddy_celu_args a = EDDY_TAKE(eddy_celu_args, given);
    if (a.alpha == 0)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "celu: alpha must not be 0");
    if (a.alpha == 1) return eddy_elu(a.x);
    return Mul(a.alpha, eddy_elu(Mul(1 / a.alpha, a.x)));
}

/* ----------------------------------------------------- piecewise linear -- */

/** y = min(max(x, 0), 6).
 *
 *  NaN stays NaN.
 *  Gradient: dx = dy where 0 < y < 6, else 0.  TensorFlow: Relu6. */
UNARY(relu6, "Relu6", "Relu6", NUMBERS, x < 0 ? 0 : x > 6 ? 6 : x,
      Where(Greater(Mul(y, Sub(6, y)), 0), dy, 0))

/** y = min(max(x, 0), most).
 *
 *  x     float32, float64, int32, int64 or uint8, any shape; y has its type
 *  most  must be positive, and an integer if x is
 *
 *  NaN stays NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT if x is integer and
 *  `most` is not.
 *  Gradient: dx = dy where x > 0 and x <= most, else 0.
 *  TensorFlow: none; Keras' relu with max_value. */
eddy_tensor eddy_relu_n(eddy_tensor x, double most)
{
    return Minimum(Relu(whole("relu_n", x, most)), most);
}

typedef struct leaky_attrs {
    double alpha;
} leaky_attrs;

static const eddy_attr_field leaky_fields[] = EDDY_FIELDS(leaky_attrs, alpha);

/* y = a where `by` > 0, else alpha a; for leaky_relu, both are x. */
#define LEAKY_OF(fn, T, second)                                                 \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        T       *o = y;                                                         \
        const T *a = x[0], *by = x[second], alpha = (T)((const leaky_attrs *)attrs)->alpha; \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i = 0; i < n; i++) o[i] = a[i] * (by[i] > 0 ? 1 : alpha);  \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_CLONES(fn)
#define LEAKY(suffix, name, second)                                             \
    LEAKY_OF(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), second)
FOR_FLOATS(LEAKY, leaky_relu, 0)
ROW_PICK(leaky_relu, FLOATS)
FOR_FLOATS(LEAKY, leaky_relu_grad, 1)
ROW_PICK(leaky_relu_grad, FLOATS)

static eddy_tensor leaky_relu_grad(eddy_tensor dy, eddy_tensor x, const void *attrs)
{
    return eddy_apply2(&eddy_op_leaky_relu_grad, attrs, dy, x);
}

static void leaky_relu_gradient(eddy_rule *r)
{
    r->dx[0] = leaky_relu_grad(r->dy[0], r->x[0], r->attrs);
}

static void leaky_relu_grad_gradient(eddy_rule *r)
{
    r->dx[0] = leaky_relu_grad(r->dy[0], r->x[1], r->attrs);
    r->dx[1] = ZerosLike(r->x[1]);
}

const eddy_op_def eddy_op_leaky_relu = {
    .name = "LeakyRelu", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(leaky_attrs), .attrs = leaky_fields,
    .infer = eddy__infer_elementwise, .tile = leaky_relu_tile, .gradient = leaky_relu_gradient,
};
const eddy_op_def eddy_op_leaky_relu_grad = {
    .name = "LeakyReluGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "dy", EDDY_TAKES_FLOATS }, { "x", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(leaky_attrs), .attrs = leaky_fields,
    .infer = eddy__infer_elementwise, .tile = leaky_relu_grad_tile,
    .gradient = leaky_relu_grad_gradient,
};

#ifdef EDDY_HEADER
typedef struct eddy_leaky_relu_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_leaky_relu_args));
    eddy_tensor x;
    double      alpha EDDY_DEFAULT(0.2);
} eddy_leaky_relu_args;
#endif
/** y = x where x > 0, else alpha x.
 *
 *  x      float32 or float64, any shape; y has its type
 *  alpha  slope for x <= 0
 *
 *  Gradient: dx = dy where x > 0, else alpha dy (including x = 0).
 *  TensorFlow: LeakyRelu. */
eddy_tensor eddy_leaky_relu_with(const eddy_leaky_relu_args *given)
{
    eddy_leaky_relu_args a = EDDY_TAKE(eddy_leaky_relu_args, given);
    const leaky_attrs attrs = { a.alpha };
    return eddy_apply1(&eddy_op_leaky_relu, &attrs, a.x);
}

DECLARE_NUMBERS(TILE_BINARY, prelu, a > 0 ? a : a * b)
ROW_PICK(prelu, NUMBERS)
static void prelu_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], alpha = r->x[1], dy = r->dy[0];
    r->dx[0] = Mul(dy, Where(Greater(x, 0), 1, alpha));
    r->dx[1] = Where(Greater(x, 0), 0, Mul(dy, x));
}
ROW_DEF(prelu, "Prelu", "Prelu", 2,
        EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS }, { "alpha", EDDY_LIKE(0) }), prelu_gradient,
        eddy__infer_elementwise, 0)

/** y = x where x > 0, else alpha x, with a learned alpha.
 *
 *  x, alpha  float32, float64, int32, int64 or uint8, of the same type, shapes that broadcast,
 *            such as [C] for x [..., C]
 *
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: dx = dy where x > 0, else alpha dy; dalpha = dy min(x, 0).
 *  TensorFlow: none; Keras' PReLU. */
eddy_tensor eddy_prelu(eddy_tensor x, eddy_tensor alpha)
{
    return eddy_apply2(&eddy_op_prelu, NULL, x, alpha);
}

#ifdef EDDY_HEADER
typedef struct eddy_hard_tanh_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_hard_tanh_args));
    eddy_tensor x;
    double      least EDDY_DEFAULT(-1);
    double      most EDDY_DEFAULT(1);
} eddy_hard_tanh_args;
#endif
/** y = min(max(x, least), most).
 *
 *  x            float32 or float64, any shape; y has its type
 *  least, most  the bounds; if least > most, y is least
 *
 *  NaN stays NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy where least <= x <= most, else 0.
 *  TensorFlow: none; PyTorch's hardtanh. */
eddy_tensor eddy_hard_tanh_with(const eddy_hard_tanh_args *given)
{
    eddy_hard_tanh_args a = EDDY_TAKE(eddy_hard_tanh_args, given);
    const eddy_tensor x = floats("hard_tanh", a.x);
    return Maximum(Minimum(x, a.most), a.least);
}

typedef struct ramp_attrs {
    double slope;
} ramp_attrs;

static const eddy_attr_field ramp_fields[] = EDDY_FIELDS(ramp_attrs, slope);

/* The value, of the ramp u = slope x + 0.5, where x is operand `second`; NaN stays NaN. */
#define RAMP_OF(fn, T, second, value)                                           \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        T       *o = y;                                                         \
        const T *a = x[0], *of = x[second], slope = (T)((const ramp_attrs *)attrs)->slope; \
        (void)a;                                                                \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i = 0; i < n; i++) {                                       \
            const T u = slope * of[i] + (T)0.5;                                 \
            o[i] = (value);                                                     \
        }                                                                       \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_CLONES(fn)
#define RAMP(suffix, name, second, value)                                       \
    RAMP_OF(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), second, value)
FOR_FLOATS(RAMP, hard_sigmoid, 0, u < 0 ? 0 : u > 1 ? 1 : u)
ROW_PICK(hard_sigmoid, FLOATS)
FOR_FLOATS(RAMP, hard_sigmoid_grad, 1, u >= 0 && u <= 1 ? slope * a[i] : 0)
ROW_PICK(hard_sigmoid_grad, FLOATS)

static eddy_tensor hard_sigmoid_grad(eddy_tensor dy, eddy_tensor x, const void *attrs)
{
    return eddy_apply2(&eddy_op_hard_sigmoid_grad, attrs, dy, x);
}

static void hard_sigmoid_gradient(eddy_rule *r)
{
    r->dx[0] = hard_sigmoid_grad(r->dy[0], r->x[0], r->attrs);
}

static void hard_sigmoid_grad_gradient(eddy_rule *r)
{
    r->dx[0] = hard_sigmoid_grad(r->dy[0], r->x[1], r->attrs);
    r->dx[1] = ZerosLike(r->x[1]);
}

const eddy_op_def eddy_op_hard_sigmoid = {
    .name = "HardSigmoid", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(ramp_attrs), .attrs = ramp_fields,
    .infer = eddy__infer_elementwise, .tile = hard_sigmoid_tile, .gradient = hard_sigmoid_gradient,
};
const eddy_op_def eddy_op_hard_sigmoid_grad = {
    .name = "HardSigmoidGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "dy", EDDY_TAKES_FLOATS }, { "x", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(ramp_attrs), .attrs = ramp_fields,
    .infer = eddy__infer_elementwise, .tile = hard_sigmoid_grad_tile,
    .gradient = hard_sigmoid_grad_gradient,
};

#ifdef EDDY_HEADER
typedef struct eddy_hard_sigmoid_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_hard_sigmoid_args));
    eddy_tensor x;
    double      slope EDDY_DEFAULT(0.2);
} eddy_hard_sigmoid_args;
#endif
/** y = min(max(slope x + 0.5, 0), 1).
 *
 *  x      float32 or float64, any shape; y has its type
 *  slope  Keras has the default; PyTorch has 1 / 6
 *
 *  Gradient: dx = slope dy where 0 <= slope x + 0.5 <= 1, else 0.
 *  TensorFlow: tf.keras.activations.hard_sigmoid. */
eddy_tensor eddy_hard_sigmoid_with(const eddy_hard_sigmoid_args *given)
{
    eddy_hard_sigmoid_args a = EDDY_TAKE(eddy_hard_sigmoid_args, given);
    const ramp_attrs attrs = { a.slope };
    return eddy_apply1(&eddy_op_hard_sigmoid, &attrs, a.x);
}

/** y = x relu6(x + 3) / 6.
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: that of the formula; 0 at -3 and dy / 2 at 3.
 *  TensorFlow: none; PyTorch's hardswish. */
eddy_tensor eddy_hard_swish(eddy_tensor x)
{
    return Mul(x, Mul(1.0 / 6, eddy_relu6(Add(floats("hard_swish", x), 3))));
}

/* ---------------------------------------------------------- with exponentials -- */

/** y = ln(1 / (1 + e^-x)) = -softplus(-x).
 *
 *  x  float32 or float64, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy sigmoid(-x).  TensorFlow: tf.math.log_sigmoid. */
eddy_tensor eddy_log_sigmoid(eddy_tensor x) { return Neg(Softplus(Neg(x))); }

/** y = x sigmoid(x).
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  NaN at -infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: that of the formula.  TensorFlow: tf.nn.swish; PyTorch's silu. */
eddy_tensor eddy_swish(eddy_tensor x) { return Mul(x, Sigmoid(x)); }

/* tanh(ln(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2). */
EDDY_INLINE float mish_f32_of(float x)
{
    const float e = eddy__exp_f32(x > 20.0f ? 20.0f : x), n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
}
EDDY_INLINE double mish_f64_of(double x)
{
    const double e = eddy__exp_f64(x > 40 ? 40 : x), n = e * (e + 2);
    return x * (n / (n + 2));
}

/* t + x (1 - t*t) sigmoid(x) with t = tanh(ln(1 + e^x)) = (1 - s*s) / (1 + s*s), where s =
 * sigmoid(-x), so that 1 - t*t = (2 s / (1 + s*s))^2. Above 0 it is a function of s, below of
 * sigmoid(x) = 1 - s: of the one that is small. The factor x ends where the others are 0. */
static eddy_tensor mish_slope(eddy_tensor x)
{
    const eddy_tensor above = Greater(x, 0), within = Maximum(Minimum(x, 400), -800);
    const eddy_tensor high = Sigmoid(Neg(Where(above, x, 0))), low = Sigmoid(Where(above, 0, x));
    const eddy_tensor s = Where(above, high, Sub(1, low)), sum = Add(1, Square(s));
    const eddy_tensor t = Where(above, Sub(1, Square(high)), Mul(low, Sub(2, low)));
    const eddy_tensor rest = Mul(Where(above, Sub(1, high), low), Square(Div(Mul(2, s), sum)));
    return Add(Div(t, sum), Mul(within, rest));
}

/** y = x tanh(ln(1 + e^x)).
 *
 *  NaN at -infinity.
 *  Gradient: with t = tanh(ln(1 + e^x)), dx = dy (t + x (1 - t*t) sigmoid(x)).
 *  TensorFlow: none; PyTorch's mish. */
UNARY(mish, "Mish", "Mish", FLOATS,
      _Generic((x), float: mish_f32_of((float)x), default: mish_f64_of(x)),
      Mul(dy, mish_slope(x)))

/** y = x / (1 + |x|).
 *
 *  NaN at infinity.
 *  Gradient: dx = dy / (1 + |x|)^2.  TensorFlow: Softsign. */
UNARY(softsign, "Softsign", "Softsign", FLOATS, x / (1 + fabs(x)),
      Div(dy, Square(Add(1, Abs(x)))))

/* ----------------------------------------------------------------- thresholds -- */

/** y = x where x > threshold, else value.
 *
 *  x                 float32, float64, int32, int64 or uint8, any shape; y has its type
 *  threshold, value  must be integers if x is
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT if x is integer and one
 *  of the numbers is not.
 *  Gradient: dx = dy where x > threshold, else 0.  TensorFlow: none; PyTorch's threshold. */
eddy_tensor eddy_threshold(eddy_tensor x, double threshold, double value)
{
    x = whole("threshold", whole("threshold", x, threshold), value);
    return Where(Greater(x, threshold), x, value);
}

typedef struct shrink_attrs {
    double lambda;
} shrink_attrs;

static const eddy_attr_field shrink_fields[] = EDDY_FIELDS(shrink_attrs, lambda);

/* NaN stays NaN. */
#define SHRINK_OF(fn, T, value)                                                 \
    static eddy_status fn(int64_t n, void *y, const void *const *in, const void *attrs) \
    {                                                                           \
        T       *o = y;                                                         \
        const T *all = in[0], l = (T)((const shrink_attrs *)attrs)->lambda;     \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i = 0; i < n; i++) {                                       \
            const T x = all[i];                                                 \
            o[i] = (value);                                                     \
        }                                                                       \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_CLONES(fn)
#define SHRINK(suffix, name, value)                                             \
    SHRINK_OF(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), value)
FOR_FLOATS(SHRINK, soft_shrink, fabs(x) <= l ? 0 : x - (x < 0 ? -l : l))
ROW_PICK(soft_shrink, FLOATS)
static void soft_shrink_gradient(eddy_rule *r)
{
    r->dx[0] = Where(NotEqual(r->y[0], 0), r->dy[0], 0);
}
const eddy_op_def eddy_op_soft_shrink = {
    .name = "SoftShrink", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(shrink_attrs), .attrs = shrink_fields,
    .infer = eddy__infer_elementwise, .tile = soft_shrink_tile, .gradient = soft_shrink_gradient,
};

FOR_FLOATS(SHRINK, hard_shrink, fabs(x) <= l ? 0 : x)
ROW_PICK(hard_shrink, FLOATS)
static void hard_shrink_gradient(eddy_rule *r)
{
    const double lambda = ((const shrink_attrs *)r->attrs)->lambda;
    r->dx[0] = Where(LessEqual(Abs(r->x[0]), lambda), 0, r->dy[0]);
}
const eddy_op_def eddy_op_hard_shrink = {
    .name = "HardShrink", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(shrink_attrs), .attrs = shrink_fields,
    .infer = eddy__infer_elementwise, .tile = hard_shrink_tile, .gradient = hard_shrink_gradient,
};

#ifdef EDDY_HEADER
typedef struct eddy_shrink_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_shrink_args));
    eddy_tensor x;
    double      lambda EDDY_DEFAULT(0.5);
} eddy_shrink_args;
#endif
/** y = x moved toward 0 by lambda, and 0 where |x| <= lambda.
 *
 *  x       float32 or float64, any shape; y has its type
 *  lambda  must be positive
 *
 *  Gradient: dx = dy where |x| > lambda, else 0.  TensorFlow: none; PyTorch's softshrink. */
eddy_tensor eddy_soft_shrink_with(const eddy_shrink_args *given)
{
    eddy_shrink_args a = EDDY_TAKE(eddy_shrink_args, given);
    const shrink_attrs attrs = { a.lambda };
    return eddy_apply1(&eddy_op_soft_shrink, &attrs, a.x);
}

/** y = x where |x| > lambda, else 0.
 *
 *  x       float32 or float64, any shape; y has its type
 *  lambda  must be positive
 *
 *  Gradient: dx = dy where |x| > lambda, else 0.  TensorFlow: none; PyTorch's hardshrink. */
eddy_tensor eddy_hard_shrink_with(const eddy_shrink_args *given)
{
    eddy_shrink_args a = EDDY_TAKE(eddy_shrink_args, given);
    return eddy_apply1(&eddy_op_hard_shrink, &(shrink_attrs){ a.lambda }, a.x);
}

/** y = x - tanh x.
 *
 *  x  float32, float64, complex64 or complex128, any shape; y has its type
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's tanhshrink. */
eddy_tensor eddy_tanh_shrink(eddy_tensor x) { return Sub(x, Tanh(x)); }

/* ------------------------------------------------------------- along an axis -- */

#ifdef EDDY_HEADER
/* Arguments of eddy_crelu and eddy_glu. */
typedef struct eddy_halves_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_halves_args));
    eddy_tensor x;
    eddy_dims   axis;             /* EDDY_AXES(0) is the first; default the last */
} eddy_halves_args;
#endif
/** y = relu(x) and relu(-x), concatenated along an axis.
 *
 *  x     float32, float64, int32, int64 or uint8, rank at least 1; y is twice as long along the
 *        axis
 *  axis  default the last one
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: that of the formula.  TensorFlow: tf.nn.crelu. */
eddy_tensor eddy_crelu_with(const eddy_halves_args *given)
{
    eddy_halves_args a = EDDY_TAKE(eddy_halves_args, given);
    int64_t axis;
    if (!eddy__take_axis(a.x.graph, &eddy_op_concat, a.axis, &axis)) return eddy_none(a.x.graph);
    return Relu(eddy_concat(EDDY_LIST(a.x, Neg(a.x)), axis));
}

/** y = a sigmoid(b), with a and b the halves of x along an axis: the gated linear unit.
 *
 *  x     float32, float64, complex64 or complex128, rank at least 1; y is half as long along the
 *        axis
 *  axis  default the last one
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE if the axis has an odd length;
 *  EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: that of the formula.  TensorFlow: none; PyTorch's glu. */
eddy_tensor eddy_glu_with(const eddy_halves_args *given)
{
    eddy_halves_args a = EDDY_TAKE(eddy_halves_args, given);
    int64_t axis;
    if (!eddy__take_axis(a.x.graph, &eddy_op_split, a.axis, &axis)) return eddy_none(a.x.graph);
    const eddy_tensor halves = eddy_split(a.x, 2, axis);
    return Mul(halves, Sigmoid(eddy_output(halves, 1)));
}
