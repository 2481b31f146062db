/* body_variables.c -- variables that a body updates. In the body such a variable is an ordinary
 * value: an argument holds the first value, each update yields a new value, and the last one is a
 * result of the body. The graph that contains the loop or branch reads the variable before it and
 * assigns the result after it, so a session finds all updates of variables in the outer graph.
 *
 * Which of these values a node of the body gets follows the rules of a session
 * (variable_order.c). Without control edges it is the value from before the iteration. A read
 * (eddy_read) gets the value after the updates on which it depends, and so does another node if
 * it depends on them through a control edge. */
#include "control/trace_functions.h"
#include "ops/ops.h"
#include "build/gen/table.h"

static bool is_update(const eddy_graph *g, int32_t id)
{
    const eddy_node *node = g->nodes[id];
    return (node->op->flags & EDDY_OP_UPDATES) && !node->traced &&
           !eddy_collection_has(g, EDDY_INITIALIZERS,
                                eddy__tensor_at((eddy_graph *)(uintptr_t)g, id, 0));
}

int eddy__extract_variable(const extraction *e, eddy_tensor t)
{
    for (int k = 0; k < e->n_vars; k++)
        if (eddy_same(e->vars[k], t)) return k;
    return -1;
}

static bool find_variables(extraction *e, int32_t first)
{
    int n = 0;
    for (int32_t id = first; id <= e->size; id++) n += is_update(e->from, id);
    if (n == 0) return true;
    e->vars = eddy__extract_room(e, n, sizeof *e->vars);
    for (int32_t id = first; e->vars && id <= e->size; id++) {
        if (!is_update(e->from, id)) continue;
        const eddy_tensor var = e->from->nodes[id]->inputs[0];
        if (eddy__extract_variable(e, var) < 0) e->vars[e->n_vars++] = var;
    }
    return e->vars != NULL;
}

static void wait_for(int32_t *of, const int32_t *other, int n)
{
    for (int k = 0; k < n; k++)
        if (other[k] > of[k]) of[k] = other[k];
}

/* By variable, the last update for which a node of the function waits in any way; and, behind
 * these, by a control edge. */
static int32_t *waits_of(const extraction *e, int32_t id)
{
    return e->waits + 2 * (int64_t)e->n_vars * (id - e->first);
}

static void find_waits(extraction *e, const eddy_node *node)
{
    const int n = e->n_vars;
    int32_t  *any = waits_of(e, node->id), *by_control = any + n;
    for (int i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i].node < e->first) continue;
        const int32_t *of = waits_of(e, node->inputs[i].node);
        wait_for(any, of, n);
        wait_for(by_control, of + n, n);
    }
    for (int i = 0; i < node->n_controls; i++)
        if (node->controls[i] >= e->first) wait_for(by_control, waits_of(e, node->controls[i]), n);
    wait_for(any, by_control, n);
}

bool eddy__extract_variables(extraction *e, const int32_t *parts, int n_parts)
{
    e->first = parts[0];
    if (!find_variables(e, e->first)) return false;
    const int n = e->n_vars;
    if (n == 0) return true;
    e->waits = eddy__extract_room(e, 2 * (int64_t)n * (e->size - e->first + 1), sizeof *e->waits);
    e->before = eddy__extract_room(e, (int64_t)e->size + 1, sizeof *e->before);
    e->last = eddy__extract_room(e, (int64_t)n * n_parts, sizeof *e->last);
    if (!e->waits || !e->before || !e->last) return false;
    for (int p = 0; p < n_parts; p++)
        for (int32_t id = parts[p]; id < parts[p + 1]; id++) {
            find_waits(e, e->from->nodes[id]);
            if (!is_update(e->from, id)) continue;
            const int k = eddy__extract_variable(e, e->from->nodes[id]->inputs[0]);
            e->before[id] = e->last[p * n + k];
            waits_of(e, id)[k] = e->last[p * n + k] = id;
            eddy__extract_also(e, id);
        }
    return true;
}

/* The value of variable k after the update `id`, or at the beginning. */
static eddy_tensor value_after(const extraction *e, int k, int32_t id)
{
    return id > 0 ? e->images[id][0] : eddy__extract_image(e, e->vars[k]);
}

eddy_tensor eddy__extract_last(const extraction *e, int part, int k)
{
    return value_after(e, k, e->last[part * e->n_vars + k]);
}

eddy_tensor eddy__extract_input(const extraction *e, const eddy_node *node, int i)
{
    const int k = eddy__extract_variable(e, node->inputs[i]);
    if (k < 0) return eddy__extract_image(e, node->inputs[i]);
    if (i == 0 && (node->op->flags & EDDY_OP_UPDATES))
        return value_after(e, k, e->before[node->id]);
    if (node->id < e->first) return value_after(e, k, 0);
    const bool reads = i == 0 && (node->op->flags & EDDY_OP_READ);
    return value_after(e, k, waits_of(e, node->id)[reads ? k : e->n_vars + k]);
}

const eddy_op_def *eddy__extract_function(const eddy_node *node, eddy_type var)
{
    const eddy_type value = node->n_inputs > 1 ? eddy__type_of(node->inputs[1]) : var;
    const bool      alike = eddy_shape_is_known(var.shape) &&
                       eddy_shape_equal(var.shape, value.shape);
    if (node->op == &eddy_op_assign) return &eddy_op_identity;
    if (node->op == &eddy_op_assign_add && alike) return &eddy_op_add;
    if (node->op == &eddy_op_assign_sub && alike) return &eddy_op_sub;
    return node->op;            /* appending makes a function of it */
}

/* ------------------------------------------------------- around the node -- */

bool eddy__variables_begin(const extraction *e, eddy_tensor *values)
{
    for (int k = 0; k < e->n_vars; k++)
        values[k] = eddy_apply1(&eddy_op_latest_value, NULL, e->vars[k]);
    return eddy__graph_ready(e->from);
}

void eddy__variables_end(const extraction *e, eddy_tensor node, int first, eddy_tensor *out, int n)
{
    eddy_graph *g = e->from;
    if (e->n_vars == 0 || !eddy_is_valid(node)) return;
    for (int k = 0; k < e->n_vars; k++) eddy_assign(e->vars[k], eddy_output(node, first + k));
    const int waits = eddy__variables_wait(eddy_node_of(node), g);
    for (int k = 0; k < n; k++) out[k] = eddy_identity(out[k]);
    for (int k = 0; k < waits; k++) eddy_control_end(g);
}

/* The node begins with the variable. */
static bool takes_variable(const eddy_node *node, const eddy_graph *g, eddy_tensor var)
{
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_node *in = g->nodes[node->inputs[i].node];
        if (in->op == &eddy_op_latest_value && eddy_same(in->inputs[0], var)) return true;
    }
    return false;
}

int eddy__variables_wait(const eddy_node *node, eddy_graph *g)
{
    int n = 0;
    for (int32_t id = node->id + 1; id <= g->size; id++, n++) {
        const eddy_node *next = g->nodes[id];
        if (next->op != &eddy_op_assign || next->inputs[1].node != node->id ||
            !takes_variable(node, g, next->inputs[0]))
            break;
        eddy_control_begin(g, EDDY_LIST(eddy__tensor_at(g, id, 0)));
    }
    return n;
}
