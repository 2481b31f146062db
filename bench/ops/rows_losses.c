/* rows_losses.c -- losses, forward and with their gradients. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)
#define REAL(x) eddy_cast(x, EDDY_FLOAT32)

BUILD(squared, eddy_mean_squared_error(x[0], x[1]))
BUILD(huber, eddy_huber_loss(x[0], x[1], .delta = 0.5))
BUILD(weighted, eddy_weighted_cross_entropy_with_logits(x[0], x[1],
                                                        eddy_number(g, EDDY_FLOAT32, 2)))
BUILD(divergence, eddy_kl_divergence_loss(x[0], x[1]))
BUILD(triplet, eddy_triplet_margin_loss(x[0], x[1], x[2]))
BUILD(similarity, eddy_cosine_similarity(x[0], x[1]))
BUILD(absolute, eddy_absolute_difference(x[0], x[1]))
BUILD(smooth, eddy_smooth_l1_loss(x[0], x[1]))
BUILD(log_cosh, eddy_log_cosh_loss(x[0], x[1]))
BUILD(quantile, eddy_quantile_loss(x[0], x[1]))
BUILD(poisson, eddy_log_poisson_loss(x[0], x[1]))
BUILD(gaussian, eddy_gaussian_nll_loss(x[0], x[1], x[2]))
BUILD(hinge, eddy_hinge_loss(x[0], x[1]))
BUILD(log_loss, eddy_log_loss(x[0], x[1]))
BUILD(focal, eddy_focal_loss(x[0], x[1]))
BUILD(dice, eddy_dice_loss(x[0], x[1]))
BUILD(classes, eddy_softmax_cross_entropy_loss(eddy_softmax(x[0]), x[1]))
BUILD(sparse, eddy_sparse_softmax_cross_entropy_loss(AT(x[0]), x[1]))
BUILD(embedded, eddy_cosine_embedding_loss(.labels = eddy_index(Sign(x[0]), ":, 0"), .a = x[0],
                                           .b = x[1]))
BUILD(ranking, eddy_margin_ranking_loss(.labels = Sign(x[0]), .a = x[1], .b = x[2]))
BUILD(contrastive, eddy_contrastive_loss(.labels = REAL(Greater(eddy_index(x[0], ":, 0"), 0)),
                                         .a = x[0], .b = x[1]))
BUILD(semihard, eddy_triplet_semihard_loss(AT(x[0]), x[1]))
BUILD(pairwise, eddy_mean_pairwise_squared_error(x[0], x[1]))

#define LARGE S(1000, 1000)
#define BOTH(called, fn, from, to)                                              \
    { .name = called, .build = fn, .n = 2, .shape = { LARGE, LARGE }, .low = { from, from }, \
      .high = { to, to } },                                                     \
    { .name = called ", gradient", .build = fn, .n = 2, .shape = { LARGE, LARGE }, \
      .low = { from, from }, .high = { to, to }, .gradient = true }
#define OF_CLASSES(called, fn, top, ...)                                        \
    { .name = called, .build = fn, .n = 2, .shape = { __VA_ARGS__ }, .low = { 0, -1 }, \
      .high = { top, 1 } }

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
    BOTH("absolute_difference", absolute, -1, 1),
    BOTH("smooth_l1_loss", smooth, -1, 1),
    BOTH("log_cosh_loss", log_cosh, -1, 1),
    BOTH("quantile_loss", quantile, -1, 1),
    BOTH("log_poisson_loss", poisson, 0.1, 2),
    { .name = "gaussian_nll_loss", .build = gaussian, .n = 3, .shape = { LARGE, LARGE, LARGE },
      .low = { -1, -1, 0.1 }, .high = { 1, 1, 2 } },
    BOTH("hinge_loss", hinge, 0, 1),
    BOTH("log_loss", log_loss, 0.1, 0.9),
    BOTH("focal_loss", focal, 0.1, 0.9),
    BOTH("dice_loss", dice, 0.1, 0.9),
    BOTH("softmax_cross_entropy_loss", classes, -1, 1),
    OF_CLASSES("sparse_softmax_cross_entropy_loss", sparse, 1000, S(1000), LARGE),
    OPS_ROW("cosine_embedding_loss", embedded, 2, S(10000, 64), S(10000, 64)),
    OPS_ROW("margin_ranking_loss", ranking, 3, LARGE, LARGE, LARGE),
    OPS_ROW("contrastive_loss", contrastive, 2, S(10000, 64), S(10000, 64)),
    OF_CLASSES("triplet_semihard_loss", semihard, 10, S(64), S(64, 32)),
    BOTH("mean_pairwise_squared_error", pairwise, -1, 1),
};
OPS_FAMILY(losses, rows);
