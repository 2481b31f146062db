/* cases.c -- branches of users' functions: cond, switch_case, case. */
#include "control/closure.h"
#include "control/trace_functions.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <string.h>

/* The functions, and the results of all of them. */
typedef struct case_spec {
    const char          *what, *scope;
    const eddy_function *const *branches;
    const char *const   *names;         /* of the branches in messages; NULL: numbers */
    int                  count;
    bool                 quiet;
    eddy_list            x;
} case_spec;

typedef struct case_trace {
    eddy_tensor *results;               /* by branch and result */
    int32_t     *from;                  /* by branch: its first node; and the end */
    int          n_out;
} case_trace;

static const char *branch_name(const case_spec *s, int b, char *buf, size_t size)
{
    if (s->names) return s->names[b];
    snprintf(buf, size, "branch %d", b);
    return buf;
}

static bool call_branches(trace *t, const case_spec *s, extraction *e, case_trace *c)
{
    char one[40], other[40], scope[200];
    eddy__trace_scope(t->graph, scope, sizeof scope);
    for (int b = 0; b < s->count; b++) {
        c->from[b] = t->graph->size + 1;
        const int n = eddy__trace_call(t, s->branches[b], branch_name(s, b, one, sizeof one),
                                       s->x.count, s->x.at);
        if (n == 0) return false;
        if (b == 0) {
            c->n_out = n;
            c->results = eddy__extract_room(e, (int64_t)n * s->count, sizeof *c->results);
            if (!c->results) return false;
        }
        if (n != c->n_out) {
            eddy_fail(t->graph, EDDY_INVALID_ARGUMENT,
                      "%s: %s and %s differ in their number of results: %d and %d [scope '%s']",
                      s->what, branch_name(s, 0, one, sizeof one),
                      branch_name(s, b, other, sizeof other), c->n_out, n, scope);
            return false;
        }
        for (int k = 0; k < n; k++) {
            const eddy_dtype first = eddy_dtype_of(b > 0 ? c->results[k] : t->y[k]);
            if (eddy_dtype_of(t->y[k]) != first) {
                eddy_fail(t->graph, EDDY_BAD_DTYPE,
                          "%s: result %d is %s in %s, but %s in %s [scope '%s']", s->what, k,
                          eddy_dtype_name(first), branch_name(s, 0, one, sizeof one),
                          eddy_dtype_name(eddy_dtype_of(t->y[k])),
                          branch_name(s, b, other, sizeof other), scope);
                return false;
            }
            c->results[b * c->n_out + k] = t->y[k];
        }
    }
    c->from[s->count] = t->graph->size + 1;
    return true;
}

/* Everything that a branch builds runs in the branch alone, except variables. */
static void choose_copies(const trace *t, extraction *e)
{
    for (int32_t id = t->first; id <= e->size; id++)
        e->copies[id] =
            !(t->graph->nodes[id]->op->flags & (EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER));
}

/* Pairs of a branch and a node with a side effect. */
static bool find_effects(const trace *t, const case_spec *s, extraction *e, const case_trace *c,
                         out_list *effects)
{
    effects->at = eddy__extract_room(e, 2 * ((int64_t)e->size + 1), sizeof *effects->at);
    for (int b = 0; effects->at && b < s->count; b++)
        for (int32_t id = c->from[b]; id < c->from[b + 1]; id++) {
            if (!e->copies[id] || !eddy__trace_acts(t->graph, id)) continue;
            if (t->graph->nodes[id]->op->flags & EDDY_OP_UPDATES) continue;
            eddy__extract_also(e, id);
            effects->at[effects->n++] = b;
            effects->at[effects->n++] = id;
        }
    return effects->at != NULL;
}

/* The arguments of the body, and the inputs of the node: variables that a branch updates, and
 * tensors that the branches capture. */
static bool make_inputs(extraction *e, eddy_tensor index, eddy_tensor *in)
{
    in[0] = index;
    if (!eddy__variables_begin(e, in + 1)) return false;
    for (int k = 0; k < e->n_vars; k++)
        eddy__extract_argument(e, e->vars[k], eddy__type_of(e->vars[k]));
    for (int i = 0; i < e->n_captures; i++) {
        const eddy_tensor x = e->captures[i];
        eddy__extract_argument(e, x, (eddy_type){ eddy_dtype_of(x), eddy_shape_of(x) });
        in[1 + e->n_vars + i] = x;
    }
    return true;
}

static eddy_tensor make_node(const trace *t, const case_spec *s, extraction *e, eddy_tensor index,
                             const case_trace *c, out_list *effects)
{
    eddy_graph   *g = t->graph;
    const int     n_out = c->n_out + e->n_vars, n = 1 + e->n_vars + e->n_captures;
    const int64_t n_results = (int64_t)s->count * n_out;
    out_list      outs = { eddy__extract_room(e, 2 * n_results, sizeof(int64_t)), 0 };
    eddy_tensor  *in = eddy__extract_room(e, n, sizeof *in);
    if (!outs.at || !in || !make_inputs(e, index, in) || !eddy__extract_copy(e))
        return eddy_none(g);
    for (int b = 0; b < s->count; b++) {
        for (int k = 0; k < c->n_out; k++)
            eddy__out_add(&outs, eddy__extract_image(e, c->results[b * c->n_out + k]));
        for (int v = 0; v < e->n_vars; v++) eddy__out_add(&outs, eddy__extract_last(e, b, v));
    }
    for (int64_t i = 0; i < effects->n / 2; i++) {
        int64_t *id = &effects->at[2 * i + 1];
        *id = eddy__extract_image(e, eddy__tensor_at(g, (int32_t)*id, 0)).node;
    }
    const eddy_case_attrs a = { .body = e->body, .outs = { outs.n, outs.at },
                                .effects = { effects->n, effects->at },
                                .n_branches = s->count, .n_out = n_out, .quiet = s->quiet };
    e->body = NULL;                 /* it is the node's */
    return eddy_apply(&eddy_op_case, &a, n, in, (eddy_apply_args){ .graph = g, .name = "case" });
}

static void finish(const trace *t, extraction *e, const case_trace *c, eddy_tensor node,
                   eddy_tensor *out)
{
    eddy__trace_mark(t, e);
    for (int k = 0; k < c->n_out; k++) out[k] = eddy_output(node, k);
    eddy__variables_end(e, node, c->n_out, out, c->n_out);
}

/* Memory for the branches before the extraction knows its graph's final size. */
static void trace_case(trace *t, const case_spec *s, eddy_tensor index, case_trace *c,
                       eddy_tensor *out)
{
    extraction  e = { 0 }, before = { .from = t->graph };
    out_list    effects = { 0 };
    eddy_tensor node = eddy_none(t->graph);
    before.arena.allocator = eddy__graph_allocator(t->graph);
    c->from = eddy__extract_room(&before, s->count + 1, sizeof *c->from);
    if (c->from && call_branches(t, s, &before, c)) {
        if (eddy__extract_begin(&e, t->graph)) {
            e.inside = t->first;
            const bool ok = eddy__extract_variables(&e, c->from, s->count);
            choose_copies(t, &e);
            if (ok && find_effects(t, s, &e, c, &effects) &&
                eddy__extract_find(&e, s->count * c->n_out, c->results))
                node = make_node(t, s, &e, index, c, &effects);
            if (eddy_is_valid(node)) finish(t, &e, c, node, out);
        }
        eddy__extract_end(&e);
        if (e.body) eddy_graph_free(e.body);
    }
    eddy__arena_free(&before.arena);
}

static int build_case(eddy_graph *g, const case_spec *s, eddy_tensor index, eddy_tensor *out)
{
    trace      t = { .graph = g, .what = s->what, .first = g->size + 1 };
    case_trace c = { 0 };
    if (!out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: out is NULL", s->what);
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, s->what, "x", s->x)) return 0;
    trace_case(&t, s, index, &c, out);
    return eddy__graph_ready(g) ? c.n_out : 0;
}

int eddy__closure_case(eddy_graph *g, const eddy_function *f, eddy_list x, eddy_tensor *out)
{
    const eddy_function *const branches[] = { f };
    const case_spec s = { .what = f->name, .branches = branches, .count = 1, .x = x,
                          .quiet = true };
    return build_case(g, &s, eddy_number(g, EDDY_INT32, 0), out);
}

static bool is_predicate(const char *what, eddy_tensor p)
{
    if (eddy_is_valid(p) && eddy_dtype_of(p) == EDDY_BOOL && eddy_shape_of(p).rank <= 0)
        return true;
    char text[120];
    if (eddy_is_valid(p))
        eddy_fail(
            p.graph, EDDY_BAD_DTYPE, "%s: pred must be a bool scalar, not %s [tensor '%.200s']",
            what,
            eddy_type_print((eddy_type){ eddy_dtype_of(p), eddy_shape_of(p) }, text, sizeof text),
            eddy_name_of(p));
    else if (p.graph) eddy_fail(p.graph, EDDY_INVALID_ARGUMENT, "%s: no pred is given", what);
    return false;
}

int eddy_cond_with(const eddy_cond_args *given)
{
    eddy_cond_args a = EDDY_TAKE(eddy_cond_args, given);
    static const char *const   names[] = { "true_fn", "false_fn" };
    const eddy_function *const branches[] = { &a.true_fn, &a.false_fn };
    eddy_graph *g = a.pred.graph;
    if (!is_predicate("cond", a.pred) || !eddy__graph_ready(g)) return 0;
    eddy_scope_begin(g, eddy__name_or(a.name, "cond"));
    const case_spec s = {
        .what = "cond", .branches = branches, .names = names, .count = 2, .x = a.x
    };
    const int n = build_case(g, &s, Where(a.pred, eddy_number(g, EDDY_INT32, 0),
                                          eddy_number(g, EDDY_INT32, 1)), a.out);
    eddy_scope_end(g);
    return n;
}

/* The functions as a list of pointers, `more` behind them. */
static const eddy_function **list_of(eddy_graph *g, eddy_arena *arena, const eddy_function *fns,
                                     int count, const eddy_function *more)
{
    const eddy_function **list = eddy__arena_alloc(arena, ((size_t)count + 1) * sizeof *list);
    if (!list) {
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory (branches: %d)", count);
        return NULL;
    }
    for (int i = 0; i < count; i++) list[i] = &fns[i];
    list[count] = more;
    return list;
}

static bool are_branches(eddy_graph *g, const char *what, const eddy_function *fns, int count)
{
    if (!fns)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the list of branches is NULL", what);
    else if (count < 1 || count > EDDY_MAX_INPUTS)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the number of branches is %d; expected 1 to %d",
                  what, count, EDDY_MAX_INPUTS);
    return eddy__graph_ready(g);
}

static bool is_index(eddy_tensor i)
{
    char text[120];
    if (!eddy_is_valid(i))
        eddy_fail(i.graph, EDDY_INVALID_ARGUMENT, "switch_case: no branch_index is given");
    else if (eddy_dtype_of(i) != EDDY_INT32 || eddy_shape_of(i).rank > 0)
        eddy_fail(
            i.graph, EDDY_BAD_DTYPE,
            "switch_case: branch_index must be an int32 scalar, not %s [tensor '%.200s']",
            eddy_type_print((eddy_type){ eddy_dtype_of(i), eddy_shape_of(i) }, text, sizeof text),
            eddy_name_of(i));
    return eddy__graph_ready(i.graph);
}

int eddy_switch_case_with(const eddy_switch_case_args *given)
{
    eddy_switch_case_args a = EDDY_TAKE(eddy_switch_case_args, given);
    eddy_graph *g = a.branch_index.graph;
    if (!eddy__graph_ready(g)) return 0;
    if (!is_index(a.branch_index) || !are_branches(g, "switch_case", a.branches, a.count)) return 0;
    eddy_arena arena = { .allocator = eddy__graph_allocator(g) };
    const eddy_function **list = list_of(g, &arena, a.branches, a.count, NULL);
    int n = 0;
    eddy_scope_begin(g, eddy__name_or(a.name, "switch_case"));
    const case_spec s = { .what = "switch_case", .branches = list, .count = a.count, .x = a.x };
    if (list) n = build_case(g, &s, a.branch_index, a.out);
    eddy_scope_end(g);
    eddy__arena_free(&arena);
    return n;
}

/* The number of the first true one; `count` if there is none. */
static eddy_tensor first_true(eddy_graph *g, const eddy_tensor *preds, int count)
{
    eddy_tensor index = eddy_number(g, EDDY_INT32, count);
    for (int i = count - 1; i >= 0; i--)
        index = Where(preds[i], eddy_number(g, EDDY_INT32, i), index);
    return index;
}

static eddy_tensor checked(eddy_tensor index, eddy_tensor holds, const char *message)
{
    eddy_control_begin(index.graph, EDDY_LIST(eddy_assert(holds, EDDY_LIST(index), message)));
    index = eddy_identity(index);
    eddy_control_end(index.graph);
    return index;
}

/* The index, after the checks that the arguments ask for. */
static eddy_tensor case_index(eddy_graph *g, const eddy_case_args *a)
{
    eddy_tensor index = first_true(g, a->preds, a->count), n = eddy_number(g, EDDY_INT32, 0);
    for (int i = 0; i < a->count && a->exclusive; i++)
        n = Add(n, eddy_cast(a->preds[i], EDDY_INT32));
    if (a->exclusive)
        index = checked(index, eddy_less_equal(n, eddy_number(g, EDDY_INT32, 1)),
                        "case: more than one pred is true");
    if (!a->otherwise.build)
        index = checked(index, eddy_less(index, eddy_number(g, EDDY_INT32, a->count)),
                        "case: no pred is true, and there is no other branch");
    return index;
}

int eddy_case_with(const eddy_case_args *given)
{
    eddy_case_args a = EDDY_TAKE(eddy_case_args, given);
    eddy_graph *g = a.count > 0 && a.preds ? a.preds[0].graph : NULL;
    if (!eddy__graph_ready(g)) return 0;
    for (int i = 0; i < a.count; i++)
        if (!is_predicate("case", a.preds[i])) return 0;
    if (!are_branches(g, "case", a.fns, a.count)) return 0;
    eddy_arena arena = { .allocator = eddy__graph_allocator(g) };
    const eddy_function **list = list_of(g, &arena, a.fns, a.count, &a.otherwise);
    int n = 0;
    eddy_scope_begin(g, eddy__name_or(a.name, "case"));
    const case_spec s = { .what = "case", .branches = list,
                          .count = a.count + (a.otherwise.build != NULL), .x = a.x };
    if (list) n = build_case(g, &s, case_index(g, &a), a.out);
    eddy_scope_end(g);
    eddy__arena_free(&arena);
    return n;
}
