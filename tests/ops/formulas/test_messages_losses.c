/* test_messages_losses.c -- error messages of losses. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

Suite *messages_losses_suite(void);

START_TEST(losses)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor i = eddy_placeholder(g, "i", EDDY_INT32, EDDY_SHAPE(2, 3));
    const eddy_tensor rows = eddy_placeholder(g, "rows", EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    golden_begin("ops/losses");
    eddy_compute_weighted_loss(i), golden_graph(g);
    eddy_compute_weighted_loss(x, rows), golden_graph(g);
    eddy_compute_weighted_loss(x, .reduction = (eddy_loss_reduction)7), golden_graph(g);
    eddy_get_total_loss(g), golden_graph(g);
    eddy_l1_regularizer(x, -1), golden_graph(g);
    eddy_l2_regularizer(x, -0.5), golden_graph(g);
    eddy_absolute_difference(x, i), golden_graph(g);
    eddy_mean_squared_error(rows, x), golden_graph(g);
    eddy_huber_loss(x, x, .delta = -1), golden_graph(g);
    eddy_smooth_l1_loss(x, x, .beta = -1), golden_graph(g);
    eddy_quantile_loss(x, x, .quantile = 1.5), golden_graph(g);
    eddy_mean_pairwise_squared_error(open, open), golden_graph(g);
    eddy_sigmoid_cross_entropy_loss(x, x, .label_smoothing = 2), golden_graph(g);
    eddy_softmax_cross_entropy_loss(x, x, .label_smoothing = -1), golden_graph(g);
    golden_end();
}
END_TEST

Suite *messages_losses_suite(void)
{
    Suite *suite = suite_create("messages_losses");
    TCase *c = tcase_create("losses");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, losses);
    suite_add_tcase(suite, c);
    return suite;
}
