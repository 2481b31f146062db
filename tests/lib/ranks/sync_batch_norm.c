/* sync_batch_norm.c -- batch normalization over the examples of all ranks, compared with that of
 * one process that has all examples. */
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <string.h>

enum { EXAMPLES = 16, SIZE = 12, STEPS = 3 };

typedef enum kind { FLAT, IMAGES, CHANNELS_FIRST, WHEN, WHEN_IMAGES, KINDS } kind;

/* c is NULL in one process. */
typedef struct model {
    eddy_communicator *c;
    eddy_graph        *graph;
    eddy_session      *session;
    eddy_tensor        x, examples, when, y, step, updates;
} model;

static eddy_tensor normalized(const model *m, kind k, bool weighted, eddy_tensor x)
{
    const eddy_tensor  when = k == WHEN || k == WHEN_IMAGES ? m->when : EDDY_NO_TENSOR;
    const bool         training = !when.graph;
    const int64_t      axis = k == CHANNELS_FIRST ? 1 : -1;
    if (!m->c)
        return eddy_batch_norm_layer(x, .training = training, .training_when = when, .axis = axis,
                                     .momentum = 0.7);
    return eddy_sync_batch_norm_layer(m->c, weighted ? m->examples : EDDY_NO_TENSOR, x,
                                      .training = training, .training_when = when, .axis = axis,
                                      .momentum = 0.7);
}

static model build(eddy_communicator *c, kind k, bool weighted)
{
    const bool  flat = k == FLAT || k == WHEN;
    model       m = { .c = c, .graph = eddy_graph_new(.seed = 7) };
    eddy_graph *g = m.graph;
    m.x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, SIZE));
    m.examples = eddy_placeholder(g, "examples", EDDY_INT32, EDDY_SCALAR);
    m.when = eddy_placeholder(g, "when", EDDY_BOOL, EDDY_SCALAR);
    eddy_tensor h = eddy_dense(m.x, SIZE, "in", .seed = 1);
    h = eddy_reshape(h, flat ? EDDY_SHAPE(-1, SIZE) : EDDY_SHAPE(-1, 2, 3, 2));
    h = eddy_tanh(normalized(&m, k, weighted, h));
    m.y = eddy_dense(eddy_reshape(h, EDDY_SHAPE(-1, SIZE)), 2, "out", .seed = 2);
    eddy_tensor     target = eddy_slice(m.x, EDDY_DIMS(0, 0), EDDY_DIMS(-1, 2));
    eddy_tensor     loss = eddy_mean(Square(Sub(m.y, target)));
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_number(g, EDDY_FLOAT64, 0.5));
    if (c && weighted) o = eddy_distributed(o, c, .examples = m.examples);
    else if (c) o = eddy_distributed(o, c);
    m.step = eddy_minimize(o, loss);
    m.updates = eddy_update_ops(g, NULL);
    m.session = eddy_session_new(g);
    return m;
}

static void release(model *m)
{
    eddy_session_free(m->session);
    eddy_graph_free(m->graph);
}

/* The examples of rank r of n: uneven ones leave none for one rank in the middle, or the first. */
static void share_of(bool uneven, int n, int r, int *from, int *count)
{
    const int empty = n > 2 ? 1 : n == 2 ? 0 : -1, each = 1;
    *from = r * (EXAMPLES / n);
    *count = EXAMPLES / n;
    if (!uneven) return;
    *from = 0;
    for (int i = 0; i < r; i++) *from += i == empty ? 0 : each;
    *count = r == empty ? 0 : r == n - 1 ? EXAMPLES - *from : each;
}

/* y of the examples; with `training` a step, too. */
static eddy_array *run(const eddy_communicator *c, const model *m, int t, int from, int count,
                       bool training)
{
    double      x[EXAMPLES][SIZE];
    eddy_array *out[3] = { NULL, NULL, NULL };
    for (int i = 0; i < count; i++)
        for (int j = 0; j < SIZE; j++) x[i][j] = sin((from + i) * 3.1 + j * j + t) + j;
    eddy_array *fed = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(count, SIZE), x);
    eddy_array *examples = eddy_array_of(EDDY_INT32, count);
    eddy_array *when = eddy_array_of(EDDY_BOOL, training);
    const eddy_tensor fetches[] = { m->y, m->step, m->updates };
    const bool ok = eddy_run(m->session,
                             EDDY_FEED({ m->x, fed }, { m->examples, examples }, { m->when, when }),
                             (eddy_list){ training ? 3 : 1, fetches }, out) == EDDY_OK;
    expect(c, ok, "%s%s", eddy_graph_message(m->graph), eddy_session_message(m->session));
    eddy_array_free(fed);
    eddy_array_free(examples);
    eddy_array_free(when);
    return out[0];
}

/* The rows of `got` are those of `want` from a number on. */
static bool same_rows(const eddy_communicator *c, const char *what, const eddy_array *want,
                      int from, const eddy_array *got, double bound)
{
    bool             ok = want && got;
    const eddy_shape s = ok ? eddy_array_shape(got) : EDDY_SCALAR;
    const int64_t    columns = s.rank == 2 ? s.dim[1] : 1;
    for (int64_t i = 0; ok && i < eddy_array_count(got); i++) {
        const double w = eddy_array_get(want, from * columns + i), g = eddy_array_get(got, i);
        ok = expect(c, fabs(w - g) <= bound * (1 + fabs(w)), "%s[%lld] is %.17g, not %.17g", what,
                    (long long)i, g, w);
    }
    return ok;
}

static bool same_variables(const eddy_communicator *c, const model *want, const model *got)
{
    const int n = eddy_collection_size(want->graph, EDDY_GLOBAL_VARIABLES);
    bool      ok = expect(c, n == 8 && eddy_collection_size(got->graph, EDDY_GLOBAL_VARIABLES) == n,
                          "%d variables", n);
    for (int i = 0; ok && i < n; i++) {
        const eddy_tensor a = eddy_collection_at(want->graph, EDDY_GLOBAL_VARIABLES, i);
        const eddy_tensor b = eddy_collection_at(got->graph, EDDY_GLOBAL_VARIABLES, i);
        eddy_array *w = eddy_variable_value(want->session, a);
        eddy_array *g = eddy_variable_value(got->session, b);
        ok = expect(c, strcmp(eddy_name_of(a), eddy_name_of(b)) == 0, "names") &&
             same_rows(c, eddy_name_of(a), w, 0, g, 1e-9);
        eddy_array_free(w);
        eddy_array_free(g);
    }
    return ok;
}

/* With the variables of the ranks' model, the plain layer has the same bits without training. */
static bool same_inference(const eddy_communicator *c, const model *plain, const model *shared)
{
    bool ok = true;
    for (int i = 0; i < eddy_collection_size(plain->graph, EDDY_GLOBAL_VARIABLES); i++) {
        eddy_array *v = eddy_variable_value(
            shared->session, eddy_collection_at(shared->graph, EDDY_GLOBAL_VARIABLES, i));
        ok = ok && eddy_variable_set(plain->session,
                                     eddy_collection_at(plain->graph, EDDY_GLOBAL_VARIABLES, i),
                                     v) == EDDY_OK;
        eddy_array_free(v);
    }
    eddy_array *want = run(c, plain, 9, 0, 5, false), *got = run(c, shared, 9, 0, 5, false);
    ok = ok && same_rows(c, "inference", want, 0, got, 0);
    eddy_array_free(want);
    eddy_array_free(got);
    return ok;
}

static bool agrees(eddy_communicator *c, kind k, bool uneven)
{
    const int n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int examples = uneven ? EXAMPLES : EXAMPLES / n * n;
    int       from, count;
    model     alone = build(NULL, k, false), shared = build(c, k, uneven);
    share_of(uneven, n, me, &from, &count);
    bool ok = eddy_run(alone.session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(alone.graph)),
                       NULL) == EDDY_OK &&
              eddy_run(shared.session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(shared.graph)),
                       NULL) == EDDY_OK;
    expect(c, ok, "%s%s", eddy_graph_message(shared.graph), eddy_session_message(shared.session));
    for (int t = 0; ok && t < STEPS; t++) {
        eddy_array *want = run(c, &alone, t, 0, examples, true);
        eddy_array *got = run(c, &shared, t, from, count, true);
        ok = same_rows(c, "y", want, from, got, 1e-9) && same_variables(c, &alone, &shared);
        eddy_array_free(want);
        eddy_array_free(got);
    }
    if (k == WHEN || k == WHEN_IMAGES) ok = ok && same_inference(c, &alone, &shared);
    release(&alone);
    release(&shared);
    return expect(c, ok, "kind %d, %s shares", k, uneven ? "uneven" : "even");
}

bool sync_batch_norms_agree(eddy_communicator *c)
{
    for (int k = 0; k < KINDS; k++)
        if (!agrees(c, k, false) || !agrees(c, k, true)) return false;
    return true;
}
