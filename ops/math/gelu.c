/* gelu.c -- GELU, the Gaussian error linear unit: the exact form and the tanh approximation.
 *
 * Each form is a row, and so is its gradient; the gradient of the gradient is composed of
 * ordinary operations. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/math/elementwise_rows.h"
#include "ops/math/within.h"

#define NORMAL_DENSITY 0.39894228040143268       /* at 0 */

/* ---------------------------------------------------------------- exact -- */

static eddy_tensor gelu_curve(eddy_tensor x)
{
    return Mul(Sub(2, Square(x)), Mul(NORMAL_DENSITY, Exp(Mul(-0.5, Square(x)))));
}

/** dx = a times the derivative of gelu at b: the gradient of gelu, given the gradient a of its
 *  result and its argument b.
 *
 *  a, b  float32 or float64, of the same type, shapes that broadcast
 *
 *  The derivative is P(b) + b p(b), with P the standard normal distribution function and p its
 *  density.
 *  Gradient: da = dy (P(b) + b p(b)), db = dy a (2 - b*b) p(b).
 *  TensorFlow: none; GeluGrad of TensorFlow Addons. */
BINARY(gelu_grad, "GeluGrad", "GeluGrad", FLOATS, 0,
       a * EDDY_REAL_MATH(gelu_slope, b),
       eddy_gelu_grad(dy, b),
       Mul(Mul(dy, a), gelu_curve(eddy__within(b, 40))))

DECLARE_FLOATS(TILE_UNARY, gelu, EDDY_REAL_MATH(gelu, x))
ROW_PICK(gelu, FLOATS)
static void gelu_gradient(eddy_rule *r) { r->dx[0] = eddy_gelu_grad(r->dy[0], r->x[0]); }
ROW_DEF(gelu, "Gelu", "Gelu", 1, ROW_INPUTS_1(FLOATS),
        gelu_gradient, eddy__infer_elementwise, 0)

/* ------------------------------------------- tanh approximation -- */

/* The second derivative: with s = sigmoid(u), s' = s (1 - s), it is s' (2 u' + x ((1 - 2 s) u'*u'
 * + u'')).  1 - s is written sigmoid(-u), which loses no digits. */
static eddy_tensor gelu_tanh_curve(eddy_tensor x)
{
    const eddy_tensor z = Square(x);
    const eddy_tensor u = Mul(x, Add(EDDY_GELU_LINEAR, Mul(EDDY_GELU_CUBIC, z)));
    const eddy_tensor u1 = Add(EDDY_GELU_LINEAR, Mul(3 * EDDY_GELU_CUBIC, z));
    const eddy_tensor u2 = Mul(6 * EDDY_GELU_CUBIC, x), s = Sigmoid(u), less = Sigmoid(Neg(u));
    const eddy_tensor bend = Add(Mul(Sub(less, s), Square(u1)), u2);
    return Mul(Mul(s, less), Add(Mul(2, u1), Mul(x, bend)));
}

/** dx = a times the derivative at b of gelu's tanh approximation: its gradient, given the
 *  gradient a of its result and its argument b.
 *
 *  a, b  float32 or float64, of the same type, shapes that broadcast
 *
 *  Gradient: da = dy times the derivative, db = dy a times the second derivative.
 *  TensorFlow: none; GeluGrad of TensorFlow Addons. */
BINARY(gelu_tanh_grad, "GeluTanhGrad", "GeluTanhGrad", FLOATS, 0,
       a * EDDY_REAL_MATH(gelu_tanh_slope, b),
       eddy_gelu_tanh_grad(dy, b), Mul(Mul(dy, a), gelu_tanh_curve(eddy__within(b, 30))))

DECLARE_FLOATS(TILE_UNARY, gelu_tanh, EDDY_REAL_MATH(gelu_tanh, x))
ROW_PICK(gelu_tanh, FLOATS)
static void gelu_tanh_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_gelu_tanh_grad(r->dy[0], r->x[0]);
}
ROW_DEF(gelu_tanh, "GeluTanh", "GeluTanh", 1, ROW_INPUTS_1(FLOATS),
        gelu_tanh_gradient, eddy__infer_elementwise, 0)

#ifdef EDDY_HEADER
typedef struct eddy_gelu_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_gelu_args));
    eddy_tensor x;
    bool        approximate;
    const char *name;
} eddy_gelu_args;
#endif

/** y = x P(x), with P the standard normal distribution function: the Gaussian error linear unit.
 *
 *  x            float32 or float64, any shape; y has its type
 *  approximate  y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) instead
 *
 *  Accurate where y is small.  NaN at -infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: dx = dy (P(x) + x p(x)), with p the density.
 *  TensorFlow: tf.nn.gelu. */
eddy_tensor eddy_gelu_with(const eddy_gelu_args *given)
{
    eddy_gelu_args a = EDDY_TAKE(eddy_gelu_args, given);
    const eddy_op_def *op = a.approximate ? &eddy_op_gelu_tanh : &eddy_op_gelu;
    return eddy__apply_named(a.name, op, NULL, 1, &a.x);
}
