/* fused_matmul_activations.c -- activations that a fused matrix product applies to its result. */
#include "ops/linear/fused_matmul.h"
#include "ops/weak_ops.h"

const eddy_op_def *const eddy__fused_activations[EDDY_FUSED_ACTIVATIONS] = {
    NULL, &eddy_op_relu, &eddy_op_tanh, &eddy_op_sigmoid, &eddy_op_gelu, &eddy_op_gelu_tanh,
    &eddy_op_softplus,
};

int64_t eddy__fused_activation(const eddy_op_def *op)
{
    for (int i = 1; i < EDDY_FUSED_ACTIVATIONS; i++)
        if (op == eddy__fused_activations[i]) return i;
    return -1;
}
