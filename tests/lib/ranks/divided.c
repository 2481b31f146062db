/* divided.c -- trainings whose variables are divided among ranks, compared with those where
 * each rank has all; their memory, and their checkpoints. */
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXAMPLES = 3, INPUTS = 5, WORDS = 11, STEPS = 4, SEED = 5 };

typedef struct model {
    eddy_graph   *graph;
    eddy_tensor   x, words, y, loss, step;
    eddy_session *session;
} model;

/* NONE: no ranks; WHOLE: eddy_distributed; DIVIDED: all except the table; LARGE: those of 20
 * elements. */
typedef enum kind { NONE, WHOLE, DIVIDED, LARGE } kind;

/* Two dense layers on inputs and a row of a table for each example; the table, the kernels (63 and
 * 7 elements) and the biases do not divide evenly. */
static model build(eddy_communicator *c, kind k, bool accumulates)
{
    model       m = { .graph = eddy_graph_new(.seed = 11) };
    eddy_graph *g = m.graph;
    m.x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EXAMPLES, INPUTS));
    m.words = eddy_placeholder(g, "words", EDDY_INT32, EDDY_SHAPE(EXAMPLES));
    m.y = eddy_placeholder(g, "y", EDDY_FLOAT64, EDDY_SHAPE(EXAMPLES, 1));
    if (k == LARGE) eddy_divide_variables_begin(c, g, 20);
    eddy_tensor rows =
        eddy_embedding_layer(m.words, WORDS, 4, .dtype = EDDY_FLOAT64, .seed = SEED);
    if (k == DIVIDED) eddy_divide_variables_begin(c, g, 0);
    eddy_tensor h = eddy_concat(EDDY_LIST(m.x, rows), .axis = 1);
    h = eddy_tanh(eddy_dense(h, 7, "hidden", .seed = SEED + 1));
    m.loss = eddy_mean(Square(Sub(eddy_dense(h, 1, "out", .seed = SEED + 2), m.y)));
    if (k >= DIVIDED) eddy_divide_variables_end(g);
    eddy_optimizer *o = eddy_adam(g, .learning_rate = eddy_number(g, EDDY_FLOAT64, 0.05));
    if (accumulates) o = eddy_accumulate_gradients(o, 2);
    if (k == WHOLE) o = eddy_distributed(o, c);
    if (k >= DIVIDED) o = eddy_sharded(o, c);
    m.step = eddy_minimize(o, m.loss);
    m.session = eddy_session_new(g);
    return m;
}

static void release(model *m)
{
    eddy_session_free(m->session);
    eddy_graph_free(m->graph);
}

static bool start(eddy_communicator *c, const model *m)
{
    eddy_error e = { 0 };
    const bool ok = eddy_run(m->session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m->graph)),
                             NULL) == EDDY_OK &&
                    eddy_broadcast_variables(c, 0, m->graph, m->session, &e);
    return expect(c, ok, "%s%s%s", e.message, eddy_graph_message(m->graph),
                  eddy_session_message(m->session));
}

static bool run_steps(const eddy_communicator *c, const model *m, int from, int to)
{
    const int me = eddy_communicator_rank(c);
    bool      ok = true;
    for (int t = from; ok && t < to; t++) {
        double  x[EXAMPLES][INPUTS], y[EXAMPLES];
        int32_t words[EXAMPLES];
        for (int i = 0; i < EXAMPLES; i++) {
            for (int j = 0; j < INPUTS; j++) x[i][j] = sin((me * EXAMPLES + i) * 3.1 + j + t);
            words[i] = (me + i * 7 + t) % (WORDS - 3);
            y[i] = cos(me * EXAMPLES + i + t);
        }
        ok = eddy_run(m->session,
                      EDDY_FEED({ m->x, EDDY_VIEW(&x[0][0], EXAMPLES, INPUTS) },
                                { m->words, EDDY_VIEW(words, EXAMPLES) },
                                { m->y, EDDY_VIEW(y, EXAMPLES, 1) }),
                      EDDY_FETCH(m->step), NULL) == EDDY_OK;
    }
    return expect(c, ok, "%s", eddy_session_message(m->session));
}

/* Sums by pairs of ranks have the same bits; a mean over 3 ranks divides elsewhere, and the
 * gradient of a table that is divided is not sparse. */
static bool same_values(const eddy_communicator *c, kind k, const eddy_array *a,
                        const eddy_array *b)
{
    const int n = eddy_communicator_size(c);
    if ((n & (n - 1)) == 0 && k == DIVIDED) return eddy_array_equal(a, b);
    bool same = a && b && eddy_array_count(a) == eddy_array_count(b);
    for (int64_t i = 0; same && i < eddy_array_count(a); i++)
        same = fabs(eddy_array_get(a, i) - eddy_array_get(b, i)) < 1e-9;
    return same;
}

/* All variables of `a`, which b has by the same names. */
static bool compare(const eddy_communicator *c, kind k, const model *a, const model *b,
                    const char *what)
{
    const int n = eddy_collection_size(a->graph, EDDY_GLOBAL_VARIABLES);
    bool      ok = expect(c, n == eddy_collection_size(b->graph, EDDY_GLOBAL_VARIABLES),
                          "%s: %d variables", what, n);
    for (int i = 0; ok && i < n; i++) {
        const eddy_tensor v = eddy_collection_at(a->graph, EDDY_GLOBAL_VARIABLES, i);
        char              name[300];
        snprintf(name, sizeof name, "%s:0", eddy_name_of(v));
        eddy_array *x = eddy_variable_value(a->session, v);
        eddy_array *y = eddy_variable_value(b->session, eddy_graph_tensor(b->graph, name));
        ok = expect(c, same_values(c, k, x, y), "%s: '%s' differs", what, eddy_name_of(v));
        eddy_array_free(x);
        eddy_array_free(y);
    }
    return ok;
}

/* A path that all ranks know, in a folder of their own. */
enum { FOLDER = 200, PATH = 300 };
static bool make_path(eddy_communicator *c, char *folder, char *path)
{
    eddy_error  e = { 0 };
    eddy_array *pid = eddy_array_of(EDDY_INT32, (int)getpid());
    bool        ok = eddy_array_broadcast(c, 0, pid, &e);
    snprintf(folder, FOLDER, "%.150s/eddy-divided-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)eddy_array_item(pid));
    snprintf(path, PATH, "%s/m.safetensors.index.json", folder);
    eddy_array_free(pid);
    if (ok && eddy_communicator_rank(c) == 0) mkdir(folder, 0700);
    return expect(c, ok && eddy_rank_barrier(c, &e), "%s", e.message);
}

/* ---------------------------------------------------------------- trainings -- */

/* The checkpoint of the divided training has what each rank has that has all. */
static bool saves_whole(eddy_communicator *c, kind k, bool accumulates, const model *whole,
                        const model *divided, const char *path)
{
    eddy_error e = { 0 };
    model      alone = build(NULL, NONE, accumulates);
    const bool ok = expect(c, eddy_save_ranks(c, divided->graph, divided->session, path, &e), "%s",
                           e.message) &&
                    expect(c, eddy_restore(alone.session, path, EDDY_LIST()) == EDDY_OK, "%s",
                           eddy_session_message(alone.session)) &&
                    compare(c, k, whole, &alone, "saved");
    release(&alone);
    return ok;
}

/* Other ranks go on from there as those that have all: a group without the last rank. */
static bool resumes(eddy_communicator *c, kind k, bool accumulates, const char *path)
{
    const int          n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int          ranks[] = { 0, 1, 2, 3, 4, 5, 6 };
    eddy_error         e = { 0 };
    eddy_communicator *group = me < n - 1 ? eddy_communicator_group(c, ranks, n - 1, &e) : NULL;
    char               own[400];
    if (!group) return expect(c, me == n - 1, "%s", e.message);
    model whole = build(group, WHOLE, accumulates), divided = build(group, k, accumulates);
    snprintf(own, sizeof own, "%.*s/own.safetensors.index.json", (int)(strrchr(path, '/') - path),
             path);
    const bool ok =
        expect(c, eddy_restore(whole.session, path, EDDY_LIST()) == EDDY_OK, "%s",
               eddy_session_message(whole.session)) &&
        expect(c, eddy_restore_part(divided.graph, divided.session, path, &e), "%s", e.message) &&
        run_steps(group, &whole, STEPS, STEPS + 2) &&
        run_steps(group, &divided, STEPS, STEPS + 2) &&
        saves_whole(group, k, accumulates, &whole, &divided, own);
    release(&whole);
    release(&divided);
    eddy_communicator_free(group);
    return ok;
}

/* Ranks write whole variables in turns; there are at least three. */
static bool takes_turns(const eddy_communicator *c, const char *folder)
{
    const int n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    char      file[400];
    snprintf(file, sizeof file, "%s/m.1-%05d-of-%05d.safetensors", folder, n + me + 1, 2 * n);
    return me >= 3 || expect(c, access(file, F_OK) == 0, "there is no %s", file);
}

static bool agrees(eddy_communicator *c, kind k, bool accumulates)
{
    char  folder[FOLDER], path[PATH], command[400];
    model whole = build(c, WHOLE, accumulates), divided = build(c, k, accumulates);
    bool  ok = make_path(c, folder, path) && start(c, &whole) && start(c, &divided) &&
              run_steps(c, &whole, 0, STEPS) && run_steps(c, &divided, 0, STEPS) &&
              saves_whole(c, k, accumulates, &whole, &divided, path) && takes_turns(c, folder) &&
              resumes(c, k, accumulates, path);
    eddy_error e = { 0 };
    ok = ok && expect(c, eddy_rank_barrier(c, &e), "%s", e.message);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (eddy_communicator_rank(c) == 0) ok = expect(c, system(command) == 0, "the folder") && ok;
    release(&whole);
    release(&divided);
    return ok && expect(c, eddy_rank_barrier(c, &e), "%s", e.message);
}

bool divided_variables_agree(eddy_communicator *c)
{
    return agrees(c, DIVIDED, false) && agrees(c, LARGE, false) && agrees(c, DIVIDED, true);
}

/* ------------------------------------------------------------------- memory -- */

/* Sixteen equal matrices, of which a step needs one or two at a time. */
bool variables_are_divided(eddy_communicator *c)
{
    enum { LAYERS = 16, SIZE = 48 };
    const int       n = eddy_communicator_size(c);
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     h = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, SIZE));
    eddy_optimizer *o = eddy_sharded(eddy_adam(g), c);
    eddy_divide_variables_begin(c, g, 1);
    for (int i = 0; i < LAYERS; i++) h = eddy_tanh(eddy_dense(h, SIZE, .no_bias = true));
    eddy_divide_variables_end(g);
    eddy_tensor   step = eddy_minimize(o, eddy_sum(h));
    eddy_session *s = eddy_session_new(g, .threads = 1), *t = eddy_session_new(g, .threads = 1);
    const bool    ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK;
    bool          good = expect(c, ok, "%s%s", eddy_graph_message(g), eddy_session_message(s));
    for (int i = 0; good && i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        eddy_array       *value = eddy_variable_value(s, v);
        good = expect(c, eddy_variable_set(t, v, value) == EDDY_OK, "%s", eddy_session_message(t));
        eddy_array_free(value);
    }
    good = good && expect(c, eddy_run(t, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK, "%s",
                          eddy_session_message(t));
    const size_t matrix = SIZE * SIZE * 4, part = (matrix + (size_t)n - 1) / (size_t)n;
    const eddy_memory_info m = eddy_session_memory_info(t);
    good = good && expect(c, m.variable_bytes < 3 * LAYERS * (part + 64) + 1000,
                          "%zu bytes of variables", m.variable_bytes) &&
           expect(c, n == 1 || m.run_bytes < 5 * matrix, "%zu bytes of a run", m.run_bytes);
    eddy_session_free(s);
    eddy_session_free(t);
    eddy_graph_free(g);
    return good;
}
