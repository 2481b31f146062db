/* rows_networks.c -- products, convolutions, normalization, losses; see rows.h. */
#include "tests/lib/rows.h"
#include "ops/linear/fused_matmul.h"
#include "build/gen/table.h"

BUILD(gelu, eddy_gelu(x[0]))
BUILD(gelu_tanh, eddy_gelu(x[0], .approximate = true))
#define SMALL EDDY_DIMS(2), EDDY_DIMS(2)
#define LARGE EDDY_DIMS(3, 2), EDDY_DIMS(2, 1), "SAME"
BUILD(max_pool, eddy_max_pool2d(x[0], SMALL))
BUILD(max_pool_large, eddy_max_pool2d(x[0], LARGE))
BUILD(max_pool_planes, eddy_max_pool2d(x[0], .ksize = EDDY_DIMS(2), .data_format = "NCHW"))
BUILD(max_pool_grad, backwards(eddy_max_pool2d(x[0], SMALL), x[0], x[1]))
BUILD(max_pool_grad_large, backwards(eddy_max_pool2d(x[0], LARGE), x[0], x[1]))
BUILD(max_pool_grad_grad,
      backwards(backwards(eddy_max_pool2d(x[0], LARGE), x[0], x[1]), x[1], x[2]))
BUILD(avg_pool, eddy_avg_pool2d(x[0], SMALL))
BUILD(avg_pool_large, eddy_avg_pool2d(x[0], LARGE))
BUILD(avg_pool_grad, backwards(eddy_avg_pool2d(x[0], LARGE), x[0], x[1]))
BUILD(layer_norm, eddy_layer_norm(x[0], x[1], x[2]))
BUILD(batch_norm, eddy_fused_batch_norm(x[0], x[1], x[2], .is_training = true))
BUILD(batch_norm_planes, eddy_fused_batch_norm(x[0], x[1], x[2], .is_training = true,
                                               .data_format = "NCHW"))
/* Of dy, x and scale, with a mean and an rstd that are no such thing. */
BUILD(layer_norm_grad, eddy_apply(&eddy_op_layer_norm_grad, NULL, 5, (eddy_tensor[]){
          x[0], x[1], x[2], Mean(Tanh(x[1]), AXES(-1), .keepdims = true),
          Exp(Mean(x[0], AXES(-1), .keepdims = true)) }, (eddy_apply_args){ 0 }))
BUILD(batch_norm_grad, eddy_apply(&eddy_op_fused_batch_norm_grad, NULL, 5, (eddy_tensor[]){
          x[0], x[1], x[2], SumLike(Tanh(x[1]), x[2]), Exp(Mul(0.1, SumLike(x[0], x[2]))) },
          (eddy_apply_args){ 0 }))
BUILD(softmax, Softmax(x[0]))
BUILD(softmax_first, Softmax(x[0], EDDY_AXES(0)))
BUILD(log_softmax, LogSoftmax(x[0]))
BUILD(log_softmax_first, LogSoftmax(x[0], EDDY_AXES(0)))
BUILD(attention, eddy_scaled_dot_product_attention(x[0], x[1], x[2]))
BUILD(attention_causal, eddy_scaled_dot_product_attention(x[0], x[1], x[2], .causal = true))
BUILD(packed_attention, eddy_packed_self_attention(x[0]))
BUILD(packed_causal, eddy_packed_self_attention(x[0], .causal = true, .scale = 0.4))
/* The first example has rows of q that see nothing if they are causal. */
BUILD(cached_attention,
      eddy_cached_attention(x[0], x[1], x[2], Add(Mul(pairs(x[0]), 3), 2), .scale = 0.4))
BUILD(cached_causal, eddy_cached_attention(x[0], x[1], x[2], Add(Mul(pairs(x[0]), 3), 2),
                                           .causal = true))
BUILD(lstm_gates, eddy_lstm_gates(x[0], x[1]))
BUILD(block_lstm, eddy_block_lstm(eddy_set_shape(x[0], EDDY_SHAPE(3, EDDY_ANY, 8)), x[1],
                                  Neg(x[1]), x[2]))
BUILD(attention_masked,
      eddy_scaled_dot_product_attention(x[0], x[1], x[1], x[2], .scale = 0.3))

#define MATRIX(t) eddy_set_shape(t, EDDY_SHAPE(EDDY_ANY, EDDY_ANY))
BUILD(matmul, MatMul(MATRIX(x[0]), MATRIX(x[1])))
BUILD(matmul_a, MatMul(MATRIX(x[0]), MATRIX(x[1]), .transpose_a = true))
BUILD(matmul_b, MatMul(MATRIX(x[0]), MATRIX(x[1]), .transpose_b = true))
BUILD(matmul_ab, MatMul(MATRIX(x[0]), MATRIX(x[1]), .transpose_a = true, .transpose_b = true))
BUILD(batch_matmul, eddy_batch_matmul(x[0], x[1]))
BUILD(batch_matmul_a, eddy_batch_matmul(x[0], x[1], .adj_x = true))
BUILD(batch_matmul_b, eddy_batch_matmul(x[0], x[1], .adj_y = true))
BUILD(batch_matmul_ab, eddy_batch_matmul(x[0], x[1], .adj_x = true, .adj_y = true))
BUILD(fused_matmul, eddy_apply(&eddy_op_fused_matmul, &(eddy_fused_matmul_attrs){
          .alpha = 0.5, .activation = 2, .has_bias = true }, 3, x, (eddy_apply_args){ 0 }))
BUILD(fused_matmul_residual, eddy_apply(&eddy_op_fused_matmul, &(eddy_fused_matmul_attrs){
          .transposes = { true, true }, .alpha = 1, .has_residual = true }, 3, x,
          (eddy_apply_args){ 0 }))
BUILD(matmul_accumulate, eddy_apply(&eddy_op_matmul_accumulate,
          &(eddy_matmul_accumulate_attrs){ { true, false }, -2 }, 3, x, (eddy_apply_args){ 0 }))
BUILD(bias_add, BiasAdd(x[0], x[1]))
#define STRIDED .strides = EDDY_DIMS(2, 1), .padding = "SAME"
#define PLANES .padding = "SAME", .data_format = "NCHW", .dilations = EDDY_DIMS(1, 2)
#define PADDED .explicit_paddings = EDDY_DIMS(2, 1, 0, 1), .dilations = EDDY_DIMS(2, 1)
BUILD(conv_strided, eddy_conv2d(x[0], x[1], STRIDED))
BUILD(conv_planes, eddy_conv2d(x[0], x[1], PLANES))
BUILD(conv_padded, eddy_conv2d(x[0], x[1], PADDED))
BUILD(conv_input, eddy_conv2d_backprop_input(x[0], x[1], x[2], STRIDED))
BUILD(conv_input_planes, eddy_conv2d_backprop_input(x[0], x[1], x[2], PLANES))
BUILD(conv_filter, eddy_conv2d_backprop_filter(x[0], x[1], x[2], STRIDED))
BUILD(conv_filter_planes, eddy_conv2d_backprop_filter(x[0], x[1], x[2], PLANES))
BUILD(conv_transpose, eddy_conv2d_transpose(x[0], x[1], EDDY_SHAPE(EDDY_ANY, 5, 4, 4), STRIDED))
#undef STRIDED
#undef PLANES
#undef PADDED
/* The rule for the logits is meant for labels that sum to 1. */
BUILD(softmax_loss, eddy_softmax_cross_entropy(Softmax(x[0]), x[1]))
BUILD(softmax_loss_first,
      eddy_softmax_cross_entropy(Softmax(x[0], EDDY_AXES(0)), x[1], EDDY_AXES(0)))
BUILD(sparse_loss, eddy_sparse_softmax_cross_entropy(pairs(x[0]), x[0]))
BUILD(sigmoid_loss, eddy_sigmoid_cross_entropy(x[0], x[1]))
BUILD(l2_loss, eddy_l2_loss(x[0]))

static const sweep_row rows[] = {
    OP("Gelu", "", gelu, 1, S(3, 4)),
    OP("GeluTanh", "", gelu_tanh, 1, S(3, 4)),
    OP("LayerNorm", "", layer_norm, 3, S(2, 3, 4), S(4), S(4)),
    OP("LayerNormGrad", "", layer_norm_grad, 3, S(3, 4), S(3, 4), S(4)),
    OP("FusedBatchNormV3", "", batch_norm, 3, S(2, 5, 3), S(3), S(3)),
    OP("FusedBatchNormV3", "NCHW", batch_norm_planes, 3, S(2, 3, 2, 2), S(3), S(3)),
    OP("FusedBatchNormGradV3", "", batch_norm_grad, 3, S(5, 3), S(5, 3), S(3)),
    OP_KEEP("MaxPool", "", max_pool, 1, KEEP(4, 5), S(2, 4, 5, 3)),
    OP("MaxPool", "SAME", max_pool_large, 1, S(2, 5, 4, 3)),
    OP_KEEP("MaxPool", "NCHW", max_pool_planes, 1, KEEP(4), S(2, 3, 4, 4)),
    OP_KEEP("MaxPoolGrad", "", max_pool_grad, 2, KEEP(2, 4), S(1, 4, 4, 3), S(1, 2, 2, 3)),
    OP_KEEP("MaxPoolGrad", "SAME", max_pool_grad_large, 2, KEEP(3, 4, 5), S(2, 5, 4, 1),
            S(2, 3, 4, 1)),
    { .op = "MaxPoolGradGrad", .build = max_pool_grad_grad, .n = 3,
      .shape = { S(2, 5, 4, 1), S(2, 3, 4, 1), S(2, 5, 4, 1) }, .keep = { 3, 4, 5 },
      .constant = 2 },
    OP_KEEP("AvgPool", "", avg_pool, 1, KEEP(4, 5), S(2, 4, 5, 3)),
    OP("AvgPool", "SAME", avg_pool_large, 1, S(2, 5, 4, 3)),
    { .op = "AvgPoolGrad", .build = avg_pool_grad, .n = 2,
      .shape = { S(2, 5, 4, 1), S(2, 3, 4, 1) }, .keep = { 3, 4, 5 }, .constant = 1 },
    OP("Softmax", "last", softmax, 1, S(3, 4)),
    OP("Softmax", "first", softmax_first, 1, S(3, 4)),
    OP("LogSoftmax", "last", log_softmax, 1, S(3, 4)),
    OP("LogSoftmax", "first", log_softmax_first, 1, S(3, 4)),
    OP_KEEP("PackedSelfAttention", "", packed_attention, 1, KEEP(3), S(2, 4, 3, 2, 5)),
    OP_KEEP("PackedSelfAttention", "causal", packed_causal, 1, KEEP(3), S(1, 5, 3, 2, 4)),
    OP_KEEP("CachedAttention", "", cached_attention, 3, KEEP(5), S(2, 2, 3, 4), S(2, 2, 5, 4),
            S(2, 2, 5, 3)),
    OP_KEEP("CachedAttention", "causal", cached_causal, 3, KEEP(5), S(2, 2, 3, 4), S(2, 2, 5, 4),
            S(2, 2, 5, 3)),
    OP_KEEP("LSTMGates", "", lstm_gates, 2, KEEP(8, 2), S(3, 8), S(3, 2)),
    OP_KEEP("BlockLSTM", "", block_lstm, 3, KEEP(3, 8, 2), S(3, 4, 8), S(4, 2), S(2, 8)),
    OP("ScaledDotProductAttention", "", attention, 3, S(3, 4), S(2, 4), S(2, 5)),
    OP("ScaledDotProductAttention", "causal", attention_causal, 3, S(2, 3, 4), S(2, 5, 4),
       S(2, 5, 2)),
    OP("ScaledDotProductAttention", "masked", attention_masked, 3, S(2, 3, 4), S(2, 5, 4),
       S(3, 5)),
    OP("ScaledDotProductAttention", "mask of rows", attention_masked, 3, S(3, 2, 4), S(3, 5, 4),
       S(3, 1, 5)),

    OP("MatMul", "", matmul, 2, S(2, 3), S(3, 4)),
    OP("MatMul", "transpose_a", matmul_a, 2, S(3, 2), S(3, 4)),
    OP("MatMul", "transpose_b", matmul_b, 2, S(2, 3), S(4, 3)),
    OP("MatMul", "both", matmul_ab, 2, S(3, 2), S(4, 3)),
    OP("MatMul", "square", matmul, 2, S(3, 3), S(3, 3)),
    OP("MatMul", "square, transpose_b", matmul_b, 2, S(2, 3), S(2, 3)),
    OP("_FusedMatMul", "bias, tanh", fused_matmul, 3, S(2, 3), S(3, 4), S(4)),
    OP("_FusedMatMul", "residual", fused_matmul_residual, 3, S(3, 2), S(4, 3), S(2, 4)),
    OP("_MatMulAccumulate", "", matmul_accumulate, 3, S(2, 4), S(3, 2), S(3, 4)),
    OP("BatchMatMulV2", "by a matrix", batch_matmul, 2, S(2, 3, 4), S(4, 5)),
    OP("BatchMatMulV2", "by a transpose", batch_matmul_b, 2, S(2, 3, 4), S(5, 4)),
    OP("BatchMatMulV2", "broadcast", batch_matmul, 2, S(2, 1, 3, 4), S(5, 4, 2)),
    OP("BatchMatMulV2", "adj_x", batch_matmul_a, 2, S(3, 2), S(2, 3, 4)),
    OP("BatchMatMulV2", "adj_y", batch_matmul_b, 2, S(2, 2, 3), S(2, 4, 3)),
    OP("BatchMatMulV2", "both", batch_matmul_ab, 2, S(2, 4, 3), S(1, 5, 4)),
    OP("BiasAdd", "2", bias_add, 2, S(3, 4), S(4)),
    OP("BiasAdd", "3", bias_add, 2, S(2, 3, 4), S(4)),
    OP_KEEP("Conv2D", "strides", conv_strided, 2, KEEP(2, 3), S(1, 5, 4, 2), S(3, 3, 2, 4)),
    OP_KEEP("Conv2D", "NCHW, groups", conv_planes, 2, KEEP(2, 3, 4), S(1, 4, 4, 5), S(3, 3, 2, 4)),
    OP_KEEP("Conv2D", "paddings", conv_padded, 2, KEEP(2, 3, 4), S(1, 4, 4, 2), S(3, 4, 2, 3)),
    { .op = "Conv2DBackpropInput", .how = "strides", .build = conv_input, .n = 3, .constant = 1,
      .shape = { S(1, 5, 4, 2), S(3, 2, 2, 3), S(1, 3, 4, 3) }, .keep = { 2, 3, 5 } },
    { .op = "Conv2DBackpropInput", .how = "NCHW", .build = conv_input_planes, .n = 3, .constant = 1,
      .shape = { S(1, 2, 4, 4), S(3, 3, 2, 3), S(1, 3, 4, 4) }, .keep = { 2, 3 } },
    { .op = "Conv2DBackpropInput", .how = "conv2d_transpose", .build = conv_transpose, .n = 2,
      .shape = { S(1, 3, 4, 2), S(3, 2, 4, 2) }, .keep = { 2, 3, 4 } },
    { .op = "Conv2DBackpropFilter", .how = "strides", .build = conv_filter, .n = 3, .constant = 2,
      .shape = { S(1, 5, 4, 2), S(3, 2, 2, 3), S(1, 3, 4, 3) }, .keep = { 2, 3, 5 } },
    { .op = "Conv2DBackpropFilter", .how = "NCHW", .build = conv_filter_planes, .n = 3,
      .constant = 2, .shape = { S(1, 2, 4, 4), S(3, 3, 2, 3), S(1, 3, 4, 4) }, .keep = { 2, 3 } },
    OP("SoftmaxCrossEntropyWithLogits", "last", softmax_loss, 2, S(3, 4), S(3, 4)),
    OP("SoftmaxCrossEntropyWithLogits", "first", softmax_loss_first, 2, S(3, 4), S(3, 4)),
    OP_KEEP("SparseSoftmaxCrossEntropyWithLogits", "", sparse_loss, 1, KEEP(4), S(3, 4)),
    OP("SigmoidCrossEntropyWithLogits", "", sigmoid_loss, 2, S(3, 4), S(3, 4)),
    OP("L2Loss", "", l2_loss, 1, S(3, 4)),
};

static const sweep_exempt exempts[] = {
    { "PackedSelfAttentionGrad", "is the gradient in the rows of its op" },
    { "LSTMGatesGrad", "is the gradient in the rows of its op" },
    { "BlockLSTMGrad", "is the gradient in the rows of its op" },
    { "ScaledDotProductAttentionGrad", "is the gradient in the rows of its op" },
    { "_FusedConv2D", "is what sessions make of others, after differentiation" },
    { "_DepthwisePlanes", "is what sessions make of others, after differentiation" },
};
FAMILY(networks, rows, exempts);
