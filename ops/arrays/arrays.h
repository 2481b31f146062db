/* arrays.h -- helpers shared by the shape rules of array operations: axes, dimensions, element
 * types. Their kernels move elements with ops/kernels/arrays/box_copy.h and index_checks.h. */
#ifndef EDDY_OPS_ARRAYS_ARRAYS_H
#define EDDY_OPS_ARRAYS_ARRAYS_H

#include "graph/op.h"
#include "ops/kernels/arrays/box_copy.h"
#include "ops/kernels/arrays/index_checks.h"

/* eddy_apply for builders with a name option. */
static inline eddy_tensor eddy__apply_named(const char *name, const eddy_op_def *op,
                                            const void *attrs, int n, const eddy_tensor *in)
{
    return eddy_apply(op, attrs, n, in, (eddy_apply_args){ .name = name });
}

/* eddy_apply to three inputs, with the default name. */
static inline eddy_tensor eddy__apply3(const eddy_op_def *op, const void *attrs, eddy_tensor a,
                                       eddy_tensor b, eddy_tensor c)
{
    return eddy_apply(op, attrs, 3, (eddy_tensor[]){ a, b, c }, (eddy_apply_args){ 0 });
}

/* ------------------------------------------------------------ inferring -- */

static inline int eddy__axis_of(int64_t axis, int rank)
{
    return (int)(axis < 0 ? axis + rank : axis);
}

/* *out = axis counted from the front; reports an error unless it is in [-rank, rank). */
bool eddy__infer_axis(eddy_infer *c, int64_t axis, int rank, int *out);
/* Sets out[i] to this type; returns true. */
bool eddy__infer_yield(eddy_infer *c, int i, eddy_dtype d, eddy_shape s);
/* Checks `d`, the list named `what`, which has one entry per dimension of input 0; if the rank is
 * unknown, it is that of the list.  *count is -1 if neither the list nor the rank is known. */
bool eddy__infer_dims(eddy_infer *c, const char *what, eddy_dims d, int *count);
/* The same for two lists, which must have the same number of entries, *count. */
bool eddy__infer_dims_pair(eddy_infer *c, const char *a, eddy_dims of_a, const char *b,
                           eddy_dims of_b, int *count);

/* *a = whichever of *a and b is known; returns false if they contradict each other. */
static inline bool eddy__dim_unify(int64_t *a, int64_t b)
{
    if (*a == EDDY_ANY) *a = b;
    return b == EDDY_ANY || *a == b;
}

/* A shape of `rank` open dimensions; rank < 0 is an unknown rank. */
eddy_shape eddy__shape_open(int rank);
/* The shape of x without `axis`; and with `dim` inserted at `axis`, for which there is room. */
eddy_shape eddy__shape_without(eddy_shape x, int axis);
eddy_shape eddy__shape_with(eddy_shape x, int axis, int64_t dim);
/* The product of dim[first..last), which must be known. */
int64_t eddy__shape_product(eddy_shape s, int first, int last);

/* Element i of an integer array. */
int64_t eddy__array_integer(const eddy_array *a, int64_t i);

#endif
