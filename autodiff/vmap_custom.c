/* vmap_custom.c -- vmap of nodes with a registered (custom) gradient.
 *
 * Such a node is built for all examples like any other. Its results then pass through an
 * IdentityN over [results, inputs], whose gradient calls the registered rule for one example and
 * maps the nodes that the rule builds. */
#include "autodiff/internal.h"
#include "ops/ops.h"

#include <string.h>

/* The data of the map that the gradient needs; freed with the graph. */
typedef struct mapped_rule {
    eddy_allocator   allocator;
    size_t           bytes;
    const eddy_node *node;            /* the node for one example */
    const bool      *batched;         /* an entry an input: it had its own for each example */
    const eddy_placeholders *all;        /* of the map */
    bool             own[];           /* `batched` */
} mapped_rule;

static void release_mapped(void *object)
{
    mapped_rule   *m = object;
    eddy_allocator memory = m->allocator;
    eddy__release(&memory, m, m->bytes);
}

/* The registered rule for one example, y's gradients d: dx, an entry an input. */
static bool call_rule_per_example(eddy_rule *r, const mapped_rule *m, const eddy_tensor *d,
                                  eddy_tensor *y, eddy_tensor *dx)
{
    const eddy_node       *node = m->node;
    const eddy_named_rule *named = eddy__rule_named(r->graph, node->gradient);
    if (!named) {
        eddy_fail(
            r->graph, EDDY_NO_GRADIENT,
            "No gradient is registered as '%.200s', requested by operation '%.300s' (op type: %s)",
            node->gradient, node->name, node->op->name);
        return false;
    }
    for (int k = 0; k < r->n_out; k++) y[k] = eddy__tensor_at(r->graph, node->id, k);
    eddy_rule one = {
        .graph = r->graph, .node = node, .attrs = node->attrs, .x = node->inputs, .y = y, .dy = d,
        .dx = dx, .n_in = node->n_inputs, .n_out = r->n_out, .n_dx = node->n_inputs,
        .context = named->context,
    };
    const eddy_custom_rule custom = r->graph->custom;
    r->graph->custom.node = node;
    named->rule(&one);
    r->graph->custom = custom;
    r->n_dx = one.n_dx + r->n_out;
    for (int i = 0; i < node->n_inputs && node->op->flags & EDDY_OP_ELEMENTWISE; i++)
        if (eddy_is_valid(dx[i])) dx[i] = eddy_sum_like(dx[i], node->inputs[i]);
    return eddy__graph_ready(r->graph) && one.n_dx == node->n_inputs;
}

/* Shared inputs get the sum over the examples. */
static void mapped_gradient(eddy_rule *r)
{
    const mapped_rule *m = r->context;
    const int          inputs = m->node->n_inputs, known = m->all->n, most = known + r->n_out;
    const int64_t      room = 2 * (int64_t)most + r->n_out + 2 * (int64_t)inputs;
    eddy_tensor       *placeholders = eddy__tensors_new(r->graph, room);
    if (!placeholders) return;
    r->graph->custom = eddy__custom_rule_of(r->graph, r->node);
    eddy_tensor *batches = placeholders + most, *y = batches + most, *dx = y + r->n_out;
    eddy_tensor *all = dx + inputs, *d = placeholders + known;
    memcpy(placeholders, m->all->at, (size_t)known * sizeof *placeholders);
    memcpy(batches, m->all->at + m->all->room, (size_t)known * sizeof *batches);
    int n = known;
    for (int k = 0; k < r->n_out; k++) {
        batches[known + k] = eddy_is_valid(r->dy[k]) ? r->dy[k] : batches[0];
        d[k] = eddy_example(batches[known + k]);
        n++;
    }
    const eddy_examples each = { n, placeholders, batches, eddy_graph_size(r->graph) };
    if (call_rule_per_example(r, m, d, y, dx) &&
        eddy__vectorize_random(r->graph, each, inputs, dx, all))
        for (int i = 0; i < inputs; i++) {
            if (!eddy_is_valid(dx[i])) continue;
            if (!eddy_is_valid(all[i])) all[i] = eddy_batch_like(dx[i], batches[0]);
            r->dx[r->n_out + i] = m->batched[i] ? all[i] : eddy_sum(all[i], EDDY_AXES(0));
        }
    eddy__tensors_free(r->graph, placeholders, room);
}

/* A registered gradient of an ordinary operation counts as one of its node. */
static eddy_custom_rule rule_per_example(const eddy_graph *g, const eddy_node *node)
{
    const eddy_custom_rule custom = eddy__custom_rule_of(g, node);
    if (custom.name) return custom;
    return (eddy_custom_rule){ node, node->gradient, node->name, 0 };
}

eddy_custom_rule eddy__mapped_rule_of(const eddy_graph *g, const eddy_node *node,
                                      const eddy_named_rule *rule)
{
    if (rule->rule != mapped_gradient) return (eddy_custom_rule){ 0 };
    const mapped_rule *m = rule->context;
    eddy_custom_rule   custom = rule_per_example(g, m->node);
    custom.node = node;
    custom.first += node->n_outputs;
    return custom;
}

void eddy__vmap_keep_gradient(eddy_batch *b, const eddy_placeholders *all)
{
    eddy_graph *g = b->graph;
    if (strcmp(b->node->gradient, eddy__recompute_rule.name) == 0) return;
    const size_t flags = (size_t)b->n_in * sizeof(bool), bytes = sizeof(mapped_rule) + flags;
    mapped_rule *m = eddy__allocate(eddy__graph_allocator(g), bytes);
    const int64_t count = (int64_t)b->n_out + b->n_in;
    eddy_tensor *in = m ? eddy__tensors_new(g, count) : NULL;
    if (!m) eddy_fail(g, EDDY_NO_MEMORY, "custom_gradient: out of memory");
    if (!in) {
        eddy__release(eddy__graph_allocator(g), m, bytes);
        return;
    }
    *m = (mapped_rule){ .allocator = *eddy__graph_allocator(g), .bytes = bytes, .node = b->node,
                        .all = all };
    m->batched = memcpy(m->own, b->batched, flags);
    char name[64];
    snprintf(name, sizeof name, "vmap_gradient_%d", (int)eddy_graph_size(g) + 1);
    memcpy(in, b->y, (size_t)b->n_out * sizeof *in);
    memcpy(in + b->n_out, b->x, (size_t)b->n_in * sizeof *in);
    if (eddy_graph_own(g, m, release_mapped) &&
        eddy_register_gradient(g, name, mapped_gradient, m)) {
        eddy_gradient_override_begin(g, "IdentityN", name);
        eddy_tensor t = eddy_identity_n((eddy_list){ (int)count, in }, b->n_out);
        eddy_gradient_override_end(g);
        for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_output(t, k);
    }
    eddy__tensors_free(g, in, count);
}
