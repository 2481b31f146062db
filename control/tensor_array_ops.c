/* tensor_array_ops.c -- the operations of arrays of tensors (tensor_array.h): they check
 * the indices at which elements are read and written. Gather and TensorScatterUpdate move the
 * elements. */
#include "control/internal.h"
#include "ops/arrays/batching.h"
#include "ops/arrays/arrays.h"

#include <string.h>

static const eddy_attr_field array_fields[] =
    EDDY_FIELDS(eddy_array_index_attrs, array_name, dynamic_size);

/* Rows of a tensor along its last axis. */
static int64_t last_dim(eddy_shape s) { return s.rank > 0 ? s.dim[s.rank - 1] : EDDY_ANY; }

/* ------------------------------------------------------------------- read -- */

/* y = indices, each of which is an element of the array; `written` is that of the array, of which
 * only the shape is used. TensorFlow: part of TensorArrayReadV3 and TensorArrayGatherV3. */
static bool read_infer(eddy_infer *c)
{
    return eddy__infer_yield(c, 0, c->in[0].dtype, c->in[0].shape);
}

static eddy_status read_kernel(eddy_kernel *k)
{
    const eddy_array_index_attrs *a = k->attrs;
    const eddy_buffer *indices = k->in[0];
    const int64_t      size = last_dim(k->in[1]->type.shape);
    const size_t       bytes = (size_t)indices->count * eddy_dtype_size(indices->type.dtype);
    for (int64_t i = 0; i < indices->count; i++) {
        const int64_t at = eddy__index_at(indices, i);
        if (at < 0 || at >= size)
            return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE,
                                    "TensorArray %s: Tried to read from index %lld but array size "
                                    "is: %lld", a->array_name, (long long)at, (long long)size);
    }
    if (bytes > 0 && k->out[0]->data != indices->data)
        memcpy(k->out[0]->data, indices->data, bytes);
    return EDDY_OK;
}

static void read_batch(eddy_batch *b)
{
    const eddy_tensor in[2] = { eddy_batch_input(b, 0), b->x[1] };
    b->y[0] = eddy_apply(&eddy_op_tensor_array_read, b->attrs, 2, in,
                         (eddy_apply_args){ .name = NULL });
}

const eddy_op_def eddy_op_tensor_array_read = {
    .name = "TensorArrayRead", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "indices", EDDY_TAKES_INDICES },
                          { "written", EDDY_TAKES_BOOLS | EDDY_RANK_FROM(1) }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(eddy_array_index_attrs), .attrs = array_fields,
    .infer = read_infer, .kernel = read_kernel, .gradient = eddy_not_differentiable,
    .batch = read_batch,
};

/* ------------------------------------------------------------------ write -- */

/* y0 = `written` with true at the indices, which must have been false; y1 = indices.
 * written [batch..., size], indices [batch..., n]. TensorFlow: part of TensorArrayWriteV3 and
 * TensorArrayScatterV3. */
static bool write_infer(eddy_infer *c)
{
    const eddy_shape w = c->in[0].shape, i = c->in[1].shape;
    char             one[128], other[128];
    bool             fits = w.rank < 0 || i.rank < 0 || w.rank == i.rank;
    for (int d = 0; fits && d < w.rank - 1 && i.rank >= 0; d++)
        fits = w.dim[d] < 0 || i.dim[d] < 0 || w.dim[d] == i.dim[d];
    if (!fits)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "written %s and indices %s differ before the "
                               "last dimension", eddy_shape_print(w, one, sizeof one),
                               eddy_shape_print(i, other, sizeof other));
    return eddy__infer_yield(c, 0, EDDY_BOOL, w) && eddy__infer_yield(c, 1, c->in[1].dtype, i);
}

static eddy_status mark_written(eddy_kernel *k, bool *written, int64_t size, int64_t at)
{
    const eddy_array_index_attrs *a = k->attrs;
    if (at < 0 || at >= size)
        return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE,
                                "TensorArray %s: Tried to write to index %lld but %s: %lld",
                                a->array_name, (long long)at,
                                a->dynamic_size ? "its capacity is"
                                                : "array is not resizeable and size is",
                                (long long)size);
    if (written[at])
        return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT,
                                "TensorArray %s: Could not write to TensorArray index %lld because "
                                "it has already been written to", a->array_name, (long long)at);
    written[at] = true;
    return EDDY_OK;
}

static eddy_status write_kernel(eddy_kernel *k)
{
    const eddy_buffer *indices = k->in[1];
    bool              *written = k->out[0]->data;
    const int64_t      size = last_dim(k->in[0]->type.shape), n = last_dim(indices->type.shape);
    if (k->out[0]->count > 0 && k->out[0]->data != k->in[0]->data)
        memcpy(written, k->in[0]->data, (size_t)k->out[0]->count);
    for (int64_t i = 0; i < indices->count; i++) {
        const eddy_status s =
            mark_written(k, written + i / n * size, size, eddy__index_at(indices, i));
        if (s != EDDY_OK) return s;
    }
    if (indices->count > 0)
        memcpy(k->out[1]->data, indices->data,
               (size_t)indices->count * eddy_dtype_size(indices->type.dtype));
    return EDDY_OK;
}

static void write_batch(eddy_batch *b)
{
    const eddy_tensor in[2] = { eddy_batch_input(b, 0), eddy_batch_input(b, 1) };
    b->y[0] = eddy_apply(&eddy_op_tensor_array_write, b->attrs, 2, in,
                         (eddy_apply_args){ .name = NULL });
    b->y[1] = eddy_output(b->y[0], 1);
}

const eddy_op_def eddy_op_tensor_array_write = {
    .name = "TensorArrayWrite", .min_inputs = 2, .max_inputs = 2, .outputs = 2,
    .flags = EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "written", EDDY_TAKES_BOOLS | EDDY_RANK_FROM(1) },
                          { "indices", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) }),
    .attrs_size = sizeof(eddy_array_index_attrs), .attrs = array_fields,
    .infer = write_infer, .kernel = write_kernel, .gradient = eddy_not_differentiable,
    .batch = write_batch,
};
