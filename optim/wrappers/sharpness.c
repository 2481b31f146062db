/* sharpness.c -- SAM, sharpness-aware minimization: gradients at the worst point nearby (Foret
 * et al. 2021).
 *
 *   e = rho g / |g|,  the gradient at x + e
 *
 * A graph evaluates a variable at one point per run. So the nodes between variables and loss are
 * built once more, on x + e instead of each x. */
#include "optim/internal.h"
#include "graph/call_options.h"
#include "optim/wrappers/wrappers.h"
#include "autodiff/internal.h"
#include "ops/short_names.h"

static const char what[] = "sharpness_aware_gradients";

static bool holds_graph(const eddy_node *node)
{
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++)
        if (f->kind == EDDY_ATTR_GRAPH) return true;
    return false;
}

/* Rebuilds a node of the subgraph from the replacements of its inputs. */
static eddy_tensor rebuilt(eddy_subgraph *s, const eddy_node *node)
{
    eddy_graph *g = s->graph;
    if (holds_graph(node) || (node->op->flags & EDDY_OP_UPDATES))
        return eddy_fail(g, EDDY_UNIMPLEMENTED, "%s: '%s', between the variables and the loss, %s",
                         what, node->name,
                         holds_graph(node) ? "holds a graph" : "updates a variable");
    if (node->op->flags & EDDY_OP_READ) return eddy__subgraph_replacement(s, node->inputs[0]);
    eddy_tensor *in = eddy__tensors_new(g, node->n_inputs + node->n_controls), *after;
    if (!in) return eddy_none(g);
    after = in + node->n_inputs;
    for (int i = 0; i < node->n_inputs; i++) in[i] = eddy__subgraph_replacement(s, node->inputs[i]);
    for (int i = 0; i < node->n_controls; i++) after[i] = eddy_node_at(g, node->controls[i]);
    eddy_control_begin(g, (eddy_list){ node->n_controls, after });
    if (node->gradient) eddy_gradient_override_begin(g, node->op->name, node->gradient);
    eddy_tensor y = eddy_apply(node->op, node->attrs, node->n_inputs, in,
                               (eddy_apply_args){ .graph = g });
    if (node->gradient) eddy_gradient_override_end(g);
    eddy_control_end(g);
    eddy__tensors_free(g, in, node->n_inputs + node->n_controls);
    return y;
}

/* The loss as a function of the shifted variables. */
static eddy_tensor moved_loss(eddy_graph *g, const eddy_pairs *p, const eddy_tensor *from,
                              const eddy_tensor *moved)
{
    eddy_subgraph s;
    eddy_tensor   loss = eddy_none(g);
    const bool    ok = eddy__subgraph_begin(&s, g, p->count, from, 1, &p->loss);
    for (int i = 0; ok && i < p->count; i++) eddy__subgraph_replace(&s, from[i], moved[i]);
    for (int32_t id = s.first; ok && eddy__graph_ready(g) && id <= s.last; id++) {
        const eddy_tensor t = eddy_node_at(g, id);
        if (!eddy__subgraph_has(&s, t, EDDY_BETWEEN) || eddy__subgraph_has(&s, t, EDDY_SOURCE))
            continue;
        const eddy_node *node = eddy_node_of(t);
        const eddy_tensor y = rebuilt(&s, node);
        for (int k = 0; eddy_is_valid(y) && k < node->n_outputs; k++)
            eddy__subgraph_replace(&s, eddy_output(t, k), k == 0 ? y : eddy_output(y, k));
    }
    if (ok) loss = eddy__subgraph_replacement(&s, p->loss);
    eddy__subgraph_end(&s);
    return loss;
}

/* The norm of all gradients; IndexedSlices count as dense tensors. */
static eddy_tensor norm_of(eddy_graph *g, const eddy_pairs *p)
{
    eddy_tensor sum = eddy_number(g, EDDY_FLOAT64, 0);
    for (int i = 0; i < p->count; i++)
        if (p->at[i].gradient.node != 0)
            sum = Add(sum, eddy_cast(Sum(Square(p->at[i].gradient)), EDDY_FLOAT64));
    return Sqrt(sum);
}

/* Each variable moved by rho, one without a gradient not at all. */
static void move_variables(eddy_graph *graph, const eddy_pairs *p, eddy_tensor rho,
                           eddy_tensor *from, eddy_tensor *moved)
{
    eddy_tensor scale = DivNoNan(eddy_cast(rho, EDDY_FLOAT64), norm_of(graph, p));
    for (int i = 0; i < p->count; i++) {
        const eddy_tensor v = from[i] = p->at[i].variable, g = p->at[i].gradient;
        moved[i] = g.node == 0 ? eddy_identity(v) : Add(v, Mul(eddy_hyper(scale, v), g));
    }
}

/* The pairs with the gradients at the shifted point. */
static void sharpen(eddy_optimizer *o, eddy_pairs *p, eddy_tensor rho)
{
    eddy_graph *g = o->graph;
    int some = 0;
    for (int i = 0; i < p->count; i++) {
        some += p->at[i].gradient.node != 0;
        if (!eddy__is_part(p->at[i].variable)) continue;
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: this process has only a part of '%.200s'", what,
                  eddy_name_of(p->at[i].variable));
        return;
    }
    if (some == 0) return;
    const int    n = p->count;
    eddy_tensor *from = eddy__tensors_new(g, 3 * (int64_t)n), *moved, *gradient;
    if (!from) return;
    moved = from + n;
    gradient = moved + n;
    eddy_scope_begin(g, what);
    move_variables(g, p, rho, from, moved);
    eddy_tensor loss = moved_loss(g, p, from, moved);
    const eddy_scaling scaling = eddy__scaling_of(o, p->loss);
    const eddy_tensor  weight[] = { eddy__scaled_weight(&scaling, loss, eddy_none(g)) };
    if (eddy__graph_ready(g))
        eddy_gradients(EDDY_LIST(loss), ((eddy_list){ n, moved }), gradient,
                       .grad_ys = { weight[0].node ? 1 : 0, weight });
    eddy_scope_end(g);
    for (int i = 0; i < n; i++) p->at[i].gradient = eddy__unscaled(&scaling, gradient[i]);
    eddy__tensors_free(g, from, 3 * (int64_t)n);
}

int eddy_sharpness_aware_gradients_with(const eddy_sharpness_aware_args *given)
{
    eddy_sharpness_aware_args a = EDDY_TAKE(eddy_sharpness_aware_args, given);
    for (int i = 0; a.out && i < a.max_out; i++) a.out[i] = (eddy_gradient_pair){ 0 };
    eddy_graph *g = eddy__optimizer_ready(a.optimizer);
    if (!g) {
        eddy_fail(a.loss.graph, EDDY_INVALID_ARGUMENT, "%s: the optimizer is NULL or not valid",
                  what);
        return 0;
    }
    const eddy_compute_gradients_args c = { .optimizer = a.optimizer, .loss = a.loss,
                                            .var_list = a.var_list };
    eddy_pairs p = { 0 };
    const int  room = a.out ? a.max_out : 0;
    if (eddy__hyper_settle(g, "sharpness_aware_gradients: rho", &a.rho,
                           EDDY_DEFAULT_OF(eddy_sharpness_aware_args, rho)) &&
        eddy__pairs_compute(g, &c, &p) && p.count > room)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: the number of variables is %d, but there is room for %d", what, p.count,
                  room);
    if (eddy__graph_ready(g)) sharpen(a.optimizer, &p, a.rho);
    const int n = eddy__graph_ready(g) ? p.count : 0;
    for (int i = 0; i < n; i++) a.out[i] = p.at[i];
    eddy__pairs_release(g, &p);
    return n;
}
