/* rows_losses.c -- losses with weights, of values, classes and pairs; see rows.h. */
#include "tests/lib/rows.h"

/* Losses are real, though what they are made of takes complex numbers as well. */
#define A Real(x[0])
#define B Real(x[1])
#define C Real(x[2])
#define BOTH .labels = A, .predictions = B
#define APART .reduction = EDDY_LOSS_NONE
BUILD(weighted, eddy_compute_weighted_loss(A, B))
BUILD(weighted_mean, eddy_compute_weighted_loss(A, B, .reduction = EDDY_LOSS_MEAN))
BUILD(weighted_sum, eddy_compute_weighted_loss(A, B, .reduction = EDDY_LOSS_SUM))
BUILD(weighted_batch,
      eddy_compute_weighted_loss(A, B, .reduction = EDDY_LOSS_SUM_OVER_BATCH_SIZE))
BUILD(l1_l2, eddy_l1_l2_regularizer(A, 0.25, 0.5))

BUILD(absolute, eddy_absolute_difference(BOTH))
BUILD(squared, eddy_mean_squared_error(BOTH, .weights = C))
BUILD(huber, eddy_huber_loss(BOTH, .delta = 2.02, APART))
BUILD(smooth_l1, eddy_smooth_l1_loss(BOTH, .beta = 2.02, APART))
BUILD(log_cosh, eddy_log_cosh_loss(BOTH))
BUILD(quantile, eddy_quantile_loss(BOTH, .quantile = 0.3))
BUILD(poisson, eddy_poisson_loss(BOTH))
BUILD(log_poisson, eddy_log_poisson_loss(A, B, true))
BUILD(gaussian, eddy_gaussian_nll_loss(BOTH, C, .full = true, APART))
#define RANK_2 EDDY_SHAPE(EDDY_ANY, EDDY_ANY)
BUILD(pairwise, eddy_mean_pairwise_squared_error(eddy_set_shape(A, RANK_2),
                                                 eddy_set_shape(B, RANK_2), C))

BUILD(hinge, eddy_hinge_loss(BOTH, APART))
BUILD(squared_hinge, eddy_squared_hinge_loss(BOTH, APART))
BUILD(categorical, eddy_categorical_hinge_loss(BOTH))
BUILD(log_loss, eddy_log_loss(BOTH))
BUILD(logistic, eddy_sigmoid_cross_entropy_loss(A, B, .label_smoothing = 0.1))
BUILD(positive, eddy_weighted_cross_entropy_with_logits(A, B, C))
BUILD(focal, eddy_focal_loss(A, B))
BUILD(focal_3, eddy_focal_loss(A, B, .alpha = -1, .gamma = 3.5))
BUILD(softmax, eddy_softmax_cross_entropy_loss(OneHot(pairs(x[0]), 4), A,
                                               .label_smoothing = 0.1))
BUILD(sparse, eddy_sparse_softmax_cross_entropy_loss(pairs(x[0]), A, .ignore = EDDY_DIMS(1)))
BUILD(divergence, eddy_kl_divergence_loss(BOTH))
BUILD(divergence_log, eddy_kl_divergence_loss(BOTH, .log_predictions = true))
BUILD(dice, eddy_dice_loss(BOTH, .axes = EDDY_AXES(1), APART))

BUILD(similarity, eddy_cosine_similarity(x[0], x[1]))
BUILD(distance, eddy_cosine_distance(BOTH))
BUILD(ranking, eddy_margin_ranking_loss(A, B, C, .margin = 0.4, APART))
BUILD(embedding, eddy_cosine_embedding_loss(A, B, C, APART))
BUILD(contrastive, eddy_contrastive_loss(A, B, C, .margin = 9))
BUILD(triplet, eddy_triplet_margin_loss(A, B, C, .margin = 9))
BUILD(triplet_squared, eddy_triplet_margin_loss(A, B, C, .margin = 99, .squared = true))
BUILD(semihard, eddy_triplet_semihard_loss(pairs(x[0]), A, .margin = 50))

/* Labels and predictions from one interval each; OF_3 with a third input. */
#define OF_2(type, name, fn, low_a, high_a, low_b, high_b)                      \
    { .op = type, .how = name, .build = fn, .n = 2, .shape = { S(3, 4), S(3, 4) }, \
      .low = { low_a, low_b }, .high = { high_a, high_b } }
#define OF_3(type, name, fn, of_third, low_c, high_c, none)                     \
    { .op = type, .how = name, .build = fn, .n = 3, .shape = { S(3, 4), S(3, 4), of_third }, \
      .low = { -2, 0.25, low_c }, .high = { -0.25, 2, high_c }, .constant = none }

static const sweep_row rows[] = {
    OP("DivNoNan", "weighted", weighted, 2, S(3, 4), S(3, 4)),
    OP("DivNoNan", "weighted, of rows", weighted, 2, S(3, 4), S(3, 1)),
    OF_2("DivNoNan", "weighted mean", weighted_mean, -2, 2, 0.5, 2),
    OP("Sum", "weighted sum", weighted_sum, 2, S(3, 4), S(3, 1)),
    OP("DivNoNan", "weighted, over all", weighted_batch, 2, S(3, 4), S(3, 4)),
    OP("L2Loss", "l1_l2_regularizer", l1_l2, 1, S(3, 4)),

    OF_2("DivNoNan", "absolute_difference", absolute, -2, -0.25, 0.25, 2),
    OF_3("SquaredDifference", "mean_squared_error", squared, S(3, 1), 0.5, 2, 0),
    OF_2("Huber", "huber_loss", huber, -1, 0, 1, 2),
    OF_2("Huber", "smooth_l1_loss", smooth_l1, -1, 0, 1, 2),
    OF_2("Log1p", "log_cosh_loss", log_cosh, -2, 2, -2, 2),
    OF_2("Maximum", "quantile_loss", quantile, -2, -0.25, 0.25, 2),
    OF_2("Log", "poisson_loss", poisson, 0.5, 3, 0.5, 3),
    OF_2("Exp", "log_poisson_loss", log_poisson, 1.5, 3, -1, 1),
    OF_3("Maximum", "gaussian_nll_loss", gaussian, S(3, 4), 0.5, 2, 0),
    OF_3("Maximum", "mean_pairwise_squared_error", pairwise, S(3, 1), 0.5, 2, 0),

    OF_2("Relu", "hinge_loss", hinge, 0.75, 1, -2, 0.75),
    OF_2("Relu", "squared_hinge_loss", squared_hinge, 0.75, 1, -2, 0.75),
    OF_2("Max", "categorical_hinge_loss", categorical, 0.05, 0.1, -1, 1),
    OF_2("Log", "log_loss", log_loss, 0.25, 0.75, 0.25, 0.75),
    OF_2("SigmoidCrossEntropyWithLogits", "loss", logistic, 0, 1, -2, 2),
    OP("Softplus", "weighted_cross_entropy", positive, 3, S(3, 4), S(3, 4), S(4)),
    OF_2("SigmoidCrossEntropyWithLogits", "focal_loss", focal, 0, 1, -2, 2),
    OF_2("Pow", "focal_loss", focal_3, 0, 1, -2, 2),
    OP_KEEP("SoftmaxCrossEntropyWithLogits", "loss", softmax, 1, KEEP(4), S(3, 4)),
    OP_KEEP("SparseSoftmaxCrossEntropyWithLogits", "ignore", sparse, 1, KEEP(4), S(3, 4)),
    OF_2("Xlogy", "kl_divergence_loss", divergence, 0.25, 1, 0.25, 1),
    OF_2("MulNoNan", "kl_divergence_loss", divergence_log, 0.25, 1, -2, -0.25),
    OF_2("RealDiv", "dice_loss", dice, 0, 1, 0, 1),

    OP("EuclideanNorm", "cosine_similarity", similarity, 2, S(3, 4), S(3, 4)),
    OP("DivNoNan", "cosine_distance", distance, 2, S(3, 4), S(3, 4)),
    OF_3("Relu", "margin_ranking_loss", ranking, S(3, 4), 0.25, 1, 0),
    OF_3("Relu", "cosine_embedding_loss", embedding, S(3), -1, -0.5, 4),
    OF_3("EuclideanNorm", "contrastive_loss", contrastive, S(3), 0, 1, 0),
    OF_3("EuclideanNorm", "triplet_margin_loss", triplet, S(3, 4), 2, 4, 0),
    OF_3("Relu", "triplet_margin_loss", triplet_squared, S(3, 4), 2, 4, 0),
    OP_KEEP("SelectV2", "triplet_semihard_loss", semihard, 1, KEEP(3), S(5, 3)),
};
FAMILY_OF_ROWS(losses, rows);
