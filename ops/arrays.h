/* arrays.h -- what the ops on arrays share: axes, boxes of elements, indices.
 *
 * Most of these ops only move elements.  A box says which: a list of loops,
 * each with its length and its step in the destination and in the source.
 * Transposing, broadcasting, slicing and tiling differ in their boxes alone. */
#ifndef EDDY_ARRAYS_H
#define EDDY_ARRAYS_H

#include "graph/op.h"

/* eddy_apply for builders with a name option. */
static inline eddy_tensor eddy_apply_named(const char *name, const eddy_op_def *op,
                                           const void *attrs, int n, const eddy_tensor *in)
{
    return eddy_apply(op, attrs, n, in, (eddy_apply_args){ .name = name });
}

/* ------------------------------------------------------------ inferring -- */

static inline int eddy_axis_of(int64_t axis, int rank)
{
    return (int)(axis < 0 ? axis + rank : axis);
}

/* *out = axis counted from the front; says so if it is not in [-rank, rank). */
bool eddy_infer_axis(eddy_infer *c, int64_t axis, int rank, int *out);
/* out[i] = this type; returns true. */
bool eddy_infer_yield(eddy_infer *c, int i, eddy_dtype d, eddy_shape s);
/* Input i holds int32 or int64. */
bool eddy_infer_indices(eddy_infer *c, int i);
/* `d` as the list `what` with one entry a dimension of input 0; an unknown rank
 * becomes known by it.  *count is -1 if neither the list nor the rank is known. */
bool eddy_infer_dims(eddy_infer *c, const char *what, eddy_dims d, int *count);

/* *a = what is known from both; false if they contradict each other. */
static inline bool eddy_dim_unify(int64_t *a, int64_t b)
{
    if (*a == EDDY_ANY) *a = b;
    return b == EDDY_ANY || *a == b;
}

/* A shape of `rank` open dimensions; rank < 0 is an unknown rank. */
eddy_shape eddy_shape_open(int rank);
/* The shape of x less `axis`; and with `dim` put in at `axis`, which fits. */
eddy_shape eddy_shape_without(eddy_shape x, int axis);
eddy_shape eddy_shape_with(eddy_shape x, int axis, int64_t dim);
/* Product of dim[first..last); all known. */
int64_t eddy_shape_product(eddy_shape s, int first, int last);

/* Element i of an integer array. */
int64_t eddy_array_integer(const eddy_array *a, int64_t i);

/* ---------------------------------------------------------------- boxes -- */

enum { EDDY_BOX_RANK = 2 * EDDY_MAX_RANK };

typedef struct eddy_box {
    int     rank;
    int64_t dim[EDDY_BOX_RANK];      /* outermost loop first; none is 1 */
    int64_t to[EDDY_BOX_RANK];       /* steps, in elements */
    int64_t from[EDDY_BOX_RANK];
    int64_t to_at, from_at;          /* where the box begins */
} eddy_box;

/* Row-major steps of a known shape. */
void eddy_strides_of(eddy_shape s, int64_t *stride);
/* Adds an innermost loop, merged with the one around it where that can be. */
void eddy_box_add(eddy_box *b, int64_t dim, int64_t to, int64_t from);
/* The loops of `s`, a part of the shapes `to` and `from` of the same rank. */
void eddy_box_of_part(eddy_box *b, eddy_shape s, eddy_shape to, eddy_shape from);

/* Whether the elements of a part, a box of the whole, lie one after the other in it. */
bool eddy_lies_together(eddy_shape part, eddy_shape whole);

/* to[...] = from[...] for elements of `size` bytes. */
void eddy_box_copy(const eddy_box *b, size_t size, void *to, const void *from);
/* The same in parallel, for a kernel. */
void eddy_box_copy_parallel(const eddy_kernel *k, const eddy_box *b, size_t size, void *to,
                            const void *from);

/* A box as k->state, or NULL after recording why. */
eddy_box *eddy_box_state(eddy_kernel *k);
/* The kernel that does no more than copy in[0] to out[0] by that box. */
eddy_status eddy_box_copy_kernel(eddy_kernel *k);

/* -------------------------------------------------------------- indices -- */

/* y[j] += x[j], -=, *= or /=, for n elements, or the lesser or greater of the two; NULL for
 * a dtype without it.  No integer x may be 0 to divide by. */
typedef void (*eddy_row_fn)(int64_t n, void *y, const void *x);
eddy_row_fn eddy_row_add(eddy_dtype d);
eddy_row_fn eddy_row_sub(eddy_dtype d);
eddy_row_fn eddy_row_mul(eddy_dtype d);
eddy_row_fn eddy_row_div(eddy_dtype d);
eddy_row_fn eddy_row_min(eddy_dtype d);
eddy_row_fn eddy_row_max(eddy_dtype d);

/* Index i of a buffer of int32, int64 or uint8. */
static inline int64_t eddy_index_at(const eddy_buffer *b, int64_t i)
{
    if (b->type.dtype == EDDY_INT32) return ((const int32_t *)b->data)[i];
    if (b->type.dtype == EDDY_INT64) return ((const int64_t *)b->data)[i];
    return ((const uint8_t *)b->data)[i];
}

/* All of `indices` are in [0, limit), or negative where that is allowed;
 * otherwise records which is not. */
eddy_status eddy_check_indices(eddy_kernel *k, const eddy_buffer *indices, int64_t limit,
                               bool allow_negative);

#endif
