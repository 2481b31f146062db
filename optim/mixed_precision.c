/* mixed_precision.c -- mixed precision: casts the inputs of each operation that a program builds,
 * as the lists below say. The names are those of definitions. */
#include "optim/mixed_precision.h"
#include "graph/internal.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/math.h"

#include <string.h>

/* Compute in the 16-bit type. */
static const char *const always[] = {
    "MatMul", "BatchMatMulV2", "Conv2D", "DepthwiseConv2dNative", "ScaledDotProductAttention",
    "PackedSelfAttention", "CachedAttention", "BlockLSTM", NULL
};

/* Compute in the 16-bit type if an input has it. */
static const char *const if_given[] = {
    /* arithmetic */
    "Abs", "Add", "AddN", "BiasAdd", "CopySign", "DivNoNan", "Maximum", "Minimum", "Mul",
    "MulNoNan", "Neg", "RealDiv", "Reciprocal", "Rsqrt", "Sign", "Sqrt", "Square",
    "SquaredDifference", "Sub", "Max", "Min",
    /* activations, normalizations, pooling */
    "Elu", "Erf", "Erfc", "Gelu", "GeluTanh", "LSTMGates", "LeakyRelu", "LogSoftmax", "Mish",
    "Relu", "Relu6", "Selu", "Sigmoid", "SoftShrink", "Softmax", "Softplus", "Softsign", "Tanh",
    "FusedBatchNormV3", "LayerNorm", "AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D",
    "MaxPoolWithArgmax",
    /* comparison and movement */
    "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual", "SelectV2",
    "BroadcastAlong", "BroadcastLike", "BroadcastTo", "ConcatV2", "GatherV2", "GatherNd",
    "MirrorPad", "Pack", "PadV2", "Tile", NULL
};

static bool is_listed(const char *const *list, const char *name)
{
    while (*list && strcmp(*list, name) != 0) list++;
    return *list != NULL;
}

static eddy_dtype type_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && t.output < node->n_outputs ? node->outputs[t.output].dtype : EDDY_DEFAULT_DTYPE;
}

static bool has_type(int n, const eddy_tensor *in, eddy_dtype d)
{
    for (int i = 0; i < n; i++)
        if (type_of(in[i]) == d) return true;
    return false;
}

/* Statistics and parameters of a normalization may be float32 (ops/nets/normalization.h). */
static bool keeps_float32(const eddy_op_def *op, int i)
{
    const bool normalizes = strcmp(op->name, "FusedBatchNormV3") == 0 ||
                            strcmp(op->name, "LayerNorm") == 0;
    return normalizes && i > 0;
}

static void cast_inputs(eddy_graph *g, const eddy_op_def *op, int n, eddy_tensor *in)
{
    const eddy_dtype half = g->precision;
    const bool       narrow = is_listed(always, op->name) ||
                        (is_listed(if_given, op->name) && has_type(n, in, half));
    if (narrow && has_type(n, in, EDDY_FLOAT64)) return;
    for (int i = 0; i < n; i++) {
        const eddy_dtype d = in[i].graph == g ? type_of(in[i]) : EDDY_DEFAULT_DTYPE;
        if (narrow && d == EDDY_FLOAT32 && !keeps_float32(op, i)) in[i] = eddy_cast(in[i], half);
        else if (!narrow && d == half && !eddy__input_moves(op, i))
            in[i] = eddy_cast(in[i], EDDY_FLOAT32);
    }
}

void eddy_mixed_precision(eddy_graph *g, eddy_dtype dtype)
{
    if (!eddy__graph_ready(g)) return;
    if (dtype != EDDY_FLOAT32 && !eddy__dtype_is_half(dtype)) {
        eddy_fail(g, EDDY_BAD_DTYPE,
                  "mixed_precision: dtype is %s; bfloat16, float16 or float32 expected",
                  eddy_dtype_name(dtype));
        return;
    }
    g->precision = dtype;
    g->cast_inputs = dtype == EDDY_FLOAT32 ? NULL : cast_inputs;
}
