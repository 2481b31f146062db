/* reads.c -- which reads of a variable see the updates before them, as in a session
 * (session/compile/variable_order.c): explicit reads see an update if they depend on it in any way,
 * all others if a control edge orders them after it. */
#include "writer.h"

#include <string.h>

typedef struct waits {
    uint64_t any, by_control;       /* 64 variables in one walk */
} waits;

static const eddy_node *node_at(const writer_scope *s, int32_t id)
{
    return eddy_node_of(eddy_node_at(s->graph, id));
}

static uint64_t bit_of(const writer_scope *s, const int32_t *number, int32_t from, int32_t id)
{
    const int32_t at = s->variables[id] && s->variables[id]->first_update ? number[id] - from : -1;
    return at >= 0 && at < 64 ? (uint64_t)1 << at : 0;
}

static bool read_now(onnx_writer *w, const eddy_node *node, int i)
{
    uint8_t **now = &w->scope->reads_now[node->id];
    if (!*now) *now = eddy__region_take(&w->memory, (size_t)node->n_inputs, 1);
    if (!*now) return eddy__writer_no_memory(w);
    (*now)[i] = 1;
    return true;
}

static bool walk(onnx_writer *w, const int32_t *number, int32_t from, waits *at)
{
    const writer_scope *s = w->scope;
    for (int32_t id = 1; id <= s->size; id++) {
        const eddy_node *node = node_at(s, id);
        waits            now = { 0, 0 };
        for (int i = 0; i < node->n_inputs; i++) {
            now.any |= at[node->inputs[i].node].any;
            now.by_control |= at[node->inputs[i].node].by_control;
        }
        for (int i = 0; i < node->n_controls; i++) now.by_control |= at[node->controls[i]].any;
        now.any |= now.by_control;
        for (int i = 0; s->live[id] && i < node->n_inputs; i++) {
            const uint64_t bit = bit_of(s, number, from, node->inputs[i].node);
            const bool     explicitly = i == 0 && (node->op->flags & EDDY_OP_READ);
            if (((explicitly ? now.any : now.by_control) & bit) && !read_now(w, node, i))
                return false;
        }
        at[id] = now;
        if (s->live[id] && (node->op->flags & EDDY_OP_UPDATES))
            at[id].any |= bit_of(s, number, from, node->inputs[0].node);
    }
    return true;
}

bool eddy__scope_order_reads(onnx_writer *w)
{
    writer_scope *s = w->scope;
    int32_t *number = eddy__region_take(&w->memory, (size_t)s->size + 1, sizeof *number), n = 0;
    waits        *at = eddy__region_take(&w->memory, (size_t)s->size + 1, sizeof *at);
    if (!number || !at) return eddy__writer_no_memory(w);
    for (int32_t id = 1; id <= s->size; id++) {
        const eddy_node *node = node_at(s, id);
        if (!s->live[id] || !(node->op->flags & EDDY_OP_UPDATES)) continue;
        writer_variable *v = s->variables[node->inputs[0].node];
        if (v && !v->first_update) {
            v->first_update = id;
            number[node->inputs[0].node] = n++;
        }
    }
    for (int32_t from = 0; from < n; from += 64) {
        memset(at, 0, ((size_t)s->size + 1) * sizeof *at);
        if (!walk(w, number, from, at)) return false;
    }
    return true;
}
