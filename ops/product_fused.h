/* product_fused.h -- the products that a session makes of several operations. */
#ifndef EDDY_PRODUCT_FUSED_H
#define EDDY_PRODUCT_FUSED_H

#include "ops/matmul.h"

/* _FusedMatMul of (a, b), then the bias and the residual if it has them:
 * y = activation(alpha op(a) op(b) + bias + residual), float32 or float64. */
typedef struct eddy_fused_matmul_attrs {
    eddy_matmul_attrs transposes;
    double            alpha;
    int64_t           activation;      /* as eddy_fused_activation counts; 0: none */
    bool              has_bias;        /* a vector, one element a column */
    bool              has_residual;    /* a matrix like y */
} eddy_fused_matmul_attrs;

/* _MatMulAccumulate of (c, a, b): y = c + alpha op(a) op(b), perhaps in c's memory. */
typedef struct eddy_matmul_accumulate_attrs {
    eddy_matmul_attrs transposes;
    double            alpha;
} eddy_matmul_accumulate_attrs;

/* The number of an activation; -1 if _FusedMatMul does not have it. */
int64_t eddy_fused_activation(const eddy_op_def *op);

#endif
