/* text.c -- character models: an LSTM as one operation, unrolled over time and as a loop, and a
 * small GPT. */
#include "bench/workloads/workload.h"

#include <eddy/ops/short_names.h>

/* -------------------------------------------------------------- LSTM -- */

enum { SEQUENCE = 64, EMBEDDING = 128, HIDDEN = 256 };

/* The next h, and the next c, from z [batch, 4 HIDDEN], the input's share of the gates. */
eddy_tensor trial_lstm_step(eddy_tensor z, eddy_tensor wh, eddy_tensor h, eddy_tensor *c)
{
    eddy_tensor gates = eddy_split(Add(eddy_matmul(h, wh), z), 4, 1);
    eddy_tensor in = eddy_sigmoid(gates), forget = eddy_sigmoid(eddy_output(gates, 1));
    eddy_tensor new = eddy_tanh(eddy_output(gates, 2));
    *c = Add(Mul(forget, *c), Mul(in, new));
    return Mul(eddy_sigmoid(eddy_output(gates, 3)), eddy_tanh(*c));
}

/* The state after each step, [SEQUENCE, batch, HIDDEN], from z [SEQUENCE, batch, 4 HIDDEN]. */
static eddy_tensor unrolled(eddy_tensor z, eddy_tensor wh, int64_t batch)
{
    eddy_tensor states[SEQUENCE], c, h;
    h = c = eddy_zeros(z.graph, EDDY_FLOAT32, EDDY_SHAPE(batch, HIDDEN));
    z = eddy_unstack(z);
    for (int i = 0; i < SEQUENCE; i++)
        h = states[i] = trial_lstm_step(eddy_output(z, i), wh, h, &c);
    return eddy_stack(((eddy_list){ SEQUENCE, states }));
}

/* The body of a loop over the steps: carries h and c, and puts h out. */
static int scan_step(eddy_list x, eddy_tensor *y, void *wh)
{
    y[1] = x.at[1];
    y[0] = y[2] = trial_lstm_step(x.at[2], *(const eddy_tensor *)wh, x.at[0], &y[1]);
    return 3;
}

static eddy_tensor scanned(eddy_tensor z, eddy_tensor wh, int64_t batch)
{
    eddy_tensor zeros = eddy_zeros(z.graph, EDDY_FLOAT32, EDDY_SHAPE(batch, HIDDEN));
    eddy_tensor y[3];
    const eddy_function f = { .build = scan_step, .context = &wh, .name = "lstm" };
    const int n = eddy_loop(f, EDDY_LIST(zeros, zeros), EDDY_LIST(z), y);
    return n == 3 ? y[2] : eddy_none(z.graph);
}

/* The same by the library's LSTM operation. */
static eddy_tensor layer(eddy_tensor z, eddy_tensor wh, int64_t batch)
{
    eddy_tensor zeros = eddy_zeros(z.graph, EDDY_FLOAT32, EDDY_SHAPE(batch, HIDDEN));
    return eddy_block_lstm(z, .h0 = zeros, .c0 = zeros, .u = wh);
}

/* All inputs are projected in one product, and so are all outputs. */
static void build_recurrent(trial *t, int64_t batch,
                            eddy_tensor (*run)(eddy_tensor z, eddy_tensor wh, int64_t batch))
{
    int32_t *text, *next;
    const int64_t rows = SEQUENCE * batch;
    trial_text(t, TRIAL_BATCHES * (int)batch, SEQUENCE, &text, &next);
    trial_batches(t, TRIAL_BATCHES);
    eddy_tensor x = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch, SEQUENCE), text);
    eddy_tensor y = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch, SEQUENCE), next);
    eddy_tensor characters = trial_uniform(t, EDDY_SHAPE(VOCABULARY, EMBEDDING), 1, 1);
    eddy_tensor wx = trial_matrix(t, EMBEDDING, 4 * HIDDEN, 2, 0.4);
    eddy_tensor wh = trial_matrix(t, HIDDEN, 4 * HIDDEN, 3, 0.4);
    eddy_tensor b = trial_filled(t, EDDY_SHAPE(4 * HIDDEN), 0);
    eddy_tensor wo = trial_matrix(t, HIDDEN, VOCABULARY, 4, 1);
    eddy_tensor bo = trial_filled(t, EDDY_SHAPE(VOCABULARY), 0);

    eddy_tensor in = eddy_gather(characters, eddy_reshape(eddy_transpose(x), EDDY_SHAPE(rows)));
    eddy_tensor z = eddy_bias_add(eddy_matmul(in, wx), b);
    eddy_tensor h = run(eddy_reshape(z, EDDY_SHAPE(SEQUENCE, batch, 4 * HIDDEN)), wh, batch);
    h = eddy_reshape(h, EDDY_SHAPE(rows, HIDDEN));
    eddy_tensor logits = eddy_bias_add(eddy_matmul(h, wo), bo);
    eddy_tensor labels = eddy_reshape(eddy_transpose(y), EDDY_SHAPE(rows));
    trial_adam(t, eddy_mean(eddy_sparse_softmax_cross_entropy(labels, logits)), 0);
}

void build_lstm(trial *t, int64_t batch) { build_recurrent(t, batch, layer); }

void build_unrolled(trial *t, int64_t batch) { build_recurrent(t, batch, unrolled); }

void build_scan(trial *t, int64_t batch) { build_recurrent(t, batch, scanned); }

/* --------------------------------------------------------------- GPT -- */

enum { LAYERS = 4, HEADS = 4, WIDTH = 128, HEAD = WIDTH / HEADS, CONTEXT = 128 };

/* The model as it is built: parameter k has the numbers of stream k + 1. */
typedef struct gpt {
    trial  *trial;
    int64_t batch;
} gpt;

static eddy_tensor weights(const gpt *m, int64_t rows, int64_t columns)
{
    return trial_uniform(m->trial, EDDY_SHAPE(rows, columns), (uint64_t)m->trial->n_variables + 1,
                         0.035);
}

static eddy_tensor linear(const gpt *m, eddy_tensor x, int64_t rows, int64_t columns)
{
    eddy_tensor w = weights(m, rows, columns);
    return eddy_bias_add(eddy_matmul(x, w), trial_filled(m->trial, EDDY_SHAPE(columns), 0));
}

static eddy_tensor normalize(const gpt *m, eddy_tensor x)
{
    eddy_tensor scale = trial_filled(m->trial, EDDY_SHAPE(WIDTH), 1);
    return eddy_layer_norm(x, scale, trial_filled(m->trial, EDDY_SHAPE(WIDTH), 0));
}

/* x and what follows are [batch CONTEXT, WIDTH]; heads are [batch, HEADS, CONTEXT, HEAD]. */
static eddy_tensor attend(const gpt *m, eddy_tensor x)
{
    eddy_tensor three = eddy_reshape(linear(m, x, WIDTH, 3 * WIDTH),
                                     EDDY_SHAPE(m->batch, CONTEXT, 3, HEADS, HEAD));
    eddy_tensor q = eddy_unstack(eddy_transpose(three, EDDY_DIMS(2, 0, 3, 1, 4)));
    eddy_tensor y = eddy_scaled_dot_product_attention(q, eddy_output(q, 1), eddy_output(q, 2),
                                                      .causal = true);
    y = eddy_reshape(eddy_transpose(y, EDDY_DIMS(0, 2, 1, 3)),
                     EDDY_SHAPE(m->batch * CONTEXT, WIDTH));
    return linear(m, y, WIDTH, WIDTH);
}

static eddy_tensor block(const gpt *m, eddy_tensor x)
{
    x = Add(x, attend(m, normalize(m, x)));
    eddy_tensor inner = linear(m, normalize(m, x), WIDTH, 4 * WIDTH);
    return Add(x, linear(m, eddy_gelu(inner), 4 * WIDTH, WIDTH));
}

void build_gpt(trial *t, int64_t batch)
{
    const gpt m = { t, batch };
    const int64_t rows = batch * CONTEXT;
    int32_t *text, *next;
    trial_text(t, TRIAL_BATCHES * (int)batch, CONTEXT, &text, &next);
    trial_batches(t, TRIAL_BATCHES);
    eddy_tensor in = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch, CONTEXT), text);
    eddy_tensor y = trial_feed(t, EDDY_INT32, EDDY_SHAPE(rows), next);
    eddy_tensor characters = weights(&m, VOCABULARY, WIDTH), places = weights(&m, CONTEXT, WIDTH);
    eddy_tensor x = eddy_reshape(Add(eddy_gather(characters, in), places),
                                 EDDY_SHAPE(rows, WIDTH));
    for (int i = 0; i < LAYERS; i++) x = block(&m, x);
    x = normalize(&m, x);
    eddy_tensor logits = eddy_matmul(x, weights(&m, WIDTH, VOCABULARY));
    trial_adam(t, eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits)), 0.01);
}
