/* body_use.c -- which inputs a loop or branch needs for the outputs that are read. As in a session,
 * the others are not computed, and nothing happens that only they wait for. */
#include "writer.h"

/* Whether the elements of input i are needed, or its shape is not known before the run. */
bool eddy__writer_needs(const eddy_node *node, int i)
{
    if (!(node->op->shape_inputs >> (i < 31 ? i : 31) & 1)) return true;
    return !eddy_shape_is_known(eddy_shape_of(node->inputs[i]));
}

/* A body, and by id which of its nodes are needed. */
typedef struct needed_body {
    eddy_graph *graph;
    eddy_ints   outs;
    bool       *needed;
} needed_body;

static void need_out(const needed_body *b, int64_t i)
{
    const int64_t id = b->outs.at[2 * i];
    b->needed[id] = true;
}

static void need_inputs(const needed_body *b)
{
    for (int32_t id = eddy_graph_size(b->graph); id >= 1; id--) {
        const eddy_node *node = eddy_node_of(eddy_node_at(b->graph, id));
        for (int i = 0; b->needed[id] && i < node->n_inputs; i++)
            if (eddy__writer_needs(node, i)) b->needed[node->inputs[i].node] = true;
        for (int i = 0; b->needed[id] && i < node->n_controls; i++)
            b->needed[node->controls[i]] = true;
    }
}

/* A carried value is needed if its final value is read, or if a later iteration needs it. */
static void need_of_loop(const onnx_part *p, const needed_body *b, const bool *read)
{
    const int64_t carried = eddy__part_int(p, "n_carried"),
                  stacked = eddy__part_int(p, "n_stacked");
    const int64_t first = eddy__part_bool(p, "conditional");
    if (first > 0) need_out(b, 0);
    for (int64_t k = 0; k < carried + stacked; k++)
        if (read[k]) need_out(b, first + k);
    for (bool again = true; again;) {
        again = false;
        need_inputs(b);
        for (int64_t j = 0; j < carried; j++) {
            if (!b->needed[2 + j] || b->needed[b->outs.at[2 * (first + j)]]) continue;
            need_out(b, first + j);
            again = true;
        }
    }
    for (int64_t j = 0; j < carried; j++)
        if (read[j]) b->needed[2 + j] = true;
}

static void need_of_branches(const onnx_part *p, const needed_body *b, const bool *read)
{
    const int64_t n = eddy__part_int(p, "n_out");
    for (int64_t i = 0; i < n * eddy__part_int(p, "n_branches"); i++)
        if (read[i % n]) need_out(b, i);
    need_inputs(b);
}

/* Whether input i is sliced, and only its value tells how many rows there are. */
static bool counts_rows(const onnx_part *p, int i)
{
    const int64_t slice = i - eddy__part_bool(p, "counted") - eddy__part_int(p, "n_carried");
    const eddy_shape s = eddy__part_type(p, i).shape;
    return slice >= 0 && slice < eddy__part_int(p, "n_sliced") && (s.rank < 1 || s.dim[0] < 0);
}

/* NULL without memory. */
static writer_use *use_at(onnx_writer *w, const eddy_node *node)
{
    writer_use **at = &w->scope->uses[node->id];
    if (*at) return *at;
    writer_use  *u = eddy__region_take(&w->memory, 1, sizeof *u);
    if (!u) return NULL;
    u->read = eddy__region_take(&w->memory, (size_t)node->n_outputs + 1, sizeof *u->read);
    u->takes = eddy__region_take(&w->memory, (size_t)node->n_inputs + 1, sizeof *u->takes);
    return *at = u->read && u->takes ? u : NULL;
}

static bool has_body(const eddy_node *node)
{
    return (node->op->flags & (EDDY_OP_LOOP | EDDY_OP_CASE)) != 0;
}

bool eddy__writer_find_use(onnx_writer *w, const eddy_node *node)
{
    if (!has_body(node)) return true;
    const onnx_part p = { .writer = w, .scope = w->scope, .node = node };
    writer_use     *u = use_at(w, node);
    const bool      loop = node->op->flags & EDDY_OP_LOOP;
    const int       first = loop ? eddy__part_bool(&p, "counted") : 1;
    needed_body     b = { eddy__part_graph(&p, "body"), eddy__part_int_list(&p, "outs"), NULL };
    b.needed = eddy__region_take(&w->memory, (size_t)eddy_graph_size(b.graph) + 1, 1);
    if (!u || !b.needed) return eddy__writer_no_memory(w);
    if (loop) need_of_loop(&p, &b, u->read);
    else need_of_branches(&p, &b, u->read);
    for (int i = 0; i < node->n_inputs; i++)
        u->takes[i] = i < first || b.needed[i - first + 1 + loop] || (loop && counts_rows(&p, i));
    return true;
}

bool eddy__writer_want(onnx_writer *w, eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    w->scope->live[t.node] = true;
    w->scope->wanted[t.node] |= eddy__output_bit(t.output);
    if (!has_body(node)) return true;
    writer_use *u = use_at(w, node);
    if (!u) return eddy__writer_no_memory(w);
    u->read[t.output] = true;
    return true;
}
