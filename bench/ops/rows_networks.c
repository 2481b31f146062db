/* rows_networks.c -- products, attention, parts of networks without variables, decoders. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)
#define REAL(x) eddy_cast(x, EDDY_FLOAT32)
#define TWO EDDY_DIMS(2)
#define FRAMES eddy_fill(eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 16 }), \
                         eddy_number(g, EDDY_INT32, 100))

BUILD(product, eddy_matmul(x[0], x[1]))
BUILD(product_turned, eddy_matmul(x[0], x[1], .transpose_a = true))
BUILD(products, eddy_batch_matmul(x[0], x[1]))
BUILD(vector, eddy_matvec(x[0], x[1]))
BUILD(outer, eddy_outer(x[0], x[1]))
BUILD(chain, eddy_multi_dot(EDDY_LIST(x[0], x[1], x[2])))
BUILD(power, eddy_matrix_power(x[0], 5))
BUILD(bias, eddy_bias_add(x[0], x[1]))
BUILD(attend, eddy_scaled_dot_product_attention(x[0], x[1], x[2]))
BUILD(attend_causal, eddy_scaled_dot_product_attention(x[0], x[1], x[2], .causal = true))
BUILD(packed, eddy_packed_self_attention(x[0]))
BUILD(attend_cached, eddy_cached_attention(x[0], x[1], x[2], AT(x[3])))
BUILD(lstm, eddy_lstm(x[0], .w = x[1], .u = x[2], .b = x[3]))
BUILD(image_back, eddy_conv2d_transpose(x[0], x[1], .strides = TWO))
BUILD(line_back, eddy_conv1d_transpose(x[0], x[1], .stride = 2))
BUILD(max_images, eddy_max_pool2d(x[0], TWO))
BUILD(avg_images, eddy_avg_pool2d(x[0], TWO))
BUILD(dilated, eddy_dilation2d(x[0], x[1], .padding = "SAME"))
BUILD(normal, eddy_layer_norm(x[0], x[1], x[2]))
BUILD(batch, eddy_fused_batch_norm(x[0], x[1], x[2], .is_training = true))
BUILD(dropped, eddy_dropout(x[0], 0.1))
BUILD(dropped_channels, eddy_spatial_dropout(x[0], 0.1))
BUILD(dropped_alpha, eddy_alpha_dropout(x[0], 0.1))
BUILD(classes, eddy_softmax_cross_entropy(eddy_softmax(x[0]), x[1]))
BUILD(sparse_classes, eddy_sparse_softmax_cross_entropy(AT(x[0]), x[1]))
BUILD(yes_or_no, eddy_sigmoid_cross_entropy(x[0], x[1]))
BUILD(sampled, eddy_sampled_softmax_loss(x[0], x[1], eddy_expand_dims(AT(x[2]), 1), x[3],
                                         .num_sampled = 64, .num_classes = 10000))
BUILD(noise, eddy_nce_loss(x[0], x[1], eddy_expand_dims(AT(x[2]), 1), x[3], .num_sampled = 64,
                           .num_classes = 10000))
BUILD(sampler, REAL(eddy_log_uniform_candidate_sampler(AT(x[0]), .num_sampled = 1000,
                                                       .unique = true, .range_max = 100000)))
BUILD(greedy, eddy_output(eddy_ctc_greedy_decoder(x[0], FRAMES, 0, true), 2))
BUILD(beams, eddy_output(eddy_ctc_beam_search_decoder(x[0], FRAMES, 16, 1, 0), 2))
BUILD(edits, eddy_edit_distance(AT(x[0]), AT(x[2]), AT(x[1]), AT(x[2]), false))
BUILD(suppressed, REAL(eddy_non_max_suppression(x[0], x[1], 100)))

#define SQUARE(fn) BUILD(fn##_squared, Square(fn(g, x)))
SQUARE(product)
SQUARE(products)
SQUARE(attend)
SQUARE(attend_causal)
SQUARE(packed)
SQUARE(lstm)
SQUARE(image_back)
SQUARE(line_back)
SQUARE(max_images)
SQUARE(avg_images)
SQUARE(dilated)
SQUARE(normal)
SQUARE(batch)
SQUARE(classes)
SQUARE(yes_or_no)

#define BOTH(called, fn, count, ...) \
    OPS_ROW(called, fn, count, __VA_ARGS__), \
    OPS_GRADIENT(called ", gradient", fn##_squared, count, __VA_ARGS__)
#define HEADS S(4, 8, 256, 64)
#define RANDOM(called, fn, count, top, ...)                                     \
    { .name = called, .build = fn, .n = count, .shape = { __VA_ARGS__ }, .low = { -1, -1, 0, -1 }, \
      .high = { 1, 1, top, 1 }, .random = true }

#define LSTM(called, fn, differentiate)                                         \
    { .name = called, .build = fn, .n = 4,                                      \
      .shape = { S(50, 32, 64), S(64, 512), S(128, 512), S(512) },              \
      .low = { -1, -0.1, -0.1, -0.1 }, .high = { 1, 0.1, 0.1, 0.1 }, .gradient = differentiate }

static const ops_row rows[] = {
    BOTH("matmul 256", product, 2, S(256, 256), S(256, 256)),
    OPS_ROW("matmul 64 x 784 x 512", product, 2, S(64, 784), S(784, 512)),
    OPS_ROW("matmul, transposed", product_turned, 2, S(256, 256), S(256, 256)),
    BOTH("batch_matmul", products, 2, S(32, 128, 64), S(32, 64, 128)),
    OPS_ROW("batch_matmul of small ones", products, 2, S(4096, 8, 8), S(4096, 8, 8)),
    OPS_ROW("matvec", vector, 2, S(1000, 1000), S(1000)),
    OPS_ROW("outer", outer, 2, S(1000), S(1000)),
    OPS_ROW("multi_dot", chain, 3, S(512, 512), S(512, 512), S(512, 16)),
    { .name = "matrix_power", .build = power, .n = 1, .shape = { S(64, 32, 32) }, .low = { -0.3 },
      .high = { 0.3 } },
    OPS_ROW("bias_add", bias, 2, S(1000, 1000), S(1000)),
    BOTH("attention", attend, 3, HEADS, HEADS, HEADS),
    BOTH("attention, causal", attend_causal, 3, HEADS, HEADS, HEADS),
    BOTH("packed attention", packed, 1, S(4, 256, 3, 8, 64)),
    { .name = "cached attention", .build = attend_cached, .n = 4,
      .shape = { S(4, 8, 1, 64), S(4, 8, 1024, 64), S(4, 8, 1024, 64), S(4) },
      .low = { -1, -1, -1, 512 }, .high = { 1, 1, 1, 513 } },
    LSTM("lstm", lstm, false),
    LSTM("lstm, gradient", lstm_squared, true),
    BOTH("conv2d_transpose", image_back, 2, S(4, 28, 28, 32), S(2, 2, 16, 32)),
    BOTH("conv1d_transpose", line_back, 2, S(16, 128, 64), S(4, 32, 64)),
    BOTH("max_pool2d", max_images, 1, S(8, 56, 56, 64)),
    BOTH("avg_pool2d", avg_images, 1, S(8, 56, 56, 64)),
    BOTH("dilation2d", dilated, 2, S(4, 56, 56, 16), S(3, 3, 16)),
    BOTH("layer_norm", normal, 3, S(1024, 768), S(768), S(768)),
    BOTH("fused_batch_norm", batch, 3, S(8, 28, 28, 128), S(128), S(128)),
    RANDOM("dropout", dropped, 1, 1, S(1000, 1000)),
    RANDOM("spatial_dropout", dropped_channels, 1, 1, S(8, 56, 56, 64)),
    RANDOM("alpha_dropout", dropped_alpha, 1, 1, S(1000, 1000)),
    BOTH("softmax_cross_entropy", classes, 2, S(1000, 1000), S(1000, 1000)),
    { .name = "sparse_softmax_cross_entropy", .build = sparse_classes, .n = 2,
      .shape = { S(1000), S(1000, 1000) }, .low = { 0, -1 }, .high = { 1000, 1 } },
    { .name = "sparse_softmax_cross_entropy, gradient", .build = sparse_classes, .n = 2,
      .shape = { S(1000), S(1000, 1000) }, .low = { 0, -1 }, .high = { 1000, 1 },
      .gradient = true },
    BOTH("sigmoid_cross_entropy", yes_or_no, 2, S(1000, 1000), S(1000, 1000)),
    RANDOM("sampled_softmax_loss", sampled, 4, 10000, S(10000, 128), S(10000), S(256),
           S(256, 128)),
    RANDOM("nce_loss", noise, 4, 10000, S(10000, 128), S(10000), S(256), S(256, 128)),
    { .name = "log_uniform_candidate_sampler", .build = sampler, .n = 1, .shape = { S(256) },
      .high = { 1000 }, .random = true },
    OPS_ROW("ctc_greedy_decoder", greedy, 1, S(100, 16, 28)),
    OPS_ROW("ctc_beam_search_decoder", beams, 1, S(100, 16, 28)),
    { .name = "edit_distance", .build = edits, .n = 3,
      .shape = { S(200, 100), S(200, 100), S(200) }, .low = { 0, 0, 50 },
      .high = { 20, 20, 100 } },
    { .name = "non_max_suppression", .build = suppressed, .n = 2, .shape = { S(1000, 4), S(1000) },
      .low = { 0, 0 }, .high = { 1, 1 } },
};
OPS_FAMILY(networks, rows);
