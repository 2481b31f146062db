/* test_messages_optim_elementwise.c -- error messages of the newer elementwise optimizers. */
#include "ops/short_names.h"
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

Suite *messages_optim_elementwise_suite(void);

static void apply(eddy_optimizer *o, eddy_tensor v)
{
    eddy_gradient_pair p = { ZerosLike(v), v };
    eddy_apply_gradients(o, &p, 1);
}

START_TEST(optim_modern)
{
    const eddy_tensor one = eddy_scalar(g, 1), whole = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 2 });
    const eddy_tensor free_rank = eddy_variable(
        g, eddy_placeholder_with_default(x, NULL, EDDY_UNKNOWN_SHAPE), .name = "free");
    const eddy_tensor open = eddy_variable(
        g, eddy_placeholder_with_default(x, NULL, EDDY_SHAPE(EDDY_ANY)), .name = "open");
    golden_begin("optim/optim_elementwise");
    eddy_adamw(g, x), golden_graph(g);
    eddy_adamw(g, .weight_decay = whole), golden_graph(g);
    eddy_adamax(g, .beta1 = x), golden_graph(g);
    eddy_nadam(g, .momentum_decay = whole), golden_graph(g);
    eddy_radam(g, .beta2 = whole), golden_graph(g);
    eddy_yogi(g, .initial_accumulator_value = -1), golden_graph(g);
    eddy_lion(g, .weight_decay = x), golden_graph(g);
    eddy_lamb(g, .epsilon = x), golden_graph(g);
    eddy_lars(g), golden_graph(g);
    eddy_adafactor(g, .decay_rate = x), golden_graph(g);
    apply(eddy_adafactor(g), free_rank), golden_graph(g);
    eddy_sm3(g), golden_graph(g);
    apply(eddy_sm3(g, one), free_rank), golden_graph(g);
    eddy_shampoo(g, .max_size = -1), golden_graph(g);
    apply(eddy_shampoo(g), open), golden_graph(g);
    eddy_shampoo_roots(eddy_shampoo(g)), golden_graph(g);
    eddy_shampoo_roots(eddy_adamw(g)), golden_graph(g);
    eddy_decoupled_weight_decay(NULL, one), golden_graph(g);
    eddy_decoupled_weight_decay(eddy_adamw(g)), golden_graph(g);
    eddy_decoupled_weight_decay(eddy_adamw(g), x), golden_graph(g);
    golden_end();
}
END_TEST

Suite *messages_optim_elementwise_suite(void)
{
    Suite *suite = suite_create("messages_optim_elementwise");
    TCase *c = tcase_create("optim_modern");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, optim_modern);
    suite_add_tcase(suite, c);
    return suite;
}
