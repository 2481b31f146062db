/* reduce_prod.c -- the product reduction. */
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

/* For each element, the product of the others along the axis: the elements before it times those
 * after it, which is exact even if some are 0. */
static eddy_tensor product_of_others(eddy_tensor x, int64_t axis)
{
    return Mul(eddy_cumprod(x, .axis = axis, .exclusive = true),
               eddy_cumprod(x, .axis = axis, .exclusive = true, .reverse = true));
}

/* A product over several axes is computed over one axis after the other, and so is its gradient. */
static void prod_gradient(eddy_rule *r)
{
    const eddy_tensor x = Conj(r->x[0]), dy = r->dy[0];
    eddy_dims axes = ((const eddy_reduce_attrs *)r->attrs)->axes;
    const int rank = eddy_shape_of(x).rank;
    if (axes.count == 0 && rank < 0) {
        const eddy_tensor flat = eddy_reshape(x, EDDY_SHAPE(EDDY_ANY));
        r->dx[0] = eddy_reshape_like(Mul(dy, product_of_others(flat, 0)), x);
        return;
    }
    if (axes.count == 0)
        while (axes.count < rank) {
            axes.at[axes.count] = axes.count;
            axes.count++;
        }
    eddy_tensor part = x, dx = eddy__reduce_spread(r, dy);
    for (int i = 0; i < axes.count; i++) {
        dx = Mul(dx, product_of_others(part, axes.at[i]));
        part = eddy_prod(part, .axes = EDDY_AXES(axes.at[i]), .keepdims = true);
    }
    r->dx[0] = dx;
}

const eddy_op_def eddy_op_prod = REDUCTION("Prod", &eddy__fold_prod, EDDY_TAKES_NUMBERS_COMPLEX,
                                           prod_gradient, eddy__reduce_folds);

/** y = the product of x over `axes`.
 *
 *  x         any numeric type except float16 and bfloat16, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  The product over no elements is 1.  float32 is multiplied in float64 and rounded once;
 *  integers wrap around.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid or
 *  repeated axis.
 *  Gradient: dx = dy times the product of the other elements, exact also where elements are 0,
 *  and differentiable again.  TensorFlow: Prod (tf.reduce_prod). */
eddy_tensor eddy_prod_with(const eddy_reduce_args *given)
{
    return eddy__reduce_apply(&eddy_op_prod, given);
}
