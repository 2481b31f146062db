/* inplace_add.c -- inplace_add: a tensor with rows added to some of its own. A session substitutes
 * it for sums of a tensor and slices; if nothing else reads the tensor, only these rows are read
 * and written. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

/** y = x with values[i] added to row indices[i].
 *
 *  x        any numeric type except float16 and bfloat16, [rows,tail...]
 *  indices  int32 or int64 [n]; values of repeated indices are all added, negative ones are dropped
 *  values   same type as x, [n,tail...]
 *
 *  The same as x plus the dense value of eddy_indexed_slices(values, indices, x).
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match; at run time,
 *  EDDY_OUT_OF_RANGE for an index that is `rows` or more.
 *  Gradient: dx = dy; dvalues = dy gathered at indices, 0 where these are negative.
 *  TensorFlow: InplaceAdd. */
static bool inplace_add_infer(eddy_infer *c)
{
    eddy_shape rows = c->in[2].shape;
    char       want[128], got[128];
    if (c->in[0].shape.rank >= 0) {
        rows = c->in[0].shape;
        rows.dim[0] = c->in[1].shape.rank < 0 ? EDDY_ANY : c->in[1].shape.dim[0];
    }
    if (!eddy_shape_compatible(rows, c->in[2].shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the values have shape %s; expected %s",
                               eddy_shape_print(c->in[2].shape, got, sizeof got),
                               eddy_shape_print(rows, want, sizeof want));
    return eddy__infer_yield(c, 0, c->in[0].dtype, c->in[0].shape);
}

static eddy_status inplace_add_kernel(eddy_kernel *k)
{
    const eddy_buffer *x = k->in[0], *indices = k->in[1], *values = k->in[2], *y = k->out[0];
    const eddy_shape   s = y->type.shape;
    const int64_t      inner = eddy__shape_product(s, 1, s.rank);
    const size_t       size = eddy_dtype_size(y->type.dtype), bytes = (size_t)inner * size;
    const eddy_row_fn  add = eddy__row_add(y->type.dtype);
    const eddy_status  status = eddy__check_indices(k, indices, s.dim[0], true);
    eddy_box           all = { .rank = 0 };
    if (status != EDDY_OK || y->count == 0) return status;
    eddy__box_add(&all, y->count, 1, 1);
    if (y->data != x->data) eddy__box_copy_parallel(k, &all, size, y->data, x->data);
    for (int64_t i = 0; i < indices->count; i++) {
        const int64_t at = eddy__index_at(indices, i);
        if (at < 0) continue;
        add(inner, (char *)y->data + (size_t)at * bytes,
            (const char *)values->data + (size_t)i * bytes);
    }
    return EDDY_OK;
}

static void inplace_add_gradient(eddy_rule *r)
{
    r->dx[0] = r->dy[0];
    r->dx[2] = eddy_gather(r->dy[0], r->x[1], .skip_negative = true);
}

static void inplace_add_batch(eddy_batch *b)
{
    const bool        each = b->batched[1];
    const eddy_tensor x = eddy_batch_input(b, 0), values = eddy_batch_input(b, 2);
    b->y[0] = Add(x, eddy_gather_grad(values, b->x[1], x, .axis = 1, .skip_negative = true,
                                      .batch_dims = each));
}

static double inplace_add_flops(const void *attrs, int n_in, const eddy_type *in,
                                const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return (double)eddy_shape_count(in[2].shape);
}

const eddy_op_def eddy_op_inplace_add = {
    .name = "InplaceAdd", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .flags = EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX | EDDY_RANK_FROM(1) },
                          { "indices", EDDY_TAKES_INDICES | EDDY_RANK(1) },
                          { "values", EDDY_LIKE(0) }),
    .flops = inplace_add_flops, .infer = inplace_add_infer, .kernel = inplace_add_kernel,
    .gradient = inplace_add_gradient, .batch = inplace_add_batch,
};

eddy_tensor eddy_inplace_add(eddy_tensor x, eddy_tensor indices, eddy_tensor values)
{
    return eddy_apply(&eddy_op_inplace_add, NULL, 3, (eddy_tensor[]){ x, indices, values },
                      (eddy_apply_args){ .name = NULL });
}
