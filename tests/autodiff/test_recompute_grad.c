/* test_recompute_grad.c -- gradients that compute values again: memory, nodes, bits. */
#include "build/gen/suites.h"
#include "tests/lib/graph_fixture.h"

/* A deep stack whose activations are as large as its input. */
static eddy_tensor layers(eddy_tensor x, eddy_tensor w, int n)
{
    for (int i = 0; i < n; i++) x = Tanh(Mul(x, w));
    return x;
}

static size_t arena(eddy_graph *graph, eddy_tensor t, double *value)
{
    eddy_session *s = eddy_session_new(graph);
    runs(s, eddy_initializer(graph));
    *value = number(s, t);
    eddy_array *again = eddy_fetch(s, t);
    eddy_array_free(again);
    const size_t bytes = eddy_session_plan_info(s).arena_bytes;
    eddy_session_free(s);
    return bytes;
}

START_TEST(recompute_saves_memory)
{
    enum { N = 4096, BLOCKS = 8, DEPTH = 8 };
    double      value[2];
    size_t      bytes[2];
    eddy_tensor w = eddy_variable(g, real(g, 0.9));
    eddy_tensor x = eddy_variable(
        g, eddy_fill(eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ N }), real(g, 0.5)));
    for (int way = 0; way < 2; way++) {
        eddy_tensor y = x, d[2];
        for (int b = 0; b < BLOCKS; b++) {
            eddy_tensor z = layers(y, w, DEPTH);
            if (way == 0) y = z;
            else eddy_recompute_grad(EDDY_LIST(z), EDDY_LIST(y), &y);
        }
        eddy_gradients(EDDY_LIST(Sum(y)), EDDY_LIST(x, w), d);
        fits(g);
        bytes[way] = arena(g, Add(Sum(d[0]), d[1]), &value[way]);
    }
    ck_assert_double_eq_tol(value[0], value[1], 1e-11);
    /* 64 kept activations against 8 between blocks and 8 within one, with slack */
    ck_assert_msg(bytes[1] * 2 < bytes[0], "%zu bytes, and %zu without", bytes[1], bytes[0]);
}
END_TEST

/* Each block is built again once, also where they share a weight. */
static int nodes_of_recompute(int blocks, bool shared)
{
    eddy_graph *h = eddy_graph_new();
    eddy_tensor w = real(h, 0.5), x = real(h, 1), y = x, d;
    for (int b = 0; b < blocks; b++) {
        eddy_tensor z = Tanh(Mul(Tanh(Mul(y, shared ? w : real(h, 0.5))), 2));
        eddy_recompute_grad(EDDY_LIST(z), EDDY_LIST(y), &y);
    }
    const int before = eddy_graph_size(h);
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d), EDDY_OK);
    const int made = eddy_graph_size(h) - before;
    eddy_graph_free(h);
    return made;
}

START_TEST(recompute_is_linear)
{
    const int few = nodes_of_recompute(10, true), many = nodes_of_recompute(100, true);
    ck_assert_int_le(many, 11 * few);
    ck_assert_int_le(many, 2 * nodes_of_recompute(100, false));
}
END_TEST

/* Second derivatives; a tensor that enters in the middle; dropout's mask is kept. */
START_TEST(recompute_is_exact)
{
    eddy_tensor x = vector(g, 3, (double[]){ 0.1, -0.4, 0.7 }),
                c = Exp(vector(g, 3, (double[]){ 1, 2, 3 }));
    eddy_tensor d[2][2], dd[2];
    eddy_tensor mask = eddy_random_uniform(g, EDDY_SHAPE(3), .dtype = EDDY_FLOAT64, .seed = 5);
    eddy_tensor y = Mul(Mul(Tanh(Square(x)), c), mask), z = y;
    eddy_recompute_grad(EDDY_LIST(z), EDDY_LIST(x), &z);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, c), d[0]);
    eddy_gradients(EDDY_LIST(z), EDDY_LIST(x, c), d[1]);
    dd[0] = eddy_gradient(d[0][0], x), dd[1] = eddy_gradient(d[1][0], x);
    fits(g);
    is_number(Sum(Abs(Sub(d[0][0], d[1][0]))), 0);
    is_number(Sum(Abs(Sub(d[0][1], d[1][1]))), 0);
    is_number(Sum(Abs(Sub(dd[0], dd[1]))), 0);
}
END_TEST

/* The second value of several, looked at and run. */
START_TEST(several_of_recompute)
{
    eddy_tensor x = vector(g, 3, (double[]){ 1, 2, 3 }), y[2];
    eddy_recompute_grad(EDDY_LIST(Sum(x), Mul(x, x)), EDDY_LIST(x), y);
    has_value(y[1], 3, (double[]){ 1, 4, 9 });
    const eddy_array *a = eddy_eval(y[1]);
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(eddy_array_count(a), 3);
    for (int i = 0; i < 3; i++) ck_assert_double_eq(eddy_array_get(a, i), (i + 1) * (i + 1));
}
END_TEST

Suite *recompute_grad_suite(void)
{
    Suite *suite = suite_create("recompute_grad");
    TCase *c = tcase_create("recompute");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, recompute_saves_memory);
    tcase_add_test(c, recompute_is_linear);
    tcase_add_test(c, recompute_is_exact);
    tcase_add_test(c, several_of_recompute);
    suite_add_tcase(suite, c);
    return suite;
}
