/* gamma.c -- lgamma, digamma, polygamma, zeta, elementwise; computed in double precision. */
#include "graph/call_options.h"
#include "ops/math/elementwise_rows.h"
#include "ops/kernels/special/special_gamma.h"

/* Loops that call the C library. */
#define EACH(suffix, TILE, name, value)                                         \
    __attribute__((noinline)) ROW_PLAIN(suffix, TILE, name, value)

/* Left of -1/2, the reflection takes longer, so that there is a loop without it. In float64, where
 * zeros lie close to poles there, values are those of the C library. */
FOR_FLOATS(ROW_PLAIN, TILE_UNARY, lgamma_right, eddy__lgamma_right_f64((double)x))
ROW_PLAIN(f32, TILE_UNARY, lgamma_any, eddy__lgamma_f64((double)x))
EACH(f64, TILE_UNARY, lgamma_any, x <= -0.5 ? eddy__ln_gamma(x) : eddy__lgamma_right_f64(x))

#define LGAMMA(suffix, name)                                                    \
    static eddy_status name##_##suffix(int64_t n, void *y, const void *const *x, \
                                       const void *attrs)                       \
    {                                                                           \
        const EDDY_COLUMN(ELEMENT, suffix) *at = x[0];                          \
        int64_t left = 0;                                                       \
        for (int64_t i = 0; i < n; i++) left += at[i] <= -0.5f;                 \
        return left > 0 ? name##_any_##suffix(n, y, x, attrs)                   \
                        : name##_right_##suffix(n, y, x, attrs);                \
    }                                                                           \
    EDDY_CLONES(name##_##suffix)
FOR_FLOATS(LGAMMA, lgamma)

/** y = ln |gamma(x)|.
 *
 *  Infinity at 0, -1, -2, ... and at the infinities.
 *  Gradient: dx = dy digamma(x).  TensorFlow: Lgamma. */
UNARY_OF(lgamma, "Lgamma", "Lgamma", FLOATS, 0, Mul(dy, eddy_digamma(x)))

/** y = digamma(x), the derivative of ln |gamma(x)|.
 *
 *  NaN at -1, -2, ...; -infinity at 0 and infinity at -0.
 *  Gradient: dx = dy polygamma(1, x).  TensorFlow: Digamma. */
UNARY(digamma, "Digamma", "Digamma", FLOATS, eddy__digamma_f64((double)x),
      Mul(dy, eddy_polygamma(NumberLike(1, x), x)))

FOR_FLOATS(ROW_PLAIN, TILE_UNARY, trigamma, eddy__trigamma_f64((double)x))
FOR_FLOATS(EACH, TILE_BINARY, polygamma_any, eddy__polygamma_of(a, b))

/* If all orders are 1, as usual, a loop that becomes vectors. */
#define POLYGAMMA(suffix, name)                                                 \
    static eddy_status name##_##suffix(int64_t n, void *y, const void *const *x, \
                                       const void *attrs)                       \
    {                                                                           \
        const EDDY_COLUMN(ELEMENT, suffix) *order = x[0];                       \
        int64_t ones = 0;                                                       \
        for (int64_t i = 0; i < n; i++) ones += order[i] == 1;                  \
        return ones == n ? trigamma_##suffix(n, y, x + 1, attrs)                \
                         : name##_any_##suffix(n, y, x, attrs);                 \
    }                                                                           \
    EDDY_CLONES(name##_##suffix)
FOR_FLOATS(POLYGAMMA, polygamma)
ROW_PICK(polygamma, FLOATS)
static void polygamma_gradient(eddy_rule *r)
{
    r->dx[1] = Mul(r->dy[0], eddy_polygamma(Add(r->x[0], 1), r->x[1]));
}
ROW_DEF(polygamma, "Polygamma", "Polygamma", 2,
        EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS }, { "x", EDDY_LIKE(0) }),
        polygamma_gradient, eddy__infer_elementwise, 0)

/** y = the n-th derivative of digamma at x.
 *
 *  n, x  float32 or float64, of the same type, shapes that broadcast; y has their type
 *
 *  NaN unless n is a non-negative integer.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: dx = dy polygamma(n + 1, x), none for n.  TensorFlow: Polygamma. */
eddy_tensor eddy_polygamma(eddy_tensor n, eddy_tensor x)
{
    return eddy_apply2(&eddy_op_polygamma, NULL, n, x);
}

DECLARE_SCALAR_FLOATS(TILE_BINARY, zeta, eddy__zeta_of(a, b))
ROW_PICK(zeta, SCALAR_FLOATS)
static void zeta_gradient(eddy_rule *r)
{
    const eddy_tensor s = r->x[0], q = r->x[1];
    r->dx[1] = Mul(r->dy[0], Mul(Neg(s), eddy_zeta(Add(s, 1), q)));
}
ROW_DEF(zeta, "Zeta", "Zeta", 2, EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "q", EDDY_LIKE(0) }),
        zeta_gradient, eddy__infer_elementwise, 0)

/** y = the Hurwitz zeta function, the sum of (q + k)^-s for k = 0, 1, 2, ...
 *
 *  s, q  float32 or float64, of the same type, shapes that broadcast; y has their type
 *
 *  Infinity for s = 1, NaN for s < 1.  Where q is 0 or a negative integer: infinity, or NaN if s
 *  is odd.  NaN where q is negative and s is not an integer.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: dq = -dy s zeta(s + 1, q), none for s.  TensorFlow: Zeta. */
eddy_tensor eddy_zeta(eddy_tensor s, eddy_tensor q)
{
    return eddy_apply2(&eddy_op_zeta, NULL, s, q);
}

/** y = ln |B(x)|, the sum of ln gamma(x) along the last axis minus ln gamma of the sum of x.
 *
 *  x  float32 or float64, rank at least 1, positive; y has the shape of x without the last axis
 *
 *  For two numbers, it is the logarithm of the beta function.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for a scalar.
 *  Gradient: that of the formula.  TensorFlow: tf.math.lbeta. */
eddy_tensor eddy_lbeta(eddy_tensor x)
{
    const eddy_tensor each = eddy_sum(eddy_lgamma(x), .axes = EDDY_AXES(-1));
    return Sub(each, eddy_lgamma(eddy_sum(x, .axes = EDDY_AXES(-1))));
}
