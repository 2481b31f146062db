/* variables.c -- access to the values of variables: reading and setting. */
#include "session/state/internal.h"

#include <string.h>

eddy_state *eddy__session_state(eddy_session *s, int32_t node)
{
    if (node >= s->states_capacity) {
        int32_t bigger = s->states_capacity ? s->states_capacity * 2 : 64;
        if (bigger <= node) bigger = node + 1;
        if (!eddy__grow(&s->allocator, (void **)&s->states, (size_t)s->states_capacity,
                        (size_t)bigger, sizeof *s->states))
            return NULL;
        s->states_capacity = bigger;
    }
    if (!s->states[node])
        s->states[node] = eddy__allocate_zeroed(&s->allocator, 1, sizeof **s->states);
    return s->states[node];
}

const eddy_node *eddy__session_variable(const eddy_session *s, eddy_tensor t, eddy_error *e)
{
    const eddy_node *node = t.graph == s->graph ? eddy_node_of(t) : NULL;
    if (node && (node->op->flags & EDDY_OP_VARIABLE)) return node;
    eddy__error_set(e, EDDY_INVALID_ARGUMENT, "'%.200s' is not a variable of this session's graph",
                    eddy_name_of(t));
    return NULL;
}

bool eddy__check_list(const char *who, const char *what, int count, const void *at, eddy_error *e)
{
    if (count >= 0 && (at || count == 0)) return true;
    return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                           "%s: %s is not a valid list (count %d, at %s)", who, what, count,
                           at ? "given" : "NULL");
}

bool eddy__session_is_usable(const eddy_session *s, eddy_error *e)
{
    if (atomic_load(&s->closed))
        return eddy__error_set(e, EDDY_CLOSED, "Attempted to use a closed Session.");
    return eddy__graph_alive(s->graph) ||
           eddy__error_set(e, EDDY_CLOSED, "the session's graph has been freed");
}

eddy_status eddy__session_finish(eddy_session *s, const eddy_error *e)
{
    if (e->status != EDDY_OK) eddy__session_note(s, e);
    pthread_mutex_unlock(&s->lock);
    return e->status;
}

/* A copy of the value, or NULL; with both locks held. */
static eddy_array *copy_value(eddy_session *s, const eddy_node *node, eddy_error *e)
{
    const eddy_state *state = node->id < s->states_capacity ? s->states[node->id] : NULL;
    if (!state || !state->initialized) return NULL;
    eddy_array *a = eddy_array_copy_of(eddy_array_dtype(state->value),
                                       eddy_array_shape(state->value),
                                       eddy_array_data(state->value));
    if (!a) eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for the value of '%.200s'",
                            node->name);
    return a;
}

eddy_array *eddy__variable_value(eddy_session *s, eddy_tensor variable, eddy_error *error)
{
    eddy_error  e = { 0 };
    eddy_array *a = NULL;
    if (!eddy__session_enter(s)) return NULL;
    pthread_mutex_lock(&s->lock);
    const eddy_node *node =
        eddy__session_is_usable(s, &e) ? eddy__session_variable(s, variable, &e) : NULL;
    if (node) {
        pthread_rwlock_rdlock(&s->state_lock);
        a = copy_value(s, node, &e);
        pthread_rwlock_unlock(&s->state_lock);
    }
    eddy__session_finish(s, &e);
    if (error && e.status != EDDY_OK) *error = e;
    return a;
}

eddy_array *eddy_variable_value(eddy_session *s, eddy_tensor variable)
{
    return eddy__variable_value(s, variable, NULL);
}

bool eddy__value_fits(const eddy_node *variable, eddy_type value, eddy_error *error)
{
    char            have[100], want[100];
    const eddy_type t = variable->outputs[0];
    if (value.dtype == t.dtype && eddy_shape_compatible(value.shape, t.shape)) return true;
    return eddy__error_set(error, value.dtype != t.dtype ? EDDY_BAD_DTYPE : EDDY_BAD_SHAPE,
                           "the variable '%s' is %s, but the value is %s", variable->name,
                           eddy_type_print(t, want, sizeof want),
                           eddy_type_print(value, have, sizeof have));
}

eddy_state *eddy__variable_room(eddy_session *s, const eddy_node *node, const eddy_array *value,
                                eddy_array **room, eddy_error *e)
{
    const eddy_shape shape = eddy_array_shape(value);
    eddy_state      *state = eddy__session_state(s, node->id);
    const bool       fits =
        state && state->value && eddy_shape_equal(eddy_array_shape(state->value), shape);
    *room = NULL;
    if (state && !fits) *room = eddy_array_new_in(&s->allocator, eddy_array_dtype(value), shape);
    if (fits || *room) return state;
    eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for the variable '%s'", node->name);
    return NULL;
}

void eddy__variable_put(eddy_session *s, eddy_state *state, const eddy_array *value,
                        eddy_array *room)
{
    if (room) {
        eddy_array_free(state->value);
        state->value = room;
    }
    if (eddy_array_bytes(value) > 0)
        memcpy(eddy_array_data(state->value), eddy_array_data(value), eddy_array_bytes(value));
    state->initialized = true;
    state->version++;
    s->changes++;
}

static void set_value(eddy_session *s, const eddy_node *node, const eddy_array *value,
                      eddy_error *e)
{
    const eddy_type got = { eddy_array_dtype(value), eddy_array_shape(value) };
    eddy_array     *room;
    if (!eddy__value_fits(node, got, e)) return;
    eddy_state *state = eddy__variable_room(s, node, value, &room, e);
    if (state) eddy__variable_put(s, state, value, room);
}

eddy_status eddy_variable_set(eddy_session *s, eddy_tensor variable, const eddy_array *value)
{
    eddy_error e = { 0 };
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lock);
    const eddy_node *node =
        eddy__session_is_usable(s, &e) ? eddy__session_variable(s, variable, &e) : NULL;
    if (node && !value)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "variable_set: the value for '%s' is NULL",
                        node->name);
    if (node && value) {
        pthread_rwlock_wrlock(&s->state_lock);
        set_value(s, node, value, &e);
        pthread_rwlock_unlock(&s->state_lock);
    }
    return eddy__session_finish(s, &e);
}
