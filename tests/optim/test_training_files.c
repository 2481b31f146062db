/* test_training_files.c -- a whole training graph written and read: the graph that is read trains
 * to the same bits and is written to the same bytes. */
#include "../../eddy.h"
#include "build/gen/suites.h"

#include <check.h>
#include <string.h>

enum { STEPS = 5, ROWS = 6 };

/* A classifier with dropout, its gradients and one optimizer's updates. */
static eddy_graph *classifier(int which)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 4));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor h = eddy_dropout(eddy_relu(eddy_dense(x, 16, "hidden")), .rate = 0.25);
    eddy_tensor logits = eddy_dense(h, 3, "logits");
    eddy_tensor loss = eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits), .name = "loss");
    eddy_tensor rate = eddy_scalar(g, 0.05), half = eddy_scalar(g, 0.5);
    eddy_optimizer *o = which == 0   ? eddy_gradient_descent(g, rate)
                        : which == 1 ? eddy_momentum(g, rate, half, .use_nesterov = true)
                                     : eddy_adam(g, rate);
    eddy_minimize(o, loss, .global_step = eddy_create_global_step(g), .name = "train");
    eddy_initializer(g);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    return g;
}

/* The loss of each step, from a fresh session. */
static void train(eddy_graph *g, float *losses)
{
    float   x[ROWS][4];
    int32_t y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 3;
        for (int j = 0; j < 4; j++) x[i][j] = 0.5f * (float)(y[i] * j - 1) + 0.01f * (float)i;
    }
    eddy_array   *ax = eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(ROWS, 4), x);
    eddy_array   *ay = eddy_array_borrow(EDDY_INT32, EDDY_SHAPE(ROWS), y), *out[2] = { NULL, NULL };
    eddy_session *s = eddy_session_new(g);
    eddy_tensor   tx = eddy_graph_tensor(g, "x:0"), ty = eddy_graph_tensor(g, "y:0");
    eddy_tensor   step = eddy_graph_operation(g, "train"), loss = eddy_graph_tensor(g, "loss:0");
    eddy_tensor   init = eddy_graph_operation(g, "init");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
    for (int i = 0; i < STEPS; i++) {
        eddy_status status =
            eddy_run(s, EDDY_FEED({ tx, ax }, { ty, ay }), EDDY_FETCH(step, loss), out);
        ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
        losses[i] = *(float *)eddy_array_data(out[1]);
    }
    eddy_array_free(ax);
    eddy_array_free(ay);
    eddy_array_free(out[1]);
    eddy_session_free(s);
}

START_TEST(trains_alike)
{
    eddy_graph *g = classifier(_i);
    eddy_error  e = { 0 };
    char       *text = eddy_graph_to_yaml(g);
    ck_assert_ptr_nonnull(text);
    eddy_graph *copy = eddy_graph_load("train.yaml", text, .error = &e);
    ck_assert_msg(copy != NULL, "%s", e.message);
    char *again = eddy_graph_to_yaml(copy);
    ck_assert_str_eq(text, again);
    float losses[STEPS], same[STEPS];
    train(g, losses);
    train(copy, same);
    ck_assert_int_eq(memcmp(losses, same, sizeof losses), 0);
    ck_assert(losses[STEPS - 1] < losses[0]);
    eddy_string_free(text);
    eddy_string_free(again);
    eddy_graph_free(g);
    eddy_graph_free(copy);
}
END_TEST

Suite *training_files_suite(void)
{
    Suite *s = suite_create("training_files");
    TCase *t = tcase_create("train");
    tcase_add_loop_test(t, trains_alike, 0, 3);
    suite_add_tcase(s, t);
    return s;
}
