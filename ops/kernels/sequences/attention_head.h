/* attention_head.h -- attention over one head, independent of the layout of the tensors around
 * it. */
#ifndef EDDY_OPS_KERNELS_SEQUENCES_ATTENTION_HEAD_H
#define EDDY_OPS_KERNELS_SEQUENCES_ATTENTION_HEAD_H

#include "graph/op.h"

/* Matrices whose rows are contiguous and `step` elements apart.  Gradients have the layout of
 * their operands. */
typedef struct eddy_attention_rows {
    const void *at, *dy_at;      /* elements; their given gradient */
    void       *to, *dx_to;      /* results; the computed gradient */
    int64_t     step;
} eddy_attention_rows;

/* y = P v with P = softmax(scale q k' + mask) over the last axis; sum[i] is the
 * logarithm of the sum of the exponentials of row i. */
typedef struct eddy_attention_head {
    int64_t             s, t, d, e;      /* q [s,d], k [t,d], v [t,e], y [s,e] */
    double              scale;
    bool                causal;          /* row i attends to columns 0 to i */
    eddy_attention_rows q, k, v, y, sum;
    const void         *mask;            /* [s,t] with these steps; or NULL */
    int64_t             mask_row, mask_column;
    const struct eddy_stop *stop;        /* of the kernel that runs it */
} eddy_attention_head;

/* Bytes of working memory, for a head's gradient or for its value. */
uint64_t eddy__attention_scratch(eddy_dtype d, const eddy_attention_head *h, bool gradient);
/* y.to and sum.to from q, k, v; scratch is 64-byte aligned. */
void eddy__attention_forward(eddy_dtype d, const eddy_attention_head *h, void *scratch);
/* q.dx_to, k.dx_to and v.dx_to from all of them, y.dy_at and sum.dy_at. */
void eddy__attention_backward(eddy_dtype d, const eddy_attention_head *h, void *scratch);

#endif
