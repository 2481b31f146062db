/* scatter_mul_div.c -- scatter_mul, scatter_div, scatter_min and scatter_max on rows of a
 * variable, in place. */
#include "ops/short_names.h"
#include "ops/state/variable.h"
#include "build/gen/table.h"

#include <string.h>

/* ------------------------------------------------------------------ product -- */

const eddy_op_def eddy_op_scatter_mul = {
    EDDY_SCATTER("ScatterMul", EDDY_ROW_MUL, EDDY_TAKES_WIDE_NUMBERS_COMPLEX),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

/** var[indices[i]] *= updates[i], in order; y = the variable's new value.
 *
 *  Arguments and errors are as for eddy_scatter_add.
 *  Gradient: none.  TensorFlow: ScatterMul. */
eddy_tensor eddy_scatter_mul_with(const eddy_scatter_args *given)
{
    return eddy__scatter_apply(&eddy_op_scatter_mul, given);
}

/* ----------------------------------------------------------------- quotient -- */

/* Whether element i, an integer, is 0. */
static bool is_zero(const eddy_buffer *x, int64_t i)
{
    static const char zero[8] = { 0 };
    const size_t size = eddy_dtype_size(x->type.dtype);
    return memcmp((const char *)x->data + (size_t)i * size, zero, size) == 0;
}

/* The first 0 among the updates of rows that are not skipped; -1 if there is none or the type is
 * not an integer type. */
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
    EDDY_SCATTER("ScatterDiv", EDDY_ROW_DIV, EDDY_TAKES_WIDE_NUMBERS_COMPLEX),
    .flops = eddy__scatter_flops, .kernel = div_kernel,
};

/** var[indices[i]] /= updates[i], in order; y = the variable's new value.
 *
 *  Arguments are as for eddy_scatter_add.  Quotients of integers are rounded toward 0.
 *  Errors: as for eddy_scatter_add; at run time, EDDY_INVALID_ARGUMENT if an integer is divided
 *  by 0, before anything is written.
 *  Gradient: none.  TensorFlow: ScatterDiv. */
eddy_tensor eddy_scatter_div_with(const eddy_scatter_args *given)
{
    return eddy__scatter_apply(&eddy_op_scatter_div, given);
}

/* ----------------------------------------------------------------- extremes -- */

const eddy_op_def eddy_op_scatter_min = {
    EDDY_SCATTER("ScatterMin", EDDY_ROW_MIN, EDDY_TAKES_WIDE_NUMBERS),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

/** var[indices[i]] = the elementwise minimum of its old value and updates[i]; y = the variable's
 *  new value.
 *
 *  Arguments and errors are as for eddy_scatter_update; var is float32, float64, int32, int64 or
 *  uint8.  NaN where either is NaN.
 *  Gradient: none.  TensorFlow: ScatterMin. */
eddy_tensor eddy_scatter_min_with(const eddy_scatter_args *given)
{
    return eddy__scatter_apply(&eddy_op_scatter_min, given);
}

const eddy_op_def eddy_op_scatter_max = {
    EDDY_SCATTER("ScatterMax", EDDY_ROW_MAX, EDDY_TAKES_WIDE_NUMBERS),
    .flops = eddy__scatter_flops, .kernel = eddy__scatter_rows,
};

/** var[indices[i]] = the elementwise maximum of its old value and updates[i]; y = the variable's
 *  new value.
 *
 *  Arguments and errors are as for eddy_scatter_min.
 *  Gradient: none.  TensorFlow: ScatterMax. */
eddy_tensor eddy_scatter_max_with(const eddy_scatter_args *given)
{
    return eddy__scatter_apply(&eddy_op_scatter_max, given);
}
