/* huber.c -- Huber's function of a difference: the half of its square near 0, linear beyond. */
#include "ops/math/huber.h"
#include "ops/math/elementwise_rows.h"

typedef struct huber_attrs {
    double delta, factor;
} huber_attrs;

/* In an order that avoids m^2. */
#define HUBER_OF(fn, T)                                                         \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        const huber_attrs *h = attrs;                                           \
        T       *o = y;                                                         \
        const T *a = x[0], *b = x[1], delta = (T)h->delta, factor = (T)h->factor; \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i = 0; i < n; i++) {                                       \
            const T e = a[i] - b[i], size = (T)fabs(e);                         \
            const T near = size < delta ? size : delta;                         \
            o[i] = factor * near * (size - (T)0.5 * near);                      \
        }                                                                       \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_CLONES(fn)
#define HUBER(suffix, name) HUBER_OF(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix))
FOR_FLOATS(HUBER, huber)
ROW_PICK(huber, FLOATS)

/* The second derivative is `factor` also at e = 0, where |e| has none. */
static void huber_gradient(eddy_rule *r)
{
    const huber_attrs *h = r->attrs;
    const eddy_tensor near = Maximum(Minimum(Sub(r->x[0], r->x[1]), h->delta), -h->delta);
    r->dx[0] = Mul(r->dy[0], Mul(h->factor, near));
    r->dx[1] = Neg(r->dx[0]);
}
const eddy_op_def eddy_op_huber = {
    .name = "Huber", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS }, { "b", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(huber_attrs),
    .attrs = EDDY_ATTRS(huber_attrs, delta, factor),
    .infer = eddy__infer_elementwise, .tile = huber_tile, .gradient = huber_gradient,
};

eddy_tensor eddy__huber(eddy_tensor a, eddy_tensor b, double delta, double factor)
{
    return eddy_apply2(&eddy_op_huber, &(huber_attrs){ delta, factor }, a, b);
}
