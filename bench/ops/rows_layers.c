/* rows_layers.c -- layers, forward and with the gradients of their variables. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#include <math.h>

#define SAME .padding = "SAME"
#define THREE EDDY_DIMS(3)
#define AT(x) eddy_cast(x, EDDY_INT32)
BUILD(dense, eddy_dense(x[0], 512, .activation = eddy_relu))
BUILD(mlp, eddy_mlp(x[0], EDDY_DIMS(256, 256, 10)))
BUILD(line, eddy_conv1d_layer(x[0], 64, EDDY_DIMS(5), SAME))
BUILD(image, eddy_conv2d_layer(x[0], 64, THREE, SAME, .activation = eddy_relu))
BUILD(volume, eddy_conv3d_layer(x[0], 32, THREE, SAME))
BUILD(transposed, eddy_conv2d_transpose_layer(x[0], 64, EDDY_DIMS(2), .strides = EDDY_DIMS(2)))
BUILD(depthwise, eddy_depthwise_conv2d_layer(x[0], .kernel_size = THREE, SAME))
BUILD(separable, eddy_separable_conv2d_layer(x[0], 128, THREE, SAME))
BUILD(embedding, eddy_embedding_layer(AT(x[0]), 10000, 128))
BUILD(dropout, eddy_dropout_layer(x[0], 0.1, .training = true))

BUILD(batch, eddy_batch_norm_layer(x[0], .training = true))
BUILD(batch_planes, eddy_batch_norm_layer(x[0], .training = true, .axis = 1))
BUILD(batch_rows, eddy_batch_norm_layer(x[0], .training = true))
BUILD(batch_after, eddy_batch_norm_layer(x[0]))
BUILD(layer, eddy_layer_norm_layer(x[0]))

BUILD(attention, eddy_multi_head_attention(x[0], 8))
BUILD(causal, eddy_multi_head_attention(x[0], 8, .causal = true))
BUILD(memory, eddy_multi_head_attention(x[0], 8, .memory = x[1]))
BUILD(encoder, eddy_transformer_block(x[0], 8))
BUILD(decoder, eddy_transformer_block(x[0], 8, .memory = x[1], .causal = true))

/* As PyTorch's cells are. */
#define LSTM EDDY_CELL(EDDY_LSTM_CELL, 128, .forget_bias = 0)
#define GRU EDDY_CELL(EDDY_GRU_CELL, 128, .reset_after = true)
#define BASIC EDDY_CELL(EDDY_BASIC_RNN_CELL, 128)
BUILD(basic, eddy_rnn(x[0], BASIC, .time_major = true).outputs)
BUILD(lstm, eddy_rnn(x[0], LSTM, .time_major = true).outputs)
BUILD(gru, eddy_rnn(x[0], GRU, .time_major = true).outputs)
BUILD(both_ways, eddy_bidirectional_rnn(x[0], LSTM, .time_major = true).outputs)
BUILD(stacked, eddy_stacked_rnn(x[0], (eddy_cell[]){ LSTM, LSTM }, 2, .time_major = true).outputs)

/* Squared, so that the gradient needs the output of the layer. */
#define SQUARE(fn) BUILD(fn##_squared, Square(fn(g, x)))
SQUARE(dense)
SQUARE(mlp)
SQUARE(line)
SQUARE(image)
SQUARE(volume)
SQUARE(transposed)
SQUARE(depthwise)
SQUARE(separable)
SQUARE(embedding)
SQUARE(dropout)
SQUARE(batch)
SQUARE(batch_planes)
SQUARE(batch_rows)
SQUARE(batch_after)
SQUARE(layer)
SQUARE(attention)
SQUARE(causal)
SQUARE(memory)
SQUARE(encoder)
SQUARE(decoder)
SQUARE(basic)
SQUARE(lstm)
SQUARE(gru)
SQUARE(both_ways)
SQUARE(stacked)

#define BOTH(called, fn, count, ...) \
    OPS_ROW(called, fn, count, __VA_ARGS__), \
    OPS_GRADIENT(called ", gradient", fn##_squared, count, __VA_ARGS__)
#define SEQUENCE S(8, 128, 256)
#define STEPS S(50, 32, 64)

static const ops_row rows[] = {
    BOTH("layer dense", dense, 1, S(256, 512)),
    BOTH("layer dense, 3 axes", dense, 1, S(16, 64, 256)),
    BOTH("layer mlp", mlp, 1, S(128, 784)),
    BOTH("layer conv1d", line, 1, S(16, 256, 64)),
    BOTH("layer conv2d", image, 1, S(8, 28, 28, 64)),
    BOTH("layer conv3d", volume, 1, S(1, 16, 28, 28, 32)),
    BOTH("layer conv2d_transpose", transposed, 1, S(8, 14, 14, 64)),
    BOTH("layer depthwise_conv2d", depthwise, 1, S(8, 28, 28, 128)),
    BOTH("layer separable_conv2d", separable, 1, S(8, 28, 28, 128)),
    { .name = "layer embedding", .build = embedding, .n = 1, .shape = { S(64, 128) },
      .low = { 0 }, .high = { 10000 } },
    { .name = "layer embedding, gradient", .build = embedding_squared, .n = 1,
      .shape = { S(64, 128) }, .low = { 0 }, .high = { 10000 }, .gradient = true },
    { .name = "layer dropout", .build = dropout, .n = 1, .shape = { S(1000, 1000) },
      .random = true },
    { .name = "layer dropout, gradient", .build = dropout_squared, .n = 1,
      .shape = { S(1000, 1000) }, .random = true, .gradient = true },
    BOTH("layer batch_norm", batch, 1, S(8, 28, 28, 128)),
    BOTH("layer batch_norm NCHW", batch_planes, 1, S(8, 128, 28, 28)),
    BOTH("layer batch_norm of rows", batch_rows, 1, S(512, 512)),
    BOTH("layer batch_norm, not training", batch_after, 1, S(8, 28, 28, 128)),
    BOTH("layer layer_norm", layer, 1, S(1024, 768)),
    BOTH("layer multi_head_attention", attention, 1, SEQUENCE),
    BOTH("layer multi_head_attention, causal", causal, 1, SEQUENCE),
    BOTH("layer multi_head_attention, memory", memory, 2, SEQUENCE, S(8, 64, 256)),
    BOTH("layer transformer_block", encoder, 1, SEQUENCE),
    BOTH("layer transformer_block, memory", decoder, 2, SEQUENCE, S(8, 64, 256)),
    BOTH("layer rnn, basic", basic, 1, STEPS),
    BOTH("layer rnn, lstm", lstm, 1, STEPS),
    BOTH("layer rnn, gru", gru, 1, STEPS),
    BOTH("layer bidirectional_rnn", both_ways, 1, STEPS),
    BOTH("layer stacked_rnn", stacked, 1, STEPS),
};
OPS_FAMILY(layers, rows);
