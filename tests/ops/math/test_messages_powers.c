/* test_messages_powers.c -- error messages of further elementwise functions. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

Suite *messages_powers_suite(void);

START_TEST(elements)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor i = eddy_placeholder(g, "i", EDDY_INT32, EDDY_SHAPE(2, 3));
    golden_begin("ops/powers");
    eddy_tan(i), golden_graph(g);
    eddy_bitwise_and(x, x), golden_graph(g);
    eddy_population_count(x), golden_graph(g);
    eddy_deg2rad(i), golden_graph(g);
    eddy_hard_sigmoid(i), golden_graph(g);
    eddy_hard_tanh(i), golden_graph(g);
    eddy_relu_n(i, 1.5), golden_graph(g);
    eddy_threshold(i, 0.5, 0), golden_graph(g);
    eddy_threshold(i, 1, -0.25), golden_graph(g);
    eddy_igamma(x, i), golden_graph(g);
    eddy_igamma_grad_a(x, x, .order = 4), golden_graph(g);
    eddy_gradient(eddy_igamma_grad_a(x, x, .order = 3), x), golden_graph(g);
    eddy_betainc(x, x, eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(4))), golden_graph(g);
    eddy_crelu(x, .axis = EDDY_AXES(0, 1)), golden_graph(g);
    eddy_crelu(x, .axis = EDDY_AXES(2)), golden_graph(g);
    eddy_glu(x), golden_graph(g);
    eddy_lbeta(eddy_scalar(g, 1)), golden_graph(g);
    golden_end();
}
END_TEST

Suite *messages_powers_suite(void)
{
    Suite *suite = suite_create("messages_powers");
    TCase *c = tcase_create("elementary");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, elements);
    suite_add_tcase(suite, c);
    return suite;
}
