/* count_up_to.c -- count_up_to: a counter in a variable that ends at a limit. */
#include "ops/short_names.h"
#include "ops/state/variable.h"
#include "build/gen/table.h"

typedef struct count_attrs {
    int64_t limit;
} count_attrs;

static bool count_infer(eddy_infer *c)
{
    const count_attrs *a = c->attrs;
    const eddy_dtype   d = c->in[0].dtype;
    if (a->limit > eddy__dtype_highest(d) || a->limit < eddy__dtype_lowest(d))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the limit %lld does not fit in %s",
                               (long long)a->limit, eddy_dtype_name(d));
    return eddy__infer_yield(c, 0, d, EDDY_SCALAR);
}

static eddy_status count_kernel(eddy_kernel *k)
{
    const count_attrs *a = k->attrs;
    const eddy_buffer *var = k->in[0];
    const eddy_status  s = eddy__variable_ready(k);
    if (s != EDDY_OK) return s;
    if (eddy__index_at(var, 0) >= a->limit)
        return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE, "Reached limit of %lld",
                                (long long)a->limit);
    eddy__index_put(var, 0, eddy__index_at(var, 0) + 1);
    return eddy__variable_yield(k);
}

const eddy_op_def eddy_op_count_up_to = {
    .name = "CountUpTo", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "var", EDDY_TAKES_INDICES | EDDY_RANK(0) }),
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL,
    .attrs_size = sizeof(count_attrs),
    .attrs = EDDY_ATTRS(count_attrs, limit),
    .flops = eddy_flops_per_output,
    .infer = count_infer, .kernel = count_kernel, .gradient = eddy_not_differentiable,
};

/** y = the variable's value, which is then incremented; at the limit, the run fails instead.
 *
 *  var    a variable, an int32 or int64 scalar
 *  limit  must fit in the variable's type; the last value of y is limit - 1
 *
 *  Errors: EDDY_INVALID_ARGUMENT if var is not a variable or limit does not fit; at run time,
 *  EDDY_UNINITIALIZED, and EDDY_OUT_OF_RANGE at the limit, with the variable unchanged.
 *  Gradient: none.  TensorFlow: CountUpTo. */
eddy_tensor eddy_count_up_to(eddy_tensor var, int64_t limit)
{
    return Sub(eddy_apply1(&eddy_op_count_up_to, &(count_attrs){ limit }, var), 1);
}
