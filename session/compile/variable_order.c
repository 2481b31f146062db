/* variable_order.c -- ordering of variables: decides which reads of a variable see an update of it
 * in the same run.
 *
 * Explicit reads see an update if they depend on it in any way; all other reads see it if a
 * control edge orders them after it. Only variables with a late read, that is, a read by a node
 * after an update, are examined, 64 in one walk over the graph. */
#include "session/compile/lower.h"

#include <string.h>

static bool note_read_now(compile *c, const eddy_node *node, int i)
{
    uint8_t **inputs = &c->reads_now[node->id];
    if (!*inputs) *inputs = eddy__stage_alloc(c, (size_t)node->n_inputs, 1);
    return *inputs && ((*inputs)[i] = true);
}

/* The variable of which input i of an executed node is the value, if an update of it precedes
 * the node; else -1. */
static int32_t late_variable(const compile *c, const eddy_node *node, int i)
{
    const int32_t v = c->variable_of[node->inputs[i].node];
    if (v < 0 || type_only(node->op, i) || c->first_update[v] == 0 || c->first_update[v] > node->id)
        return -1;
    if (by_reference(node->op, i)) return node->op->flags & EDDY_OP_READ ? v : -1;
    return eddy__feed_of(c, node->inputs[i]) < 0 ? v : -1;
}

/* Sets of up to 64 variables, as bits: those for whose updates a node waits, and those for
 * which it does so through at least one control edge. */
typedef struct waits {
    uint64_t any, by_control;
} waits;

typedef struct ordering {
    int32_t *number;            /* by variable index: number among those with late reads; -1 */
    int32_t *last;              /* by variable index: id of the last late reader */
    int32_t  count, from;       /* number of such variables; the first one of this walk */
    waits   *waits;             /* by node id */
} ordering;

static uint64_t bit_of(const ordering *o, int32_t v)
{
    const int32_t at = v < 0 || o->number[v] < 0 ? -1 : o->number[v] - o->from;
    return at >= 0 && at < 64 ? (uint64_t)1 << at : 0;
}

/* Derives the sets of a node from those of its inputs and controls. */
static waits waits_of(const ordering *o, const eddy_node *node)
{
    waits w = { 0, 0 };
    for (int i = 0; i < node->n_inputs; i++) {
        w.any |= o->waits[node->inputs[i].node].any;
        w.by_control |= o->waits[node->inputs[i].node].by_control;
    }
    for (int i = 0; i < node->n_controls; i++) w.by_control |= o->waits[node->controls[i]].any;
    w.any |= w.by_control;
    return w;
}

/* One walk: from the first update to the last late reader of these variables. */
static bool order_variables_from(compile *c, ordering *o)
{
    int32_t  first = c->size, last = 0;
    memset(o->waits, 0, ((size_t)c->size + 1) * sizeof *o->waits);
    for (int32_t v = 0; v < c->plan->n_variables; v++) {
        if (!bit_of(o, v)) continue;
        if (c->first_update[v] < first) first = c->first_update[v];
        if (o->last[v] > last) last = o->last[v];
    }
    for (int32_t id = first; id <= last; id++) {
        const eddy_node *node = c->graph->nodes[id];
        const waits      w = waits_of(o, node);
        for (int i = 0; is_executed(c, id) && i < node->n_inputs; i++) {
            const uint64_t bit = bit_of(o, late_variable(c, node, i));
            if (by_reference(node->op, i)) c->plain_read[id] = c->plain_read[id] && !(w.any & bit);
            else if ((w.by_control & bit) && !note_read_now(c, node, i)) return false;
        }
        o->waits[id] = w;
        if (node->op->flags & EDDY_OP_UPDATES)
            o->waits[id].any |= bit_of(o, c->variable_of[node->inputs[0].node]);
    }
    return true;
}

bool eddy__order_reads(compile *c)
{
    size_t   bytes = ((size_t)c->size + 1) * sizeof(waits), n = (size_t)c->plan->n_variables;
    ordering o = { .number = eddy__stage_alloc(c, n, sizeof(int32_t)),
                   .last = eddy__stage_alloc(c, n, sizeof(int32_t)) };
    c->plain_read = eddy__stage_alloc(c, (size_t)c->size + 1, 1);
    c->reads_now = eddy__stage_alloc(c, (size_t)c->size + 1, sizeof *c->reads_now);
    if (!o.number || !o.last || !c->plain_read || !c->reads_now) return false;
    memset(o.number, 0xff, n * sizeof(int32_t));
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->graph->nodes[id];
        if (!is_executed(c, id)) continue;
        c->plain_read[id] = (node->op->flags & EDDY_OP_READ) != 0;
        for (int i = 0; i < node->n_inputs; i++) {
            const int32_t v = late_variable(c, node, i);
            if (v < 0) continue;
            if (o.number[v] < 0) o.number[v] = o.count++;
            o.last[v] = id;
        }
    }
    if (o.count == 0) return true;
    o.waits = eddy__allocate(&c->session->allocator, bytes);
    if (!o.waits)
        return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while ordering reads");
    bool ok = true;
    for (; ok && o.from < o.count; o.from += 64) ok = order_variables_from(c, &o);
    eddy__release(&c->session->allocator, o.waits, bytes);
    return ok;
}
