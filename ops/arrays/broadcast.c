/* broadcast.c -- NumPy broadcasting (broadcast_to, broadcast_like) and its adjoint: the adjoint is
 * a sum to the smaller shape. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <string.h>

/* The dimension of `narrow` that is aligned with dimension i of `wide`, counted from the right. */
static int64_t narrow_dim(eddy_shape narrow, eddy_shape wide, int i)
{
    int at = i - (wide.rank - narrow.rank);
    return at < 0 ? 1 : narrow.dim[at];
}

/* Whether `narrow` broadcasts to exactly `wide`, as far as is known. */
static bool widens(eddy_shape narrow, eddy_shape wide)
{
    if (narrow.rank > wide.rank) return false;
    for (int i = 0; i < wide.rank; i++) {
        int64_t d = narrow_dim(narrow, wide, i), w = wide.dim[i];
        if (d != 1 && d != EDDY_ANY && w != EDDY_ANY && d != w) return false;
    }
    return true;
}

static bool refuse(eddy_infer *c, eddy_shape narrow, eddy_shape wide)
{
    char x[128], y[128];
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s does not broadcast to %s",
                           eddy_shape_print(narrow, x, sizeof x),
                           eddy_shape_print(wide, y, sizeof y));
}

/* out[0] = input 0 broadcast to `wide`, which may be partially known. */
static bool yield_widened(eddy_infer *c, eddy_shape wide)
{
    const eddy_shape x = c->in[0].shape;
    if (x.rank >= 0 && wide.rank >= 0) {
        if (!widens(x, wide)) return refuse(c, x, wide);
        for (int i = 0; i < wide.rank; i++) {
            int64_t d = narrow_dim(x, wide, i);
            if (wide.dim[i] == EDDY_ANY && d != 1) wide.dim[i] = d;
        }
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, wide);
}

static eddy_status broadcast_prepare(eddy_kernel *k)
{
    const eddy_shape narrow = k->in[0]->type.shape, wide = k->out[0]->type.shape;
    int64_t wide_step[EDDY_MAX_RANK], narrow_step[EDDY_MAX_RANK];
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__strides_of(wide, wide_step);
    eddy__strides_of(narrow, narrow_step);
    for (int i = 0; i < wide.rank; i++) {
        const int at = i - (wide.rank - narrow.rank);
        const bool same = at >= 0 && narrow.dim[at] == wide.dim[i];
        eddy__box_add(b, wide.dim[i], wide_step[i], same ? narrow_step[at] : 0);
    }
    return EDDY_OK;
}

static void broadcast_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_sum_like(r->dy[0], r->x[0]);
}

/* ---------------------------------------------------------- broadcast_to -- */

/** y = x broadcast to the shape `shape`.
 *
 *  x      any element type; shapes are aligned at the right, and each dimension
 *         of x is 1 or that of `shape`
 *  shape  fully known
 *
 *  Errors: EDDY_BAD_SHAPE if x does not broadcast to exactly `shape`,
 *  EDDY_INVALID_ARGUMENT if a dimension of `shape` is unknown.
 *  Gradient: dx = dy summed over the broadcast dimensions.  TensorFlow: BroadcastTo. */
typedef struct broadcast_to_attrs {
    eddy_shape shape;
} broadcast_to_attrs;

static bool broadcast_to_infer(eddy_infer *c)
{
    const broadcast_to_attrs *a = c->attrs;
    char text[128];
    if (!eddy_shape_is_valid(a->shape) || !eddy_shape_is_known(a->shape))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the target shape %s is unknown; to broadcast to the shape that a "
                               "tensor has in a run, write broadcast_like(x, tensor)",
                               eddy_shape_print(a->shape, text, sizeof text));
    return yield_widened(c, a->shape);
}

const eddy_op_def eddy_op_broadcast_to = {
    .name = "BroadcastTo", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES | EDDY_OP_ALIAS_IF_EQUAL,
    .attrs_size = sizeof(broadcast_to_attrs), .attrs = EDDY_ATTRS(broadcast_to_attrs, shape),
    .infer = broadcast_to_infer, .prepare = broadcast_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = broadcast_gradient, .batch = eddy__batch_broadcast,
};

eddy_tensor eddy_broadcast_to(eddy_tensor x, eddy_shape shape)
{
    return eddy_apply1(&eddy_op_broadcast_to, &(broadcast_to_attrs){ shape }, x);
}

/* -------------------------------------------------------- broadcast_like -- */

/** y = x broadcast to the shape of `ref`.
 *
 *  x    any element type; broadcasts to exactly the shape of ref
 *  ref  only its shape is used; it is not computed
 *
 *  Errors: EDDY_BAD_SHAPE if x does not broadcast to exactly that shape.
 *  Gradient: dx = dy summed over the broadcast dimensions; `ref` has none.
 *  TensorFlow: BroadcastTo(x, Shape(ref)). */
static bool broadcast_like_infer(eddy_infer *c)
{
    return yield_widened(c, c->in[1].shape);
}

const eddy_op_def eddy_op_broadcast_like = {
    .name = "BroadcastLike", .label = "BroadcastTo", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_MOVES | EDDY_OP_ALIAS_IF_EQUAL, .shape_inputs = 1u << 1,
    .infer = broadcast_like_infer, .prepare = broadcast_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = broadcast_gradient, .batch = eddy__batch_broadcast,
};

eddy_tensor eddy_broadcast_like(eddy_tensor x, eddy_tensor ref)
{
    return eddy_apply2(&eddy_op_broadcast_like, NULL, x, ref);
}

/* -------------------------------------------------------------- sum_like -- */

/** y = x summed down to the shape of `ref`, over the dimensions in which ref broadcasts to x.
 *
 *  x    any numeric type except float16 and bfloat16
 *  ref  its shape broadcasts to that of x; it is not computed
 *
 *  If the shapes are equal, y is x and is not copied.  float32 is summed in float64.
 *  Errors: EDDY_BAD_SHAPE if ref does not broadcast to the shape of x,
 *  EDDY_BAD_DTYPE if x cannot be summed.
 *  Gradient: dx = dy broadcast to the shape of x; `ref` has none.
 *  TensorFlow: Reshape(Sum(x, BroadcastGradientArgs(...))). */
static bool sum_like_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape;
    eddy_shape s = c->in[1].shape;
    if (x.rank >= 0 && s.rank >= 0) {
        if (!widens(s, x)) return refuse(c, s, x);
        for (int i = 0; i < s.rank; i++)
            if (s.dim[i] == EDDY_ANY && x.dim[x.rank - s.rank + i] == 1) s.dim[i] = 1;
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static eddy_reduction sum_like_reduction(const eddy_kernel *k)
{
    const eddy_type  x = k->in[0]->type;
    const eddy_shape y = k->out[0]->type.shape;
    unsigned         mask = 0;
    for (int i = 0; i < x.shape.rank; i++)
        if (narrow_dim(y, x.shape, i) != x.shape.dim[i]) mask |= 1u << i;
    return eddy__reduction_of(eddy__reducer_of(&eddy__fold_sum, x.dtype), x.shape, mask);
}

static bool sum_like_folds(const eddy_kernel *k, eddy_blocks *b)
{
    const eddy_reduction p = sum_like_reduction(k);
    return eddy__reduction_blocks(&p, b);
}

static eddy_status sum_like_prepare(eddy_kernel *k)
{
    eddy_reduction *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    *p = sum_like_reduction(k);
    eddy__reduction_prepare(k, p);
    return EDDY_OK;
}

static eddy_status sum_like_kernel(eddy_kernel *k)
{
    eddy__reduction_kernel(k, k->state, k->out[0]->data, k->in[0]->data);
    return EDDY_OK;
}

static void sum_like_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_broadcast_like(r->dy[0], r->x[0]);
}

/* First sums over the dimensions that ref lacks, which aligns the batch axis with its axes. */
static void sum_like_batch(eddy_batch *b)
{
    const int rank = eddy__batch_rank(b, 0), ref = eddy__batch_rank(b, 1);
    eddy_dims more = { .count = rank - ref };
    if (rank < 0 || ref < 0) return;
    for (int i = 0; i < more.count; i++) more.at[i] = i + 1;
    b->y[0] = eddy_sum_like(more.count > 0 ? Sum(b->x[0], more) : b->x[0],
                            eddy__batch_result_like(b));
}

const eddy_op_def eddy_op_sum_like = {
    .name = "SumLike", .label = "Sum", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX }, { "like", EDDY_ANY_TYPE }),
    .flags = EDDY_OP_ALIAS_IF_EQUAL, .shape_inputs = 1u << 1,
    .flops = eddy_flops_per_input,
    .infer = sum_like_infer, .prepare = sum_like_prepare, .folds = sum_like_folds,
    .kernel = sum_like_kernel,
    .gradient = sum_like_gradient, .batch = sum_like_batch,
};

eddy_tensor eddy_sum_like(eddy_tensor x, eddy_tensor ref)
{
    return eddy_apply2(&eddy_op_sum_like, NULL, x, ref);
}
