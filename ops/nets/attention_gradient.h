/* attention_gradient.h -- declarations shared by the attention operations, above the kernels of
 * one head. */
#ifndef EDDY_OPS_NETS_ATTENTION_GRADIENT_H
#define EDDY_OPS_NETS_ATTENTION_GRADIENT_H

#include "ops/kernels/sequences/attention_head.h"

typedef struct eddy_attention_attrs {
    bool   causal;
    double scale;                    /* 0: 1 / sqrt(d) */
} eddy_attention_attrs;
extern const eddy_attr_field eddy__attention_fields[];

/* The scale, with the default resolved. */
double eddy__attention_scale(const eddy_attention_attrs *a, int64_t d);
/* The number of heads that is worth a thread. */
int64_t eddy__attention_grain(const eddy_attention_head *h);

/* The inputs of a gradient, [..., s, d] and so on; `sum` is the logarithm of the row sums. */
typedef struct eddy_attention_terms {
    const eddy_attention_attrs *attrs;
    eddy_tensor q, k, v, y, sum, dy, dsum, mask;     /* mask may be invalid */
} eddy_attention_terms;

/* Composed of ordinary ops: the gradient of the mask; and, given the gradients g of dq, dk and dv,
 * those of q, k, v, y, sum, dy, dsum and the mask, stored in dx in this order. */
eddy_tensor eddy__attention_dmask(const eddy_attention_terms *t);
void eddy__attention_second(const eddy_attention_terms *t, const eddy_tensor *g, eddy_tensor *dx);

#endif
