/* scatter_nd.c -- scatter_nd updates of a variable in place, addressed by tuples of indices. */
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/arrays/nd_indices.h"
#include "ops/state/variable.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
/* Options of eddy_scatter_nd_update, _add, _sub, _min and _max. */
typedef struct eddy_scatter_nd_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_scatter_nd_args));
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
    return eddy__infer_tuple_rows(c, 2, var->shape) &&
           eddy__infer_yield(c, 0, var->dtype, var->shape);
}

/* Nothing is written before all tuples are checked. */
static eddy_status nd_rows(eddy_kernel *k)
{
    const eddy_tuples l = eddy__tuples_of(k->in[0]->type.shape, k->in[1], k->attrs);
    eddy_status       s = eddy__variable_ready(k);
    if (s == EDDY_OK) s = eddy__check_tuples(k, &l);
    if (s != EDDY_OK) return s;
    eddy__tuples_put(k, &l, k->in[2], k->in[0]->data,
                     eddy__row_of(k->op->variant, k->in[0]->type.dtype));
    return eddy__variable_yield(k);
}

static eddy_tensor scatter(const eddy_op_def *op, const eddy_scatter_nd_args *given)
{
    const eddy_scatter_nd_args a = EDDY_TAKE(eddy_scatter_nd_args, given);
    return eddy__apply_named(a.name, op, &(eddy_tuples_attrs){ a.batch_dims }, 3,
                             (eddy_tensor[]){ a.var, a.indices, a.updates });
}

#define SCATTER_ND(type, change, types, flops_fn) \
    { \
        .name = type, .min_inputs = 3, .max_inputs = 3, .outputs = 1, .variant = change, \
        .inputs = \
            EDDY_INPUTS({ "var", types }, { "indices", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) }, \
                        { "updates", EDDY_LIKE(0) }), \
        .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL, \
        .attrs_size = sizeof(eddy_tuples_attrs), .attrs = eddy__tuples_fields, .infer = nd_infer, \
        .kernel = nd_rows, .gradient = eddy_not_differentiable, .flops = flops_fn \
    }

/* ------------------------------------------------------------------- update -- */

const eddy_op_def eddy_op_scatter_nd_update =
    SCATTER_ND("ScatterNdUpdate", EDDY_ROW_PUT, EDDY_ANY_TYPE, NULL);

/** Replaces the rows of a variable at `indices` by `updates`; y = the variable's new value.
 *
 *  var         a variable
 *  indices     int32 or int64, rank at least 1; index tuples along the last dimension, as for
 *              eddy_gather_nd
 *  updates     same type as var; the shape that gathering from var returns
 *  batch_dims  the number of leading dimensions that var and indices share
 *
 *  For repeated tuples, the last row is kept.
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT if the arguments do not match;
 *  at run time, EDDY_UNINITIALIZED, and EDDY_OUT_OF_RANGE for an index out of range, before
 *  anything is written.
 *  Gradient: none.  TensorFlow: ScatterNdUpdate. */
eddy_tensor eddy_scatter_nd_update_with(const eddy_scatter_nd_args *given)
{
    return scatter(&eddy_op_scatter_nd_update, given);
}

/** var[b..., indices[b..., i]] = updates[b..., i], with separate indices for each example; y =
 *  the variable's new value.
 *
 *  var      a variable [b..., rows, ...]
 *  indices  int32 or int64 [b..., n]
 *  updates  same type as var, [b..., n, ...]
 *
 *  Errors: as for eddy_scatter_nd_update; EDDY_BAD_SHAPE if the rank of indices is unknown.
 *  Gradient: none.  TensorFlow: batch_scatter_update. */
eddy_tensor eddy_batch_scatter_update(eddy_tensor var, eddy_tensor indices, eddy_tensor updates)
{
    const int rank = eddy_shape_of(indices).rank;
    char text[128];
    if (eddy_is_valid(indices) && rank < 1)
        return eddy_fail(indices.graph, EDDY_BAD_SHAPE, "batch_scatter_update: indices has shape "
                         "%s; rank 1 or more expected",
                         eddy_shape_print(eddy_shape_of(indices), text, sizeof text));
    return eddy_scatter_nd_update(var, ExpandDims(indices, -1), updates, .batch_dims = rank - 1);
}

/* --------------------------------------------------------------------- sums -- */

const eddy_op_def eddy_op_scatter_nd_add =
    SCATTER_ND("ScatterNdAdd", EDDY_ROW_ADD, EDDY_TAKES_WIDE_NUMBERS_COMPLEX, eddy__scatter_flops);

/** Adds `updates` to the rows of a variable at `indices`, in order; y = the variable's new value.
 *
 *  Arguments and errors are as for eddy_scatter_nd_update; var has any numeric type except
 *  float16 and bfloat16.  Updates of repeated tuples are summed.
 *  Gradient: none.  TensorFlow: ScatterNdAdd. */
eddy_tensor eddy_scatter_nd_add_with(const eddy_scatter_nd_args *given)
{
    return scatter(&eddy_op_scatter_nd_add, given);
}

const eddy_op_def eddy_op_scatter_nd_sub =
    SCATTER_ND("ScatterNdSub", EDDY_ROW_SUB, EDDY_TAKES_WIDE_NUMBERS_COMPLEX, eddy__scatter_flops);

/** Subtracts `updates` from the rows of a variable at `indices`, in order; y = the variable's new
 *  value.
 *
 *  Arguments and errors are as for eddy_scatter_nd_add.
 *  Gradient: none.  TensorFlow: ScatterNdSub. */
eddy_tensor eddy_scatter_nd_sub_with(const eddy_scatter_nd_args *given)
{
    return scatter(&eddy_op_scatter_nd_sub, given);
}

/* ----------------------------------------------------------------- extremes -- */

const eddy_op_def eddy_op_scatter_nd_min =
    SCATTER_ND("ScatterNdMin", EDDY_ROW_MIN, EDDY_TAKES_WIDE_NUMBERS, eddy__scatter_flops);

/** Replaces the rows of a variable at `indices` by the elementwise minimum of their old values
 *  and `updates`; y = the variable's new value.
 *
 *  Arguments and errors are as for eddy_scatter_nd_update; var is float32, float64, int32, int64
 *  or uint8.  NaN where either is NaN.
 *  Gradient: none.  TensorFlow: ScatterNdMin. */
eddy_tensor eddy_scatter_nd_min_with(const eddy_scatter_nd_args *given)
{
    return scatter(&eddy_op_scatter_nd_min, given);
}

const eddy_op_def eddy_op_scatter_nd_max =
    SCATTER_ND("ScatterNdMax", EDDY_ROW_MAX, EDDY_TAKES_WIDE_NUMBERS, eddy__scatter_flops);

/** Replaces the rows of a variable at `indices` by the elementwise maximum of their old values
 *  and `updates`; y = the variable's new value.
 *
 *  Arguments and errors are as for eddy_scatter_nd_min.
 *  Gradient: none.  TensorFlow: ScatterNdMax. */
eddy_tensor eddy_scatter_nd_max_with(const eddy_scatter_nd_args *given)
{
    return scatter(&eddy_op_scatter_nd_max, given);
}
