/* normalise.h -- what layer and batch normalisation share; private to ops/.
 *
 * Either subtracts from x the mean of a group of elements and multiplies by rstd,
 * 1 / sqrt(variance + epsilon) of that group; then each element by the scale of its
 * place along the last axis, and adds its offset.  The groups are the rows, along the
 * last axis, or the columns, along all others.
 *
 * Forward ops take x, scale, offset and yield y, mean, ..., rstd; gradient ops take
 * dy, x, scale, mean, rstd and yield dx, dscale, doffset.  mean and rstd have the shape
 * of x with a last dimension of 1 (rows), or that of scale (columns). */
#ifndef EDDY_NORMALISE_H
#define EDDY_NORMALISE_H

#include "graph/op.h"

typedef enum eddy_norm_groups { EDDY_NORM_ROWS, EDDY_NORM_COLUMNS } eddy_norm_groups;

typedef struct eddy_norm_attrs {
    double epsilon;
} eddy_norm_attrs;
extern const eddy_attr_field eddy_norm_fields[];

/* What `infer`, `gradient` and `batch` of the forward and of the gradient op do. */
bool eddy_norm_infer(eddy_infer *c, eddy_norm_groups groups);
bool eddy_norm_grad_infer(eddy_infer *c, eddy_norm_groups groups);
void eddy_norm_gradient(eddy_rule *r, const eddy_op_def *grad);
void eddy_norm_grad_gradient(eddy_rule *r, eddy_norm_groups groups);
void eddy_norm_batch(eddy_batch *b, eddy_norm_groups groups);
void eddy_norm_grad_batch(eddy_batch *b, eddy_norm_groups groups);

/* x as a matrix of `rows` rows of `width` elements, and what its loops read and write. */
typedef struct eddy_norm_work eddy_norm_work;
struct eddy_norm_work {
    int64_t     rows, width;
    int64_t     block;               /* rows of which `part` has one result */
    const void *dy, *x, *scale, *offset;
    void       *mean, *rstd;         /* one a group */
    void       *y;                   /* or dx */
    double     *part;                /* 2 * width sums a block, and more room */
    const void *factor[3];           /* of each column */
    double      epsilon;
    /* Rows, or blocks, [from, to). */
    void      (*loop)(const eddy_norm_work *w, int64_t from, int64_t to);
};

/* The matrix of a shape of rank 1 or more. */
eddy_norm_work eddy_norm_work_of(eddy_shape s);
/* How many blocks, for at least `least` elements in each. */
int64_t eddy_norm_blocks(eddy_norm_work *w, int64_t least);
/* w->loop on pieces of [0, n). */
void eddy_norm_run(const eddy_kernel *k, const eddy_norm_work *w, int64_t n, int64_t grain);

#endif
