/* stage_runs.c -- runs the Loop and Case nodes of a stage whose shapes only a run of their bodies
 * tells. */
#include "session/profile/node_times.h"
#include "session/stages/rows_ops.h"
#include "session/stages/stage_runs.h"

#include <string.h>

/* The value of t, not retained: a feed, or made by a stage. */
static node_value value_of(const stages *t, eddy_tensor x, eddy_feeds feeds, const node_value *made,
                           int n_made)
{
    for (int i = 0; i < feeds.count; i++)
        if (eddy_same(feeds.at[i].tensor, x))
            return eddy__value_of_array((eddy_array *)(uintptr_t)feeds.at[i].value);
    for (int k = n_made - 1; k >= 0; k--)
        if (eddy_same(t->cut[k], x) && (made[k].array || made[k].rows)) return made[k];
    return (node_value){ 0 };
}

/* The memory of one run. */
typedef struct run_room {
    body_call  *calls;
    uint8_t    *wanted;
    node_value *in, *out;
} run_room;

static bool make_room(const node_run *r, eddy_arena *arena, int n, int outputs, int inputs,
                      run_room *room)
{
    room->calls = eddy__arena_alloc(arena, (size_t)n * sizeof *room->calls);
    room->wanted = eddy__arena_alloc(arena, (size_t)outputs + 1);
    room->in = eddy__arena_alloc(arena, ((size_t)inputs + 1) * sizeof *room->in);
    room->out = eddy__arena_alloc(arena, ((size_t)outputs + 1) * sizeof *room->out);
    if (!room->calls || !room->wanted || !room->in || !room->out)
        return eddy__node_run_full(r, "the stages of a run");
    memset(room->wanted, 0, (size_t)outputs + 1);
    memset(room->out, 0, ((size_t)outputs + 1) * sizeof *room->out);
    return true;
}

/* The outputs that are needed of node `id`, whose results are among cut[from] to cut[to]. */
static void want(const stages *t, int from, int to, int32_t id, uint8_t *wanted)
{
    for (int k = from; k < to; k++)
        if (t->cut[k].node == id) wanted[t->cut[k].output] = 1;
}

/* Where plans read a stack, it is one array. */
static bool keep_result(node_run *r, const eddy_node *node, cut_use use, int output,
                        node_value *from, node_value *to)
{
    eddy_type row = node->outputs[output];
    eddy__value_free(to);
    *to = *from;
    *from = (node_value){ 0 };
    if (use != CUT_RUN || to->array) return true;
    if (row.shape.rank > 0) row.shape.rank--;
    for (int d = 0; d < row.shape.rank; d++) row.shape.dim[d] = row.shape.dim[d + 1];
    to->array = eddy__rows_stack(to->rows, row, &r->allocator, node->name, r->error);
    return to->array || (r->error->status == EDDY_OK && eddy__node_run_full(r, node->name));
}

static bool run_together(node_run *r, eddy_arena *arena, const stages *t, const stage_run *run,
                         int i, eddy_feeds feeds, node_value *made, uint64_t *taken)
{
    const eddy_graph *g = r->session->graph;
    const int         from = t->planned[i], to = t->end[i];
    const int32_t    *ids = t->members + run->first;
    const eddy_node  *node = g->nodes[ids[0]];
    int               outputs = 0;
    run_room          room;
    for (int m = 0; m < run->n; m++) outputs += g->nodes[ids[m]]->n_outputs;
    if (!make_room(r, arena, run->n, outputs, node->n_inputs, &room)) return false;
    for (int m = 0, at = 0; m < run->n; at += g->nodes[ids[m++]]->n_outputs) {
        want(t, from, to, ids[m], room.wanted + at);
        room.calls[m] = (body_call){ g->nodes[ids[m]], room.wanted + at, room.out + at };
    }
    for (int k = 0; k < node->n_inputs; k++)
        room.in[k] = value_of(t, node->inputs[k], feeds, made, from);
    const bool body = node->op->flags & EDDY_OP_BODY;
    const uint64_t draw = eddy__draws_of(r->session, node->id, taken);
    const int64_t begun = eddy__times_nodes(r->session) ? eddy__ticks() : 0;
    bool ok = body ? eddy__run_body(r, run->n, room.calls, room.in, false, draw)
                   : eddy__run_rows(r, g, node, room.in, room.out, draw);
    if (!body && eddy__times_nodes(r->session))
        eddy__node_times_add(r->session, node, (node_place){ 0 }, eddy__ticks() - begun, 0);
    /* The last kernel may have left its result unfinished. */
    ok = ok && !eddy__must_stop(r->session, r->plan.stop, "", r->error);
    for (int m = 0; m < run->n; m++)
        for (int k = from; k < to; k++)
            if (ok && t->cut[k].node == ids[m])
                ok = keep_result(r, g->nodes[ids[m]], t->use[k], t->cut[k].output,
                                 &room.calls[m].out[t->cut[k].output], &made[k]);
    for (int k = 0; k < outputs; k++) eddy__value_free_late(&room.out[k], r->plan.stop);
    return ok;
}

bool eddy__stage_runs(node_run *r, const stages *t, int i, eddy_feeds feeds, node_value *made,
                      uint64_t *taken)
{
    bool         ok = true;
    eddy_running here;
    eddy__running_begin(&here, r->session);
    for (int k = i > 0 ? t->run_end[i - 1] : 0; ok && k < t->run_end[i]; k++) {
        eddy_arena arena = { .allocator = &r->session->allocator };
        ok = run_together(r, &arena, t, &t->runs[k], i, feeds, made, taken);
        eddy__arena_free(&arena);
    }
    eddy__running_end(&here);
    return ok;
}
