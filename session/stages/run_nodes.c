/* run_nodes.c -- runs nodes of bodies one by one. */
#include "session/stages/run_nodes.h"
#include "graph/base/new_array.h"
#include "session/compile/program.h"
#include "session/profile/node_times.h"
#include "session/stages/rows_ops.h"
#include "session/stages/run_body.h"
#include "session/state/run_events.h"
#include "session/state/watches.h"

#include <string.h>

/* --------------------------------------------------------------------- a run -- */

void eddy__node_run_begin(node_run *r, eddy_session *s, bool limited, eddy_stop stop,
                          eddy_error *error)
{
    *r = (node_run){ .session = s, .allocator = s->allocator, .error = error,
                     .memory = { .from = &s->allocator, .limit = s->options.max_bytes } };
    if (limited) r->allocator = eddy__limited_allocator(&r->memory);
    r->plan.session = s;
    r->plan.own_stop = stop;
    r->plan.stop = &r->plan.own_stop;
    r->plan.allocator = &r->allocator;
    r->plan.arena.allocator = &s->allocator;
}

void eddy__node_run_end(node_run *r) { eddy__arena_free(&r->plan.arena); }

/* Names only the value for which there was no room: the others are in the lists of all bodies that
 * are running, which a node_run does not know. */
bool eddy__node_run_full(const node_run *r, const char *what)
{
    if (!r->memory.refused)
        return eddy__error_set(r->error, EDDY_NO_MEMORY, "out of memory for '%.200s'", what);
    return eddy__error_set(r->error, EDDY_LIMIT,
                           "a loop whose shapes change needs more than %zu bytes at '%.200s'; "
                           "max_bytes of the session is %zu", r->memory.bytes, what,
                           r->memory.limit);
}

/* ------------------------------------------------------- the nodes to run -- */

static bool has_body(const eddy_node *node) { return node->op->flags & EDDY_OP_BODY; }

/* Which outputs may be stacks of loops. */
static void find_rows(node_list *l)
{
    for (int32_t id = 1; id <= l->body->size; id++) {
        const eddy_node *node = l->body->nodes[id];
        bool             in[2] = { false, false };
        if (node->op->flags & EDDY_OP_LOOP) {
            const eddy_loop_attrs *a = node->attrs;
            for (int64_t k = 0; k < a->n_stacked; k++)
                l->rows[l->first[id] + a->n_carried + k] = true;
        }
        if (node->n_outputs != 1 || !eddy__reads_rows(node)) continue;
        for (int i = 0; i < node->n_inputs; i++)
            if (l->rows[l->first[node->inputs[i].node] + node->inputs[i].output])
                in[i > 0] = true;
        l->rows[l->first[id]] = eddy__yields_rows(node, in);
    }
}

static bool may_be_rows(const node_list *l, eddy_tensor t)
{
    return l->rows[l->first[t.node] + t.output];
}

static void need(node_list *l, eddy_tensor t, uint8_t what)
{
    const eddy_node *node = l->body->nodes[t.node];
    /* their types are not known without their values */
    if (has_body(node) || (node->op->flags & EDDY_OP_DYNAMIC) ||
        (node->n_outputs > 0 && may_be_rows(l, t)))
        what = NODE_VALUE;
    l->needs[t.node] |= what;
    if (node->n_outputs > 0) l->wanted[l->first[t.node] + t.output] |= what;
}

/* Whether the node needs the value of input i, only its type, or neither. */
static uint8_t need_of(const node_list *l, const eddy_node *node, int i)
{
    if (has_body(node)) return l->takes[node->id][i] ? NODE_VALUE : 0;
    if (may_be_rows(l, node->inputs[i])) return NODE_VALUE;
    if (l->needs[node->id] & NODE_VALUE)
        return eddy__input_is_in(node->op->shape_inputs, i) ? NODE_TYPE : NODE_VALUE;
    return eddy__input_is_in(node->op->value_inputs, i) ? NODE_VALUE : NODE_TYPE;
}

/* The first node that does the same; they all are needed. */
static int32_t leader_of(const node_list *l, const eddy_node *node)
{
    for (int32_t id = 1; id < node->id; id++) {
        const eddy_node *other = l->body->nodes[id];
        if (has_body(other) && l->needs[id] && eddy__may_share(other, node)) return id;
    }
    return node->id;
}

/* Inputs of all nodes that run as one are those of the first. */
static bool find_takes(node_list *l, const node_run *r, eddy_arena *arena, const eddy_node *node)
{
    uint8_t **takes = &l->takes[node->id];
    if (!*takes) *takes = eddy__arena_alloc(arena, (size_t)node->n_inputs + 1);
    if (!*takes) return eddy__node_run_full(r, node->name);
    memset(*takes, 0, (size_t)node->n_inputs + 1);
    return eddy__body_inputs(r, arena, node, l->quiet, &l->wanted[l->first[node->id]], *takes);
}

static bool mark_inputs(node_list *l, const node_run *r, eddy_arena *arena)
{
    for (int32_t id = l->body->size; id >= 1; id--) {
        const eddy_node *node = l->body->nodes[id];
        if (!l->needs[id]) continue;
        if (has_body(node) && !find_takes(l, r, arena, node)) return false;
        for (int i = 0; i < node->n_inputs; i++) {
            const uint8_t what = need_of(l, node, i);
            if (what) need(l, node->inputs[i], what);
        }
    }
    return true;
}

static void find_leaders(node_list *l)
{
    for (int32_t id = 1; id <= l->body->size; id++) {
        const eddy_node *node = l->body->nodes[id];
        if (!l->needs[id] || !has_body(node)) continue;
        l->leader[id] = leader_of(l, node);
        for (int i = 0; i < node->n_inputs; i++)
            l->takes[l->leader[id]][i] |= l->takes[id][i];
    }
}

static void count_uses(node_list *l)
{
    for (int k = 0; k < l->n_roots; k++)
        if (l->body->nodes[l->roots[k].node]->n_outputs > 0)
            l->uses[l->first[l->roots[k].node] + l->roots[k].output]++;
    for (int32_t id = 1; id <= l->body->size; id++) {
        const eddy_node *node = l->body->nodes[id];
        if (!l->needs[id] || (l->leader[id] && l->leader[id] != id)) continue;
        for (int i = 0; i < node->n_inputs; i++)
            if (need_of(l, node, i) == NODE_VALUE)
                l->uses[l->first[node->inputs[i].node] + node->inputs[i].output]++;
    }
}

static void *zeroed(eddy_arena *arena, int64_t n, size_t size)
{
    void *p = eddy__arena_alloc(arena, (size_t)(n + 1) * size);
    if (p) memset(p, 0, (size_t)(n + 1) * size);
    return p;
}

static bool make_lists(node_list *l, eddy_arena *arena, int n)
{
    const int64_t size = l->body->size;
    l->first = zeroed(arena, size, sizeof *l->first);
    for (int32_t id = 1; l->first && id <= size; id++) {
        l->first[id] = l->outputs;
        l->outputs += l->body->nodes[id]->n_outputs;
    }
    l->needs = zeroed(arena, size, 1);
    l->wanted = zeroed(arena, l->outputs, 1);
    l->takes = zeroed(arena, size, sizeof *l->takes);
    l->rows = zeroed(arena, l->outputs, sizeof *l->rows);
    l->leader = zeroed(arena, size, sizeof *l->leader);
    l->uses = zeroed(arena, l->outputs, sizeof *l->uses);
    l->left = zeroed(arena, l->outputs, sizeof *l->left);
    l->values = zeroed(arena, l->outputs, sizeof *l->values);
    l->roots = zeroed(arena, n, sizeof *l->roots);
    return l->first && l->rows && l->needs && l->wanted && l->takes && l->leader && l->uses &&
           l->left && l->values && l->roots;
}

bool eddy__nodes_begin(node_list *l, const node_run *r, eddy_arena *arena, const eddy_graph *body,
                       bool quiet, int n, const eddy_tensor *roots)
{
    *l = (node_list){ .body = body, .quiet = quiet, .iteration = -1, .n_roots = n };
    if (!make_lists(l, arena, n)) return eddy__node_run_full(r, "a body");
    find_rows(l);
    for (int k = 0; k < n; k++) {
        l->roots[k] = roots[k];
        need(l, roots[k], NODE_VALUE);
    }
    if (!mark_inputs(l, r, arena)) return false;
    find_leaders(l);
    count_uses(l);
    return true;
}

/* ----------------------------------------------------------------- running -- */

static void done_with(node_list *l, eddy_tensor t, const eddy_stop *stop)
{
    const int32_t k = l->first[t.node] + t.output;
    if (--l->left[k] == 0) eddy__value_free_late(&l->values[k], stop);
}

/* The stack that an operation other than a loop reads. */
static bool make_dense(const node_list *l, node_run *r, eddy_tensor t)
{
    const eddy_node *node = l->body->nodes[t.node];
    node_value      *v = eddy__nodes_value(l, t);
    eddy_type        row = node->outputs[t.output];
    if (!v->rows || v->array) return true;
    if (row.shape.rank > 0) row.shape.rank--;
    for (int d = 0; d < row.shape.rank; d++) row.shape.dim[d] = row.shape.dim[d + 1];
    v->array = eddy__rows_stack(v->rows, row, &r->allocator, node->name, r->error);
    if (v->array) v->type.shape = eddy_array_shape(v->array);
    return v->array || (r->error->status == EDDY_OK && eddy__node_run_full(r, node->name));
}

static bool read_inputs(node_list *l, node_run *r, const eddy_node *node, eddy_buffer *b)
{
    for (int i = 0; i < node->n_inputs; i++) {
        const eddy_tensor t = node->inputs[i];
        if (!make_dense(l, r, t)) return false;
        const node_value *v = eddy__nodes_value(l, t);
        b[i] = eddy__buffer_of(v->type, need_of(l, node, i) == NODE_VALUE
                                            ? eddy_array_data(v->array) : NULL);
    }
    return true;
}

static bool infer(const node_list *l, node_run *r, const eddy_node *node, const eddy_buffer *b,
                  eddy_type **types)
{
    const size_t       n = (size_t)node->n_inputs;
    eddy_type         *in = eddy__arena_alloc(&r->plan.arena, (n + 1) * sizeof *in);
    const eddy_array **value = eddy__arena_alloc(&r->plan.arena, (n + 1) * sizeof *value);
    if (!in || !value) return eddy__node_run_full(r, node->name);
    for (size_t i = 0; i < n; i++) {
        in[i] = b[i].type;
        value[i] = eddy__input_is_in(node->op->value_inputs, (int)i)
                       ? eddy__nodes_value(l, node->inputs[i])->array : NULL;
    }
    if (!eddy__infer_node(node, in, value, &r->plan.arena, types, r->error)) return false;
    for (int k = 0; k < node->n_outputs; k++)
        if (!eddy_shape_is_known((*types)[k].shape))
            return eddy__error_set(r->error, EDDY_UNIMPLEMENTED,
                                   "%s: the shape of output %d depends on data [node '%s']",
                                   node->op->name, k, node->name);
    return true;
}

/* Output 0 is input 0, perhaps with another shape. */
static bool is_alias(const node_list *l, const eddy_node *node, const eddy_type *in,
                     const eddy_type *out)
{
    const unsigned flags = node->op->flags;
    if (node->n_inputs < 1 || node->n_outputs < 1) return false;
    const bool same = in->dtype == out->dtype &&
                      eddy_shape_count(in->shape) == eddy_shape_count(out->shape);
    if ((flags & EDDY_OP_SIDE_EFFECT) && l->quiet) return same && node->n_outputs == 1;
    return (flags & EDDY_OP_ALIAS) ||
           ((flags & EDDY_OP_ALIAS_IF_EQUAL) && node->n_outputs == 1 && same);
}

/* Whether the result may be written to the memory of an input, which nothing else reads. */
static bool may_overwrite(const node_list *l, const eddy_node *node, const eddy_type *types)
{
    const int i = node->op->in_place_input;
    if (!(node->op->flags & EDDY_OP_IN_PLACE) || node->n_outputs != 1 || node->n_inputs <= i ||
        node->op->in_place_output != 0)
        return false;
    const eddy_tensor t = node->inputs[i];
    const node_value *v = eddy__nodes_value(l, t);
    return l->left[l->first[t.node] + t.output] == 1 && v->array && !v->rows &&
           v->type.dtype == types[0].dtype && eddy_shape_equal(v->type.shape, types[0].shape) &&
           !eddy__array_is_shared(v->array) && !eddy__array_is_borrowed(v->array);
}

static bool compute(node_list *l, node_run *r, const eddy_node *node, eddy_buffer *b,
                    const eddy_type *types, uint64_t step)
{
    node_value *out = &l->values[l->first[node->id]];
    const bool  alias = is_alias(l, node, &b[0].type, types);
    const bool  skip = (node->op->flags & EDDY_OP_SIDE_EFFECT) && l->quiet;
    eddy_array *from = NULL;
    if (alias || may_overwrite(l, node, types))
        from = eddy__nodes_value(l, node->inputs[alias ? 0 : node->op->in_place_input])->array;
    for (int k = 0; k < node->n_outputs; k++) {
        eddy_array *a = from           ? eddy__array_reshaped(from, types[k].shape)
                        : alias || skip
                            ? eddy_array_new_in(&r->allocator, types[k].dtype, types[k].shape)
                            : eddy__array_unset(&r->allocator, types[k].dtype, types[k].shape);
        out[k] = eddy__value_of_array(a);
        if (!a) return eddy__node_run_full(r, node->name);
        b[node->n_inputs + k] = eddy__buffer_of(types[k], eddy_array_data(a));
    }
    if (alias || skip) return true;
    if (!eddy__kernel_of(node->op))
        return node->n_outputs == 0 ||
               eddy__error_set(r->error, EDDY_UNIMPLEMENTED, "%s has no kernel [node '%s']",
                               node->op->name, node->name);
    r->plan.error = (eddy_error){ 0 };
    return eddy__run_single_op(&r->plan, l->body, node, b, step, r->error);
}

/* The node reads a stack as its rows. */
static bool takes_rows(const node_list *l, const eddy_node *node)
{
    bool any = false;
    for (int i = 0; i < node->n_inputs; i++)
        any = any || eddy__nodes_value(l, node->inputs[i])->rows;
    return any && eddy__reads_rows(node);
}

static bool run_on_rows(node_list *l, node_run *r, const eddy_node *node, uint64_t step)
{
    const size_t bytes = (size_t)node->n_inputs * sizeof(node_value);
    node_value  *in = eddy__allocate(&r->session->allocator, bytes);
    if (!in) return eddy__node_run_full(r, node->name);
    for (int i = 0; i < node->n_inputs; i++) in[i] = *eddy__nodes_value(l, node->inputs[i]);
    const bool ok = eddy__run_rows(r, l->body, node, in, &l->values[l->first[node->id]], step);
    eddy__release(&r->session->allocator, in, bytes);
    return ok;
}

static bool run_node(node_list *l, node_run *r, const eddy_node *node, uint64_t step)
{
    node_value  *out = &l->values[l->first[node->id]];
    const size_t n = (size_t)(node->n_inputs + node->n_outputs) + 1;
    eddy_type   *types;
    if (node->op->flags & EDDY_OP_CONSTANT) {
        const eddy_array *a = eddy_constant_value(eddy__tensor_at((eddy_graph *)(uintptr_t)l->body,
                                                                  node->id, 0));
        out[0] = eddy__value_of_array(eddy_array_retain((eddy_array *)(uintptr_t)a));
        return true;
    }
    if (takes_rows(l, node)) return run_on_rows(l, r, node, step);
    eddy_buffer *b = eddy__arena_alloc(&r->plan.arena, n * sizeof *b);
    if (!b) return eddy__node_run_full(r, node->name);
    if (!read_inputs(l, r, node, b) || !infer(l, r, node, b, &types)) return false;
    if (l->needs[node->id] & NODE_VALUE) return compute(l, r, node, b, types, step);
    for (int k = 0; k < node->n_outputs; k++) out[k] = (node_value){ .type = types[k] };
    return true;
}

/* The node and those that do the same. */
static bool run_bodies(node_list *l, node_run *r, const eddy_node *node, uint64_t step)
{
    int n = 0, most = 0;
    for (int32_t id = node->id; id <= l->body->size; id++) most += l->leader[id] == node->id;
    body_call  *calls = eddy__allocate_zeroed(&r->session->allocator, (size_t)most, sizeof *calls);
    node_value *in = eddy__allocate_zeroed(&r->session->allocator, (size_t)node->n_inputs + 1,
                                           sizeof *in);
    bool ok = calls && in;
    for (int32_t id = node->id; ok && id <= l->body->size; id++)
        if (l->leader[id] == node->id)
            calls[n++] = (body_call){ l->body->nodes[id], &l->wanted[l->first[id]],
                                      &l->values[l->first[id]] };
    for (int i = 0; ok && i < node->n_inputs; i++)
        if (l->takes[node->id][i]) in[i] = *eddy__nodes_value(l, node->inputs[i]);
    ok = ok ? eddy__run_body(r, n, calls, in, l->quiet, step) : eddy__node_run_full(r, node->name);
    eddy__release(&r->session->allocator, calls, (size_t)most * sizeof *calls);
    eddy__release(&r->session->allocator, in, ((size_t)node->n_inputs + 1) * sizeof *in);
    return ok;
}

static bool run_node_timed(node_list *l, node_run *r, const eddy_node *node, uint64_t step)
{
    if (!eddy__times_nodes(r->session)) return run_node(l, r, node, step);
    const int64_t begun = eddy__ticks();
    const bool    ok = run_node(l, r, node, step);
    const int64_t ended = eddy__ticks();
    eddy__node_times_add(r->session, node, r->place, ended - begun, 0);
    if (eddy__traces(r->session))
        eddy__trace_add(r->session, (trace_event){ .kind = TRACE_NODE, .begin = begun,
                                                   .end = ended, .node = node, .op = node->op,
                                                   .number = -1 });
    return ok;
}

/* Calls the watches of the values that the node has computed. */
static bool call_watches(const node_list *l, node_run *r, const eddy_node *node)
{
    if (!l->watched || l->quiet) return true;
    for (watch *w = r->session->watches; w; w = w->next) {
        if (!eddy__is_watched(w, l->body, node)) continue;
        const node_value *v = &l->values[l->first[node->id] + w->tensor.output];
        eddy_error        e = { 0 };
        if (v->array && eddy__watch_call(w, v->array, l->iteration, &e) != EDDY_OK)
            return eddy__error_set(r->error, e.status, "dump: %s", e.message);
    }
    return true;
}

static bool is_given(const eddy_node *node) { return node->op->flags & EDDY_OP_PLACEHOLDER; }

bool eddy__nodes_run(node_list *l, node_run *r, uint64_t step)
{
    bool ok = true;
    if (l->outputs > 0) memcpy(l->left, l->uses, (size_t)l->outputs * sizeof *l->left);
    for (int32_t id = 1; ok && id <= l->body->size; id++) {
        const eddy_node *node = l->body->nodes[id];
        if (!l->needs[id] || is_given(node)) continue;
        const bool body = has_body(node);
        if (body && l->leader[id] != id) continue;
        if (eddy__must_stop(r->session, r->plan.stop, "", r->error)) return false;
        ok = body ? run_bodies(l, r, node, step) : run_node_timed(l, r, node, step);
        /* A kernel that was stopped has left its result unfinished. */
        ok = ok && (eddy__is_whole(node->op) ||
                    !eddy__must_stop(r->session, r->plan.stop, "", r->error));
        ok = ok && call_watches(l, r, node);
        for (int i = 0; ok && i < node->n_inputs; i++)
            if (need_of(l, node, i) == NODE_VALUE) done_with(l, node->inputs[i], r->plan.stop);
        eddy__arena_free(&r->plan.arena);
    }
    return ok;
}

void eddy__nodes_clear(node_list *l, const eddy_stop *stop)
{
    for (int32_t k = 0; k < l->outputs; k++) eddy__value_free_late(&l->values[k], stop);
}
