/* rows_losses.c -- losses, forwards and with their gradients. */
#include "bench/ops/bench_ops.h"

BUILD(squared, eddy_mean_squared_error(x[0], x[1]))
BUILD(huber, eddy_huber_loss(x[0], x[1], .delta = 0.5))
BUILD(weighted, eddy_weighted_cross_entropy_with_logits(x[0], x[1],
                                                        eddy_number(g, EDDY_FLOAT32, 2)))
BUILD(divergence, eddy_kl_divergence_loss(x[0], x[1]))
BUILD(triplet, eddy_triplet_margin_loss(x[0], x[1], x[2]))
BUILD(similarity, eddy_cosine_similarity(x[0], x[1]))

#define LARGE S(1000, 1000)

static const ops_row rows[] = {
    OPS_ROW("mean_squared_error", squared, 2, LARGE, LARGE),
    OPS_GRADIENT("mean_squared_error, gradient", squared, 2, LARGE, LARGE),
    OPS_ROW("huber_loss", huber, 2, LARGE, LARGE),
    OPS_GRADIENT("huber_loss, gradient", huber, 2, LARGE, LARGE),
    OPS_ROW("weighted_cross_entropy", weighted, 2, LARGE, LARGE),
    { .name = "kl_divergence_loss", .build = divergence, .n = 2, .shape = { LARGE, LARGE },
      .low = { 0.1, 0.1 }, .high = { 1, 1 } },
    OPS_ROW("triplet_margin_loss", triplet, 3, S(10000, 64), S(10000, 64), S(10000, 64)),
    OPS_ROW("cosine_similarity", similarity, 2, S(10000, 64), S(10000, 64)),
};
OPS_FAMILY(losses, rows);
