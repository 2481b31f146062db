/* moved_elements.c -- the sets of operations that move, repeat or select elements: the operation is
 * applied to the numbers of the sets, with its own kernel. */
#include "autodiff/sparse/dependence.h"
#include "ops/ops.h"
#include "session/session.h"

static bool is_moving(const eddy_node *node)
{
    return (node->op->flags & (EDDY_OP_MOVES | EDDY_OP_JOINS)) != 0;
}

/* The numbers of the sets of t; zeros if it does not depend on x. */
static eddy_array *numbers_of(const eddy_dependence *d, eddy_tensor t)
{
    const int32_t *sets = eddy__sets_of(d, t);
    eddy_array    *a = eddy_array_new(EDDY_FLOAT64, eddy_shape_of(t));
    for (int64_t i = 0; a && sets && i < eddy_array_count(a); i++) eddy_array_set(a, i, sets[i]);
    return a;
}

/* Input t of the operation in another graph: the numbers, or the constant that it is; invalid if
 * its elements are not known. */
static eddy_tensor stand_in(const eddy_dependence *d, eddy_graph *g, eddy_tensor t)
{
    const eddy_node  *node = eddy_node_of(t);
    const eddy_array *value = NULL;
    eddy_array       *numbers = NULL;
    if (eddy_dtype_is_floating(eddy_dtype_of(t)) && eddy_shape_is_known(eddy_shape_of(t)))
        value = numbers = numbers_of(d, t);
    else if (node->op->flags & EDDY_OP_CONSTANT)
        value = *(eddy_array *const *)(const void *)((const char *)node->attrs +
                                                     node->op->attrs[0].offset);
    const eddy_tensor y = value ? eddy_constant(g, value, NULL) : eddy_none(g);
    eddy_array_free(numbers);
    return y;
}

static bool read_numbers(const eddy_dependence *d, const eddy_array *a, int32_t *out)
{
    for (int64_t i = 0; a && i < eddy_array_count(a); i++) {
        const double v = eddy_array_get(a, i);
        out[i] = v > 0 && v < d->sets.size ? (int32_t)v : 0;       /* a padding may be any number */
    }
    return a != NULL;
}

bool eddy__moved_sets(const eddy_dependence *d, const eddy_node *node, int32_t *out)
{
    if (!is_moving(node) || !out) return is_moving(node);
    eddy_graph  *g = eddy_graph_new(.allocator = eddy__graph_allocator(d->graph));
    eddy_tensor *in = eddy__tensors_new(d->graph, node->n_inputs);
    bool         known = g && in;
    for (int i = 0; known && i < node->n_inputs; i++) {
        in[i] = stand_in(d, g, node->inputs[i]);
        known = eddy_is_valid(in[i]);
    }
    eddy_tensor y = known ? eddy_apply(node->op, node->attrs, node->n_inputs, in,
                                       (eddy_apply_args){ .graph = g })
                          : eddy_none(g);
    for (int k = 0; known && k < node->n_outputs; k++) {
        const eddy_tensor part = eddy_output(y, k);
        known = eddy_is_valid(part) &&
                eddy_shape_equal(eddy_shape_of(part), node->outputs[k].shape) &&
                read_numbers(d, eddy_eval(part), out);
        out += known ? eddy_shape_count(node->outputs[k].shape) : 0;
    }
    if (in) eddy__tensors_free(d->graph, in, node->n_inputs);
    eddy_graph_free(g);
    return known;
}
