/* normalization.h -- declarations shared by layer and batch normalization; private to ops/.
 *
 * Both subtract the mean of a group of elements from x and multiply by rstd, 1 / sqrt(variance +
 * epsilon) of that group; then they multiply each element by a scale and add an offset, which
 * depend on its index along the last axis. The groups are the rows, along the last axis, or the
 * columns, along all others.
 *
 * Forward operations take x, scale, offset and return y, mean, ..., rstd; gradient operations
 * take dy, x, scale, mean, rstd and return dx, dscale, doffset. mean and rstd have the shape of
 * x with a last dimension of 1 (rows), or that of scale (columns). All have one type, except that
 * statistics of 16-bit x are float32, and scale and offset may be. */
#ifndef EDDY_OPS_NETS_NORMALIZATION_H
#define EDDY_OPS_NETS_NORMALIZATION_H

#include "graph/op.h"

typedef enum eddy_norm_groups { EDDY_NORM_ROWS, EDDY_NORM_COLUMNS } eddy_norm_groups;

typedef struct eddy_norm_attrs {
    double epsilon;
} eddy_norm_attrs;
extern const eddy_attr_field eddy__norm_fields[];

/* The rules infer, gradient and batch of the forward op and of the gradient op. */
bool eddy__norm_infer(eddy_infer *c);
bool eddy__norm_grad_infer(eddy_infer *c);
void eddy__norm_gradient(eddy_rule *r);
void eddy__norm_grad_gradient(eddy_rule *r);
void eddy__norm_batch(eddy_batch *b);
void eddy__norm_grad_batch(eddy_batch *b);

#define EDDY_NORM_INPUTS                                                        \
    EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK_FROM(1) },                 \
                { "scale", EDDY_TAKES_FLOATS | EDDY_RANK(1) },                  \
                { "offset", EDDY_TAKES_FLOATS | EDDY_RANK(1) })
#define EDDY_NORM_GRAD_INPUTS                                                   \
    EDDY_INPUTS({ "dy", EDDY_TAKES_FLOATS }, { "x", EDDY_LIKE(0) | EDDY_RANK_FROM(1) }, \
                { "scale", EDDY_TAKES_FLOATS | EDDY_RANK(1) }, { "mean", EDDY_TAKES_FLOATS }, \
                { "rstd", EDDY_LIKE(3) })

/* x as a matrix of `rows` rows of `width` elements, and the operands of its loops. */
typedef struct eddy_norm_work eddy_norm_work;
struct eddy_norm_work {
    int64_t     rows, width;
    int64_t     block;               /* rows per block, each with one result in `part` */
    const void *dy, *x, *scale, *offset;
    void       *mean, *rstd;         /* one per group */
    void       *y;                   /* or dx */
    double     *part;                /* 2 * width sums per block, and more memory after them */
    const void *factor[3];           /* per column */
    double      epsilon;
    bool        halves;              /* x, dy and y are bfloat16, and all others float32 */
    /* Processes rows, or blocks, [from, to). */
    void      (*loop)(const eddy_norm_work *w, int64_t from, int64_t to);
};

/* The type of the loops: that of the statistics. */
eddy_dtype eddy__norm_type(const eddy_kernel *k);
/* The work of a forward op or of a gradient op, with its inputs and outputs. */
eddy_norm_work eddy__norm_work_of(const eddy_kernel *k);
/* The number of blocks, with at least `least` elements in each. */
int64_t eddy__norm_blocks(eddy_norm_work *w, int64_t least);
/* Runs w->loop on pieces of [0, n). */
void eddy__norm_run(const eddy_kernel *k, const eddy_norm_work *w, int64_t n, int64_t grain);

#endif
