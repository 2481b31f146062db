/* slice_at.c -- slices and zero padding at a position that is a tensor, for boxes whose shape is
 * that of another tensor. The two operations are each other's gradients. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/arrays/computed_sizes.h"
#include "ops/kernels/arrays/index_checks.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <stdio.h>
#include <string.h>

/* y has the shape of input 2. `part` and `whole` are the inputs whose shapes those of the box and
 * around it are. */
static bool infer_box(eddy_infer *c, int part, int whole)
{
    const eddy_shape p = c->in[part].shape, w = c->in[whole].shape, begin = c->in[1].shape;
    const int        rank = p.rank >= 0 ? p.rank : w.rank;
    char             a[128], b[128];
    bool             fits = p.rank < 0 || w.rank < 0 || p.rank == w.rank;
    for (int i = 0; fits && i < p.rank && i < w.rank; i++)
        fits = p.dim[i] == EDDY_ANY || w.dim[i] == EDDY_ANY || p.dim[i] <= w.dim[i];
    if (!fits)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a box of shape %s does not fit in %s",
                               eddy_shape_print(p, a, sizeof a), eddy_shape_print(w, b, sizeof b));
    if (rank >= 0 && !eddy_shape_compatible(begin, EDDY_SHAPE(rank)))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "begin has the shape %s; [%d] expected",
                               eddy_shape_print(begin, a, sizeof a), rank);
    return eddy__infer_yield(c, 0, c->in[0].dtype,
                             c->in[2].shape.rank < 0 ? eddy__shape_open(rank) : c->in[2].shape);
}

/* *at = the offset of the box in the whole. */
static eddy_status place(eddy_kernel *k, eddy_shape part, eddy_shape whole, int64_t *at)
{
    int64_t step[EDDY_MAX_RANK];
    eddy__strides_of(whole, step);
    *at = 0;
    for (int i = 0; i < whole.rank; i++) {
        const int64_t begin = eddy__index_at(k->in[1], i);
        if (begin < 0 || begin > whole.dim[i] - part.dim[i])
            return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE,
                                    "begin[%d] = %lld is not in [0, %lld]: the box has %lld of "
                                    "%lld elements there",
                                    i, (long long)begin, (long long)(whole.dim[i] - part.dim[i]),
                                    (long long)part.dim[i], (long long)whole.dim[i]);
        *at += step[i] * begin;
    }
    return EDDY_OK;
}

/* The sizes of one example. */
static eddy_tensor sizes_of(eddy_tensor x)
{
    return eddy_slice(eddy_shape_tensor(x, EDDY_INT64), EDDY_DIMS(1), EDDY_DIMS(-1));
}

/* begin, [examples, rank], as int64; a run fails if a box of `part` at one is not inside
 * `whole`. */
static eddy_tensor checked(const eddy_batch *b, eddy_tensor begin, eddy_tensor part,
                           eddy_tensor whole)
{
    char message[100];
    snprintf(message, sizeof message, "%.40s: a box is not inside", b->node->op->name);
    begin = Cast(begin, EDDY_INT64);
    const eddy_tensor inside = LessEqual(begin, Sub(sizes_of(whole), sizes_of(part)));
    return eddy_ensure(begin, LogicalAnd(GreaterEqual(begin, 0), inside), message);
}

/* y of one example, at begin[e] for example e: a gather along one axis after the other. `at` gives
 * the positions along axis i; negative ones are zeros. */
static void batch_by_gathers(eddy_batch *b, bool cuts,
                             eddy_tensor (*at)(eddy_tensor begin, eddy_tensor like, eddy_tensor x,
                                               int64_t axis))
{
    eddy_tensor x = eddy_batch_input(b, 0), begin = eddy_batch_input(b, 1);
    const eddy_tensor like = eddy__batch_result_like(b);
    const int rank = eddy__batch_rank(b, 0);
    if (rank < 0 || rank == EDDY_MAX_RANK) return;
    begin = checked(b, begin, cuts ? like : x, cuts ? x : like);
    for (int i = 0; i < rank; i++)
        x = eddy_gather(x, at(eddy_slice(begin, EDDY_DIMS(0, i), EDDY_DIMS(-1, 1)), like, x, i + 1),
                        .axis = i + 1, .batch_dims = 1, .skip_negative = true);
    b->y[0] = x;
}

/* [1, n]: 0, 1, .. along an axis of `like`. */
static eddy_tensor positions(eddy_tensor like, int64_t axis)
{
    const eddy_tensor n = Cast(eddy_size_along(like, axis), EDDY_INT64);
    return eddy_expand_dims(eddy__size_positions(n), 0);
}

/* With the same box in all examples. */
static bool batch_together(eddy_batch *b)
{
    if (b->batched[1] || eddy__batch_result_rank(b) == EDDY_MAX_RANK) return false;
    const eddy_tensor zero = eddy_const(b->graph, eddy_dtype_of(b->x[1]), EDDY_SHAPE(1),
                                        (const int64_t[]){ 0 });
    b->y[0] = eddy_apply(b->node->op, NULL, 3,
                         (const eddy_tensor[]){ b->x[0],
                                                eddy_concat(EDDY_LIST(zero, b->x[1]), 0),
                                                eddy__batch_result_like(b) },
                        (eddy_apply_args){ 0 });
    return true;
}

/* -------------------------------------------------------------- slice_at -- */

/** y = the box of x that begins at `begin`, a tensor, and has the shape of `ref`.
 *
 *  x      any element type and shape
 *  begin  int32 or int64 [rank of x]: the first index along each axis
 *  ref    of the rank of x; only its shape is used; it is not computed
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match; at run time,
 *  EDDY_OUT_OF_RANGE if the box is not inside x, EDDY_CHECK_FAILED in a map with a position for
 *  each example.
 *  Gradient: dx = zeros like x with dy at `begin` (eddy_pad_at); the others have none.
 *  TensorFlow: Slice(x, begin, Shape(ref)); jax.lax.dynamic_slice, which moves the box instead. */
static bool slice_at_infer(eddy_infer *c) { return infer_box(c, 2, 0); }

static eddy_status slice_at_prepare(eddy_kernel *k)
{
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__box_of_part(b, k->out[0]->type.shape, k->out[0]->type.shape, k->in[0]->type.shape);
    return EDDY_OK;
}

static eddy_status slice_at_kernel(eddy_kernel *k)
{
    eddy_box          b = *(const eddy_box *)k->state;
    const eddy_status s = place(k, k->out[0]->type.shape, k->in[0]->type.shape, &b.from_at);
    if (s == EDDY_OK)
        eddy__box_copy_parallel(k, &b, eddy_dtype_size(k->out[0]->type.dtype), k->out[0]->data,
                                k->in[0]->data);
    return s;
}

static void slice_at_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_pad_at(r->dy[0], r->x[1], r->x[0]);
}

static eddy_tensor sliced(eddy_tensor begin, eddy_tensor like, eddy_tensor x, int64_t axis)
{
    (void)x;
    return Add(begin, positions(like, axis));
}

static void slice_at_batch(eddy_batch *b)
{
    if (!batch_together(b)) batch_by_gathers(b, true, sliced);
}

const eddy_op_def eddy_op_slice_at = {
    .name = "SliceAt", .label = "Slice", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", 0 }, { "begin", EDDY_TAKES_INDICES | EDDY_RANK(1) }, { "ref", 0 }),
    .flags = EDDY_OP_MOVES, .shape_inputs = 1u << 2,
    .infer = slice_at_infer, .prepare = slice_at_prepare, .kernel = slice_at_kernel,
    .gradient = slice_at_gradient, .batch = slice_at_batch,
};

eddy_tensor eddy_slice_at(eddy_tensor x, eddy_tensor begin, eddy_tensor ref)
{
    return eddy_apply(&eddy_op_slice_at, NULL, 3, (const eddy_tensor[]){ x, begin, ref },
                      (eddy_apply_args){ 0 });
}

/* ---------------------------------------------------------------- pad_at -- */

/** y = zeros of the shape of `ref`, with x in the box that begins at `begin`, a tensor.
 *
 *  x      any element type and shape
 *  begin  int32 or int64 [rank of x]: the first index along each axis
 *  ref    of the rank of x; only its shape is used; it is not computed
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match; at run time,
 *  EDDY_OUT_OF_RANGE if the box is not inside y, EDDY_CHECK_FAILED in a map with a position for
 *  each example.
 *  Gradient: dx = the box of dy (eddy_slice_at); the others have none.
 *  TensorFlow: Pad. */
static bool pad_at_infer(eddy_infer *c) { return infer_box(c, 0, 2); }

static eddy_status pad_at_prepare(eddy_kernel *k)
{
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__box_of_part(b, k->in[0]->type.shape, k->out[0]->type.shape, k->in[0]->type.shape);
    return EDDY_OK;
}

static eddy_status pad_at_kernel(eddy_kernel *k)
{
    const eddy_buffer *y = k->out[0];
    eddy_box           b = *(const eddy_box *)k->state;
    const eddy_status  s = place(k, k->in[0]->type.shape, y->type.shape, &b.to_at);
    if (s != EDDY_OK) return s;
    if (y->count > 0) memset(y->data, 0, (size_t)y->count * eddy_dtype_size(y->type.dtype));
    eddy__box_copy_parallel(k, &b, eddy_dtype_size(y->type.dtype), y->data, k->in[0]->data);
    return EDDY_OK;
}

static void pad_at_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_slice_at(r->dy[0], r->x[1], r->x[0]);
}

static eddy_tensor padded(eddy_tensor begin, eddy_tensor like, eddy_tensor x, int64_t axis)
{
    const eddy_tensor at = Sub(positions(like, axis), begin);
    return Where(Less(at, Cast(eddy_size_along(x, axis), EDDY_INT64)), at, -1);
}

static void pad_at_batch(eddy_batch *b)
{
    if (!batch_together(b)) batch_by_gathers(b, false, padded);
}

const eddy_op_def eddy_op_pad_at = {
    .name = "PadAt", .label = "Pad", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", 0 }, { "begin", EDDY_TAKES_INDICES | EDDY_RANK(1) }, { "ref", 0 }),
    .flags = EDDY_OP_MOVES, .shape_inputs = 1u << 2,
    .infer = pad_at_infer, .prepare = pad_at_prepare, .kernel = pad_at_kernel,
    .gradient = pad_at_gradient, .batch = pad_at_batch,
};

eddy_tensor eddy_pad_at(eddy_tensor x, eddy_tensor begin, eddy_tensor ref)
{
    return eddy_apply(&eddy_op_pad_at, NULL, 3, (const eddy_tensor[]){ x, begin, ref },
                      (eddy_apply_args){ 0 });
}
