/* transpose.c -- transpose: permuting the dimensions of a tensor. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/arrays/transpose.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

/** y = x with its dimensions in the order `perm`: dimension i of y is dimension perm[i] of x.
 *
 *  x     any element type and shape
 *  perm  each axis of x once, in [-rank, rank); default: the reverse order
 *
 *  Errors: EDDY_BAD_SHAPE if perm does not have one entry per dimension,
 *  EDDY_INVALID_ARGUMENT if it is not a permutation.
 *  Gradient: dx = dy under the inverse permutation.  TensorFlow: Transpose. */
#ifdef EDDY_HEADER
typedef struct eddy_transpose_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_transpose_args));
    eddy_tensor x;
    eddy_dims   perm;
    const char *name;
} eddy_transpose_args;
#endif

/* The dimension of x that becomes dimension i of y. */
static int permuted(const eddy_transpose_attrs *a, int rank, int i)
{
    return a->perm.count > 0 ? eddy__axis_of(a->perm.at[i], rank) : rank - 1 - i;
}

static bool transpose_infer(eddy_infer *c)
{
    const eddy_transpose_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    bool used[EDDY_MAX_RANK] = { false };
    int  rank, axis;
    if (!eddy__infer_dims(c, "perm", a->perm, &rank)) return false;
    for (int i = 0; i < a->perm.count; i++) {
        if (!eddy__infer_axis(c, a->perm.at[i], rank, &axis)) return false;
        if (used[axis])
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "perm contains axis %d twice", axis);
        used[axis] = true;
    }
    eddy_shape s = eddy__shape_open(rank);
    for (int i = 0; i < rank && x->shape.rank >= 0; i++)
        s.dim[i] = x->shape.dim[permuted(a, rank, i)];
    return eddy__infer_yield(c, 0, x->dtype, s);
}

static eddy_status transpose_prepare(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape, y = k->out[0]->type.shape;
    int64_t from[EDDY_MAX_RANK], to[EDDY_MAX_RANK];
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__strides_of(x, from);
    eddy__strides_of(y, to);
    for (int i = 0; i < y.rank; i++)
        eddy__box_add(b, y.dim[i], to[i], from[permuted(k->attrs, x.rank, i)]);
    return EDDY_OK;
}

static void transpose_gradient(eddy_rule *r)
{
    const eddy_transpose_attrs *a = r->attrs;
    eddy_dims inverse = a->perm;
    for (int i = 0; i < a->perm.count; i++) inverse.at[permuted(a, a->perm.count, i)] = i;
    r->dx[0] = eddy_transpose(r->dy[0], inverse);
}

static void transpose_batch(eddy_batch *b)
{
    const eddy_transpose_attrs *a = b->attrs;
    const int rank = a->perm.count > 0 ? a->perm.count : eddy__batch_rank(b, 0);
    eddy_dims perm = { .count = rank + 1 };
    if (rank < 0 || rank >= EDDY_MAX_RANK) return;
    for (int i = 0; i < rank; i++) perm.at[i + 1] = permuted(a, rank, i) + 1;
    b->y[0] = eddy_transpose(b->x[0], perm);
}

const eddy_op_def eddy_op_transpose = {
    .name = "Transpose", .label = "transpose", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(eddy_transpose_attrs),
    .attrs = EDDY_ATTRS(eddy_transpose_attrs, perm),
    .infer = transpose_infer, .prepare = transpose_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = transpose_gradient, .batch = transpose_batch,
};

eddy_tensor eddy_transpose_with(const eddy_transpose_args *given)
{
    eddy_transpose_args a = EDDY_TAKE(eddy_transpose_args, given);
    return eddy__apply_named(a.name, &eddy_op_transpose, &(eddy_transpose_attrs){ a.perm }, 1,
                             &a.x);
}
