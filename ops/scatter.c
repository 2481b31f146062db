/* scatter.c -- changing rows of a variable in place. */
#include "ops/math.h"
#include "ops/variables.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
/* Options of eddy_scatter_update, _add, _sub, _mul, _div, _min and _max. */
typedef struct eddy_scatter_args {
    char        unused_;
    eddy_tensor var;
    eddy_tensor indices;
    eddy_tensor updates;
    bool        skip_negative;
    const char *name;
} eddy_scatter_args;
#endif

const eddy_attr_field eddy_scatter_fields[] = {
    { "skip_negative", EDDY_ATTR_BOOL, offsetof(eddy_scatter_attrs, skip_negative) },
    { NULL, EDDY_ATTR_END, 0 },
};

/* updates = the shape of indices, then that of a row of the variable. */
bool eddy_infer_scatter(eddy_infer *c)
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

bool eddy_infer_combine(eddy_infer *c, eddy_row_fn combine, const char *done)
{
    if (combine) return true;
    return eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s cannot be %s", eddy_dtype_name(c->in[0].dtype),
                           done);
}

static bool scatter_sum_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_add(c->in[0].dtype), "added") && eddy_infer_scatter(c);
}

/* Indices and updates may be the variable itself under another shape, from
 * before the run; then they must not change while rows are written. */
static size_t bytes_apart(const eddy_kernel *k, int i)
{
    const eddy_buffer *var = k->in[0], *b = k->in[i];
    const bool maybe = b->count == var->count && b->type.dtype == var->type.dtype;
    return maybe ? (size_t)b->count * eddy_dtype_size(b->type.dtype) : 0;
}

eddy_status eddy_scatter_prepare(eddy_kernel *k)
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

eddy_status eddy_scatter_rows(eddy_kernel *k, eddy_row_fn combine)
{
    const eddy_scatter_attrs *a = k->attrs;
    const eddy_buffer *var = k->in[0];
    const eddy_shape   shape = var->type.shape;
    const int64_t inner = eddy_shape_product(shape, 1, shape.rank);
    const size_t  bytes = (size_t)inner * eddy_dtype_size(var->type.dtype);
    eddy_status s = eddy_variable_ready(k);
    if (s != EDDY_OK) return s;
    const eddy_buffer indices = taken_apart(k, 1), updates = taken_apart(k, 2);
    s = eddy_check_indices(k, &indices, shape.dim[0], a->skip_negative);
    if (s != EDDY_OK) return s;
    const char *update = updates.data;
    for (int64_t i = 0; i < indices.count && bytes > 0; i++, update += bytes) {
        const int64_t at = eddy_index_at(&indices, i);
        if (at < 0) continue;
        char *row = (char *)var->data + (size_t)at * bytes;
        if (combine) combine(inner, row, update);
        else memcpy(row, update, bytes);
    }
    return eddy_variable_yield(k);
}

static eddy_status scatter_update_kernel(eddy_kernel *k)
{
    return eddy_scatter_rows(k, NULL);
}

static eddy_status scatter_add_kernel(eddy_kernel *k)
{
    return eddy_scatter_rows(k, eddy_row_add(k->in[0]->type.dtype));
}

static eddy_status scatter_sub_kernel(eddy_kernel *k)
{
    return eddy_scatter_rows(k, eddy_row_sub(k->in[0]->type.dtype));
}

static eddy_tensor scatter(const eddy_op_def *op, eddy_scatter_args a)
{
    return eddy_apply_named(a.name, op, &(eddy_scatter_attrs){ a.skip_negative }, 3,
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
    .attrs_size = sizeof(eddy_scatter_attrs), .attrs = eddy_scatter_fields,
    .infer = eddy_infer_scatter, .prepare = eddy_scatter_prepare,
    .kernel = scatter_update_kernel, .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_scatter_update_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_update, a);
}

double eddy_scatter_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
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
    .attrs_size = sizeof(eddy_scatter_attrs), .attrs = eddy_scatter_fields,
    .flops = eddy_scatter_flops,
    .infer = scatter_sum_infer, .prepare = eddy_scatter_prepare, .kernel = scatter_add_kernel,
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
    .attrs_size = sizeof(eddy_scatter_attrs), .attrs = eddy_scatter_fields,
    .flops = eddy_scatter_flops,
    .infer = scatter_sum_infer, .prepare = eddy_scatter_prepare, .kernel = scatter_sub_kernel,
    .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_scatter_sub_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_sub, a);
}
