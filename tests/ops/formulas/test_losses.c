/* test_losses.c -- losses against PyTorch and TensorFlow: values, gradients, weights and
 * reductions, extreme logits, the collections.
 *
 * The numbers of `cases` are values and gradients by PyTorch 1.13 in float64: of its own losses
 * where it has them, otherwise of the formula written in it. */
#include "tests/lib/element_checks.h"

Suite *losses_suite(void);

static const double real[] = { 0.5, -1.25, 2, 0.75, -0.5, 1.5 };
static const double found[] = { 1, 0.25, -0.75, 0.5, -1.5, 1.625 };
static const double binary[] = { 1, 0, 1, 0, 0, 1 };
static const double chances[] = { 0.2, 0.5, 0.3, 0.1, 0.6, 0.3 };
static const double parts[] = { 0.3, 0.3, 0.4, 0, 0.75, 0.25 };
static const double counts[] = { 3, 0, 1, 2, 5, 0.5 };

static eddy_tensor table(eddy_dtype d, const double *v)
{
    return shaped(d, EDDY_SHAPE(2, 3), v);
}
static eddy_tensor third(eddy_tensor like, const double *v)
{
    return table(eddy_dtype_of(like), v);
}

/* ------------------------------------------------------------------- formulas -- */

#define LOSS(name, formula)                                                     \
    static eddy_tensor name(eddy_tensor t, eddy_tensor x) { return formula; }
LOSS(absolute, eddy_absolute_difference(t, x))
LOSS(squared, eddy_mean_squared_error(t, x))
LOSS(huber, eddy_huber_loss(t, x, .delta = 0.7))
LOSS(smooth, eddy_smooth_l1_loss(t, x, .beta = 0.7))
LOSS(log_cosh, eddy_log_cosh_loss(t, x))
LOSS(quantile, eddy_quantile_loss(t, x, .quantile = 0.3))
LOSS(poisson, eddy_poisson_loss(t, x))
LOSS(gaussian, eddy_gaussian_nll_loss(t, x, third(x, chances), .full = true))
LOSS(pairwise, eddy_mean_pairwise_squared_error(t, x))
LOSS(hinge, eddy_hinge_loss(t, x))
LOSS(squared_hinge, eddy_squared_hinge_loss(t, x))
LOSS(categorical, eddy_categorical_hinge_loss(t, x))
LOSS(log_loss, eddy_log_loss(t, x))
LOSS(logistic, eddy_sigmoid_cross_entropy_loss(t, x, .label_smoothing = 0.1))
LOSS(softmax, eddy_softmax_cross_entropy_loss(t, x))
LOSS(softened, eddy_softmax_cross_entropy_loss(t, x, .label_smoothing = 0.2))
LOSS(positive, Mean(eddy_weighted_cross_entropy_with_logits(t, x, NumberLike(2.5, x))))
LOSS(focal, eddy_focal_loss(t, x))
LOSS(focal_flat, eddy_focal_loss(t, x, .alpha = -1, .gamma = 1.5))
LOSS(divergence, eddy_kl_divergence_loss(t, x))
LOSS(divergence_log, eddy_kl_divergence_loss(t, x, .log_predictions = true))
LOSS(dice, eddy_dice_loss(t, x, .axes = EDDY_AXES(1)))
LOSS(similarity, Mean(eddy_cosine_similarity(t, x)))
LOSS(distance, eddy_cosine_distance(t, x))
LOSS(ranking, eddy_margin_ranking_loss(x, t, third(x, (double[]){ 1, -1, 1, 1, 1, -1 }),
                                       .margin = 0.4))
LOSS(triplet, eddy_triplet_margin_loss(x, t, third(x, chances)))
LOSS(triplet_swap, eddy_triplet_margin_loss(x, t, third(x, chances), .margin = 3, .swap = true))
LOSS(contrastive, eddy_contrastive_loss(x, t, vec(EDDY_INT32, V(0, 1)), .margin = 4))
LOSS(embedding, eddy_cosine_embedding_loss(x, t, vec(EDDY_INT32, V(1, -1)), .margin = 0.1))
LOSS(log_poisson, Sum(eddy_log_poisson_loss(t, x, true)))

static const struct loss_case {
    const char   *name;
    binary_fn     fn;
    const double *labels, *predictions;
    double        value, slope[6];
} cases[] = {
    { "absolute", absolute, real, found, 1.0208333333333333,
      { 0.16666666666666666, 0.16666666666666666, -0.16666666666666666, -0.16666666666666666,
        -0.16666666666666666, 0.16666666666666666 } },
    { "squared", squared, real, found, 1.8567708333333333,
      { 0.16666666666666666, 0.5, -0.91666666666666663, -0.083333333333333329,
        -0.33333333333333331, 0.041666666666666664 } },
    { "huber", huber, real, found, 0.51734374999999988,
      { 0.083333333333333329, 0.11666666666666665, -0.11666666666666665, -0.041666666666666664,
        -0.11666666666666665, 0.020833333333333332 } },
    { "smooth", smooth, real, found, 0.73906249999999984,
      { 0.11904761904761905, 0.16666666666666666, -0.16666666666666666, -0.059523809523809527,
        -0.16666666666666666, 0.029761904761904764 } },
    { "log_cosh", log_cosh, real, found, 0.58483146901746441,
      { 0.077019526210001632, 0.1508580422741444, -0.16530995409470128, -0.040819777067284853,
        -0.12693235932596081, 0.020725500295266031 } },
    { "quantile", quantile, real, found, 0.44791666666666669,
      { 0.11666666666666665, 0.11666666666666665, -0.049999999999999996, -0.049999999999999996,
        -0.049999999999999996, 0.11666666666666665 } },
    { "poisson", poisson, counts, chances, 2.6322610692129071,
      { -2.3333320833339584, 0.16666666666666666, -0.38888870370376549, -3.1666633333366665,
        -1.2222219907407792, -0.1111110185185494 } },
    { "gaussian", gaussian, real, found, 3.0671170261152874,
      { 0.41666666666666663, 0.5, -1.5277777777777779, -0.41666666666666663, -0.27777777777777779,
        0.069444444444444448 } },
    { "pairwise", pairwise, real, found, 10.53125,
      { 1.5, 3.5, -5, 0.25, -1.25, 1 } },
    { "hinge", hinge, binary, real, 0.45833333333333331,
      { -0.16666666666666666, 0, 0, 0.16666666666666666, 0.16666666666666666, 0 } },
    { "squared_hinge", squared_hinge, binary, real, 0.59375,
      { -0.16666666666666666, 0, 0, 0.58333333333333326, 0.16666666666666666, 0 } },
    { "categorical", categorical, binary, found, 0.5,
      { -0.5, 0.5, -0.5, 0, 0, 0 } },
    { "log_loss", log_loss, binary, chances, 0.95536337023340245,
      { -0.83333291666687492, 0.33333326666668001, -0.55555537037043212, 0.18518516460905579,
        0.41666656250002598, -0.55555537037043212 } },
    { "logistic", logistic, binary, found, 0.62709283517674741,
      { -0.036490236894999195, 0.085362750147633004, -0.10486311652923218, 0.09540988853364242,
        0.022070920634392727, -0.019086077149427189 } },
    { "softmax", softmax, parts, found, 2.0404820149128731,
      { 0.15374078103102926, -0.0065230143375093474, -0.14721776669351988, 0.11860842526087824,
        -0.35894809517307041, 0.24033966991219219 } },
    { "softened", softened, parts, found, 1.9386070149128733,
      { 0.15040744769769593, -0.0098563476708426745, -0.14055110002685323, 0.085275091927544899,
        -0.31728142850640378, 0.23200633657885886 } },
    { "positive", positive, binary, found, 1.0126871674314428,
      { -0.1120589255708313, 0.09369608348096635, -0.28299112465641374, 0.10374322186697577,
        0.030404253967726058, -0.068548526206901286 } },
    { "focal", focal, binary, found, 0.10364091891748654,
      { -0.0021908804157316922, 0.050780426625253401, -0.027074346885158491, 0.065768977734322887,
        0.0021288881529044914, -0.00052424372629306364 } },
    { "focal_flat", focal_flat, binary, found, 0.25570398609367756,
      { -0.014236829962100017, 0.077600198614790228, -0.11439671201801749, 0.096098487898126653,
        0.005576614224161492, -0.004334899076813001 } },
    { "divergence", divergence, parts, chances, 0.10262097428526662,
      { -0.74999999999999989, -0.29999999999999999, -0.66666666666666674, 0, -0.625,
        -0.41666666666666669 } },
    { "divergence_log", divergence_log, parts, found, -0.503742559982016,
      { -0.14999999999999999, -0.14999999999999999, -0.20000000000000001, 0, -0.375, -0.125 } },
    { "dice", dice, binary, chances, 0.48333333333333334,
      { -0.1875, 0.0625, -0.1875, 0.088888888888888892, 0.088888888888888892, -0.24444444444444441
        } },
    { "similarity", similarity, real, found, 0.2353991397402509,
      { 0.21274894140454509, -0.17051201921393688, 0.22682791546808118, 0.050846682839601344,
        0.067987090049184476, 0.04711218071013909 } },
    { "distance", distance, real, found, -0.125,
      { -0.25, 0.625, -1, -0.375, 0.25, -0.75 } },
    { "ranking", ranking, real, found, 1.2708333333333333,
      { 0, 0.16666666666666666, -0.16666666666666666, -0.16666666666666666, -0.16666666666666666,
        0.16666666666666666 } },
    { "triplet", triplet, real, found, 1.4143208182928402,
      { -0.21891842154061622, 0.3294733166730538, -0.042691325060907281, 0, 0, 0 } },
    { "triplet_swap", triplet_swap, real, found, 3.5570566469042992,
      { -0.21891842154061622, 0.3294733166730538, -0.042691325060907281, -0.12038549716190412,
        -0.48154343327936094, 0.060193470896824301 } },
    { "contrastive", contrastive, real, found, 0.88173495955047965,
      { -0.13048832499128052, -0.39146497497384158, 0.71768578745204281, -0.25, -1, 0.125 } },
    { "embedding", embedding, real, found, 1.112461353000644,
      { -0.2127489414043805, 0.17051201921388995, -0.22682791546805248, 0.050846682839596612,
        0.067987090049141261, 0.047112180710154467 } },
    { "log_poisson", log_poisson, counts, found, 22.049179345656256,
      { -0.28171817154095491, 1.2840254166877414, -0.52763344725898531, -0.35127872929987181,
        -4.7768698398515701, 4.5784190371800815 } },
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(losses_are_those_of_pytorch)
{
    const struct loss_case *c = &cases[_i];
    for (int single = 0; single < 2; single++) {
        const eddy_dtype  d = single ? F32 : F64;
        const double      tolerance = single ? 3e-6 : 1e-11;
        const eddy_tensor x = table(d, c->predictions), y = c->fn(table(d, c->labels), x);
        near(c->name, tolerance, y, 1, &c->value);
        near(c->name, tolerance, slope(y, x), 6, c->slope);
    }
}
END_TEST

/* ------------------------------------------------------ weights and reductions -- */

/* 3, 1, 10, 13, 3 and 3 off, as in TensorFlow's losses_test.py. */
static eddy_tensor off(eddy_tensor weights, eddy_loss_reduction how)
{
    const double labels[] = { 1, 9, 2, -5, -2, 6 }, predictions[] = { 4, 8, 12, 8, 1, 3 };
    return eddy_absolute_difference(table(F64, labels), table(F64, predictions), weights, how);
}

START_TEST(weights)
{
    const eddy_loss_reduction present = EDDY_LOSS_SUM_BY_NONZERO_WEIGHTS;
    const eddy_tensor none = { 0 }, two = shaped(F64, EDDY_SHAPE(2, 1), (double[]){ 1.2, 0 });
    const eddy_tensor each = table(EDDY_INT32, (double[]){ 3, 6, 5, 0, 4, 2 });
    IS(off(none, present), 5.5);
    NEAR(off(num(F32, 2.5), present), 5.5 * 2.5);
    IS(off(num(F64, 0), present), 0);
    NEAR(off(two, present), 5.6);
    NEAR(off(each, present), 16.6);
    NEAR(off(each, EDDY_LOSS_SUM), 83);
    NEAR(off(each, EDDY_LOSS_MEAN), 83.0 / 20);
    NEAR(off(each, EDDY_LOSS_SUM_OVER_BATCH_SIZE), 83.0 / 6);
    IS(off(each, EDDY_LOSS_NONE), 9, 6, 50, 0, 12, 6);
    IS(off(none, EDDY_LOSS_NONE), 3, 1, 10, 13, 3, 3);
    IS(off(none, EDDY_LOSS_MEAN), 5.5);
    IS(off(num(EDDY_BOOL, 1), EDDY_LOSS_SUM), 33);
    const eddy_tensor l = table(F64, real), x = table(F64, found);
    const eddy_tensor half = shaped(F64, EDDY_SHAPE(2, 1), (double[]){ 2, 0 });
    NEAR(eddy_mean_pairwise_squared_error(l, x, half), 2 * 9.875);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_LOSSES), 13);
}
END_TEST

/* corner: nothing has a loss of 0 under TensorFlow's reductions, not NaN */
START_TEST(nothing)
{
    const eddy_tensor none = eddy_zeros(g, F64, EDDY_SHAPE(0, 3));
    IS(eddy_mean_squared_error(none, none), 0);
    IS(eddy_mean_squared_error(none, none, .reduction = EDDY_LOSS_MEAN), 0);
    IS(eddy_absolute_difference(num(F64, 3), num(F64, 1)), 2);
    IS(eddy_mean_pairwise_squared_error(num(F64, 3), num(F64, 1)), 0);
    IS(eddy_mean_pairwise_squared_error(vec(F64, V(3, 2)), vec(F64, V(1, 4))), 0);
}
END_TEST

START_TEST(ignored_labels)
{
    double logits[12];
    memcpy(logits, found, sizeof found);
    memcpy(logits + 6, real, sizeof real);
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(4, 3), logits);
    const eddy_tensor labels = vec(EDDY_INT64, V(2, -100, 0, 1));
    const eddy_tensor y = eddy_sparse_softmax_cross_entropy_loss(labels, x,
                                                                 .ignore = EDDY_DIMS(-1, -100));
    near("ignore", 1e-14, y, V(2.151953722007166));
    static const double want[] = { 0.20249385402068615, 0.09565132377499376, -0.29814517779567989,
        0, 0, 0, -0.27439327263085189, 0.01024224677547881, 0.26415102585537309,
        0.097938258237163178, -0.30527355255225402, 0.20733529431509085 };
    near("ignore", 1e-14, slope(y, x), 12, want);
    const eddy_tensor w = vec(F64, V(1, 5, 0, 0));
    const eddy_tensor first = eddy_sparse_softmax_cross_entropy_loss(
        labels, x, w, .ignore = EDDY_DIMS(-100), .reduction = EDDY_LOSS_MEAN);
    const eddy_tensor one = shaped(F64, EDDY_SHAPE(1, 3), found);
    double wanted[1];
    values(eddy_sparse_softmax_cross_entropy_loss(vec(EDDY_INT32, V(2)), one), wanted);
    near("weighted", 1e-14, first, 1, wanted);
}
END_TEST

/* ----------------------------------------------------------------- all triplets -- */

/* By the formula in loops, in PyTorch. */
START_TEST(triplets)
{
    const double v[] = { 0, 0.1, 1, 0.2, 0.3, 1.2, -0.5, 0.4, 0.9, -0.7, 0.6, 0.5 };
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(6, 2), v);
    const eddy_tensor y = eddy_triplet_semihard_loss(vec(EDDY_INT32, V(0, 0, 1, 1, 2, 0)), x);
    near("semihard", 1e-14, y, V(0.5587500000000001));
    static const double want[] = { -0.57499999999999996, 0.57499999999999996, 0.5,
        -0.074999999999999983, 0.29999999999999993, -1.2249999999999999, -0.20000000000000001,
        -0.19999999999999998, 0.024999999999999994, 0.22499999999999998, -0.050000000000000017,
        0.69999999999999984 };
    near("semihard", 1e-14, slope(y, x), 12, want);
    IS(eddy_triplet_semihard_loss(vec(F64, V(0, 1, 2, 3, 4, 5)), x), 0);
}
END_TEST

/* ---------------------------------------------------------------------- corners -- */

START_TEST(extreme_logits)
{
    for (int single = 0; single < 2; single++) {
        const eddy_dtype  d = single ? F32 : F64;
        const eddy_tensor x = vec(d, V(1e30, -1e30, 1e30, -1e30)), z = vec(d, V(1, 0, 0, 1));
        const double      far = single ? (double)1e30f : 1e30;
        const eddy_tensor w = num(d, 1), y = eddy_weighted_cross_entropy_with_logits(z, x, w);
        IS(y, 0, 0, far, far);
        IS(slope(y, x), 0, 0, 1, -1);
        const eddy_tensor f = eddy_focal_loss(z, x, .alpha = -1, .reduction = EDDY_LOSS_NONE);
        IS(f, 0, 0, far, far);
        IS(slope(f, x), 0, 0, 1, -1);
        const eddy_tensor c = eddy_log_cosh_loss(z, x, .reduction = EDDY_LOSS_SUM);
        IS(slope(c, x), 1, -1, 1, -1);
    }
}
END_TEST

/* |e| + ln(1 + e^-|2 e|) - ln 2 is finite for large errors of all types. */
START_TEST(log_cosh_of_large_errors)
{
    static const struct { eddy_dtype type; double most; } types[] = {
        { EDDY_FLOAT16, 0.01 }, { EDDY_BFLOAT16, 0.2 }, { EDDY_FLOAT32, 4e-6 }, { F64, 1e-14 },
    };
    for (int i = 0; i < 4; i++) {
        const eddy_tensor e = Cast(vec(F64, V(-7.5, 8, 11, 12, 19, 20, 40)), types[i].type);
        const eddy_tensor y = eddy_log_cosh_loss(ZerosLike(e), e, .reduction = EDDY_LOSS_NONE);
        const eddy_tensor size = Abs(Cast(e, F64)), rest = Softplus(Mul(-2, size));
        const eddy_tensor wrong = Sub(Cast(y, F64), Sub(Add(size, rest), 0.69314718055994531));
        IS(Cast(Less(Abs(wrong), types[i].most), F64), 1, 1, 1, 1, 1, 1, 1);
    }
}
END_TEST

START_TEST(corners)
{
    const eddy_tensor t = vec(F64, V(0, 1)), x = vec(F64, V(0, 1));
    IS(eddy_kl_divergence_loss(t, x), 0);
    IS(slope(eddy_kl_divergence_loss(t, x), x), 0, -1);
    IS(eddy_kl_divergence_loss(x, vec(F64, V(1, 0))), INFINITY);
    IS(eddy_kl_divergence_loss(t, vec(F64, V(-INFINITY, 0)), .log_predictions = true), 0);
    const eddy_tensor a = table(F64, found), same = vec(F64, V(0, 0));
    IS(eddy_contrastive_loss(a, a, same), 1);
    IS(eddy_contrastive_loss(a, a, same, .margin = 0), 0);
    IS(slope(eddy_contrastive_loss(a, a, same), a), 0, 0, 0, 0, 0, 0);
    const eddy_tensor zero = eddy_zeros(g, F64, EDDY_SHAPE(2, 3));
    IS(eddy_cosine_similarity(zero, a), 0, 0);
    const eddy_tensor edge = vec(F64, V(1, -1));
    IS(slope(eddy_hinge_loss(vec(F64, V(1, 0)), edge), edge), 0, 0);
    IS(slope(eddy_log_poisson_loss(t, x, true), t), 0, -1);
    ck_assert(!connected(eddy_softmax_cross_entropy_loss(t, x), t));
}
END_TEST

START_TEST(collections)
{
    const eddy_tensor x = vec(F32, V(1, -2)), zero = vec(F32, V(0, 0));
    IS(eddy_get_regularization_loss(g, NULL), 0);
    eddy_scope_begin(g, "tower");
    eddy_mean_squared_error(zero, x);
    eddy_scope_end(g);
    eddy_absolute_difference(zero, x, .collection = "");
    eddy_add_loss(num(F32, 10), NULL);
    eddy_absolute_difference(zero, x, .collection = "others");
    ck_assert_int_eq(eddy_collection_size(g, EDDY_LOSSES), 2);
    ck_assert_int_eq(eddy_collection_size(g, "others"), 1);
    NEAR(eddy_apply_regularization(EDDY_LIST(x, x), 0.5, 0), 3);
    NEAR(eddy_apply_regularization(EDDY_LIST(x), 0, 2), 5);
    NEAR(eddy_l1_l2_regularizer(x, 0.5, 2), 6.5);
    NEAR(eddy_get_regularization_loss(g, NULL), 8);
    NEAR(eddy_get_total_loss(g), 20.5);
    NEAR(eddy_get_total_loss(g, .without_regularization = true), 12.5);
    NEAR(eddy_get_total_loss(g, .scope = "tower/"), 2.5);
}
END_TEST

Suite *losses_suite(void)
{
    Suite *s = suite_create("losses");
    TCase *t = tcase_create("losses");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, losses_are_those_of_pytorch, 0, CASES);
    tcase_add_test(t, weights);
    tcase_add_test(t, nothing);
    tcase_add_test(t, ignored_labels);
    tcase_add_test(t, triplets);
    tcase_add_test(t, extreme_logits);
    tcase_add_test(t, log_cosh_of_large_errors);
    tcase_add_test(t, corners);
    tcase_add_test(t, collections);
    suite_add_tcase(s, t);
    return s;
}
