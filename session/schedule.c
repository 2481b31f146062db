/* schedule.c -- the live nodes in order of their ids, which is a topological
 * order, as instructions over buffers.
 *
 * Variables: every read of a Variable's output means the value from before the
 * run.  Where something reads it after the first update in the schedule, the
 * value is copied before that update (a snapshot), and the readers get the copy. */
#include "session/schedule.h"
#include "ops/elementwise.h"

#include <string.h>

/* ------------------------------------------------------------- liveness -- */

static void mark_live(compile *c)
{
    for (int i = 0; i < c->plan->n_fetches; i++)
        if (eddy_feed_of(c, c->plan->fetches[i]) < 0) c->info[c->plan->fetches[i].node].live = true;
    for (int32_t id = c->size; id >= 1; id--) {
        if (!c->info[id].live || (is_folded(c, id) && !c->info[id].effect)) continue;
        const eddy_node *node = c->graph->nodes[id];
        for (int i = 0; i < node->n_inputs; i++)
            if (!type_only(node, i) &&
                (by_reference(node, i) || eddy_feed_of(c, node->inputs[i]) < 0))
                c->info[node->inputs[i].node].live = true;
        /* A control edge keeps side effects; to the rest it only gives an order. */
        for (int i = 0; i < node->n_controls; i++)
            if (c->info[node->controls[i]].effect) c->info[node->controls[i]].live = true;
    }
}

bool eddy_not_fed(const eddy_node *placeholder, eddy_error *error)
{
    char            shape[100];
    const eddy_type t = placeholder->outputs[0];
    if (t.shape.rank <= 0)
        return eddy_error_set(error, EDDY_NOT_FED,
                              "You must feed a value for placeholder tensor '%s' with dtype %s",
                              placeholder->name, eddy_dtype_name(t.dtype));
    return eddy_error_set(
        error, EDDY_NOT_FED,
        "You must feed a value for placeholder tensor '%s' with dtype %s and shape %s",
        placeholder->name, eddy_dtype_name(t.dtype),
        eddy_shape_print(t.shape, shape, sizeof shape));
}

/* Every live value has a known shape, or the reason why not. */
static bool check_live(compile *c)
{
    for (int32_t id = 1; id <= c->size; id++) {
        if (!c->info[id].live) continue;
        const eddy_node *node = c->graph->nodes[id];
        if ((node->op->flags & EDDY_OP_PLACEHOLDER) && !c->info[id].fed)
            return eddy_not_fed(node, c->error);
    }
    for (int32_t id = 1; id <= c->size; id++) {
        if (!c->info[id].live || is_folded(c, id) || c->info[id].fed) continue;
        const eddy_node *node = c->graph->nodes[id];
        for (int k = 0; k < node->n_outputs; k++) {
            if (eddy_shape_is_known(c->info[id].types[k].shape)) continue;
            for (int32_t p = 1; p < id; p++)
                if (c->info[p].needed && !c->info[p].fed &&
                    (c->graph->nodes[p]->op->flags & EDDY_OP_PLACEHOLDER))
                    return eddy_not_fed(c->graph->nodes[p], c->error);
            if (node->op->flags & EDDY_OP_VARIABLE) {
                bool read = false;
                for (int32_t q = id + 1; q <= c->size && !read; q++)
                    for (int i = 0; c->info[q].live && i < c->graph->nodes[q]->n_inputs; i++)
                        read = read || (c->graph->nodes[q]->inputs[i].node == id &&
                                        !by_reference(c->graph->nodes[q], i));
                if (!read) continue;
                return eddy_error_set(c->error, EDDY_UNINITIALIZED,
                                      "Attempting to use uninitialized value %s", node->name);
            }
            return eddy_error_set(c->error, EDDY_UNIMPLEMENTED,
                                  "%s: the shape of output %d depends on data [node '%s']",
                                  node->op->name, k, node->name);
        }
    }
    return true;
}

/* -------------------------------------------------------------- helpers -- */

static int32_t value_of(const build *b, eddy_tensor t) { return b->value_base[t.node] + t.output; }

static void *grow_array(compile *c, void *items, int32_t n, int32_t *capacity, size_t size)
{
    if (n < *capacity) return items;
    int32_t bigger = *capacity ? *capacity * 2 : 32;
    void   *p = eddy_plan_alloc(c, (size_t)bigger, size);
    if (!p) return NULL;
    if (n > 0) memcpy(p, items, (size_t)n * size);
    *capacity = bigger;
    return p;
}

static int32_t new_root(build *b, plan_root r)
{
    eddy_plan *p = b->plan;
    void *roots = grow_array(b->c, p->roots, p->n_roots, &p->roots_capacity, sizeof *p->roots);
    if (!roots) return -1;
    p->roots = roots;
    p->roots[p->n_roots] = r;
    return p->n_roots++;
}

static int32_t new_buffer(build *b, eddy_type t, int32_t root)
{
    eddy_plan *p = b->plan;
    if (root < 0) return -1;
    if (p->n_buffers == p->buffers_capacity)
        return eddy_error_set(b->c->error, EDDY_INTERNAL, "too few buffers were counted") - 1;
    p->buffers[p->n_buffers] = (eddy_buffer){ .count = eddy_shape_count(t.shape), .type = t };
    p->buffer_root[p->n_buffers] = root;
    return p->n_buffers++;
}

static size_t bytes_of(eddy_type t)
{
    return (size_t)eddy_shape_count(t.shape) * eddy_dtype_size(t.dtype);
}

/* Fresh memory for a value, written at the current position. */
static int32_t temp_buffer(build *b, eddy_type t, int32_t value)
{
    int32_t at = b->plan->n_code;
    return new_buffer(b, t,
                      new_root(b, (plan_root){ .kind = VALUE_TEMP,
                                               .bytes = bytes_of(t),
                                               .first = at,
                                               .last = at,
                                               .last_reader = b->reads[value] }));
}

static void use_root(build *b, int32_t buffer, int32_t position)
{
    plan_root *r = &b->plan->roots[b->plan->buffer_root[buffer]];
    if (position > r->last) r->last = position;
}

/* ------------------------------------------------------------ variables -- */

static bool number_variables(build *b)
{
    compile *c = b->c;
    int32_t  n = 0;
    for (int32_t id = 1; id <= c->size; id++)
        n += c->info[id].live && (c->graph->nodes[id]->op->flags & EDDY_OP_VARIABLE);
    b->plan->variables = eddy_plan_alloc(c, (size_t)n, sizeof *b->plan->variables);
    b->first_update = eddy_plan_alloc(c, (size_t)n, sizeof(int32_t));
    b->last_update = eddy_plan_alloc(c, (size_t)n, sizeof(int32_t));
    if (!b->plan->variables || !b->first_update || !b->last_update) return false;
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->graph->nodes[id];
        if (!is_executed(c, id)) continue;
        if (node->op->flags & EDDY_OP_VARIABLE) {
            b->variable_of[id] = b->plan->n_variables;
            b->plan->variables[b->plan->n_variables++] =
                (plan_variable){ .node = node, .state = eddy_session_state(c->session, id) };
        } else if (node->op->flags & EDDY_OP_UPDATES) {
            int32_t v = b->variable_of[node->inputs[0].node];
            if (b->first_update[v] == 0) b->first_update[v] = id;
            b->last_update[v] = id;
            b->plan->writes = true;
        }
    }
    return true;
}

/* Last reader of each value, aliases passed on to what they alias. */
static void count_reads(build *b)
{
    compile *c = b->c;
    for (int i = 0; i < b->plan->n_fetches; i++) {
        eddy_tensor t = b->plan->fetches[i];
        if (eddy_feed_of(c, t) < 0 && c->graph->nodes[t.node]->n_outputs > 0)
            b->reads[value_of(b, t)] = INT32_MAX;
    }
    for (int32_t id = c->size; id >= 1; id--) {
        const eddy_node *node = c->graph->nodes[id];
        if (!is_executed(c, id)) continue;
        bool alias = c->info[id].alias || b->plain_read[id];
        for (int i = 0; i < node->n_inputs; i++) {
            bool reference = by_reference(node, i) && !b->plain_read[id];
            if (type_only(node, i) || reference || eddy_feed_of(c, node->inputs[i]) >= 0) continue;
            if (is_read_now(b, node, i)) continue;
            int32_t v = value_of(b, node->inputs[i]), at = id;
            if (alias && b->reads[b->value_base[id]] > at) at = b->reads[b->value_base[id]];
            if (at > b->reads[v]) b->reads[v] = at;
        }
    }
}

/* -------------------------------------------------------------- buffers -- */

static int32_t feed_buffer(build *b, int feed)
{
    if (b->feed_buffer[feed] < 0)
        b->feed_buffer[feed] =
            new_buffer(b, b->plan->feeds[feed].type,
                       new_root(b, (plan_root){ .kind = VALUE_FEED, .index = feed }));
    return b->feed_buffer[feed];
}

/* The buffer of a variable's storage, which its updates change. */
static eddy_buffer *storage_of(const build *b, eddy_tensor variable)
{
    return b->plan->variables[b->variable_of[variable.node]].reference;
}

/* The buffer that holds t for a reader; made on demand for constants. */
static int32_t read_buffer(build *b, eddy_tensor t)
{
    int feed = eddy_feed_of(b->c, t);
    if (feed >= 0) return feed_buffer(b, feed);
    int32_t v = value_of(b, t);
    const eddy_array *constant = eddy_folded_value(b->c, t);
    if (b->buffer_of[v] < 0 && constant) {
        plan_root r = { .kind = VALUE_CONSTANT, .constant = (eddy_array *)(uintptr_t)constant };
        b->buffer_of[v] = new_buffer(b, b->c->info[t.node].types[t.output], new_root(b, r));
    }
    return b->buffer_of[v];
}

static eddy_status copy_kernel(eddy_kernel *k)
{
    size_t bytes = (size_t)k->out[0]->count * eddy_dtype_size(k->out[0]->type.dtype);
    if (bytes > 0) memcpy(k->out[0]->data, k->in[0]->data, bytes);
    return EDDY_OK;
}

static bool add_instruction(build *b, const eddy_node *node, eddy_status (*run)(eddy_kernel *),
                            int n_in, int n_out, eddy_buffer **at)
{
    eddy_plan   *p = b->plan;
    instruction *i = &p->code[p->n_code++];
    *i = (instruction){ .run = run, .plan = p, .node = node, .resizes = -1 };
    i->kernel = (eddy_kernel){ .op = node->op,
                               .attrs = node->attrs,
                               .in = at,
                               .out = at + n_in,
                               .n_in = n_in,
                               .n_out = n_out,
                               .graph_seed = b->c->graph->seed,
                               .op_seed = node->id,
                               .threads = 1,
                               .impl = i };
    return true;
}

static eddy_buffer **operands(build *b, size_t n)
{
    return eddy_plan_alloc(b->c, n ? n : 1, sizeof(eddy_buffer *));
}

static bool is_open(const eddy_node *variable)
{
    return !eddy_shape_is_known(variable->outputs[0].shape);
}

/* Whether the update may give its variable other memory, for a value of another shape. */
static bool may_resize(const build *b, const eddy_node *update)
{
    return (update->op->flags & EDDY_OP_REPLACES) &&
           is_open(b->c->graph->nodes[update->inputs[0].node]);
}

/* Whether a read as late as `last` would see an update; the first update itself
 * may read what it overwrites if its kernel says so and the memory stays. */
static bool needs_snapshot(const build *b, int32_t v, int32_t last)
{
    int32_t first = b->first_update[v];
    if (first == 0 || last < first) return false;
    const eddy_node *update = b->c->graph->nodes[first];
    return last > first || !(update->op->flags & EDDY_OP_IN_PLACE) || may_resize(b, update);
}

/* Buffers of variables: storage for updates, and the value from before the run. */
static bool make_variables(build *b)
{
    compile *c = b->c;
    for (int32_t v = 0; v < b->plan->n_variables; v++) {
        plan_variable *pv = &b->plan->variables[v];
        int32_t   id = pv->node->id, value = b->value_base[id];
        eddy_type t = c->info[id].types[0];
        if (!pv->state)
            return eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory for the variable '%s'",
                                  pv->node->name);
        if (!eddy_shape_is_known(t.shape)) t.shape = EDDY_SHAPE(0);
        if (!pv->state->value)
            pv->state->value = eddy_array_new_in(&c->session->allocator, t.dtype, t.shape);
        if (!pv->state->value)
            return eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory for the variable '%s'",
                                  pv->node->name);
        pv->shape = eddy_array_shape(pv->state->value);
        pv->open = is_open(pv->node);
        b->plan->has_open = b->plan->has_open || pv->open;
        int32_t root = new_root(b, (plan_root){ .kind = VALUE_VARIABLE, .index = v });
        int32_t storage = new_buffer(b, t, root);
        if (storage < 0) return false;
        b->plan->buffers[storage].state = pv->state;
        pv->reference = &b->plan->buffers[storage];
        pv->read = b->reads[value] > 0;
        b->buffer_of[value] = storage;
        if (!needs_snapshot(b, v, b->reads[value])) continue;
        int32_t snapshot = temp_buffer(b, t, value);
        eddy_buffer **at = operands(b, 2);
        if (snapshot < 0 || !at) return false;
        at[0] = pv->reference;
        at[1] = &b->plan->buffers[snapshot];
        add_instruction(b, pv->node, copy_kernel, 1, 1, at);
        b->buffer_of[value] = snapshot;
    }
    return true;
}

/* An operand that the output may overwrite: read here for the last time, of the
 * output's size, in memory of the plan's own. */
static int32_t overwritten(build *b, const eddy_node *node, int k, eddy_buffer **at)
{
    enum { MAY = EDDY_OP_ELEMENTWISE | EDDY_OP_IN_PLACE };
    if (k > 0 || !(node->op->flags & MAY) || b->c->session->options.no_in_place) return -1;
    eddy_type t = b->c->info[node->id].types[0];
    int       n = node->op->flags & EDDY_OP_ELEMENTWISE ? node->n_inputs : node->n_inputs > 0;
    for (int i = 0; i < n; i++) {
        if (type_only(node, i) || by_reference(node, i) || eddy_feed_of(b->c, node->inputs[i]) >= 0)
            continue;
        int32_t buffer = (int32_t)(at[i] - b->plan->buffers), root = b->plan->buffer_root[buffer];
        const plan_root *r = &b->plan->roots[root];
        bool fits = at[i]->count == eddy_shape_count(t.shape) && r->bytes == bytes_of(t);
        if (r->kind == VALUE_TEMP && r->last_reader == node->id && fits) return root;
    }
    return -1;
}

/* Where output k of an executed node goes. */
static int32_t output_buffer(build *b, const eddy_node *node, int k, eddy_buffer **at)
{
    eddy_type t = b->c->info[node->id].types[k];
    if ((node->op->flags & EDDY_OP_UPDATES) && k == 0) {
        int32_t v = b->variable_of[node->inputs[0].node];
        const eddy_buffer *storage = b->plan->variables[v].reference;
        if (!is_open(b->plan->variables[v].node) &&
            b->last_update[v] == node->id &&
            storage->count == eddy_shape_count(t.shape))
            return new_buffer(b, t, b->plan->buffer_root[storage - b->plan->buffers]);
    }
    int32_t root = overwritten(b, node, k, at);
    int32_t value = b->value_base[node->id] + k;
    if (root < 0) return temp_buffer(b, t, value);
    b->plan->info.in_place++;
    b->plan->roots[root].last_reader = b->reads[value];
    return new_buffer(b, t, root);
}

/* The variable's value at this point, for later readers. */
static bool make_copy(build *b, const eddy_node *node)
{
    eddy_buffer **at = operands(b, 2);
    int32_t       value = b->value_base[node->id];
    int32_t       buffer = temp_buffer(b, b->c->info[node->id].types[0], value);
    if (!at || buffer < 0) return false;
    at[0] = storage_of(b, node->inputs[0]);
    at[1] = &b->plan->buffers[buffer];
    b->buffer_of[value] = buffer;
    return add_instruction(b, node, copy_kernel, 1, 1, at);
}

/* A value that is an alias of another: no instruction. */
static bool make_alias(build *b, const eddy_node *node)
{
    if (is_read_now(b, node, 0)) return make_copy(b, node);
    int32_t from = read_buffer(b, node->inputs[0]);
    if (from < 0) return false;
    int32_t buffer = new_buffer(b, b->c->info[node->id].types[0], b->plan->buffer_root[from]);
    b->buffer_of[b->value_base[node->id]] = buffer;
    return buffer >= 0;
}

/* A read that no update precedes is the value from before the run. */
static bool make_plain_read(build *b, const eddy_node *node)
{
    int32_t buffer = b->buffer_of[b->value_base[node->inputs[0].node]];
    b->plan->variables[b->variable_of[node->inputs[0].node]].read = true;
    b->buffer_of[b->value_base[node->id]] = buffer;
    return buffer >= 0;
}

static bool make_executed(build *b, const eddy_node *node)
{
    int           n = node->n_inputs, m = node->n_outputs;
    eddy_buffer **at = operands(b, (size_t)(n + m));
    if (!at) return false;
    if ((node->op->flags & EDDY_OP_REPLACES) &&
        !eddy_value_fits(b->c->graph->nodes[node->inputs[0].node],
                         eddy_concrete_type(b->c, node->inputs[1]), b->c->error))
        return false;
    for (int i = 0; i < n; i++) {
        int32_t buffer;
        if (by_reference(node, i) || is_read_now(b, node, i)) {
            at[i] = storage_of(b, node->inputs[i]);
            continue;
        }
        if (type_only(node, i))
            buffer = new_buffer(b, eddy_concrete_type(b->c, node->inputs[i]),
                                new_root(b, (plan_root){ .kind = VALUE_CONSTANT }));
        else buffer = read_buffer(b, node->inputs[i]);
        if (buffer < 0) return false;
        at[i] = &b->plan->buffers[buffer];
    }
    for (int k = 0; k < m; k++) {
        int32_t buffer = output_buffer(b, node, k, at);
        if (buffer < 0) return false;
        at[n + k] = &b->plan->buffers[buffer];
        b->buffer_of[b->value_base[node->id] + k] = buffer;
    }
    for (int i = 0; i < n + m; i++)
        use_root(b, (int32_t)(at[i] - b->plan->buffers), b->plan->n_code);
    add_instruction(b, node, eddy_kernel_of(node->op), n, m, at);
    if (may_resize(b, node))
        b->plan->code[b->plan->n_code - 1].resizes = b->variable_of[node->inputs[0].node];
    return true;
}

static bool make_node(build *b, const eddy_node *node)
{
    bool fed =
        node->n_outputs == 1 && eddy_feed_of(b->c, eddy_tensor_at(b->c->graph, node->id, 0)) >= 0;
    if (b->c->info[node->id].alias) return fed || make_alias(b, node);
    if (b->plain_read[node->id]) return make_plain_read(b, node);
    if (eddy_kernel_of(node->op)) return make_executed(b, node);
    for (int k = 0; k < node->n_outputs; k++)
        if (b->reads[b->value_base[node->id] + k] > 0)
            return eddy_error_set(b->c->error, EDDY_UNIMPLEMENTED, "%s has no kernel [node '%s']",
                                  node->op->name, node->name);
    return true;
}

/* -------------------------------------------------------- the whole plan -- */

/* Arrays by node and by value, and room for all buffers and instructions. */
static bool make_room(build *b)
{
    compile *c = b->c;
    size_t   nodes = (size_t)c->size + 1, buffers = (size_t)c->plan->n_feeds, code = 0;
    b->value_base = eddy_plan_alloc(c, nodes, sizeof(int32_t));
    b->variable_of = eddy_plan_alloc(c, nodes, sizeof(int32_t));
    b->plain_read = eddy_plan_alloc(c, nodes, 1);
    b->reads_now = eddy_plan_alloc(c, nodes, sizeof *b->reads_now);
    b->feed_buffer = eddy_plan_alloc(c, (size_t)c->plan->n_feeds, sizeof(int32_t));
    if (!b->value_base || !b->variable_of || !b->plain_read || !b->reads_now || !b->feed_buffer)
        return false;
    for (int i = 0; i < c->plan->n_feeds; i++) b->feed_buffer[i] = -1;
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->graph->nodes[id];
        b->value_base[id] = b->n_values;
        b->variable_of[id] = -1;
        if (!c->info[id].needed) continue;
        b->n_values += node->n_outputs;
        buffers += (size_t)node->n_outputs + (node->op->flags & EDDY_OP_VARIABLE ? 1 : 0);
        for (int i = 0; i < node->n_inputs; i++) buffers += type_only(node, i);
        code += c->info[id].live;
    }
    b->buffer_of = eddy_plan_alloc(c, (size_t)b->n_values, sizeof(int32_t));
    b->reads = eddy_plan_alloc(c, (size_t)b->n_values, sizeof(int32_t));
    b->plan->buffers = eddy_plan_alloc(c, buffers, sizeof *b->plan->buffers);
    b->plan->buffer_root = eddy_plan_alloc(c, buffers, sizeof(int32_t));
    b->plan->code = eddy_plan_alloc(c, code, sizeof *b->plan->code);
    b->plan->buffers_capacity = (int32_t)buffers;
    if (!b->buffer_of || !b->reads || !b->plan->buffers || !b->plan->buffer_root || !b->plan->code)
        return false;
    for (int32_t i = 0; i < b->n_values; i++) b->buffer_of[i] = -1;
    return true;
}

static bool make_outputs(build *b)
{
    eddy_plan *p = b->plan;
    p->outputs = eddy_plan_alloc(b->c, (size_t)p->n_fetches, sizeof *p->outputs);
    if (!p->outputs) return false;
    for (int i = 0; i < p->n_fetches; i++) {
        eddy_tensor t = p->fetches[i];
        bool valued = b->c->graph->nodes[t.node]->n_outputs > 0;
        p->outputs[i].buffer = valued ? read_buffer(b, t) : -1;
        if (valued && p->outputs[i].buffer < 0) return false;
        if (valued) use_root(b, p->outputs[i].buffer, INT32_MAX);
    }
    return true;
}

bool eddy_schedule(compile *c)
{
    build b = { .c = c, .plan = c->plan };
    mark_live(c);
    if (!check_live(c) || !make_room(&b) || !number_variables(&b) || !eddy_order_reads(&b))
        return false;
    count_reads(&b);
    if (!make_variables(&b)) return false;
    for (int32_t id = 1; id <= c->size; id++) {
        const eddy_node *node = c->graph->nodes[id];
        bool             runs = is_executed(c, id) &&
                    !(node->op->flags & (EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER));
        if (runs && !make_node(&b, node)) return false;
    }
    return make_outputs(&b);
}
