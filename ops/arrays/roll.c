/* roll.c -- roll: a circular shift of the elements along axes. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_roll_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_roll_args));
    eddy_tensor x;
    int64_t     shift;
    int64_t     axis;              /* default: 0 */
    const char *name;
} eddy_roll_args;
#endif

typedef struct roll_attrs {
    int64_t shift, axis;
} roll_attrs;

static bool roll_infer(eddy_infer *c)
{
    const roll_attrs *a = c->attrs;
    const eddy_shape  s = c->in[0].shape;
    int axis;
    if (a->shift == INT64_MIN)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "a shift of -2^63 cannot be negated");
    if (s.rank >= 0 && !eddy__infer_axis(c, a->axis, s.rank, &axis)) return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static eddy_status roll_kernel(eddy_kernel *k)
{
    const roll_attrs *a = k->attrs;
    const eddy_shape  s = k->in[0]->type.shape;
    const int         axis = eddy__axis_of(a->axis, s.rank);
    const int64_t     outer = eddy__shape_product(s, 0, axis), n = s.dim[axis];
    const size_t      row = (size_t)eddy__shape_product(s, axis + 1, s.rank)
                          * eddy_dtype_size(k->in[0]->type.dtype);
    const char *from = k->in[0]->data;
    char       *to = k->out[0]->data;
    if (k->out[0]->count == 0) return EDDY_OK;
    const size_t all = (size_t)n * row, cut = (size_t)((a->shift % n + n) % n) * row;
    for (int64_t i = 0; i < outer; i++, from += all, to += all) {
        memcpy(to + cut, from, all - cut);
        memcpy(to, from + (all - cut), cut);
    }
    return EDDY_OK;
}

static void roll_gradient(eddy_rule *r)
{
    const roll_attrs *a = r->attrs;
    r->dx[0] = eddy_roll(r->dy[0], -a->shift, a->axis);
}

static void roll_batch(eddy_batch *b)
{
    roll_attrs a = *(const roll_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);          /* behind the batch axis */
    eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_roll = {
    .name = "Roll", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(roll_attrs),
    .attrs = EDDY_ATTRS(roll_attrs, shift, axis),
    .infer = roll_infer, .kernel = roll_kernel, .gradient = roll_gradient,
    .batch = roll_batch,
};

/** y = x shifted circularly along `axis` by `shift` positions.
 *
 *  x  any element type, rank at least 1; y has its type and shape
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an axis that x does not have.
 *  Gradient: dx = dy shifted back.  TensorFlow: Roll. */
eddy_tensor eddy_roll_with(const eddy_roll_args *given)
{
    eddy_roll_args args = EDDY_TAKE(eddy_roll_args, given);
    return eddy__apply_named(args.name, &eddy_op_roll, &(roll_attrs){ args.shift, args.axis }, 1,
                             (eddy_tensor[]){ args.x });
}
