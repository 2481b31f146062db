/* training.c -- trainings of several ranks, compared with one process that has all
 * examples. */
#include "tests/lib/ranks/model.h"

#include "ops/short_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLES = RANK_EXAMPLES, STEPS = 6 };

/* Which examples rank r of n has. */
typedef struct share {
    int from, count;
} share;

static share even(int n, int r) { return (share){ r * (EXAMPLES / n), EXAMPLES / n }; }

/* The last rank has most of them, and one in the middle none. */
static share uneven(int n, int r)
{
    if (n == 1) return (share){ 0, EXAMPLES };
    const int each = 2, empty = n > 2 ? 1 : -1;
    int       from = 0;
    for (int i = 0; i < r; i++) from += i == empty ? 0 : each;
    return (share){ from, r == n - 1 ? EXAMPLES - from : r == empty ? 0 : each };
}

/* Runs the steps with the examples of a share; the values of all variables at the end. */
static bool train(const eddy_communicator *c, const rank_model *m, eddy_session *s, share part,
                  eddy_array **values)
{
    const bool ok = rank_model_steps(c, m, s, 0, STEPS, part.from, part.count);
    for (int i = 0; ok && i < RANK_VARIABLES; i++)
        values[i] =
            eddy_variable_value(s, eddy_collection_at(m->graph, EDDY_TRAINABLE_VARIABLES, i));
    return ok;
}

/* The wrappers around Adam. */
typedef enum around { NOTHING, CLIPPED, SCALED, ACCUMULATED } around;

static eddy_optimizer *optimizer(eddy_graph *g, around w)
{
    eddy_optimizer *o = eddy_adam(g, .learning_rate = eddy_number(g, EDDY_FLOAT64, 0.05));
    switch (w) {
    case CLIPPED: return eddy_clipped_gradients(o, .global_norm = eddy_scalar(g, 0.1));
    case SCALED: return eddy_loss_scale(o);
    case ACCUMULATED: return eddy_accumulate_gradients(o, 2);
    case NOTHING: break;
    }
    return o;
}

/* Sparse gradients of variables of at most `dense` bytes travel as dense ones. */
static bool training_agrees(eddy_communicator *c, around w, share (*of)(int n, int r),
                            int64_t bucket, bool overlap, int64_t dense)
{
    const int   n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const bool  weighted = of == uneven;
    eddy_error  e = { 0 };
    eddy_array *want[RANK_VARIABLES] = { NULL }, *got[RANK_VARIABLES] = { NULL };
    rank_model  alone = rank_model_build(), shared = rank_model_build();
    alone.step = eddy_minimize(optimizer(alone.graph, w), alone.loss);
    eddy_optimizer *o = weighted
        ? eddy_distributed(optimizer(shared.graph, w), c, .examples = shared.examples,
                           .overlap = overlap, .dense_bytes = dense)
        : eddy_distributed(optimizer(shared.graph, w), c, .bucket_bytes = bucket,
                           .overlap = overlap, .dense_bytes = dense);
    shared.step = eddy_minimize(o, shared.loss);
    eddy_session *s = eddy_session_new(alone.graph), *t = eddy_session_new(shared.graph);
    bool            ok =
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(alone.graph)), NULL) == EDDY_OK &&
        eddy_run(t, EDDY_FEED(), EDDY_FETCH(eddy_initializer(shared.graph)), NULL) == EDDY_OK;
    if (ok && me > 0)                            /* only rank 0's beginning counts */
        eddy_variable_set(t, eddy_collection_at(shared.graph, EDDY_TRAINABLE_VARIABLES, 2),
                          EDDY_DOUBLES(9, 9, 9, 9, 9, 9, 9));
    ok = expect(c, ok, "%s%s", eddy_session_message(s), eddy_session_message(t)) &&
         expect(c, eddy_broadcast_variables(c, 0, shared.graph, t, &e), "%s", e.message) &&
         train(c, &alone, s, (share){ 0, EXAMPLES }, want) &&
         train(c, &shared, t, of(n, me), got);
    for (int v = 0; ok && v < RANK_VARIABLES; v++)
        for (int64_t i = 0; ok && i < eddy_array_count(want[v]); i++)
            ok = expect(c, fabs(eddy_array_get(want[v], i) - eddy_array_get(got[v], i)) < 1e-9,
                        "wrapper %d, variable %d, element %lld: %.17g, not %.17g", (int)w, v,
                        (long long)i, eddy_array_get(got[v], i), eddy_array_get(want[v], i));
    for (int v = 0; v < RANK_VARIABLES; v++) {
        eddy_array_free(want[v]);
        eddy_array_free(got[v]);
    }
    eddy_session_free(s);
    eddy_session_free(t);
    eddy_graph_free(alone.graph);
    eddy_graph_free(shared.graph);
    return ok;
}

bool trainings_agree(eddy_communicator *c)
{
    const bool divides = EXAMPLES % eddy_communicator_size(c) == 0;
    bool       ok = true;
    for (int overlap = 0; ok && divides && overlap < 2; overlap++)
        ok = training_agrees(c, NOTHING, even, 1, overlap, 0) &&
             training_agrees(c, NOTHING, even, 1 << 20, overlap, 0) &&
             training_agrees(c, CLIPPED, even, 100, overlap, 0) &&
             training_agrees(c, SCALED, even, 100, overlap, 0) &&
             training_agrees(c, ACCUMULATED, even, 1 << 20, overlap, 0) &&
             training_agrees(c, NOTHING, even, 100, overlap, 1 << 20);
    return ok && training_agrees(c, NOTHING, uneven, 0, false, 0) &&
           training_agrees(c, NOTHING, uneven, 0, false, 1 << 20) &&
           training_agrees(c, CLIPPED, uneven, 0, true, 0);
}

/* A gradient that is infinite on one rank: no rank takes the step, and all lower the scale. */
bool skips_agree(eddy_communicator *c)
{
    const int       last = eddy_communicator_size(c) - 1, me = eddy_communicator_rank(c);
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor     v = eddy_variable(g, eddy_scalar(g, 3), .name = "v");
    eddy_optimizer *scaled = eddy_loss_scale(eddy_gradient_descent(g, eddy_scalar(g, 0.5)),
                                             .loss_scale = eddy_scalar(g, 8));
    eddy_tensor     step = eddy_minimize(eddy_distributed(scaled, c), Mul(v, x));
    eddy_session   *s = eddy_session_new(g);
    eddy_array     *out[2] = { NULL, NULL };
    bool ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK;
    for (int t = 0; ok && t < 2; t++) {
        const double factor = t == 0 && me == last ? INFINITY : 1;
        ok = eddy_run(s, EDDY_FEED({ x, EDDY_NUMBER(EDDY_FLOAT32, factor) }), EDDY_FETCH(step),
                      NULL) == EDDY_OK &&
             eddy_run(s, EDDY_FEED(), EDDY_FETCH(v, eddy_loss_scale_of(scaled)), out) == EDDY_OK;
        const double want = t == 0 ? 3 : 2.5;
        ok = expect(c, ok, "%s", eddy_session_message(s)) &&
             expect(c, eddy_array_item(out[0]) == want && eddy_array_item(out[1]) == 4,
                    "step %d: v is %g, the scale %g", t, eddy_array_item(out[0]),
                    eddy_array_item(out[1]));
    }
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

/* Gradients that bfloat16 does not have, the same in each step: what is lost in one comes in
 * another, so the sum of all steps is exact up to one rounding on each way. */
bool compression_agrees(eddy_communicator *c)
{
    enum { SIZE = 13, TURNS = 40 };
    const int       n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    float           own[SIZE];
    double          want[SIZE] = { 0 };
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(SIZE));
    eddy_tensor     v = eddy_variable(g, ZerosLike(x), .name = "v");
    eddy_tensor     w = eddy_variable(g, eddy_scalar(g, 0), .name = "w");
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    eddy_tensor     loss = Add(eddy_sum(Mul(v, x)), Mul(w, 1.001));
    eddy_tensor     step = eddy_minimize(eddy_distributed(o, c, .compress = true), loss);
    eddy_session   *s = eddy_session_new(g);
    eddy_array     *out[2] = { NULL, NULL };
    for (int i = 0; i < SIZE; i++) {
        own[i] = (float)(1 + sin(i + 3 * me) / 3);
        for (int r = 0; r < n; r++) want[i] -= (double)(float)(1 + sin(i + 3 * r) / 3) * TURNS / n;
    }
    bool ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK;
    for (int t = 0; ok && t < TURNS; t++)
        ok = eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(own, SIZE) }), EDDY_FETCH(step), NULL) == EDDY_OK;
    ok = ok && eddy_run(s, EDDY_FEED(), EDDY_FETCH(v, w), out) == EDDY_OK;
    ok = expect(c, ok, "%s%s", eddy_graph_message(g), eddy_session_message(s));
    for (int i = 0; ok && i < SIZE; i++)
        ok = expect(c, fabs(eddy_array_get(out[0], i) - want[i]) < 0.02,
                    "element %d is %g, not %g", i, eddy_array_get(out[0], i), want[i]);
    ok = ok && expect(c, fabs(eddy_array_item(out[1]) + 1.001 * TURNS) < 0.02, "w is %g",
                      eddy_array_item(out[1]));
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

/* If no rank has examples, the gradients are 0, although that of each rank's mean loss is 0/0. */
bool empties_agree(eddy_communicator *c)
{
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor     v = eddy_variable(g, eddy_scalar(g, 3), .name = "v");
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 0.5));
    o = eddy_distributed(o, c, .examples = eddy_size(x, EDDY_INT32));
    eddy_tensor     step = eddy_minimize(o, eddy_mean(Mul(v, x)));
    eddy_session   *s = eddy_session_new(g);
    eddy_array     *none = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(0)), *out = NULL;
    const bool      ok =
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK &&
        eddy_run(s, EDDY_FEED({ x, none }), EDDY_FETCH(step), NULL) == EDDY_OK &&
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(v), &out) == EDDY_OK;
    const bool good = expect(c, ok, "%s", eddy_session_message(s)) &&
                      expect(c, eddy_array_item(out) == 3, "v is %g", eddy_array_item(out));
    eddy_array_free(none);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
    return good;
}

/* The trace of a session has each collective, with its node, and waits for other runs. */
bool traces_show_collectives(eddy_communicator *c)
{
    char         *text = NULL;
    size_t        size = 0;
    FILE         *to = open_memstream(&text, &size);
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   one = eddy_constant(g, eddy_eval(eddy_scalar(g, 1)));
    eddy_tensor   sum = eddy_named("sum", eddy_all_reduce(c, one));
    eddy_session *s = eddy_session_new(g, .trace = true);
    bool ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(sum), NULL) == EDDY_OK &&
              eddy_session_trace(s, to) == EDDY_OK;
    ok = expect(c, ok, "%s%s", eddy_graph_message(g), eddy_session_message(s));
    fclose(to);
    ok = ok && expect(c, strstr(text, "\"name\": \"AllReduce\", \"cat\": \"node\"") != NULL,
                      "no collective in %s", text);
    ok = ok && expect(c, strstr(text, "wait for other runs") != NULL, "no wait in %s", text);
    free(text);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

const rank_scenario rank_scenarios[] = {
    { "collectives", collectives_agree },
    { "integers", integers_agree },
    { "complex numbers", complex_numbers_agree },
    { "halves", halves_agree },
    { "groups", groups_agree },
    { "arrays", arrays_agree },
    { "maps", maps_agree }, { "loops", loops_agree },
    { "trainings", trainings_agree },
    { "skips", skips_agree },
    { "empties", empties_agree },
    { "traces", traces_show_collectives },
    { "compression", compression_agrees },
    { "shardings", shardings_agree },
    { "slots", slots_are_divided },
    { "checkpoints", checkpoints_agree },
    { "failed saves", failed_saves_leave_nothing },
    { "optimizers", optimizers_agree },
    { "divided", divided_variables_agree },
    { "memory", variables_are_divided },
    { "parallel", parallel_layers_agree },
    { "batch norm", sync_batch_norms_agree },
    { "minimizers", minimizers_agree },
    { "block", parallel_trainings_agree },
    { "parts", parallel_checkpoints_agree },
    { NULL, NULL },
};
