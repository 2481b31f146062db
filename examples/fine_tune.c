/* fine_tune.c -- a transformer that PyTorch trained is loaded and trained further.
 *
 *   fine_tune [--data FILE] [--out FOLDER]
 *
 * The checkpoint, data/fine_tune.safetensors, has PyTorch's names and layouts, which a map
 * translates to those of the layers here. It also has the next batches, PyTorch's logits of the
 * first of them and its losses in 20 more steps of AdamW. data/fine_tune.py makes it.
 *
 * Fails if the logits and the losses here differ from PyTorch's by more than 1e-5. Then the weights
 * are saved in bfloat16, which has 8 bits, under PyTorch's names, loaded again and trained in the
 * same way: now they may differ by 2e-2. */
#include <eddy/eddy.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SYMBOLS = 24,
    WINDOW = 12,
    UNITS = 32,
    HEADS = 4,
    HIDDEN = 64,
    BLOCKS = 2,
    BATCH = 8,
    STEPS = 20
};

typedef struct model {
    eddy_graph *graph;
    eddy_tensor in, next, logits, loss, train, init;
} model;

static model build(void)
{
    model m = { .graph = eddy_graph_new() };
    char  name[32];
    m.in = eddy_placeholder(m.graph, "in", EDDY_INT32, EDDY_SHAPE(BATCH, WINDOW));
    m.next = eddy_placeholder(m.graph, "next", EDDY_INT32, EDDY_SHAPE(BATCH, WINDOW));
    eddy_tensor h = eddy_embedding_layer(m.in, SYMBOLS, UNITS, "embed");
    h = eddy_position_layer(h, WINDOW, .learned = true, .name = "positions");
    for (int i = 0; i < BLOCKS; i++) {
        snprintf(name, sizeof name, "block_%d", i);
        h = eddy_transformer_block(h, HEADS, name, .hidden = HIDDEN, .causal = true,
                                   .pre_norm = true);
    }
    m.logits = eddy_dense(eddy_layer_norm_layer(h, .name = "norm"), SYMBOLS, "head");
    m.loss = eddy_mean(eddy_sparse_softmax_cross_entropy(m.next, m.logits));
    m.train =
        eddy_minimize(eddy_adamw(m.graph, .learning_rate = eddy_scalar(m.graph, 3e-3)), m.loss);
    m.init = eddy_initializer(m.graph);
    return m;
}

/* PyTorch's names for the scopes here; torch_blocks has those of the parts of a block. */
static eddy_checkpoint_map names_of_torch(void)
{
    static const eddy_checkpoint_scope scopes[] = { { "block_*", "encoder.layers.*" },
                                                    { "norm", "encoder.norm" } };
    eddy_checkpoint_map map = eddy_torch_map();
    map.scopes = scopes;
    map.n_scopes = 2;
    map.torch_blocks = true;
    return map;
}

/* ---------------------------------------------------------------- compare -- */

/* What PyTorch gave: the batches [STEPS, BATCH, WINDOW + 1], logits and losses. */
typedef struct answers {
    eddy_array *batches, *logits, *losses;
} answers;

static bool read_answers(const char *path, answers *a)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_checkpoint_open(path, .error = &e);
    a->batches = eddy_checkpoint_value(c, "batches", &e);
    a->logits = eddy_checkpoint_value(c, "logits", &e);
    a->losses = eddy_checkpoint_value(c, "losses", &e);
    eddy_checkpoint_free(c);
    if (e.status == EDDY_OK && (eddy_array_count(a->batches) != STEPS * BATCH * (WINDOW + 1) ||
                                eddy_array_count(a->logits) != BATCH * WINDOW * SYMBOLS ||
                                eddy_array_count(a->losses) != STEPS)) {
        fprintf(stderr, "%s: other sizes than those of this program\n", path);
        return false;
    }
    if (e.status != EDDY_OK) fprintf(stderr, "%s\n", e.message);
    return e.status == EDDY_OK;
}

static void free_answers(answers *a)
{
    eddy_array_free(a->batches);
    eddy_array_free(a->logits);
    eddy_array_free(a->losses);
}

/* The symbols of a step, and those that follow each of them. */
static void symbols_of(const answers *a, int step, int32_t *in, int32_t *next)
{
    for (int i = 0; i < BATCH; i++) {
        for (int k = 0; k < WINDOW; k++) {
            const int64_t at = ((int64_t)step * BATCH + i) * (WINDOW + 1) + k;
            in[i * WINDOW + k] = (int32_t)eddy_array_get(a->batches, at);
            next[i * WINDOW + k] = (int32_t)eddy_array_get(a->batches, at + 1);
        }
    }
}

static double largest(double so_far, double x, double y)
{
    const double d = fabs(x - y);
    return d <= so_far ? so_far : d;     /* also NaN */
}

/* Trains and compares; true if all is as near to PyTorch's results as it should be. */
static bool train(const model *m, eddy_session *s, const answers *a, double tolerance)
{
    int32_t     in[BATCH * WINDOW], next[BATCH * WINDOW];
    eddy_array *out[3] = { NULL, NULL, NULL };
    double      logits = 0, losses = 0;
    bool        ok = true;
    for (int step = 0; ok && step < STEPS; step++) {
        symbols_of(a, step, in, next);
        ok = eddy_run(s, EDDY_FEED({ m->in, EDDY_VIEW(in, BATCH, WINDOW) },
                                   { m->next, EDDY_VIEW(next, BATCH, WINDOW) }),
                      EDDY_FETCH(m->loss, m->logits, m->train), out) == EDDY_OK;
        losses = largest(losses, eddy_array_item(out[0]), eddy_array_get(a->losses, step));
        for (int64_t i = 0; ok && step == 0 && i < eddy_array_count(out[1]); i++)
            logits = largest(logits, eddy_array_get(out[1], i), eddy_array_get(a->logits, i));
    }
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    if (!ok) fprintf(stderr, "%s\n", eddy_session_message(s));
    printf("  logits differ by %.1e, losses of %d steps by %.1e\n", logits, STEPS, losses);
    return ok && logits <= tolerance && losses <= tolerance;
}

/* ------------------------------------------------------------------- loading -- */

/* The slots of AdamW, which the file lacks, are those of a first step: partial. */
static bool load(eddy_session *s, const model *m, const char *path)
{
    const eddy_checkpoint_map map = names_of_torch();
    eddy_restore_report       report;
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(m->init), NULL);
    const bool ok = eddy_restore_checkpoint(s, path, .map = &map, .partial = true,
                                            .report = &report) == EDDY_OK;
    if (ok) printf("%s: %d variables\n", path, report.n_restored);
    else fprintf(stderr, "%s\n", eddy_session_message(s));
    eddy_restore_report_free(&report);
    return ok;
}

/* The trainable variables in bfloat16, under PyTorch's names. */
static bool save_small(eddy_session *s, const model *m, const char *path)
{
    const eddy_checkpoint_map map = names_of_torch();
    const int   n = eddy_collection_size(m->graph, EDDY_TRAINABLE_VARIABLES);
    eddy_tensor variables[64];
    for (int i = 0; i < n && i < 64; i++)
        variables[i] = eddy_collection_at(m->graph, EDDY_TRAINABLE_VARIABLES, i);
    const bool ok = n <= 64 && eddy_save_checkpoint(s, path, (eddy_list){ n, variables },
                                                    .map = &map,
                                                    .dtype = EDDY_BFLOAT16) == EDDY_OK;
    if (!ok) fprintf(stderr, "%s\n", eddy_session_message(s));
    return ok;
}

int main(int argc, char **argv)
{
    const char *path = "data/fine_tune.safetensors", *folder = "build";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--data") == 0) path = argv[i + 1];
        if (strcmp(argv[i], "--out") == 0) folder = argv[i + 1];
    }
    char          small[512];
    answers       a = { 0 };
    model         m = build();
    eddy_session *s = eddy_session_new(m.graph);
    snprintf(small, sizeof small, "%s/fine_tune_bfloat16.safetensors", folder);
    bool ok = read_answers(path, &a) && load(s, &m, path) && save_small(s, &m, small) &&
              train(&m, s, &a, 1e-5);
    ok = ok && load(s, &m, small) && train(&m, s, &a, 2e-2);
    free_answers(&a);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    return !ok;
}
