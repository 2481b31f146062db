/* scatter.c -- changing rows of a variable in place. */
#include "ops/arrays.h"
#include "ops/math.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
/* Options of eddy_scatter_update, _add and _sub. */
typedef struct eddy_scatter_args {
    char        unused_;
    eddy_tensor var;
    eddy_tensor indices;
    eddy_tensor updates;
    bool        skip_negative;
    const char *name;
} eddy_scatter_args;
#endif
typedef struct scatter_attrs {
    bool skip_negative;
} scatter_attrs;

static const eddy_attr_field scatter_fields[] = {
    { "skip_negative", EDDY_ATTR_BOOL, offsetof(scatter_attrs, skip_negative) },
    { NULL, EDDY_ATTR_END, 0 },
};

/* updates = the shape of indices, then that of a row of the variable. */
static bool scatter_infer(eddy_infer *c)
{
    const eddy_type *var = &c->in[0], *updates = &c->in[2];
    const eddy_shape x = var->shape, indices = c->in[1].shape;
    char text[128];
    if (!eddy_infer_indices(c, 1)) return false;
    if (var->dtype != updates->dtype)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE,
                               "element types differ: %s and %s; cast the updates",
                               eddy_dtype_name(var->dtype), eddy_dtype_name(updates->dtype));
    if (x.rank == 0) return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a scalar has no rows");
    if (x.rank > 0 && indices.rank >= 0) {
        eddy_shape want = { .rank = indices.rank + x.rank - 1 };
        for (int i = 0; i < want.rank && i < EDDY_MAX_RANK; i++)
            want.dim[i] = i < indices.rank ? indices.dim[i] : x.dim[i - indices.rank + 1];
        if (!eddy_shape_compatible(want, updates->shape))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the updates must have the shape %s",
                                   eddy_shape_print(want, text, sizeof text));
    }
    return eddy_infer_yield(c, 0, var->dtype, x);
}

static bool scatter_sum_infer(eddy_infer *c)
{
    if (eddy_row_add(c->in[0].dtype)) return scatter_infer(c);
    return eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s cannot be added",
                           eddy_dtype_name(c->in[0].dtype));
}

/* Indices and updates may be the variable itself under another shape, from
 * before the run; then they must not change while rows are written. */
static size_t bytes_apart(const eddy_kernel *k, int i)
{
    const eddy_buffer *var = k->in[0], *b = k->in[i];
    const bool maybe = b->count == var->count && b->type.dtype == var->type.dtype;
    return maybe ? (size_t)b->count * eddy_dtype_size(b->type.dtype) : 0;
}

static eddy_status scatter_prepare(eddy_kernel *k)
{
    k->scratch_size = bytes_apart(k, 1) + bytes_apart(k, 2);
    return EDDY_OK;
}

/* Input i, in scratch memory if it is the variable's. */
static eddy_buffer taken_apart(const eddy_kernel *k, int i)
{
    eddy_buffer b = *k->in[i];
    const size_t bytes = bytes_apart(k, i);
    if (bytes == 0 || b.data != k->in[0]->data) return b;
    char *room = (char *)k->scratch + (i == 2 ? bytes_apart(k, 1) : 0);
    b.data = memcpy(room, b.data, bytes);
    return b;
}

/* Row by row: with `combine`, or by copying if it is NULL.  Nothing is written
 * before all indices are found good. */
static eddy_status scatter_rows(eddy_kernel *k, eddy_row_fn combine)
{
    const scatter_attrs *a = k->attrs;
    const eddy_buffer *var = k->in[0];
    const eddy_shape   shape = var->type.shape;
    const int64_t inner = eddy_shape_product(shape, 1, shape.rank);
    const size_t  size = eddy_dtype_size(var->type.dtype), bytes = (size_t)inner * size;
    if (var->state && !var->state->initialized)
        return eddy_kernel_fail(k, EDDY_UNINITIALIZED, "Attempting to use uninitialized value");
    const eddy_buffer indices = taken_apart(k, 1), updates = taken_apart(k, 2);
    eddy_status s = eddy_check_indices(k, &indices, shape.dim[0], a->skip_negative);
    if (s != EDDY_OK) return s;
    const char *update = updates.data;
    for (int64_t i = 0; i < indices.count && bytes > 0; i++, update += bytes) {
        const int64_t at = eddy_index_at(&indices, i);
        if (at < 0) continue;
        char *row = (char *)var->data + (size_t)at * bytes;
        if (combine) combine(inner, row, update);
        else memcpy(row, update, bytes);
    }
    if (k->n_out > 0 && k->out[0]->data != var->data && var->count > 0)
        memcpy(k->out[0]->data, var->data, (size_t)var->count * size);
    return EDDY_OK;
}

static eddy_status scatter_update_kernel(eddy_kernel *k)
{
    return scatter_rows(k, NULL);
}

static eddy_status scatter_add_kernel(eddy_kernel *k)
{
    return scatter_rows(k, eddy_row_add(k->in[0]->type.dtype));
}

static eddy_status scatter_sub_kernel(eddy_kernel *k)
{
    return scatter_rows(k, eddy_row_sub(k->in[0]->type.dtype));
}

static eddy_tensor scatter(const eddy_op_def *op, eddy_scatter_args a)
{
    return eddy_apply_named(a.name, op, &(scatter_attrs){ a.skip_negative }, 3,
                            (eddy_tensor[]){ a.var, a.indices, a.updates });
}

/** var[indices[i]] = updates[i]; y = the variable's new value.
 *
 *  var            a variable of rank above 0
 *  indices        int32 or int64, any shape; 0 <= index < rows of var
 *  updates        of var's type, shaped like indices and then a row of var
 *  skip_negative  a negative index is passed over and is no error
 *
 *  Where an index comes again, the last row stays.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if they do not fit; at the run,
 *  EDDY_UNINITIALIZED, and EDDY_OUT_OF_RANGE for an index outside, before
 *  anything is written.
 *  Gradient: none.  TensorFlow: ScatterUpdate. */
const eddy_op_def eddy_op_scatter_update = {
    .name = "ScatterUpdate", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL,
    .attrs_size = sizeof(scatter_attrs), .attrs = scatter_fields,
    .infer = scatter_infer, .prepare = scatter_prepare, .kernel = scatter_update_kernel, .gradient =
        eddy_not_differentiable,
};

eddy_tensor eddy_scatter_update_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_update, a);
}

static double scatter_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return (double)eddy_shape_count(in[2].shape);
}

/** var[indices[i]] += updates[i], one after the other; y = the variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_update; var holds numbers, not
 *  bool, float16 or bfloat16.  Equal indices add up.
 *  Gradient: none.  TensorFlow: ScatterAdd. */
const eddy_op_def eddy_op_scatter_add = {
    .name = "ScatterAdd", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL,
    .attrs_size = sizeof(scatter_attrs), .attrs = scatter_fields,
    .flops = scatter_flops,
    .infer = scatter_sum_infer, .prepare = scatter_prepare, .kernel = scatter_add_kernel,
        .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_scatter_add_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_add, a);
}

/** var[indices[i]] -= updates[i], one after the other; y = the variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_add.
 *  Gradient: none.  TensorFlow: ScatterSub. */
const eddy_op_def eddy_op_scatter_sub = {
    .name = "ScatterSub", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL,
    .attrs_size = sizeof(scatter_attrs), .attrs = scatter_fields,
    .flops = scatter_flops,
    .infer = scatter_sum_infer, .prepare = scatter_prepare, .kernel = scatter_sub_kernel,
        .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_scatter_sub_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_sub, a);
}
