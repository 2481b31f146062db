/* optimizers.c -- optimizers that use norms of variables or of all gradients, or whether gradients
 * are finite, where each rank has parts of the variables, compared with one process that has all
 * variables and all examples. */
#include "tests/lib/ranks/model.h"

#include "ops/short_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXAMPLES = 3, INPUTS = 5, SPIKE = 9, STEPS = 5, MOST_RANKS = 8 };

typedef enum kind {
    PLAIN, AVERAGED, CLIPPED, EACH_CLIPPED, INSIDE_CLIPPED, SCALED, GUARDED, LAMB, LAMB_AVERAGED,
    LARS, NOVOGRAD, DECAYED, KINDS
} kind;

/* c is NULL in one process. */
typedef struct model {
    eddy_communicator *c;
    eddy_graph        *graph;
    eddy_session      *session;
    eddy_tensor        x, y, spike, step;
} model;

/* ------------------------------------------------------------------ models -- */

static eddy_optimizer *rule(eddy_graph *g, kind k)
{
    const eddy_variable_filter vectors = { eddy_rank_below_2, NULL };
    const eddy_tensor          rate = eddy_number(g, EDDY_FLOAT64, 0.05);
    if (k == LAMB || k == LAMB_AVERAGED)
        return eddy_lamb(g, rate, .weight_decay = eddy_number(g, EDDY_FLOAT64, 0.01),
                         .without_adaptation = vectors);
    if (k == LARS) return eddy_lars(g, eddy_number(g, EDDY_FLOAT64, 2));
    if (k == NOVOGRAD) return eddy_novograd(g, rate);
    if (k == DECAYED) return eddy_adamw(g, rate, .without_decay = vectors);
    return eddy_adam(g, rate);
}

/* What is around the rule, and inside the average of the ranks, if there are any. */
static eddy_optimizer *wrapped(eddy_optimizer *o, eddy_graph *g, kind k)
{
    const eddy_tensor small = eddy_number(g, EDDY_FLOAT64, 0.1);
    if (k == CLIPPED) return eddy_clipped_gradients(o, .global_norm = small);
    if (k == EACH_CLIPPED || k == INSIDE_CLIPPED) return eddy_clipped_gradients(o, .norm = small);
    if (k == SCALED)
        return eddy_loss_scale(o, .loss_scale = eddy_scalar(g, 8), .increment_period = 2);
    if (k == GUARDED) return eddy_apply_if_finite(o, .quiet = true);
    return o;
}

static eddy_optimizer *optimizer(eddy_communicator *c, eddy_graph *g, kind k)
{
    const bool around = k == AVERAGED || k == CLIPPED || k == EACH_CLIPPED || k == SCALED ||
                        k == GUARDED || k == LAMB_AVERAGED;
    eddy_optimizer *o = rule(g, k);
    if (c && around) o = eddy_sharded(o, c, .averaged = true);
    o = wrapped(o, g, k);
    return !c ? o : around ? eddy_distributed(o, c) : eddy_sharded(o, c);
}

static eddy_tensor loss_of(const model *m, eddy_tensor y)
{
    eddy_tensor peak = eddy_dense(m->spike, 1, "spike", .no_bias = true, .seed = 3);
    return Add(eddy_mean(Square(Sub(y, m->y))), eddy_sum(peak));
}

/* The gradient of the layer "spike" is what is fed; its matrix, that of "hidden", and the vectors
 * are divided, except those of fewer elements. */
static model build(eddy_communicator *c, kind k)
{
    model       m = { .c = c, .graph = eddy_graph_new(.seed = 7) };
    eddy_graph *g = m.graph;
    m.x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, INPUTS));
    m.y = eddy_placeholder(g, "y", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 1));
    m.spike = eddy_placeholder(g, "s", EDDY_FLOAT64, EDDY_SHAPE(1, SPIKE));
    if (c) eddy_divide_variables_begin(c, g, 5);
    eddy_tensor h = eddy_tanh(eddy_dense(m.x, 7, "hidden", .seed = 1));
    eddy_tensor loss = loss_of(&m, eddy_dense(h, 1, "out", .seed = 2));
    if (c) eddy_divide_variables_end(g);
    m.step = eddy_minimize(optimizer(c, g, k), loss);
    m.session = eddy_session_new(g);
    return m;
}

/* Layers that are divided, and a clipped norm over their parts. */
static model build_layers(eddy_communicator *c, int ranks)
{
    model       m = { .c = c, .graph = eddy_graph_new(.seed = 7) };
    eddy_graph *g = m.graph;
    m.x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, INPUTS));
    m.y = eddy_placeholder(g, "y", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 1));
    m.spike = eddy_placeholder(g, "s", EDDY_FLOAT64, EDDY_SHAPE(1, SPIKE));
    const eddy_tensor words =
        eddy_cast(Abs(eddy_slice(m.x, EDDY_DIMS(0, 0), EDDY_DIMS(-1, 1))), EDDY_INT32);
    eddy_tensor rows =
        c ? eddy_parallel_embedding(c, words, 11, 4, .dtype = EDDY_FLOAT64, .seed = 4)
          : eddy_embedding_layer(words, 11, 4, .dtype = EDDY_FLOAT64, .seed = 4);
    eddy_tensor h =
        eddy_concat(EDDY_LIST(m.x, eddy_reshape(rows, EDDY_SHAPE(EDDY_ANY, 4))), .axis = 1);
    h = c ? eddy_column_dense(c, h, 2 * ranks, "up", .activation = eddy_tanh, .seed = 1)
          : eddy_dense(h, 2 * ranks, "up", .activation = eddy_tanh, .seed = 1);
    h = c ? eddy_row_dense(c, h, 1, "down", .seed = 2) : eddy_dense(h, 1, "down", .seed = 2);
    eddy_optimizer *o = eddy_clipped_gradients(eddy_adam(g, eddy_number(g, EDDY_FLOAT64, 0.05)),
                                               .global_norm = eddy_number(g, EDDY_FLOAT64, 0.1));
    if (c) o = eddy_distributed(o, c);
    m.step = eddy_minimize(o, loss_of(&m, h));
    m.session = eddy_session_new(g);
    return m;
}

static void release(model *m)
{
    eddy_session_free(m->session);
    eddy_graph_free(m->graph);
}

/* ------------------------------------------------------------------- steps -- */

/* Each rank has its examples, or `all` of them; a gradient is infinite in the third step. */
static bool run_steps(const eddy_communicator *c, const model *m, int ranks, bool infinite)
{
    const int  me = eddy_communicator_rank(c);
    const bool all = ranks == 0;
    const int  first = all ? 0 : me * EXAMPLES;
    const int  count = all ? eddy_communicator_size(c) * EXAMPLES : EXAMPLES;
    bool       ok = true;
    ok = eddy_run(m->session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m->graph)), NULL) == EDDY_OK;
    for (int t = 0; ok && t < STEPS; t++) {
        double x[MOST_RANKS * EXAMPLES][INPUTS], y[MOST_RANKS * EXAMPLES], s[SPIKE] = { 0.5 };
        for (int i = 0; i < count; i++) {
            y[i] = 3 * cos(first + i + t);
            for (int j = 0; j < INPUTS; j++) x[i][j] = 4 * sin((first + i) * 3.1 + j + t);
        }
        s[SPIKE - 2] = infinite && t == 2 ? INFINITY : 0;
        ok = eddy_run(m->session,
                      EDDY_FEED({ m->x, EDDY_VIEW(&x[0][0], count, INPUTS) },
                                { m->y, EDDY_VIEW(y, count, 1) },
                                { m->spike, EDDY_VIEW(s, 1, SPIKE) }),
                      EDDY_FETCH(m->step), NULL) == EDDY_OK;
    }
    return expect(c, ok, "%s%s", eddy_graph_message(m->graph), eddy_session_message(m->session));
}

/* ----------------------------------------------------------------- compare -- */

static bool same_values(const eddy_communicator *c, const eddy_array *a, const eddy_array *b,
                        const char *name, int k)
{
    bool same = a && b && eddy_array_count(a) == eddy_array_count(b);
    for (int64_t i = 0; same && i < eddy_array_count(a); i++) {
        const double x = eddy_array_get(a, i), y = eddy_array_get(b, i);
        same = expect(c, fabs(x - y) <= 1e-9 * (1 + fabs(x)),
                      "kind %d: '%s'[%lld] is %.17g, not %.17g", k, name, (long long)i, y, x);
    }
    return expect(c, same, "kind %d: '%s'", k, name);
}

/* The variables of one process with those that all ranks have saved. */
static bool compare(eddy_communicator *c, const model *alone, const model *m, const char *path,
                    int k)
{
    eddy_error e = { 0 };
    const int  n = eddy_collection_size(alone->graph, EDDY_GLOBAL_VARIABLES);
    if (!expect(c, eddy_save_ranks(c, m->graph, m->session, path, &e), "kind %d: %s", k, e.message))
        return false;
    eddy_checkpoint *file = eddy_checkpoint_open(path, .error = &e);
    bool             ok = expect(c, file && n >= 8, "%s", e.message);
    for (int i = 0; ok && i < n; i++) {
        const eddy_tensor v = eddy_collection_at(alone->graph, EDDY_GLOBAL_VARIABLES, i);
        eddy_array       *x = eddy_variable_value(alone->session, v);
        eddy_array       *y = eddy_checkpoint_value(file, eddy_name_of(v), &e);
        ok = same_values(c, x, y, eddy_name_of(v), k);
        eddy_array_free(x);
        eddy_array_free(y);
    }
    eddy_checkpoint_free(file);
    return eddy_rank_barrier(c, &e) && ok;
}

static bool agrees(eddy_communicator *c, model alone, model divided, const char *path, int k)
{
    const bool infinite = k == SCALED || k == GUARDED;
    const bool ok = run_steps(c, &alone, 0, infinite) &&
                    run_steps(c, &divided, k == KINDS ? 0 : eddy_communicator_size(c), infinite) &&
                    compare(c, &alone, &divided, path, k);
    release(&alone);
    release(&divided);
    return ok;
}

bool optimizers_agree(eddy_communicator *c)
{
    char        folder[200], path[300], command[300];
    eddy_error  e = { 0 };
    eddy_array *pid = eddy_array_of(EDDY_INT32, (int)getpid());
    bool        ok = eddy_array_broadcast(c, 0, pid, &e);
    const int   ranks = eddy_communicator_size(c);
    snprintf(folder, sizeof folder, "%.150s/eddy-optimizers-%d",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)eddy_array_item(pid));
    snprintf(path, sizeof path, "%s/m.safetensors.index.json", folder);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    eddy_array_free(pid);
    if (eddy_communicator_rank(c) == 0) mkdir(folder, 0700);
    ok = ok && eddy_rank_barrier(c, &e);
    for (int k = 0; ok && k < KINDS; k++)
        ok = agrees(c, build(NULL, (kind)k), build(c, (kind)k), path, k);
    ok = ok && agrees(c, build_layers(NULL, ranks), build_layers(c, ranks), path, KINDS);
    if (eddy_communicator_rank(c) == 0) ok = expect(c, system(command) == 0, "the folder") && ok;
    return ok;
}
