/* trainings.c -- see trainings.h. */
#include "tests/lib/trainings.h"
#include "ops/short_names.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* ------------------------------------------------------------- the networks -- */

enum { ROWS = 48 };

static eddy_tensor dense(eddy_graph *g)
{
    eddy_tensor x = eddy_random_normal(g, EDDY_SHAPE(ROWS, 20));
    eddy_tensor wanted = eddy_sin(eddy_sum(x, .axes = EDDY_AXES(1), .keepdims = true));
    eddy_tensor y = eddy_mlp(x, EDDY_DIMS(40, 24, 1), .dropout = 0.1, .training = true);
    return eddy_mean(eddy_square(Sub(y, wanted)));
}

static eddy_tensor convolutions(eddy_graph *g)
{
    eddy_tensor x = eddy_random_uniform(g, EDDY_SHAPE(6, 12, 12, 3));
    eddy_tensor wanted = eddy_mean(x, .axes = EDDY_AXES(1, 2, 3));
    eddy_tensor h = eddy_relu(eddy_conv2d_layer(x, 8, EDDY_DIMS(3), .padding = "SAME"));
    h = eddy_dropout_layer(eddy_max_pool2d(h, EDDY_DIMS(2)), 0.2, .training = true);
    h = eddy_relu(eddy_conv2d_layer(h, 12, EDDY_DIMS(3), .padding = "SAME"));
    h = eddy_dense(eddy_mean(h, .axes = EDDY_AXES(1, 2)), 1);
    return eddy_mean(eddy_square(Sub(eddy_squeeze(h, .axes = EDDY_AXES(1)), wanted)));
}

static eddy_tensor transformer(eddy_graph *g)
{
    eddy_tensor x = eddy_random_normal(g, EDDY_SHAPE(3, 10, 16));
    eddy_tensor y = eddy_transformer_block(x, 4, "block", .causal = true, .pre_norm = true,
                                           .dropout = 0.05, .training = true);
    return eddy_mean(eddy_square(Sub(eddy_layer_norm_layer(y), eddy_cumsum(x, 1))));
}

static eddy_tensor recurrent(eddy_graph *g)
{
    eddy_tensor   x = eddy_random_normal(g, EDDY_SHAPE(12, 4, 6));
    eddy_rnn_cell cell = eddy_lstm_cell(g, 10, .seed = 4);
    eddy_tensor   h = eddy_dynamic_rnn(cell, x, .time_major = true);
    return eddy_mean(eddy_square(Sub(eddy_dense(h, 6), eddy_cumsum(x, 0))));
}

static int next_state(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor *w = context;
    eddy_tensor h = eddy_dropout(Add(MatMul(x.at[0], *w), x.at[1]), .rate = 0.1);
    y[0] = eddy_tanh(h);
    return 1;
}

static eddy_tensor loop(eddy_graph *g)
{
    eddy_tensor x = eddy_random_normal(g, EDDY_SHAPE(9, 4, 8)), y;
    eddy_tensor w = eddy_variable(g, eddy_truncated_normal(g, EDDY_SHAPE(8, 8), .stddev = 0.3));
    eddy_tensor start = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4, 8));
    const eddy_function f = { .build = next_state, .context = &w, .name = "next_state" };
    if (eddy_scan(f, EDDY_LIST(x), &y, EDDY_LIST(start)) != 1) return EDDY_NO_TENSOR;
    return eddy_mean(eddy_square(Sub(y, eddy_cumsum(x, 0))));
}

/* No products: elementwise functions, reductions, lookups, sorting. */
static eddy_tensor elementwise(eddy_graph *g)
{
    eddy_tensor table = eddy_variable(g, eddy_truncated_normal(g, EDDY_SHAPE(50, 30)));
    eddy_tensor scale = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(30)));
    eddy_tensor ids = eddy_random_uniform(g, EDDY_SHAPE(ROWS), .dtype = EDDY_INT32, .maxval = 50);
    eddy_tensor h = Mul(eddy_gather(table, ids), scale);
    h = eddy_dropout(eddy_layer_norm_layer(h), .rate = 0.1);
    eddy_tensor p = eddy_softmax(Add(eddy_tanh(h), eddy_sigmoid(eddy_cumsum(h, 1))));
    eddy_tensor sorted = eddy_sort(eddy_abs(h));
    return Add(eddy_mean(eddy_square(Sub(p, 0.1))),
               eddy_mean(eddy_log(Add(eddy_square(sorted), 1.0))));
}

const training trainings[TRAININGS] = {
    { "dense layers", dense, true },
    { "convolutions", convolutions, true },
    { "transformer", transformer, true },
    { "LSTM", recurrent, true },
    { "loop", loop, true },
    { "no products", elementwise, false },
};

/* ----------------------------------------------------------------- training -- */

static uint64_t hash_of(eddy_session *s, eddy_graph *g)
{
    eddy_tensor v[200];
    uint64_t    hash = 14695981039346656037u;
    const int   n = eddy_collection_get(g, EDDY_GLOBAL_VARIABLES, NULL, v, 200);
    for (int i = 0; i < n && i < 200; i++) {
        eddy_array          *a = eddy_variable_value(s, v[i]);
        const unsigned char *at = eddy_array_data(a);
        for (size_t k = 0; at && k < eddy_array_bytes(a); k++)
            hash = (hash ^ at[k]) * 1099511628211u;
        eddy_array_free(a);
    }
    return n > 0 ? hash : 0;
}

static eddy_session *session_of(eddy_graph *g, training_way way)
{
    return eddy_session_new(g, .threads = way.threads, .deterministic = !way.by_default);
}

static bool train(eddy_session *s, eddy_list fetches, int steps)
{
    for (int i = 0; i < steps; i++)
        if (eddy_run(s, EDDY_FEED(), fetches, NULL) != EDDY_OK) return false;
    return true;
}

/* The session that goes on: another one, with the variables of `s`, which is freed. */
static eddy_session *resumed(eddy_session *s, eddy_graph *g, training_way way)
{
    char path[100];
    snprintf(path, sizeof path, "/tmp/eddy_trainings_%ld", (long)getpid());
    const bool saved = eddy_save(s, path, EDDY_LIST()) == EDDY_OK;
    eddy_session_free(s);
    s = session_of(g, way);
    if (!saved || eddy_restore(s, path, EDDY_LIST()) != EDDY_OK)
        printf("%s: not resumed\n", path);
    remove(path);
    return s;
}

uint64_t training_bits(const training *t, int steps, training_way way)
{
    eddy_graph       *g = eddy_graph_new(.seed = 11);
    const eddy_tensor loss = t->loss(g);
    eddy_optimizer   *adam = eddy_adam(g, .learning_rate = eddy_scalar(g, 0.01));
    const eddy_tensor step = eddy_minimize(adam, loss), init = eddy_initializer(g);
    eddy_session     *s = session_of(g, way);
    const int         first = way.saved ? steps / 2 : steps;
    bool ok = train(s, EDDY_FETCH(init), 1) && train(s, EDDY_FETCH(step), first);
    if (way.saved) s = resumed(s, g, way);
    ok = ok && train(s, EDDY_FETCH(step), steps - first);
    const double now = ok ? eddy_fetch_number(s, loss) : NAN;
    if (!isfinite(now)) printf("%s: %s\n", t->name, eddy_session_message(s));
    const uint64_t hash = isfinite(now) ? hash_of(s, g) : 0;
    eddy_session_free(s);
    eddy_graph_free(g);
    return hash;
}
