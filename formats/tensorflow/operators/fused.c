/* fused.c -- the fused operators that TensorFlow's optimizer and the converter of TensorFlow.js
 * make: a product, then what fused_ops lists. */
#include "../nets.h"
#include "../../../ops/short_names.h"

#include <string.h>

static eddy_tensor activation(tf_build *b, const char *name, eddy_tensor y, int alpha)
{
    if (strcmp(name, "Relu") == 0) return Relu(y);
    if (strcmp(name, "Relu6") == 0) return eddy_relu6(y);
    if (strcmp(name, "Elu") == 0) return eddy_elu(y);
    if (strcmp(name, "Sigmoid") == 0) return Sigmoid(y);
    if (strcmp(name, "Tanh") == 0) return Tanh(y);
    if (strcmp(name, "LeakyRelu") == 0)
        return eddy_leaky_relu(y, .alpha = eddy__tf_float(b, "leakyrelu_alpha", 0.2));
    if (strcmp(name, "Prelu") == 0)
        return Where(Greater(y, 0), y, Mul(eddy__tf_in(b, alpha), y));
    eddy__tf_missing(b, "the fused operation %s is not known", name);
    return y;
}

/* Channels second need a bias along them. */
static eddy_tensor along(tf_build *b, eddy_tensor bias, eddy_tensor y)
{
    if (strcmp(eddy__tf_text(b, "data_format", "NHWC"), "NCHW") == 0)
        for (int i = 2; i < eddy_shape_of(y).rank; i++) bias = ExpandDims(bias, -1);
    return bias;
}

/* (y - mean) scale / sqrt(variance + epsilon) + offset, of inputs 2 to 5. */
static eddy_tensor batch_norm(tf_build *b, eddy_tensor y)
{
    const eddy_tensor scale = eddy__tf_in(b, 2), offset = eddy__tf_in(b, 3),
                      mean = eddy__tf_in(b, 4), variance = eddy__tf_in(b, 5);
    return eddy_batch_normalization(y, along(b, mean, y), along(b, variance, y),
                                    along(b, offset, y), along(b, scale, y),
                                    .variance_epsilon = eddy__tf_float(b, "epsilon", 1e-4));
}

static bool rest(tf_build *b, eddy_tensor y)
{
    const tf_attr *ops = eddy__tf_attr_of(b->node, "fused_ops");
    int            next = 2;
    for (size_t i = 0; ops && i < ops->n_texts; i++) {
        const char *name = ops->texts[i];
        if (strcmp(name, "BiasAdd") == 0) y = Add(y, along(b, eddy__tf_in(b, next++), y));
        else if (strcmp(name, "FusedBatchNorm") == 0) y = batch_norm(b, y), next += 4;
        else if (strcmp(name, "Add") == 0) y = Add(y, eddy__tf_in(b, next++));
        else y = activation(b, name, y, next);
        if (strcmp(name, "Prelu") == 0) next++;
    }
    return eddy__tf_put(b, 0, y);
}

static bool fused_conv(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), f = eddy__tf_in(b, 1);
    return rest(b, eddy__tf_conv2d(b, x, f, b->op->variant == 1));
}

static bool fused_matmul(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    return rest(
        b, eddy_matmul(x, y, eddy__tf_flag(b, "transpose_a"), eddy__tf_flag(b, "transpose_b")));
}

const tf_operator eddy__tf_fused[] = {
    { "FusedDepthwiseConv2dNative", fused_conv, .variant = 1 },
    { "_FusedConv2D", fused_conv },
    { "_FusedMatMul", fused_matmul },
    { NULL },
};
