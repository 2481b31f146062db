/* index_checks.h -- reading and bounds-checking indices in kernels, and arithmetic on the rows
 * that they address. */
#ifndef EDDY_OPS_KERNELS_ARRAYS_INDEX_CHECKS_H
#define EDDY_OPS_KERNELS_ARRAYS_INDEX_CHECKS_H

#include "graph/base/dtype.h"

/* How a row x changes a row y: y[j] = x[j]; y[j] += x[j], -=, *= or /=; or the minimum
 * or maximum of both.  The variant of operations that change rows. */
typedef enum eddy_row_change {
    EDDY_ROW_PUT, EDDY_ROW_ADD, EDDY_ROW_SUB, EDDY_ROW_MUL, EDDY_ROW_DIV, EDDY_ROW_MIN,
    EDDY_ROW_MAX
} eddy_row_change;
/* The loop over n elements; NULL for PUT and for a dtype that does not support it.  For DIV, no
 * integer x may be 0. */
typedef void (*eddy_row_fn)(int64_t n, void *y, const void *x);
eddy_row_fn eddy__row_of(eddy_row_change change, eddy_dtype d);
static inline eddy_row_fn eddy__row_add(eddy_dtype d) { return eddy__row_of(EDDY_ROW_ADD, d); }

/* Index i of a buffer of integers. */
static inline int64_t eddy__index_at(const eddy_buffer *b, int64_t i)
{
    return eddy__whole_at(b->type.dtype, b->data, i);
}

static inline void eddy__index_put(const eddy_buffer *y, int64_t i, int64_t v)
{
    eddy__whole_put(y->type.dtype, y->data, i, v);
}

/* Checks that all of `indices` are in [0, limit), or negative if that is allowed;
 * otherwise reports the first that is not. Also fails if the run must end early. */
eddy_status eddy__check_indices(eddy_kernel *k, const eddy_buffer *indices, int64_t limit,
                                bool allow_negative);

#endif
