/* variables.c -- access to the values of variables: reading, setting, and whole checkpoints. */
#include "session/state/internal.h"
#include "graph/files/safetensors.h"

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

static const eddy_node *variable_node(const eddy_session *s, eddy_tensor t, eddy_error *e)
{
    const eddy_node *node = t.graph == s->graph ? eddy_node_of(t) : NULL;
    if (node && (node->op->flags & EDDY_OP_VARIABLE)) return node;
    eddy__error_set(e, EDDY_INVALID_ARGUMENT, "'%.200s' is not a variable of this session's graph",
                    eddy_name_of(t));
    return NULL;
}

static bool is_usable(const eddy_session *s, eddy_error *e)
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
static eddy_array *copy_value(eddy_session *s, int32_t id)
{
    const eddy_state *state = id < s->states_capacity ? s->states[id] : NULL;
    if (!state || !state->initialized) return NULL;
    return eddy_array_copy_of(eddy_array_dtype(state->value), eddy_array_shape(state->value),
                              eddy_array_data(state->value));
}

eddy_array *eddy_variable_value(eddy_session *s, eddy_tensor variable)
{
    eddy_error  e = { 0 };
    eddy_array *a = NULL;
    if (!eddy__session_enter(s)) return NULL;
    pthread_mutex_lock(&s->lock);
    const eddy_node *node = is_usable(s, &e) ? variable_node(s, variable, &e) : NULL;
    if (node) {
        pthread_rwlock_rdlock(&s->state_lock);
        a = copy_value(s, node->id);
        pthread_rwlock_unlock(&s->state_lock);
    }
    eddy__session_finish(s, &e);
    return a;
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

/* Allocates memory for the value: *room, if the variable has none that fits; NULL with the
 * error set. Does not change the variable. */
static eddy_state *allocate_value(eddy_session *s, const eddy_node *node, const eddy_array *value,
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

static void set_state(eddy_session *s, eddy_state *state, const eddy_array *value,
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
    eddy_state *state = allocate_value(s, node, value, &room, e);
    if (state) set_state(s, state, value, room);
}

eddy_status eddy_variable_set(eddy_session *s, eddy_tensor variable, const eddy_array *value)
{
    eddy_error e = { 0 };
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lock);
    const eddy_node *node = is_usable(s, &e) ? variable_node(s, variable, &e) : NULL;
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

/* ----------------------------------------------------------- checkpoints -- */

/* The listed variables, or all global ones: n of them, in memory of the session's. */
static const eddy_node **checkpoint_variables(eddy_session *s, eddy_list l, int *n, eddy_error *e)
{
    bool all = l.count == 0;
    *n = all ? eddy_collection_size(s->graph, EDDY_GLOBAL_VARIABLES) : l.count;
    if (l.count < 0 || (l.count > 0 && !l.at)) {
        eddy__error_set(e, EDDY_INVALID_ARGUMENT, "variables is not a valid list (count %d, at %s)",
                        l.count, l.at ? "given" : "NULL");
        return NULL;
    }
    const eddy_node **nodes = eddy__allocate_zeroed(&s->allocator, (size_t)*n, sizeof *nodes);
    if (!nodes) eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for a list (variables: %d)", *n);
    for (int i = 0; nodes && i < *n; i++)
        nodes[i] = variable_node(
            s, all ? eddy_collection_at(s->graph, EDDY_GLOBAL_VARIABLES, i) : l.at[i], e);
    return nodes;
}

/* The key of the counts of draws in the metadata of a checkpoint of all variables. */
static const char draws_key[] = "eddy.draws";

/* Writes the file; draws: with the counts. */
static void write_file(eddy_session *s, const char *path, int n, const char *const *names,
                       const eddy_array *const *values, bool draws, eddy_error *e)
{
    eddy_text text = { .allocator = &s->allocator };
    if (draws) eddy__draws_print(s, &text);
    eddy__text_add(&text, "", 1);
    const eddy_safetensors_text pair = { draws_key, text.at };
    if (text.failed)
        eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory for the header", path);
    else
        eddy__safetensors_write(eddy__graph_files(s->graph), &s->allocator, path, n, names, values,
                                draws, &pair, e);
    eddy__text_free(&text);
}

static void save_nodes(eddy_session *s, const char *path, int n, const eddy_node **nodes,
                       bool draws, eddy_error *e)
{
    const char **names = eddy__allocate_zeroed(&s->allocator, (size_t)n, sizeof *names);
    const eddy_array **values = eddy__allocate_zeroed(&s->allocator, (size_t)n, sizeof *values);
    if (!names || !values)
        eddy__error_set(e, EDDY_NO_MEMORY, "out of memory while saving (variables: %d)", n);
    for (int i = 0; e->status == EDDY_OK && i < n; i++) {
        const eddy_state *state =
            nodes[i]->id < s->states_capacity ? s->states[nodes[i]->id] : NULL;
        if (!state || !state->initialized)
            eddy__error_set(e, EDDY_UNINITIALIZED, "Attempting to use uninitialized value %s",
                            nodes[i]->name);
        names[i] = nodes[i]->name;
        values[i] = state ? state->value : NULL;
    }
    if (e->status == EDDY_OK)
        write_file(s, path, n, names, values, draws, e);
    eddy__release(&s->allocator, names, (size_t)n * sizeof *names);
    eddy__release(&s->allocator, values, (size_t)n * sizeof *values);
}

eddy_status eddy_save(eddy_session *s, const char *path, eddy_list variables)
{
    eddy_error e = { 0 };
    int        n = 0;
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lock);
    if (!path) eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "save: no path is given");
    const eddy_node **nodes =
        path && is_usable(s, &e) ? checkpoint_variables(s, variables, &n, &e) : NULL;
    if (nodes && e.status == EDDY_OK) {
        pthread_rwlock_rdlock(&s->state_lock);
        save_nodes(s, path, n, nodes, variables.count == 0 && s->draws.n > 0, &e);
        pthread_rwlock_unlock(&s->state_lock);
    }
    eddy__release(&s->allocator, nodes, (size_t)n * sizeof *nodes);
    return eddy__session_finish(s, &e);
}

/* True if the file has a value that the variable can hold. */
static bool can_restore(const eddy_node *node, const char *path, const eddy_array *a,
                        eddy_error *e)
{
    const eddy_type got = { eddy_array_dtype(a), eddy_array_shape(a) };
    eddy_error      why = { 0 };
    if (!a)
        return eddy__error_set(e, EDDY_NOT_FOUND,
                               "%.300s: the file has no value for the variable '%.200s'", path,
                               node->name);
    return eddy__value_fits(node, got, &why) ||
           eddy__error_set(e, why.status, "%.300s: %s", path, why.message);
}

/* The counts of draws in the file, by source, in memory of the session's; NULL if there are none,
 * or on an error. */
static uint64_t *read_draws(eddy_session *s, const char *path, const eddy_safetensors *file,
                            eddy_error *e)
{
    const char *text = eddy__safetensors_find_text(file, draws_key);
    if (!text || !eddy__draws_update(s, e)) return NULL;
    uint64_t *counts = eddy__allocate_zeroed(&s->allocator, (size_t)s->draws.n, sizeof *counts);
    if (!counts) eddy__error_set(e, EDDY_NO_MEMORY, "out of memory while inspecting the graph");
    else if (eddy__draws_parse(s, path, text, counts, e)) return counts;
    eddy__release(&s->allocator, counts, (size_t)s->draws.n * sizeof *counts);
    return NULL;
}

/* All values are checked, and have memory, before the first variable is changed. */
static void restore_nodes(eddy_session *s, const char *path, const eddy_safetensors *file, int n,
                          const eddy_node **nodes, bool draws, eddy_error *e)
{
    uint64_t    *counts = draws ? read_draws(s, path, file, e) : NULL;
    eddy_array **room = eddy__allocate_zeroed(&s->allocator, (size_t)n, sizeof *room);
    if (!room && e->status == EDDY_OK)
        eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for a list (variables: %d)", n);
    for (int i = 0; i < n && e->status == EDDY_OK; i++) {
        const eddy_array *a = eddy__safetensors_find(file, nodes[i]->name);
        if (can_restore(nodes[i], path, a, e)) allocate_value(s, nodes[i], a, &room[i], e);
    }
    for (int i = 0; room && i < n; i++) {
        if (e->status == EDDY_OK)
            set_state(s, s->states[nodes[i]->id], eddy__safetensors_find(file, nodes[i]->name),
                      room[i]);
        else eddy_array_free(room[i]);
    }
    if (counts && e->status == EDDY_OK) eddy__draws_set(s, counts);
    eddy__release(&s->allocator, counts, (size_t)s->draws.n * sizeof *counts);
    eddy__release(&s->allocator, room, (size_t)n * sizeof *room);
}

eddy_status eddy_restore(eddy_session *s, const char *path, eddy_list variables)
{
    eddy_error       e = { 0 };
    eddy_safetensors file = { 0 };
    int              n = 0;
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lock);
    if (!path) eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "restore: no path is given");
    const eddy_node **nodes =
        path && is_usable(s, &e) ? checkpoint_variables(s, variables, &n, &e) : NULL;
    if (nodes && e.status == EDDY_OK &&
        eddy__safetensors_read(eddy__graph_files(s->graph), &s->allocator, path, &file, &e) ==
        EDDY_OK) {
        pthread_rwlock_wrlock(&s->state_lock);
        restore_nodes(s, path, &file, n, nodes, variables.count == 0, &e);
        pthread_rwlock_unlock(&s->state_lock);
        eddy__safetensors_free(&file);
    }
    eddy__release(&s->allocator, nodes, (size_t)n * sizeof *nodes);
    return eddy__session_finish(s, &e);
}
