/* scatter.c -- scatter_update, scatter_add and scatter_sub: changing rows of a variable in
 * place. */
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/state/variable.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
/* Options of eddy_scatter_update, _add, _sub, _mul, _div, _min and _max. */
typedef struct eddy_scatter_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_scatter_args));
    eddy_tensor var;
    eddy_tensor indices;
    eddy_tensor updates;
    bool        skip_negative;
    const char *name;
} eddy_scatter_args;
#endif

const eddy_attr_field eddy__scatter_fields[] = EDDY_FIELDS(eddy_scatter_attrs, skip_negative);

/* Checks that updates has the shape of indices, followed by that of a row of the variable. */
bool eddy__infer_scatter(eddy_infer *c)
{
    const eddy_type *var = &c->in[0], *updates = &c->in[2];
    const eddy_shape x = var->shape, indices = c->in[1].shape;
    char text[128];
    if (x.rank > 0 && indices.rank >= 0) {
        eddy_shape want = { .rank = indices.rank + x.rank - 1 };
        for (int i = 0; i < want.rank && i < EDDY_MAX_RANK; i++)
            want.dim[i] = i < indices.rank ? indices.dim[i] : x.dim[i - indices.rank + 1];
        if (!eddy_shape_compatible(want, updates->shape))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the updates must have the shape %s",
                                   eddy_shape_print(want, text, sizeof text));
    }
    return eddy__infer_yield(c, 0, var->dtype, x);
}

/* Indices and updates may share memory with the variable, as views of its value before the run;
 * they must not change while rows are written. */
static uint64_t bytes_apart(const eddy_kernel *k, int i)
{
    const eddy_buffer *var = k->in[0], *b = k->in[i];
    const bool maybe = b->count == var->count && b->type.dtype == var->type.dtype;
    return maybe ? (uint64_t)b->count * eddy_dtype_size(b->type.dtype) : 0;
}

eddy_status eddy__scatter_prepare(eddy_kernel *k)
{
    k->scratch_size = bytes_apart(k, 1) + bytes_apart(k, 2);
    return EDDY_OK;
}

/* Input i, copied to scratch memory if it shares memory with the variable. */
static eddy_buffer taken_apart(const eddy_kernel *k, int i)
{
    eddy_buffer b = *k->in[i];
    const size_t bytes = (size_t)bytes_apart(k, i);
    if (bytes == 0 || b.data != k->in[0]->data) return b;
    char *room = (char *)k->scratch + (i == 2 ? bytes_apart(k, 1) : 0);
    b.data = memcpy(room, b.data, bytes);
    return b;
}

/* Rows that are soon changed are prefetched: each would otherwise wait for memory. */
eddy_status eddy__scatter_rows(eddy_kernel *k)
{
    enum { AHEAD = 32 };
    const eddy_scatter_attrs *a = k->attrs;
    const eddy_buffer *var = k->in[0];
    const eddy_shape   shape = var->type.shape;
    const eddy_row_fn  combine = eddy__row_of(k->op->variant, var->type.dtype);
    const int64_t inner = eddy__shape_product(shape, 1, shape.rank);
    const size_t  bytes = (size_t)inner * eddy_dtype_size(var->type.dtype);
    eddy_status s = eddy__variable_ready(k);
    if (s != EDDY_OK) return s;
    const eddy_buffer indices = taken_apart(k, 1), updates = taken_apart(k, 2);
    s = eddy__check_indices(k, &indices, shape.dim[0], a->skip_negative);
    if (s != EDDY_OK) return s;
    const char *update = updates.data;
    for (int64_t i = 0; i < indices.count && bytes > 0; i++, update += bytes) {
        const int64_t at = eddy__index_at(&indices, i);
        const int64_t soon = i + AHEAD < indices.count ? eddy__index_at(&indices, i + AHEAD) : -1;
        if (soon >= 0) __builtin_prefetch((char *)var->data + (size_t)soon * bytes, 1);
        if (at < 0) continue;
        char *row = (char *)var->data + (size_t)at * bytes;
        if (combine) combine(inner, row, update);
        else memcpy(row, update, bytes);
    }
    return eddy__variable_yield(k);
}

/** var[indices[i]] = updates[i]; y = the variable's new value.
 *
 *  var            a variable of rank at least 1
 *  indices        int32 or int64, any shape; 0 <= index < rows of var
 *  updates        same type as var; the shape of indices followed by that of a row of var
 *  skip_negative  ignores negative indices instead of failing
 *
 *  For repeated indices, the last row is kept.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match; at run time,
 *  EDDY_UNINITIALIZED, and EDDY_OUT_OF_RANGE for an index out of range, before anything is
 *  written.
 *  Gradient: none.  TensorFlow: ScatterUpdate. */
const eddy_op_def eddy_op_scatter_update = {
    EDDY_SCATTER("ScatterUpdate", EDDY_ROW_PUT, EDDY_ANY_TYPE),
    .kernel = eddy__scatter_rows,
};

eddy_tensor eddy_scatter_update_with(const eddy_scatter_args *given)
{
    return eddy__scatter_apply(&eddy_op_scatter_update, given);
}

/** var[indices[i]] += updates[i], in order; y = the variable's new value.
 *
 *  Arguments and errors are as for eddy_scatter_update; var has any numeric type except float16
 *  and bfloat16.  Updates of repeated indices are summed.
 *  Gradient: none.  TensorFlow: ScatterAdd. */
const eddy_op_def eddy_op_scatter_add = {
    EDDY_SCATTER("ScatterAdd", EDDY_ROW_ADD, EDDY_TAKES_WIDE_NUMBERS_COMPLEX),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

eddy_tensor eddy_scatter_add_with(const eddy_scatter_args *given)
{
    return eddy__scatter_apply(&eddy_op_scatter_add, given);
}

/** var[indices[i]] -= updates[i], in order; y = the variable's new value.
 *
 *  Arguments and errors are as for eddy_scatter_add.
 *  Gradient: none.  TensorFlow: ScatterSub. */
const eddy_op_def eddy_op_scatter_sub = {
    EDDY_SCATTER("ScatterSub", EDDY_ROW_SUB, EDDY_TAKES_WIDE_NUMBERS_COMPLEX),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

eddy_tensor eddy_scatter_sub_with(const eddy_scatter_args *given)
{
    return eddy__scatter_apply(&eddy_op_scatter_sub, given);
}

/* ------------------------------------------------------------------ tools -- */

double eddy__scatter_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return (double)eddy_shape_count(in[2].shape);
}

eddy_tensor eddy__scatter_apply(const eddy_op_def *op, const eddy_scatter_args *given)
{
    const eddy_scatter_args a = EDDY_TAKE(eddy_scatter_args, given);
    return eddy__apply_named(a.name, op, &(eddy_scatter_attrs){ a.skip_negative }, 3,
                             (eddy_tensor[]){ a.var, a.indices, a.updates });
}
