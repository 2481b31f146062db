/* reverse.c -- reverse and reverse_sequence: elements along axes in reverse order, over whole
 * axes or over the first elements of each example, by its own length. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <string.h>

/* --------------------------------------------------------------- reverse -- */

typedef struct reverse_attrs {
    eddy_dims axes;
} reverse_attrs;

static bool reverse_infer(eddy_infer *c)
{
    const reverse_attrs *a = c->attrs;
    unsigned mask;
    if (!eddy__infer_axes(c, a->axes, c->in[0].shape.rank, &mask)) return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, c->in[0].shape);
}

static eddy_status reverse_prepare(eddy_kernel *k)
{
    const reverse_attrs *a = k->attrs;
    const eddy_shape x = k->in[0]->type.shape;
    const unsigned   mask = eddy__axes_mask(a->axes, x.rank);
    int64_t   step[EDDY_MAX_RANK];
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__strides_of(x, step);
    for (int i = 0; i < x.rank; i++) {
        const bool reversed = mask >> i & 1;
        if (reversed) b->from_at += (x.dim[i] - 1) * step[i];
        eddy__box_add(b, x.dim[i], step[i], reversed ? -step[i] : step[i]);
    }
    return EDDY_OK;
}

static void reverse_gradient(eddy_rule *r)
{
    const reverse_attrs *a = r->attrs;
    r->dx[0] = eddy_reverse(r->dy[0], a->axes);
}

static void reverse_batch(eddy_batch *b)
{
    reverse_attrs a = *(const reverse_attrs *)b->attrs;
    if (eddy__batch_axes(b, 0, &a.axes)) eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_reverse = {
    .name = "ReverseV2", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(reverse_attrs),
    .attrs = EDDY_ATTRS(reverse_attrs, axes),
    .infer = reverse_infer, .prepare = reverse_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = reverse_gradient, .batch = reverse_batch,
};

/** y = x reversed along `axes`.
 *
 *  x     any element type and shape
 *  axes  each once, in [-rank, rank); count 0: all; EDDY_NO_DIMS: none
 *
 *  eddy_flip is the same, by the name that NumPy and PyTorch use.
 *  Errors: EDDY_INVALID_ARGUMENT for an axis that x does not have or that is given twice.
 *  Gradient: dx = dy reversed.  TensorFlow: ReverseV2. */
eddy_tensor eddy_reverse(eddy_tensor x, eddy_dims axes)
{
    return eddy_apply1(&eddy_op_reverse, &(reverse_attrs){ axes }, x);
}

/** y = eddy_reverse(x, axes), as NumPy and PyTorch call it. */
eddy_tensor eddy_flip(eddy_tensor x, eddy_dims axes) { return eddy_reverse(x, axes); }

/* ------------------------------------------------------ reverse_sequence -- */

typedef struct sequence_attrs {
    int64_t seq_axis, batch_axis;
} sequence_attrs;

static bool sequence_infer(eddy_infer *c)
{
    const sequence_attrs *a = c->attrs;
    const eddy_shape lengths = c->in[1].shape;
    eddy_shape s = c->in[0].shape;
    int seq, batch;
    if (lengths.rank >= 0 && lengths.rank != 1)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the lengths have rank %d; rank 1 expected",
                               lengths.rank);
    if (s.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, s);
    if (!eddy__infer_axis(c, a->seq_axis, s.rank, &seq) ||
        !eddy__infer_axis(c, a->batch_axis, s.rank, &batch))
        return false;
    if (seq == batch)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "seq_axis and batch_axis are both %d",
                               seq);
    if (lengths.rank == 1 && !eddy__dim_unify(&s.dim[batch], lengths.dim[0]))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of lengths is %lld; expected %lld, one "
                               "per sequence",
                               (long long)lengths.dim[0], (long long)s.dim[batch]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static eddy_status check_lengths(eddy_kernel *k, int64_t most)
{
    for (int64_t i = 0; i < k->in[1]->count; i++) {
        const int64_t n = eddy__index_at(k->in[1], i);
        if (n < 0 || n > most)
            return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE, "seq_lengths[%lld] = %lld is not in "
                                    "[0, %lld]", (long long)i, (long long)n, (long long)most);
    }
    return EDDY_OK;
}

/* Two boxes for each sequence: the part that is reversed, and the rest. */
static eddy_status sequence_kernel(eddy_kernel *k)
{
    const sequence_attrs *a = k->attrs;
    const eddy_shape s = k->in[0]->type.shape;
    const int        seq = eddy__axis_of(a->seq_axis, s.rank);
    const int        batch = eddy__axis_of(a->batch_axis, s.rank);
    const size_t     size = eddy_dtype_size(k->in[0]->type.dtype);
    const eddy_status status = check_lengths(k, s.dim[seq]);
    int64_t step[EDDY_MAX_RANK];
    if (status != EDDY_OK) return status;
    eddy__strides_of(s, step);
    for (int64_t e = 0; e < s.dim[batch]; e++) {
        const int64_t n = eddy__index_at(k->in[1], e);
        eddy_box reversed = { .from_at = e * step[batch] + (n - 1) * step[seq],
                            .to_at = e * step[batch] };
        eddy_box rest = { .from_at = e * step[batch] + n * step[seq],
                          .to_at = e * step[batch] + n * step[seq] };
        for (int i = 0; i < s.rank; i++) {
            const bool along = i == seq;
            if (i == batch) continue;
            eddy__box_add(&reversed, along ? n : s.dim[i], step[i], along ? -step[i] : step[i]);
            eddy__box_add(&rest, along ? s.dim[i] - n : s.dim[i], step[i], step[i]);
        }
        eddy__box_copy_parallel(k, &reversed, size, k->out[0]->data, k->in[0]->data);
        eddy__box_copy_parallel(k, &rest, size, k->out[0]->data, k->in[0]->data);
    }
    return EDDY_OK;
}

static void sequence_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply2(r->node->op, r->attrs, r->dy[0], r->x[1]);
}

/* The sequences of all examples in one axis: [E,..,B,..,S,..] as [E B, S, ...]. */
static void sequence_batch(eddy_batch *b)
{
    const sequence_attrs *a = b->attrs;
    const int rank = eddy__batch_rank(b, 0);
    if (!b->batched[1]) {
        b->y[0] = eddy_apply2(b->node->op, &(sequence_attrs){ eddy__batch_axis(a->seq_axis),
                                                              eddy__batch_axis(a->batch_axis) },
                              b->x[0], b->x[1]);
        return;
    }
    if (rank < 0) return;
    const int seq = eddy__axis_of(a->seq_axis, rank) + 1;
    const int batch = eddy__axis_of(a->batch_axis, rank) + 1;
    eddy_dims perm = { .count = 3, .at = { 0, batch, seq } }, back = { .count = rank + 1 };
    for (int i = 1; i <= rank; i++)
        if (i != seq && i != batch) perm.at[perm.count++] = i;
    for (int i = 0; i <= rank; i++) back.at[perm.at[i]] = i;
    const eddy_tensor x = eddy_transpose(eddy_batch_input(b, 0), perm);
    const eddy_tensor y = eddy_apply2(b->node->op, &(sequence_attrs){ 1, 0 },
                                      eddy_merge_leading(x, b->x[1]),
                                      eddy_reshape(b->x[1], EDDY_SHAPE(EDDY_ANY)));
    b->y[0] = eddy_transpose(eddy_reshape_like(y, x), back);
}

const eddy_op_def eddy_op_reverse_sequence = {
    .name = "ReverseSequence", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "seq_lengths", EDDY_TAKES_INDICES }),
    .attrs_size = sizeof(sequence_attrs), .attrs = EDDY_ATTRS(sequence_attrs, seq_axis, batch_axis),
    .infer = sequence_infer, .kernel = sequence_kernel, .gradient = sequence_gradient,
    .batch = sequence_batch,
};

/** y = x with the first seq_lengths[b] elements of sequence b reversed, for each b.
 *
 *  x            any element type, rank at least 2
 *  seq_lengths  int32 or int64 [n], each in [0, length of a sequence]
 *  seq_axis     the axis along which sequences are reversed
 *  batch_axis   the axis of the n sequences; must differ from seq_axis
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if seq_lengths is not a vector of n integers
 *  or an axis is invalid; at run time, EDDY_OUT_OF_RANGE for a length out of range.
 *  Gradient: dx = dy reversed likewise; `seq_lengths` has none.
 *  TensorFlow: ReverseSequence. */
eddy_tensor eddy_reverse_sequence(eddy_tensor x, eddy_tensor seq_lengths, int64_t seq_axis,
                                  int64_t batch_axis)
{
    return eddy_apply2(&eddy_op_reverse_sequence, &(sequence_attrs){ seq_axis, batch_axis }, x,
                       seq_lengths);
}
