/* copy.c -- see copy.h. */
#include "graph/copy.h"

#include <string.h>

void *eddy__copy_room(eddy_copy *c, int64_t n, size_t size)
{
    const size_t bytes = (size_t)(n > 0 ? n : 1) * size;
    void        *p = eddy__arena_alloc(&c->arena, bytes);
    if (p) memset(p, 0, bytes);
    else eddy_fail(c->to, EDDY_NO_MEMORY, "out of memory for a copy (nodes: %lld)", (long long)n);
    return p;
}

bool eddy__copy_begin(eddy_copy *c, eddy_graph *from, eddy_graph *to)
{
    *c = (eddy_copy){ .from = from, .to = to, .size = from->size,
                      .arena.allocator = eddy__graph_allocator(to) };
    const int64_t n = (int64_t)from->size + 1;
    c->images = eddy__copy_room(c, n, sizeof *c->images);
    c->needed = eddy__copy_room(c, n, 1);
    c->changed = eddy__copy_room(c, n, 1);
    c->waiting = eddy__copy_room(c, n, sizeof *c->waiting);
    return c->images && c->needed && c->changed && c->waiting;
}

void eddy__copy_end(eddy_copy *c) { eddy__arena_free(&c->arena); }

eddy_tensor eddy__copy_image(const eddy_copy *c, eddy_tensor t)
{
    return c->images[t.node] ? c->images[t.node][t.output] : eddy_none(c->to);
}

bool eddy__copy_set_image(eddy_copy *c, eddy_tensor t, eddy_tensor image)
{
    eddy_tensor **at = &c->images[t.node];
    const int     n = c->from->nodes[t.node]->n_outputs;
    if (!*at) *at = eddy__copy_room(c, n > 0 ? n : 1, sizeof **at);
    if (*at) (*at)[t.output] = image;
    return *at != NULL;
}

/* --------------------------------------------------------- what is needed -- */

bool eddy__copy_effects(eddy_copy *c)
{
    uint8_t *acts = eddy__copy_room(c, (int64_t)c->size + 1, 1);
    for (int32_t id = 1; acts && id <= c->size; id++) {
        const eddy_node *node = c->from->nodes[id];
        acts[id] = node->op->flags & EDDY_OP_BODY ? eddy__body_acts(node)
                                                  : (node->op->flags & EDDY_OP_SIDE_EFFECT) != 0;
        for (int i = 0; i < node->n_inputs; i++) acts[id] |= acts[node->inputs[i].node];
        for (int i = 0; i < node->n_controls; i++) acts[id] |= acts[node->controls[i]];
    }
    c->acts = acts;
    return acts != NULL;
}

static void need_node(eddy_copy *c, int32_t id)
{
    if (c->needed[id]) return;
    c->needed[id] = 1;
    c->waiting[c->n_waiting++] = id;
    c->has_variables = c->has_variables || (c->from->nodes[id]->op->flags & EDDY_OP_VARIABLE);
}

void eddy__copy_need(eddy_copy *c, eddy_tensor t)
{
    if (!eddy_is_valid(eddy__copy_image(c, t))) need_node(c, t.node);
}

static void find_inputs(eddy_copy *c)
{
    while (c->n_waiting > 0) {
        const eddy_node *node = c->from->nodes[c->waiting[--c->n_waiting]];
        for (int i = 0; i < node->n_inputs; i++) eddy__copy_need(c, node->inputs[i]);
        for (int i = 0; i < node->n_controls && c->acts; i++)
            if (c->acts[node->controls[i]]) need_node(c, node->controls[i]);
    }
}

static void find_initializers(eddy_copy *c, const char *key)
{
    const int n = eddy_collection_size(c->from, key);
    for (int i = 0; i < n; i++) {
        const eddy_node *node = eddy_node_of(eddy_collection_at(c->from, key, i));
        if (node && node->id <= c->size && node->n_inputs > 0 &&
            c->needed[node->inputs[0].node] && (node->op->flags & EDDY_OP_UPDATES) &&
            !(c->frozen && c->frozen[node->inputs[0].node]))
            need_node(c, node->id);
    }
}

/* The initial value of a variable may be computed from another variable. */
void eddy__copy_find(eddy_copy *c)
{
    do {
        find_inputs(c);
        if (!c->has_variables) return;
        find_initializers(c, EDDY_INITIALIZERS);
        find_initializers(c, EDDY_LOCAL_INITIALIZERS);
    } while (c->n_waiting > 0);
}

bool eddy__copy_reads(const eddy_copy *c, eddy_tensor t)
{
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->from->nodes[id];
        if (!c->needed[id]) continue;
        for (int i = 0; i < node->n_inputs; i++)
            if (eddy_same(node->inputs[i], t)) return true;
    }
    return false;
}

/* ---------------------------------------------------------------- copying -- */

/* The id of the image of a node, of which any output will do; 0 if it has none. */
static int32_t image_of_node(const eddy_copy *c, int32_t id)
{
    const eddy_tensor *at = id > 0 ? c->images[id] : NULL;
    if (!at) return 0;
    for (int k = 0; k == 0 || k < c->from->nodes[id]->n_outputs; k++)
        if (at[k].node > 0) return at[k].node;
    return 0;
}

static int copy_controls(const eddy_copy *c, const eddy_node *node, int32_t *controls)
{
    int n = 0;
    for (int i = 0; i < node->n_controls; i++) {
        const int32_t id = c->needed[node->controls[i]] ? image_of_node(c, node->controls[i]) : 0;
        if (id > 0) controls[n++] = id;
    }
    return n;
}

/* Images of outputs that already have one stay. */
static bool set_images(eddy_copy *c, const eddy_node *node, int32_t id)
{
    for (int k = 0; k == 0 || k < node->n_outputs; k++) {
        const eddy_tensor t = eddy__tensor_at(c->from, node->id, k);
        if (eddy__copy_image(c, t).node > 0) continue;
        if (!eddy__copy_set_image(c, t, eddy__tensor_at(c->to, id, k))) return false;
    }
    return true;
}

static bool set_types(eddy_copy *c, const eddy_node *node, const eddy_node *copy)
{
    for (int i = 0; i < node->n_inputs; i++)
        c->changed[node->id] |= c->changed[node->inputs[i].node];
    if (c->changed[node->id]) return true;
    for (int k = 0; k < copy->n_outputs && k < node->n_outputs; k++)
        eddy_set_shape(eddy__tensor_at(c->to, copy->id, k), node->outputs[k].shape);
    return eddy__graph_ready(c->to);
}

bool eddy__copy_as(eddy_copy *c, const eddy_node *node, const eddy_op_def *op, const void *attrs,
                   int n, const eddy_tensor *in)
{
    int32_t *controls = eddy__copy_room(c, node->n_controls, sizeof *controls);
    if (!controls) return false;
    const int n_controls = copy_controls(c, node, controls);
    eddy__append((eddy_append_args){
        .graph = c->to, .op = op, .attrs = attrs, .n = n, .in = in, .name = node->name,
        .n_controls = n_controls, .controls = controls, .device = node->device,
        .gradient = node->gradient, .origin = image_of_node(c, node->origin),
        .colocate = image_of_node(c, node->colocate) });
    return eddy__graph_ready(c->to) && set_images(c, node, c->to->size) &&
           set_types(c, node, c->to->nodes[c->to->size]);
}

static bool copy_node(eddy_copy *c, const eddy_node *node)
{
    eddy_tensor *in = eddy__copy_room(c, node->n_inputs, sizeof *in);
    if (!in) return false;
    for (int i = 0; i < node->n_inputs; i++) in[i] = eddy__copy_image(c, node->inputs[i]);
    const void *attrs = node->attrs ? eddy__copy_attrs(c, node, in) : NULL;
    return (attrs || !node->attrs) &&
           eddy__copy_as(c, node, eddy__update_of(node->op), attrs, node->n_inputs, in);
}

bool eddy__copy_nodes(eddy_copy *c)
{
    const int32_t first = c->to->size + 1;
    for (int32_t id = 1; id <= c->size && eddy__graph_ready(c->to); id++) {
        if (c->needed[id] != 1) continue;
        const eddy_node *node = c->from->nodes[id];
        c->needed[id] = 2;
        if (c->instead && c->instead(c, node)) continue;
        if (!copy_node(c, node)) break;
    }
    for (int32_t id = first; id <= c->to->size && eddy__graph_ready(c->to); id++)
        eddy__names_reserve_scopes(c->to, c->to->nodes[id]->name);
    return eddy__graph_ready(c->to);
}

static bool was_frozen(const eddy_node *node, const eddy_node *image)
{
    return node->op->flags & ~image->op->flags & EDDY_OP_VARIABLE;
}

bool eddy__copy_collections(eddy_copy *c, bool (*skips)(const char *key))
{
    const int n = c->from->n_collections;
    for (int i = 0; i < n; i++) {
        const char *key = c->from->collections[i].key;
        const int   count = skips && skips(key) ? 0 : c->from->collections[i].count;
        for (int k = 0; k < count; k++) {
            const eddy_tensor t = c->from->collections[i].items[k];
            if (t.node > c->size || !c->needed[t.node]) continue;
            const eddy_node *image = eddy_node_of(eddy__copy_image(c, t));
            if (image && !was_frozen(c->from->nodes[t.node], image))
                eddy_collection_add(c->to, key, eddy__copy_image(c, t));
        }
    }
    return eddy__graph_ready(c->to);
}
