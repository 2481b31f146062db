/* extract_simplify.c -- a `where` or a branch whose condition has become constant. */
#include "session/extract/extract_parts.h"
#include "graph/base/dtype.h"
#include "build/gen/table.h"

#include <string.h>

/* The value of a condition that was none in the old graph; NULL otherwise. */
static const eddy_array *condition(const extract_step *s, eddy_tensor t)
{
    const eddy_tensor image = eddy__copy_image(&s->copy, t);
    const bool was = t.node < s->was->room && s->was->fresh[t.node];
    const bool is = image.node < s->now.room && s->now.fresh[image.node];
    const eddy_array *a = was || is ? eddy_constant_value(image) : NULL;
    return a && eddy_array_count(a) == 1 ? a : NULL;
}

/* A constant has one image for all its readers, so that of another output may be set too. */
static bool put(eddy_copy *c, const eddy_node *node, int k, eddy_tensor image)
{
    c->changed[node->id] |= !eddy_shape_equal(eddy_shape_of(image), node->outputs[k].shape);
    return eddy__copy_set_image(c, eddy__tensor_at(c->from, node->id, k), image);
}

/* The operand has the shape of the result, which is then no broadcast of it. */
static bool keeps_shape(const extract_step *s, const eddy_node *node, eddy_tensor operand)
{
    const eddy_shape *from = s->samples[operand.node], *to = s->samples[node->id];
    return from && to && eddy_shape_is_known(*to) &&
           eddy_shape_equal(from[operand.output], *to);
}

static bool choose_operand(extract_step *s, const eddy_node *node)
{
    const eddy_array *when = condition(s, node->inputs[0]);
    if (!when) return false;
    const eddy_tensor chosen = node->inputs[eddy_array_get(when, 0) != 0 ? 1 : 2];
    if (!keeps_shape(s, node, chosen)) return false;
    s->changes++;
    put(&s->copy, node, 0, eddy__copy_image(&s->copy, chosen));
    return true;
}

/* -------------------------------------------------------------- branches -- */

/* A branch that updates values of variables works only as a body. */
static bool is_plain(const eddy_graph *body)
{
    for (int32_t id = 1; id <= body->size; id++)
        if (eddy__update_of(body->nodes[id]->op) != body->nodes[id]->op) return false;
    return true;
}

static bool set_arguments(eddy_copy *inside, const eddy_copy *c, const eddy_node *node)
{
    for (int i = 1; i < node->n_inputs; i++) {
        const eddy_tensor image = eddy__copy_image(c, node->inputs[i]);
        inside->changed[i] = !eddy_shape_equal(eddy_shape_of(image),
                                               inside->from->nodes[i]->outputs[0].shape);
        if (!eddy__copy_set_image(inside, eddy__tensor_at(inside->from, i, 0), image)) return false;
    }
    return true;
}

static bool copy_branch(eddy_copy *inside, eddy_copy *c, const eddy_node *node, int64_t branch)
{
    const eddy_case_attrs *a = node->attrs;
    if (!set_arguments(inside, c, node) || !eddy__copy_effects(inside)) return false;
    for (int64_t k = 0; k < a->n_out; k++)
        eddy__copy_need(inside, eddy__body_out(a->body, a->outs, branch * a->n_out + k));
    eddy__copy_find(inside);
    eddy_scope_begin(c->to, node->name);
    const bool ok = eddy__copy_nodes(inside);
    eddy_scope_end(c->to);
    for (int64_t k = 0; ok && k < a->n_out; k++) {
        const eddy_tensor out = eddy__body_out(a->body, a->outs, branch * a->n_out + k);
        if (!put(c, node, (int)k, eddy__copy_image(inside, out))) return false;
    }
    return ok;
}

static bool choose_branch(extract_step *s, const eddy_node *node)
{
    const eddy_array      *index = condition(s, node->inputs[0]);
    const eddy_case_attrs *a = node->attrs;
    eddy_copy              inside;
    if (!index || eddy__body_acts(node) || !is_plain(a->body)) return false;
    const int64_t i = (int64_t)eddy_array_get(index, 0);
    const int64_t branch = i >= 0 && i < a->n_branches ? i : a->n_branches - 1;
    s->changes++;
    if (eddy__copy_begin(&inside, a->body, s->now.graph))
        copy_branch(&inside, &s->copy, node, branch);
    eddy__copy_end(&inside);
    return true;
}

/* A node that waits for others stays, because these would not run otherwise. */
bool eddy__extract_simplify(eddy_copy *c, const eddy_node *node)
{
    extract_step *s = c->context;
    if (node->n_controls > 0) return false;
    if (node->op == &eddy_op_where) return choose_operand(s, node);
    if (node->op->flags & EDDY_OP_CASE) return choose_branch(s, node);
    return eddy__extract_scale(s, node);
}

/* ----------------------------------------------------------------- samples -- */

/* Different primes, so that sizes are equal only if they always are. */
static int64_t sample_size(int64_t *last)
{
    for (int64_t n = *last + 2;; n += 2) {
        int64_t d = 3;
        while (d * d <= n && n % d != 0) d += 2;
        if (d * d <= n) continue;
        return *last = n;
    }
}

enum { BATCH = 1009 };

/* The types of the inputs in the sample; NULL if one has none, or out of memory. */
static eddy_type *sample_inputs(extract_step *s, const eddy_node *node)
{
    eddy_type *in = eddy__copy_room(&s->copy, node->n_inputs, sizeof *in);
    for (int i = 0; in && i < node->n_inputs; i++) {
        const eddy_tensor t = node->inputs[i];
        if (!s->samples[t.node]) return NULL;
        in[i] = (eddy_type){ eddy_dtype_of(t), s->samples[t.node][t.output] };
    }
    return in;
}

/* The types of the outputs; false if nothing can be said of them. */
static bool sample_outputs(extract_step *s, const eddy_node *node, eddy_type **out)
{
    eddy_copy         *c = &s->copy;
    const eddy_array **values = eddy__copy_room(c, node->n_inputs, sizeof *values);
    const eddy_type   *in = sample_inputs(s, node);
    eddy_error         e = { 0 };
    int                n;
    for (int i = 0; values && i < node->n_inputs; i++)
        if (eddy__input_is_in(node->op->value_inputs, i))
            values[i] = eddy_constant_value(node->inputs[i]);
    const bool ok = values && in &&
                    eddy__infer_types(node->op, (void *)(uintptr_t)node->attrs, true,
                                      node->n_inputs, in, values, &c->arena, out, &n,
                                      node->name, &e);
    if (e.status == EDDY_NO_MEMORY) eddy_fail(c->to, e.status, "%s", e.message);
    return ok && n == node->n_outputs;
}

static bool is_fed(const eddy_node *node)
{
    return (node->op->flags & EDDY_OP_PLACEHOLDER) || node->op == &eddy_op_placeholder_with_default;
}

static void sample_node(extract_step *s, const eddy_node *node, int64_t *last)
{
    eddy_type *out = node->outputs;
    const bool source = is_fed(node) || (node->op->flags & EDDY_OP_VARIABLE);
    if (!source && !sample_outputs(s, node, &out)) return;
    eddy_shape *shapes = eddy__copy_room(&s->copy, node->n_outputs, sizeof *shapes);
    for (int k = 0; shapes && k < node->n_outputs; k++) {
        shapes[k] = out[k].shape;
        for (int d = 0; d < shapes[k].rank; d++)
            if (shapes[k].dim[d] < 0)
                shapes[k].dim[d] = is_fed(node) && d == 0 ? BATCH : sample_size(last);
    }
    s->samples[node->id] = shapes;
}

/* Nodes of which nothing can be said have no sample. */
bool eddy__extract_samples(extract_step *s)
{
    int64_t last = BATCH;
    s->samples = eddy__copy_room(&s->copy, (int64_t)s->copy.size + 1, sizeof *s->samples);
    for (int32_t id = 1; s->samples && id <= s->copy.size; id++)
        sample_node(s, s->was->graph->nodes[id], &last);
    return eddy__graph_ready(s->now.graph);
}
