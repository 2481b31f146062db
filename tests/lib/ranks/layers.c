/* layers.c -- layers whose variables are divided among ranks, compared with those of one
 * process with the same seeds. */
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 2, LENGTH = 3, WORDS = 11, SEED = 7, MOST = 24, STEPS = 5 };

/* The layers under test, on the ranks or alone. */
typedef struct layers {
    eddy_communicator *c;           /* NULL: one process */
    int                ranks;       /* by which sizes are divided */
    eddy_graph        *graph;
    eddy_tensor        x, y;
} layers;

static layers layers_new(eddy_communicator *c, int ranks)
{
    layers l = { .c = c, .ranks = ranks, .graph = eddy_graph_new(.seed = 3) };
    return l;
}

static eddy_tensor column(const layers *l, eddy_tensor x, int64_t units, const char *name)
{
    return l->c ? eddy_column_dense(l->c, x, units, name, .activation = eddy_tanh, .seed = SEED,
                                    .bias_initializer = eddy_random_normal_initializer(0, 1))
                : eddy_dense(x, units, name, .activation = eddy_tanh, .seed = SEED,
                             .bias_initializer = eddy_random_normal_initializer(0, 1));
}

static eddy_tensor row(const layers *l, eddy_tensor x, int64_t units, const char *name)
{
    return l->c ? eddy_row_dense(l->c, x, units, name, .activation = eddy_sigmoid, .seed = SEED + 1,
                                 .bias_initializer = eddy_random_normal_initializer(0, 1))
                : eddy_dense(x, units, name, .activation = eddy_sigmoid, .seed = SEED + 1,
                             .bias_initializer = eddy_random_normal_initializer(0, 1));
}

static eddy_tensor attention(const layers *l, eddy_tensor x, int64_t heads, eddy_tensor memory,
                             eddy_tensor mask, bool causal)
{
    return l->c ? eddy_parallel_attention(l->c, x, heads, .memory = memory, .mask = mask,
                                          .causal = causal, .seed = SEED + 2)
                : eddy_multi_head_attention(x, heads, .memory = memory, .mask = mask,
                                            .causal = causal, .seed = SEED + 2);
}

static eddy_tensor words(const layers *l, eddy_tensor ids, int64_t size, eddy_dtype dtype)
{
    return l->c ? eddy_parallel_embedding(l->c, ids, WORDS, size, .dtype = dtype, .seed = SEED + 3)
                : eddy_embedding_layer(ids, WORDS, size, .dtype = dtype, .seed = SEED + 3);
}

static eddy_tensor numbers(eddy_graph *g, int64_t units, double phase)
{
    double x[BATCH * LENGTH * 64];
    for (int i = 0; i < BATCH * LENGTH * units; i++) x[i] = sin(i * 1.3 + phase);
    return eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(BATCH, LENGTH, units), x);
}

/* ----------------------------------------------------------------- networks -- */

static void dense_pair(layers *l)
{
    l->x = numbers(l->graph, 3, 0);
    l->y = row(l, column(l, l->x, 2 * l->ranks, "up"), 4, "down");
}

static void self_attention(layers *l)
{
    l->x = numbers(l->graph, 2 * l->ranks, 1);
    l->y = attention(l, l->x, l->ranks, EDDY_NO_TENSOR, EDDY_NO_TENSOR, true);
}

/* A mask for each head, through which gradients flow. */
static void cross_attention(layers *l)
{
    double mask[2 * 8 * LENGTH * LENGTH];
    const int heads = 2 * l->ranks;
    for (int i = 0; i < heads * LENGTH * LENGTH; i++) mask[i] = cos(i * 0.7);
    l->x = numbers(l->graph, 2 * l->ranks, 2);
    eddy_tensor of_heads =
        eddy_const(l->graph, EDDY_FLOAT64, EDDY_SHAPE(1, heads, LENGTH, LENGTH), mask);
    l->y = attention(l, l->x, heads, Sin(l->x), Mul(of_heads, eddy_mean(l->x)), false);
}

static void embedding(layers *l)
{
    const int32_t     ids[BATCH][LENGTH] = { { 0, 3, WORDS - 1 }, { 3, 5, 8 } };
    const eddy_tensor of = eddy_const(l->graph, EDDY_INT32, EDDY_SHAPE(BATCH, LENGTH), ids);
    l->x = numbers(l->graph, 3, 4);
    l->y = Mul(Exp(words(l, of, 3, EDDY_FLOAT64)), l->x);
}

/* ------------------------------------------------------------------ compare -- */

/* A loss, the gradient of x, those of the variables, and the gradients with respect to these of the
 * sum of squares of the first. */
static int results(const layers *l, eddy_tensor *out)
{
    const int   n = eddy_collection_size(l->graph, EDDY_TRAINABLE_VARIABLES);
    eddy_tensor all[MOST], first[MOST], second[MOST];
    all[0] = l->x;
    for (int i = 0; i < n; i++)
        all[i + 1] = eddy_collection_at(l->graph, EDDY_TRAINABLE_VARIABLES, i);
    eddy_tensor loss = eddy_mean(Square(Add(l->y, 1)));
    eddy_gradients(EDDY_LIST(loss), ((eddy_list){ n + 1, all }), first);
    eddy_tensor squares = eddy_sum(Square(first[0]));
    eddy_gradients(EDDY_LIST(squares), ((eddy_list){ n + 1, all }), second);
    out[0] = loss;
    out[1] = first[0];
    out[2] = second[0];
    for (int i = 0; i < n; i++) {
        out[3 + 2 * i] = eddy_reshape_like(first[i + 1], all[i + 1]);
        out[4 + 2 * i] = eddy_is_valid(second[i + 1]) ? eddy_reshape_like(second[i + 1], all[i + 1])
                                                      : ZerosLike(all[i + 1]);
    }
    return 3 + 2 * n;
}

static bool run(const eddy_communicator *c, const layers *l, eddy_array **out, int *n)
{
    eddy_tensor   fetches[2 * MOST];
    *n = results(l, fetches);
    eddy_session *s = eddy_session_new(l->graph);
    const bool    ok =
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(l->graph)), NULL) == EDDY_OK &&
        eddy_run(s, EDDY_FEED(), (eddy_list){ *n, fetches }, out) == EDDY_OK;
    expect(c, ok, "%s%s", eddy_graph_message(l->graph), eddy_session_message(s));
    eddy_session_free(s);
    return ok;
}

/* Element i of this rank's part, in the whole: parts along one axis of a matrix or vector, in
 * `groups` equal groups. */
static int64_t whole_index(const eddy_communicator *c, eddy_shape part, eddy_shape whole, int64_t i,
                           int groups)
{
    const int     last = part.rank - 1, axis = part.dim[last] != whole.dim[last] ? last : 0;
    const int64_t columns = part.rank == 2 ? part.dim[1] : 1, row = i / columns,
                  column = i % columns;
    const int64_t at = axis == last && part.rank == 2 ? column : row;
    const int64_t n = whole.dim[axis] / groups, size = part.dim[axis] / groups;
    const int64_t begin = n * eddy_communicator_rank(c) / eddy_communicator_size(c);
    const int64_t moved = at / size * n + begin + at % size;
    if (part.rank == 1) return moved;
    return axis == 1 ? row * whole.dim[1] + moved : moved * columns + column;
}

static int groups_of(const char *name)
{
    return strstr(name, "qkv") ? 3 : strstr(name, "key_value") ? 2 : 1;
}

static bool same(const eddy_communicator *c, const char *what, const char *name,
                 const eddy_array *want, const eddy_array *got)
{
    const eddy_shape part = eddy_array_shape(got), whole = eddy_array_shape(want);
    const bool       divided = !eddy_shape_equal(part, whole);
    bool             ok = true;
    for (int64_t i = 0; ok && i < eddy_array_count(got); i++) {
        const int64_t at = divided ? whole_index(c, part, whole, i, groups_of(name)) : i;
        const double  w = eddy_array_get(want, at), g = eddy_array_get(got, i);
        ok = expect(c, fabs(w - g) <= 1e-9 * (1 + fabs(w)), "%s: %s[%lld] is %.17g, not %.17g",
                    what, name, (long long)i, g, w);
    }
    return ok;
}

static bool agrees(eddy_communicator *c, void (*build)(layers *l), const char *what)
{
    const int   n = eddy_communicator_size(c);
    layers      alone = layers_new(NULL, n), divided = layers_new(c, n);
    eddy_array *want[2 * MOST] = { NULL }, *got[2 * MOST] = { NULL };
    int         of_want = 0, of_got = 0;
    build(&alone);
    build(&divided);
    bool ok = run(c, &alone, want, &of_want) && run(c, &divided, got, &of_got) &&
              expect(c, of_want == of_got && of_got > 3, "%s: %d results", what, of_got);
    for (int i = 0; ok && i < of_got; i++) {
        const eddy_tensor v = i < 3 ? divided.x
                                    : eddy_collection_at(divided.graph, EDDY_TRAINABLE_VARIABLES,
                                                         (i - 3) / 2);
        ok = same(c, what, eddy_name_of(v), want[i], got[i]);
    }
    for (int i = 0; i < 2 * MOST; i++) {
        eddy_array_free(want[i]);
        eddy_array_free(got[i]);
    }
    eddy_graph_free(alone.graph);
    eddy_graph_free(divided.graph);
    return ok;
}

bool parallel_layers_agree(eddy_communicator *c)
{
    return agrees(c, dense_pair, "dense") && agrees(c, self_attention, "self-attention") &&
           agrees(c, cross_attention, "cross-attention") && agrees(c, embedding, "embedding");
}

/* ----------------------------------------------------------------- training -- */

/* Words, a transformer block that predicts the next word, and Adam. */
static eddy_tensor transformer(layers *l, eddy_dtype dtype, eddy_tensor ids, eddy_tensor next,
                               eddy_tensor *step)
{
    const int64_t heads = 4 % l->ranks == 0 ? 4 : l->ranks, n = 4 * heads;
    eddy_tensor   x = words(l, ids, n, dtype);
    eddy_tensor   y = eddy_layer_norm_layer(x);
    x = Add(x, attention(l, y, heads, EDDY_NO_TENSOR, EDDY_NO_TENSOR, true));
    y = eddy_layer_norm_layer(x);
    x = Add(x, row(l, column(l, y, 4 * n, "up"), n, "down"));
    const eddy_tensor scores = eddy_dense(x, WORDS, "scores", .seed = SEED);
    const eddy_tensor loss = eddy_mean(eddy_sparse_softmax_cross_entropy(next, scores));
    const eddy_tensor rate = eddy_number(l->graph, dtype, 0.02);
    *step = eddy_minimize(eddy_adam(l->graph, .learning_rate = rate), loss);
    return loss;
}

typedef struct training {
    layers        l;
    eddy_tensor   loss, step;
    eddy_session *session;
} training;

static training training_new(eddy_communicator *c, int ranks, eddy_dtype dtype)
{
    const int32_t ids[BATCH][LENGTH] = { { 0, 3, WORDS - 1 }, { 3, 5, 8 } };
    const int32_t following[BATCH][LENGTH] = { { 3, WORDS - 1, 1 }, { 5, 8, 2 } };
    training      t = { .l = layers_new(c, ranks) };
    eddy_graph   *g = t.l.graph;
    eddy_tensor   x = eddy_const(g, EDDY_INT32, EDDY_SHAPE(BATCH, LENGTH), ids);
    eddy_tensor   y = eddy_const(g, EDDY_INT32, EDDY_SHAPE(BATCH, LENGTH), following);
    t.loss = transformer(&t.l, dtype, x, y, &t.step);
    t.session = eddy_session_new(g);
    return t;
}

static void training_free(training *t)
{
    eddy_session_free(t->session);
    eddy_graph_free(t->l.graph);
}

static bool run_steps(const eddy_communicator *c, const training *t, double *losses)
{
    bool ok = true;
    for (int i = 0; ok && i < STEPS; i++) {
        eddy_array *out[2] = { NULL, NULL };
        ok = eddy_run(t->session, EDDY_FEED(), EDDY_FETCH(t->loss, t->step), out) == EDDY_OK;
        losses[i] = ok ? eddy_array_item(out[0]) : NAN;
        eddy_array_free(out[0]);
    }
    return expect(c, ok, "%s%s", eddy_graph_message(t->l.graph), eddy_session_message(t->session));
}

static bool start(eddy_communicator *c, const training *t)
{
    eddy_error e = { 0 };
    const bool ok = eddy_run(t->session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(t->l.graph)),
                             NULL) == EDDY_OK &&
                    eddy_broadcast_variables(c, 0, t->l.graph, t->session, &e);
    return expect(c, ok, "%s%s%s", e.message, eddy_graph_message(t->l.graph),
                  eddy_session_message(t->session));
}

static bool same_losses(const eddy_communicator *c, const double *want, const double *got)
{
    bool ok = true;
    for (int i = 0; ok && i < STEPS; i++)
        ok = expect(c, fabs(want[i] - got[i]) <= 1e-6 * want[i], "loss %d is %.9g, not %.9g", i,
                    got[i], want[i]);
    return ok;
}

bool parallel_trainings_agree(eddy_communicator *c)
{
    const int        n = eddy_communicator_size(c);
    const eddy_dtype dtype = n == 1 || n == 2 || n == 4 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    training         alone = training_new(NULL, n, dtype), divided = training_new(c, n, dtype);
    double           want[STEPS], got[STEPS];
    const bool       ok = start(c, &alone) && start(c, &divided) && run_steps(c, &alone, want) &&
                          run_steps(c, &divided, got) && same_losses(c, want, got) &&
                    expect(c, want[STEPS - 1] < 0.8 * want[0], "the loss is %g and was %g",
                           want[STEPS - 1], want[0]);
    training_free(&alone);
    training_free(&divided);
    return ok;
}

/* ---------------------------------------------------------------- checkpoints -- */

/* The ranks save after some steps; one process and other ranks go on alike, with the slots of
 * Adam. */
bool parallel_checkpoints_agree(eddy_communicator *c)
{
    const int   n = eddy_communicator_size(c);
    char        folder[200], path[260], command[220];
    eddy_error  e = { 0 };
    eddy_array *pid = eddy_array_of(EDDY_INT32, (int)getpid());
    training    alone = training_new(NULL, n, EDDY_FLOAT64);
    training divided = training_new(c, n, EDDY_FLOAT64), again = training_new(c, n, EDDY_FLOAT64);
    double      want[STEPS], got[STEPS], other[STEPS];
    bool        ok = expect(c, eddy_array_broadcast(c, 0, pid, &e), "%s", e.message);
    snprintf(folder, sizeof folder, "%.150s/eddy-parallel-%d",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)eddy_array_item(pid));
    snprintf(path, sizeof path, "%s/m.safetensors.index.json", folder);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (eddy_communicator_rank(c) == 0) mkdir(folder, 0700);
    ok = ok && eddy_rank_barrier(c, &e) && start(c, &divided) && run_steps(c, &divided, want) &&
         expect(c, eddy_save_ranks(c, divided.l.graph, divided.session, path, &e), "%s",
                e.message) &&
         expect(c, eddy_restore(alone.session, path, EDDY_LIST()) == EDDY_OK, "%s",
                eddy_session_message(alone.session)) &&
         expect(c, eddy_restore_part(again.l.graph, again.session, path, &e), "%s", e.message) &&
         run_steps(c, &divided, want) && run_steps(c, &alone, got) && run_steps(c, &again, other) &&
         same_losses(c, want, got) && same_losses(c, want, other);
    ok = ok && expect(c, eddy_rank_barrier(c, &e), "%s", e.message);
    if (eddy_communicator_rank(c) == 0) ok = expect(c, system(command) == 0, "the folder") && ok;
    eddy_array_free(pid);
    training_free(&alone);
    training_free(&divided);
    training_free(&again);
    return ok && expect(c, eddy_rank_barrier(c, &e), "%s", e.message);
}
