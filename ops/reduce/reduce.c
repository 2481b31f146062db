/* reduce.c -- reduce_sum, and code shared by all reductions. The others have files of their own,
 * so that a program links only those that it uses.
 *
 * ops/kernels/reduction/reduce_engine.c contains the loops; this file contains shapes and
 * gradients. All reductions take the same arguments. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
/* Arguments of every reduction.
 *   axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none, so that
 *             y has the elements of x
 *   keepdims  keeps reduced dimensions, with size 1 */
typedef struct eddy_reduce_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_reduce_args));
    eddy_tensor x;
    eddy_dims   axes;
    bool        keepdims;
    const char *name;
} eddy_reduce_args;
#endif

const eddy_attr_field eddy__reduce_fields[] = EDDY_FIELDS(eddy_reduce_attrs, axes, keep_dims);

/* ---------------------------------------------------------- shared code -- */

bool eddy__infer_axes(eddy_infer *c, eddy_dims axes, int rank, unsigned *mask)
{
    *mask = 0;
    if (axes.count < -1 || axes.count > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the number of entries of 'axes' is %d; expected 0 to %d",
                               axes.count, EDDY_MAX_RANK);
    for (int i = 0; i < axes.count; i++) {
        int axis;
        if (!eddy__infer_axis(c, axes.at[i], rank < 0 ? EDDY_MAX_RANK : rank, &axis)) return false;
        /* With an unknown rank, -1 and 2 may or may not be the same axis. */
        const unsigned bit = 1u << (rank < 0 && axes.at[i] < 0 ? axis + EDDY_MAX_RANK : axis);
        if (*mask & bit)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "axis %lld is given twice",
                                   (long long)axes.at[i]);
        *mask |= bit;
    }
    if (axes.count == 0 && rank > 0) *mask = (1u << rank) - 1;
    return true;
}

unsigned eddy__axes_mask(eddy_dims axes, int rank)
{
    unsigned mask = axes.count == 0 ? (1u << rank) - 1 : 0;
    for (int i = 0; i < axes.count; i++) mask |= 1u << eddy__axis_of(axes.at[i], rank);
    return mask;
}

static eddy_shape reduced_shape(eddy_shape x, const eddy_reduce_attrs *a, unsigned mask)
{
    if (x.rank < 0) return a->axes.count == 0 && !a->keep_dims ? EDDY_SCALAR : EDDY_UNKNOWN_SHAPE;
    eddy_shape y = { .rank = 0 };
    for (int i = 0; i < x.rank; i++) {
        const bool folded = mask >> i & 1;
        if (!folded || a->keep_dims) y.dim[y.rank++] = folded ? 1 : x.dim[i];
    }
    return y;
}

/* The axes as sorted non-negative numbers, so that equal reductions have equal attributes. */
static void settle_axes(eddy_dims *axes, int rank, unsigned mask)
{
    if (axes->count <= 0) return;
    *axes = (eddy_dims){ .count = 0 };
    for (int i = 0; i < rank; i++)
        if (mask >> i & 1) axes->at[axes->count++] = i;
}

bool eddy__reduce_infer(eddy_infer *c)
{
    eddy_reduce_attrs *a = c->attrs;
    const eddy_type x = c->in[0];
    unsigned mask;
    if (!eddy__infer_axes(c, a->axes, x.shape.rank, &mask)) return false;
    c->out[0] = (eddy_type){ x.dtype, reduced_shape(x.shape, a, mask) };
    if (!c->attrs_fixed && x.shape.rank >= 0) settle_axes(&a->axes, x.shape.rank, mask);
    return true;
}

eddy_reduction eddy__reduce_loops(const eddy_kernel *k, const eddy_fold *fold)
{
    const eddy_reduce_attrs *a = k->attrs;
    const eddy_type x = k->in[0]->type;
    return eddy__reduction_of(eddy__reducer_of(fold, x.dtype), x.shape,
                              eddy__axes_mask(a->axes, x.shape.rank));
}

bool eddy__reduce_folds(const eddy_kernel *k, eddy_blocks *b)
{
    const eddy_reduction p = eddy__reduce_loops(k, k->op->fold);
    return eddy__reduction_blocks(&p, b);
}

eddy_status eddy__reduce_prepare(eddy_kernel *k)
{
    eddy_reduction *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    *p = eddy__reduce_loops(k, k->op->fold);
    eddy__reduction_prepare(k, p);
    return EDDY_OK;
}

eddy_status eddy__reduce_kernel(eddy_kernel *k)
{
    eddy__reduction_kernel(k, k->state, k->out[0]->data, k->in[0]->data);
    return EDDY_OK;
}

void eddy__reduce_batch(eddy_batch *b)
{
    eddy_reduce_attrs a = *(const eddy_reduce_attrs *)b->attrs;
    if (eddy__batch_axes(b, 0, &a.axes)) eddy_batch_apply(b, &a);
}

/* -------------------------------------------------------------------- sum -- */

static void sum_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__reduce_spread(r, r->dy[0]);
}

const eddy_op_def eddy_op_sum =
    REDUCTION("Sum", &eddy__fold_sum, EDDY_TAKES_NUMBERS_COMPLEX, sum_gradient, eddy__reduce_folds);

/** y = the sum of x over `axes`.
 *
 *  x         any numeric type except float16 and bfloat16, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *
 *  The sum over no elements is 0.  float32 is summed in float64 and rounded once; integers wrap
 *  around.  The order of the additions depends only on the shape, so results are reproducible bit
 *  for bit.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid or
 *  repeated axis.
 *  Gradient: dx = dy broadcast along the axes.  TensorFlow: Sum (tf.reduce_sum). */
eddy_tensor eddy_sum_with(const eddy_reduce_args *given)
{
    return eddy__reduce_apply(&eddy_op_sum, given);
}

/* ------------------------------------------------------------------ tools -- */

eddy_tensor eddy__reduce_spread(const eddy_rule *r, eddy_tensor t)
{
    const eddy_reduce_attrs *a = r->attrs;
    return eddy_broadcast_along(t, r->x[0], a->axes, a->keep_dims);
}

eddy_tensor eddy__reduce_apply(const eddy_op_def *op, const eddy_reduce_args *given)
{
    const eddy_reduce_args a = EDDY_TAKE(eddy_reduce_args, given);
    const eddy_reduce_attrs attrs = { a.axes, a.keepdims };
    return eddy_apply(op, &attrs, 1, &a.x, (eddy_apply_args){ .name = a.name });
}
