/* scatter_mul_div.c -- scatter_mul, scatter_div, scatter_min and scatter_max on rows of a
 * variable, in place. */
#include "ops/short_names.h"
#include "graph/take.h"
#include "ops/state/variable.h"
#include "build/gen/table.h"

#include <string.h>

static eddy_tensor scatter(const eddy_op_def *op, eddy_scatter_args a)
{
    return eddy__apply_named(a.name, op, &(eddy_scatter_attrs){ a.skip_negative }, 3,
                             (eddy_tensor[]){ a.var, a.indices, a.updates });
}

/* ------------------------------------------------------------------ product -- */

const eddy_op_def eddy_op_scatter_mul = {
    EDDY_SCATTER("ScatterMul", EDDY_ROW_MUL, EDDY_TAKES_NUMBERS_COMPLEX),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

/** var[indices[i]] *= updates[i], one after the other; y = the variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_add.
 *  Gradient: none.  TensorFlow: ScatterMul. */
eddy_tensor eddy_scatter_mul_with(const eddy_scatter_args *given)
{
    eddy_scatter_args a = EDDY_TAKE(eddy_scatter_args, given);
    return scatter(&eddy_op_scatter_mul, a);
}

/* ----------------------------------------------------------------- quotient -- */

/* Element i of integers is 0. */
static bool is_zero(const eddy_buffer *x, int64_t i)
{
    static const char zero[8] = { 0 };
    const size_t size = eddy_dtype_size(x->type.dtype);
    return memcmp((const char *)x->data + (size_t)i * size, zero, size) == 0;
}

/* The first 0 among the updates of rows that are not passed over; -1 if there is none, or the
 * numbers are not integers. */
static int64_t first_zero(const eddy_kernel *k)
{
    const eddy_buffer *indices = k->in[1], *updates = k->in[2];
    const int64_t      row = indices->count > 0 ? updates->count / indices->count : 0;
    if (!eddy_dtype_is_integer(updates->type.dtype)) return -1;
    for (int64_t i = 0; i < updates->count; i++)
        if (is_zero(updates, i) && eddy__index_at(indices, i / row) >= 0) return i;
    return -1;
}

static eddy_status div_kernel(eddy_kernel *k)
{
    const int64_t bad = first_zero(k);
    if (bad >= 0)
        return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "division by zero: element %lld of the "
                                "updates", (long long)bad);
    return eddy__scatter_rows(k);
}

const eddy_op_def eddy_op_scatter_div = {
    EDDY_SCATTER("ScatterDiv", EDDY_ROW_DIV, EDDY_TAKES_NUMBERS_COMPLEX),
    .flops = eddy__scatter_flops, .kernel = div_kernel,
};

/** var[indices[i]] /= updates[i], one after the other; y = the variable's new value.
 *
 *  Arguments as for eddy_scatter_add.  Quotients of integers are cut towards 0.
 *  Errors: as there; at the run, EDDY_INVALID_ARGUMENT for an integer divided by 0, before
 *  anything is written.
 *  Gradient: none.  TensorFlow: ScatterDiv. */
eddy_tensor eddy_scatter_div_with(const eddy_scatter_args *given)
{
    eddy_scatter_args a = EDDY_TAKE(eddy_scatter_args, given);
    return scatter(&eddy_op_scatter_div, a);
}

/* ----------------------------------------------------------------- extremes -- */

const eddy_op_def eddy_op_scatter_min = {
    EDDY_SCATTER("ScatterMin", EDDY_ROW_MIN, EDDY_TAKES_NUMBERS),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

/** var[indices[i]] = the elementwise minimum of its old value and updates[i]; y = the variable's
 *  new value.
 *
 *  Arguments and errors as for eddy_scatter_update; var holds real numbers, not bool, float16
 *  or bfloat16.  NaN where either is.
 *  Gradient: none.  TensorFlow: ScatterMin. */
eddy_tensor eddy_scatter_min_with(const eddy_scatter_args *given)
{
    eddy_scatter_args a = EDDY_TAKE(eddy_scatter_args, given);
    return scatter(&eddy_op_scatter_min, a);
}

const eddy_op_def eddy_op_scatter_max = {
    EDDY_SCATTER("ScatterMax", EDDY_ROW_MAX, EDDY_TAKES_NUMBERS),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

/** var[indices[i]] = the elementwise maximum of its old value and updates[i]; y = the variable's
 *  new value.
 *
 *  Arguments and errors as for eddy_scatter_min.
 *  Gradient: none.  TensorFlow: ScatterMax. */
eddy_tensor eddy_scatter_max_with(const eddy_scatter_args *given)
{
    eddy_scatter_args a = EDDY_TAKE(eddy_scatter_args, given);
    return scatter(&eddy_op_scatter_max, a);
}
