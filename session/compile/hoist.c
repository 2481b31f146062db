/* hoist.c -- hoisting: moves invariant nodes out of the repeated part of a plan.
 *
 * A plan runs many times. A value that depends only on constants and on variables that the plan
 * does not update is the same in each of its runs until other code changes one of these variables:
 * its node is called invariant. Invariant nodes move to the front of the IR. Their instructions
 * run when a variable that they read has changed (run.c), and their values stay in memory if other
 * nodes read them or if they are fetched: these values are kept.
 *
 * A value is kept only if that costs little memory and saves more than recomputing it in the
 * loop that reads it. Invariant nodes whose values are not kept are not moved. */
#include "session/compile/ir.h"

/* Values up to SMALL_BYTES are always kept. Reading a value takes as long as computing it in an
 * elementwise loop, unless that needs at least HEAVY_FLOPS operations per element. Up to
 * SPARE_BYTES may be kept even if the constants and variables occupy less. MAX_SEARCH bounds
 * the search. */
enum { SMALL_BYTES = 4096, HEAVY_FLOPS = 4, SPARE_BYTES = 1 << 16, MAX_SEARCH = 256 };

/* AVAILABLE: present before the run, or a view of such a value. COMPUTED: computed from
 * invariant nodes. */
enum { VARYING = 0, AVAILABLE = 1, COMPUTED = 2 };

typedef struct hoisting {
    compile  *c;
    ir_graph *ir;
    uint8_t  *updated;              /* by variable */
    uint8_t  *kind;                 /* by node: VARYING, AVAILABLE or COMPUTED */
    uint8_t  *wanted;               /* by node: needed in each run, by a fetch or a varying node */
    double   *flops;                /* by node: arithmetic of COMPUTED nodes */
    int32_t  *seen;                 /* by node: the last node whose cost calculation visited it */
    int32_t   stack[MAX_SEARCH];
    uint64_t  budget;               /* bytes that may be kept */
} hoisting;

static uint64_t result_bytes(const ir_node *n)
{
    uint64_t bytes = 0;
    const int n_outputs = n->variable >= 0 ? 1 : n->n_outputs;
    for (int k = 0; k < n_outputs; k++) bytes += eddy__type_bytes(n->outputs[k]);
    return bytes;
}

/* The outputs are input 0's memory. */
static bool shares(const ir_node *n) { return n->alias || eddy__ir_is_view(n); }

static bool is_loop(const ir_node *n) { return n->op->flags & EDDY_OP_ELEMENTWISE; }

/* ---------------------------------------------------------- invariant nodes -- */

static bool is_given(const hoisting *h, const ir_node *n)
{
    if (n->n_controls > 0 || n->n_inputs > 0) return n->values && n->n_controls == 0;
    if (n->variable >= 0)
        return !h->updated[n->variable] && eddy_shape_is_known(n->source->outputs[0].shape);
    return n->values || n->op == &eddy_op_type_only;
}

/* True if equal inputs give equal outputs and the node has no other effect. */
static bool is_repeatable(const ir_node *n)
{
    enum { NOT = EDDY_OP_REFERENCE | EDDY_OP_DYNAMIC };
    return eddy__ir_is_pure(n) && n->feed < 0 && n->n_controls == 0 && !n->effect &&
           !(n->op->flags & NOT) && (shares(n) || eddy__kernel_of(n->op));
}

static uint8_t kind_of(const hoisting *h, const ir_node *n)
{
    if (is_given(h, n)) return AVAILABLE;
    if (!is_repeatable(n)) return VARYING;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor t = n->inputs[i];
        const bool        storage = h->ir->nodes[t.node]->variable >= 0 && t.output == STORAGE;
        if (storage || h->kind[t.node] == VARYING) return VARYING;
    }
    return shares(n) ? h->kind[n->inputs[0].node] : COMPUTED;
}

static void find_updates(hoisting *h)
{
    for (int32_t id = 1; id <= h->ir->size; id++) {
        const ir_node *n = h->ir->nodes[id];
        if (n->op->flags & EDDY_OP_UPDATES)
            h->updated[h->ir->nodes[n->inputs[0].node]->variable] = 1;
    }
}

/* Marks the nodes whose values runs need. A node that shares the memory of its input needs that
 * input. */
static void find_wanted(hoisting *h)
{
    const ir_graph *f = h->ir;
    for (int32_t id = 1; id <= f->size; id++) h->wanted[id] = 0;
    for (int i = 0; i < h->c->plan->n_fetches; i++) h->wanted[f->fetches[i].node] = 1;
    for (int32_t id = f->size; id >= 1; id--) {
        const ir_node *n = f->nodes[id];
        if (h->kind[id] == COMPUTED && !(h->wanted[id] && shares(n))) continue;
        for (int i = 0; i < n->n_inputs; i++) h->wanted[n->inputs[i].node] = 1;
    }
}

/* ------------------------------------------------------------- profitability -- */

/* The cost of computing a value. */
typedef struct value_cost {
    uint64_t bytes;                 /* of the inputs of the computation, each counted once */
    double   flops;
    bool     heavy;                 /* not only by loops over elements */
} value_cost;

/* Counts the arithmetic of nodes that are computed from invariant nodes. */
static bool find_flops(hoisting *h)
{
    const ir_graph *f = h->ir;
    int32_t         most = 0;
    for (int32_t id = 1; id <= f->size; id++)
        if (f->nodes[id]->n_inputs > most) most = f->nodes[id]->n_inputs;
    eddy_type *in = eddy__stage_alloc(h->c, (size_t)most, sizeof *in);
    if (!in) return false;
    for (int32_t id = 1; id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        if (h->kind[id] != COMPUTED || shares(n)) continue;
        for (int i = 0; i < n->n_inputs; i++) in[i] = eddy__ir_type(f, n->inputs[i]);
        if (n->op->flops) h->flops[id] = n->op->flops(n->attrs, n->n_inputs, in, n->outputs);
        else if (is_loop(n)) h->flops[id] = (double)eddy_shape_count(n->outputs[0].shape);
    }
    return true;
}

static void add_cost(const hoisting *h, const ir_node *n, value_cost *m)
{
    m->flops += h->flops[n->id];
    m->heavy = m->heavy || (h->flops[n->id] > 0 && !is_loop(n));
}

/* Walks from n back to values that are available without n: constants, variables and kept
 * values. */
static value_cost cost_of(hoisting *h, const ir_node *n)
{
    value_cost m = { 0 };
    int32_t    top = 0, looked_at = 0, left = 4 * MAX_SEARCH;
    h->stack[top++] = n->id;
    while (top > 0) {
        const ir_node *at = h->ir->nodes[h->stack[--top]];
        add_cost(h, at, &m);
        for (int i = 0; i < at->n_inputs && left-- > 0; i++) {
            const ir_node *x = h->ir->nodes[at->inputs[i].node];
            if (x->op == &eddy_op_type_only || h->seen[x->id] == n->id) continue;
            h->seen[x->id] = n->id;
            if (h->kind[x->id] == AVAILABLE || (h->wanted[x->id] && !shares(x)))
                m.bytes += result_bytes(x);
            else if (looked_at++ < MAX_SEARCH - 1) h->stack[top++] = x->id;
        }
    }
    return m;
}

/* True if the value of the node is worth keeping. */
static bool is_profitable(hoisting *h, const ir_node *n)
{
    const uint64_t   bytes = result_bytes(n);
    const value_cost m = cost_of(h, n);
    int64_t          count = 0;
    for (int k = 0; k < n->n_outputs; k++) count += eddy_shape_count(n->outputs[k].shape);
    const bool much = m.heavy || m.flops >= HEAVY_FLOPS * (double)count;
    if (bytes > h->budget || (bytes > SMALL_BYTES && (bytes > m.bytes || !much))) return false;
    h->budget -= bytes;
    return true;
}

/* Limits the kept values to the size of the constants and variables they come from, plus
 * SPARE_BYTES. */
static void set_budget(hoisting *h)
{
    const ir_graph *f = h->ir;
    h->budget = SPARE_BYTES;
    for (int32_t id = 1; id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        for (int i = 0; i < n->n_inputs && h->kind[id] == COMPUTED; i++) {
            const ir_node *x = f->nodes[n->inputs[i].node];
            if (h->kind[x->id] != AVAILABLE || h->seen[x->id] < 0) continue;
            h->seen[x->id] = -1;
            if (x->op != &eddy_op_type_only) h->budget += result_bytes(x);
        }
    }
    for (int32_t id = 1; id <= f->size; id++) h->seen[id] = 0;
}

/* Marks the needed nodes that are not worth keeping as varying. Returns their number. */
static int32_t drop_unprofitable(hoisting *h)
{
    int32_t dropped = 0;
    find_wanted(h);
    set_budget(h);
    for (int32_t id = h->ir->size; id >= 1; id--) {
        const ir_node *n = h->ir->nodes[id];
        if (h->kind[id] != COMPUTED || !h->wanted[id] || shares(n) || is_profitable(h, n)) continue;
        h->kind[id] = VARYING;
        for (int i = 0; i < n->n_inputs; i++) h->wanted[n->inputs[i].node] = 1;
        dropped++;
    }
    return dropped;
}

/* Marks invariant readers of varying nodes as varying. */
static void spread_changes(hoisting *h)
{
    for (int32_t id = 1; id <= h->ir->size; id++)
        if (h->kind[id] != VARYING) h->kind[id] = kind_of(h, h->ir->nodes[id]);
}

/* True if any node is COMPUTED. */
static bool find_kinds(hoisting *h)
{
    bool computed = false;
    for (int32_t id = 1; id <= h->ir->size; id++) {
        h->kind[id] = kind_of(h, h->ir->nodes[id]);
        computed = computed || h->kind[id] == COMPUTED;
    }
    return computed;
}

static bool choose(hoisting *h)
{
    enum { ROUNDS = 20 };
    const ir_graph *f = h->ir;
    if (!find_flops(h)) return false;
    for (int round = 0; round < ROUNDS; round++) {
        if (drop_unprofitable(h) == 0) return true;
        spread_changes(h);
    }
    for (int32_t id = 1; id <= f->size; id++)
        if (h->kind[id] == COMPUTED) h->kind[id] = VARYING;
    return true;
}

/* -------------------------------------------------------------------- moving -- */

static bool is_computed(const hoisting *h, int32_t id)
{
    return h->kind[id] == COMPUTED && !shares(h->ir->nodes[id]);
}

/* Marks the nodes that are computed once, with all that they need. Returns how many of them
 * compute something. */
static int32_t find_hoisted(const hoisting *h, uint8_t *hoisted)
{
    int32_t computed = 0;
    for (int32_t id = h->ir->size; id >= 1; id--) {
        const ir_node *n = h->ir->nodes[id];
        computed += is_computed(h, id);
        hoisted[id] = hoisted[id] || is_computed(h, id);
        for (int i = 0; i < n->n_inputs && hoisted[id]; i++) hoisted[n->inputs[i].node] = 1;
    }
    return computed;
}

static bool move_hoisted(const hoisting *h, const uint8_t *hoisted)
{
    const int32_t size = h->ir->size;
    int32_t      *order = eddy__stage_alloc(h->c, (size_t)size, sizeof *order), n = 0;
    if (!order) return false;
    for (int32_t id = 1; id <= size; id++)
        if (hoisted[id]) order[n++] = id;
    const int32_t invariant = n;
    for (int32_t id = 1; id <= size; id++)
        if (!hoisted[id]) order[n++] = id;
    if (!eddy__ir_reorder(h->c, order)) return false;
    h->c->ir->n_invariant = invariant;
    return true;
}

/* The variables that the hoisted nodes read. Their versions tell whether the values must be
 * recomputed. */
static bool note_sources(compile *c)
{
    const ir_graph *f = c->ir;
    eddy_plan      *p = c->plan;
    p->sources = eddy__plan_alloc(c, (size_t)p->n_variables, sizeof *p->sources);
    if (!p->sources) return false;
    for (int32_t id = 1; id <= f->n_invariant; id++)
        if (f->nodes[id]->variable >= 0)
            p->sources[p->n_sources++].state = p->variables[f->nodes[id]->variable].state;
    return true;
}

static void report(const compile *c, int32_t computed)
{
    const eddy_session_args *o = &c->session->options;
    c->plan->info.changes[__builtin_ctz(EDDY_PASS_HOIST)] = (int)computed;
    if (!o->report) return;
    fprintf(o->report, "hoist: %d changes, %d variables\n", (int)computed,
            (int)c->plan->n_sources);
    if (o->report_nodes && computed > 0) eddy__ir_print(c->ir, o->report);
}

bool eddy__hoist(compile *c)
{
    const size_t             n = (size_t)c->ir->size + 1;
    hoisting                 h = { .c = c, .ir = c->ir };
    const eddy_session_args *o = &c->session->options;
    if ((c->without & EDDY_PASS_HOIST) || o->max_bytes > 0) return true;
    eddy__stage_begin(c);
    h.updated = eddy__stage_alloc(c, (size_t)c->plan->n_variables, 1);
    h.kind = eddy__stage_alloc(c, n, 1);
    h.wanted = eddy__stage_alloc(c, n, 1);
    h.seen = eddy__stage_alloc(c, n, sizeof *h.seen);
    uint8_t *hoisted = eddy__stage_alloc(c, n, 1);
    h.flops = eddy__stage_alloc(c, n, sizeof *h.flops);
    if (!h.updated || !h.kind || !h.wanted || !h.seen || !hoisted || !h.flops) return false;
    find_updates(&h);
    int32_t computed = 0;
    if (find_kinds(&h)) {
        if (!choose(&h)) return false;
        computed = find_hoisted(&h, hoisted);
    }
    if (computed > 0 && (!move_hoisted(&h, hoisted) || !note_sources(c))) return false;
    report(c, computed);
    return true;
}
