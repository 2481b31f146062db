/* writing.c -- text written letter by letter in a loop inside the graph: by an LSTM, and by a GPT
 * with a cache of keys and values. */
#include "bench/workloads/workload.h"

#include <eddy/ops/short_names.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Noise by which the largest logit is drawn with the probabilities of a softmax: Gumbel's. */
static float *noise(trial *t, int64_t n)
{
    float *out = trial_memory(t, n, sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        const double u = ((double)(bench_word(104, (uint64_t)i) >> 40) + 0.5) / 16777216.0;
        out[i] = (float)-log(-log(u));
    }
    return out;
}

/* Fetches the mean loss of the letters by their own logits, and the letters. */
static void fetch_written(trial *t, eddy_tensor logits, eddy_tensor written, int64_t letters)
{
    logits = eddy_reshape(logits, EDDY_SHAPE(letters, VOCABULARY));
    written = eddy_reshape(written, EDDY_SHAPE(letters));
    trial_fetch(t, eddy_mean(eddy_sparse_softmax_cross_entropy(written, logits)));
    trial_fetch(t, written);
}

/* -------------------------------------------------------------- LSTM -- */

enum { EMBEDDING = 128, HIDDEN = 256 };

typedef struct writer {
    eddy_tensor characters, wh, wo, bo;
} writer;

/* Carries h, c and the last character, and puts out its logits and the next character: the
 * largest logit after the row of noise has been added. */
static int write_step(eddy_list x, eddy_tensor *y, void *context)
{
    const writer *w = context;
    y[1] = x.at[1];
    y[0] = trial_lstm_step(eddy_gather(w->characters, x.at[2]), w->wh, x.at[0], &y[1]);
    y[3] = eddy_bias_add(eddy_matmul(y[0], w->wo), w->bo);
    y[2] = y[4] = eddy_argmax(Add(y[3], x.at[3]), .axis = 1, .output_type = EDDY_INT32);
    return 5;
}

/* An LSTM writes so many letters; the value is their mean loss, by its own logits. */
void build_writing(trial *t, int64_t letters)
{
    enum { BATCHES = 4 };
    trial_batches(t, BATCHES);
    t->data = "generated";
    eddy_tensor drawn = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(letters, VOCABULARY),
                                   noise(t, BATCHES * letters * VOCABULARY));
    eddy_tensor vectors = trial_uniform(t, EDDY_SHAPE(VOCABULARY, EMBEDDING), 1, 1);
    eddy_tensor wx = trial_matrix(t, EMBEDDING, 4 * HIDDEN, 2, 0.4);
    writer      w = { .wh = trial_matrix(t, HIDDEN, 4 * HIDDEN, 3, 0.4) };
    eddy_tensor b = trial_filled(t, EDDY_SHAPE(4 * HIDDEN), 0);
    w.wo = trial_matrix(t, HIDDEN, VOCABULARY, 4, 1);
    w.bo = trial_filled(t, EDDY_SHAPE(VOCABULARY), 0);
    w.characters = eddy_bias_add(eddy_matmul(vectors, wx), b);
    eddy_tensor zeros = eddy_zeros(t->graph, EDDY_FLOAT32, EDDY_SHAPE(1, HIDDEN));
    eddy_tensor first = eddy_zeros(t->graph, EDDY_INT32, EDDY_SHAPE(1)), y[5];
    const eddy_function f = { .build = write_step, .context = &w, .name = "write" };
    if (eddy_loop(f, EDDY_LIST(zeros, zeros, first), EDDY_LIST(drawn), y) != 5) return;
    fetch_written(t, y[3], y[4], letters);
}

/* --------------------------------------------------------------- GPT -- */

enum { LAYERS = 4, HEADS = 4, WIDTH = 128 };

typedef struct gpt {
    int64_t              letters;
    eddy_attention_cache cache;
} gpt;

/* The logits of the positions `ids` [1, n], [1, n, VOCABULARY]. */
static eddy_tensor network(const gpt *m, eddy_tensor ids, eddy_attention_cache *cache, bool again)
{
    char        name[16];
    eddy_tensor h = eddy_embedding_layer(ids, VOCABULARY, WIDTH, "letters",
                                         .reuse = again ? "letters" : NULL);
    h = eddy_position_layer(h, m->letters, .learned = true, .name = "places", .cache = cache,
                            .reuse = again ? "places" : NULL);
    for (int i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "block_%d", i);
        h = eddy_transformer_block(h, HEADS, name, .causal = true, .pre_norm = true,
                                   .cache = cache, .reuse = again ? name : NULL);
    }
    h = eddy_layer_norm_layer(h, .name = "norm", .reuse = again ? "norm" : NULL);
    return eddy_dense(h, VOCABULARY, "head", .reuse = again ? "head" : NULL);
}

/* As write_step; carries the last letter and the cache. */
static int attend_step(eddy_list x, eddy_tensor *y, void *context)
{
    gpt                 *m = context;
    eddy_attention_cache cache = eddy_attention_cache_at(&m->cache, &x.at[1]);
    eddy_tensor          logits = network(m, eddy_expand_dims(x.at[0], 1), &cache, true);
    logits = eddy_squeeze(logits, EDDY_AXES(1));
    const int n = 1 + eddy_attention_cache_store(&cache, &y[1]);
    y[n] = logits;
    y[0] = y[n + 1] = eddy_argmax(Add(logits, x.at[n]), .axis = 1, .output_type = EDDY_INT32);
    return n + 2;
}

/* Matrices are numbered in the order in which the layers make them. */
static void set_gpt(trial *t)
{
    const int n = eddy_collection_size(t->graph, EDDY_TRAINABLE_VARIABLES);
    while (t->n_variables < n) {
        eddy_tensor v = eddy_collection_at(t->graph, EDDY_TRAINABLE_VARIABLES, t->n_variables);
        const char *name = eddy_name_of(v);
        if (eddy_shape_of(v).rank == 2) trial_set_matrix(t, v, (uint64_t)t->n_variables + 1, 0.4);
        else trial_set_filled(t, v, strstr(name, "gamma") ? 1 : 0);
    }
}

void build_writing_gpt(trial *t, int64_t letters)
{
    enum { BATCHES = 4, MOST = 2 * LAYERS + 4 };
    trial_batches(t, BATCHES);
    t->data = "generated";
    eddy_tensor drawn = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(letters, VOCABULARY),
                                   noise(t, BATCHES * letters * VOCABULARY));
    eddy_tensor none = eddy_zeros(t->graph, EDDY_INT32, EDDY_SHAPE(1, 0)), carried[MOST], y[MOST];
    gpt m = { .letters = letters, .cache = eddy_attention_cache_new(none, letters) };
    network(&m, none, &m.cache, false);
    set_gpt(t);
    const eddy_list cache = eddy_attention_cache_tensors(&m.cache);
    carried[0] = eddy_zeros(t->graph, EDDY_INT32, EDDY_SHAPE(1));
    for (int i = 0; i < cache.count; i++) carried[i + 1] = cache.at[i];
    const int           n = cache.count + 1;
    const eddy_function f = { .build = attend_step, .context = &m, .name = "write" };
    if (eddy_loop(f, ((eddy_list){ n, carried }), EDDY_LIST(drawn), y) != n + 2) return;
    fetch_written(t, y[n], y[n + 1], letters);
}
