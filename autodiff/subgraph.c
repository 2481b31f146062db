/* subgraph.c -- subgraphs: the nodes between some tensors and the tensors built from them. */
#include "autodiff/internal.h"

#include <string.h>

void *eddy__subgraph_alloc(eddy_subgraph *s, int64_t n, size_t size)
{
    void *p = eddy__arena_alloc(&s->arena, (size_t)n * size);
    if (p) memset(p, 0, (size_t)n * size);
    else eddy_fail(s->graph, EDDY_NO_MEMORY, "out of memory (nodes: %lld)", (long long)n);
    return p;
}

bool eddy__subgraph_has(const eddy_subgraph *s, eddy_tensor t, int marks)
{
    return t.node >= s->first && t.node <= s->last &&
           (s->marks[t.node - s->first] & marks) == marks;
}

bool eddy__subgraph_input_depends(const eddy_subgraph *s, const eddy_node *node, int i)
{
    return !eddy__input_is_in(node->op->shape_inputs, i) &&
           eddy__subgraph_has(s, node->inputs[i], EDDY_DEPENDS);
}

eddy_tensor eddy__subgraph_replacement(const eddy_subgraph *s, eddy_tensor t)
{
    if (!eddy__subgraph_has(s, t, EDDY_DEPENDS) || !s->replacements[t.node - s->first]) return t;
    eddy_tensor y = s->replacements[t.node - s->first][t.output];
    return eddy_is_valid(y) ? y : t;
}

void eddy__subgraph_replace(eddy_subgraph *s, eddy_tensor t, eddy_tensor image)
{
    eddy_tensor **at = &s->replacements[t.node - s->first];
    if (!*at) *at = eddy__subgraph_alloc(s, s->graph->nodes[t.node]->n_outputs, sizeof **at);
    if (*at) (*at)[t.output] = image;
}

bool eddy__is_random(const eddy_node *node)
{
    const unsigned others = EDDY_OP_SIDE_EFFECT | EDDY_OP_REFERENCE | EDDY_OP_UPDATES |
                            EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER | EDDY_OP_ALIAS |
                            EDDY_OP_UNSAVED;
    return node->op->flags & EDDY_OP_STATEFUL && !(node->op->flags & others);
}

const void *eddy__seeded_attrs(const eddy_node *node, void *room)
{
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++) {
        if (f->kind != EDDY_ATTR_INT || strcmp(f->name, "seed") != 0) continue;
        memcpy(room, node->attrs, node->op->attrs_size);
        int64_t *seed = (int64_t *)(void *)((char *)room + f->offset);
        if (*seed == 0) *seed = node->id;
        return room;
    }
    return node->attrs;
}

/* Ascending pass: marks nodes that depend on `from`. Descending pass: marks those that `to`
 * needs. */
static void set_marks(eddy_subgraph *s, int n, const eddy_tensor *from, int m,
                      const eddy_tensor *to)
{
    for (int i = 0; i < n; i++) s->marks[from[i].node - s->first] |= EDDY_DEPENDS | EDDY_SOURCE;
    for (int32_t id = s->first; id <= s->last; id++) {
        const eddy_node *node = s->graph->nodes[id];
        if (id > s->random_after && eddy__is_random(node)) s->marks[id - s->first] |= EDDY_DEPENDS;
        for (int i = 0; i < node->n_inputs && !(s->marks[id - s->first] & EDDY_DEPENDS); i++)
            if (eddy__subgraph_input_depends(s, node, i)) s->marks[id - s->first] |= EDDY_DEPENDS;
    }
    for (int k = 0; k < m; k++)
        if (eddy__subgraph_has(s, to[k], EDDY_DEPENDS))
            s->marks[to[k].node - s->first] |= EDDY_NEEDED;
    for (int32_t id = s->last; id >= s->first; id--) {
        const eddy_node *node = s->graph->nodes[id];
        if (s->marks[id - s->first] != EDDY_BETWEEN) continue;
        for (int i = 0; i < node->n_inputs; i++)
            if (eddy__subgraph_input_depends(s, node, i))
                s->marks[node->inputs[i].node - s->first] |= EDDY_NEEDED;
    }
}

bool eddy__subgraph_begin(eddy_subgraph *s, eddy_graph *g, int n, const eddy_tensor *from, int m,
                          const eddy_tensor *to)
{
    return eddy__subgraph_begin_random(s, g, n, from, m, to, INT32_MAX);
}

bool eddy__subgraph_begin_random(eddy_subgraph *s, eddy_graph *g, int n, const eddy_tensor *from,
                                 int m, const eddy_tensor *to, int32_t after)
{
    *s = (eddy_subgraph){ .graph = g, .first = g->size, .last = g->size, .random_after = after };
    s->arena.allocator = eddy__graph_allocator(g);
    for (int i = 0; i < n; i++)
        if (from[i].node < s->first) s->first = from[i].node;
    const int64_t count = (int64_t)s->last - s->first + 1;
    s->marks = eddy__subgraph_alloc(s, count, sizeof *s->marks);
    s->replacements = eddy__subgraph_alloc(s, count, sizeof *s->replacements);
    if (s->marks && s->replacements) set_marks(s, n, from, m, to);
    return s->marks && s->replacements;
}

bool eddy__subgraph_has_registered(const eddy_subgraph *s)
{
    for (int32_t id = s->first; id <= s->last; id++)
        if (s->marks[id - s->first] == EDDY_BETWEEN && s->graph->nodes[id]->gradient) return true;
    return false;
}

void eddy__subgraph_end(eddy_subgraph *s) { eddy__arena_free(&s->arena); }

void eddy__subgraph_rebuild(eddy_subgraph *s, const eddy_node *node)
{
    eddy_tensor *in = eddy__subgraph_alloc(s, node->n_inputs, sizeof *in);
    for (int i = 0; in && i < node->n_inputs; i++) {
        in[i] = eddy__input_is_in(node->op->shape_inputs, i)
                    ? node->inputs[i]
                    : eddy__subgraph_replacement(s, node->inputs[i]);
    }
    if (!in) return;
    eddy__attrs_share_graphs(node->op, node->attrs);
    eddy_tensor y = eddy__append((eddy_append_args){
        .graph = s->graph, .op = node->op, .attrs = node->attrs, .n = node->n_inputs, .in = in,
        .n_controls = -1, .gradient = node->gradient,
    });
    for (int k = 0; k < node->n_outputs && eddy_is_valid(y); k++)
        eddy__subgraph_replace(s, eddy__tensor_at(s->graph, node->id, k), eddy_output(y, k));
}
