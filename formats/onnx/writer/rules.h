/* rules.h -- the families of rules: each file of rules/ has one table. */
#ifndef EDDY_FORMATS_ONNX_RULES_H
#define EDDY_FORMATS_ONNX_RULES_H

#include "part.h"

typedef struct onnx_family {
    const onnx_row *rows;
    int             n;
} onnx_family;
#define FAMILY_OF(rows) { rows, (int)(sizeof rows / sizeof *rows) }

extern const onnx_family eddy__write_elementwise, eddy__write_shapes, eddy__write_slices,
    eddy__write_indexing, eddy__write_reductions, eddy__write_products,
    eddy__write_convolutions, eddy__write_pools, eddy__write_networks, eddy__write_state,
    eddy__write_control, eddy__write_random, eddy__write_moved, eddy__write_attention,
    eddy__write_lstm, eddy__write_resize, eddy__write_special,
    eddy__write_scans, eddy__write_bits, eddy__write_scatters, eddy__write_selection;

/* Helpers that several families use (rule_steps.c). */

/* x with the axes permuted. */
const char *eddy__part_transpose(onnx_part *p, const char *x, int rank, const int64_t *perm);
/* x as this shape, which is a name. */
const char *eddy__part_reshape(onnx_part *p, const char *x, const char *shape);
/* One number, repeated to this shape. */
const char *eddy__part_filled(onnx_part *p, eddy_dtype d, double v, const char *shape);
/* Sizes one after the other; n vectors of int64. */
const char *eddy__part_concat(onnx_part *p, int64_t axis, int n, const char *const *in);
/* The sum over some axes, which are counted from the front; the sizes become 1, or go. */
const char *eddy__part_sum(onnx_part *p, const char *x, int n, const int64_t *axes, bool keep);
/* Reductions other than Sum have the axes as an attribute. */
const char *eddy__part_reduce(onnx_part *p, const char *op, const char *x, int n,
                              const int64_t *axes, bool keep);
/* x with axes of one element inserted. */
const char *eddy__part_unsqueeze(onnx_part *p, const char *x, int n, const int64_t *axes);
/* The attribute `axes` of a reduction of a tensor of this rank, counted from the front; returns
 * their number. */
int eddy__part_axes(const onnx_part *p, int rank, int64_t axes[EDDY_MAX_RANK]);

/* Writes a node that only moves elements, puts constants in between, or adds some of them, with a
 * list of the places where they go. All shapes must be known (moved.c). */
bool eddy__part_moved(onnx_part *p);

#endif
