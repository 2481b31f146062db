/* reduce_adjoint.c -- the adjoint of reduce_sum: values repeated along axes (broadcast_along). */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/reduce/reductions.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

static bool refuse(eddy_infer *c)
{
    const eddy_reduce_attrs *a = c->attrs;
    char x[128], ref[128];
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s is not %s reduced along the axes%s",
                           eddy_shape_print(c->in[0].shape, x, sizeof x),
                           eddy_shape_print(c->in[1].shape, ref, sizeof ref),
                           a->keep_dims ? ", dimensions kept" : "");
}

static bool spread_infer(eddy_infer *c)
{
    const eddy_reduce_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape;
    eddy_shape y = c->in[1].shape;
    unsigned mask;
    if (!eddy__infer_axes(c, a->axes, y.rank, &mask)) return false;
    int at = 0;
    for (int i = 0; i < y.rank && x.rank >= 0; i++) {
        const bool folded = mask >> i & 1;
        if (folded && !a->keep_dims) continue;
        if (at == x.rank) return refuse(c);
        int64_t one = 1;
        if (!eddy__dim_unify(folded ? &one : &y.dim[i], x.dim[at++])) return refuse(c);
    }
    if (y.rank >= 0 && x.rank >= 0 && at != x.rank) return refuse(c);
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status spread_prepare(eddy_kernel *k)
{
    const eddy_reduce_attrs *a = k->attrs;
    const eddy_shape y = k->out[0]->type.shape;
    const unsigned mask = eddy__axes_mask(a->axes, y.rank);
    int64_t to[EDDY_MAX_RANK], from[EDDY_MAX_RANK], step = 1;
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__strides_of(y, to);
    for (int i = y.rank - 1; i >= 0; i--) {
        const bool folded = mask >> i & 1;
        from[i] = folded ? 0 : step;
        if (!folded) step *= y.dim[i];
    }
    for (int i = 0; i < y.rank; i++) eddy__box_add(b, y.dim[i], to[i], from[i]);
    return EDDY_OK;
}

static void spread_gradient(eddy_rule *r)
{
    const eddy_reduce_attrs *a = r->attrs;
    r->dx[0] = eddy_sum(r->dy[0], .axes = a->axes, .keepdims = a->keep_dims);
}

static void spread_batch(eddy_batch *b)
{
    eddy_reduce_attrs a = *(const eddy_reduce_attrs *)b->attrs;
    if (eddy__batch_axes(b, 1, &a.axes)) eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_broadcast_along = {
    .name = "BroadcastAlong", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ALIAS_IF_EQUAL, .shape_inputs = 1u << 1,
    .attrs_size = sizeof(eddy_reduce_attrs),
    .attrs = EDDY_ATTRS(eddy_reduce_attrs, axes, keep_dims),
    .infer = spread_infer, .prepare = spread_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = spread_gradient, .batch = spread_batch,
};

/** y = x repeated along `axes` to the shape of `ref`; the adjoint of eddy_sum.
 *
 *  x         any element type, the shape that a reduction of ref over `axes` with `keepdims`
 *            returns
 *  ref       only its shape is used; it is not computed
 *  axes      of ref, each in [-rank, rank), without repetition; count 0: all; EDDY_NO_DIMS: none
 *  keepdims  x has the axes, with size 1
 *
 *  Errors: EDDY_BAD_SHAPE if x has any other shape; EDDY_INVALID_ARGUMENT for an invalid or
 *  repeated axis.
 *  Gradient: dx = dy summed over the axes; `ref` has none.
 *  TensorFlow: the reshaping and Tile in the gradients of reductions. */
eddy_tensor eddy_broadcast_along(eddy_tensor x, eddy_tensor ref, eddy_dims axes, bool keepdims)
{
    return eddy_apply2(&eddy_op_broadcast_along, &(eddy_reduce_attrs){ axes, keepdims }, x, ref);
}
