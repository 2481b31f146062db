/* scatter_more.c -- rows of a variable multiplied, divided, and held against others, in place. */
#include "ops/math.h"
#include "ops/variables.h"
#include "build/gen/table.h"

#include <string.h>

static eddy_tensor scatter(const eddy_op_def *op, eddy_scatter_args a)
{
    return eddy_apply_named(a.name, op, &(eddy_scatter_attrs){ a.skip_negative }, 3,
                            (eddy_tensor[]){ a.var, a.indices, a.updates });
}

#define SCATTER(type)                                                           \
    .name = type, .min_inputs = 3, .max_inputs = 3, .outputs = 1,               \
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL, \
    .attrs_size = sizeof(eddy_scatter_attrs), .attrs = eddy_scatter_fields,     \
    .flops = eddy_scatter_flops, .prepare = eddy_scatter_prepare,               \
    .gradient = eddy_not_differentiable

/* ------------------------------------------------------------------ product -- */

static bool mul_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_mul(c->in[0].dtype), "multiplied") &&
           eddy_infer_scatter(c);
}
static eddy_status mul_kernel(eddy_kernel *k)
{
    return eddy_scatter_rows(k, eddy_row_mul(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_mul = {
    SCATTER("ScatterMul"), .infer = mul_infer, .kernel = mul_kernel,
};

/** var[indices[i]] *= updates[i], one after the other; y = the variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_add.
 *  Gradient: none.  TensorFlow: ScatterMul. */
eddy_tensor eddy_scatter_mul_with(eddy_scatter_args a)
{
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
        if (is_zero(updates, i) && eddy_index_at(indices, i / row) >= 0) return i;
    return -1;
}

static bool div_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_div(c->in[0].dtype), "divided") && eddy_infer_scatter(c);
}
static eddy_status div_kernel(eddy_kernel *k)
{
    const int64_t bad = first_zero(k);
    if (bad >= 0)
        return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "division by zero: element %lld of the "
                                "updates", (long long)bad);
    return eddy_scatter_rows(k, eddy_row_div(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_div = {
    SCATTER("ScatterDiv"), .infer = div_infer, .kernel = div_kernel,
};

/** var[indices[i]] /= updates[i], one after the other; y = the variable's new value.
 *
 *  Arguments as for eddy_scatter_add.  Quotients of integers are cut towards 0.
 *  Errors: as there; at the run, EDDY_INVALID_ARGUMENT for an integer divided by 0, before
 *  anything is written.
 *  Gradient: none.  TensorFlow: ScatterDiv. */
eddy_tensor eddy_scatter_div_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_div, a);
}

/* ----------------------------------------------------------------- extremes -- */

static bool min_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_min(c->in[0].dtype), "compared") && eddy_infer_scatter(c);
}
static eddy_status min_kernel(eddy_kernel *k)
{
    return eddy_scatter_rows(k, eddy_row_min(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_min = {
    SCATTER("ScatterMin"), .infer = min_infer, .kernel = min_kernel,
};

/** var[indices[i]] = the lesser of what is there and updates[i], element by element; y = the
 *  variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_update; var holds real numbers, not bool, float16
 *  or bfloat16.  NaN where either is.
 *  Gradient: none.  TensorFlow: ScatterMin. */
eddy_tensor eddy_scatter_min_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_min, a);
}

static bool max_infer(eddy_infer *c)
{
    return eddy_infer_combine(c, eddy_row_max(c->in[0].dtype), "compared") && eddy_infer_scatter(c);
}
static eddy_status max_kernel(eddy_kernel *k)
{
    return eddy_scatter_rows(k, eddy_row_max(k->in[0]->type.dtype));
}

const eddy_op_def eddy_op_scatter_max = {
    SCATTER("ScatterMax"), .infer = max_infer, .kernel = max_kernel,
};

/** var[indices[i]] = the greater of what is there and updates[i], element by element; y = the
 *  variable's new value.
 *
 *  Arguments and errors as for eddy_scatter_min.
 *  Gradient: none.  TensorFlow: ScatterMax. */
eddy_tensor eddy_scatter_max_with(eddy_scatter_args a)
{
    return scatter(&eddy_op_scatter_max, a);
}
