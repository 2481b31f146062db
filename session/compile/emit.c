/* emit.c -- instruction emission: turns the nodes of the plan's IR, in their order, into
 * instructions over buffers.
 *
 * Variables: every read of a Variable's output means the value from before the run. If a node
 * reads it after the first update in the schedule, the value is copied before that update (a
 * snapshot), and later readers use the copy. */
#include "graph/base/thread_pool.h"
#include "session/compile/program.h"
#include "session/compile/views.h"
#include "ops/kernels/elementwise/elementwise.h"

#include <string.h>

typedef struct build {
    compile   *c;
    ir_graph  *ir;
    eddy_plan *plan;
    views      views;
    int32_t   *buffer_of;       /* by value number: its buffer; -1 */
    int32_t   *first_update, *last_update;   /* by variable: node ids; 0: none */
    int32_t   *variable_node;   /* by variable: its node */
} build;

/* -------------------------------------------------------------- helpers -- */

static int32_t too_few(build *b)
{
    eddy__error_set(b->c->error, EDDY_INTERNAL, "too few buffers were counted");
    return -1;
}

/* Each root has a buffer. */
static int32_t new_root(build *b, plan_root r)
{
    eddy_plan *p = b->plan;
    if (p->n_roots == p->buffers_capacity) return too_few(b);
    p->roots[p->n_roots] = r;
    return p->n_roots++;
}

static int32_t new_buffer(build *b, eddy_type t, int32_t root)
{
    eddy_plan *p = b->plan;
    if (root < 0) return -1;
    if (p->n_buffers == p->buffers_capacity) return too_few(b);
    p->buffers[p->n_buffers] = (eddy_buffer){ .count = eddy_shape_count(t.shape), .type = t };
    p->buffer_root[p->n_buffers] = root;
    return p->n_buffers++;
}

/* A buffer for elements of t that are part of the root, from byte `at` on. */
static int32_t part_buffer(build *b, eddy_type t, int32_t root, size_t at)
{
    const int32_t buffer = new_buffer(b, t, root);
    if (buffer < 0) return -1;
    b->plan->buffer_at[buffer] = at;
    b->plan->roots[root].has_views = true;
    return buffer;
}

static int32_t root_of(const build *b, const eddy_buffer *buffer)
{
    return b->plan->buffer_root[buffer - b->plan->buffers];
}

/* Fresh memory for a value, written at the current position. */
static int32_t temp_buffer(build *b, eddy_type t, int32_t value)
{
    int32_t at = b->plan->n_code;
    return new_buffer(b, t,
                      new_root(b, (plan_root){ .kind = VALUE_TEMP,
                                               .bytes = eddy__type_bytes(t),
                                               .first = at,
                                               .last = at,
                                               .last_reader = b->views.reads[value] }));
}

static void use_root(build *b, int32_t buffer, int32_t position)
{
    plan_root *r = &b->plan->roots[b->plan->buffer_root[buffer]];
    if (position > r->last) r->last = position;
}

/* ------------------------------------------------------------ variables -- */

/* The number of the variable that a node updates; -1: none. */
static int32_t updated_by(const build *b, const ir_node *n)
{
    return n->op->flags & EDDY_OP_UPDATES ? b->ir->nodes[n->inputs[0].node]->variable : -1;
}

static bool find_updates(build *b)
{
    const size_t n = (size_t)b->plan->n_variables;
    b->first_update = eddy__stage_alloc(b->c, n, sizeof(int32_t));
    b->last_update = eddy__stage_alloc(b->c, n, sizeof(int32_t));
    b->variable_node = eddy__stage_alloc(b->c, n, sizeof(int32_t));
    if (!b->first_update || !b->last_update || !b->variable_node) return false;
    for (int32_t id = 1; id <= b->ir->size; id++) {
        const ir_node *node = b->ir->nodes[id];
        if (node->variable >= 0) b->variable_node[node->variable] = id;
        const int32_t v = updated_by(b, node);
        if (v < 0) continue;
        if (b->first_update[v] == 0) b->first_update[v] = id;
        b->last_update[v] = id;
    }
    return true;
}

/* -------------------------------------------------------------- buffers -- */

/* The buffer of a variable's storage, which its updates change. */
static eddy_buffer *storage_of(const build *b, eddy_tensor variable)
{
    return b->plan->variables[b->ir->nodes[variable.node]->variable].reference;
}

/* The buffer that holds t for a reader. Buffers of tensors that no node computes are created
 * when they are first requested. */
static int32_t read_buffer(build *b, eddy_tensor t)
{
    const ir_node *n = b->ir->nodes[t.node];
    if (n->variable >= 0 && t.output == STORAGE)
        return (int32_t)(storage_of(b, t) - b->plan->buffers);
    const int32_t v = eddy__value_of(&b->views, t);
    if (b->buffer_of[v] >= 0) return b->buffer_of[v];
    plan_root r = { .kind = VALUE_CONSTANT };
    if (n->feed >= 0)
        r = (plan_root){ .kind = VALUE_FEED, .index = n->feed,
                         .bytes = eddy__type_bytes(n->outputs[0]),
                         .last_reader = b->views.reads[v],
                         .owner = b->plan->owned ? b->plan->owned[n->feed] : 0 };
    else if (n->values) r.constant = n->values[t.output];
    else if (n->op != &eddy_op_type_only) return -1;
    return b->buffer_of[v] = new_buffer(b, n->outputs[t.output], new_root(b, r));
}

static void copy_bytes(void *arg, int64_t from, int64_t to, int worker)
{
    const eddy_kernel *k = arg;
    (void)worker;
    memcpy((char *)k->out[0]->data + from, (const char *)k->in[0]->data + from,
           (size_t)(to - from));
}

static eddy_status copy_kernel(eddy_kernel *k)
{
    enum { BYTES = 1 << 18 };
    const int64_t bytes = k->out[0]->count * (int64_t)eddy_dtype_size(k->out[0]->type.dtype);
    if (bytes > 0) eddy__parallel_or_stop(k, bytes, BYTES, copy_bytes, k);
    return EDDY_OK;
}

static bool program_draws(const eddy_program *p)
{
    bool draws = p->condition.plan && p->condition.plan->body_draws;
    for (int i = 0; i < p->n_bodies; i++) draws = draws || p->bodies[i].plan->body_draws;
    return draws;
}

/* Sets where the instruction gets the number of earlier runs. */
static bool set_draws(build *b, const ir_node *n, instruction *i)
{
    eddy_plan *p = b->plan;
    if (!(n->program ? program_draws(n->program) : eddy__op_draws(n->op))) return true;
    if (p->embedded) {
        p->body_draws = true;
        i->draws = &p->draw;
        return true;
    }
    const int32_t source = eddy__draws_source(b->c->session, n->source->id);
    plan_draw    *d = p->draws;
    if (source < 0) return false;               /* no pass makes such a node of another */
    while (d && d->source != source) d = d->next;
    if (!d) {
        d = eddy__plan_alloc(b->c, 1, sizeof *d);
        if (!d) return false;
        *d = (plan_draw){ .next = p->draws, .source = source };
        p->draws = d;
    }
    i->draws = &d->count;
    return true;
}

static bool add_instruction(build *b, const ir_node *n, eddy_status (*run)(eddy_kernel *),
                            int n_in, int n_out, eddy_buffer **at)
{
    eddy_plan   *p = b->plan;
    instruction *i = &p->code[p->n_code++];
    *i = (instruction){ .run = run, .resizes = -1, .starts_loop = n->starts_loop,
                        .call = { .node = n->source, .arena = &p->arena,
                                  .error = &p->error } };
    i->kernel = (eddy_kernel){ .op = n->op,
                               .attrs = n->attrs,
                               .in = at,
                               .out = at + n_in,
                               .n_in = n_in,
                               .n_out = n_out,
                               .graph_seed = b->c->graph->seed,
                               .op_seed = n->source->id,
                               .threads = b->c->session->options.threads,
                               .deterministic = b->c->session->options.deterministic,
                               .impl = &i->call,
                               .stop = eddy__is_whole(n->op) ? NULL : p->stop };
    return set_draws(b, n, i);
}

static eddy_buffer **operands(build *b, size_t n)
{
    return eddy__plan_alloc(b->c, n ? n : 1, sizeof(eddy_buffer *));
}

static bool is_open(const eddy_node *variable)
{
    return !eddy_shape_is_known(variable->outputs[0].shape);
}

/* True if the update may give its variable new memory, for a value of another shape. */
static bool may_resize(const build *b, const ir_node *update)
{
    return (update->op->flags & EDDY_OP_REPLACES) &&
           is_open(b->plan->variables[updated_by(b, update)].node);
}

/* True if a read at position `last` would see an update. The first update itself may read the
 * value that it overwrites, if its kernel permits that and the memory stays the same. */
static bool needs_snapshot(const build *b, int32_t v, int32_t last)
{
    int32_t first = b->first_update[v];
    if (first == 0 || last < first) return false;
    const ir_node *update = b->ir->nodes[first];
    return last > first || !(update->op->flags & EDDY_OP_IN_PLACE) || may_resize(b, update);
}

/* Allocates memory for the value of a variable that has no value yet. */
static bool make_state(build *b, plan_variable *pv, eddy_type t)
{
    if (pv->state && !pv->state->value)
        pv->state->value = eddy_array_new_in(&b->c->session->allocator, t.dtype, t.shape);
    if (pv->state && pv->state->value) return true;
    return eddy__error_set(b->c->error, EDDY_NO_MEMORY, "out of memory for the variable '%s'",
                           pv->node->name);
}

/* Buffers of variables: storage for updates, and the value from before the run. */
static bool make_variable(build *b, int32_t v)
{
    plan_variable *pv = &b->plan->variables[v];
    const ir_node *n = b->ir->nodes[b->variable_node[v]];
    const int32_t  value = b->views.value_base[n->id];
    eddy_type      t = n->outputs[0];
    if (!eddy_shape_is_known(t.shape)) t.shape = EDDY_SHAPE(0);
    if (!make_state(b, pv, t)) return false;
    pv->shape = eddy_array_shape(pv->state->value);
    pv->open = is_open(pv->node);
    pv->updated = b->first_update[v] > 0;
    b->plan->has_open = b->plan->has_open || pv->open;
    int32_t root = new_root(b, (plan_root){ .kind = VALUE_VARIABLE, .index = v });
    int32_t storage = new_buffer(b, t, root);
    if (storage < 0) return false;
    b->plan->buffers[storage].state = pv->state;
    pv->reference = &b->plan->buffers[storage];
    pv->read = b->views.reads[value] > 0 || n->must_read;
    b->buffer_of[value] = storage;
    if (!needs_snapshot(b, v, b->views.reads[value])) return true;
    int32_t snapshot = temp_buffer(b, t, value);
    eddy_buffer **at = operands(b, 2);
    if (snapshot < 0 || !at) return false;
    at[0] = pv->reference;
    at[1] = &b->plan->buffers[snapshot];
    b->buffer_of[value] = snapshot;
    return add_instruction(b, n, copy_kernel, 1, 1, at);
}

/* The buffer is all of its root. */
static bool is_whole(const build *b, const eddy_buffer *buffer)
{
    const int32_t at = (int32_t)(buffer - b->plan->buffers);
    return b->plan->buffer_at[at] == 0 &&
           eddy__type_bytes(buffer->type) == b->plan->roots[b->plan->buffer_root[at]].bytes;
}

/* True if another operand than i shares its memory. Only an elementwise loop over the same
 * number of elements has then read that operand before it writes there. */
static bool is_shared_operand(const build *b, const ir_node *n, int i, eddy_buffer **at)
{
    for (int j = 0; j < n->n_inputs; j++) {
        const bool along = (n->op->flags & EDDY_OP_ELEMENTWISE) && at[j]->count == at[i]->count &&
                           is_whole(b, at[j]);
        if (j != i && !along && root_of(b, at[j]) == root_of(b, at[i])) return true;
    }
    return false;
}

/* The value may be computed in the memory of the root: it is the plan's own, or that of a feed. A
 * value that is fetched belongs there only if it replaces this feed; otherwise it would be
 * copied. */
static bool may_take(const build *b, const ir_node *n, int k, const plan_root *r)
{
    if (r->kind == VALUE_TEMP) return true;
    if (r->owner == 0) return false;
    const eddy_tensor next = eddy__unaliased(b->ir, b->ir->fetches[r->owner - 1]);
    if (next.node == n->id && next.output == k) return true;
    return b->views.reads[b->views.value_base[n->id] + k] < INT32_MAX;
}

/* An operand that output k may overwrite: read here for the last time, of the
 * output's size, in memory that it may take. */
static int32_t overwritten(build *b, const ir_node *n, int k, eddy_buffer **at)
{
    enum { MAY = EDDY_OP_ELEMENTWISE | EDDY_OP_IN_PLACE };
    const bool any = n->op->flags & EDDY_OP_ELEMENTWISE;
    const int  first = any ? 0 : n->op->in_place_input;
    const int  end = any || n->n_inputs <= first ? n->n_inputs : first + 1;
    if (k != n->op->in_place_output || !(n->op->flags & MAY) ||
        (b->c->without & EDDY_PASS_IN_PLACE))
        return -1;
    const eddy_type t = n->outputs[k];
    for (int i = first; i < end; i++) {
        if (!eddy__is_value(b->ir, n, i)) continue;
        const int32_t    root = root_of(b, at[i]);
        const plan_root *r = &b->plan->roots[root];
        const bool fits =
            at[i]->count == eddy_shape_count(t.shape) && r->bytes == eddy__type_bytes(t);
        if (may_take(b, n, k, r) && r->last_reader == n->id && fits && is_whole(b, at[i]) &&
            !is_shared_operand(b, n, i, at))
            return root;
    }
    return -1;
}

/* The buffer for a value that is computed inside the result of a join. That result may itself
 * be part of another join's result. */
static int32_t joined_buffer(build *b, eddy_type t, int32_t value)
{
    const views *v = &b->views;
    size_t       at = 0;
    int32_t      join = 0;
    for (; v->join[value] > 0; value = v->value_base[join]) {
        at += v->at[value];
        join = v->join[value];
    }
    int32_t *whole = &b->buffer_of[value];
    if (*whole < 0) *whole = temp_buffer(b, b->ir->nodes[join]->outputs[0], value);
    return *whole < 0 ? -1 : part_buffer(b, t, b->plan->buffer_root[*whole], at);
}

/* The buffer of output k of an executed node. */
static int32_t output_buffer(build *b, const ir_node *n, int k, eddy_buffer **at)
{
    const eddy_type t = n->outputs[k];
    const int32_t   v = k == 0 ? updated_by(b, n) : -1;
    if (v >= 0) {
        const eddy_buffer *storage = b->plan->variables[v].reference;
        const bool stays = b->last_update[v] == n->id ||     /* later ones would change it */
                           b->views.reads[b->views.value_base[n->id] + k] == 0;
        if (!is_open(b->plan->variables[v].node) && stays &&
            storage->count == eddy_shape_count(t.shape))
            return new_buffer(b, t, root_of(b, storage));
    }
    const int32_t value = b->views.value_base[n->id] + k;
    if (b->views.join[value] > 0) return joined_buffer(b, t, value);
    int32_t root = overwritten(b, n, k, at);
    if (root < 0) return temp_buffer(b, t, value);
    b->plan->info.in_place++;
    b->plan->roots[root].last_reader = b->views.reads[value];
    return new_buffer(b, t, root);
}

/* The variable's value at this point, for later readers. */
static bool make_copy(build *b, const ir_node *n)
{
    eddy_buffer **at = operands(b, 2);
    int32_t       value = b->views.value_base[n->id];
    int32_t       buffer = temp_buffer(b, n->outputs[0], value);
    if (!at || buffer < 0) return false;
    at[0] = storage_of(b, n->inputs[0]);
    at[1] = &b->plan->buffers[buffer];
    b->buffer_of[value] = buffer;
    return add_instruction(b, n, copy_kernel, 1, 1, at);
}

/* Values that share the memory of another value need no instruction. */
static bool make_views(build *b, const ir_node *n)
{
    if (b->ir->nodes[n->inputs[0].node]->variable >= 0 && n->inputs[0].output == STORAGE)
        return make_copy(b, n);
    const int32_t from = read_buffer(b, n->inputs[0]);
    if (from < 0) return false;
    for (int k = 0; k < (n->alias ? 1 : n->n_outputs); k++) {
        const eddy_type t = n->outputs[k];
        const int32_t   root = b->plan->buffer_root[from];
        const size_t    at = n->alias ? 0 : (size_t)n->parts[k] * eddy_dtype_size(t.dtype);
        const bool      all = eddy__type_bytes(t) == eddy__type_bytes(b->plan->buffers[from].type);
        const int32_t   buffer = all ? new_buffer(b, t, root) : part_buffer(b, t, root, 0);
        if (buffer < 0) return false;
        b->plan->buffer_at[buffer] = b->plan->buffer_at[from] + at;
        b->buffer_of[b->views.value_base[n->id] + k] = buffer;
    }
    return true;
}

/* Input i of a join, copied to where it belongs. */
static bool copy_join_input(build *b, const ir_node *n, int i, const eddy_buffer *whole)
{
    eddy_buffer **at = operands(b, 2);
    const int32_t from = read_buffer(b, n->inputs[i]);
    if (!at || from < 0) return false;
    const eddy_type t = b->plan->buffers[from].type;
    const size_t    offset = (size_t)n->parts[i] * eddy_dtype_size(t.dtype);
    const int32_t   to = part_buffer(b, t, root_of(b, whole), offset);
    if (to < 0) return false;
    b->plan->buffer_at[to] += b->plan->buffer_at[whole - b->plan->buffers];
    at[0] = &b->plan->buffers[from];
    at[1] = &b->plan->buffers[to];
    use_root(b, from, b->plan->n_code);
    use_root(b, to, b->plan->n_code);
    return add_instruction(b, n, copy_kernel, 1, 1, at);
}

/* True if input i of a join was computed inside the join's result, or has no elements. */
static bool is_joined_in_place(const build *b, const ir_node *n, int i)
{
    const views      *v = &b->views;
    const eddy_tensor t = eddy__unaliased(b->ir, n->inputs[i]);
    const eddy_type   type = eddy__ir_type(b->ir, t);
    if (eddy_shape_count(type.shape) == 0) return true;
    return b->ir->nodes[t.node]->variable < 0 && v->join[eddy__value_of(v, t)] == n->id &&
           v->at[eddy__value_of(v, t)] == (size_t)n->parts[i] * eddy_dtype_size(type.dtype);
}

/* Some inputs of the join were computed inside its result; copies the others. */
static bool make_join(build *b, const ir_node *n)
{
    const views  *v = &b->views;
    const int32_t value = v->value_base[n->id];
    if (v->join[value] > 0) b->buffer_of[value] = joined_buffer(b, n->outputs[0], value);
    if (b->buffer_of[value] < 0) return false;
    const eddy_buffer *whole = &b->plan->buffers[b->buffer_of[value]];
    for (int i = 0; i < n->n_inputs; i++)
        if (!is_joined_in_place(b, n, i) && !copy_join_input(b, n, i, whole)) return false;
    return true;
}

/* The memory of all inputs and outputs; inputs first. */
static bool make_operands(build *b, const ir_node *n, eddy_buffer **at)
{
    for (int i = 0; i < n->n_inputs; i++) {
        const int32_t buffer = read_buffer(b, n->inputs[i]);
        if (buffer < 0) return false;
        at[i] = &b->plan->buffers[buffer];
    }
    for (int k = 0; k < n->n_outputs; k++) {
        const int32_t buffer = output_buffer(b, n, k, at);
        if (buffer < 0) return false;
        at[n->n_inputs + k] = &b->plan->buffers[buffer];
        b->buffer_of[b->views.value_base[n->id] + k] = buffer;
    }
    for (int i = 0; i < n->n_inputs + n->n_outputs; i++)
        use_root(b, (int32_t)(at[i] - b->plan->buffers), b->plan->n_code);
    return true;
}

static bool make_executed(build *b, const ir_node *n)
{
    eddy_buffer **at = operands(b, (size_t)(n->n_inputs + n->n_outputs));
    if (!at) return false;
    if ((n->op->flags & EDDY_OP_REPLACES) &&
        !eddy__value_fits(b->plan->variables[updated_by(b, n)].node,
                          eddy__ir_type(b->ir, n->inputs[1]), b->c->error))
        return false;
    if (!make_operands(b, n, at)) return false;
    eddy_status (*run)(eddy_kernel *) = n->program ? eddy__program_run : eddy__kernel_of(n->op);
    if (!add_instruction(b, n, run, n->n_inputs, n->n_outputs, at)) return false;
    b->plan->code[b->plan->n_code - 1].program = n->program;
    if (may_resize(b, n)) b->plan->code[b->plan->n_code - 1].resizes = updated_by(b, n);
    return true;
}

static bool make_node(build *b, const ir_node *n)
{
    if (n->values || n->feed >= 0 || n->variable >= 0 || n->op == &eddy_op_type_only) return true;
    if (n->alias || eddy__ir_is_view(n)) return make_views(b, n);
    if (b->views.joined[n->id]) return make_join(b, n);
    if (n->program || eddy__kernel_of(n->op)) return make_executed(b, n);
    for (int k = 0; k < n->n_outputs; k++)
        if (b->views.reads[b->views.value_base[n->id] + k] > 0)
            return eddy__error_set(b->c->error, EDDY_UNIMPLEMENTED, "%s has no kernel [node '%s']",
                                   n->op->name, n->source->name);
    return true;
}

/* -------------------------------------------------------- the whole plan -- */

/* Allocates the lists of buffers, and those of roots and instructions, of which eddy__compile
 * keeps what later stages leave. */
static bool make_room(build *b)
{
    compile      *c = b->c;
    const int32_t n_values = b->views.n_values;
    size_t        buffers = (size_t)n_values, code = (size_t)b->ir->size;
    for (int32_t id = 1; id <= b->ir->size; id++) {
        const size_t copies = b->views.joined[id] ? (size_t)b->ir->nodes[id]->n_inputs : 0;
        buffers += copies + (b->ir->nodes[id]->variable >= 0);
        code += copies;
    }
    b->buffer_of = eddy__stage_alloc(c, (size_t)n_values, sizeof(int32_t));
    b->plan->buffers = eddy__plan_alloc(c, buffers, sizeof *b->plan->buffers);
    b->plan->buffer_root = eddy__plan_alloc(c, buffers, sizeof(int32_t));
    b->plan->buffer_at = eddy__plan_alloc(c, buffers, sizeof *b->plan->buffer_at);
    b->plan->roots = eddy__ir_alloc(c, buffers, sizeof *b->plan->roots);
    b->plan->code = eddy__ir_alloc(c, code, sizeof *b->plan->code);
    b->plan->buffers_capacity = (int32_t)buffers;
    if (!b->buffer_of || !b->plan->buffers || !b->plan->buffer_root || !b->plan->buffer_at ||
        !b->plan->roots || !b->plan->code)
        return false;
    for (int32_t i = 0; i < n_values; i++) b->buffer_of[i] = -1;
    return true;
}

static bool make_outputs(build *b)
{
    eddy_plan *p = b->plan;
    p->outputs = eddy__plan_alloc(b->c, (size_t)p->n_fetches, sizeof *p->outputs);
    if (!p->outputs) return false;
    for (int i = 0; i < p->n_fetches; i++) {
        const eddy_tensor t = b->ir->fetches[i];
        const bool        value_needed = b->ir->nodes[t.node]->n_outputs > 0;
        p->outputs[i].buffer = value_needed ? read_buffer(b, t) : -1;
        if (value_needed && p->outputs[i].buffer < 0) return false;
        if (value_needed) use_root(b, p->outputs[i].buffer, INT32_MAX);
    }
    return true;
}

/* Buffers of the variables that some node updates, or of the others. */
static bool make_variables(build *b, bool updated)
{
    for (int32_t v = 0; v < b->plan->n_variables; v++)
        if (b->variable_node[v] > 0 && (b->first_update[v] > 0) == updated && !make_variable(b, v))
            return false;
    return true;
}

static bool make_nodes(build *b, int32_t from, int32_t to)
{
    for (int32_t id = from; id <= to; id++)
        if (!make_node(b, b->ir->nodes[id])) return false;
    return true;
}

/* The instructions emitted so far run only in the first run. Keeps the memory of values that
 * are read later, or in later runs. */
static void keep_invariant(build *b)
{
    eddy_plan *p = b->plan;
    p->n_invariant = p->n_code;
    for (int32_t r = 0; r < p->n_roots; r++) {
        plan_root *root = &p->roots[r];
        if (root->kind != VALUE_TEMP || root->last_reader != INT32_MAX) continue;
        root->last = INT32_MAX;
        root->kept = true;
    }
}

bool eddy__emit(compile *c)
{
    build b = { .c = c, .ir = c->ir, .plan = c->plan, .views = { .c = c } };
    eddy__stage_begin(c);
    eddy__arena_free(&c->ir_arenas[c->ir_arena]);       /* no IR follows */
    if (!find_updates(&b)) return false;
    b.views.first_update = b.first_update;
    if (!eddy__find_views(&b.views) || !make_room(&b)) return false;
    const int32_t invariant = c->ir->n_invariant;
    if (!make_variables(&b, false) || !make_nodes(&b, 1, invariant)) return false;
    keep_invariant(&b);
    return make_variables(&b, true) && make_nodes(&b, invariant + 1, c->ir->size) &&
           make_outputs(&b);
}
