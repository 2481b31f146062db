/* views.c -- views: values of an IR that share the memory of other values.
 *
 * A value is a view if it is a contiguous part of another value (op->parts), for example a
 * slice along the first axis. Conversely, a concatenation along the first axis is built in
 * place: inputs that nodes compute are computed inside its result. A copy is always correct. It
 * is better where a view would keep much memory alive for a small value, or would require a
 * copy of a whole variable. */
#include "graph/base/min_max.h"
#include "session/compile/views.h"

#include <string.h>

enum { SMALL_BYTES = 1 << 14 };

typedef struct search {
    views   *v;
    int32_t *origin;                /* by node: the node of which it is a view, or itself */
    uint64_t *viewed;               /* by value: total bytes of its views */
} search;

static bool is_storage(const ir_graph *f, eddy_tensor t)
{
    return f->nodes[t.node]->variable >= 0 && t.output == STORAGE;
}

/* The outputs are input 0's memory. */
static bool shares(const ir_node *n) { return n->alias || eddy__ir_is_view(n); }

eddy_tensor eddy__unaliased(const ir_graph *f, eddy_tensor t)
{
    while (f->nodes[t.node]->alias) t = f->nodes[t.node]->inputs[0];
    return t;
}

/* Reader n wants t in each run, and t is not computed in each. */
static bool is_kept(const ir_graph *f, eddy_tensor t, const ir_node *n)
{
    const ir_node *from = f->nodes[t.node];
    const bool     given = from->values || from->feed >= 0 || from->variable >= 0;
    return !given && t.node <= f->n_invariant && n->id > f->n_invariant;
}

static int32_t last_read(const views *v, const ir_node *n)
{
    int32_t last = 0;
    for (int k = 0; k < n->n_outputs; k++)
        last = (int32_t)eddy__max(last, v->reads[v->value_base[n->id] + k]);
    return last;
}

/* ------------------------------------------------------------------ views -- */

static void find_origins(search *s)
{
    const ir_graph *f = s->v->ir;
    for (int32_t id = 1; id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        s->origin[id] = id;
        if (!shares(n) || is_storage(f, n->inputs[0])) continue;
        s->origin[id] = s->origin[n->inputs[0].node];
        for (int k = 0; k < n->n_outputs && eddy__ir_is_view(n); k++)
            s->viewed[eddy__value_of(s->v, n->inputs[0])] += eddy__type_bytes(n->outputs[k]);
    }
}

/* True if the node should copy instead of being a view. All readers of the nodes after it are
 * known. */
static bool should_copy(const search *s, const ir_node *n)
{
    const views   *v = s->v;
    const ir_node *origin = v->ir->nodes[s->origin[n->id]];
    const int32_t  value = eddy__value_of(v, n->inputs[0]), last = last_read(v, n);
    if (origin->values || origin->feed >= 0 || is_kept(v->ir, n->inputs[0], n)) return false;
    if (origin->variable >= 0) {
        const int32_t update = v->first_update[origin->variable];
        return update > n->id && last >= update;
    }
    const uint64_t bytes = eddy__type_bytes(eddy__ir_type(v->ir, n->inputs[0]));
    return last > eddy__max(v->reads[value], n->id) && bytes > SMALL_BYTES &&
           2 * s->viewed[value] < bytes;
}

/* ------------------------------------------------------------------ joins -- */

/* True if t, which a node computes in its own memory, can be computed elsewhere. */
static bool is_movable(const views *v, eddy_tensor t, const ir_node *to)
{
    const ir_node *n = v->ir->nodes[t.node];
    const bool given = n->values || n->feed >= 0 || n->variable >= 0;
    if (given || shares(n) || is_kept(v->ir, t, to) || !eddy__kernel_of(n->op) ||
        (n->op->flags & EDDY_OP_UPDATES))
        return false;
    const int32_t value = eddy__value_of(v, t);
    return v->join[value] == 0 && v->reads[value] < INT32_MAX &&
           eddy_shape_count(n->outputs[t.output].shape) > 0;
}

/* Lets the inputs of a join be computed inside its result, if they are most of it. */
static void place_inputs(views *v, const ir_node *n)
{
    const size_t size = eddy_dtype_size(n->outputs[0].dtype);
    uint64_t     movable = 0;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor t = eddy__unaliased(v->ir, n->inputs[i]);
        if (is_movable(v, t, n)) movable += eddy__type_bytes(eddy__ir_type(v->ir, t));
    }
    if (movable == 0 || 2 * movable < eddy__type_bytes(n->outputs[0])) return;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor t = eddy__unaliased(v->ir, n->inputs[i]);
        if (!is_movable(v, t, n)) continue;
        v->join[eddy__value_of(v, t)] = n->id;
        v->at[eddy__value_of(v, t)] = (size_t)n->parts[i] * size;
        v->joined[n->id] = 1;
    }
}

/* ---------------------------------------------------------------- the pass -- */

static void read_inputs(views *v, const ir_node *n)
{
    const int32_t shared = shares(n) ? (int32_t)eddy__max(n->id, last_read(v, n)) : n->id;
    for (int i = 0; i < n->n_inputs; i++) {
        if (!eddy__is_value(v->ir, n, i)) continue;
        int32_t *reads = &v->reads[eddy__value_of(v, n->inputs[i])];
        *reads = (int32_t)eddy__max(*reads, i == 0 ? shared : n->id);
        if (is_kept(v->ir, n->inputs[i], n)) *reads = INT32_MAX;
    }
}

static bool make_room(search *s)
{
    views       *v = s->v;
    compile     *c = v->c;
    const size_t nodes = (size_t)v->ir->size + 1;
    v->value_base = eddy__stage_alloc(c, nodes, sizeof *v->value_base);
    if (!v->value_base) return false;
    for (int32_t id = 1; id <= v->ir->size; id++) {
        v->value_base[id] = v->n_values;
        v->n_values += v->ir->nodes[id]->n_outputs;
    }
    v->reads = eddy__stage_alloc(c, (size_t)v->n_values, sizeof *v->reads);
    v->join = eddy__stage_alloc(c, (size_t)v->n_values, sizeof *v->join);
    v->at = eddy__stage_alloc(c, (size_t)v->n_values, sizeof *v->at);
    v->joined = eddy__stage_alloc(c, nodes, sizeof *v->joined);
    s->origin = eddy__stage_alloc(c, nodes, sizeof *s->origin);
    s->viewed = eddy__stage_alloc(c, (size_t)v->n_values, sizeof *s->viewed);
    return v->reads && v->join && v->at && v->joined && s->origin && s->viewed;
}

bool eddy__find_views(views *v)
{
    search    s = { .v = v };
    ir_graph *f = v->ir = v->c->ir;
    if (!make_room(&s)) return false;
    find_origins(&s);
    for (int i = 0; i < v->c->plan->n_fetches; i++)
        if (f->nodes[f->fetches[i].node]->n_outputs > 0)
            v->reads[eddy__value_of(v, f->fetches[i])] = INT32_MAX;
    for (int32_t id = f->size; id >= 1; id--) {
        ir_node *n = f->nodes[id];
        if (eddy__ir_is_view(n) && should_copy(&s, n)) n->parts = NULL;
        if (n->parts && (n->op->flags & EDDY_OP_JOINS)) place_inputs(v, n);
        read_inputs(v, n);
    }
    /* a join's result is read with each of its parts */
    for (int32_t id = 1; id <= f->size; id++)
        for (int k = 0; k < f->nodes[id]->n_outputs; k++) {
            const int32_t value = v->value_base[id] + k;
            if (v->join[value] == 0) continue;
            int32_t *reads = &v->reads[v->value_base[v->join[value]]];
            *reads = (int32_t)eddy__max(*reads, v->reads[value]);
        }
    return true;
}
