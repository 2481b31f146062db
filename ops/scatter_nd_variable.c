/* scatter_nd_variable.c -- changing rows of a variable in place, named by tuples of indices. */
#include "ops/math.h"
#include "ops/tuples.h"
#include "ops/variables.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
/* Options of eddy_scatter_nd_update, _add, _sub, _min and _max. */
typedef struct eddy_scatter_nd_args {
    char        unused_;
    eddy_tensor var;
    eddy_tensor indices;
    eddy_tensor updates;
    int64_t     batch_dims;
    const char *name;
} eddy_scatter_nd_args;
#endif

static bool nd_infer(eddy_infer *c)
{
    const eddy_type *var = &c->in[0];
    if (var->dtype != c->in[2].dtype)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE,
                               "element types differ: %s and %s; cast the updates",
                               eddy_dtype_name(var->dtype), eddy_dtype_name(c->in[2].dtype));
    return eddy_infer_tuple_rows(c, 2, var->shape) &&
           eddy_infer_yield(c, 0, var->dtype, var->shape);
}

/* Nothing is written before all tuples are found good. */
static eddy_status nd_rows(eddy_kernel *k, eddy_row_fn combine)
{
    const eddy_tuples l = eddy_tuples_of(k->in[0]->type.shape, k->in[1], k->attrs);
    eddy_status       s = eddy_variable_ready(k);
    if (s == EDDY_OK) s = eddy_check_tuples(k, &l);
    if (s != EDDY_OK) return s;
    eddy_tuples_put(k, &l, k->in[2], k->in[0]->data, combine);
    return eddy_variable_yield(k);
}

static eddy_tensor scatter(const eddy_op_def *op, eddy_scatter_nd_args a)
{
    return eddy_apply_named(a.name, op, &(eddy_tuples_attrs){ a.batch_dims }, 3,
                            (eddy_tensor[]){ a.var, a.indices, a.updates });
}

#define SCATTER_ND(type)                                                        \
    .name = type, .min_inputs = 3, .max_inputs = 3, .outputs = 1,               \
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL, \
    .attrs_size = sizeof(eddy_tuples_attrs), .attrs = eddy_tuples_fields,       \
    .gradient = eddy_not_differentiable

/* ------------------------------------------------------------------- update -- */

static eddy_status update_kernel(eddy_kernel *k) { return nd_rows(k, NULL); }

const eddy_op_def eddy_op_scatter_nd_update = {
    SCATTER_ND("ScatterNdUpdate"), .infer = nd_infer, .kernel = update_kernel,
};

/** The rows of a variable that `indices` names are replaced by those of `updates`; y = the
 *  variable's new value.
 *
 *  var         a variable
 *  indices     int32 or int64, rank above 0; tuples along its last dimension, as for
 *              eddy_gather_nd
 *  updates     of var's type, of the shape that gathering from var gives
 *  batch_dims  so many leading dimensions are those of var and of indices
 *
 *  Where a tuple comes again, the last row stays.
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if they do not fit; at the
 *  run, EDDY_UNINITIALIZED, and EDDY_OUT_OF_RANGE for an index outside, before anything is
 *  written.
 *  Gradient: none.  TensorFlow: ScatterNdUpdate. */
eddy_tensor eddy_scatter_nd_update_with(eddy_scatter_nd_args a)
{
    return scatter(&eddy_op_scatter_nd_update, a);
}

/** Rows of a variable replaced by `updates`, each example by its own indices:
 *  var[b..., indices[b..., i]] = updates[b..., i]; y = the variable's new value.
 *
 *  var      a variable [b..., rows, ...]
 *  indices  int32 or int64 [b..., n]
 *  updates  of var's type [b..., n, ...]
 *
 *  Errors: as eddy_scatter_nd_update, which it builds; EDDY_BAD_SHAPE for indices of an
 *  unknown rank.
 *  Gradient: none.  TensorFlow: batch_scatter_update. */
eddy_tensor eddy_batch_scatter_update(eddy_tensor var, eddy_tensor indices, eddy_tensor updates)
{
    const int rank = eddy_shape_of(indices).rank;
    if (eddy_is_valid(indices) && rank < 1)
        return eddy_fail(indices.graph, EDDY_BAD_SHAPE, "batch_scatter_update: indices of rank %d",
                         rank);
    return eddy_scatter_nd_update(var, ExpandDims(indices, -1), updates, .batch_dims = rank - 1);
}

/* --------------------------------------------------------------------- sums -- */

static bool add_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_add(c->in[0].dtype), "added") && nd_infer(c);
}
static eddy_status add_kernel(eddy_kernel *k)
{
    return nd_rows(k, eddy_row_add(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_nd_add = {
    SCATTER_ND("ScatterNdAdd"), .flops = eddy_scatter_flops,
    .infer = add_infer, .kernel = add_kernel,
};

/** `updates` added to the rows of a variable that `indices` names, one after the other; y = the
 *  variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_nd_update; var holds numbers, not bool, float16 or
 *  bfloat16.  Equal tuples add up.
 *  Gradient: none.  TensorFlow: ScatterNdAdd. */
eddy_tensor eddy_scatter_nd_add_with(eddy_scatter_nd_args a)
{
    return scatter(&eddy_op_scatter_nd_add, a);
}

static bool sub_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_sub(c->in[0].dtype), "subtracted") && nd_infer(c);
}
static eddy_status sub_kernel(eddy_kernel *k)
{
    return nd_rows(k, eddy_row_sub(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_nd_sub = {
    SCATTER_ND("ScatterNdSub"), .flops = eddy_scatter_flops,
    .infer = sub_infer, .kernel = sub_kernel,
};

/** `updates` subtracted from the rows of a variable that `indices` names, one after the other;
 *  y = the variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_nd_add.
 *  Gradient: none.  TensorFlow: ScatterNdSub. */
eddy_tensor eddy_scatter_nd_sub_with(eddy_scatter_nd_args a)
{
    return scatter(&eddy_op_scatter_nd_sub, a);
}

/* ----------------------------------------------------------------- extremes -- */

static bool min_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_min(c->in[0].dtype), "compared") && nd_infer(c);
}
static eddy_status min_kernel(eddy_kernel *k)
{
    return nd_rows(k, eddy_row_min(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_nd_min = {
    SCATTER_ND("ScatterNdMin"), .flops = eddy_scatter_flops,
    .infer = min_infer, .kernel = min_kernel,
};

/** The rows of a variable that `indices` names become the lesser of what they were and
 *  `updates`, element by element; y = the variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_nd_update; var holds real numbers, not bool,
 *  float16 or bfloat16.  NaN where either is.
 *  Gradient: none.  TensorFlow: ScatterNdMin. */
eddy_tensor eddy_scatter_nd_min_with(eddy_scatter_nd_args a)
{
    return scatter(&eddy_op_scatter_nd_min, a);
}

static bool max_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_max(c->in[0].dtype), "compared") && nd_infer(c);
}
static eddy_status max_kernel(eddy_kernel *k)
{
    return nd_rows(k, eddy_row_max(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_nd_max = {
    SCATTER_ND("ScatterNdMax"), .flops = eddy_scatter_flops,
    .infer = max_infer, .kernel = max_kernel,
};

/** The rows of a variable that `indices` names become the greater of what they were and
 *  `updates`, element by element; y = the variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_nd_min.
 *  Gradient: none.  TensorFlow: ScatterNdMax. */
eddy_tensor eddy_scatter_nd_max_with(eddy_scatter_nd_args a)
{
    return scatter(&eddy_op_scatter_nd_max, a);
}
