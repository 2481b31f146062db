/* accumulate.c -- gradient accumulation: one update for the gradients of several runs.
 *
 *   sum <- sum + g
 *   at every k-th run  the inner step with sum / k,  sum <- 0
 *
 * Pairwise, slot i holds the sum of 2^i gradients while it waits for the next 2^i, as in a binary
 * counter.
 *
 * A graph has no branches: the inner step is computed in each run, and written in every k-th
 * run. */
#include "optim/wrappers/gradient_sums.h"
#include "optim/wrappers/wrappers_internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <math.h>

typedef struct accumulate_state {
    eddy_optimizer *inner;
    int64_t         steps;
    bool            sum;
    int             levels;       /* pairwise: log2 k; else -1 */
    eddy_tensor     run;          /* 1, 2, ... k */
    eddy_tensor     due;          /* true in every k-th run */
} accumulate_state;

/* Slots of the pairwise sums; the first is that of the plain sum. */
static const char *const sum_names[] = {
    "gradient_sum",    "gradient_sum_1",  "gradient_sum_2",  "gradient_sum_3",  "gradient_sum_4",
    "gradient_sum_5",  "gradient_sum_6",  "gradient_sum_7",  "gradient_sum_8",  "gradient_sum_9",
    "gradient_sum_10", "gradient_sum_11", "gradient_sum_12", "gradient_sum_13", "gradient_sum_14",
    "gradient_sum_15",
};
enum { MOST_LEVELS = sizeof sum_names / sizeof *sum_names };

static int slots_of(const accumulate_state *s) { return s->levels < 0 ? 1 : s->levels; }

static void accumulate_slots(eddy_optimizer *o, eddy_tensor v)
{
    const accumulate_state *s = eddy_optimizer_state(o);
    eddy__inner_slots(s->inner, v);
    eddy_make_shared_slot(o, "accumulate_step", eddy_number(o->graph, EDDY_INT64, 0));
    if (eddy_is_valid(eddy_get_slot(o, v, sum_names[0]))) return;
    for (int i = 0; i < slots_of(s); i++)
        eddy_collection_add(o->graph, EDDY_GRADIENT_SUMS, eddy__zero_slot(o, v, sum_names[i]));
}

static void accumulate_prepare(eddy_optimizer *o)
{
    accumulate_state *s = eddy_optimizer_state(o);
    s->run = Add(eddy__shared_slot(o, "accumulate_step"), 1);
    s->due = Equal(FloorMod(s->run, (double)s->steps), 0);
    eddy__inner_prepare(s->inner);
}

/* Adds g to the sums of pairs. In runs that are multiples of 2^i, a sum of 2^i gradients reaches
 * slot i: an empty slot keeps it; else their sum moves on, in multiples of 2^(i + 1). */
static eddy_tensor add_pairwise(eddy_optimizer *o, eddy_tensor g, eddy_tensor v, eddy_tensor *kept)
{
    const accumulate_state *s = eddy_optimizer_state(o);
    eddy_tensor             all[MOST_LEVELS];
    for (int i = 0; i < s->levels; i++) {
        const eddy_tensor slot = eddy_get_slot(o, v, sum_names[i]);
        const eddy_tensor reached = Equal(FloorMod(s->run, ldexp(1, i)), 0);
        const eddy_tensor empty = NotEqual(FloorMod(s->run, ldexp(2, i)), 0);
        all[i] = eddy_assign(slot, Where(LogicalAnd(reached, empty), g, slot));
        g = Add(slot, g);
    }
    *kept = eddy_group(o->graph, (eddy_list){ s->levels, all }, NULL);
    return g;
}

/* The gradient for the inner step; *kept is the assignment to the slots. */
static eddy_tensor accumulated(eddy_optimizer *o, eddy_tensor g, eddy_tensor v, eddy_tensor *kept)
{
    const accumulate_state *s = eddy_optimizer_state(o);
    if (s->levels >= 0) {
        const eddy_tensor all = add_pairwise(o, g, v, kept);
        return s->sum ? all : Div(all, (double)s->steps);
    }
    eddy_tensor slot = eddy_get_slot(o, v, "gradient_sum"), sum = Add(slot, g);
    *kept = eddy_assign(slot, Where(s->due, ZerosLike(sum), sum));
    return s->sum ? sum : Div(sum, (double)s->steps);
}

/* If the inner optimizer has a `transform`, it gets the accumulated gradients. */
static void accumulate_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const int32_t from = eddy_graph_size(o->graph);
    for (int i = 0; i < count; i++) {
        const eddy_gradient_pair p = pairs[i];
        if (p.gradient.node == 0) continue;
        eddy_tensor slot = eddy_get_slot(o, p.variable, sum_names[0]), kept;
        if (eddy_is_valid(slot) && !eddy_same(eddy__latest(slot, from), slot))
            eddy_fail(o->graph, EDDY_INVALID_ARGUMENT, "%s: '%s' is listed twice", o->name,
                      eddy_name_of(p.variable));
        pairs[i].gradient = accumulated(o, eddy__shaped(p.gradient, p.variable), p.variable, &kept);
    }
    eddy__inner_transform(o, pairs, count);
}

/* The assignments to the slots. */
static eddy_tensor latest_sums(eddy_optimizer *o, eddy_tensor v)
{
    const int   n = slots_of(eddy_optimizer_state(o));
    eddy_tensor all[MOST_LEVELS];
    for (int i = 0; i < n; i++) all[i] = eddy__latest(eddy_get_slot(o, v, sum_names[i]), 0);
    return eddy_group(o->graph, (eddy_list){ n, all }, NULL);
}

static eddy_tensor accumulate_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const accumulate_state *s = eddy_optimizer_state(o);
    eddy_tensor kept, mean = g;
    if (o->def.transform) kept = latest_sums(o, v);
    else mean = accumulated(o, g, v, &kept);
    eddy_id_range range = { .from = eddy_graph_size(o->graph) };
    eddy_tensor   step = eddy__inner_dense(s->inner, mean, v);
    if (eddy_variable_constraint(v, NULL)) {
        eddy_tensor next = eddy__constrained(eddy__latest(v, range.from), v);
        step = eddy_group(o->graph, EDDY_LIST(step, eddy_assign(v, next)), NULL);
    }
    o->constrains = true;         /* in every k-th run, with the step */
    range.to = eddy_graph_size(o->graph);
    return eddy_group(o->graph, EDDY_LIST(eddy__keep_if(o, &range, step, s->due), kept), NULL);
}

static eddy_tensor accumulate_finish(eddy_optimizer *o, eddy_list updates)
{
    const accumulate_state *s = eddy_optimizer_state(o);
    eddy_id_range           range = { .from = eddy_graph_size(o->graph) };
    eddy_tensor             done = eddy__inner_finish(s->inner, updates);
    range.to = eddy_graph_size(o->graph);
    eddy_tensor step = eddy__shared_slot(o, "accumulate_step");
    eddy_tensor next = FloorMod(s->run, (double)s->steps);
    done = eddy__keep_if(o, &range, done, s->due);
    eddy_control_begin(o->graph, EDDY_LIST(done));
    done = eddy_assign(step, next);
    eddy_control_end(o->graph);
    return done;
}

static const eddy_optimizer_def accumulate = {
    .name = "AccumulateGradients", .state_size = sizeof(accumulate_state),
    .create_slots = accumulate_slots, .prepare = accumulate_prepare,
    .apply_dense = accumulate_dense, .finish = accumulate_finish,
};

eddy_optimizer *eddy_accumulate_gradients_with(const eddy_accumulate_gradients_args *given)
{
    eddy_accumulate_gradients_args a = EDDY_TAKE(eddy_accumulate_gradients_args, given);
    eddy_graph *g = eddy__inner_graph(NULL, "AccumulateGradients", a.optimizer);
    if (!g) return NULL;
    if (a.steps <= 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "AccumulateGradients: steps is %lld; it must be positive", (long long)a.steps);
        return NULL;
    }
    int levels = a.pairwise ? 0 : -1;
    while (a.pairwise && levels <= MOST_LEVELS && (int64_t)1 << levels < a.steps) levels++;
    if (levels > MOST_LEVELS || (a.pairwise && (int64_t)1 << levels != a.steps)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "AccumulateGradients: steps is %lld; pairwise, it must be a "
                  "power of two up to %d",
                  (long long)a.steps, 1 << MOST_LEVELS);
        return NULL;
    }
    const accumulate_state s = { a.optimizer, a.steps, a.sum, levels, eddy_none(g), eddy_none(g) };
    eddy_optimizer_def def = accumulate;
    def.takes_complex = a.optimizer->def.takes_complex;
    if (a.optimizer->def.transform) def.transform = accumulate_transform;
    return eddy__outer_new(g, &def, &s, a.name);
}
