/* eval.c -- eager evaluation: values of tensors while a graph is built.
 *
 * An evaluation computes, one by one in the order of creation, the nodes that a tensor needs and
 * that no earlier evaluation has computed, as eager execution would have done when they were
 * built, and caches their results. It walks from the tensor back to cached results and never
 * over the whole graph, so its cost is that of the nodes that it computes.
 *
 * For operations that draw, all evaluations until the results are forgotten are one run. */
#include "graph/base/new_array.h"
#include "graph/body.h"
#include "session/eval_body.h"
#include "session/eval_cache.h"
#include "session/stages/rows_ops.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of one evaluation. */
typedef struct evaluation {
    eddy_session *session;
    eval_cache   *cache;
    eddy_plan     plan;         /* the kernel's arena and error */
    eddy_error   *error;
} evaluation;

/* The rows of t as an array; NULL with the error set. */
static eddy_array *stacked(evaluation *l, eddy_tensor t)
{
    const eddy_node *node = l->session->graph->nodes[t.node];
    eddy_type        row = node->outputs[t.output];
    if (row.shape.rank > 0) row.shape.rank--;
    for (int d = 0; d < row.shape.rank; d++) row.shape.dim[d] = row.shape.dim[d + 1];
    eddy_array *a = eddy__rows_stack(eddy__eval_rows(l->cache, t), row, &l->session->allocator,
                                     node->name, l->error);
    if (!a) eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory for '%s'", node->name);
    return l->cache->at[t.node].values[t.output] = a;
}

/* -------------------------------------------------------------- variables -- */

static bool is_variable(const eddy_node *node) { return node->op->flags & EDDY_OP_VARIABLE; }

static bool is_reference(const eddy_node *node, int i)
{
    return i == 0 && (node->op->flags & EDDY_OP_REFERENCE);
}

static bool is_initialized(eddy_session *s, int32_t id)
{
    const eddy_state *state = id < s->states_capacity ? s->states[id] : NULL;
    return state && state->initialized;
}

static bool initializes(const eddy_node *node, int32_t variable)
{
    return (node->op->flags & EDDY_OP_REPLACES) && node->inputs[0].node == variable;
}

/* The assign node that initializes a variable; 0 if there is none. It is the node after the
 * variable, unless other code intervened. */
static int32_t initializer_of(eddy_graph *g, int32_t variable)
{
    const eddy_node *next = eddy__graph_node(g, variable + 1);
    if (next && initializes(next, variable)) return next->id;
    const int n = eddy_collection_size(g, EDDY_INITIALIZERS);
    for (int i = 0; i < n; i++) {
        const eddy_node *node = eddy_node_of(eddy_collection_at(g, EDDY_INITIALIZERS, i));
        if (node && initializes(node, variable)) return node->id;
    }
    return 0;
}

/* The storage of a variable. If `replaced` is not NULL, allocates memory for a value of that
 * shape. */
static bool storage(evaluation *l, const eddy_node *variable, const eddy_shape *replaced,
                    eddy_buffer *b)
{
    eddy_state *state = eddy__session_state(l->session, variable->id);
    eddy_type   t = variable->outputs[0];
    bool        fits = state && state->value;
    if (fits) t.shape = eddy_array_shape(state->value);
    if (replaced && !eddy__value_fits(variable, (eddy_type){ t.dtype, *replaced }, l->error))
        return false;
    if (replaced && !eddy_shape_equal(t.shape, *replaced)) {
        t.shape = *replaced;
        fits = false;
    }
    if (!eddy_shape_is_known(t.shape)) t.shape = EDDY_SHAPE(0);
    eddy_array *a = NULL;
    if (state && !fits) a = eddy_array_new_in(&l->session->allocator, t.dtype, t.shape);
    if (!fits && !a)
        return eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory for the variable '%s'",
                               variable->name);
    if (a) {
        eddy_array_free(state->value);
        state->value = a;
    }
    *b = eddy__buffer_of(t, eddy_array_data(state->value));
    b->state = state;
    return true;
}

/* --------------------------------------------------------- required nodes -- */

static void need_node(evaluation *l, int32_t id)
{
    eval_entry      *k = &l->cache->at[id];
    const eddy_node *node = l->session->graph->nodes[id];
    if (k->values || k->listed) return;
    if (is_variable(node) && is_initialized(l->session, id)) return;
    if ((node->op->flags & EDDY_OP_PLACEHOLDER) && k->given) return;
    k->listed = true;
    l->cache->list[l->cache->listed++] = id;
}

static bool is_type_enough(const eddy_node *node, int i)
{
    const eddy_tensor t = node->inputs[i];
    return eddy__input_is_in(node->op->shape_inputs, i) && eddy_shape_is_known(eddy_shape_of(t));
}

/* Adds the nodes that the listed nodes need; the list is also the queue of the walk. */
static void list_needed(evaluation *l)
{
    eddy_graph *g = l->session->graph;
    for (int32_t at = 0; at < l->cache->listed; at++) {
        const eddy_node *node = g->nodes[l->cache->list[at]];
        for (int i = 0; i < node->n_inputs; i++) {
            const int32_t from = node->inputs[i].node;
            if (eddy__eval_value(l->cache, node->inputs[i]) || is_type_enough(node, i)) continue;
            if (is_reference(node, i) && initializer_of(g, from) == node->id) continue;
            need_node(l, from);
        }
        for (int i = 0; i < node->n_controls; i++) need_node(l, node->controls[i]);
        const int32_t initializer = is_variable(node) ? initializer_of(g, node->id) : 0;
        if (initializer) need_node(l, initializer);
    }
}

static int by_id(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* -------------------------------------------------------------- computing -- */

static bool has_body(const eddy_node *node) { return node->op->flags & EDDY_OP_BODY; }

static bool reads_rows(const eddy_node *node) { return has_body(node) || eddy__reads_rows(node); }

/* The array that node reads as input i, or a buffer of unknown shape for rows. A kernel may read a
 * variable's storage directly, except one that changes it at other positions than it reads. */
static bool input(evaluation *l, const eddy_node *node, int i, eddy_buffer *b)
{
    enum { CAREFUL = EDDY_OP_UPDATES | EDDY_OP_IN_PLACE };
    const eddy_tensor t = node->inputs[i];
    const eddy_node  *from = l->session->graph->nodes[t.node];
    eddy_array       *a = eddy__eval_value(l->cache, t);
    if (eddy__eval_rows(l->cache, t)) {
        if (reads_rows(node)) {
            *b = (eddy_buffer){ .type = { from->outputs[t.output].dtype, EDDY_UNKNOWN_SHAPE } };
            return true;
        }
        if (!(a = stacked(l, t))) return false;
    }
    if (a || !is_variable(from) || is_type_enough(node, i)) {
        const eddy_type known = from->outputs[t.output];
        *b = eddy__buffer_of(a ? (eddy_type){ known.dtype, eddy_array_shape(a) } : known,
                             eddy_array_data(a));
        return true;
    }
    if (!is_initialized(l->session, t.node))
        return eddy__error_set(l->error, EDDY_UNINITIALIZED,
                               "Attempting to use uninitialized value %s", from->name);
    if (!storage(l, from, NULL, b)) return false;
    b->state = NULL;
    if ((node->op->flags & CAREFUL) != EDDY_OP_UPDATES) return true;
    const size_t bytes = (size_t)b->count * eddy_dtype_size(b->type.dtype);
    void        *copy = eddy__arena_alloc(&l->plan.arena, bytes);
    if (!copy)
        return eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory while reading '%s'",
                               from->name);
    if (bytes > 0) memcpy(copy, b->data, bytes);
    b->data = copy;
    return true;
}

/* The inputs of a node. The storage of a variable comes last, because it gets the shape of the
 * new value. */
static bool inputs(evaluation *l, const eddy_node *node, eddy_buffer *b)
{
    for (int i = node->n_inputs - 1; i >= 0; i--) {
        const eddy_node *from = l->session->graph->nodes[node->inputs[i].node];
        const bool       replaced = (node->op->flags & EDDY_OP_REPLACES) && node->n_inputs > 1;
        const bool       ok = is_reference(node, i)
                                  ? storage(l, from, replaced ? &b[1].type.shape : NULL, &b[0])
                                  : input(l, node, i, &b[i]);
        if (!ok) return false;
    }
    if (node->op->flags & EDDY_OP_UPDATES) {
        b[0].state->version++;
        l->session->changes++;
    }
    return true;
}

/* The elements of an input, which may be a variable. */
static const eddy_array *elements(const evaluation *l, eddy_tensor t)
{
    const eddy_array *a = eddy__eval_value(l->cache, t);
    const bool held = is_variable(l->session->graph->nodes[t.node]) &&
                      is_initialized(l->session, t.node);
    return a || !held ? a : l->session->states[t.node]->value;
}

static bool infer(evaluation *l, const eddy_node *node, const eddy_buffer *b, eddy_type **types)
{
    const size_t       n = (size_t)node->n_inputs;
    eddy_type         *in = eddy__arena_alloc(&l->plan.arena, n * sizeof *in);
    const eddy_array **value = eddy__arena_alloc(&l->plan.arena, n * sizeof *value);
    if (!in || !value)
        return eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                               node->name);
    for (size_t i = 0; i < n; i++) {
        const bool wanted = eddy__input_is_in(node->op->value_inputs, (int)i);
        in[i] = b[i].type;
        value[i] = wanted ? elements(l, node->inputs[i]) : NULL;
    }
    if (!eddy__infer_node(node, in, value, &l->plan.arena, types, l->error)) return false;
    for (int k = 0; k < node->n_outputs; k++)
        if (!eddy_shape_is_known((*types)[k].shape))
            return eddy__error_set(l->error, EDDY_UNIMPLEMENTED,
                                   "%s: the shape of output %d depends on data [node '%s']",
                                   node->op->name, k, node->name);
    return true;
}

static bool is_alias(const eddy_node *node, const eddy_buffer *b, const eddy_type *types)
{
    if (node->op->flags & EDDY_OP_ALIAS) return true;
    return (node->op->flags & EDDY_OP_ALIAS_IF_EQUAL) && node->n_outputs == 1 &&
           b[0].count == eddy_shape_count(types[0].shape);
}

/* What the session keeps of node i; constants belong to the graph, and views to other values. */
static sized_value kept_value(const void *of, int32_t i)
{
    const evaluation *l = of;
    sized_value       v = { .node = i > 0 ? l->session->graph->nodes[i] : NULL };
    if (!v.node || !l->cache->at[i].values || (v.node->op->flags & EDDY_OP_CONSTANT)) return v;
    for (int k = 0; k < v.node->n_outputs; k++) {
        const eddy_array *a = l->cache->at[i].values[k];
        if (!eddy__array_is_borrowed(a)) v.bytes += eddy_array_bytes(a);
    }
    return v;
}

/* Computed values are kept, so the limit holds for all of them together. */
static bool is_within_limit(evaluation *l, const eddy_node *node, const eddy_type *types)
{
    const size_t limit = l->session->options.max_bytes, held = l->cache->bytes;
    double       more = 0;
    for (int k = 0; k < node->n_outputs; k++)
        more += (double)eddy_shape_count(types[k].shape) * (double)eddy_dtype_size(types[k].dtype);
    if (limit == 0 || (double)held + more <= (double)limit) return true;
    char largest[800];
    return eddy__error_set(l->error, EDDY_LIMIT,
                           "%s: the result needs %.0f bytes besides %zu of values that are kept "
                           "until eddy_eval_forget; max_bytes of the session is %zu [node '%.50s']"
                           "%s", node->op->name, more, held, limit, node->name,
                           eddy__name_largest(kept_value, l, l->session->graph->size + 1, largest,
                                              sizeof largest));
}

static void count_kept(evaluation *l, const eddy_node *node, eddy_array **out)
{
    for (int k = 0; k < node->n_outputs; k++) l->cache->bytes += eddy_array_bytes(out[k]);
}

/* Computes out[0..n_outputs) with the kernel, or as views of input 0, except views of a
 * variable, which would change with it. */
static bool compute_outputs(evaluation *l, const eddy_node *node, eddy_buffer *b, eddy_array **out)
{
    eddy_type *types;
    if (!infer(l, node, b, &types)) return false;
    const bool  alias = is_alias(node, b, types);
    eddy_array *from = alias ? eddy__eval_value(l->cache, node->inputs[0]) : NULL;
    if (!from && !is_within_limit(l, node, types)) return false;
    for (int k = 0; k < node->n_outputs; k++) {
        out[k] = from ? eddy__array_reshaped(from, types[k].shape)
                      : eddy__array_unset(&l->session->allocator, types[k].dtype, types[k].shape);
        if (!out[k])
            return eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory for '%s'", node->name);
        b[node->n_inputs + k] = eddy__buffer_of(types[k], eddy_array_data(out[k]));
        if (alias && !from && eddy_array_bytes(out[k]) > 0)
            memcpy(eddy_array_data(out[k]), b[0].data, eddy_array_bytes(out[k]));
    }
    if (!alias && !eddy__run_single_op(&l->plan, l->session->graph, node, b,
                                       eddy__draws_of(l->session, node->id, l->cache->taken),
                                       l->error))
        return false;
    /* The kernel may have left its result unfinished. An update that has happened is remembered. */
    if (!eddy__is_whole(node->op) && eddy__must_stop(l->session, l->plan.stop, "", l->error))
        return false;
    if (!from) count_kept(l, node, out);
    return true;
}

static bool eval_body(evaluation *l, const eddy_node *node, const eddy_buffer *b, eddy_array **out)
{
    const size_t n = eddy__eval_slots(node);
    const size_t m = (size_t)node->n_inputs + 1;
    eval_call    call = { .session = l->session, .arena = &l->plan.arena, .node = node, .in = b,
                          .out = out, .taken = l->cache->taken, .stop = l->plan.own_stop,
                          .error = l->error };
    call.rows = eddy__arena_alloc(&l->plan.arena, m * sizeof *call.rows);
    call.arrays = eddy__arena_alloc(&l->plan.arena, m * sizeof *call.arrays);
    call.out_rows = eddy__allocate_zeroed(&l->session->allocator, n, sizeof *call.out_rows);
    const bool room = call.rows && call.arrays && call.out_rows;
    for (int i = 0; room && i < node->n_inputs; i++) {
        call.rows[i] = eddy__eval_rows(l->cache, node->inputs[i]);
        call.arrays[i] = eddy__eval_value(l->cache, node->inputs[i]);
    }
    bool ok = room ? eddy__eval_body(&call)
                   : eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                                     node->name);
    /* The last kernel of the body may have left its result unfinished. */
    ok = ok && !eddy__must_stop(l->session, l->plan.stop, "", l->error);
    bool any = false;
    for (size_t k = 0; room && k < n; k++) any = any || call.out_rows[k];
    if (ok && any) l->cache->at[node->id].rows = call.out_rows;
    else if (call.out_rows) eddy__eval_free_rows(l->session, &call.out_rows, n);
    if (ok) count_kept(l, node, out);
    return ok;
}

static bool compute_entry(evaluation *l, const eddy_node *node, eddy_array **out)
{
    const eddy_tensor first = eddy__tensor_at(l->session->graph, node->id, 0);
    const eddy_array *constant = eddy_constant_value(first);
    if (constant) {
        out[0] = eddy_array_retain((eddy_array *)(uintptr_t)constant);
        return true;
    }
    if (node->op->flags & EDDY_OP_PLACEHOLDER) return eddy__not_fed(node, l->error);
    bool body = has_body(node);
    if (!body && !eddy__kernel_of(node->op) && !(node->op->flags & EDDY_OP_ALIAS))
        return node->n_outputs == 0 ||
               eddy__error_set(l->error, EDDY_UNIMPLEMENTED, "%s has no kernel [node '%s']",
                               node->op->name, node->name);
    const size_t n = (size_t)(node->n_inputs + node->n_outputs);
    eddy_buffer *b = eddy__arena_alloc(&l->plan.arena, n * sizeof *b);
    if (!b)
        return eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                               node->name);
    if (!inputs(l, node, b)) return false;
    for (int i = 0; i < node->n_inputs; i++)
        body = body || (eddy__eval_rows(l->cache, node->inputs[i]) && reads_rows(node));
    return body ? eval_body(l, node, b, out) : compute_outputs(l, node, b, out);
}

/* Computes one node whose inputs are cached, and caches its outputs. */
static bool compute(evaluation *l, const eddy_node *node)
{
    if (is_variable(node)) return true;
    eddy_array **out = eddy__eval_new_slots(l->session, node, l->error);
    if (!out) return false;
    if (compute_entry(l, node, out)) {
        if (node->n_outputs == 0) out[0] = eddy_array_new(EDDY_BOOL, EDDY_SHAPE(0));
        l->cache->at[node->id].values = out;
        return true;
    }
    for (int k = 0; k < node->n_outputs; k++) {
        eddy__array_free_late(out[k], l->plan.stop);
        out[k] = NULL;
    }
    eddy__eval_free_values(l->session, &out, eddy__eval_slots(node));
    return false;
}

static bool compute_listed(evaluation *l)
{
    eval_cache *e = l->cache;
    bool        ok = true;
    list_needed(l);
    qsort(e->list, (size_t)e->listed, sizeof *e->list, by_id);
    for (int32_t i = 0; i < e->listed; i++) {
        e->at[e->list[i]].listed = false;
        ok = ok && compute(l, l->session->graph->nodes[e->list[i]]);
        if (ok) eddy__arena_free(&l->plan.arena);
    }
    e->listed = 0;
    eddy__arena_free(&l->plan.arena);
    return ok;
}

/* A copy of the variable's value, in the array of the last evaluation if it fits. */
static eddy_array *current_value(evaluation *l, const eddy_node *variable)
{
    eddy_array **seen = &l->cache->at[variable->id].seen;
    eddy_buffer  b;
    if (!is_initialized(l->session, variable->id)) {
        eddy__error_set(l->error, EDDY_UNINITIALIZED, "Attempting to use uninitialized value %s",
                        variable->name);
        return NULL;
    }
    if (!storage(l, variable, NULL, &b)) return NULL;
    if (!*seen || eddy__array_is_shared(*seen) ||
        !eddy_shape_equal(eddy_array_shape(*seen), b.type.shape)) {
        eddy_array_free(*seen);
        *seen = eddy_array_new_in(&l->session->allocator, b.type.dtype, b.type.shape);
    }
    if (!*seen)
        eddy__error_set(l->error, EDDY_NO_MEMORY, "out of memory for '%s'", variable->name);
    else if (eddy_array_bytes(*seen) > 0)
        memcpy(eddy_array_data(*seen), b.data, eddy_array_bytes(*seen));
    return *seen;
}

/* Called with the session's lock held. */
static eddy_array *evaluate(eddy_session *s, eddy_tensor t, eddy_stop stop, eddy_error *error)
{
    const eddy_node *node = t.graph == s->graph ? eddy_node_of(t) : NULL;
    if (!node) {
        eddy__error_set(error, EDDY_INVALID_ARGUMENT,
                        "eval: the tensor is not an element of this graph");
        return NULL;
    }
    if (!eddy__eval_reserve(s, error) ||
        !eddy__draws_room(s, &s->eval_cache->taken, &s->eval_cache->n_taken, error))
        return NULL;
    evaluation l = { .session = s, .cache = s->eval_cache, .error = error,
               .plan = { .session = s, .allocator = &s->allocator,
                         .arena = { .allocator = &s->allocator } } };
    l.plan.own_stop = stop;
    l.plan.stop = &l.plan.own_stop;
    eddy_array *a = eddy__eval_value(l.cache, t);
    if (a) return a;
    eddy_running here;
    if (!eddy__lock_state(s, true, &stop, error)) return NULL;
    eddy__running_begin(&here, s);
    need_node(&l, t.node);
    if (compute_listed(&l))
        a = is_variable(node) ? current_value(&l, node)
            : eddy__eval_rows(l.cache, t) ? stacked(&l, t) : eddy__eval_value(l.cache, t);
    eddy__running_end(&here);
    pthread_rwlock_unlock(&s->state_lock);
    return a;
}

/* ------------------------------------------------------- public functions -- */

static void release_session(void *s) { eddy__session_destroy(s); }

eddy_session *eddy_eval_session(eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return NULL;
    for (int i = 0; i < g->n_owned; i++)
        if (g->owned[i].release == release_session) return g->owned[i].object;
    eddy_session *s = eddy_session_new(g);
    if (!s) return NULL;
    s->of_graph = true;
    eddy__graph_drop(g);                 /* a graph that waited for itself would never go */
    return eddy_graph_own(g, s, release_session) ? s : NULL;
}

const eddy_array *eddy_eval_in(eddy_session *s, eddy_tensor t)
{
    eddy_error e = { 0 };
    if (!eddy__session_enter(s)) return NULL;
    const eddy_stop stop = eddy__stop_begin(s);
    if (!eddy__lock_session(s, &stop, &e)) {
        eddy__session_note(s, &e);
        return NULL;
    }
    const eddy_array *a = eddy__session_check(s, &e) ? evaluate(s, t, stop, &e) : NULL;
    eddy__session_finish(s, &e);
    return a;
}

const eddy_array *eddy_eval(eddy_tensor t) { return eddy_eval_in(eddy_eval_session(t.graph), t); }

static void set_value(eddy_session *s, eddy_tensor t, const eddy_array *value, eddy_error *e)
{
    const eddy_node *node = eddy_node_of(t);
    if (!eddy__eval_reserve(s, e)) return;
    eddy_array **given = s->eval_cache->at[node->id].given;
    eddy_array  *copy = eddy_array_copy_of(eddy_array_dtype(value), eddy_array_shape(value),
                                           eddy_array_data(value));
    if (copy && !given)
        given = s->eval_cache->at[node->id].given = eddy__eval_new_slots(s, node, e);
    if (copy && given) {
        eddy_array_free(given[t.output]);
        given[t.output] = copy;
        return;
    }
    eddy_array_free(copy);
    eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%s'", node->name);
}

eddy_status eddy_eval_set_in(eddy_session *s, eddy_tensor t, const eddy_array *value)
{
    eddy_error       e = { 0 };
    const eddy_node *node = eddy_node_of(t);
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    if (node && is_variable(node)) return eddy_variable_set(s, t, value);
    pthread_mutex_lock(&s->lock);
    if (eddy__session_check(s, &e) && eddy__session_check_feed(s, &(eddy_feed){ t, value }, 0, &e))
        set_value(s, t, value, &e);
    return eddy__session_finish(s, &e);
}

eddy_status eddy_eval_set(eddy_tensor t, const eddy_array *value)
{
    return eddy_eval_set_in(eddy_eval_session(t.graph), t, value);
}

void eddy_eval_forget(eddy_session *s)
{
    if (!eddy__session_enter(s)) return;
    pthread_mutex_lock(&s->lock);
    eddy__eval_cache_free(s);
    pthread_mutex_unlock(&s->lock);
}

double eddy_eval_number(eddy_tensor t)
{
    const eddy_array *a = eddy_eval(t);
    if (eddy_array_count(a) == 1) return eddy_array_item(a);
    if (a) {
        char          shape[100];
        eddy_error    e = { 0 };
        eddy_session *s = eddy_eval_session(t.graph);
        eddy__error_set(&e, EDDY_BAD_SHAPE,
                        "eval_number: '%s:%d' has the shape %s, not one element",
                        eddy_name_of(t), (int)t.output,
                        eddy_shape_print(eddy_array_shape(a), shape, sizeof shape));
        pthread_mutex_lock(&s->lock);
        eddy__session_finish(s, &e);
    }
    return NAN;
}

eddy_status eddy_eval_print(eddy_tensor t, FILE *to)
{
    enum { MOST = 200 };
    char              type[100], values[MOST * 40];
    const eddy_array *a = eddy_eval(t);
    eddy_session     *s = eddy_eval_session(t.graph);
    if (!to) to = stdout;
    if (!a) {
        fprintf(to, "%s\n", eddy_session_message(s));
        return eddy_session_status(s);
    }
    const eddy_type of = { eddy_array_dtype(a), eddy_array_shape(a) };
    eddy_type_print(of, type, sizeof type);
    fprintf(to, "%s:%d %s %s\n", eddy_name_of(t), (int)t.output, type,
            eddy_array_print(a, MOST, values, sizeof values));
    return EDDY_OK;
}
