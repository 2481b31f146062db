/* segment_gradients.c -- the gradients of segment reductions, with sorted and unsorted ids. A row
 * whose id is negative belongs to no segment, gathers zeros, and is excluded from sums; sorted ids
 * are never negative. */
#include "ops/reduce/segment.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"

eddy_tensor eddy__segment_apply(const eddy_op_def *op, eddy_tensor x, eddy_tensor ids,
                                eddy_tensor number)
{
    return eddy_apply(op, NULL, 3, (eddy_tensor[]){ x, ids, number },
                      (eddy_apply_args){ .name = NULL });
}

eddy_tensor eddy__segment_gathered(const eddy_rule *r, eddy_tensor t)
{
    return eddy_gather(t, r->x[1], .skip_negative = true);
}

/* The sums of t, which has the shape of x, over the segments. */
static eddy_tensor summed(const eddy_rule *r, eddy_tensor t)
{
    return eddy_gather_grad(t, r->x[1], r->y[0], .skip_negative = true);
}

/* For an unknown rank, the only way is to repeat t for each element of a row and to transpose. */
eddy_tensor eddy__segment_by_row(eddy_tensor t, eddy_tensor x)
{
    const int rank = eddy_shape_of(x).rank;
    if (rank >= 0) return eddy__batch_widen(t, 1, rank - 1);
    const eddy_tensor row = eddy_reshape(eddy_example(x), EDDY_SHAPE(EDDY_ANY));
    return eddy_unflatten_like(eddy_transpose(eddy_batch_like(t, row)), x, 1, 1);
}

void eddy__segment_sum_gradient(eddy_rule *r) { r->dx[0] = eddy__segment_gathered(r, r->dy[0]); }

/* dx = dy / n where x equals y, and 0 elsewhere, for n elements of the segment that equal y. */
void eddy__segment_extreme_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    const eddy_tensor is_y = eddy_equal(x, eddy__segment_gathered(r, y));
    const eddy_tensor n = summed(r, CastLike(is_y, dy));
    r->dx[0] =
        Where(is_y, DivNoNan(eddy__segment_gathered(r, dy), eddy__segment_gathered(r, n)), 0);
}

/* The same reduction of t, which has the shape of x. */
static eddy_tensor segments(const eddy_rule *r, eddy_tensor t)
{
    return eddy__segment_apply(r->node->op, t, r->x[1], r->x[2]);
}

/* For each element, the product of the others in its segment, depending on how many are 0: y / x
 * for a nonzero element; otherwise the product of the nonzero elements, times the other 0 if
 * there is one, written so that it has a derivative; and 0 if there are more. */
static eddy_tensor product_of_others(const eddy_rule *r)
{
    const eddy_tensor x = r->x[0], is_zero = Equal(x, 0);
    const eddy_tensor factor = Where(is_zero, 1, x), zero = Where(is_zero, x, 0);
    const eddy_tensor rest = eddy__segment_gathered(r, segments(r, factor));
    const eddy_tensor zeros = eddy__segment_gathered(r, summed(r, Cast(is_zero, EDDY_INT32)));
    const eddy_tensor other =
        Where(Equal(zeros, 2), Sub(eddy__segment_gathered(r, summed(r, zero)), zero), 0);
    const eddy_tensor of_zero = Where(Equal(zeros, 1), rest, Mul(rest, other));
    return Where(is_zero, of_zero, Div(eddy__segment_gathered(r, r->y[0]), factor));
}

void eddy__segment_prod_gradient(eddy_rule *r)
{
    r->dx[0] = Mul(eddy__segment_gathered(r, r->dy[0]), Conj(product_of_others(r)));
}

