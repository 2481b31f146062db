/* function.c -- calls a user's function that builds a part of a graph. */
#include "autodiff/internal.h"
#include "graph/call_options.h"
#include "autodiff/tape.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const eddy_function *f) { return f->name ? f->name : "the function"; }

eddy_graph *eddy__function_graph(const char *who, const eddy_function *f, eddy_list x,
                                 const char *missing)
{
    eddy_graph *g = eddy__graph_of_any(x);
    if (g || !f->build) return g;
    eddy_tensor in[EDDY_MAX_RESULTS] = { EDDY_ZERO_TENSOR }, y[EDDY_MAX_RESULTS] = { in[0] };
    f->build((eddy_list){ 0, in }, y, f->context);
    g = eddy__graph_of_any((eddy_list){ EDDY_MAX_RESULTS, y });
    if (eddy__graph_ready(g)) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s", who, missing);
    return NULL;
}

int eddy__function_build(eddy_graph *g, const char *who, const eddy_function *f, eddy_list x,
                         eddy_tensor *y)
{
    for (int k = 0; k < EDDY_MAX_RESULTS; k++) y[k] = eddy_none(g);
    if (!f->build) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %.200s has no build function", who, name_of(f));
        return 0;
    }
    int n = f->build(x, y, f->context);
    if (!eddy__graph_ready(g)) return 0;
    if (n <= 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Cannot differentiate a function that returns None; did you forget to return a "
                  "value from %.200s?", name_of(f));
    else if (n > EDDY_MAX_RESULTS)
        eddy_fail(g, EDDY_LIMIT, "%s: the number of results of %.200s is %d; the limit is %d",
                  who, name_of(f), n, EDDY_MAX_RESULTS);
    for (int k = 0; k < n && eddy__graph_ready(g); k++)
        if (y[k].graph != g || eddy_outputs_of(y[k]) == 0)
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "%s: result %d of %.200s is not a tensor in the graph of its arguments", who,
                      k, name_of(f));
    return eddy__graph_ready(g) ? n : 0;
}

/* ------------------------------------------------------------- parameters -- */

/* The next name in a list such as "w1, x1". Returns its length, 0 at the end. */
static size_t next_name(const char **list, const char **name)
{
    *list += strspn(*list, ", ");
    *name = *list;
    size_t n = strcspn(*list, ", ");
    *list += n;
    return n;
}

/* The position of a parameter; -1 if f has none of that name. */
static int parameter_index(const eddy_function *f, const char *name, size_t length)
{
    const char *list = f->parameters ? f->parameters : "", *each;
    size_t      n;
    for (int i = 0; (n = next_name(&list, &each)) > 0; i++)
        if (n == length && memcmp(each, name, n) == 0) return i;
    return -1;
}

/* The maximum number of chosen parameters; one may be chosen more than once. */
static int max_chosen(const eddy_function_args *a)
{
    return a->x.count > EDDY_MAX_RESULTS ? a->x.count : EDDY_MAX_RESULTS;
}

static int by_name(eddy_graph *g, const eddy_function_args *a, int *chosen)
{
    const char *list = a->names, *name;
    size_t      length;
    int         n = 0;
    while ((length = next_name(&list, &name)) > 0) {
        int at = parameter_index(&a->f, name, length);
        if (at < 0 || at >= a->x.count || n == max_chosen(a)) {
            eddy_fail(
                g, EDDY_INVALID_ARGUMENT,
                "gradients_function: %.200s has no parameter '%.*s' (its parameters are: %.200s)",
                name_of(&a->f), (int)length, name, a->f.parameters ? a->f.parameters : "no names");
            return 0;
        }
        chosen[n++] = at;
    }
    if (n == 0) eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradients_function: no parameter is given");
    return n;
}

static int by_position(eddy_graph *g, const eddy_function_args *a, int *chosen)
{
    for (int i = 0; i < a->indices.count; i++) {
        if (a->indices.at[i] < 0 || a->indices.at[i] >= a->x.count) {
            eddy_fail(
                g, EDDY_INVALID_ARGUMENT,
                "gradients_function: parameter %lld is given, but the number of arguments of "
                "%.200s is %d",
                (long long)a->indices.at[i], name_of(&a->f), a->x.count);
            return 0;
        }
        chosen[i] = (int)a->indices.at[i];
    }
    return a->indices.count;
}

static int choose(eddy_graph *g, const eddy_function_args *a, int *chosen)
{
    if (eddy_refuse_number(g, "gradients_function", "indices", a->indices)) return 0;
    if (a->names && a->indices.count > 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "gradients_function: params must be all strings or all integers; got both names "
                  "and indices");
        return 0;
    }
    if (a->names) return by_name(g, a, chosen);
    if (a->indices.count > 0) return by_position(g, a, chosen);
    for (int i = 0; i < a->x.count; i++) chosen[i] = i;
    return a->x.count;
}

/* --------------------------------------------------- explicit parameters -- */

static int gradients_function(eddy_graph *g, const eddy_function_args *a, int *chosen,
                              eddy_tensor *t)
{
    eddy_tensor *x = t, *wanted = t + a->x.count, y[EDDY_MAX_RESULTS];
    const int    n = choose(g, a, chosen);
    for (int i = 0; i < a->x.count && eddy__graph_ready(g); i++) x[i] = eddy_identity(a->x.at[i]);
    int results = eddy__graph_ready(g)
                      ? eddy__function_build(g, "gradients_function", &a->f,
                                             (eddy_list){ a->x.count, x }, y) : 0;
    if (results == 0) return 0;
    for (int k = 0; a->value && k < results; k++) a->value[k] = y[k];
    for (int k = 0; k < n; k++) wanted[k] = x[chosen[k]];
    const eddy_list ys = { results, y }, xs = { n, wanted };
    const eddy_weighted w = { "gradients_function", "dy", "results", a->dy, ys };
    if (eddy__weights_fit(g, &w))
        eddy_gradients(ys, xs, a->out, .grad_ys = a->dy,
                       .unconnected_gradients = a->unconnected_gradients);
    return eddy__graph_ready(g) ? n : 0;
}

int eddy_gradients_function_with(const eddy_function_args *given)
{
    eddy_function_args a = EDDY_TAKE(eddy_function_args, given);
    eddy_graph *g = eddy__function_graph("gradients_function", &a.f, a.x, "x is empty");
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, "gradients_function", "x", a.x)) return 0;
    if (!a.out) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradients_function: out is NULL");
        return 0;
    }
    const int    most = max_chosen(&a);
    const size_t room = (size_t)most * sizeof(int);
    int         *chosen = eddy__allocate_zeroed(eddy__graph_allocator(g), 1, room);
    eddy_tensor *t = eddy__tensors_new(g, (int64_t)a.x.count + most);
    if (!chosen)
        eddy_fail(g, EDDY_NO_MEMORY, "gradients_function: out of memory (parameters: %d)", most);
    const int count = chosen && t ? gradients_function(g, &a, chosen, t) : 0;
    eddy__tensors_free(g, t, (int64_t)a.x.count + most);
    eddy__release(eddy__graph_allocator(g), chosen, room);
    return count;
}

/* --------------------------------------------------- implicit parameters -- */

static int by_creation(const void *a, const void *b)
{
    const eddy_tensor *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* The variables that the tape watched, by id; their number, their memory in *out. */
static int used_variables(eddy_graph *g, eddy_tape *tape, eddy_tensor **out)
{
    const int n = eddy_tape_watched_variables(tape, NULL, 0);
    *out = eddy__tensors_new(g, n);
    if (!*out || !eddy__graph_ready(g)) return 0;
    eddy_tape_watched_variables(tape, *out, n);
    qsort(*out, (size_t)n, sizeof **out, by_creation);
    return n;
}

static int implicit(eddy_graph *g, const eddy_implicit_args *a, eddy_tape *tape)
{
    eddy_tensor y[EDDY_MAX_RESULTS], *v = NULL;
    eddy_tape_begin(tape);
    const int results = eddy__function_build(g, "implicit_gradients", &a->f, a->x, y);
    eddy_tape_end(tape);
    if (results == 0) return 0;
    for (int k = 0; a->value && k < results; k++) a->value[k] = y[k];
    const int    n = used_variables(g, tape, &v);
    eddy_tensor *dv = eddy__tensors_new(g, n);
    if (n == 0 && eddy__graph_ready(g))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "No trainable variables were accessed while the function was being computed.");
    if (a->gradients && n > a->room)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "implicit_gradients: the number of variables is %d, but there is room for %d", n,
                  a->room);
    const eddy_list     ys = { results, y }, vs = { n, v };
    const eddy_weighted w = { "implicit_gradients", "dy", "results", a->dy, ys };
    if (dv && eddy__graph_ready(g) && eddy__weights_fit(g, &w))
        eddy_tape_gradient(tape, ys, vs, dv, .output_gradients = a->dy);
    for (int i = 0; dv && a->gradients && i < n && eddy__graph_ready(g); i++) {
        a->variables[i] = v[i];
        a->gradients[i] = dv[i];
    }
    eddy__tensors_free(g, dv, n);
    eddy__tensors_free(g, v, n);
    return eddy__graph_ready(g) ? n : 0;
}

int eddy_implicit_gradients_with(const eddy_implicit_args *given)
{
    eddy_implicit_args a = EDDY_TAKE(eddy_implicit_args, given);
    static const char who[] = "implicit_gradients";
    eddy_graph *g = eddy__graph_of_any(a.x);
    if (!g && eddy__graph_alive(a.graph)) g = a.graph;
    if (!g) g = eddy__function_graph(who, &a.f, a.x, "the graph is unknown; give x or .graph");
    if (!eddy__graph_ready(g) || !eddy__list_is_of(g, who, "x", a.x)) return 0;
    if (a.room < 0 || !a.gradients != !a.variables || (a.room > 0 && !a.gradients)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "implicit_gradients: gradients or variables is NULL");
        return 0;
    }
    eddy_tape *tape = eddy_tape_new(g);
    const int  n = tape ? implicit(g, &a, tape) : 0;
    eddy_tape_free(tape);
    return n;
}
