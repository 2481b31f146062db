/* test_messages_random.c -- error messages of distributions, samplers and choices. */
#include "graph/internal.h"
#include "tests/lib/golden.h"
#include "build/gen/table.h"

#include <math.h>

Suite *messages_random_suite(void);

static eddy_graph *g;

static eddy_tensor of(const char *name, eddy_dtype d, eddy_shape s)
{
    return eddy_placeholder(g, name, d, s);
}

static void classes(eddy_tensor x, eddy_tensor pairs)
{
    const eddy_tensor endless = of("endless", EDDY_FLOAT32, EDDY_SHAPE((int64_t)1 << 32));
    eddy_random_categorical(pairs, 1), golden_graph(g);
    eddy_random_categorical(x, 1, EDDY_FLOAT32), golden_graph(g);
    eddy_random_categorical(x, -1), golden_graph(g);
    eddy_random_categorical(eddy_scalar(g, 1), 1), golden_graph(g);
    eddy_random_categorical(endless, 1), golden_graph(g);
    eddy_random_permutation(g, -1), golden_graph(g);
    eddy_random_choice(eddy_scalar(g, 1), 1), golden_graph(g);
    eddy_random_choice(x, -1), golden_graph(g);
    eddy_random_choice(x, 1, .p = x), golden_graph(g);
}

static void operands(eddy_tensor x, eddy_tensor half)
{
    const eddy_tensor any = of("any", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor other = of("other", EDDY_FLOAT32, EDDY_SHAPE(3, 2));
    const int64_t     seed = 0;
    eddy_random_gamma(half), golden_graph(g);
    eddy_random_laplace(any, .sample_shape = EDDY_DIMS(2)), golden_graph(g);
    eddy_stateless_random_uniform(EDDY_SHAPE(2), x), golden_graph(g);
    eddy_apply2(&eddy_op_random_binomial, &seed, x, other), golden_graph(g);
}

static void at_the_run(void)
{
    const float  none[] = { 1, -INFINITY };
    eddy_tensor  x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 1), none);
    eddy_session *s = eddy_session_new(g);
    eddy_array_free(eddy_fetch(s, eddy_random_categorical(x, 2)));
    golden_line(eddy_session_message(s));
    x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 0));
    eddy_array_free(eddy_fetch(s, eddy_random_categorical(x, 2)));
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

START_TEST(refusals)
{
    g = eddy_graph_new();
    const eddy_tensor x = of("x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor half = of("half", EDDY_FLOAT16, EDDY_SHAPE(2, 3));
    golden_begin("ops/random");
    classes(x, of("pairs", EDDY_COMPLEX64, EDDY_SHAPE(2, 3)));
    operands(x, half);
    at_the_run();
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *messages_random_suite(void)
{
    Suite *suite = suite_create("messages_random");
    TCase *c = tcase_create("messages_random");
    tcase_add_test(c, refusals);
    suite_add_tcase(suite, c);
    return suite;
}
