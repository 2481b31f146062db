/* slots.c -- the variables that an optimizer keeps for itself. */
#include "optim/internal.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* Where the number of that slot is, plus 1, or would go: 0 there.  There is a table. */
static int32_t *place_of(const eddy_optimizer *o, int32_t owner, const char *name)
{
    const size_t mask = 2 * (size_t)o->slots_capacity - 1;
    uint64_t     hash = (1469598103934665603u ^ (uint32_t)owner) * 1099511628211u;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (size_t i = (size_t)hash;; i++) {
        int32_t *place = &o->places[i & mask];
        if (*place == 0) return place;
        const eddy_slot *s = &o->slots[*place - 1];
        if (s->owner == owner && strcmp(s->name, name) == 0) return place;
    }
}

eddy_tensor eddy_slot_find(const eddy_optimizer *o, int32_t owner, const char *name)
{
    const int32_t at = o->n_slots > 0 ? *place_of(o, owner, name) : 0;
    return at > 0 ? o->slots[at - 1].variable : eddy_none(o->graph);
}

eddy_tensor eddy_get_slot(const eddy_optimizer *o, eddy_tensor variable, const char *name)
{
    eddy_graph *g = eddy_optimizer_graph(o);
    if (!g || !name || !eddy_is_valid(variable) || variable.graph != g) return eddy_none(g);
    return eddy_slot_find(o, variable.node, name);
}

static int by_name(const void *a, const void *b)
{
    const eddy_slot *x = a, *y = b;
    const int order = strcmp(eddy_name_of(x->variable), eddy_name_of(y->variable));
    return order != 0 ? order : (x->variable.node > y->variable.node)
                              - (x->variable.node < y->variable.node);
}

int eddy_optimizer_variables(const eddy_optimizer *o, eddy_tensor *out, int max)
{
    eddy_graph *g = eddy_optimizer_graph(o);
    if (!g || !out || max <= 0 || o->n_slots == 0) return g ? o->n_slots : 0;
    const size_t bytes = (size_t)o->n_slots * sizeof *o->slots;
    eddy_slot   *sorted = eddy_allocate(&o->allocator, bytes);
    if (!sorted) {
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a list of slots", o->name);
        return 0;
    }
    memcpy(sorted, o->slots, bytes);
    qsort(sorted, (size_t)o->n_slots, sizeof *sorted, by_name);
    for (int i = 0; i < max && i < o->n_slots; i++) out[i] = sorted[i].variable;
    eddy_release(&o->allocator, sorted, bytes);
    return o->n_slots;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int eddy_get_slot_names(const eddy_optimizer *o, const char **out, int max)
{
    eddy_graph *g = eddy_optimizer_graph(o);
    if (!g || o->n_slots == 0) return 0;
    const size_t bytes = (size_t)o->n_slots * sizeof(char *);
    const char **sorted = eddy_allocate(&o->allocator, bytes);
    if (!sorted) {
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a list of slots", o->name);
        return 0;
    }
    int n = 0, names = 0;
    for (int i = 0; i < o->n_slots; i++)
        if (o->slots[i].owner > 0) sorted[n++] = o->slots[i].name;
    qsort(sorted, (size_t)n, sizeof *sorted, by_text);
    for (int i = 0; i < n; i++) {
        if (i > 0 && strcmp(sorted[i - 1], sorted[i]) == 0) continue;
        if (out && names < max) out[names] = sorted[i];
        names++;
    }
    eddy_release(&o->allocator, sorted, bytes);
    return names;
}

/* Room for one slot more, and a table that stays at most half full. */
static bool room(eddy_optimizer *o)
{
    if (o->n_slots < o->slots_capacity) return true;
    const int bigger = o->slots_capacity ? 2 * o->slots_capacity : 8;
    const size_t old_bytes = 2 * (size_t)o->slots_capacity * sizeof *o->places;
    int32_t *places = eddy_allocate_zeroed(&o->allocator, 2 * (size_t)bigger, sizeof *places);
    if (!places || !eddy_grow(&o->allocator, (void **)&o->slots, (size_t)o->n_slots,
                              (size_t)bigger, sizeof *o->slots)) {
        eddy_release(&o->allocator, places, 2 * (size_t)bigger * sizeof *places);
        return false;
    }
    eddy_release(&o->allocator, o->places, old_bytes);
    o->places = places;
    o->slots_capacity = bigger;
    for (int i = 0; i < o->n_slots; i++)
        *place_of(o, o->slots[i].owner, o->slots[i].name) = i + 1;
    return true;
}

static eddy_tensor keep(eddy_optimizer *o, int32_t owner, const char *name, eddy_tensor variable)
{
    eddy_graph *g = o->graph;
    if (!eddy_is_valid(variable)) return variable;
    const char *copy = eddy_arena_text(&g->arena, name, strlen(name));
    if (!copy || !room(o))
        return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a slot", o->name);
    *place_of(o, owner, copy) = o->n_slots + 1;
    o->slots[o->n_slots++] = (eddy_slot){ owner, copy, variable };
    return variable;
}

/* A variable of the optimizer's, which waits for nothing around the call. */
static eddy_tensor make(eddy_graph *g, const char *name, eddy_tensor initial_value)
{
    eddy_control_clear(g);
    eddy_tensor v = eddy_variable(g, .initial_value = initial_value, .not_trainable = true,
                                  .name = name);
    eddy_control_end(g);
    return v;
}

/* Enters "<variable>/". */
static void enter_variable(eddy_graph *g, eddy_tensor variable)
{
    char scope[EDDY_MAX_NAME];
    snprintf(scope, sizeof scope, "%s/", eddy_name_of(variable));
    eddy_scope_begin(g, scope);
}

/* The slot, which there is not yet, as a variable "<variable>/<called>". */
static eddy_tensor new_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                            const char *called, eddy_tensor initial_value)
{
    enter_variable(o->graph, variable);
    eddy_tensor slot = make(o->graph, called, initial_value);
    eddy_scope_end(o->graph);
    return keep(o, variable.node, name, slot);
}

eddy_tensor eddy_make_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                           eddy_tensor initial_value)
{
    eddy_graph *g = eddy_optimizer_ready(o);
    if (!g) return eddy_none(variable.graph);
    if (!eddy_is_variable(variable) || variable.graph != g || !name)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a slot needs a name and a variable",
                         o->name);
    eddy_tensor slot = eddy_slot_find(o, variable.node, name);
    return eddy_is_valid(slot) ? slot : new_slot(o, variable, name, o->name, initial_value);
}

eddy_tensor eddy_make_shared_slot(eddy_optimizer *o, const char *name, eddy_tensor initial_value)
{
    eddy_graph *g = eddy_optimizer_ready(o);
    if (!g) return eddy_none(initial_value.graph);
    if (!name) return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a slot needs a name", o->name);
    eddy_tensor slot = eddy_shared_slot(o, name);
    return eddy_is_valid(slot) ? slot : keep(o, 0, name, make(g, name, initial_value));
}

/* `value` in the shape of a variable. */
static eddy_tensor filled_like(eddy_graph *g, eddy_tensor variable, double value)
{
    const eddy_shape shape = eddy_shape_of(variable);
    const eddy_dtype d = eddy_dtype_of(variable);
    const bool       known = eddy_shape_is_known(shape);
    if (known && value == 0) return eddy_zeros(g, d, shape);
    if (known) return eddy_broadcast_to(eddy_number(g, d, value), shape);
    eddy_tensor like = eddy_initialized_value(variable);
    if (value == 0) return eddy_zeros_like(like);
    return eddy_broadcast_like(eddy_number_like(value, like), like);
}

eddy_tensor eddy_filled_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                             double value, const char *called)
{
    eddy_graph *g = eddy_optimizer_ready(o);
    if (!g) return eddy_none(variable.graph);
    eddy_tensor slot = eddy_slot_find(o, variable.node, name);
    if (eddy_is_valid(slot)) return slot;

    char made[EDDY_MAX_NAME], scope[EDDY_MAX_NAME + 16];
    if (!called) called = o->name;
    enter_variable(g, variable);
    eddy_unique_name(g, called, false, made, sizeof made);
    eddy_scope_end(g);
    snprintf(scope, sizeof scope, "%s/Initializer/", made);

    eddy_control_clear(g);
    eddy_scope_begin(g, scope);
    eddy_tensor initial_value = filled_like(g, variable, value);
    eddy_scope_end(g);
    eddy_control_end(g);
    return new_slot(o, variable, name, called, initial_value);
}

eddy_tensor eddy_zero_slot(eddy_optimizer *o, eddy_tensor variable, const char *name)
{
    return eddy_filled_slot(o, variable, name, 0, NULL);
}
