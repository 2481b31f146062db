/* incomplete_gamma.c -- incomplete gamma and beta functions, elementwise; computed in double
 * precision. The sums of incomplete gamma functions, whose numbers of terms vary, are computed
 * element by element, and their common factor in vectors. */
#include "ops/math/times_log.h"
#include "graph/call_options.h"
#include "ops/math/elementwise_rows.h"
#include "ops/kernels/special/special_beta.h"
#include "ops/kernels/special/special_igamma.h"

#include <inttypes.h>

/* ------------------------------------------------------- incomplete gamma -- */

EDDY_INLINE void factors_all(int64_t n, double *restrict f, const double *restrict a,
                             const double *restrict x)
{
    for (int64_t i = 0; i < n; i++) f[i] = eddy__igamma_usual_factor(a[i], x[i]);
}
EDDY_CLONES_OF(factors, (int64_t n, double *restrict f, const double *restrict a,
                         const double *restrict x), (n, f, a, x))

#define IGAMMA_OF(fn, T, upper)                                                 \
    static eddy_status fn(int64_t n, void *y, const void *const *in, const void *attrs) \
    {                                                                           \
        enum { MOST = 64 };                                                     \
        T       *o = y;                                                         \
        const T *of = in[0], *to = in[1];                                       \
        double   a[MOST], x[MOST], f[MOST];                                     \
        (void)attrs;                                                            \
        for (int64_t at = 0; at < n; at += MOST) {                              \
            const int64_t m = n - at < MOST ? n - at : MOST;                    \
            for (int64_t i = 0; i < m; i++) a[i] = of[at + i], x[i] = to[at + i]; \
            EDDY_BEST_OF(factors)(m, f, a, x);                                  \
            for (int64_t i = 0; i < m; i++)                                     \
                o[at + i] = (T)eddy__igamma_to(a[i], x[i], upper, sizeof(T), f[i]); \
        }                                                                       \
        return EDDY_OK;                                                         \
    }
#define IGAMMA(suffix, name, upper) \
    IGAMMA_OF(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), upper)
FOR_FLOATS(IGAMMA, igamma, false)
FOR_FLOATS(IGAMMA, igammac, true)

/* The derivative of P(a, x) with respect to x; in float64, because its logarithm is a small
 * difference of large numbers. At x = 0, where that has no derivatives, x^(a-1) is a factor. */
static eddy_tensor gamma_density(eddy_tensor of, eddy_tensor at)
{
    const eddy_tensor a = Cast(of, EDDY_FLOAT64), x = Cast(at, EDDY_FLOAT64), less = Sub(a, 1);
    const eddy_tensor apart = LogicalAnd(Equal(x, 0), NotEqual(a, 1));
    const eddy_tensor logs = Sub(Sub(eddy__times_log(less, Where(apart, 1, x)), x), eddy_lgamma(a));
    return CastLike(Mul(Exp(logs), Pow(Where(apart, x, 1), less)), of);
}

/** y = P(a, x), the integral of t^(a-1) e^-t for t from 0 to x, divided by gamma(a).
 *
 *  a, x  float32 or float64, of the same type, shapes that broadcast; y has their type
 *
 *  NaN unless a > 0 and x >= 0.
 *  Gradient: da = dy igamma_grad_a(a, x), dx = dy x^(a-1) e^-x / gamma(a).
 *  TensorFlow: Igamma. */
BINARY_OF(igamma, "Igamma", "Igamma", SCALAR_FLOATS, 0, NULL,
          Mul(dy, eddy_igamma_grad_a(a, b)), Mul(dy, gamma_density(a, b)))

/** y = Q(a, x) = 1 - P(a, x), the same integral from x to infinity.
 *
 *  a, x  float32 or float64, of the same type, shapes that broadcast; y has their type
 *
 *  Accurate to rounding even where it is small.  NaN unless a > 0 and x >= 0.
 *  Gradient: that of igamma with the opposite sign.  TensorFlow: Igammac. */
BINARY_OF(igammac, "Igammac", "Igammac", SCALAR_FLOATS, 0, NULL,
          Neg(Mul(dy, eddy_igamma_grad_a(a, b))), Neg(Mul(dy, gamma_density(a, b))))

#ifdef EDDY_HEADER
typedef struct eddy_igamma_grad_a_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_igamma_grad_a_args));
    eddy_tensor a, x;
    int64_t     order EDDY_DEFAULT(1);
} eddy_igamma_grad_a_args;
#endif

typedef struct grad_a_attrs {
    int64_t order;
} grad_a_attrs;

#define GRAD_A_ORDER ((int)((const grad_a_attrs *)attrs)->order)
DECLARE_SCALAR_FLOATS(TILE_BINARY, grad_a, eddy__igamma_grad_of(GRAD_A_ORDER, a, b))
ROW_PICK(grad_a, SCALAR_FLOATS)

static bool grad_a_infer(eddy_infer *c)
{
    const grad_a_attrs *a = c->attrs;
    if (a->order < 1 || a->order > 3)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "order is %" PRId64 "; expected 1, 2 or 3",
                               a->order);
    return eddy__infer_elementwise(c);
}

/* With respect to x, it is the derivative of the density with respect to a. With l, l2, l3 the
 * derivatives of the logarithm of the density, the first three are the density times l, l^2 + l2,
 * l^3 + 3 l l2 + l3. Where a > 1, the density is 0 at x = 0, and no logarithm is infinite. */
static void grad_a_gradient(eddy_rule *r)
{
    const int64_t order = ((const grad_a_attrs *)r->attrs)->order;
    const eddy_tensor a = r->x[0], x = r->x[1], dy = r->dy[0];
    const eddy_tensor apart = LogicalAnd(Equal(x, 0), Greater(a, 1));
    const eddy_tensor l = Sub(Log(Where(apart, 1, x)), eddy_digamma(a));
    const eddy_tensor l2 = Neg(eddy_polygamma(NumberLike(1, a), a));
    const eddy_tensor l3 = Neg(eddy_polygamma(NumberLike(2, a), a));
    const eddy_tensor factor = order == 1 ? l : order == 2 ? Add(Square(l), l2)
                             : Add(Mul(l, Add(Square(l), Mul(3, l2))), l3);
    if (order == 3)
        eddy_rule_fail(r, EDDY_NO_GRADIENT,
                       "the fourth derivative of igamma with respect to a is not implemented");
    else r->dx[0] = Mul(dy, eddy_igamma_grad_a(a, x, .order = order + 1));
    r->dx[1] = Mul(dy, Mul(gamma_density(a, x), factor));
}

const eddy_op_def eddy_op_igamma_grad_a = {
    .name = "IgammaGradA", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS }, { "x", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(grad_a_attrs),
    .attrs = EDDY_ATTRS(grad_a_attrs, order),
    .infer = grad_a_infer, .tile = grad_a_tile, .gradient = grad_a_gradient,
};

/** y = the derivative of P(a, x) = igamma(a, x) with respect to a.
 *
 *  a, x   float32 or float64, of the same type, shapes that broadcast; y has their type
 *  order  the order of the derivative: 1, 2 or 3
 *
 *  NaN unless a > 0 and x >= 0, and for a above 1e8, where the series would be too long.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not broadcast; EDDY_INVALID_ARGUMENT for any other
 *  order; EDDY_NO_GRADIENT for the gradient of order 3.
 *  Gradient: da = dy times the derivative of the next order, dx = dy times the derivative of the
 *  density with respect to a.  TensorFlow: IgammaGradA. */
eddy_tensor eddy_igamma_grad_a_with(const eddy_igamma_grad_a_args *given)
{
    eddy_igamma_grad_a_args a = EDDY_TAKE(eddy_igamma_grad_a_args, given);
    const grad_a_attrs attrs = { a.order };
    return eddy_apply2(&eddy_op_igamma_grad_a, &attrs, a.a, a.x);
}

/* -------------------------------------------------------- incomplete beta -- */

#define BETAINC_OF(fn, T)                                                       \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        T       *o = y;                                                         \
        const T *a = x[0], *b = x[1], *at = x[2];                               \
        (void)attrs;                                                            \
        for (int64_t i = 0; i < n; i++) o[i] = (T)eddy__betainc_of(a[i], b[i], at[i]); \
        return EDDY_OK;                                                         \
    }
#define BETAINC(suffix, name) BETAINC_OF(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix))
FOR_FLOATS(BETAINC, betainc)
ROW_PICK(betainc, SCALAR_FLOATS)

/* In float64, because the logarithm is a small difference of large numbers. */
static void betainc_gradient(eddy_rule *r)
{
    const eddy_tensor a = Cast(r->x[0], EDDY_FLOAT64), b = Cast(r->x[1], EDDY_FLOAT64);
    const eddy_tensor x = Cast(r->x[2], EDDY_FLOAT64);
    const eddy_tensor beta = Sub(Add(eddy_lgamma(a), eddy_lgamma(b)), eddy_lgamma(Add(a, b)));
    const eddy_tensor power = Add(eddy__times_log(Sub(a, 1), x),
                                  eddy__times_log(Sub(b, 1), Sub(1, x)));
    r->dx[2] = Mul(r->dy[0], CastLike(Exp(Sub(power, beta)), r->x[2]));
}

ROW_DEF(betainc, "Betainc", "Betainc", 3,
        EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS }, { "b", EDDY_LIKE(0) }, { "x", EDDY_LIKE(0) }),
        betainc_gradient, eddy__infer_elementwise, 0)

/** y = the integral of t^(a-1) (1-t)^(b-1) for t from 0 to x, divided by the integral from 0 to
 *  1.
 *
 *  a, b, x  float32 or float64, of the same type, shapes that broadcast; y has their type
 *
 *  NaN unless a > 0, b > 0 and 0 <= x <= 1.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the shapes
 *  do not broadcast.
 *  Gradient: dx = dy x^(a-1) (1-x)^(b-1) / B(a, b), none for a and b.
 *  TensorFlow: Betainc. */
eddy_tensor eddy_betainc(eddy_tensor a, eddy_tensor b, eddy_tensor x)
{
    const eddy_tensor in[] = { a, b, x };
    return eddy_apply(&eddy_op_betainc, NULL, 3, in, (eddy_apply_args){ 0 });
}
