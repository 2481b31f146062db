/* attention_row.h -- attention of one row of q, as in generation, where each step has one. */
#ifndef EDDY_OPS_KERNELS_SEQUENCES_ATTENTION_ROW_H
#define EDDY_OPS_KERNELS_SEQUENCES_ATTENTION_ROW_H

#include "graph/op.h"

/* y = P v with P = softmax(scale q k'); all rows are contiguous. */
typedef struct eddy_attention_row {
    int64_t     t, d, e;        /* q [d], k [t,d], v [t,e], y [e] */
    double      scale;
    const void *q, *k, *v;
    void       *y;              /* 0 if t is 0 */
} eddy_attention_row;

/* For float32 or float64; `scores` has room for t elements. */
void eddy__attention_row(eddy_dtype d, const eddy_attention_row *r, void *scores);

#endif
