/* interpreter_bodies.c -- runs the bodies of Loop and Case nodes (graph/body.h), each with an
 * interpreter of its own. */
#include "graph/body.h"
#include "session/state/internal.h"
#include "tests/lib/interpreter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rows of a stack so far. */
typedef struct row_list {
    char  *data;
    size_t bytes, row;
} row_list;

typedef struct body_walk {
    const body_call *call;
    interpreter      in;        /* of the body */
    int              n_args, n_fetches;
    eddy_feed       *args;      /* by argument */
    eddy_array     **owned;     /* by argument: the value, unless it is the caller's */
    eddy_tensor     *fetches;
    int             *output;    /* by fetch: of the node; -1: only its effect counts */
    eddy_type       *types;     /* by fetch */
    bool            *takes;     /* by input: its value is needed */
    row_list        *rows;      /* by output */
} body_walk;

static body_walk begin(const body_call *c)
{
    eddy_graph  *body = eddy__body_of(c->node);
    const size_t n = (size_t)eddy__body_args(c->node) + 1;
    const size_t most = (size_t)(body->size + c->node->n_outputs) + n;
    body_walk    w = { .call = c, .in = interpreter_begin(body), .n_args = (int)n - 1 };
    w.args = calloc(n, sizeof *w.args);
    w.owned = calloc(n, sizeof *w.owned);
    w.fetches = calloc(most, sizeof *w.fetches);
    w.output = calloc(most, sizeof *w.output);
    w.types = calloc(most, sizeof *w.types);
    w.takes = calloc(n + 1, sizeof *w.takes);
    w.rows = calloc(most, sizeof *w.rows);
    w.in.noisy = c->outer->noisy;
    interpreter_body_takes(c->node, c->wanted, w.takes);
    for (int i = 0; i < w.n_args; i++) w.args[i].tensor = eddy__tensor_at(body, i + 1, 0);
    return w;
}

static void end(body_walk *w)
{
    for (int i = 0; i < w->n_args; i++) eddy_array_free(w->owned[i]);
    for (int k = 0; k < w->call->node->n_outputs; k++) free(w->rows[k].data);
    free(w->args), free(w->owned), free(w->fetches), free(w->output);
    free(w->types), free(w->takes), free(w->rows);
    interpreter_end(&w->in);
}

static bool refuse(const body_walk *w, eddy_status s, const char *what)
{
    return eddy__error_set(w->call->error, s, "%s: %s [node '%.200s']", w->call->node->op->name,
                           what, w->call->node->name);
}

/* Argument i is the caller's array; or a new one, which the body owns. */
static void lend(body_walk *w, int i, eddy_array *a)
{
    eddy_array_free(w->owned[i]);
    w->owned[i] = NULL;
    w->args[i].value = a;
}
static void give(body_walk *w, int i, eddy_array *a)
{
    lend(w, i, a);
    w->owned[i] = a;
}

static void add_fetch(body_walk *w, eddy_tensor t, int output)
{
    w->fetches[w->n_fetches] = t;
    w->output[w->n_fetches++] = output;
}

/* Random numbers differ between iterations, and between loops in each other. */
static uint64_t draw_of(const body_walk *w, int64_t iteration)
{
    return (w->call->outer->draw + 1) * 0x9e3779b97f4a7c15u + (uint64_t)iteration;
}

static bool run_body(body_walk *w, int64_t step, eddy_list fetches, eddy_array **out)
{
    interpreter *outer = w->call->outer;
    w->in.draw = draw_of(w, step);
    w->in.is_body = true;
    w->in.random = outer->random;
    const bool ok = interpreter_run(&w->in, (eddy_feeds){ w->n_args, w->args }, fetches, out,
                                    w->call->error);
    outer->random = w->in.random;
    outer->largest = fmax(outer->largest, w->in.largest);
    return ok;
}

/* The types of the fetches when the arguments have these. */
static bool type_body(body_walk *w)
{
    return interpreter_types(&w->in, (eddy_feeds){ w->n_args, w->args },
                             (eddy_list){ w->n_fetches, w->fetches }, w->types, w->call->error);
}

/* The value of input i; zeros of its type if it is not needed. */
static void set_input(body_walk *w, int arg, int i)
{
    const eddy_type t = w->call->types[i];
    if (w->call->inputs && w->takes[i]) lend(w, arg, w->call->inputs[i]);
    else give(w, arg, eddy_array_new(t.dtype, t.shape));
}

static bool same_type(eddy_type a, eddy_type b)
{
    return a.dtype == b.dtype && eddy_shape_equal(a.shape, b.shape);
}

/* -------------------------------------------------------- what is computed -- */

static void mark_back(const eddy_graph *body, bool *valued)
{
    for (int32_t id = body->size; id >= 1; id--) {
        const eddy_node *n = body->nodes[id];
        for (int i = 0; valued[id] && i < n->n_inputs; i++)
            if (!eddy__input_is_in(n->op->shape_inputs, i)) valued[n->inputs[i].node] = true;
        for (int i = 0; valued[id] && i < n->n_controls; i++) valued[n->controls[i]] = true;
    }
}

static void mark_branches(const eddy_case_attrs *at, const bool *wanted, bool *valued)
{
    for (int64_t i = 0; i < at->n_branches * at->n_out; i++)
        if (wanted[i % at->n_out]) valued[at->outs.at[2 * i]] = true;
    for (int64_t i = 0; i < at->effects.count / 2 && !at->quiet; i++)
        valued[at->effects.at[2 * i + 1]] = true;
    mark_back(at->body, valued);
}

/* A carried value is computed if its final value is wanted, or if an iteration reads it. */
static void mark_loop(const eddy_loop_attrs *at, const bool *wanted, bool *valued)
{
    const int64_t results = eddy__loop_results(at), outs = at->outs.count / 2;
    bool          again = true;
    for (int64_t i = 0; i < outs; i++) {
        const int64_t k = i - at->conditional;
        if (i >= results ? !at->quiet : k < 0 || wanted[k]) valued[at->outs.at[2 * i]] = true;
    }
    for (int j = 0; j < at->n_carried; j++) valued[2 + j] = valued[2 + j] || wanted[j];
    while (again) {
        again = false;
        mark_back(at->body, valued);
        for (int j = 0; j < at->n_carried; j++) {
            const int64_t next = at->outs.at[2 * (at->conditional + j)];
            if (!valued[2 + j] || valued[next]) continue;
            valued[next] = again = true;
        }
    }
}

void interpreter_body_takes(const eddy_node *node, const bool *wanted, bool *takes)
{
    const bool        loop = node->op->flags & EDDY_OP_LOOP;
    const eddy_graph *body = eddy__body_of(node);
    bool             *valued = calloc((size_t)body->size + 1, sizeof *valued);
    if (loop) mark_loop(node->attrs, wanted, valued);
    else mark_branches(node->attrs, wanted, valued);
    const int first = loop ? ((const eddy_loop_attrs *)node->attrs)->counted : 1;
    for (int i = 0; i < node->n_inputs; i++)
        takes[i] = i < first || valued[i - first + 1 + loop];
    free(valued);
}

/* ------------------------------------------------------------------ cases -- */

static void fetch_branch(body_walk *w, int branch)
{
    const eddy_case_attrs *at = w->call->node->attrs;
    w->n_fetches = 0;
    for (int k = 0; k < at->n_out; k++)
        if (w->call->wanted[k])
            add_fetch(w, eddy__body_out(at->body, at->outs, branch * at->n_out + k), k);
    for (int64_t i = 0; i < at->effects.count / 2 && !at->quiet; i++)
        if (at->effects.at[2 * i] == branch)
            add_fetch(w, eddy__tensor_at(at->body, (int32_t)at->effects.at[2 * i + 1], 0), -1);
}

static bool type_branch(body_walk *w, int branch)
{
    fetch_branch(w, branch);
    if (!type_body(w)) return false;
    for (int i = 0; i < w->n_fetches; i++) {
        eddy_type *t = &w->call->out_types[w->output[i]];
        if (w->output[i] < 0) continue;
        if (branch == 0) *t = w->types[i];
        else if (!same_type(*t, w->types[i]))
            return refuse(w, EDDY_BAD_SHAPE, "the branches differ in shape");
    }
    return true;
}

static bool run_branch(body_walk *w)
{
    const eddy_case_attrs *at = w->call->node->attrs;
    int branch = (int)eddy_array_get(w->call->inputs[0], 0);
    if (branch < 0 || branch >= at->n_branches) branch = (int)at->n_branches - 1;
    fetch_branch(w, branch);
    eddy_array **out = calloc((size_t)w->n_fetches + 1, sizeof *out);
    const bool   ok = run_body(w, branch, (eddy_list){ w->n_fetches, w->fetches }, out);
    for (int i = 0; ok && i < w->n_fetches; i++) {
        if (w->output[i] < 0) eddy_array_free(out[i]);
        else w->call->out[w->output[i]] = out[i];
    }
    free(out);
    return ok;
}

static bool interpret_case(body_walk *w)
{
    const eddy_case_attrs *at = w->call->node->attrs;
    for (int i = 0; i < w->n_args; i++) set_input(w, i, i + 1);
    for (int b = 0; b < at->n_branches; b++)
        if (!type_branch(w, b)) return false;
    return !w->call->inputs || run_branch(w);
}

/* ------------------------------------------------------------------ loops -- */

/* The new carried values, the rows of stacks, and side effects. */
static void fetch_iteration(body_walk *w)
{
    const eddy_loop_attrs *at = w->call->node->attrs;
    const int64_t          results = eddy__loop_results(at), outs = at->outs.count / 2;
    for (int k = 0; k < at->n_carried + at->n_stacked; k++)
        if (w->call->wanted[k] || (k < at->n_carried && w->takes[at->counted + k]))
            add_fetch(w, eddy__body_out(at->body, at->outs, at->conditional + k), k);
    for (int64_t i = results; i < outs && !at->quiet; i++)
        add_fetch(w, eddy__body_out(at->body, at->outs, i), -1);
}

static eddy_type row_of(eddy_type t)
{
    eddy_type row = { t.dtype, { .rank = t.shape.rank - 1 } };
    for (int d = 1; d < t.shape.rank; d++) row.shape.dim[d - 1] = t.shape.dim[d];
    return row;
}

static size_t bytes_of(eddy_type t)
{
    return (size_t)eddy_shape_count(t.shape) * eddy_dtype_size(t.dtype);
}

/* The largest number of iterations; false if the sliced inputs differ in their rows. */
static bool find_most(const body_walk *w, int64_t *most)
{
    const eddy_loop_attrs *at = w->call->node->attrs;
    const int64_t          first = at->counted + at->n_carried;
    const bool             alone = !at->conditional && !at->counted && at->trips < 0;
    *most = at->trips >= 0 ? at->trips : INT64_MAX;
    for (int64_t i = first; i < first + at->n_sliced; i++) {
        const eddy_shape s = w->call->types[i].shape;
        if (s.rank < 1) return refuse(w, EDDY_BAD_SHAPE, "a scalar has no rows");
        if (at->open && !w->call->inputs) continue;
        if (i > first && alone && s.dim[0] != *most)
            return refuse(w, EDDY_BAD_SHAPE, "the tensors to loop over differ in their rows");
        if (s.dim[0] < *most) *most = s.dim[0];
    }
    return true;
}

/* The arguments before the first iteration; rows are zero. */
static void first_arguments(body_walk *w)
{
    const eddy_loop_attrs *at = w->call->node->attrs;
    give(w, 0, eddy_array_new(EDDY_INT64, EDDY_SCALAR));
    for (int i = 1; i < w->n_args; i++) {
        const int       input = i - 1 + at->counted;
        const int64_t   slice = i - 1 - at->n_carried;
        const eddy_type t = w->call->types[input];
        if (slice < 0 || slice >= at->n_sliced) set_input(w, i, input);
        else give(w, i, eddy_array_new(t.dtype, row_of(t).shape));
    }
}

/* The types of one iteration, and with them those of the outputs. */
static bool type_loop(body_walk *w, int64_t most)
{
    const body_call       *c = w->call;
    const eddy_loop_attrs *at = c->node->attrs;
    if (!type_body(w)) return false;
    for (int i = 0; i < w->n_fetches; i++) {
        const int       k = w->output[i];
        const eddy_type t = w->types[i];
        if (k < 0) continue;
        if (!eddy_shape_is_known(t.shape))
            return refuse(w, EDDY_UNIMPLEMENTED, "a result of the body has no known shape");
        if (k < at->n_carried) {
            const eddy_type before = c->types[k + at->counted];
            if (!same_type(before, t))
                return refuse(w, EDDY_UNIMPLEMENTED, "the shape of a loop variable changes");
            c->out_types[k] = t;
            continue;
        }
        eddy_type *stack = &c->out_types[k];
        w->rows[k].row = bytes_of(t);
        *stack = (eddy_type){ t.dtype, { .rank = t.shape.rank + 1 } };
        stack->shape.dim[0] = eddy__loop_is_open(at) ? 0 : most;
        for (int d = 0; d < t.shape.rank; d++) stack->shape.dim[d + 1] = t.shape.dim[d];
    }
    return true;
}

static void set_rows(body_walk *w, int64_t row)
{
    const eddy_loop_attrs *at = w->call->node->attrs;
    eddy_array            *number = eddy_array_new(EDDY_INT64, EDDY_SCALAR);
    eddy_array_set(number, 0, (double)row);
    give(w, 0, number);
    for (int64_t i = 0; i < at->n_sliced; i++) {
        const int64_t   input = at->counted + at->n_carried + i;
        const eddy_type t = row_of(w->call->types[input]);
        if (!w->takes[input]) continue;
        const char *data = eddy_array_data(w->call->inputs[input]);
        give(w, (int)(1 + at->n_carried + i),
             eddy_array_copy_of(t.dtype, t.shape, data + (size_t)row * bytes_of(t)));
    }
}

static bool goes_on(body_walk *w, int64_t i, bool *on)
{
    const eddy_loop_attrs *at = w->call->node->attrs;
    eddy_array            *whether = NULL;
    *on = true;
    if (!at->conditional) return true;
    const eddy_tensor condition = eddy__body_out(at->body, at->outs, 0);
    if (!run_body(w, i, EDDY_LIST(condition), &whether)) return false;
    *on = eddy_array_get(whether, 0) != 0;
    eddy_array_free(whether);
    return true;
}

static void store_row(row_list *l, int64_t row, const eddy_array *a)
{
    const size_t from = (size_t)row * l->row;
    if (from + l->row > l->bytes) {
        l->data = realloc(l->data, from + l->row);
        memset(l->data + l->bytes, 0, from + l->row - l->bytes);
        l->bytes = from + l->row;
    }
    if (l->row > 0) memcpy(l->data + from, eddy_array_data(a), l->row);
}

static bool iterate(body_walk *w, int64_t row)
{
    const eddy_loop_attrs *at = w->call->node->attrs;
    eddy_array           **out = calloc((size_t)w->n_fetches + 1, sizeof *out);
    const bool             ok = run_body(w, row, (eddy_list){ w->n_fetches, w->fetches }, out);
    for (int f = 0; ok && f < w->n_fetches; f++) {
        const int k = w->output[f];
        if (k >= 0 && k < at->n_carried) {
            give(w, 1 + k, out[f]);
            continue;
        }
        if (k >= 0) store_row(&w->rows[k], row, out[f]);
        eddy_array_free(out[f]);
    }
    free(out);
    return ok;
}

/* Stacks have room for the largest number of iterations; those of an open loop for those that
 * there were. */
static void finish_loop(body_walk *w, int64_t n)
{
    const body_call       *c = w->call;
    const eddy_loop_attrs *at = c->node->attrs;
    for (int k = 0; k < c->node->n_outputs; k++) {
        eddy_type *t = &c->out_types[k];
        if (!c->wanted[k]) continue;
        if (k < at->n_carried) {
            const eddy_array *value = w->args[1 + k].value;
            c->out[k] = eddy_array_copy_of(t->dtype, t->shape, eddy_array_data(value));
            continue;
        }
        if (k < c->node->n_outputs - 1 && eddy__loop_is_open(at)) t->shape.dim[0] = n;
        c->out[k] = eddy_array_new(t->dtype, t->shape);
        if (k == c->node->n_outputs - 1) eddy_array_set(c->out[k], 0, (double)n);
        else {
            const size_t bytes = eddy_array_bytes(c->out[k]), have = w->rows[k].bytes;
            char        *data = eddy_array_data(c->out[k]);
            if (bytes > 0) memset(data, 0, bytes);
            if (have > 0) memcpy(data, w->rows[k].data, have < bytes ? have : bytes);
        }
    }
}

static bool run_loop(body_walk *w, int64_t most)
{
    const eddy_loop_attrs *at = w->call->node->attrs;
    int64_t                n = most, i = 0;
    if (at->counted) n = (int64_t)fmin((double)n, eddy_array_get(w->call->inputs[0], 0));
    for (bool on = true; i < n; i++) {
        const int64_t row = at->reverse ? n - 1 - i : i;
        set_rows(w, row);
        if (!goes_on(w, i, &on)) return false;
        if (!on) break;
        if (!iterate(w, row)) return false;
    }
    finish_loop(w, i);
    return true;
}

static bool interpret_loop(body_walk *w)
{
    int64_t most;
    if (!find_most(w, &most)) return false;
    first_arguments(w);
    fetch_iteration(w);
    return type_loop(w, most) && (!w->call->inputs || run_loop(w, most));
}

bool interpreter_body(const body_call *c)
{
    body_walk  w = begin(c);
    const bool ok = c->node->op->flags & EDDY_OP_LOOP ? interpret_loop(&w) : interpret_case(&w);
    end(&w);
    return ok;
}
