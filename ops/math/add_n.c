/* add_n.c -- add_n: the sum of any number of tensors of the same shape. */
#include "ops/math/elementwise_rows.h"
#include "graph/call_options.h"
#include "ops/fusion_targets.h"

#include <string.h>

EDDY_FUSION_TARGETS(&eddy_op_add)

/* Refines `known` by s; false if the two are incompatible. */
static bool narrow(eddy_shape *known, eddy_shape s)
{
    if (!eddy_shape_compatible(*known, s)) return false;
    if (known->rank < 0) *known = s;
    for (int i = 0; i < s.rank; i++)
        if (known->dim[i] < 0) known->dim[i] = s.dim[i];
    return true;
}

static bool add_n_infer(eddy_infer *c)
{
    char one[96], other[96];
    eddy_type *out = &c->out[0];
    *out = c->in[0];
    for (int i = 1; i < c->n_in; i++) {
        if (!narrow(&out->shape, c->in[i].shape))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "input %d has shape %s, but the others have %s", i,
                                   eddy_shape_print(c->in[i].shape, one, sizeof one),
                                   eddy_shape_print(out->shape, other, sizeof other));
    }
    return true;
}

/* Adds all inputs of a tile before the next tile, two at a time, from the left. The sum is kept
 * in a buffer until all inputs are read, because the output may share memory with an input. */
enum { TILE = 1024 };
#define TEMPLATE "ops/kernels/elementwise/add_n_loops.h"
#define TYPES    FOR_NUMBERS_COMPLEX
#include "ops/kernels/for_types.h"

static eddy_status add_n_kernel(eddy_kernel *k)
{
    EDDY_FOR_TYPE(sum, FOR_NUMBERS_COMPLEX, k->out[0]->type.dtype)(k);
    return EDDY_OK;
}

static void add_n_gradient(eddy_rule *r)
{
    for (int i = 0; i < r->n_in; i++) r->dx[i] = r->dy[0];
}

static double add_n_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return (n_in - 1) * eddy_flops_per_output(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_add_n = {
    .name = "AddN", .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = 1,
    .inputs = EDDY_INPUTS({ "xs", EDDY_TAKES_NUMBERS_COMPLEX }, { "xs", EDDY_LIKE(0) }),
    .flags = EDDY_OP_IN_PLACE, .infer = add_n_infer, .kernel = add_n_kernel,
    .flops = add_n_flops,
    .gradient = add_n_gradient, .batch = eddy_batch_as_is,
};

#ifdef EDDY_HEADER
typedef struct eddy_add_n_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_add_n_args));
    eddy_list   xs;
    const char *name;       /* of the node */
} eddy_add_n_args;
#endif

/** y = x[0] + x[1] + ... + x[n-1], added from the left.
 *
 *  xs    one or more tensors of the same type and shape, of any numeric type except float16 and
 *        bfloat16; there is no broadcasting
 *  name  of the node
 *
 *  A single tensor is returned as is, or as an identity if a name is given.  Integers wrap
 *  around.  An empty list has no graph in which to record an error: the result is the invalid
 *  tensor, and the first builder that receives it together with a valid tensor records
 *  EDDY_INVALID_ARGUMENT.
 *  Errors: EDDY_BAD_SHAPE if the shapes differ.
 *  Gradient: dx[i] = dy.  TensorFlow: AddN. */
eddy_tensor eddy_add_n_with(const eddy_add_n_args *given)
{
    eddy_add_n_args a = EDDY_TAKE(eddy_add_n_args, given);
    const eddy_list xs = a.xs;
    if (xs.count < 1 || !xs.at)
        return eddy_fail(NULL, EDDY_INVALID_ARGUMENT, "AddN: no inputs");
    if (xs.count > 1 || !eddy_is_valid(xs.at[0]))
        return eddy_apply(&eddy_op_add_n, NULL, xs.count, xs.at,
                          (eddy_apply_args){ .name = a.name });
    return a.name ? eddy_named(a.name, eddy_identity(xs.at[0])) : xs.at[0];
}
