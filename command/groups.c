/* groups.c -- nodes by scope or by operation, with their parameters and arithmetic. */
#include "command/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double node_flops(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    if (!node) return NAN;
    for (int32_t i = 0; i < node->n_outputs; i++)
        if (!eddy_shape_is_known(node->outputs[i].shape)) return NAN;
    if (!node->op->flops)
        return node->op->flags & EDDY_OP_ELEMENTWISE && node->n_outputs > 0
                   ? (double)eddy_shape_count(node->outputs[0].shape) : 0;
    eddy_type *in = room((size_t)node->n_inputs, sizeof *in);
    for (int32_t i = 0; i < node->n_inputs; i++) {
        in[i] = (eddy_type){ eddy_dtype_of(node->inputs[i]), eddy_shape_of(node->inputs[i]) };
        if (!eddy_shape_is_known(in[i].shape)) return NAN;
    }
    return node->op->flops(node->attrs, node->n_inputs, in, node->outputs);
}

const char *scope_of(const char *name, int depth)
{
    const char *end = name;
    for (int i = 0; i < depth; i++) {
        const char *slash = strchr(*end == '/' ? end + 1 : end, '/');
        if (!slash) break;
        end = slash;
    }
    return text("%.*s", (int)(end - name), name);
}

/* One part more than those of the open scope, for names in it. */
static int depth_in(const char *name, const char *open, int depth)
{
    const size_t n = strlen(open);
    int          parts = 2;
    if (n == 0 || strncmp(name, open, n) != 0 || name[n] != '/') return depth;
    for (const char *s = open + 1; *s; s++) parts += *s == '/';
    return parts;
}

static const char *name_in(const eddy_node *node, grouping by, int depth, const char *open)
{
    if (by == BY_NODE) return node->name;
    if (by == BY_OPERATION) return node->op->name;
    return scope_of(node->name, depth_in(node->name, open, depth));
}

/* An open hash table from names to numbers of groups. */
static int find(groups *g, int *slots, size_t n, const char *name)
{
    size_t hash = 5381;
    for (const char *p = name; *p; p++) hash = hash * 33 + (unsigned char)*p;
    for (size_t i = hash % n;; i = (i + 1) % n) {
        if (slots[i] == 0) {
            g->at[g->count].name = name;
            slots[i] = ++g->count;
        }
        if (strcmp(g->at[slots[i] - 1].name, name) == 0) return slots[i] - 1;
    }
}

static void count_in(group *at, eddy_tensor t, const concrete *c)
{
    const eddy_node *node = eddy_node_of(t);
    at->node = t;
    at->nodes++;
    if (node->op->flags & EDDY_OP_VARIABLE) {
        const int64_t n = eddy_shape_count(eddy_shape_of(t));
        at->parameters += n > 0 ? n : 0;
    }
    at->flops += c ? node_flops(c->image[node->id]) : NAN;
}

static groups put_together(const model *m, const concrete *c, grouping by, int depth,
                           const char *open)
{
    const int32_t size = eddy_graph_size(m->graph);
    const size_t  n = 2 * (size_t)size + 1;
    const bool   *needed = needed_nodes(m->graph, m->outputs, m->n_outputs);
    int          *slots = room(n, sizeof *slots);
    groups        g = { 0, room((size_t)size, sizeof *g.at), room((size_t)size + 1, sizeof *g.of),
                        open };
    for (int32_t id = 1; id <= size; id++) {
        const eddy_tensor t = eddy_node_at(m->graph, id);
        const eddy_node  *node = eddy_node_of(t);
        g.of[id] = -1;
        if (!needed[id] || node->traced) continue;
        g.of[id] = find(&g, slots, n, name_in(node, by, depth, open));
        count_in(&g.at[g.of[id]], t, c);
    }
    return g;
}

/* The scope that has more than half of the nodes; NULL if none has. */
static const char *largest(const groups *g)
{
    int          all = 0;
    const group *most = g->at;
    for (int i = 0; i < g->count; i++) {
        all += g->at[i].nodes;
        if (g->at[i].nodes > most->nodes) most = &g->at[i];
    }
    return g->count > 0 && 2 * most->nodes > all && *most->name ? most->name : NULL;
}

groups groups_make(const model *m, const concrete *c, grouping by, int depth)
{
    enum { MOST_SCOPES = 60 };
    groups      g = put_together(m, c, by, depth > 0 ? depth : 1, "");
    const char *inner;
    while (by == BY_SCOPE && depth == 0 && (inner = largest(&g)) && strcmp(inner, g.open) != 0) {
        const groups next = put_together(m, c, by, 1, inner);
        if (next.count > MOST_SCOPES) break;
        g = next;
    }
    return g;
}
