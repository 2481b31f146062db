/* averages.c -- averages of many variables at once: their shadow variables, and the operations
 * common to all kinds of averages. */
#include "optim/wrappers/averages_internal.h"
#include "autodiff/internal.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ the object -- */

/* The graph of a live one, else NULL. */
static eddy_graph *graph_of(const eddy_averages *a)
{
    return eddy__live(a, EDDY_LIVE_OPTIMIZER) && eddy__graph_alive(a->graph) ? a->graph : NULL;
}

static void release(void *object)
{
    eddy_averages *a = object;
    eddy_allocator memory = a->allocator;
    eddy__live_remove(a);
    eddy__release(&memory, a->shadows, (size_t)a->capacity * sizeof *a->shadows);
    eddy__release(&memory, a, sizeof *a);
}

eddy_averages *eddy__averages_new(eddy_graph *g, const eddy_averages_kind *kind, const char *name)
{
    if (!name) name = kind->name;
    const size_t n = strlen(name);
    if (!eddy__name_is_valid(name, true) || n == 0 || name[n - 1] == '/' ||
        n >= EDDY_MAX_NAME / 2) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "'%.200s' is not a valid name for averages", name);
        return NULL;
    }
    const eddy_allocator *memory = eddy__graph_allocator(g);
    eddy_averages *a = eddy__allocate_zeroed(memory, 1, sizeof *a);
    const char    *text = eddy__arena_text(&g->arena, name, n);
    if (!a || !text || !eddy__live_add(a, EDDY_LIVE_OPTIMIZER)) {
        eddy__release(memory, a, sizeof *a);
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the averages '%.200s'", name);
        return NULL;
    }
    *a = (eddy_averages){ .allocator = *memory, .graph = g, .kind = kind, .name = text };
    return eddy_graph_own(g, a, release) ? a : NULL;
}

eddy_tensor eddy_averages_of(const eddy_averages *a, eddy_tensor t)
{
    eddy_graph *g = graph_of(a);
    for (int i = 0; g && i < a->count; i++)
        if (eddy_same(a->shadows[i].of, t)) return a->shadows[i].shadow;
    return eddy_none(g);
}

char *eddy_averages_name(const eddy_averages *a, eddy_tensor t, char *buf, size_t size)
{
    const bool ok = graph_of(a) && eddy_is_valid(t);
    if (buf && size > 0)
        snprintf(buf, size, "%s%s%s", ok ? eddy_name_of(t) : "", ok ? "/" : "", ok ? a->name : "");
    return buf;
}

/* --------------------------------------------------------------- shadows -- */

static bool can_average(eddy_graph *g, eddy_tensor t, int i)
{
    char text[128];
    if (!eddy_is_valid(t) || t.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "averages_apply: entry %d is not a tensor of this graph", i);
    else if (!eddy_dtype_is_floating(eddy_dtype_of(t)))
        eddy_fail(g, EDDY_BAD_DTYPE, "The variables must be half, float, or double: %s",
                  eddy_name_of(t));
    else if (!eddy__is_variable(t) && !eddy_shape_is_known(eddy_shape_of(t)))
        eddy_fail(g, EDDY_BAD_SHAPE, "averages_apply: the shape of '%s', %s, is unknown",
                  eddy_name_of(t), eddy_shape_print(eddy_shape_of(t), text, sizeof text));
    return eddy__graph_ready(g);
}

/* The variable "<t>/<name>", without the control inputs of open scopes. */
static eddy_tensor make_shadow(const eddy_averages *a, eddy_tensor t)
{
    char scope[EDDY_MAX_NAME];
    snprintf(scope, sizeof scope, "%s/", eddy_name_of(t));
    eddy_control_clear(a->graph);
    eddy_scope_begin(a->graph, scope);
    eddy_tensor initial = eddy__is_variable(t)
                              ? eddy_initialized_value(t)
                              : eddy_zeros(a->graph, eddy_dtype_of(t), eddy_shape_of(t));
    eddy_tensor shadow = eddy_variable(a->graph, .initial_value = initial, .not_trainable = true,
                                       .name = a->name);
    eddy_scope_end(a->graph);
    eddy_control_end(a->graph);
    return shadow;
}

/* The shadow of t, created if it does not exist. */
static eddy_tensor shadow_of(eddy_averages *a, eddy_tensor t)
{
    eddy_tensor shadow = eddy_averages_of(a, t);
    if (eddy_is_valid(shadow)) return shadow;
    if (a->runs.node != 0)        /* its count is that of the variables that it began with */
        return eddy_fail(a->graph, EDDY_INVALID_ARGUMENT,
                         "%s: '%.200s' is added too late; one operation averages all variables",
                         a->name, eddy_name_of(t));
    if (a->count == a->capacity) {
        const int more = a->capacity ? 2 * a->capacity : 8;
        if (!eddy__grow(&a->allocator, (void **)&a->shadows, (size_t)a->count, (size_t)more,
                        sizeof *a->shadows))
            return eddy_fail(a->graph, EDDY_NO_MEMORY, "%s: out of memory for a shadow", a->name);
        a->capacity = more;
    }
    shadow = make_shadow(a, t);
    if (!eddy_is_valid(shadow)) return shadow;
    a->shadows[a->count++] = (eddy_shadow){ t, shadow };
    if (eddy__is_variable(t)) eddy_collection_add(a->graph, EDDY_MOVING_AVERAGE_VARIABLES, t);
    return shadow;
}

/* ------------------------------------------------------------------ apply -- */

/* The updates of these tensors, as one operation; `updates` has room for them. */
static eddy_tensor apply_all(eddy_averages *a, eddy_list list, eddy_tensor *updates)
{
    eddy_graph *g = a->graph;
    for (int i = 0; i < list.count; i++)
        if (!can_average(g, list.at[i], i) || !eddy_is_valid(shadow_of(a, list.at[i])))
            return eddy_none(g);
    eddy_scope_begin(g, a->name);
    const char *scope = eddy_scope_name(g);
    a->kind->prepare(a);
    for (int i = 0; i < list.count; i++) {
        const eddy_shadow s = { list.at[i], eddy_averages_of(a, list.at[i]) };
        updates[i] = a->kind->update(a, s, eddy__is_variable(s.of) ? eddy_read(s.of) : s.of);
    }
    const eddy_list all = { list.count, updates };
    eddy_tensor done = a->kind->finish ? a->kind->finish(a, all) : eddy_none(g);
    done = eddy_group(g, a->kind->finish ? EDDY_LIST(done) : all, scope);
    eddy_scope_end(g);
    return done;
}

eddy_tensor eddy_averages_apply(eddy_averages *a, eddy_list var_list)
{
    eddy_graph *g = graph_of(a);
    if (!g && var_list.at && var_list.count > 0) g = var_list.at[0].graph;
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    if (!graph_of(a))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "averages_apply: the object is NULL or has been freed");
    if (!var_list.at && !eddy__list_is_of(g, "averages_apply", "var_list", var_list))
        return eddy_none(g);
    const bool all = !var_list.at || var_list.count == 0;
    const int  n = all ? eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES) : var_list.count;
    if (n <= 0) return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: no variables to average", a->name);
    const size_t bytes = 2 * (size_t)n * sizeof(eddy_tensor);
    eddy_tensor *list = eddy__allocate(&a->allocator, bytes);
    if (!list) return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory (averages: %d)", a->name, n);
    if (all) eddy_collection_get(g, EDDY_TRAINABLE_VARIABLES, NULL, list, n);
    else memcpy(list, var_list.at, (size_t)n * sizeof *list);
    eddy_tensor done = apply_all(a, (eddy_list){ n, list }, list + n);
    eddy__release(&a->allocator, list, bytes);
    return eddy__graph_ready(g) ? done : eddy_none(g);
}

/* ------------------------------------------------------------------- swap -- */

eddy_tensor eddy_averages_swap(eddy_averages *a)
{
    eddy_graph *g = graph_of(a);
    if (!eddy__graph_ready(g)) return eddy_none(g);
    const size_t bytes = 2 * (size_t)a->count * sizeof(eddy_tensor);
    eddy_tensor *done = eddy__allocate(&a->allocator, bytes);
    if (!done)
        return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory (averages: %d)", a->name, a->count);
    int n = 0;
    eddy_scope_begin(g, a->name);
    for (int i = 0; i < a->count; i++) {
        const eddy_shadow s = a->shadows[i];
        if (!eddy__is_variable(s.of)) continue;
        /* Reads the variable before its update; without this read its tensor could be read
         * late. */
        const eddy_tensor of = eddy_read(s.of), shadow = eddy_read(s.shadow);
        done[n++] = eddy_assign(s.of, shadow);
        done[n++] = eddy_assign(s.shadow, of);
    }
    eddy_tensor swap = eddy_group(g, (eddy_list){ n, done }, "swap");
    eddy_scope_end(g);
    eddy__release(&a->allocator, done, bytes);
    return swap;
}

/* ---------------------------------------------------------------- restore -- */

static int by_name(const void *x, const void *y)
{
    const eddy_named_variable *a = x, *b = y;
    return strcmp(a->name, b->name);
}

/* The list that is being built; `text` and `all` have room for everything. */
typedef struct restored {
    const eddy_averages *averages;
    eddy_named_variable *all;
    int                  count;
} restored;

static bool add(restored *r, eddy_tensor v, bool averaged)
{
    char name[2 * EDDY_MAX_NAME];
    eddy_averages_name(r->averages, v, name, sizeof name);
    const char *text = averaged ? eddy__arena_text(&v.graph->arena, name, strlen(name))
                                : eddy_name_of(v);
    for (int i = 0; text && i < r->count; i++) {
        if (eddy_same(r->all[i].variable, v)) return true;
        if (!averaged && strcmp(r->all[i].name, text) == 0) return true;
    }
    if (text) r->all[r->count++] = (eddy_named_variable){ text, v };
    return text != NULL;
}

/* Trainable and averaged variables come first, then variables that are not in the list yet. */
static bool add_all(restored *r, eddy_graph *g)
{
    static const char *const keys[] = { EDDY_TRAINABLE_VARIABLES, EDDY_MOVING_AVERAGE_VARIABLES,
                                        EDDY_GLOBAL_VARIABLES };
    for (int k = 0; k < 3; k++) {
        const int n = eddy_collection_size(g, keys[k]);
        for (int i = 0; i < n; i++)
            if (!add(r, eddy_collection_at(g, keys[k], i), k < 2)) return false;
    }
    return true;
}

int eddy_averages_to_restore(const eddy_averages *a, eddy_named_variable *out, int max)
{
    eddy_graph *g = graph_of(a);
    if (!eddy__graph_ready(g)) return 0;
    const int most = eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES) +
                     eddy_collection_size(g, EDDY_MOVING_AVERAGE_VARIABLES) +
                     eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    const size_t bytes = (size_t)most * sizeof(eddy_named_variable);
    restored     r = { a, eddy__allocate(&a->allocator, bytes), 0 };
    if (!r.all || !add_all(&r, g)) {
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a list of variables", a->name);
        r.count = 0;
    }
    if (r.count > 0) qsort(r.all, (size_t)r.count, sizeof *r.all, by_name);
    for (int i = 0; out && i < max && i < r.count; i++) out[i] = r.all[i];
    eddy__release(&a->allocator, r.all, bytes);
    return r.count;
}
