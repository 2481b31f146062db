/* prune_bodies.c -- finds which results of a Loop or Case node are read, and which of its inputs
 * these need. Other results are not computed, and values that only they need are not stacked. */
#include "session/compile/program.h"

#include <string.h>

static body_use *use_of(compile *c, int32_t id)
{
    const eddy_node *node = c->graph->nodes[id];
    if (!c->bodies) c->bodies = eddy__stage_alloc(c, (size_t)c->size + 1, sizeof *c->bodies);
    if (!c->bodies || c->bodies[id]) return c->bodies ? c->bodies[id] : NULL;
    body_use *u = eddy__plan_alloc(c, 1, sizeof *u);
    if (!u) return NULL;
    u->outs = eddy__plan_alloc(c, (size_t)node->n_outputs + 1, 1);
    u->takes = eddy__plan_alloc(c, (size_t)node->n_inputs + 1, 1);
    u->output = eddy__plan_alloc(c, (size_t)node->n_outputs + 1, sizeof *u->output);
    if (!u->outs || !u->takes || !u->output) return NULL;
    u->leader = id;
    return c->bodies[id] = u;
}

bool eddy__body_want(compile *c, eddy_tensor t, bool value)
{
    const eddy_node *node = c->graph->nodes[t.node];
    if (!eddy__has_body(node)) return true;
    body_use *u = use_of(c, t.node);
    if (u && t.output < node->n_outputs) u->outs[t.output] |= value ? 3 : 1;
    return u != NULL;
}

/* Marks the nodes of a body whose values the marked ones need. */
static void mark_back(const eddy_graph *body, uint8_t *valued)
{
    for (int32_t id = body->size; id >= 1; id--) {
        const eddy_node *node = body->nodes[id];
        if (!valued[id]) continue;
        for (int i = 0; i < node->n_inputs; i++)
            if (!eddy__input_is_in(node->op->shape_inputs, i)) valued[node->inputs[i].node] = 1;
        for (int i = 0; i < node->n_controls; i++) valued[node->controls[i]] = 1;
    }
}

static void want_out(const eddy_ints outs, int64_t i, uint8_t *valued)
{
    valued[outs.at[2 * i]] = 1;
}

/* A carried value is computed if its final value is read, or if a later iteration needs it. */
static void mark_loop(const eddy_node *node, const body_use *u, bool quiet, uint8_t *valued)
{
    const eddy_loop_attrs *a = node->attrs;
    const eddy_graph      *body = a->body;
    const int64_t          base = a->conditional, results = eddy__loop_results(a);
    for (int64_t i = 0; i < a->conditional; i++) want_out(a->outs, i, valued);
    for (int64_t i = results; i < a->outs.count / 2 && !quiet; i++) want_out(a->outs, i, valued);
    for (int64_t j = 0; j < a->n_carried; j++)
        if (u->outs[j]) want_out(a->outs, base + j, valued);
    for (int64_t k = 0; k < a->n_stacked; k++)
        if (eddy__computes_stack(a, u, k)) want_out(a->outs, base + a->n_carried + k, valued);
    for (bool again = true; again;) {
        mark_back(body, valued);
        again = false;
        for (int64_t j = 0; j < a->n_carried; j++) {
            const int32_t next = (int32_t)a->outs.at[2 * (base + j)];
            if (!valued[2 + j] || valued[next]) continue;
            valued[next] = 1;
            again = true;
        }
    }
    for (int64_t j = 0; j < a->n_carried; j++)       /* what is read after no iteration */
        if (u->outs[j]) valued[2 + j] = 1;
}

/* Whether input i of a loop is sliced and only its value tells how many rows there are. */
static bool counts_rows(const eddy_node *node, int i)
{
    const eddy_loop_attrs *a = node->attrs;
    const int64_t          slice = i - a->counted - a->n_carried;
    const eddy_shape       s = eddy_shape_of(node->inputs[i]);
    return slice >= 0 && slice < a->n_sliced && (s.rank < 1 || s.dim[0] == EDDY_ANY);
}

bool eddy__body_find_inputs(compile *c, const eddy_node *node)
{
    if (!eddy__has_body(node)) return true;
    body_use         *u = use_of(c, node->id);
    const eddy_graph *body = eddy__body_of(node);
    uint8_t          *valued = eddy__ir_alloc(c, (size_t)body->size + 1, 1);
    const bool        quiet = c->quiet || eddy__is_quiet(node);
    const bool        loop = node->op->flags & EDDY_OP_LOOP;
    const int         first = loop ? ((const eddy_loop_attrs *)node->attrs)->counted : 1;
    if (!u || !valued) return false;
    if (loop) mark_loop(node, u, quiet, valued);
    else {
        const eddy_case_attrs *a = node->attrs;
        for (int64_t b = 0; b < a->n_branches; b++)
            for (int64_t k = 0; k < a->n_out; k++)
                if (u->outs[k]) want_out(a->outs, b * a->n_out + k, valued);
        for (int64_t i = 0; i < a->effects.count / 2 && !quiet; i++)
            valued[a->effects.at[2 * i + 1]] = 1;
        mark_back(body, valued);
    }
    for (int i = 0; i < node->n_inputs; i++)
        u->takes[i] = i < first || valued[i - first + 1 + loop] || (loop && counts_rows(node, i));
    return true;
}
