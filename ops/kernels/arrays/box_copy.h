/* box_copy.h -- strided copies of boxes of elements.
 *
 * Most array operations only move elements. A box describes which: a list of loops, each with its
 * length and its stride in the destination and in the source. Transposing, broadcasting, slicing
 * and tiling differ only in their boxes. */
#ifndef EDDY_OPS_KERNELS_ARRAYS_BOX_COPY_H
#define EDDY_OPS_KERNELS_ARRAYS_BOX_COPY_H

#include "graph/op.h"

enum { EDDY_BOX_RANK = 2 * EDDY_MAX_RANK };

typedef struct eddy_box {
    int     rank;
    int64_t dim[EDDY_BOX_RANK];      /* outermost loop first; no dimension is 1 */
    int64_t to[EDDY_BOX_RANK];       /* strides, in elements */
    int64_t from[EDDY_BOX_RANK];
    int64_t to_at, from_at;          /* offsets of the box */
} eddy_box;

/* The row-major strides of a known shape. */
void eddy__strides_of(eddy_shape s, int64_t *stride);
/* Adds an innermost loop, merged with the one around it if possible. */
void eddy__box_add(eddy_box *b, int64_t dim, int64_t to, int64_t from);
/* The loops of `s`, a part of the shapes `to` and `from` of the same rank. */
void eddy__box_of_part(eddy_box *b, eddy_shape s, eddy_shape to, eddy_shape from);

/* Whether a part, a box of the whole, is contiguous in it. */
bool eddy__lies_together(eddy_shape part, eddy_shape whole);

/* to[...] = from[...] for elements of `size` bytes. */
void eddy__box_copy(const eddy_box *b, size_t size, void *to, const void *from);
/* The same in parallel, for a kernel. */
void eddy__box_copy_parallel(const eddy_kernel *k, const eddy_box *b, size_t size, void *to,
                             const void *from);

/* A box as k->state, or NULL after reporting an error. */
eddy_box *eddy__box_state(eddy_kernel *k);
/* A kernel that only copies in[0] to out[0] by that box. */
eddy_status eddy__box_copy_kernel(eddy_kernel *k);

#endif
