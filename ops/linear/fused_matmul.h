/* fused_matmul.h -- matrix products fused with the operations that follow, created by a session. */
#ifndef EDDY_OPS_LINEAR_FUSED_MATMUL_H
#define EDDY_OPS_LINEAR_FUSED_MATMUL_H

#include "ops/linear/matmul.h"

/* _FusedMatMul of (a, b), followed by the bias and the residual if it has them: y =
 * activation(alpha op(a) op(b) + bias + residual), float32 or float64. */
typedef struct eddy_fused_matmul_attrs {
    eddy_matmul_attrs transposes;
    double            alpha;
    int64_t           activation;      /* index of eddy__fused_activation; 0: none */
    bool              has_bias;        /* a vector, one element per column */
    bool              has_residual;    /* a matrix of y's shape */
} eddy_fused_matmul_attrs;

/* _MatMulAccumulate of (c, a, b): y = c + alpha op(a) op(b), perhaps in c's memory. */
typedef struct eddy_matmul_accumulate_attrs {
    eddy_matmul_attrs transposes;
    double            alpha;
} eddy_matmul_accumulate_attrs;

/* The activations by number, which files store. The first one, NULL, stands for no activation;
 * activations that the program does not link are NULL too (ops/weak_ops.h). */
enum { EDDY_FUSED_ACTIVATIONS = 7 };
extern const eddy_op_def *const eddy__fused_activations[EDDY_FUSED_ACTIVATIONS];

/* The number of an activation; -1 if _FusedMatMul does not support it. */
int64_t eddy__fused_activation(const eddy_op_def *op);

#endif
