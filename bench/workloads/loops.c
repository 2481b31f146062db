/* loops.c -- control flow inside the graph: a GRU over sequences of different lengths, and a branch
 * in each iteration of a loop. */
#include "bench/workloads/workload.h"

#include <eddy/ops/short_names.h>

/* ------------------------------------------------------------- a GRU -- */

enum { SEQUENCE = 64, EMBEDDING = 128, HIDDEN = 256 };

/* The cell's variables exist once a network is built of it. */
static void set_gru(trial *t)
{
    const uint64_t matrices[] = { 2, 0, 3, 0, 0 };      /* seeds; 0: a bias */
    for (int i = 0; i < 5; i++) {
        eddy_tensor v = eddy_collection_at(t->graph, EDDY_TRAINABLE_VARIABLES, t->n_variables);
        if (matrices[i]) trial_set_matrix(t, v, matrices[i], 0.4);
        else trial_set_filled(t, v, 0);
    }
}

/* Lengths 1 to SEQUENCE; steps behind the end count for nothing. */
static eddy_tensor feed_lengths(trial *t, int64_t batch)
{
    const int64_t n = TRIAL_BATCHES * batch;
    int32_t      *lengths = trial_memory(t, n, sizeof *lengths);
    for (int64_t i = 0; i < n; i++)
        lengths[i] = 1 + (int32_t)((bench_word(103, (uint64_t)i) >> 33) % SEQUENCE);
    return trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch), lengths);
}

/* Padded sequences with their lengths; the loss is the mean over the steps that exist. */
void build_ragged(trial *t, int64_t batch)
{
    int32_t *text, *next;
    trial_text(t, TRIAL_BATCHES * (int)batch, SEQUENCE, &text, &next);
    trial_batches(t, TRIAL_BATCHES);
    eddy_tensor x = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch, SEQUENCE), text);
    eddy_tensor y = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch, SEQUENCE), next);
    eddy_tensor lengths = feed_lengths(t, batch);
    eddy_tensor characters = trial_uniform(t, EDDY_SHAPE(VOCABULARY, EMBEDDING), 1, 1);
    eddy_tensor in = eddy_gather(characters, eddy_transpose(x));
    eddy_rnn_cell gru = eddy_gru_cell(t->graph, HIDDEN, .reset_after = true);
    eddy_tensor   h = eddy_dynamic_rnn(gru, in, .sequence_length = lengths, .time_major = true,
                                       .length_groups = 4);
    set_gru(t);
    h = eddy_reshape(h, EDDY_SHAPE(SEQUENCE * batch, HIDDEN));
    eddy_tensor wo = trial_matrix(t, HIDDEN, VOCABULARY, 4, 1);
    eddy_tensor bo = trial_filled(t, EDDY_SHAPE(VOCABULARY), 0);
    eddy_tensor logits = eddy_bias_add(eddy_matmul(h, wo), bo);
    eddy_tensor labels = eddy_reshape(eddy_transpose(y), EDDY_SHAPE(SEQUENCE * batch));
    eddy_tensor losses = eddy_sparse_softmax_cross_entropy(labels, logits);
    eddy_tensor there = eddy_sequence_mask(lengths, SEQUENCE, EDDY_FLOAT32);
    there = eddy_reshape(eddy_transpose(there), EDDY_SHAPE(SEQUENCE * batch));
    trial_adam(t, Div(Sum(Mul(losses, there)), Sum(there)), 0);
}

/* -------------------------------------------------- a branch in a loop -- */

enum { STEPS = 100, WIDTH = 128 };

/* From the state, a row and two weights. */
static int product(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_tanh(Add(eddy_matmul(x.at[0], x.at[2]), x.at[1]));
    return 1;
}

static int scaled(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(Mul(x.at[0], x.at[3]), x.at[1]);
    return 1;
}

static int branch_step(eddy_list x, eddy_tensor *y, void *weights)
{
    const eddy_tensor  *w = weights;
    const eddy_function one = { .build = product, .name = "product" },
                        two = { .build = scaled, .name = "scaled" };
    eddy_tensor above = Greater(Sum(x.at[1]), 0);
    return eddy_cond(above, one, two, y, EDDY_LIST(x.at[0], x.at[1], w[0], w[1]));
}

/* The sum of each row decides which of two functions makes the next state. */
void build_branches(trial *t, int64_t batch)
{
    float *rows = trial_memory(t, TRIAL_BATCHES * STEPS * WIDTH, sizeof *rows);
    float *goals = trial_memory(t, TRIAL_BATCHES * WIDTH, sizeof *goals);
    bench_uniform(rows, TRIAL_BATCHES * STEPS * WIDTH, 100, -1, 1);
    bench_uniform(goals, TRIAL_BATCHES * WIDTH, 101, -1, 1);
    trial_batches(t, TRIAL_BATCHES);
    t->data = "generated";
    eddy_tensor x = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(STEPS, WIDTH), rows);
    eddy_tensor goal = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(WIDTH), goals);
    eddy_tensor w[2] = { trial_matrix(t, WIDTH, WIDTH, 1, 0.4),
                         trial_filled(t, EDDY_SHAPE(WIDTH), 0.9f) };
    eddy_tensor start = trial_uniform(t, EDDY_SHAPE(batch, WIDTH), 2, 1), h[1] = { start };
    const eddy_function f = { .build = branch_step, .context = w, .name = "branches" };
    eddy_loop(f, EDDY_LIST(start), EDDY_LIST(x), h);
    trial_adam(t, eddy_mean(eddy_square(Sub(h[0], goal))), 0);
}
