/* loops.c -- loops of users' functions: while_loop, scan, foldl, foldr, map_fn, iterate, loop. */
#include "control/loop_spec.h"
#include "control/trace_functions.h"
#include "graph/call_options.h"
#include "graph/base/base.h"
#include "ops/arrays/arrays.h"
#include "ops/ops.h"

#include <string.h>

static bool rows_are_valid(eddy_graph *g, const loop_spec *s)
{
    int64_t known = EDDY_ANY;
    for (int i = 0; i < s->rows.count; i++) {
        const eddy_shape shape = eddy_shape_of(s->rows.at[i]);
        if (shape.rank == 0) {
            eddy_fail(g, EDDY_BAD_SHAPE, "%s: '%.200s' is a scalar; a loop needs rows", s->what,
                      eddy_name_of(s->rows.at[i]));
            return false;
        }
        if (shape.rank < 0) continue;
        const int64_t before = known;
        if (eddy__dim_unify(&known, shape.dim[0])) continue;
        eddy_fail(g, EDDY_BAD_SHAPE,
                  "%s: the length of '%.200s' is %lld, but that of others is %lld", s->what,
                  eddy_name_of(s->rows.at[i]), (long long)shape.dim[0], (long long)before);
        return false;
    }
    return true;
}

static bool spec_is_valid(eddy_graph *g, const loop_spec *s, const eddy_tensor *out)
{
    if (!eddy__list_is_of(g, s->what, "loop variable", s->carried) ||
        !eddy__list_is_of(g, s->what, "elems", s->rows))
        return false;
    if (!out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: out is NULL", s->what);
    else if (s->carried.count + s->rows.count > EDDY_MAX_RESULTS)
        eddy_fail(g, EDDY_LIMIT, "%s: %d arguments; the limit is %d", s->what,
                  s->carried.count + s->rows.count, EDDY_MAX_RESULTS);
    else if (s->rows.count == 0 && !s->cond && s->trips < 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: no rows and no iteration count are given",
                  s->what);
    return eddy__graph_ready(g) && rows_are_valid(g, s);
}

/* The shape invariant of a loop variable fits its initial value. */
static bool invariant_fits(eddy_graph *g, const loop_spec *s, int j)
{
    char             begins[100], given[100];
    const eddy_shape shape = eddy_shape_of(s->carried.at[j]), invariant = s->invariants[j];
    if (eddy_shape_compatible(shape, invariant)) return true;
    eddy_fail(g, EDDY_BAD_SHAPE,
              "%s: The shape invariant specified for '%.200s' is not compatible with the initial "
              "shape of the loop variable. It enters the loop with shape %s, but the specified "
              "shape invariant is %s", s->what, eddy_name_of(s->carried.at[j]),
              eddy_shape_print(shape, begins, sizeof begins),
              eddy_shape_print(invariant, given, sizeof given));
    return false;
}

/* The tensors that stand for the arguments. */
static bool make_arguments(trace *t, const loop_spec *s)
{
    for (int j = 0; j < s->carried.count; j++) {
        const eddy_tensor x = s->carried.at[j];
        eddy_type         type = { eddy_dtype_of(x), eddy_shape_of(x) };
        if (s->invariants && !invariant_fits(t->graph, s, j)) return false;
        if (s->invariants) type.shape = s->invariants[j];
        t->args[t->n_args++] = eddy__argument(t->graph, type);
    }
    for (int i = 0; i < s->rows.count; i++)
        t->args[t->n_args++] = eddy__argument(t->graph, eddy__row_type(s->rows.at[i]));
    return eddy__graph_ready(t->graph);
}

/* The body gets the nodes whose values differ between iterations, that have side effects, or that
 * draw random numbers. The others stay outside, where they are computed once. */
static void choose_copies(const trace *t, extraction *e)
{
    uint8_t *depends = e->copies;
    for (int32_t id = t->first; id <= e->size; id++) {
        const eddy_node *node = t->graph->nodes[id];
        if (node->op->flags & (EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER)) continue;
        if (e->products && e->products[id]) continue;
        depends[id] = eddy__trace_repeats(node);
        for (int i = 0; i < node->n_inputs; i++) {
            const eddy_tensor x = node->inputs[i];
            if (eddy__extract_variable(e, x) >= 0) depends[id] = 1;
            for (int a = 0; a < t->n_args; a++)
                if (eddy_same(t->args[a], x)) depends[id] = 1;
            if (x.node >= t->first && depends[x.node]) depends[id] = 1;
            if (e->products && e->products[x.node]) depends[id] = 1;
        }
        for (int i = 0; i < node->n_controls; i++)
            if (node->controls[i] >= t->first && depends[node->controls[i]]) depends[id] = 1;
    }
}

/* The results of the body, in the order of Loop's outs. */
typedef struct loop_results {
    eddy_tensor at[3 * EDDY_MAX_RESULTS];
    int         n, n_stacked;
    int32_t     body;               /* the first node that body built, and not cond */
} loop_results;

/* cond has returned n results. */
static bool is_predicate(const trace *t, const loop_spec *s, int n)
{
    const eddy_type type = { eddy_dtype_of(t->y[0]), eddy_shape_of(t->y[0]) };
    char            text[120], scope[200];
    if (n == 1 && type.dtype == EDDY_BOOL && type.shape.rank <= 0) return true;
    eddy__trace_scope(t->graph, scope, sizeof scope);
    if (n != 1)
        eddy_fail(t->graph, EDDY_BAD_DTYPE,
                  "%s: cond must return one bool scalar, not %d results [scope '%s']", s->what, n,
                  scope);
    else
        eddy_fail(t->graph, EDDY_BAD_DTYPE,
                  "%s: cond must return a bool scalar, not %s [scope '%s']", s->what,
                  eddy_type_print(type, text, sizeof text), scope);
    return false;
}

static bool call_functions(trace *t, const loop_spec *s, loop_results *r)
{
    const int c = s->carried.count;
    if (s->cond) {
        const int n = eddy__trace_call(t, s->cond, "cond", c, t->args);
        if (n == 0 || !is_predicate(t, s, n)) return false;
        r->at[r->n++] = t->y[0];
    }
    r->body = t->graph->size + 1;
    const int m = eddy__trace_call(t, s->body, s->cond ? "body" : "the function", t->n_args,
                                   t->args);
    if (m == 0) return false;
    if (m < c || (s->n_stacked >= 0 && m != c + s->n_stacked)) {
        char scope[200];
        eddy_fail(t->graph, EDDY_INVALID_ARGUMENT,
                  "%s: the number of results of %.200s is %d; expected %s%d, one per loop variable "
                  "[scope '%s']",
                  s->what, s->body->name ? s->body->name : "the body", m,
                  s->n_stacked < 0 ? "at least " : "", c + (s->n_stacked < 0 ? 0 : s->n_stacked),
                  eddy__trace_scope(t->graph, scope, sizeof scope));
        return false;
    }
    for (int k = 0; k < m; k++) r->at[r->n++] = t->y[k];
    for (int k = 0; k < c && s->stack_carried; k++) r->at[r->n++] = t->y[k];
    r->n_stacked = m - c + (s->stack_carried ? c : 0);
    return true;
}

/* The nodes with side effects, as further outs. */
static bool find_effects(const trace *t, extraction *e, out_list *effects)
{
    effects->at = eddy__extract_room(e, 2 * ((int64_t)e->size + 1), sizeof *effects->at);
    if (!effects->at) return false;
    for (int32_t id = t->first; id <= e->size; id++) {
        if (!e->copies[id] || !eddy__trace_acts(t->graph, id)) continue;
        if (t->graph->nodes[id]->op->flags & EDDY_OP_UPDATES) continue;
        eddy__extract_also(e, id);
        eddy__out_add(effects, eddy__tensor_at(t->graph, id, 0));
    }
    return true;
}

/* A variable that the body updates is a carried value behind those of the call. */
static int carry_variables(extraction *e, eddy_tensor *in)
{
    if (!eddy__variables_begin(e, in)) return 0;
    for (int k = 0; k < e->n_vars; k++)
        eddy__extract_argument(e, e->vars[k], eddy__type_of(e->vars[k]));
    return e->n_vars;
}

static bool is_counted(const loop_spec *s) { return eddy_is_valid(s->count); }

/* The arguments of the body, and the inputs of the node. */
static int make_inputs(const trace *t, const loop_spec *s, extraction *e, eddy_tensor *in,
                       int *n_products)
{
    const eddy_type count = { EDDY_INT64, EDDY_SCALAR };
    int             n = 0;
    if (is_counted(s)) in[n++] = s->count;
    eddy__extract_argument(e, eddy_none(t->graph), count);
    for (int i = 0; i < t->n_args; i++) {
        if (i == s->carried.count) n += carry_variables(e, in + n);
        const eddy_type type = eddy_node_of(t->args[i])->outputs[0];
        eddy__extract_argument(e, t->args[i], type);
        in[n++] = i < s->carried.count ? s->carried.at[i] : s->rows.at[i - s->carried.count];
    }
    if (t->n_args == s->carried.count) n += carry_variables(e, in + n);
    n += *n_products = eddy__row_products_build(t, e, s->rows, in + n);
    for (int i = 0; i < e->n_captures; i++) {
        const eddy_tensor x = e->captures[i];
        bool              argument = e->products && e->products[x.node];
        for (int a = 0; a < t->n_args; a++) argument = argument || eddy_same(t->args[a], x);
        if (argument) continue;
        eddy__extract_argument(e, x, (eddy_type){ eddy_dtype_of(x), eddy_shape_of(x) });
        in[n++] = x;
    }
    return n;
}

static eddy_tensor make_node(const trace *t, const loop_spec *s, extraction *e,
                             const loop_results *r, const out_list *effects)
{
    eddy_graph  *g = t->graph;
    const int64_t n_outs = (int64_t)r->n + e->n_vars;
    const int     n_inputs = t->n_args + e->n_vars + e->n_captures + 2;
    const int     carried = (s->cond != NULL) + s->carried.count;
    out_list      outs = { eddy__extract_room(e, 2 * n_outs + effects->n, sizeof(int64_t)), 0 };
    eddy_tensor  *in = eddy__extract_room(e, n_inputs, sizeof *in);
    if (!outs.at || !in) return eddy_none(g);
    int       n_products;
    const int n = make_inputs(t, s, e, in, &n_products);
    if (!eddy__extract_copy(e)) return eddy_none(g);
    for (int k = 0; k <= r->n; k++) {
        if (k == carried)
            for (int v = 0; v < e->n_vars; v++)
                eddy__out_add(&outs, eddy__extract_last(e, 0, v));
        if (k < r->n) eddy__out_add(&outs, eddy__extract_image(e, r->at[k]));
    }
    for (int64_t i = 0; i < effects->n / 2; i++)
        eddy__out_add(&outs,
                      eddy__extract_image(e, eddy__tensor_at(g, (int32_t)effects->at[2 * i], 0)));
    const eddy_loop_attrs a = {
        .body = e->body, .outs = { outs.n, outs.at }, .n_carried = s->carried.count + e->n_vars,
        .n_sliced = s->rows.count + n_products, .n_stacked = r->n_stacked, .trips = s->trips,
        .conditional = s->cond != NULL, .counted = is_counted(s), .reverse = s->reverse,
        .segmented = s->segmented,
    };
    e->body = NULL;                 /* it is the node's */
    return eddy_apply(&eddy_op_loop, &a, n, in, (eddy_apply_args){ .graph = g, .name = "loop" });
}

static bool only_body_updates(const loop_spec *s, const extraction *e, const loop_results *r)
{
    for (int32_t id = e->first; id < r->body && e->n_vars > 0; id++) {
        const eddy_node *node = e->from->nodes[id];
        if (!e->needed[id] || !(node->op->flags & EDDY_OP_UPDATES)) continue;
        eddy_fail(e->from, EDDY_UNIMPLEMENTED,
                  "%s: cond updates the variable '%.200s'; only the body may [node '%.200s']",
                  s->what, eddy_name_of(node->inputs[0]), node->name);
        return false;
    }
    return true;
}

/* The node, and the results of the call. */
static void finish(const trace *t, const loop_spec *s, extraction *e, const loop_results *r,
                   eddy_tensor loop, eddy_tensor *out)
{
    const int carried = s->carried.count, first = s->only_stacks ? carried : 0;
    const int n = carried + r->n_stacked - first;
    eddy__trace_mark(t, e);
    for (int k = 0; k < n; k++)
        out[k] = eddy_output(loop, first + k + (first + k >= carried ? e->n_vars : 0));
    eddy__variables_end(e, loop, carried, out, n);
    for (int k = 0; k < n && s->no_back_prop; k++) out[k] = eddy_stop_gradient(out[k]);
    if (s->ran) *s->ran = eddy_output(loop, carried + e->n_vars + r->n_stacked);
}

static void trace_loop(trace *t, const loop_spec *s, loop_results *r, eddy_tensor *out)
{
    extraction  e = { 0 };
    out_list    effects = { 0 };
    eddy_tensor loop = eddy_none(t->graph);
    if (!make_arguments(t, s) || !call_functions(t, s, r)) return;
    if (eddy__extract_begin(&e, t->graph)) {
        const int32_t parts[2] = { t->first, e.size + 1 };
        e.inside = t->first;
        bool ok = eddy__extract_variables(&e, parts, 1) && only_body_updates(s, &e, r);
        ok = ok && (s->cond || is_counted(s) || eddy__row_products_find(t, &e, s->carried.count));
        if (ok) choose_copies(t, &e);
        if (ok && find_effects(t, &e, &effects) && eddy__extract_find(&e, r->n, r->at))
            loop = make_node(t, s, &e, r, &effects);
        if (eddy_is_valid(loop)) finish(t, s, &e, r, loop, out);
    }
    eddy__extract_end(&e);
    if (e.body) eddy_graph_free(e.body);
}

int eddy__loop_build(eddy_graph *g, const loop_spec *s, eddy_tensor *out)
{
    eddy_tensor  args[EDDY_MAX_RESULTS];
    trace        t = { .graph = g, .what = s->what, .first = g->size + 1, .args = args };
    loop_results r = { 0 };
    trace_loop(&t, s, &r, out);
    return eddy__graph_ready(g) ? (s->only_stacks ? 0 : s->carried.count) + r.n_stacked : 0;
}

static int build_loop(eddy_graph *g, const loop_spec *s, eddy_tensor *out)
{
    if (!eddy__graph_ready(g) || !spec_is_valid(g, s, out)) return 0;
    eddy_scope_begin(g, s->scope);
    const int n = eddy__segments_build(g, s, out);
    eddy_scope_end(g);
    return n;
}

/* The graph of the arguments; without any, of the tensors that f builds. */
static eddy_graph *graph_of(const char *what, eddy_list a, eddy_list b, const eddy_function *f)
{
    eddy_graph *g = eddy__graph_of_any(a);
    return g ? g : eddy__function_graph(what, f, b, "no rows and no iteration count are given");
}

int eddy_while_loop_with(const eddy_while_args *given)
{
    eddy_while_args a = EDDY_TAKE(eddy_while_args, given);
    const eddy_list none = { 0, NULL };
    eddy_graph     *g = graph_of("while_loop", a.loop_vars, none, &a.body);
    if (a.maximum_iterations < -1) {
        if (g) eddy_fail(g, EDDY_INVALID_ARGUMENT, "while_loop: maximum_iterations is %lld",
                         (long long)a.maximum_iterations);
        return 0;
    }
    const loop_spec s = {
        .what = "while_loop",
        .scope = eddy__name_or(a.name, "while"),
        .cond = &a.cond,
        .body = &a.body,
        .carried = a.loop_vars,
        .invariants = a.shape_invariants,
        .trips = a.maximum_iterations,
        .no_back_prop = a.no_back_prop,
        .recompute = a.recompute,
        .segment = a.segment,
    };
    return build_loop(g, &s, a.out);
}

int eddy_iterate_with(const eddy_iterate_args *given)
{
    eddy_iterate_args a = EDDY_TAKE(eddy_iterate_args, given);
    const eddy_list none = { 0, NULL };
    eddy_graph     *g = graph_of("iterate", a.x, none, &a.f);
    if (a.count < 0) {
        if (g)
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "iterate: count is %lld; it must not be negative",
                      (long long)a.count);
        return 0;
    }
    const loop_spec s = { .what = "iterate",
                          .scope = eddy__name_or(a.name, "iterate"),
                          .body = &a.f,
                          .carried = a.x,
                          .trips = a.count,
                          .recompute = a.recompute,
                          .segment = a.segment };
    return build_loop(g, &s, a.out);
}

static bool read_iterations(loop_spec *s, eddy_graph *g, eddy_tensor t)
{
    char text[120];
    if (!eddy_is_valid(t) || t.graph != g) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "loop: iterations is not a tensor of this graph");
        return false;
    }
    if (!eddy__dtype_is_index(eddy_dtype_of(t)) || eddy_shape_of(t).rank > 0) {
        eddy_fail(t.graph, EDDY_INVALID_ARGUMENT,
                  "loop: iterations is %s; an int32 or int64 scalar expected",
                  eddy_type_print(eddy__type_of(t), text, sizeof text));
        return false;
    }
    s->count = eddy_cast(t, EDDY_INT64);
    return true;
}

int eddy_loop_with(const eddy_loop_args *given)
{
    eddy_loop_args a = EDDY_TAKE(eddy_loop_args, given);
    loop_spec s = {
        .what = "loop", .scope = eddy__name_or(a.name, "loop"), .body = &a.f, .carried = a.carried,
        .rows = a.rows, .trips = a.rows.count > 0 ? -1 : a.count, .reverse = a.reverse,
        .n_stacked = -1, .recompute = a.recompute, .segment = a.segment,
        .invariants = a.shape_invariants,
    };
    eddy_graph *g = graph_of("loop", a.carried, a.rows, &a.f);
    if (g && a.iterations.graph && !read_iterations(&s, g, a.iterations)) return 0;
    return build_loop(g, &s, a.out);
}

int eddy_map_fn_with(const eddy_map_fn_args *given)
{
    eddy_map_fn_args a = EDDY_TAKE(eddy_map_fn_args, given);
    const loop_spec s = { .what = "map_fn", .scope = eddy__name_or(a.name, "map"), .body = &a.f,
                          .rows = a.elems, .trips = -1, .n_stacked = -1, .only_stacks = true,
                          .recompute = a.recompute, .segment = a.segment,
                          .no_back_prop = a.no_back_prop };
    return build_loop(graph_of("map_fn", a.elems, a.elems, &a.f), &s, a.out);
}

/* ------------------------------------------------------------------ folds -- */

typedef struct fold_start {
    eddy_tensor first[EDDY_MAX_RESULTS], rest[EDDY_MAX_RESULTS];
} fold_start;

/* Without an initializer the first row, or the last one, starts; the others follow. */
static bool start_from_rows(eddy_graph *g, const char *what, eddy_fold_args *a, fold_start *s)
{
    if (a->elems.count > EDDY_MAX_RESULTS) {
        eddy_fail(g, EDDY_LIMIT, "%s: %d elems; the limit is %d", what, a->elems.count,
                  EDDY_MAX_RESULTS);
        return false;
    }
    for (int i = 0; i < a->elems.count && eddy__graph_ready(g); i++) {
        const eddy_tensor x = a->elems.at[i];
        const eddy_shape  shape = eddy_shape_of(x);
        if (shape.rank < 1) {
            eddy_fail(g, EDDY_BAD_SHAPE, "%s: '%.200s' needs a known rank of at least 1", what,
                      eddy_name_of(x));
            return false;
        }
        if (shape.dim[0] == 0) {
            eddy_fail(g, EDDY_BAD_SHAPE, "%s: '%.200s' has no rows, and there is no initializer",
                      what, eddy_name_of(x));
            return false;
        }
        s->first[i] = eddy_index(x, a->reverse ? "-1" : "0");
        s->rest[i] = eddy_index(x, a->reverse ? ":-1" : "1:");
    }
    a->initializer = (eddy_list){ a->elems.count, s->first };
    a->elems = (eddy_list){ a->elems.count, s->rest };
    return eddy__graph_ready(g);
}

static int build_fold(const char *what, const char *scope, eddy_fold_args a, bool stacks)
{
    fold_start  start;
    eddy_graph *g = graph_of(what, a.elems, a.initializer, &a.f);
    const bool  from_rows = a.initializer.count == 0;
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, what, "elems", a.elems)) return 0;
    if (from_rows && !start_from_rows(g, what, &a, &start)) return 0;
    const loop_spec s = {
        .what = what, .scope = eddy__name_or(a.name, scope), .body = &a.f, .carried = a.initializer,
        .rows = a.elems, .trips = -1, .reverse = a.reverse, .stack_carried = stacks,
        .only_stacks = stacks, .recompute = a.recompute, .segment = a.segment,
        .invariants = a.shape_invariants, .no_back_prop = a.no_back_prop,
    };
    const int n = build_loop(g, &s, a.out);
    for (int k = 0; k < n && stacks && from_rows; k++) {
        eddy_tensor first = eddy_expand_dims(start.first[k], 0);
        if (a.no_back_prop) first = eddy_stop_gradient(first);
        a.out[k] = a.reverse ? eddy_concat(EDDY_LIST(a.out[k], first), 0)
                             : eddy_concat(EDDY_LIST(first, a.out[k]), 0);
    }
    return eddy__graph_ready(g) ? n : 0;
}

int eddy_scan_with(const eddy_fold_args *given)
{
    const eddy_fold_args a = EDDY_TAKE(eddy_fold_args, given);
    return build_fold("scan", "scan", a, true);
}

int eddy_foldl_with(const eddy_fold_args *given)
{
    const eddy_fold_args a = EDDY_TAKE(eddy_fold_args, given);
    return build_fold("foldl", "foldl", a, false);
}

int eddy_foldr_with(const eddy_fold_args *given)
{
    eddy_fold_args a = EDDY_TAKE(eddy_fold_args, given);
    a.reverse = !a.reverse;
    return build_fold("foldr", "foldr", a, false);
}
