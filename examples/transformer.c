/* transformer.c -- a transformer learns to guess the next character of English text, then writes
 * some.
 *
 *   transformer [--text FILE] [--window N] [--units N] [--heads N] [--blocks N] [--batch N]
 *               [--epochs N] [--write N] [--temperature T] [--top-k K] [--top-p P] [--seed N]
 *               [--out FOLDER]
 *
 * Training computes all positions of a window at once; each position attends to those before it.
 * Writing is a loop inside the graph (eddy_generate) that keeps the keys and values of the earlier
 * positions (eddy_attention_cache), so a character costs one position. One function builds the
 * network for both. When the window is full, the next run begins with the last half of it as its
 * prompt.
 *
 * support/text_data.h says which text it reads without --text. The defaults are small, for a run of
 * seconds; a model that writes words takes minutes:
 *
 *   transformer --window 64 --units 128 --batch 32 --epochs 20 --write 500 --top-p 0.9
 *
 * Fails if the loss does not come down, or if what is written is not made of pairs of characters
 * that are in the text, or if the saved and reloaded network writes something else. */
#include <eddy/eddy.h>

#include "support/text_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    const char *text, *folder;
    int         window, units, heads, blocks, batch, epochs, write, top_k;
    double      temperature, top_p;
    int64_t     seed;
} options;

/* --------------------------------------------------------------- model -- */

typedef struct model {
    const options       *options;
    int                  characters;
    eddy_graph          *graph;
    eddy_tensor          in, next, loss, train, test;   /* training */
    eddy_tensor          prompt, written;           /* writing */
    eddy_attention_cache cache;
} model;

/* The logits of the next character at each position of `ids`. Training creates the variables, and
 * writing uses them, without dropout. */
static eddy_tensor network(const model *m, eddy_tensor ids, eddy_attention_cache *cache,
                           bool training)
{
    const options *o = m->options;
    char           name[32];
    eddy_tensor    h = eddy_embedding_layer(ids, m->characters, o->units, "vectors",
                                            .reuse = training ? NULL : "vectors");
    h = eddy_position_layer(h, o->window, .learned = true, .name = "positions", .cache = cache,
                            .reuse = training ? NULL : "positions");
    for (int i = 0; i < o->blocks; i++) {
        snprintf(name, sizeof name, "block_%d", i);
        h = eddy_transformer_block(h, o->heads, name, .causal = true, .pre_norm = true,
                                   .dropout = 0.05, .training = training, .cache = cache,
                                   .reuse = training ? NULL : name);
    }
    h = eddy_layer_norm_layer(h, .name = "norm", .reuse = training ? NULL : "norm");
    return eddy_dense(h, m->characters, "guess", .reuse = training ? NULL : "guess");
}

/* The step of the loop: from a character, [1], and the cache to the logits of the next character
 * and the next cache. */
static int write_one(eddy_list x, eddy_tensor *y, void *context)
{
    const model         *m = context;
    eddy_attention_cache cache = eddy_attention_cache_at(&m->cache, &x.at[1]);
    eddy_tensor          logits = network(m, eddy_expand_dims(x.at[0], 1), &cache, false);
    y[0] = eddy_squeeze(logits, EDDY_AXES(1));
    return 1 + eddy_attention_cache_store(&cache, &y[1]);
}

static int prompt_length(const options *o) { return o->window / 2; }

/* As many characters as the window has room for. All of the prompt goes to the cache at once,
 * except its last character, with which the loop begins. */
static eddy_tensor writing(model *m)
{
    const options *o = m->options;
    const int      n = prompt_length(o);
    eddy_tensor    before = eddy_slice(m->prompt, EDDY_DIMS(0, 0), EDDY_DIMS(1, n - 1));
    eddy_tensor    last = eddy_slice(m->prompt, EDDY_DIMS(0, n - 1), EDDY_DIMS(1, 1));
    m->cache = eddy_attention_cache_new(m->prompt, o->window);
    network(m, before, &m->cache, false);
    const eddy_function f = { .build = write_one, .context = m, .name = "write_one" };
    return eddy_generate(f, eddy_attention_cache_tensors(&m->cache),
                         eddy_squeeze(last, EDDY_AXES(1)), o->window - n + 1,
                         .temperature = o->temperature, .top_p = o->top_p,
                         .top_k = o->top_k ? o->top_k : EDDY_OMITTED).ids;
}

static bool build(model *m)
{
    const options *o = m->options;
    eddy_graph    *g = m->graph = eddy_graph_new(.seed = o->seed);
    m->in = eddy_placeholder(g, "in", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, o->window));
    m->next = eddy_placeholder(g, "next", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, o->window));
    eddy_tensor logits = network(m, m->in, NULL, true);
    m->loss = eddy_mean(eddy_sparse_softmax_cross_entropy(m->next, logits));
    eddy_optimizer *adam = eddy_adam(g, .learning_rate = eddy_scalar(g, 3e-3));
    m->train = eddy_minimize(adam, m->loss);
    logits = network(m, m->in, NULL, false);
    m->test = eddy_mean(eddy_sparse_softmax_cross_entropy(m->next, logits));
    m->prompt = eddy_placeholder(g, "prompt", EDDY_INT32, EDDY_SHAPE(1, prompt_length(o)));
    m->written = writing(m);
    return eddy_graph_status(g) == EDDY_OK;
}

/* -------------------------------------------------------------- writing -- */

/* Stores the first characters of the text in `codes`, and behind them o->write others; each run
 * continues the last characters before it. */
static bool write_some(const model *m, const text *t, eddy_session *s, int32_t *codes)
{
    const options *o = m->options;
    const int      n = prompt_length(o), all = n + o->write;
    eddy_array    *out = NULL;
    bool           ok = true;
    for (int i = 0; i < n; i++) codes[i] = t->code[t->bytes[i]];
    for (int i = n; ok && i < all;) {
        eddy_array *prompt = eddy_array_borrow(EDDY_INT32, EDDY_SHAPE(1, n), codes + i - n);
        ok = eddy_run(s, EDDY_FEED({ m->prompt, prompt }), EDDY_FETCH(m->written), &out) == EDDY_OK;
        for (int k = 0; ok && k < o->window - n + 1 && i < all; k++)
            codes[i++] = (int32_t)eddy_array_get(out, k);
        eddy_array_free(prompt);
    }
    eddy_array_free(out);
    return ok;
}

/* Prints what was written; the share of pairs of characters that the text has. */
static double show(const options *o, const text *t, const int32_t *codes)
{
    const int n = prompt_length(o);
    int       known = 0;
    printf("\n");
    for (int i = 0; i < n + o->write; i++) {
        if (i == n) printf("|");
        if (i >= n) known += t->pair[t->byte[codes[i - 1]]][t->byte[codes[i]]];
        putchar(t->byte[codes[i]]);
    }
    printf("\n\n");
    return (double)known / o->write;
}

/* ------------------------------------------------------------------ all -- */

/* The loss without dropout on a fixed batch; NaN on an error. */
static double test(const model *m, const text *t, eddy_session *s)
{
    const options *o = m->options;
    uint64_t       state = ~(uint64_t)o->seed;
    eddy_array    *in = eddy_array_new(EDDY_INT32, EDDY_SHAPE(o->batch, o->window));
    eddy_array    *next = eddy_array_new(EDDY_INT32, EDDY_SHAPE(o->batch, o->window));
    eddy_array    *loss = NULL;
    if (in && next) text_draw(t, &state, o->batch, o->window, in, next);
    eddy_run(s, EDDY_FEED({ m->in, in }, { m->next, next }), EDDY_FETCH(m->test), &loss);
    const double v = loss ? eddy_array_item(loss) : NAN;
    eddy_array_free(in);
    eddy_array_free(next);
    eddy_array_free(loss);
    return v;
}

/* Saves the variables, loads them into a new session and tests that. */
static bool loads_again(const model *m, const text *t, eddy_session *s)
{
    char          path[512];
    eddy_session *fresh = eddy_session_new(m->graph);
    snprintf(path, sizeof path, "%s/transformer.safetensors", m->options->folder);
    bool ok = eddy_save(s, path, EDDY_LIST()) == EDDY_OK &&
              eddy_restore(fresh, path, EDDY_LIST()) == EDDY_OK;
    if (!ok) fprintf(stderr, "%s%s\n", eddy_session_message(s), eddy_session_message(fresh));
    const double loss = test(m, t, s), again = ok ? test(m, t, fresh) : NAN;
    if (ok) printf("  loaded from %s: loss %.4f\n", path, again);
    eddy_session_free(fresh);
    return ok && again >= loss && again <= loss;
}

static bool learn(const options *o, const text *t)
{
    model         m = { .options = o, .characters = t->codes };
    int32_t      *codes = calloc((size_t)(prompt_length(o) + o->write), sizeof *codes);
    const bool    built = build(&m);
    eddy_session *s = eddy_session_new(m.graph);
    printf("%zu characters, %d different ones; %d blocks of %d units, %d heads, window %d\n",
           t->size, t->codes, o->blocks, o->units, o->heads, o->window);
    bool ok = codes && built &&
              eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) == EDDY_OK;
    const text_training how = { .in = m.in, .next = m.next, .loss = m.loss, .train = m.train,
                                .batch = o->batch, .steps = o->window, .epochs = o->epochs,
                                .seed = (uint64_t)o->seed };
    const double loss = ok ? text_train(t, &how, s) : NAN;
    ok = !isnan(loss) && write_some(&m, t, s, codes);
    if (!ok) fprintf(stderr, "%s\n", built ? eddy_session_message(s) : eddy_graph_message(m.graph));
    const double pairs = ok ? show(o, t, codes) : 0;
    if (ok) printf("  %.1f %% of the pairs of characters are in the text\n", 100 * pairs);
    if (ok && o->folder) ok = loads_again(&m, t, s);
    if (ok && !(loss < 0.75 * log(t->codes) && pairs > 0.8)) {
        fprintf(stderr, "the network has not learned\n");
        ok = false;
    }
    free(codes);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    return ok;
}

static bool read_number(const char *name, const char *value, const char *option, int *n)
{
    if (strcmp(name, option) != 0) return false;
    *n = atoi(value);
    return *n > 0 && *n <= 1000000;
}

static bool read_options(options *o, int argc, char **argv)
{
    int seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--text") == 0) o->text = value;
        else if (strcmp(name, "--out") == 0) o->folder = value;
        else if (strcmp(name, "--temperature") == 0) o->temperature = atof(value);
        else if (strcmp(name, "--top-p") == 0) o->top_p = atof(value);
        else if (!read_number(name, value, "--window", &o->window) &&
                 !read_number(name, value, "--units", &o->units) &&
                 !read_number(name, value, "--heads", &o->heads) &&
                 !read_number(name, value, "--blocks", &o->blocks) &&
                 !read_number(name, value, "--batch", &o->batch) &&
                 !read_number(name, value, "--epochs", &o->epochs) &&
                 !read_number(name, value, "--write", &o->write) &&
                 !read_number(name, value, "--top-k", &o->top_k) &&
                 !read_number(name, value, "--seed", &seed))
            return false;
    }
    o->seed = seed;
    return argc % 2 == 1 && o->window >= 4;
}

int main(int argc, char **argv)
{
    static text t;
    options     o = { .window = 32, .units = 64, .heads = 4, .blocks = 2, .batch = 16, .epochs = 6,
                      .write = 200, .temperature = 0.6, .top_p = 1, .seed = 1 };
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: transformer [--text FILE] [--window N] [--units N] [--heads N] "
                "[--blocks N] [--batch N] [--epochs N] [--write N] [--temperature T] [--top-k K] "
                "[--top-p P] [--seed N] [--out FOLDER]\n");
        return 2;
    }
    const bool ok = text_read(&t, o.text, (size_t)o.window + 2) && learn(&o, &t);
    text_free(&t);
    return !ok;
}
