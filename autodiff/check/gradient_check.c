/* gradient_check.c -- gradient checking: compares gradients with finite differences, and finds the
 * operation whose rule is wrong.
 *
 * A comparison is a point at which ys are differentiated: the caller's ys and xs, their gradients
 * for the second order, or one operation at the values of its inputs. */
#include "autodiff/check/compare_derivatives.h"
#include "graph/call_options.h"
#include "graph/base/text.h"

#include <math.h>
#include <string.h>

enum { MAX_FAULTS = 8 };

/* ------------------------------------------------------------- faulty ops -- */

typedef struct fault {
    const eddy_node *node;
    int              input;
    mismatch         worst;
} fault;

/* The inputs of a node whose values are read, each once, and their indices. A reference need
 * not be an input, unless it is among xs. For a custom gradient, the results among the inputs
 * are skipped: it counts as one operation with all nodes between x and y. */
static int distinct_inputs(const eddy_subgraph *subgraph, const eddy_node *node, eddy_tensor *in,
                           int *number)
{
    int n = 0;
    for (int i = eddy__custom_rule_of(subgraph->graph, node).first; i < node->n_inputs; i++) {
        const bool reference = i == 0 && (node->op->flags & EDDY_OP_REFERENCE);
        int        k = 0;
        while (k < n && !eddy_same(in[k], node->inputs[i])) k++;
        if (k < n || (reference && !eddy__subgraph_input_depends(subgraph, node, i))) continue;
        number[n] = i;
        in[n++] = node->inputs[i];
    }
    return n;
}

/* Copies those of in[0..n) through which the node depends on xs to `out`. */
static int varying_inputs(const eddy_subgraph *subgraph, const eddy_node *node, int n,
                          const eddy_tensor *in, const int *number, eddy_tensor *out, int *from)
{
    int m = 0;
    for (int k = 0; k < n; k++) {
        if (!eddy__subgraph_input_depends(subgraph, node, number[k])) continue;
        from[m] = number[k];
        out[m++] = in[k];
    }
    return m;
}

/* True if the derivatives of the node alone disagree at the values that it has in p. */
static bool is_at_fault(comparison *p, const eddy_subgraph *subgraph, const eddy_node *node,
                        fault *f)
{
    const int    most = node->n_inputs;
    comparison   op = { .session = p->session, .graph = p->graph, .args = p->args, .alone = true };
    eddy_tensor *in = eddy__comparison_alloc(p, most, sizeof *in);
    eddy_tensor *xs = eddy__comparison_alloc(p, most, sizeof *xs);
    eddy_tensor *ys = eddy__comparison_alloc(p, node->n_outputs, sizeof *ys);
    eddy_array **values = eddy__comparison_alloc(p, most, sizeof *values);
    int         *number = eddy__comparison_alloc(p, most, sizeof *number);
    int         *from = eddy__comparison_alloc(p, most, sizeof *from);
    if (!in || !xs || !ys || !values || !number || !from) return false;
    for (int k = 0; k < node->n_outputs; k++) ys[k] = eddy__tensor_at(p->graph, node->id, k);
    const int n = distinct_inputs(subgraph, node, in, number);
    const int m = varying_inputs(subgraph, node, n, in, number, xs, from);
    if (m > 0 && eddy__comparison_fetch(p, n, in, values) &&
        eddy__comparison_begin(&op, (eddy_list){ node->n_outputs, ys }, (eddy_list){ m, xs },
                               (eddy_feeds){ p->n_feeds, p->feeds }, n)) {
        for (int k = 0; k < n; k++)
            if (!eddy__comparison_is_variable(in[k])) eddy__comparison_feed(&op, in[k], values[k]);
        eddy__comparison_run(&op);
    }
    const int first = eddy__custom_rule_of(p->graph, node).first;
    if (op.worst.excess > 1)
        *f = (fault){ node, from[op.number[op.worst.x]] - first, op.worst };
    eddy__comparison_end(&op);
    eddy__arrays_free(values, n);
    return op.worst.excess > 1;
}

enum { RELEVANT = 128 };    /* besides the marks of a subgraph */

/* Marks the nodes whose rules compute the gradients of ys with respect to xs. Nodes between the
 * inputs of a custom gradient and its node are not among them. */
static void mark_relevant(const comparison *p, eddy_subgraph *subgraph)
{
    for (int j = 0; j < p->n_y; j++)
        if (eddy__subgraph_has(subgraph, p->ys[j], EDDY_BETWEEN))
            subgraph->marks[p->ys[j].node - subgraph->first] |= RELEVANT;
    for (int32_t id = subgraph->last; id >= subgraph->first; id--) {
        const eddy_node *node = p->graph->nodes[id];
        if (!(subgraph->marks[id - subgraph->first] & RELEVANT)) continue;
        for (int i = eddy__custom_rule_of(p->graph, node).first; i < node->n_inputs; i++)
            if (eddy__subgraph_input_depends(subgraph, node, i))
                subgraph->marks[node->inputs[i].node - subgraph->first] |= RELEVANT;
    }
}

/* Checks each op between xs and ys alone. Returns how many disagree; the first of them are in
 * `faults`. */
static int find_faults(comparison *p, fault *faults)
{
    eddy_subgraph subgraph;
    const int32_t size = p->graph->size;
    int           n = 0;
    bool          ok = eddy__subgraph_begin(&subgraph, p->graph, p->n_x, p->xs, p->n_y, p->ys);
    if (ok) mark_relevant(p, &subgraph);
    for (int32_t id = subgraph.first; ok && id <= size && n < MAX_FAULTS; id++) {
        const eddy_node *node = p->graph->nodes[id];
        if (node->n_outputs == 0 || !eddy__subgraph_has(&subgraph, eddy__tensor_at(p->graph, id, 0),
                                                        EDDY_BETWEEN | RELEVANT))
            continue;
        n += is_at_fault(p, &subgraph, node, &faults[n]);
        eddy_graph_clear_error(p->graph);    /* an op that cannot be checked alone is skipped */
    }
    eddy__subgraph_end(&subgraph);
    return n;
}

/* ---------------------------------------------------------------- reporting -- */

/* Writes why the comparison could not be made. */
static void print_failure(const comparison *p, eddy_text *t)
{
    if (p->varies)
        eddy__text_put(t,
                       "the values of ys differ between runs; ys must not depend on random ops\n");
    else if (eddy_graph_status(p->graph) != EDDY_OK)
        eddy__text_put(t, "%s\n", eddy_graph_message(p->graph));
    else if (p->status == EDDY_NO_MEMORY)
        eddy__text_put(t, "out of memory for checking gradients\n");
    else
        eddy__text_put(t, "%s\n", eddy_session_message(p->session ? p->session : p->args->session));
}

/* The part of a complex element, as text; empty for real elements. */
static const char *part_of(eddy_tensor x, const mismatch *f)
{
    if (!eddy_dtype_is_complex(eddy_dtype_of(x))) return "";
    return f->imaginary ? " (imaginary part)" : " (real part)";
}

static void print_fault(const fault *f, eddy_text *t)
{
    const eddy_node  *node = f->node;
    const eddy_tensor first = node->inputs[0];
    const eddy_custom_rule custom = eddy__custom_rule_of(first.graph, node);
    const int              results = custom.first;
    if (custom.name) eddy__text_put(t, "gradient '%s' of '%s'", custom.name, custom.of);
    else eddy__text_put(t, "op %s [node '%s']", node->op->name, node->name);
    eddy__text_put(t, ", input %d, element %lld%s: ", f->input, (long long)f->worst.element,
                   part_of(node->inputs[results + f->input], &f->worst));
    eddy__text_put(t, "analytic %.9g, numeric %.9g\n", f->worst.analytic, f->worst.numeric);
}

static void report_mismatch(eddy_gradient_report *r, int input, const mismatch *f)
{
    r->input = input;
    r->element = f->element;
    r->imaginary = f->imaginary;
    r->analytic = f->analytic;
    r->numeric = f->numeric;
}

static void print_mismatch(comparison *p, int order, eddy_gradient_report *r, eddy_text *t)
{
    fault           faults[MAX_FAULTS];
    const mismatch *f = &p->worst;
    const int       n = find_faults(p, faults);
    report_mismatch(r, p->number[f->x], f);
    eddy__text_put(t, "gradients of order %d disagree at element %lld%s of '%s:%d': ", order,
                   (long long)f->element, part_of(p->xs[f->x], f), eddy_name_of(p->xs[f->x]),
                   (int)p->xs[f->x].output);
    eddy__text_put(t, "analytic %.9g, numeric %.9g\n", f->analytic, f->numeric);
    for (int i = 0; i < n; i++) print_fault(&faults[i], t);
    if (n == 0) {
        eddy__text_put(t, "no op between disagrees by itself\n");
        return;
    }
    r->op = eddy__tensor_at(p->graph, faults[0].node->id, 0);
    r->gradient = eddy__custom_rule_of(p->graph, faults[0].node).name;
    report_mismatch(r, faults[0].input, &faults[0].worst);
}

/* Adds the result of one order to the report. */
static bool finish(comparison *p, int order, eddy_gradient_report *r, eddy_text *t)
{
    r->absolute = fmax(r->absolute, p->worst.absolute);
    r->relative = fmax(r->relative, p->worst.relative);
    r->order = order;
    if (p->status != EDDY_OK) print_failure(p, t);
    else if (p->worst.excess > 1) {
        p->status = EDDY_CHECK_FAILED;
        print_mismatch(p, order, r, t);
    } else
        eddy__text_put(t, "gradients of order %d agree: largest error %.3g, relative %.3g\n", order,
                       p->worst.absolute, p->worst.relative);
    return p->status == EDDY_OK;
}

/* ------------------------------------------------------------------ orders -- */

/* The gradients of `first` are the ys, its xs and weights the xs. */
static eddy_status check_second_order(comparison *first, eddy_gradient_report *r, eddy_text *t)
{
    const int    n = first->n_x + first->n_y;
    comparison   p = { .session = first->session, .graph = first->graph, .args = first->args };
    eddy_tensor *xs = eddy__comparison_alloc(first, n, sizeof *xs);
    eddy_tensor *ys = eddy__comparison_alloc(first, first->n_x, sizeof *ys);
    int          n_ys = 0;
    if (!xs || !ys) return first->status;
    for (int j = 0; j < first->n_y; j++) {
        for (int64_t e = 0; e < eddy__parts_of(first->w[j]); e++)
            eddy__part_set(first->w[j], e, eddy__random_weight(j, e));
        eddy__comparison_feed(first, first->weights[j], first->w[j]);
        xs[first->n_x + j] = first->weights[j];
    }
    for (int k = 0; k < first->n_x; k++) {
        xs[k] = first->xs[k];
        if (eddy_is_valid(first->dx[k])) ys[n_ys++] = first->dx[k];
    }
    if (eddy__comparison_begin(&p, (eddy_list){ n_ys, ys }, (eddy_list){ n, xs },
              (eddy_feeds){ first->n_feeds, first->feeds }, 0)) {
        for (int k = 0; k < n; k++)
            p.number[k] = k < first->n_x ? first->number[k]
                                         : first->args->xs.count + k - first->n_x;
        eddy__comparison_run(&p);
    }
    finish(&p, 2, r, t);
    eddy__comparison_end(&p);
    return p.status;
}

static eddy_status check(const eddy_gradient_check_args *a, eddy_gradient_report *r, eddy_text *t)
{
    comparison p = { .graph = a->ys.at[0].graph, .args = a };
    if (eddy__comparison_begin(&p, a->ys, a->xs, a->feeds, 0) && eddy__comparison_open_session(&p))
        eddy__comparison_run(&p);
    if (finish(&p, 1, r, t) && a->order == 2) p.status = check_second_order(&p, r, t);
    eddy__comparison_end(&p);
    eddy_session_free(p.session);
    return p.status;
}

static bool arguments_fit(const eddy_gradient_check_args *a)
{
    eddy_graph *g = a->ys.count > 0 && a->ys.at && a->xs.count != 0 ? a->ys.at[0].graph : NULL;
    if (!eddy__graph_ready(g)) return false;
    if (a->order < 1 || a->order > 2) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradient_check: order is %d; expected 1 or 2",
                  a->order);
        return false;
    }
    if (a->delta != EDDY_OMITTED && !(a->delta > 0)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "gradient_check: delta is %g; expected a positive number", a->delta);
        return false;
    }
    if (a->feeds.count < 0 || (a->feeds.count > 0 && !a->feeds.at)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "gradient_check: feeds is not a valid list (count %d, at %s)", a->feeds.count,
                  a->feeds.at ? "given" : "NULL");
        return false;
    }
    return eddy__list_is_of(g, "gradient_check", "ys", a->ys) &&
           eddy__list_is_of(g, "gradient_check", "xs", a->xs);
}

eddy_status eddy_gradient_check_with(const eddy_gradient_check_args *given)
{
    eddy_gradient_check_args args = EDDY_TAKE(eddy_gradient_check_args, given);
    eddy_gradient_report here, *r = args.report ? args.report : &here;
    eddy_text            text = { .allocator = &eddy__libc };
    eddy_status          s = EDDY_INVALID_ARGUMENT;
    *r = (eddy_gradient_report){ .order = 1 };
    if (arguments_fit(&args)) s = check(&args, r, &text);
    else if (args.ys.count > 0 && args.ys.at && args.xs.count != 0) {
        eddy_graph *g = args.ys.at[0].graph;
        if (eddy_graph_status(g) != EDDY_OK) s = eddy_graph_status(g);
        eddy__text_put(&text, "%s\n", eddy_graph_message(g));
    } else eddy__text_put(&text, "gradient_check: %s is empty\n",
                          args.ys.count > 0 && args.ys.at ? "xs" : "ys");
    r->ok = s == EDDY_OK;
    if (args.report) r->text = eddy__text_string(&text);
    else eddy__text_free(&text);
    return s;
}

double eddy_gradient_error_with(const eddy_gradient_check_args *given)
{
    eddy_gradient_check_args args = EDDY_TAKE(eddy_gradient_check_args, given);
    eddy_gradient_report r;
    args.report = &r;
    const eddy_status s = eddy_gradient_check_with(&args);
    eddy_string_free(r.text);
    return s == EDDY_OK || (s == EDDY_CHECK_FAILED && r.absolute > 0) ? r.absolute : NAN;
}
