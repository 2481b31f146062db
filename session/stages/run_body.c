/* run_body.c -- runs Loop and Case nodes whose bodies run node by node.
 *
 * A stack is kept as its rows, which may differ in shape. The backward loop of a gradient reads
 * them one by one, so it needs nothing else. */
#include "ops/weak_ops.h"
#include "session/profile/node_times.h"
#include "session/stages/rows_ops.h"
#include "session/stages/run_body.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------- what a node needs -- */

/* The results of the body that the wanted outputs need, the side effects last. */
typedef struct root_list {
    eddy_tensor *at;
    int          n, n_carried;
    int32_t     *carried;           /* by result: the number of the carried value */
} root_list;

static bool make_roots(const node_run *r, eddy_arena *arena, int64_t n, root_list *roots)
{
    *roots = (root_list){ .at = eddy__arena_alloc(arena, (size_t)(n + 1) * sizeof *roots->at),
                          .carried = eddy__arena_alloc(arena,
                                                       (size_t)(n + 1) * sizeof(int32_t)) };
    return (roots->at && roots->carried) || eddy__node_run_full(r, "a body");
}

static void add_root(root_list *roots, eddy_tensor t)
{
    for (int k = roots->n_carried; k < roots->n; k++)
        if (eddy_same(roots->at[k], t)) return;
    roots->at[roots->n++] = t;
}

static int root_number(const root_list *roots, eddy_tensor t)
{
    int k = roots->n_carried;
    while (k < roots->n && !eddy_same(roots->at[k], t)) k++;
    return k;
}

static eddy_tensor loop_out(const eddy_loop_attrs *a, int64_t i)
{
    return eddy__body_out(a->body, a->outs, i);
}

/* Those of a loop: the needed carried values, the stacks of all calls, and the side effects. */
static void loop_roots(int n, const body_call *calls, bool quiet, const uint8_t *carried,
                       root_list *roots)
{
    const eddy_loop_attrs *first = calls[0].node->attrs;
    roots->n = roots->n_carried = 0;
    for (int64_t j = 0; j < first->n_carried; j++) {
        if (!carried[j]) continue;
        roots->carried[roots->n] = (int32_t)j;
        roots->at[roots->n++] = loop_out(first, first->conditional + j);
    }
    roots->n_carried = roots->n;
    for (int c = 0; c < n; c++) {
        const eddy_loop_attrs *a = calls[c].node->attrs;
        for (int64_t k = a->n_carried; k < a->n_carried + a->n_stacked; k++)
            if (calls[c].wanted[k]) add_root(roots, loop_out(a, a->conditional + k));
    }
    for (int64_t i = eddy__loop_results(first); !quiet && i < first->outs.count / 2; i++)
        add_root(roots, loop_out(first, i));
}

static int64_t most_roots(int n, const body_call *calls)
{
    int64_t most = 0;
    for (int c = 0; c < n; c++)
        most += ((const eddy_loop_attrs *)calls[c].node->attrs)->outs.count / 2;
    return most;
}

/* The lists of the condition and of the body, and marks of the carried values that they need. */
static bool loop_lists(const node_run *r, eddy_arena *arena, int n, const body_call *calls,
                       bool quiet, root_list *roots, uint8_t *carried, node_list *condition,
                       node_list *body)
{
    const eddy_loop_attrs *a = calls[0].node->attrs;
    const eddy_tensor      goes_on = a->conditional ? loop_out(a, 0) : EDDY_NO_TENSOR;
    if (!make_roots(r, arena, most_roots(n, calls), roots) ||
        !eddy__nodes_begin(condition, r, arena, a->body, quiet, (int)a->conditional, &goes_on))
        return false;
    for (int64_t j = 0; j < a->n_carried; j++) {
        carried[j] = condition->needs[2 + j];
        for (int c = 0; c < n; c++) carried[j] |= calls[c].wanted[j];
    }
    for (bool again = true; again;) {
        loop_roots(n, calls, quiet, carried, roots);
        if (!eddy__nodes_begin(body, r, arena, a->body, quiet, roots->n, roots->at)) return false;
        again = false;
        for (int64_t j = 0; j < a->n_carried; j++) {
            again = again || (body->needs[2 + j] && !carried[j]);
            carried[j] |= body->needs[2 + j];
        }
    }
    return true;
}

/* The rows of all sliced inputs limit a loop, whether it needs their elements or not. */
static bool loop_inputs(const node_run *r, eddy_arena *arena, const eddy_node *node, bool quiet,
                        const uint8_t *wanted, uint8_t *takes)
{
    const eddy_loop_attrs *a = node->attrs;
    const body_call        call = { node, wanted, NULL };
    const int              args = eddy__body_args(node);
    uint8_t               *carried = eddy__arena_alloc(arena, (size_t)a->n_carried + 1);
    root_list              roots;
    node_list              condition, body;
    if (!carried) return eddy__node_run_full(r, node->name);
    if (!loop_lists(r, arena, 1, &call, quiet, &roots, carried, &condition, &body)) return false;
    if (a->counted) takes[0] = 1;
    for (int i = 1; i < args; i++) {
        const int64_t j = i - 1, slice = j - a->n_carried;
        takes[i - 1 + a->counted] = (j < a->n_carried && carried[j]) ||
                                    (slice >= 0 && slice < a->n_sliced) ||
                                    condition.needs[1 + i] || body.needs[1 + i];
    }
    return true;
}

/* Result k of the branch takes the place of a value that only another branch computes, for the
 * gradient of that branch (case_gradient.c): nothing reads its elements, and its shape need not be
 * one that the other branch could compute here. */
static bool is_absent(const eddy_case_attrs *a, const eddy_node *node, int64_t branch, int64_t k)
{
    const eddy_tensor t = eddy__body_out(a->body, a->outs, branch * a->n_out + k);
    const eddy_node  *zeros = a->body->nodes[t.node];
    if (zeros->op != &eddy_op_zeros_like || zeros->inputs[0].node < node->n_inputs ||
        eddy_shape_is_known(zeros->outputs[0].shape))
        return false;
    for (int64_t b = 0; b < a->n_branches; b++)
        if (eddy_same(eddy__body_out(a->body, a->outs, b * a->n_out + k), zeros->inputs[0]))
            return true;
    return false;
}

/* An array without elements in its place. */
static bool absent_value(const node_run *r, eddy_tensor t, const char *name, node_value *out)
{
    eddy_type type = eddy_node_of(t)->outputs[t.output];
    if (type.shape.rank < 0) type.shape = EDDY_SHAPE(0);
    for (int d = 0; d < type.shape.rank; d++)
        if (type.shape.dim[d] < 0) type.shape.dim[d] = 0;
    *out = eddy__value_of_array(eddy_array_new_in(&r->allocator, type.dtype, type.shape));
    return out->array || eddy__node_run_full(r, name);
}

static bool case_roots(const node_run *r, eddy_arena *arena, int n, const body_call *calls,
                       bool quiet, int64_t branch, root_list *roots)
{
    const eddy_case_attrs *first = calls[0].node->attrs;
    int64_t                most = first->effects.count / 2;
    for (int c = 0; c < n; c++) most += ((const eddy_case_attrs *)calls[c].node->attrs)->n_out;
    if (!make_roots(r, arena, most, roots)) return false;
    for (int c = 0; c < n; c++) {
        const eddy_case_attrs *a = calls[c].node->attrs;
        for (int64_t k = 0; k < a->n_out; k++)
            if (calls[c].wanted[k] && !is_absent(a, calls[c].node, branch, k))
                add_root(roots, eddy__body_out(a->body, a->outs, branch * a->n_out + k));
    }
    for (int64_t i = 0; !quiet && i < first->effects.count / 2; i++)
        if (first->effects.at[2 * i] == branch)
            add_root(roots, eddy__tensor_at(first->body, (int32_t)first->effects.at[2 * i + 1], 0));
    return true;
}

static bool case_inputs(const node_run *r, eddy_arena *arena, const eddy_node *node, bool quiet,
                        const uint8_t *wanted, uint8_t *takes)
{
    const eddy_case_attrs *a = node->attrs;
    const body_call        call = { node, wanted, NULL };
    root_list              roots;
    node_list              body;
    takes[0] = 1;
    for (int64_t b = 0; b < a->n_branches; b++) {
        if (!case_roots(r, arena, 1, &call, quiet, b, &roots) ||
            !eddy__nodes_begin(&body, r, arena, a->body, quiet, roots.n, roots.at))
            return false;
        for (int i = 1; i < node->n_inputs; i++) takes[i] |= body.needs[i];
    }
    return true;
}

bool eddy__body_inputs(const node_run *r, eddy_arena *arena, const eddy_node *node, bool quiet,
                       const uint8_t *wanted, uint8_t *takes)
{
    quiet = quiet || eddy__is_quiet(node);
    return node->op->flags & EDDY_OP_LOOP ? loop_inputs(r, arena, node, quiet, wanted, takes)
                                          : case_inputs(r, arena, node, quiet, wanted, takes);
}

/* ------------------------------------------------------------------ errors -- */

/* Adds the place to the error so far, or sets this one: as the node's own instruction would. */
static bool fail(node_run *r, const eddy_node *node, const node_value *in, eddy_status s,
                 const char *format, ...)
{
    eddy_error   error = { 0 };
    char         text[600];
    eddy_buffer  buffers[8], *at[8];
    va_list      args;
    const int    n = node->n_inputs < 8 ? node->n_inputs : 8;
    eddy_kernel_call call = { .node = node, .error = &error };
    eddy_kernel      k = { .op = node->op, .attrs = node->attrs, .in = at, .n_in = n,
                           .impl = &call };
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int i = 0; i < n; i++) {
        const eddy_tensor t = node->inputs[i];
        at[i] = &buffers[i];
        buffers[i].type = in[i].array ? in[i].type : eddy_node_of(t)->outputs[t.output];
    }
    eddy_kernel_fail(&k, s, "%s", text);
    *r->error = error;
    return false;
}

/* ------------------------------------------------------------------- loops -- */

typedef struct loop_run {
    node_run              *r;
    const eddy_node       *node;
    const eddy_loop_attrs *a;
    const node_value      *in;
    node_list              condition, body;
    root_list              roots;
    uint8_t               *carried;
    node_value            *now;         /* by carried value */
    row_list             **stacks;      /* by root behind the carried ones */
    int64_t                i, n, rows, row;     /* rows: of stacks; row: of this iteration */
} loop_run;

/* The error so far, and where it occurred: in iteration l->i, or in the condition before it. A loop
 * of segments adds nothing. */
static bool loop_fail(loop_run *l, bool condition)
{
    const eddy_error e = *l->r->error;
    const char      *name = l->node->name;
    if (condition)
        return fail(l->r, l->node, l->in, e.status,
                    "%s [condition of '%.200s' before iteration %lld]", e.message, name,
                    (long long)l->i);
    return !l->a->segmented &&
           fail(l->r, l->node, l->in, e.status, "%s [iteration %lld of '%.200s']", e.message,
                (long long)l->i, name);
}

static int64_t rows_of(const node_value *v)
{
    if (v->rows) return v->rows->total;
    return v->type.shape.rank > 0 ? v->type.shape.dim[0] : 0;
}

/* The number of iterations, less what the condition decides, and that of rows of stacks. */
static bool find_iterations(loop_run *l)
{
    const eddy_loop_attrs *a = l->a;
    const bool only_rows = !a->conditional && !a->counted && a->trips < 0;
    int64_t    most = a->trips >= 0 ? a->trips : INT64_MAX, rows = INT64_MAX;
    for (int64_t s = 0; s < a->n_sliced; s++) {
        const node_value *v = &l->in[a->counted + a->n_carried + s];
        if (!v->rows && v->type.shape.rank < 1)
            return fail(l->r, l->node, l->in, EDDY_BAD_SHAPE, "a scalar has no rows");
        const int64_t n = rows_of(v);
        if (s > 0 && only_rows && !a->open && n != rows)
            return fail(l->r, l->node, l->in, EDDY_BAD_SHAPE,
                        "the tensors to loop over differ in their number of rows: %lld and %lld",
                        (long long)rows, (long long)n);
        if (n < rows) rows = n;
    }
    l->rows = l->n = most < rows ? most : rows;
    if (a->counted) {
        const int64_t count = *(const int64_t *)eddy_array_data(l->in[0].array);
        if (count < l->n) l->n = count;
    }
    if (l->n < 0) l->n = 0;
    return true;
}

static bool set_arguments(loop_run *l, node_list *list)
{
    const eddy_loop_attrs *a = l->a;
    const int              args = eddy__body_args(l->node);
    for (int i = 0; i < args; i++) {
        node_value *to = eddy__nodes_value(list, eddy__tensor_at(a->body, i + 1, 0));
        const int64_t j = i - 1, s = j - a->n_carried;
        if (!list->needs[i + 1]) continue;
        if (i == 0) {
            *to = eddy__value_of_array(eddy_array_new_in(&l->r->allocator, EDDY_INT64,
                                                         EDDY_SCALAR));
            if (!to->array) return eddy__node_run_full(l->r, l->node->name);
            *(int64_t *)eddy_array_data(to->array) = l->row;
        } else if (j < a->n_carried) *to = eddy__value_retain(&l->now[j]);
        else if (s >= a->n_sliced) *to = eddy__value_retain(&l->in[j + a->counted]);
        else if (!eddy__stack_row(l->r, &l->in[j + a->counted], l->row, l->node->name, to))
            return false;
    }
    return true;
}

/* Random numbers differ between iterations, and between loops in each other (program_run.c). */
static uint64_t step_in(uint64_t step, int64_t iteration)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    return (step + 1) * odd + (uint64_t)iteration;
}

static bool goes_on(loop_run *l, uint64_t step, bool *on)
{
    char type[120];
    *on = true;
    if (!l->a->conditional) return true;
    const node_value *v = eddy__nodes_value(&l->condition, loop_out(l->a, 0));
    l->r->place.part = PART_CONDITION;
    bool ok = set_arguments(l, &l->condition) &&
              eddy__nodes_run(&l->condition, l->r, step_in(step, l->i));
    l->r->place.part = PART_BODY;
    if (ok && (!v->array || v->type.shape.rank != 0))
        ok = eddy__error_set(l->r->error, EDDY_BAD_SHAPE, "the condition is %s, not a scalar",
                             eddy_type_print(v->type, type, sizeof type));
    if (ok) *on = *(const bool *)eddy_array_data(v->array);
    eddy__nodes_clear(&l->condition, l->r->plan.stop);
    return ok || loop_fail(l, true);
}

/* The new value of a loop variable has a shape that its static one, the invariant, allows. */
static bool keeps_invariant(loop_run *l, int64_t j, const node_value *v)
{
    const eddy_type want = l->a->body->nodes[2 + j]->outputs[0];
    char            given[100], after[100];
    if (eddy_shape_compatible(want.shape, v->type.shape)) return true;
    return eddy__error_set(l->r->error, EDDY_BAD_SHAPE,
                           "The shape for loop variable %lld is not an invariant for the loop. It "
                           "has shape %s after one iteration, but the shape invariant is %s",
                           (long long)j,
                           eddy_shape_print(v->type.shape, after, sizeof after),
                           eddy_shape_print(want.shape, given, sizeof given));
}

/* Takes the results of an iteration. */
static bool take_results(loop_run *l)
{
    for (int k = 0; k < l->roots.n_carried; k++) {
        const int64_t     j = l->roots.carried[k];
        const node_value *v = eddy__nodes_value(&l->body, l->roots.at[k]);
        if (!keeps_invariant(l, j, v)) return false;
        eddy__value_free_late(&l->now[j], l->r->plan.stop);
        l->now[j] = eddy__value_retain(v);
    }
    for (int k = l->roots.n_carried; k < l->roots.n; k++) {
        if (!l->stacks[k]) continue;
        const node_value *v = eddy__nodes_value(&l->body, l->roots.at[k]);
        if (!eddy__rows_set(l->stacks[k], l->row, eddy__value_retain(v)))
            return eddy__node_run_full(l->r, l->node->name);
    }
    return true;
}

static bool iterate(loop_run *l, uint64_t step, bool *on)
{
    l->row = l->a->reverse ? l->n - 1 - l->i : l->i;
    eddy_error e = { 0 };
    if (eddy__must_stop(l->r->session, l->r->plan.stop, "", &e))
        return fail(l->r, l->node, l->in, e.status, "%s [iteration %lld of '%.200s']", e.message,
                    (long long)l->i, l->node->name);
    if (!goes_on(l, step, on)) return false;
    if (!*on) return true;
    l->body.watched = true;
    l->body.iteration = l->row;
    const bool ok = set_arguments(l, &l->body) &&
                    eddy__nodes_run(&l->body, l->r, step_in(step, l->row)) && take_results(l);
    eddy__nodes_clear(&l->body, l->r->plan.stop);
    return ok || loop_fail(l, false);
}

static bool begin_loop(loop_run *l, eddy_arena *arena, int n, const body_call *calls, bool quiet)
{
    const eddy_loop_attrs *a = l->a;
    l->carried = eddy__arena_alloc(arena, (size_t)a->n_carried + 1);
    l->now = eddy__arena_alloc(arena, ((size_t)a->n_carried + 1) * sizeof *l->now);
    if (l->now) memset(l->now, 0, ((size_t)a->n_carried + 1) * sizeof *l->now);
    if (!l->carried || !l->now) return eddy__node_run_full(l->r, l->node->name);
    if (!loop_lists(l->r, arena, n, calls, quiet, &l->roots, l->carried, &l->condition, &l->body) ||
        !find_iterations(l))
        return false;
    l->stacks = eddy__arena_alloc(arena, ((size_t)l->roots.n + 1) * sizeof *l->stacks);
    if (!l->stacks) return eddy__node_run_full(l->r, l->node->name);
    memset(l->stacks, 0, ((size_t)l->roots.n + 1) * sizeof *l->stacks);
    for (int64_t j = 0; j < a->n_carried; j++)
        if (l->carried[j]) l->now[j] = eddy__value_retain(&l->in[a->counted + j]);
    return true;
}

/* Only results that some call wants are stacked; the others are side effects. */
static bool begin_stacks(loop_run *l, int n, const body_call *calls)
{
    for (int c = 0; c < n; c++) {
        const eddy_loop_attrs *a = calls[c].node->attrs;
        for (int64_t k = a->n_carried; k < a->n_carried + a->n_stacked; k++) {
            if (!calls[c].wanted[k]) continue;
            row_list **to = &l->stacks[root_number(&l->roots, loop_out(a, a->conditional + k))];
            if (!*to) *to = eddy__rows_new(&l->r->allocator);
            if (!*to) return eddy__node_run_full(l->r, l->node->name);
        }
    }
    return true;
}

/* The results of a call after l->i iterations. */
static bool give_results(const loop_run *l, const body_call *call)
{
    const eddy_loop_attrs *a = call->node->attrs;
    const int64_t          last = a->n_carried + a->n_stacked;
    for (int64_t j = 0; j < a->n_carried; j++)
        if (call->wanted[j]) call->out[j] = eddy__value_retain(&l->now[j]);
    for (int64_t k = a->n_carried; k < last; k++) {
        if (!call->wanted[k]) continue;
        const eddy_tensor t = loop_out(a, a->conditional + k);
        row_list         *rows = l->stacks[root_number(&l->roots, t)];
        const eddy_dtype  dtype = a->body->nodes[t.node]->outputs[t.output].dtype;
        rows->total = eddy__loop_is_open(a) ? l->i : l->rows;
        rows->references++;
        call->out[k] = (node_value){ .type = { dtype, EDDY_UNKNOWN_SHAPE }, .rows = rows };
    }
    if (!call->wanted[last]) return true;
    eddy_array *count = eddy_array_new_in(&l->r->allocator, EDDY_INT64, EDDY_SCALAR);
    if (!count) return eddy__node_run_full(l->r, l->node->name);
    *(int64_t *)eddy_array_data(count) = l->i;
    call->out[last] = eddy__value_of_array(count);
    return true;
}

static void end_loop(loop_run *l)
{
    for (int64_t j = 0; l->now && j < l->a->n_carried; j++)
        eddy__value_free_late(&l->now[j], l->r->plan.stop);
    for (int k = 0; l->stacks && k < l->roots.n; k++)
        eddy__value_free(&(node_value){ .rows = l->stacks[k] });
}

static bool run_loop(node_run *r, eddy_arena *arena, int n, const body_call *calls,
                     const node_value *in, bool quiet, uint64_t step, int64_t *iterations)
{
    loop_run l = { .r = r, .node = calls[0].node, .a = calls[0].node->attrs, .in = in };
    bool     ok = begin_loop(&l, arena, n, calls, quiet) && begin_stacks(&l, n, calls), on = true;
    while (ok && l.i < l.n) {
        ok = iterate(&l, step, &on);
        if (!ok || !on) break;
        l.i++;
    }
    for (int c = 0; ok && c < n; c++) ok = give_results(&l, &calls[c]);
    end_loop(&l);
    *iterations = l.i;
    return ok;
}

/* ------------------------------------------------------------------- cases -- */

static bool run_branch(node_run *r, node_list *body, const body_call *call, const node_value *in,
                       uint64_t step)
{
    for (int i = 1; i < call->node->n_inputs; i++)
        if (body->needs[i]) body->values[body->first[i]] = eddy__value_retain(&in[i]);
    body->watched = true;
    return eddy__nodes_run(body, r, step);
}

static bool branch_results(const node_run *r, const node_list *body, int64_t branch,
                           const body_call *call)
{
    const eddy_case_attrs *a = call->node->attrs;
    bool                   ok = true;
    for (int64_t k = 0; ok && k < a->n_out; k++) {
        const eddy_tensor t = eddy__body_out(a->body, a->outs, branch * a->n_out + k);
        if (!call->wanted[k]) continue;
        if (is_absent(a, call->node, branch, k))
            ok = absent_value(r, t, call->node->name, &call->out[k]);
        else call->out[k] = eddy__value_retain(eddy__nodes_value(body, t));
    }
    return ok;
}

static bool run_case(node_run *r, eddy_arena *arena, int n, const body_call *calls,
                     const node_value *in, bool quiet, uint64_t step)
{
    const eddy_case_attrs *a = calls[0].node->attrs;
    const eddy_node       *node = calls[0].node;
    root_list              roots;
    node_list              body;
    if (in[0].type.shape.rank != 0)
        return fail(r, node, in, EDDY_BAD_SHAPE, "the index of the branch is not a scalar");
    int32_t branch = *(const int32_t *)eddy_array_data(in[0].array);
    if (branch < 0 || branch >= a->n_branches) branch = (int32_t)a->n_branches - 1;
    if (!case_roots(r, arena, n, calls, quiet, branch, &roots) ||
        !eddy__nodes_begin(&body, r, arena, a->body, quiet, roots.n, roots.at))
        return false;
    r->place.part = branch;
    bool ok = run_branch(r, &body, &calls[0], in, step_in(step, branch));
    for (int c = 0; ok && c < n; c++) ok = branch_results(r, &body, branch, &calls[c]);
    eddy__nodes_clear(&body, r->plan.stop);
    const eddy_error e = *r->error;
    return ok || fail(r, node, in, e.status, "%s [branch %d of '%.200s']", e.message, (int)branch,
                      node->name);
}

bool eddy__run_body(node_run *r, int n, const body_call *calls, const node_value *in, bool quiet,
                    uint64_t step)
{
    const eddy_node *node = calls[0].node;
    const node_place outer = r->place;
    const int64_t    begun = eddy__times_nodes(r->session) ? eddy__ticks() : 0;
    int64_t          iterations = 0;
    eddy_arena       arena = { .allocator = &r->session->allocator };
    quiet = quiet || eddy__is_quiet(node);
    r->place = (node_place){ node, PART_BODY };
    const bool ok = node->op->flags & EDDY_OP_LOOP
                        ? run_loop(r, &arena, n, calls, in, quiet, step, &iterations)
                        : run_case(r, &arena, n, calls, in, quiet, step);
    r->place = outer;
    eddy__arena_free(&arena);
    if (eddy__times_nodes(r->session))
        eddy__node_times_add(r->session, node, outer, eddy__ticks() - begun, iterations);
    return ok;
}
