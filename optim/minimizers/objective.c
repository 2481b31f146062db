/* objective.c -- tensors of a graph as functions of one vector, the elements of its variables. */
#include "optim/minimizers/objective.h"
#include "graph/type_errors.h"
#include "optim/internal.h"

#include <math.h>
#include <string.h>

bool eddy__objective_fail(objective *o, eddy_status s, const char *what)
{
    return eddy__error_set(&o->error, s, "%s: %s", o->who, what);
}

/* The session's error. */
static bool fail_with_session(objective *o, eddy_status s)
{
    return eddy__objective_fail(o, s, eddy_session_message(o->session));
}

void *eddy__objective_alloc(objective *o, int64_t n, size_t size)
{
    size_t bytes;
    void  *p = n >= 0 && eddy__size_mul((size_t)n + 1, size, &bytes)
                   ? eddy__arena_alloc(&o->arena, bytes) : NULL;
    if (p) memset(p, 0, bytes);
    else eddy__objective_fail(o, EDDY_NO_MEMORY, "out of memory");
    return p;
}

/* --------------------------------------------------------------- arguments -- */

bool eddy__objective_list(objective *o, const char *what, eddy_list given)
{
    return eddy__check_list(o->who, what, given.count, given.at, &o->error);
}

bool eddy__objective_takes(objective *o, const char *what, eddy_tensor t)
{
    char which[300];
    snprintf(which, sizeof which, "%.64s '%.200s'", what, eddy_name_of(t));
    return eddy__error_expects(&o->error, o->who, which, eddy_dtype_of(t), EDDY_TAKES_WIDE_FLOATS);
}

static bool check_variable(objective *o, int i)
{
    const eddy_tensor v = o->variables[i];
    if (!eddy__is_variable(v) || v.graph != o->graph)
        return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                               "%s: var_list[%d] is not a variable of the graph", o->who, i);
    return eddy__objective_takes(o, "the variable", v);
}

static bool set_variable_list(objective *o, eddy_list given)
{
    if (!eddy__objective_list(o, "var_list", given)) return false;
    const int n = given.at ? given.count : eddy_collection_size(o->graph, EDDY_TRAINABLE_VARIABLES);
    if (n < 1) return eddy__objective_fail(o, EDDY_INVALID_ARGUMENT, "No variables to optimize.");
    o->variables = eddy__objective_alloc(o, n, sizeof *o->variables);
    if (!o->variables) return false;
    o->n_variables = n;
    if (given.at) memcpy(o->variables, given.at, (size_t)n * sizeof *given.at);
    else eddy_collection_get(o->graph, EDDY_TRAINABLE_VARIABLES, NULL, o->variables, n);
    for (int i = 0; i < n; i++)
        if (!check_variable(o, i)) return false;
    return true;
}

bool eddy__objective_begin(objective *o, eddy_session *s, eddy_tensor t, const char *what,
                           eddy_list variables, eddy_feeds feeds)
{
    char which[32];
    o->session = s;
    if (!s || !eddy_is_valid(t) || !eddy__graph_ready(t.graph))
        return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                               "%s: a session and a %s of its graph are required", o->who, what);
    o->graph = t.graph;
    o->arena.allocator = eddy__graph_allocator(o->graph);
    snprintf(which, sizeof which, "the %.20s", what);
    if (!eddy__objective_takes(o, which, t) || !set_variable_list(o, variables)) return false;
    o->given = feeds;
    o->feeds = eddy__objective_alloc(o, feeds.count + o->n_variables, sizeof(eddy_array *));
    return o->feeds != NULL;
}

bool eddy__objective_read(objective *o)
{
    eddy_error e = { 0 };
    o->values = eddy__objective_alloc(o, o->n_variables, sizeof(eddy_array *));
    if (!o->values) return false;
    for (int v = 0; v < o->n_variables; v++) {
        o->values[v] = eddy__variable_value(o->session, o->variables[v], &e);
        if (!o->values[v] && e.status != EDDY_OK) return fail_with_session(o, e.status);
        if (!o->values[v])
            return eddy__error_set(&o->error, EDDY_UNINITIALIZED,
                                   "%s: '%.200s' has no value in this session", o->who,
                                   eddy_name_of(o->variables[v]));
        o->n += eddy_array_count(o->values[v]);
    }
    return true;
}

bool eddy__objective_evaluation(objective *o, evaluation *e, int n, eddy_tensor *fetches,
                                eddy_list more)
{
    const int    count = o->given.count + more.count;
    eddy_tensor *fed = eddy__objective_alloc(o, count, sizeof *fed);
    e->n = n;
    e->fetches = fetches;
    e->out = eddy__objective_alloc(o, n, sizeof(eddy_array *));
    if (!fed || !e->out) return false;
    for (int i = 0; i < o->given.count; i++) {
        fed[i] = o->given.at[i].tensor;
        o->feeds[i] = o->given.at[i].value;
    }
    if (more.count > 0)
        memcpy(fed + o->given.count, more.at, (size_t)more.count * sizeof *more.at);
    e->call = eddy_callable_new(o->session, (eddy_list){ count, fed }, (eddy_list){ n, fetches });
    return e->call || fail_with_session(o, eddy_session_status(o->session));
}

void eddy__evaluation_end(evaluation *e)
{
    eddy_callable_free(e->call);
    for (int i = 0; e->out && i < e->n; i++) eddy_array_free(e->out[i]);
}

void eddy__objective_end(objective *o)
{
    for (int v = 0; o->values && v < o->n_variables; v++) eddy_array_free(o->values[v]);
    if (o->arena.allocator) eddy__arena_free(&o->arena);
}

/* -------------------------------------------------------------- evaluating -- */

void eddy__objective_start(const objective *o, double *x)
{
    for (int64_t v = 0, at = 0; v < o->n_variables; v++)
        for (int64_t i = 0; i < eddy_array_count(o->values[v]); i++)
            x[at++] = eddy_array_get(o->values[v], i);
}

bool eddy__objective_set(objective *o, double *x)
{
    int64_t at = 0;
    for (int v = 0; v < o->n_variables; v++) {
        eddy_array *value = o->values[v];
        for (int64_t i = 0; i < eddy_array_count(value); i++, at++) {
            eddy_array_set(value, i, x[at]);
            x[at] = eddy_array_get(value, i);
        }
        const eddy_status s = eddy_variable_set(o->session, o->variables[v], value);
        if (s != EDDY_OK) return fail_with_session(o, s);
    }
    return true;
}

bool eddy__objective_run(objective *o, evaluation *e, const eddy_array *const *more)
{
    for (int v = 0; more && v < o->n_variables; v++) o->feeds[o->given.count + v] = more[v];
    const eddy_status s = eddy_callable_run(e->call, o->feeds, e->out);
    return s == EDDY_OK || fail_with_session(o, s);
}

bool eddy__objective_gather(objective *o, const evaluation *e, int from, double *to)
{
    for (int v = 0; v < o->n_variables; v++) {
        const eddy_array *g = e->out[from + v];
        const int64_t     n = eddy_array_count(o->values[v]);
        if (eddy_array_count(g) != n)
            return eddy__error_set(&o->error, EDDY_BAD_SHAPE,
                                   "%s: the number of elements of '%.200s' and of its gradient "
                                   "differ: %lld and %lld", o->who, eddy_name_of(o->variables[v]),
                                   (long long)n, (long long)eddy_array_count(g));
        for (int64_t i = 0; i < n; i++) *to++ = eddy_array_get(g, i);
    }
    return true;
}

/* ---------------------------------------------------------------- vectors -- */

double eddy__vector_dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

double eddy__vector_norm(const double *a, int64_t n) { return sqrt(eddy__vector_dot(a, a, n)); }

void eddy__vector_add(double *y, double c, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] += c * x[i];
}

double eddy__vector_largest(const double *a, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i]) <= most)) most = fabs(a[i]);        /* a NaN, too */
    return most;
}
