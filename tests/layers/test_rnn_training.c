/* test_rnn_training.c -- a character model learns the same through a loop, unrolled steps and the
 * packed operation, and writes in a loop. */
#include "build/gen/suites.h"
#include "layers/layers.h"
#include "tests/lib/checks.h"

#include <math.h>

static const char text[] =
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age "
    "of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the "
    "season "
    "of Light, it was the season of Darkness, it was the spring of hope, it was the winter of "
    "despair, we had everything before us, we had nothing before us, we were all going direct to "
    "Heaven, we were all going direct the other way.";

enum { BATCH = 8, STEPS = 16, UNITS = 32, UPDATES = 50, CHARACTERS = 128, WAYS = 3 };

/* The same pieces of the text for each way. */
static void draw(int update, int32_t in[BATCH][STEPS], int32_t next[BATCH][STEPS])
{
    for (int b = 0; b < BATCH; b++)
        for (int t = 0; t < STEPS; t++) {
            const int at = (update * 131 + b * 53) % ((int)sizeof text - STEPS - 2) + t;
            in[b][t] = text[at];
            next[b][t] = text[at + 1];
        }
}

static eddy_tensor outputs(int way, eddy_rnn_cell cell, eddy_tensor x)
{
    eddy_tensor at[STEPS], out[STEPS], steps;
    if (way == 0) return eddy_dynamic_rnn(cell, x);
    if (way == 1) return eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL, UNITS), .seed = 2).outputs;
    steps = eddy_unstack(x, 1);
    for (int t = 0; t < STEPS; t++) at[t] = eddy_output(steps, t);
    ck_assert_int_eq(eddy_static_rnn(cell, ((eddy_list){ STEPS, at }), out), STEPS);
    return eddy_stack((eddy_list){ STEPS, out }, 1);
}

static void train(int way, double *losses)
{
    int32_t     in[BATCH][STEPS], next[BATCH][STEPS];
    eddy_graph *g = eddy_graph_new(.seed = 1);
    eddy_tensor x = eddy_placeholder(g, "in", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, STEPS));
    eddy_tensor y = eddy_placeholder(g, "next", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, STEPS));
    eddy_tensor vectors = eddy_embedding_layer(x, CHARACTERS, 8, .seed = 1);
    eddy_tensor h = outputs(way, eddy_lstm_cell(g, UNITS, .seed = 2), vectors);
    eddy_tensor logits = eddy_dense(h, CHARACTERS, .seed = 3);
    eddy_tensor loss = Mean(eddy_sparse_softmax_cross_entropy(y, logits));
    eddy_tensor step = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.01)), loss);
    eddy_array *out[2] = { NULL };
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    for (int i = 0; i < UPDATES; i++) {
        draw(i, in, next);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(in[0], BATCH, STEPS) },
                                               { y, EDDY_VIEW(next[0], BATCH, STEPS) }),
                                  EDDY_FETCH(loss, step), out), EDDY_OK);
        losses[i] = eddy_array_item(out[0]);
    }
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
}

START_TEST(same_losses)
{
    double losses[WAYS][UPDATES];
    for (int way = 0; way < WAYS; way++) train(way, losses[way]);
    for (int i = 0; i < UPDATES; i++)
        for (int way = 1; way < WAYS; way++)
            ck_assert_msg(fabs(losses[way][i] - losses[0][i]) < 1e-5, "update %d: %.8f and %.8f", i,
                          losses[way][i], losses[0][i]);
    ck_assert_msg(losses[0][UPDATES - 1] < 0.7 * losses[0][0], "%g", losses[0][UPDATES - 1]);
}
END_TEST

/* ---------------------------------------------------------------- writing -- */

typedef struct pen {
    eddy_rnn_cell cell;
    eddy_tensor   table, kernel;
} pen;

/* The most likely character is the next input. */
static int write_one(eddy_list x, eddy_tensor *y, void *context)
{
    const pen  *p = context;
    eddy_tensor h = eddy_rnn_step(p->cell, Gather(p->table, x.at[2]), x.at, y);
    y[2] = y[3] = eddy_argmax(MatMul(h, p->kernel), .axis = 1, .output_type = EDDY_INT32);
    return 4;
}

/* One run that writes twelve characters is twelve runs that write one each. */
START_TEST(writing)
{
    enum { LENGTH = 12, LETTERS = 10 };
    eddy_graph *g = eddy_graph_new(.seed = 4);
    pen p = { .cell = eddy_lstm_cell(g, UNITS, .seed = 1) };
    p.table = eddy_random_normal(g, EDDY_SHAPE(LETTERS, 6), .seed = 5);
    p.kernel = eddy_random_normal(g, EDDY_SHAPE(UNITS, LETTERS), .seed = 6);
    p.table = eddy_variable(g, p.table);
    p.kernel = eddy_variable(g, p.kernel);
    const eddy_function f = { .build = write_one, .context = &p };
    eddy_tensor first = eddy_placeholder(g, "first", EDDY_INT32, EDDY_SHAPE(1)), zero[2];
    eddy_tensor h = eddy_placeholder(g, "h", EDDY_FLOAT32, EDDY_SHAPE(1, UNITS));
    eddy_tensor c = eddy_placeholder(g, "c", EDDY_FLOAT32, EDDY_SHAPE(1, UNITS)), once[4], all[4];
    ck_assert_int_eq(eddy_zero_state(p.cell, first, zero, EDDY_FLOAT32), 2);
    ck_assert_int_eq(write_one(EDDY_LIST(h, c, first), once, &p), 4);
    ck_assert_int_eq(eddy_loop(f, EDDY_LIST(zero[0], zero[1], first), EDDY_LIST(), all, LENGTH), 4);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out = NULL, *state[3];
    runs(s, eddy_initializer(g));
    ck_assert_msg(eddy_run(s, EDDY_FEED({ first, EDDY_INTS(3) }), EDDY_FETCH(all[3]), &out) ==
                  EDDY_OK, "%s", eddy_session_message(s));
    state[0] = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(1, UNITS));
    state[1] = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(1, UNITS));
    state[2] = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 3 });
    memset(eddy_array_data(state[0]), 0, UNITS * sizeof(float));
    memset(eddy_array_data(state[1]), 0, UNITS * sizeof(float));
    for (int i = 0; i < LENGTH; i++) {
        eddy_array *next[3] = { NULL };
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ h, state[0] }, { c, state[1] },
                                               { first, state[2] }),
                                  EDDY_FETCH(once[0], once[1], once[2]), next), EDDY_OK);
        for (int k = 0; k < 3; k++) {
            eddy_array_free(state[k]);
            state[k] = next[k];
        }
        ck_assert(eddy_array_get(out, i) == eddy_array_get(state[2], 0));
    }
    for (int k = 0; k < 3; k++) eddy_array_free(state[k]);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *rnn_training_suite(void)
{
    Suite *suite = suite_create("rnn_training");
    TCase *t = tcase_create("rnn_training");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, same_losses);
    tcase_add_test(t, writing);
    suite_add_tcase(suite, t);
    return suite;
}
