/* extract_freeze.c -- variables that become constants, and nodes that refer to them. */
#include "session/extract/extract_parts.h"
#include "session/state/internal.h"
#include "ops/ops.h"
#include "ops/weak_ops.h"

#include <string.h>

/* A superset of what is needed: replacements count as well as what they replace. */
static const uint8_t *find_needed(extract_step *s)
{
    const extract *x = s->x;
    eddy_copy      all = s->copy;
    all.needed = eddy__copy_room(&s->copy, (int64_t)all.size + 1, 1);
    if (!all.needed) return NULL;
    for (int i = 0; i < x->args.replace.count; i++) {
        const eddy_tensor by = x->args.replace.at[i].by;        /* checked where it is put in */
        if (eddy_is_valid(by) && by.graph == s->was->graph) eddy__copy_need(&all, by);
    }
    for (int i = 0; i < x->n_outputs; i++) eddy__copy_need(&all, x->args.outputs.at[i]);
    eddy__copy_find(&all);
    return all.needed;
}

static eddy_array *copy_of(extract_step *s, const eddy_array *value)
{
    eddy_array *a = eddy_array_new_in(&s->now.graph->allocator, eddy_array_dtype(value),
                                      eddy_array_shape(value));
    if (a && eddy_array_bytes(a) > 0)
        memcpy(eddy_array_data(a), eddy_array_data(value), eddy_array_bytes(a));
    if (!a) eddy__error_set(&s->x->error, EDDY_NO_MEMORY, "extract: out of memory for a variable");
    return a;
}

/* Under the locks of a session: all values of one moment. */
static void copy_values(extract_step *s, eddy_session *from, const uint8_t *needed)
{
    for (int32_t id = 1; id <= s->copy.size && id < from->states_capacity; id++) {
        const eddy_state *state = from->states[id];
        if (needed[id] && s->copy.frozen[id] && state && state->initialized &&
            s->x->error.status == EDDY_OK)
            s->values[id] = copy_of(s, state->value);
    }
}

static bool read_session(extract_step *s, const uint8_t *needed)
{
    eddy_session *from = s->x->args.freeze;
    eddy_error    e = { 0 };
    if (!eddy__session_enter(from))
        return eddy__error_set(&s->x->error, EDDY_INVALID_ARGUMENT,
                               "extract: `freeze` is not a session");
    pthread_mutex_lock(&from->lock);
    if (atomic_load(&from->closed))
        eddy__error_set(&e, EDDY_CLOSED, "Attempted to use a closed Session.");
    else if (from->graph != s->was->graph)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "extract: `freeze` is a session of another "
                        "graph");
    else {
        pthread_rwlock_rdlock(&from->state_lock);
        copy_values(s, from, needed);
        pthread_rwlock_unlock(&from->state_lock);
    }
    pthread_mutex_unlock(&from->lock);
    if (e.status != EDDY_OK) s->x->error = e;
    return s->x->error.status == EDDY_OK;
}

bool eddy__extract_freeze(extract_step *s)
{
    const int64_t n = (int64_t)s->copy.size + 1;
    uint8_t      *frozen = eddy__copy_room(&s->copy, n, 1);
    if (!frozen) return false;
    for (int32_t id = 1; id < n; id++)
        frozen[id] = (s->was->graph->nodes[id]->op->flags & EDDY_OP_VARIABLE) != 0;
    for (int i = 0; i < s->x->args.keep.count; i++) frozen[s->x->args.keep.at[i].node] = 0;
    s->copy.frozen = frozen;
    s->values = eddy__extract_memory(s->x, n, sizeof(eddy_array *));
    const uint8_t *needed = s->values ? find_needed(s) : NULL;
    return needed && read_session(s, needed);
}

/* ------------------------------------------------------------------- nodes -- */

static bool fix_variable(extract_step *s, const eddy_node *node)
{
    eddy_array *value = s->values[node->id];
    s->values[node->id] = NULL;
    if (!value)
        eddy_fail(s->now.graph, EDDY_UNINITIALIZED, "Attempting to use uninitialized value %s",
                  node->name);
    else eddy__extract_constant(s, eddy__tensor_at(s->was->graph, node->id, 0), value);
    return true;
}

/* A node that refers to a frozen variable. */
static bool fix_reference(extract_step *s, const eddy_node *node)
{
    const eddy_tensor value = eddy__copy_image(&s->copy, node->inputs[0]);
    if (node->op == &eddy_op_is_initialized)
        eddy__extract_constant(s, eddy__tensor_at(s->was->graph, node->id, 0),
                               eddy_array_of(EDDY_BOOL, 1));
    else if (node->op == &eddy_op_read || node->op == &eddy_op_latest_value ||
             node->op == &eddy_op_initialized_value)
        eddy__copy_as(&s->copy, node, &eddy_op_identity, NULL, 1, &value);
    else
        eddy_fail(s->now.graph, EDDY_INVALID_ARGUMENT, "'%.200s' (%s) updates the frozen variable "
                  "'%.200s'; keep it, or leave out side effects", node->name, node->op->name,
                  eddy_name_of(node->inputs[0]));
    return true;
}

static bool initializes(const eddy_graph *g, const eddy_node *node)
{
    const eddy_tensor t = { (eddy_graph *)(uintptr_t)g, node->id, 0 };
    return eddy_collection_has(g, EDDY_INITIALIZERS, t) ||
           eddy_collection_has(g, EDDY_LOCAL_INITIALIZERS, t);
}

bool eddy__extract_frozen(eddy_copy *c, const eddy_node *node)
{
    extract_step *s = c->context;
    if (node->op == &eddy_op_argument) {
        eddy_fail(c->to, EDDY_INVALID_ARGUMENT, "'%.200s' stands for an argument of a function, "
                  "which has a value only in its loop or branch", node->name);
        return true;
    }
    if (c->frozen && c->frozen[node->id]) return fix_variable(s, node);
    if ((node->op->flags & EDDY_OP_REFERENCE) && c->frozen && c->frozen[node->inputs[0].node])
        return fix_reference(s, node);
    const unsigned changes = EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT;
    if (s->x->args.without_effects && (node->op->flags & changes) == changes &&
        !initializes(c->from, node)) {
        eddy_fail(c->to, EDDY_INVALID_ARGUMENT, "the outputs need the value of the update '%.200s' "
                  "(%s), and side effects are left out", node->name, node->op->name);
        return true;
    }
    return false;
}
