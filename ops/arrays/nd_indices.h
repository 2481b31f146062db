/* nd_indices.h -- slices addressed by tuples of indices: code shared by the operations that
 * gather them from a tensor or scatter them into one. Private to ops/. */
#ifndef EDDY_OPS_ARRAYS_ND_INDICES_H
#define EDDY_OPS_ARRAYS_ND_INDICES_H

#include "ops/arrays/arrays.h"

typedef struct eddy_tuples_attrs {
    int64_t batch_dims;          /* leading dimensions shared by the tensor and the tuples */
} eddy_tuples_attrs;
extern const eddy_attr_field eddy__tuples_fields[];

/* The shape of the rows of `params` that input 1 addresses; and a check that input i has it. */
bool eddy__infer_tuples(eddy_infer *c, eddy_shape params, eddy_shape *out);
bool eddy__infer_tuple_rows(eddy_infer *c, int i, eddy_shape params);

/* A tensor as [batch, places, inner]; each batch element has `count` tuples of its own. */
typedef struct eddy_tuples {
    int64_t            batch, count, places, inner;
    int                depth;
    int64_t            dim[EDDY_MAX_RANK], step[EDDY_MAX_RANK];     /* of the indexed dimensions */
    const eddy_buffer *indices;
} eddy_tuples;
eddy_tuples eddy__tuples_of(eddy_shape params, const eddy_buffer *indices,
                            const eddy_tuples_attrs *a);

/* The row that tuple t addresses. */
static inline int64_t eddy__tuple_place(const eddy_tuples *l, int64_t t)
{
    int64_t at = 0;
    for (int d = 0; d < l->depth; d++)
        at += eddy__index_at(l->indices, t * l->depth + d) * l->step[d];
    return at;
}

/* Checks that all tuples are in range; otherwise reports the first that is not. */
eddy_status eddy__check_tuples(eddy_kernel *k, const eddy_tuples *l);

/* Combines rows with the rows of y that the tuples address, in order; if `combine` is NULL, they
 * replace them. */
void eddy__tuples_put(const eddy_kernel *k, const eddy_tuples *l, const eddy_buffer *rows, void *y,
                      eddy_row_fn combine);

#endif
