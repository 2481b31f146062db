/* check.c -- gradients against differences of values, and whose rule is wrong.
 *
 * A probe is a place at which ys are differentiated: the caller's ys and xs,
 * their gradients for the second order, or one op on the values of its inputs. */
#include "autodiff/check_probe.h"
#include "graph/text.h"

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
 * handed over by reference need not have one, unless it is among xs. */
static int distinct_inputs(const eddy_span *span, const eddy_node *node, eddy_tensor *in,
                           int *number)
{
    int n = 0;
    for (int i = 0; i < node->n_inputs; i++) {
        const bool reference = i == 0 && (node->op->flags & EDDY_OP_REFERENCE);
        int        k = 0;
        while (k < n && !eddy_same(in[k], node->inputs[i])) k++;
        if (k < n || (reference && !eddy_span_differs(span, node, i))) continue;
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
        if (!eddy_span_differs(span, node, number[k])) continue;
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
    eddy_tensor *in = eddy_probe_room(p, most, sizeof *in);
    eddy_tensor *xs = eddy_probe_room(p, most, sizeof *xs);
    eddy_tensor *ys = eddy_probe_room(p, node->n_outputs, sizeof *ys);
    eddy_array **values = eddy_probe_room(p, most, sizeof *values);
    int         *number = eddy_probe_room(p, most, sizeof *number);
    int         *from = eddy_probe_room(p, most, sizeof *from);
    if (!in || !xs || !ys || !values || !number || !from) return false;
    for (int k = 0; k < node->n_outputs; k++) ys[k] = eddy_tensor_at(p->graph, node->id, k);
    const int n = distinct_inputs(span, node, in, number);
    const int m = moving_inputs(span, node, n, in, number, xs, from);
    if (m > 0 && eddy_probe_run(p, n, in, values) &&
        eddy_probe_begin(&op, (eddy_list){ node->n_outputs, ys }, (eddy_list){ m, xs },
                         (eddy_feeds){ p->n_feeds, p->feeds }, n)) {
        for (int k = 0; k < n; k++)
            if (!eddy_probe_is_variable(in[k])) eddy_probe_feed(&op, in[k], values[k]);
        eddy_probe_look(&op);
    }
    if (op.found.excess > 1) *f = (fault){ node, from[op.number[op.found.x]], op.found };
    eddy_probe_end(&op);
    eddy_arrays_free(values, n);
    return op.found.excess > 1;
}

/* Checks each op between xs and ys by itself; how many disagree, the first in faults. */
static int find_faults(probe *p, fault *faults)
{
    eddy_span     span;
    const int32_t size = p->graph->size;
    int           n = 0;
    bool          ok = eddy_span_begin(&span, p->graph, p->n_x, p->xs, p->n_y, p->ys);
    for (int32_t id = span.first; ok && id <= size && n < MOST_NAMED; id++) {
        const eddy_node *node = p->graph->nodes[id];
        if (node->n_outputs == 0 ||
            !eddy_span_has(&span, eddy_tensor_at(p->graph, id, 0), EDDY_BETWEEN))
            continue;
        n += is_at_fault(p, &span, node, &faults[n]);
        eddy_graph_clear_error(p->graph);    /* one that cannot stand alone is passed over */
    }
    eddy_span_end(&span);
    return n;
}

/* ---------------------------------------------------------------- reporting -- */

/* What to say of a probe that could not be looked at. */
static void say_failure(const probe *p, eddy_text *t)
{
    if (p->varies)
        eddy_text_put(t, "the values of ys differ from run to run; "
                         "nothing random may lie between xs and ys\n");
    else if (eddy_graph_status(p->graph) != EDDY_OK)
        eddy_text_put(t, "%s\n", eddy_graph_message(p->graph));
    else if (p->status == EDDY_NO_MEMORY)
        eddy_text_put(t, "out of memory for checking gradients\n");
    else eddy_text_put(t, "%s\n", eddy_session_message(p->session ? p->session : p->args->session));
}

/* Which part of an element of x; nothing where elements are real. */
static const char *part_of(eddy_tensor x, const finding *f)
{
    if (!eddy_dtype_is_complex(eddy_dtype_of(x))) return "";
    return f->imaginary ? " (imaginary part)" : " (real part)";
}

static void say_fault(const fault *f, eddy_text *t)
{
    eddy_text_put(t, "op %s [node '%s'], input %d, element %lld%s: ", f->node->op->name,
                  f->node->name, f->input, (long long)f->found.element,
                  part_of(f->node->inputs[f->input], &f->found));
    eddy_text_put(t, "analytic %.9g, numeric %.9g\n", f->found.analytic, f->found.numeric);
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
    eddy_text_put(t, "gradients of order %d disagree at element %lld%s of '%s:%d': ", order,
                  (long long)f->element, part_of(p->xs[f->x], f), eddy_name_of(p->xs[f->x]),
                  (int)p->xs[f->x].output);
    eddy_text_put(t, "analytic %.9g, numeric %.9g\n", f->analytic, f->numeric);
    for (int i = 0; i < n; i++) say_fault(&faults[i], t);
    if (n == 0) {
        eddy_text_put(t, "no op between disagrees by itself\n");
        return;
    }
    r->op = eddy_tensor_at(p->graph, faults[0].node->id, 0);
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
        eddy_text_put(t, "gradients of order %d agree: largest error %.3g, relative %.3g\n", order,
                      p->found.absolute, p->found.relative);
    return p->status == EDDY_OK;
}

/* ------------------------------------------------------------------ orders -- */

/* The gradients of `first` are the ys, its xs and weights the xs. */
static eddy_status check_second(probe *first, eddy_gradient_report *r, eddy_text *t)
{
    const int    n = first->n_x + first->n_y;
    probe        p = { .session = first->session, .graph = first->graph, .args = first->args };
    eddy_tensor *xs = eddy_probe_room(first, n, sizeof *xs);
    eddy_tensor *ys = eddy_probe_room(first, first->n_x, sizeof *ys);
    int          n_ys = 0;
    if (!xs || !ys) return first->status;
    for (int j = 0; j < first->n_y; j++) {
        for (int64_t e = 0; e < eddy_parts_of(first->w[j]); e++)
            eddy_part_set(first->w[j], e, eddy_probe_weight(j, e));
        eddy_probe_feed(first, first->weights[j], first->w[j]);
        xs[first->n_x + j] = first->weights[j];
    }
    for (int k = 0; k < first->n_x; k++) {
        xs[k] = first->xs[k];
        if (eddy_is_valid(first->dx[k])) ys[n_ys++] = first->dx[k];
    }
    if (eddy_probe_begin(&p, (eddy_list){ n_ys, ys }, (eddy_list){ n, xs },
              (eddy_feeds){ first->n_feeds, first->feeds }, 0)) {
        for (int k = 0; k < n; k++)
            p.number[k] = k < first->n_x ? first->number[k]
                                         : first->args->xs.count + k - first->n_x;
        eddy_probe_look(&p);
    }
    conclude(&p, 2, r, t);
    eddy_probe_end(&p);
    return p.status;
}

static eddy_status check(const eddy_gradient_check_args *a, eddy_gradient_report *r, eddy_text *t)
{
    probe p = { .graph = a->ys.at[0].graph, .args = a };
    if (eddy_probe_begin(&p, a->ys, a->xs, a->feeds, 0) && eddy_probe_open(&p))
        eddy_probe_look(&p);
    if (conclude(&p, 1, r, t) && a->order == 2) p.status = check_second(&p, r, t);
    eddy_probe_end(&p);
    eddy_session_free(p.session);
    return p.status;
}

static bool arguments_fit(const eddy_gradient_check_args *a)
{
    eddy_graph *g = a->ys.count > 0 && a->ys.at && a->xs.count != 0 ? a->ys.at[0].graph : NULL;
    if (!eddy_graph_ready(g)) return false;
    if (a->order < 0 || a->order > 2) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "eddy_gradient_check: the order is %d, not 1 or 2",
                  a->order);
        return false;
    }
    if (a->feeds.count < 0 || (a->feeds.count > 0 && !a->feeds.at)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "eddy_gradient_check: the feeds are not a list");
        return false;
    }
    return eddy_list_is_of(g, "eddy_gradient_check", "ys", a->ys) &&
           eddy_list_is_of(g, "eddy_gradient_check", "xs", a->xs);
}

eddy_status eddy_gradient_check_with(eddy_gradient_check_args args)
{
    eddy_gradient_report here, *r = args.report ? args.report : &here;
    eddy_text            text = { .allocator = &eddy_libc };
    eddy_status          s = EDDY_INVALID_ARGUMENT;
    *r = (eddy_gradient_report){ .order = 1 };
    if (arguments_fit(&args)) s = check(&args, r, &text);
    else if (args.ys.count > 0 && args.ys.at && args.xs.count != 0) {
        eddy_graph *g = args.ys.at[0].graph;
        if (eddy_graph_status(g) != EDDY_OK) s = eddy_graph_status(g);
        eddy_text_put(&text, "%s\n", eddy_graph_message(g));
    } else eddy_text_put(&text, "no ys or no xs to check\n");
    r->ok = s == EDDY_OK;
    if (args.report) r->text = eddy_text_string(&text);
    else eddy_text_free(&text);
    return s;
}

double eddy_gradient_error_with(eddy_gradient_check_args args)
{
    eddy_gradient_report r;
    args.report = &r;
    const eddy_status s = eddy_gradient_check_with(args);
    eddy_string_free(r.text);
    return s == EDDY_OK || (s == EDDY_CHECK_FAILED && r.absolute > 0) ? r.absolute : NAN;
}
