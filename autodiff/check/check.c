/* check.c -- gradient checking: compares gradients with finite differences, and finds the
 * operation whose rule is wrong.
 *
 * A probe is a point at which ys are differentiated: the caller's ys and xs, their gradients for
 * the second order, or one operation at the values of its inputs. */
#include "autodiff/check/probe.h"
#include "graph/take.h"
#include "graph/base/text.h"

#include <math.h>
#include <string.h>

enum { MOST_NAMED = 8 };

/* ----------------------------------------------------------- ops at fault -- */

typedef struct fault {
    const eddy_node *node;
    int              input;
    finding          found;
} fault;

/* The inputs of a node whose values are read, each once; which they are.  What is
 * handed over by reference need not have one, unless it is among xs.  A custom gradient
 * is one of all that lies between its inputs and the node: its results are no inputs. */
static int distinct_inputs(const eddy_span *span, const eddy_node *node, eddy_tensor *in,
                           int *number)
{
    int n = 0;
    for (int i = eddy__custom_results(span->graph, node); i < node->n_inputs; i++) {
        const bool reference = i == 0 && (node->op->flags & EDDY_OP_REFERENCE);
        int        k = 0;
        while (k < n && !eddy_same(in[k], node->inputs[i])) k++;
        if (k < n || (reference && !eddy__span_differs(span, node, i))) continue;
        number[n] = i;
        in[n++] = node->inputs[i];
    }
    return n;
}

/* Those of in[0..n) by which the node depends on xs, to the front of `out`. */
static int moving_inputs(const eddy_span *span, const eddy_node *node, int n,
                         const eddy_tensor *in, const int *number, eddy_tensor *out, int *from)
{
    int m = 0;
    for (int k = 0; k < n; k++) {
        if (!eddy__span_differs(span, node, number[k])) continue;
        from[m] = number[k];
        out[m++] = in[k];
    }
    return m;
}

/* Whether the node, alone on the values that it has in p, disagrees. */
static bool is_at_fault(probe *p, const eddy_span *span, const eddy_node *node, fault *f)
{
    const int    most = node->n_inputs;
    probe        op = { .session = p->session, .graph = p->graph, .args = p->args, .alone = true };
    eddy_tensor *in = eddy__probe_room(p, most, sizeof *in);
    eddy_tensor *xs = eddy__probe_room(p, most, sizeof *xs);
    eddy_tensor *ys = eddy__probe_room(p, node->n_outputs, sizeof *ys);
    eddy_array **values = eddy__probe_room(p, most, sizeof *values);
    int         *number = eddy__probe_room(p, most, sizeof *number);
    int         *from = eddy__probe_room(p, most, sizeof *from);
    if (!in || !xs || !ys || !values || !number || !from) return false;
    for (int k = 0; k < node->n_outputs; k++) ys[k] = eddy__tensor_at(p->graph, node->id, k);
    const int n = distinct_inputs(span, node, in, number);
    const int m = moving_inputs(span, node, n, in, number, xs, from);
    if (m > 0 && eddy__probe_run(p, n, in, values) &&
        eddy__probe_begin(&op, (eddy_list){ node->n_outputs, ys }, (eddy_list){ m, xs },
                          (eddy_feeds){ p->n_feeds, p->feeds }, n)) {
        for (int k = 0; k < n; k++)
            if (!eddy__probe_is_variable(in[k])) eddy__probe_feed(&op, in[k], values[k]);
        eddy__probe_look(&op);
    }
    if (op.found.excess > 1)
        *f = (fault){ node, from[op.number[op.found.x]] - eddy__custom_results(p->graph, node),
                      op.found };
    eddy__probe_end(&op);
    eddy__arrays_free(values, n);
    return op.found.excess > 1;
}

enum { ASKED = 128 };       /* beside the marks of a span */

/* Marks the nodes whose rules the gradients of ys by xs ask: those between a custom gradient's
 * inputs and its node are not among them. */
static void mark_asked(const probe *p, eddy_span *span)
{
    for (int j = 0; j < p->n_y; j++)
        if (eddy__span_has(span, p->ys[j], EDDY_BETWEEN))
            span->marks[p->ys[j].node - span->first] |= ASKED;
    for (int32_t id = span->last; id >= span->first; id--) {
        const eddy_node *node = p->graph->nodes[id];
        if (!(span->marks[id - span->first] & ASKED)) continue;
        for (int i = eddy__custom_results(p->graph, node); i < node->n_inputs; i++)
            if (eddy__span_differs(span, node, i))
                span->marks[node->inputs[i].node - span->first] |= ASKED;
    }
}

/* Checks each op between xs and ys by itself; how many disagree, the first in faults. */
static int find_faults(probe *p, fault *faults)
{
    eddy_span     span;
    const int32_t size = p->graph->size;
    int           n = 0;
    bool          ok = eddy__span_begin(&span, p->graph, p->n_x, p->xs, p->n_y, p->ys);
    if (ok) mark_asked(p, &span);
    for (int32_t id = span.first; ok && id <= size && n < MOST_NAMED; id++) {
        const eddy_node *node = p->graph->nodes[id];
        if (node->n_outputs == 0 ||
            !eddy__span_has(&span, eddy__tensor_at(p->graph, id, 0), EDDY_BETWEEN | ASKED))
            continue;
        n += is_at_fault(p, &span, node, &faults[n]);
        eddy_graph_clear_error(p->graph);    /* one that cannot stand alone is passed over */
    }
    eddy__span_end(&span);
    return n;
}

/* ---------------------------------------------------------------- reporting -- */

/* What to say of a probe that could not be looked at. */
static void say_failure(const probe *p, eddy_text *t)
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

/* Which part of an element of x; nothing where elements are real. */
static const char *part_of(eddy_tensor x, const finding *f)
{
    if (!eddy_dtype_is_complex(eddy_dtype_of(x))) return "";
    return f->imaginary ? " (imaginary part)" : " (real part)";
}

static void say_fault(const fault *f, eddy_text *t)
{
    const eddy_node  *node = f->node;
    const eddy_tensor first = node->inputs[0];
    const int         results = eddy__custom_results(first.graph, node);
    if (results > 0)
        eddy__text_put(t, "gradient '%s' of '%s'", node->gradient, eddy_name_of(first));
    else eddy__text_put(t, "op %s [node '%s']", node->op->name, node->name);
    eddy__text_put(t, ", input %d, element %lld%s: ", f->input, (long long)f->found.element,
                   part_of(node->inputs[results + f->input], &f->found));
    eddy__text_put(t, "analytic %.9g, numeric %.9g\n", f->found.analytic, f->found.numeric);
}

static void set_finding(eddy_gradient_report *r, int input, const finding *f)
{
    r->input = input;
    r->element = f->element;
    r->imaginary = f->imaginary;
    r->analytic = f->analytic;
    r->numeric = f->numeric;
}

static void say_disagreement(probe *p, int order, eddy_gradient_report *r, eddy_text *t)
{
    fault          faults[MOST_NAMED];
    const finding *f = &p->found;
    const int      n = find_faults(p, faults);
    set_finding(r, p->number[f->x], f);
    eddy__text_put(t, "gradients of order %d disagree at element %lld%s of '%s:%d': ", order,
                   (long long)f->element, part_of(p->xs[f->x], f), eddy_name_of(p->xs[f->x]),
                   (int)p->xs[f->x].output);
    eddy__text_put(t, "analytic %.9g, numeric %.9g\n", f->analytic, f->numeric);
    for (int i = 0; i < n; i++) say_fault(&faults[i], t);
    if (n == 0) {
        eddy__text_put(t, "no op between disagrees by itself\n");
        return;
    }
    r->op = eddy__tensor_at(p->graph, faults[0].node->id, 0);
    set_finding(r, faults[0].input, &faults[0].found);
}

/* What one order found, as part of the report. */
static bool conclude(probe *p, int order, eddy_gradient_report *r, eddy_text *t)
{
    r->absolute = fmax(r->absolute, p->found.absolute);
    r->relative = fmax(r->relative, p->found.relative);
    r->order = order;
    if (p->status != EDDY_OK) say_failure(p, t);
    else if (p->found.excess > 1) {
        p->status = EDDY_CHECK_FAILED;
        say_disagreement(p, order, r, t);
    } else
        eddy__text_put(t, "gradients of order %d agree: largest error %.3g, relative %.3g\n", order,
                       p->found.absolute, p->found.relative);
    return p->status == EDDY_OK;
}

/* ------------------------------------------------------------------ orders -- */

/* The gradients of `first` are the ys, its xs and weights the xs. */
static eddy_status check_second(probe *first, eddy_gradient_report *r, eddy_text *t)
{
    const int    n = first->n_x + first->n_y;
    probe        p = { .session = first->session, .graph = first->graph, .args = first->args };
    eddy_tensor *xs = eddy__probe_room(first, n, sizeof *xs);
    eddy_tensor *ys = eddy__probe_room(first, first->n_x, sizeof *ys);
    int          n_ys = 0;
    if (!xs || !ys) return first->status;
    for (int j = 0; j < first->n_y; j++) {
        for (int64_t e = 0; e < eddy__parts_of(first->w[j]); e++)
            eddy__part_set(first->w[j], e, eddy__probe_weight(j, e));
        eddy__probe_feed(first, first->weights[j], first->w[j]);
        xs[first->n_x + j] = first->weights[j];
    }
    for (int k = 0; k < first->n_x; k++) {
        xs[k] = first->xs[k];
        if (eddy_is_valid(first->dx[k])) ys[n_ys++] = first->dx[k];
    }
    if (eddy__probe_begin(&p, (eddy_list){ n_ys, ys }, (eddy_list){ n, xs },
              (eddy_feeds){ first->n_feeds, first->feeds }, 0)) {
        for (int k = 0; k < n; k++)
            p.number[k] = k < first->n_x ? first->number[k]
                                         : first->args->xs.count + k - first->n_x;
        eddy__probe_look(&p);
    }
    conclude(&p, 2, r, t);
    eddy__probe_end(&p);
    return p.status;
}

static eddy_status check(const eddy_gradient_check_args *a, eddy_gradient_report *r, eddy_text *t)
{
    probe p = { .graph = a->ys.at[0].graph, .args = a };
    if (eddy__probe_begin(&p, a->ys, a->xs, a->feeds, 0) && eddy__probe_open(&p))
        eddy__probe_look(&p);
    if (conclude(&p, 1, r, t) && a->order == 2) p.status = check_second(&p, r, t);
    eddy__probe_end(&p);
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
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradient_check: feeds is not a valid list");
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
    } else eddy__text_put(&text, "ys or xs is empty\n");
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
