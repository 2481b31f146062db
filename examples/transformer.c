/* transformer.c -- a small transformer learns to write sequences backwards.
 *
 *   transformer [--epochs N] [--seed N] [--out FOLDER]
 *
 * Ten symbols, twelve positions. The output at each position depends on the input at another
 * position, so the network must learn where to look, which is the purpose of attention. The layers
 * are built twice on the same variables, with dropout for training and without it for inference.
 * Fails if fewer than 99 % of the symbols of new sequences are right, or if the saved and reloaded
 * network predicts something else. */
#include <eddy/eddy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS = 10, LENGTH = 12, UNITS = 32, HEADS = 4, BLOCKS = 2, BATCH = 64, STEPS = 50 };

typedef struct options {
    int         epochs;          /* of STEPS batches */
    int64_t     seed;
    const char *folder;
} options;

/* --------------------------------------------------------------- model -- */

typedef struct model {
    eddy_graph *graph;
    eddy_tensor symbols;                         /* is fed */
    eddy_tensor loss, step, predicted, right;    /* are fetched */
} model;

/* The scores of each symbol at each place.  `from` is the scope whose variables are shared, for the
 * network without dropout. */
static eddy_tensor network(eddy_tensor symbols, bool training, const char *from)
{
    char        scope[BLOCKS + 3][64], name[32];
    const char *names[BLOCKS + 3] = { "embedding", "positions", "logits" };
    const char *reuse[BLOCKS + 3] = { NULL };
    for (int i = 0; from && i < 3; i++) {
        snprintf(scope[i], sizeof scope[i], "%s/%s", from, names[i]);
        reuse[i] = scope[i];
    }
    eddy_tensor h = eddy_embedding_layer(symbols, SYMBOLS, UNITS, .reuse = reuse[0]);
    h = eddy_position_layer(h, .learned = true, .reuse = reuse[1]);
    for (int i = 0; i < BLOCKS; i++) {
        snprintf(name, sizeof name, "block_%d", i);
        if (from) {
            snprintf(scope[3 + i], sizeof scope[3 + i], "%s/%s", from, name);
            reuse[3 + i] = scope[3 + i];
        }
        h = eddy_transformer_block(h, HEADS, name, 2 * UNITS, .pre_norm = true, .dropout = 0.05,
                                   .training = training, .reuse = reuse[3 + i]);
    }
    return eddy_dense(h, SYMBOLS, "logits", .reuse = reuse[2]);
}

static model build(const options *o)
{
    eddy_graph *g = eddy_graph_new(.seed = o->seed);
    model       m = { .graph = g };
    m.symbols = eddy_placeholder(g, "symbols", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, LENGTH));
    eddy_tensor backwards = eddy_reverse(m.symbols, EDDY_AXES(1));

    eddy_scope_begin(g, "network");
    eddy_tensor logits = network(m.symbols, true, NULL);
    eddy_scope_end(g);
    m.loss = eddy_mean(eddy_sparse_softmax_cross_entropy(backwards, logits));
    eddy_optimizer *adam = eddy_adam(g, .learning_rate = eddy_scalar(g, 3e-3));
    m.step = eddy_minimize(adam, m.loss);

    eddy_scope_begin(g, "in_use");
    logits = network(m.symbols, false, "network");
    eddy_scope_end(g);
    m.predicted = eddy_argmax(logits, .axis = -1, .output_type = EDDY_INT32);
    m.right = eddy_mean(eddy_cast(eddy_equal(m.predicted, backwards), EDDY_FLOAT32));
    return m;
}

/* ---------------------------------------------------------------- data -- */

/* Sequences of random symbols (splitmix64). */
static void draw(eddy_array *batch, uint64_t *state)
{
    int32_t *symbol = eddy_array_data(batch);
    for (int64_t i = 0; i < eddy_array_count(batch); i++) {
        uint64_t z = *state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        symbol[i] = (int32_t)((z ^ (z >> 31)) % SYMBOLS);
    }
}

/* ------------------------------------------------------------- training -- */

static bool train(const options *o, const model *m, eddy_session *s, eddy_array *batch)
{
    uint64_t    state = (uint64_t)o->seed;
    eddy_array *out[2] = { NULL, NULL };
    bool        ok = true;
    for (int i = 0; ok && i < o->epochs * STEPS; i++) {
        draw(batch, &state);
        ok = eddy_run(s, EDDY_FEED({ m->symbols, batch }), EDDY_FETCH(m->loss, m->step), out)
             == EDDY_OK;
        if (ok && (i + 1) % STEPS == 0)
            printf("  epoch %2d   loss %.4f\n", (i + 1) / STEPS, eddy_array_item(out[0]));
    }
    eddy_array_free(out[0]);
    return ok;
}

static void show(const eddy_array *given, const eddy_array *said)
{
    for (int i = 0; i < 3 * LENGTH; i++) {
        if (i % LENGTH == 0) printf("\n  ");
        printf("%d", (int)eddy_array_get(given, i));
        if (i % LENGTH < LENGTH - 1) continue;
        printf("  ->  ");
        for (int k = i - LENGTH + 1; k <= i; k++) printf("%d", (int)eddy_array_get(said, k));
    }
    printf("\n");
}

/* The share of symbols that are right on new sequences; -1 on an error. */
static double test(const options *o, const model *m, eddy_session *s, eddy_array *batch, bool talk)
{
    uint64_t    state = ~(uint64_t)o->seed;
    eddy_array *out[2] = { NULL, NULL };
    double      right = -1;
    draw(batch, &state);
    if (eddy_run(s, EDDY_FEED({ m->symbols, batch }), EDDY_FETCH(m->right, m->predicted), out)
        == EDDY_OK)
        right = eddy_array_item(out[0]);
    else fprintf(stderr, "%s\n", eddy_session_message(s));
    if (talk && right >= 0) show(batch, out[1]);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    return right;
}

/* Saves the variables, loads them into a fresh session and tests that. */
static bool loads_again(const options *o, const model *m, eddy_session *s, eddy_array *batch,
                        double right)
{
    char          path[512];
    eddy_session *fresh = eddy_session_new(m->graph);
    snprintf(path, sizeof path, "%s/transformer.safetensors", o->folder);
    bool ok = eddy_save(s, path, EDDY_LIST()) == EDDY_OK &&
              eddy_restore(fresh, path, EDDY_LIST()) == EDDY_OK;
    if (!ok) fprintf(stderr, "%s%s\n", eddy_session_message(s), eddy_session_message(fresh));
    const double again = ok ? test(o, m, fresh, batch, false) : -1;
    if (ok) printf("  loaded from %s: %.2f %%\n", path, 100 * again);
    eddy_session_free(fresh);
    return ok && again >= right && again <= right;
}

static bool learn(const options *o)
{
    model         m = build(o);
    eddy_session *s = eddy_session_new(m.graph);
    eddy_array   *batch = eddy_array_new(EDDY_INT32, EDDY_SHAPE(BATCH, LENGTH));
    eddy_array   *held = eddy_array_new(EDDY_INT32, EDDY_SHAPE(1000, LENGTH));
    printf("sequences of %d out of %d symbols, backwards\n"
           "  %d blocks of %d units with %d heads; Adam, batches of %d\n\n", LENGTH, SYMBOLS,
           BLOCKS, UNITS, HEADS, BATCH);
    bool ok = s && batch && held &&
              eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) == EDDY_OK &&
              train(o, &m, s, batch);
    if (!ok) fprintf(stderr, "%s\n", eddy_session_message(s));
    const double right = ok ? test(o, &m, s, held, true) : -1;
    if (ok) printf("\n  new sequences: %.2f %% of the symbols are right\n", 100 * right);
    if (o->folder) ok = ok && loads_again(o, &m, s, held, right);
    if (ok && right < 0.99) {
        fprintf(stderr, "fewer than 99 %% are right\n");
        ok = false;
    }
    eddy_array_free(batch);
    eddy_array_free(held);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    return ok;
}

static bool read_options(options *o, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const int number = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--epochs") == 0 && number > 0 && number <= 100000) o->epochs = number;
        else if (strcmp(argv[i], "--seed") == 0 && number > 0) o->seed = number;
        else if (strcmp(argv[i], "--out") == 0) o->folder = argv[i + 1];
        else return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    options o = { .epochs = 4, .seed = 1 };
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: transformer [--epochs N] [--seed N] [--out FOLDER]\n");
        return 2;
    }
    return learn(&o) ? 0 : 1;
}
