/* variables.c -- equal variables on all ranks, and runs that fail on all of them. */
#include "distributed/division.h"
#include "distributed/internal.h"
#include "distributed/training.h"

#include <stdlib.h>
#include <string.h>

enum { DESCRIPTION = 2 + EDDY_MAX_RANK };

/* The type and shape of a value of the root; the type is -1 if there is none. */
static eddy_array *describe(const eddy_array *value)
{
    const eddy_shape s = eddy_array_shape(value);
    eddy_array      *d = eddy_array_new(EDDY_INT64, EDDY_SHAPE(DESCRIPTION));
    if (!d) return NULL;
    eddy_array_set(d, 0, value ? (double)eddy_array_dtype(value) : -1);
    eddy_array_set(d, 1, value ? s.rank : 0);
    for (int i = 0; value && i < s.rank; i++) eddy_array_set(d, 2 + i, (double)s.dim[i]);
    return d;
}

static eddy_array *described(const eddy_array *d)
{
    eddy_shape s = { .rank = (int)eddy_array_get(d, 1) };
    for (int i = 0; i < s.rank; i++) s.dim[i] = (int64_t)eddy_array_get(d, 2 + i);
    return eddy_array_new((eddy_dtype)eddy_array_get(d, 0), s);
}

eddy_tensor eddy__variable_named(eddy_graph *g, const char *name)
{
    for (int i = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES) - 1; i >= 0; i--) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        if (strcmp(eddy_name_of(v), name) == 0) return v;
    }
    return eddy_none(g);
}

static bool no_memory(eddy_communicator *c, eddy_error *error)
{
    eddy_communicator_fail(c, "broadcast_variables: out of memory");
    return eddy__distributed_fail(error, EDDY_NO_MEMORY, "broadcast_variables: out of memory");
}

/* Broadcasts one value, or that there is none. */
static bool broadcast_one(eddy_communicator *c, int root, eddy_session *s, eddy_tensor v,
                          eddy_error *error)
{
    eddy_array *value = c->me == root ? eddy_variable_value(s, v) : NULL, *d = describe(value);
    bool        ok = d ? eddy_array_broadcast(c, root, d, error) : no_memory(c, error);
    const bool  any = ok && eddy_array_get(d, 0) >= 0;
    if (any && !value) value = described(d);
    if (any && !value) ok = no_memory(c, error);
    eddy_array_free(d);
    ok = ok && (!any || eddy_array_broadcast(c, root, value, error));
    if (ok && any && c->me != root && v.node != 0 && eddy_variable_set(s, v, value) != EDDY_OK) {
        ok = eddy__distributed_fail(error, eddy_session_status(s), "%s", eddy_session_message(s));
        eddy_communicator_fail(c, eddy_session_message(s));
    }
    eddy_array_free(value);
    return ok;
}

char *eddy__variable_names(eddy_graph *g, bool divided)
{
    const int n = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    size_t    bytes = 1, used = 0;
    for (int i = 0; i < n; i++)
        bytes += strlen(eddy_name_of(eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i))) + 1;
    char *names = malloc(bytes);
    if (!names) return NULL;
    for (int i = 0; i < n; i++) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        if ((eddy__division_of(v) != NULL) == divided)
            used += (size_t)snprintf(names + used, bytes - used, "%s\n", eddy_name_of(v));
    }
    names[used] = '\0';
    return names;
}

bool eddy_broadcast_variables(eddy_communicator *c, int root, eddy_graph *g, eddy_session *s,
                              eddy_error *error)
{
    if (!c || !g || !s)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "broadcast_variables: no communicator, graph or session");
    if (root < 0 || root >= c->n)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "broadcast_variables: no rank %d", root);
    char *own = eddy__variable_names(g, false);
    if (!own) return no_memory(c, error);
    char *names = eddy__broadcast_text(c, root, own, error);
    bool  ok = names != NULL;
    for (char *name = names; ok && *name;) {
        char *end = strchr(name, '\n');
        *end = '\0';
        ok = broadcast_one(c, root, s, eddy__variable_named(g, name), error);
        name = end + 1;
    }
    free(names);
    free(own);
    return ok;
}

/* In a session of its own, whose draws no other rank shares. */
static bool initialize(eddy_graph *g, eddy_session *s, eddy_error *error)
{
    eddy_session *first = eddy_session_new(g, .deterministic = true);
    const int     n = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    bool          ok = first && eddy_run(first, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)),
                                         NULL) == EDDY_OK;
    if (first && !ok)
        eddy__distributed_fail(error, eddy_session_status(first), "%s",
                               eddy_session_message(first));
    for (int i = 0; ok && i < n; i++) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        eddy_array       *value = eddy_variable_value(first, v);
        ok = value && eddy_variable_set(s, v, value) == EDDY_OK;
        if (value && !ok)
            eddy__distributed_fail(error, eddy_session_status(s), "%s", eddy_session_message(s));
        eddy_array_free(value);
    }
    eddy_session_free(first);
    return ok ||
           eddy__distributed_fail(error, EDDY_NO_MEMORY, "initialize_variables: out of memory");
}

bool eddy_initialize_variables(eddy_communicator *c, eddy_graph *g, eddy_session *s,
                               eddy_error *error)
{
    eddy_error own = { 0 };
    if (!c || !g || !s)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "initialize_variables: no communicator, graph or session");
    initialize(g, s, &own);
    if (eddy__all_succeeded(c, &own)) return eddy_broadcast_variables(c, 0, g, s, error);
    return eddy__distributed_fail(error, own.status, "%s", own.message);
}

eddy_status eddy_run_ranks(eddy_communicator *c, eddy_session *s, eddy_feeds feeds,
                           eddy_list fetches, eddy_array **out)
{
    const eddy_status status = eddy_run(s, feeds, fetches, out);
    if (status != EDDY_OK && eddy_communicator_status(c) == EDDY_OK)
        eddy_communicator_fail(c, eddy_session_message(s));
    return status;
}
