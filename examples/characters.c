/* characters.c -- an LSTM learns to guess the next character of English text, then writes some.
 *
 *   characters [--text FILE] [--units N] [--steps N] [--batch N] [--epochs N] [--write N]
 *              [--beams N] [--temperature T] [--network loop|unrolled|packed] [--seed N]
 *              [--out FOLDER]
 *
 * Training runs the cell in a loop inside the graph (eddy_dynamic_rnn), or as nodes for each step,
 * or as one packed operation, with the same losses. Writing is a loop, too (eddy_generate): each
 * step draws a character from what the network expects, at a temperature, and feeds it to the next,
 * all in one run. Temperature 0 always takes the likeliest. A beam search in the same run
 * (eddy_beam_search) looks for the line that the network expects most.
 *
 * support/text_data.h says which text it reads without --text. The defaults are small, for a run of
 * seconds; a model that writes words takes minutes:
 *
 *   characters --units 256 --steps 64 --batch 32 --epochs 40 --write 500
 *
 * Fails if the loss does not come down, if what is written is not made of pairs of characters
 * that are in the text, or if the lines found are not ordered by their probability. */
#include <eddy/eddy.h>

#include "support/text_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers in the vector of a character; characters of the longest line searched for. */
enum { COLUMNS = 32, LINE = 40 };

typedef struct options {
    const char *text, *network, *folder;
    int         units, steps, batch, epochs, write, beams;
    double      temperature;
    int64_t     seed;
} options;

/* --------------------------------------------------------------- model -- */

typedef struct model {
    eddy_graph *graph;
    eddy_tensor in, next, loss, train;              /* training */
    eddy_tensor first, written;                     /* writing */
    eddy_beams  lines;
} model;

/* The outputs of all steps, by the way that --network names. */
static eddy_tensor run_cell(const options *o, eddy_rnn_cell cell, eddy_tensor vectors)
{
    const int n = o->steps;
    if (strcmp(o->network, "packed") == 0)
        return eddy_rnn(vectors, EDDY_CELL(EDDY_LSTM_CELL, o->units), .seed = o->seed).outputs;
    if (strcmp(o->network, "loop") == 0) return eddy_dynamic_rnn(cell, vectors);
    eddy_tensor  steps = eddy_unstack(vectors, 1), y = vectors;
    eddy_tensor *all = calloc(2 * (size_t)n, sizeof *all);
    for (int t = 0; all && t < n; t++) all[n + t] = eddy_output(steps, t);
    if (all && eddy_static_rnn(cell, ((eddy_list){ n, all + n }), all) == n)
        y = eddy_stack((eddy_list){ n, all }, 1);
    free(all);
    return y;
}

/* The network and its state while it writes. */
typedef struct pen {
    eddy_rnn_cell cell;
    int           characters;
} pen;

/* From a character and the state to the logits of the next character, and the next state. */
static int write_one(eddy_list x, eddy_tensor *y, void *context)
{
    const pen  *p = context;
    eddy_tensor vector = eddy_embedding_layer(x.at[0], p->characters, COLUMNS, .reuse = "vectors");
    eddy_tensor h = eddy_rnn_step(p->cell, vector, &x.at[1], &y[1]);
    y[0] = eddy_dense(h, p->characters, .reuse = "guess");
    return 3;
}

/* Both call write_one; a line ends with the character `end`. */
static void build_writing(const options *o, pen *p, int end, model *m)
{
    eddy_tensor state[2];
    if (eddy_zero_state(p->cell, m->first, state, EDDY_FLOAT32) != 2) return;
    const eddy_function f = { .build = write_one, .context = p, .name = "write_one" };
    m->written = eddy_generate(f, EDDY_LIST(state[0], state[1]), m->first, o->write,
                               .temperature = o->temperature, .name = "writing").ids;
    m->lines = eddy_beam_search(f, EDDY_LIST(state[0], state[1]), m->first, end, o->beams, LINE);
}

/* `end` ends a line. */
static model build(const options *o, int characters, int end)
{
    eddy_graph *g = eddy_graph_new(.seed = o->seed);
    const bool  packed = strcmp(o->network, "packed") == 0;
    model       m = { .graph = g };
    m.in = eddy_placeholder(g, "in", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, o->steps));
    m.next = eddy_placeholder(g, "next", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, o->steps));
    eddy_tensor vectors = eddy_embedding_layer(m.in, characters, COLUMNS, "vectors",
                                               .seed = o->seed);
    /* the packed operation makes variables of the same names */
    eddy_rnn_cell cell = eddy_lstm_cell(g, o->units, .seed = o->seed,
                                        .reuse = packed ? "rnn/lstm_cell" : NULL);
    eddy_tensor   logits = eddy_dense(run_cell(o, cell, vectors), characters, "guess",
                                      .seed = o->seed);
    m.loss = eddy_mean(eddy_sparse_softmax_cross_entropy(m.next, logits));
    eddy_optimizer *adam = eddy_adam(g, .learning_rate = eddy_scalar(g, 3e-3));
    m.train = eddy_minimize(adam, m.loss);

    pen p = { .cell = cell, .characters = characters };
    m.first = eddy_placeholder(g, "first", EDDY_INT32, EDDY_SHAPE(1));
    build_writing(o, &p, end, &m);
    return m;
}

/* ------------------------------------------------------------- training -- */

/* The character that begins a text and ends a line. */
static int32_t line_end(const text *t) { return t->code['\n'] < 0 ? 0 : t->code['\n']; }

/* Prints what the network writes; the share of pairs of characters that the text has. */
static double write_some(const options *o, const model *m, const text *t, eddy_session *s)
{
    const int32_t start = line_end(t);
    int           known = 0, before = t->byte[start];
    eddy_array   *out = NULL;
    eddy_feeds    feeds = EDDY_FEED({ m->first, EDDY_INTS(start) });
    if (eddy_run(s, feeds, EDDY_FETCH(m->written), &out) != EDDY_OK) return NAN;
    printf("\n");
    for (int i = 0; i < o->write; i++) {
        const int c = t->byte[(int)eddy_array_get(out, i)];
        known += t->pair[before][c];
        before = c;
        putchar(c);
    }
    printf("\n\n");
    eddy_array_free(out);
    return (double)known / o->write;
}

/* Prints the lines that the beam search finds, the likeliest first; false if they are not. */
static bool search_lines(const options *o, const model *m, const text *t, eddy_session *s)
{
    eddy_array *out[3] = { NULL };
    eddy_feeds  feeds = EDDY_FEED({ m->first, EDDY_INTS(line_end(t)) });
    bool        ok = eddy_run(s, feeds, EDDY_FETCH(m->lines.ids, m->lines.lengths,
                                                   m->lines.log_probs), out) == EDDY_OK;
    for (int b = 0; ok && b < o->beams; b++) {
        const double log_prob = eddy_array_get(out[2], b);
        const int    length = (int)eddy_array_get(out[1], b);
        printf("  %8.3f  ", log_prob);
        for (int i = 0; i < length; i++) {
            const int c = t->byte[(int)eddy_array_get(out[0], (int64_t)b * LINE + i)];
            if (c != '\n') putchar(c);
        }
        printf("\n");
        ok = log_prob <= (b == 0 ? 0 : eddy_array_get(out[2], b - 1));
    }
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    return ok;
}

static bool learn(const options *o, const text *t)
{
    model         m = build(o, t->codes, line_end(t));
    eddy_session *s = eddy_session_new(m.graph);
    printf("%zu characters, %d different ones; LSTM of %d units, %d steps, %s\n", t->size, t->codes,
           o->units, o->steps, o->network);
    bool ok = s && eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) == EDDY_OK;
    const text_training how = { .in = m.in, .next = m.next, .loss = m.loss, .train = m.train,
                                .batch = o->batch, .steps = o->steps, .epochs = o->epochs,
                                .seed = (uint64_t)o->seed };
    const double loss = ok ? text_train(t, &how, s) : NAN;
    const double pairs = ok && !isnan(loss) ? write_some(o, &m, t, s) : NAN;
    char path[512];
    ok = !isnan(loss) && !isnan(pairs);
    if (ok && o->folder) {
        snprintf(path, sizeof path, "%s/characters.safetensors", o->folder);
        ok = eddy_save(s, path, EDDY_LIST()) == EDDY_OK;
    }
    if (!ok) fprintf(stderr, "%s\n", s ? eddy_session_message(s) : "no session");
    if (ok) printf("  %.1f %% of the pairs of characters are in the text\n", 100 * pairs);
    if (ok && !search_lines(o, &m, t, s)) {
        fprintf(stderr, "the lines are not ordered: %s\n", eddy_session_message(s));
        ok = false;
    }
    if (ok && !(loss < 0.75 * log(t->codes) && pairs > 0.8)) {
        fprintf(stderr, "the network has not learned\n");
        ok = false;
    }
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
        else if (strcmp(name, "--network") == 0) o->network = value;
        else if (strcmp(name, "--out") == 0) o->folder = value;
        else if (strcmp(name, "--temperature") == 0) o->temperature = atof(value);
        else if (!read_number(name, value, "--units", &o->units) &&
                 !read_number(name, value, "--steps", &o->steps) &&
                 !read_number(name, value, "--batch", &o->batch) &&
                 !read_number(name, value, "--epochs", &o->epochs) &&
                 !read_number(name, value, "--write", &o->write) &&
                 !read_number(name, value, "--beams", &o->beams) &&
                 !read_number(name, value, "--seed", &seed))
            return false;
    }
    o->seed = seed;
    const bool known = strcmp(o->network, "loop") == 0 || strcmp(o->network, "packed") == 0 ||
                       strcmp(o->network, "unrolled") == 0;
    return argc % 2 == 1 && known && o->temperature >= 0;
}

int main(int argc, char **argv)
{
    static text t;
    options     o = { .network = "loop", .units = 48, .steps = 24, .batch = 16, .epochs = 4,
                      .write = 200, .beams = 4, .temperature = 0.5, .seed = 1 };
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: characters [--text FILE] [--units N] [--steps N] [--batch N] "
                "[--epochs N] [--write N] [--beams N] [--temperature T] "
                "[--network loop|unrolled|packed] [--seed N] [--out FOLDER]\n");
        return 2;
    }
    const bool ok = text_read(&t, o.text, (size_t)o.steps + 2) && learn(&o, &t);
    text_free(&t);
    return !ok;
}
