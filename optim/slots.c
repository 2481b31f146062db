/* slots.c -- slot variables: state that an optimizer keeps for each variable. */
#include "optim/internal.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* Looks up a slot in the hash table: the entry contains its number plus 1, or 0 if the slot
 * does not exist. */
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

eddy_tensor eddy__slot_find(const eddy_optimizer *o, int32_t owner, const char *name)
{
    const int32_t at = o->n_slots > 0 ? *place_of(o, owner, name) : 0;
    return at > 0 ? o->slots[at - 1].variable : eddy_none(o->graph);
}

eddy_tensor eddy_get_slot(const eddy_optimizer *o, eddy_tensor variable, const char *name)
{
    eddy_graph *g = eddy_optimizer_graph(o);
    if (!g || !name || !eddy_is_valid(variable) || variable.graph != g) return eddy_none(g);
    return eddy__slot_find(o, variable.node, name);
}

static int by_name(const void *a, const void *b)
{
    const eddy_slot *x = a, *y = b;
    const int order = strcmp(eddy_name_of(x->variable), eddy_name_of(y->variable));
    return order != 0 ? order : (x->variable.node > y->variable.node)
                              - (x->variable.node < y->variable.node);
}

/* The slots of the optimizer and of those inside it, each optimizer once. Stores them from
 * out[n] on, unless out is NULL. Returns n plus their number. */
static int gather(const eddy_optimizer *o, eddy_slot *out, int n)
{
    eddy_optimizer *const *inside = o->state;
    if (out && o->n_slots > 0) memcpy(out + n, o->slots, (size_t)o->n_slots * sizeof *out);
    n += o->n_slots;
    for (int i = 0; i < o->n_inside; i++) {
        int first = 0;
        while (inside[first] != inside[i]) first++;
        if (first == i) n = gather(inside[i], out, n);
    }
    return n;
}

const eddy_optimizer *eddy__combining(const eddy_optimizer *o)
{
    eddy_optimizer *const *inside = o->state;
    const eddy_optimizer  *found = o->combines ? o : NULL;
    for (int i = 0; !found && i < o->n_inside; i++) found = eddy__combining(inside[i]);
    return found;
}

/* All those slots, allocated by the optimizer's allocator; NULL if there are none, or with the
 * error set. */
static eddy_slot *slots_new(const eddy_optimizer *o, int *count)
{
    *count = gather(o, NULL, 0);
    if (*count == 0) return NULL;
    eddy_slot *all = eddy__allocate(&o->allocator, (size_t)*count * sizeof *all);
    if (all) gather(o, all, 0);
    else {
        eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory for a list of slots", o->name);
        *count = 0;
    }
    return all;
}

static void slots_free(const eddy_optimizer *o, eddy_slot *all, int count)
{
    eddy__release(&o->allocator, all, (size_t)count * sizeof *all);
}

int eddy_optimizer_variables(const eddy_optimizer *o, eddy_tensor *out, int max)
{
    int count;
    if (!eddy_optimizer_graph(o)) return 0;
    if (!out || max <= 0) return gather(o, NULL, 0);
    eddy_slot *all = slots_new(o, &count);
    if (count > 0) qsort(all, (size_t)count, sizeof *all, by_name);
    for (int i = 0; i < max && i < count; i++) out[i] = all[i].variable;
    slots_free(o, all, count);
    return count;
}

/* Slots of variables come first, sorted by the name of the slot. */
static int by_slot(const void *a, const void *b)
{
    const eddy_slot *x = a, *y = b;
    const int        shared = (x->owner == 0) - (y->owner == 0);
    return shared != 0 ? shared : strcmp(x->name, y->name);
}

int eddy_get_slot_names(const eddy_optimizer *o, const char **out, int max)
{
    int count, names = 0;
    if (!eddy_optimizer_graph(o)) return 0;
    eddy_slot *all = slots_new(o, &count);
    if (count > 0) qsort(all, (size_t)count, sizeof *all, by_slot);
    for (int i = 0; i < count && all[i].owner > 0; i++) {
        if (i > 0 && strcmp(all[i - 1].name, all[i].name) == 0) continue;
        if (out && names < max) out[names] = all[i].name;
        names++;
    }
    slots_free(o, all, count);
    return names;
}

/* Makes room for one more slot, in a hash table that is at most half full. */
static bool reserve_slot(eddy_optimizer *o)
{
    if (o->n_slots < o->slots_capacity) return true;
    const int bigger = o->slots_capacity ? 2 * o->slots_capacity : 8;
    const size_t old_bytes = 2 * (size_t)o->slots_capacity * sizeof *o->places;
    int32_t *places = eddy__allocate_zeroed(&o->allocator, 2 * (size_t)bigger, sizeof *places);
    if (!places || !eddy__grow(&o->allocator, (void **)&o->slots, (size_t)o->n_slots,
                               (size_t)bigger, sizeof *o->slots)) {
        eddy__release(&o->allocator, places, 2 * (size_t)bigger * sizeof *places);
        return false;
    }
    eddy__release(&o->allocator, o->places, old_bytes);
    o->places = places;
    o->slots_capacity = bigger;
    for (int i = 0; i < o->n_slots; i++)
        *place_of(o, o->slots[i].owner, o->slots[i].name) = i + 1;
    return true;
}

static eddy_tensor record_slot(eddy_optimizer *o, int32_t owner, const char *name,
                               eddy_tensor variable)
{
    eddy_graph *g = o->graph;
    if (!eddy_is_valid(variable)) return variable;
    const char *copy = eddy__arena_text(&g->arena, name, strlen(name));
    if (!copy || !reserve_slot(o))
        return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a slot", o->name);
    *place_of(o, owner, copy) = o->n_slots + 1;
    o->slots[o->n_slots++] = (eddy_slot){ owner, copy, variable };
    return variable;
}

/* A variable of the optimizer, without the control inputs of open scopes. */
static eddy_tensor make_variable(eddy_graph *g, const char *name, eddy_tensor initial_value)
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

/* Creates a slot as a variable "<variable>/<called>". */
static eddy_tensor new_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                            const char *called, eddy_tensor initial_value)
{
    enter_variable(o->graph, variable);
    eddy_tensor slot = make_variable(o->graph, called, initial_value);
    eddy_scope_end(o->graph);
    return record_slot(o, variable.node, name, slot);
}

eddy_tensor eddy_make_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                           eddy_tensor initial_value)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(variable.graph);
    if (!eddy__is_variable(variable) || variable.graph != g || !name)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a slot requires a name and a variable",
                         o->name);
    eddy_tensor slot = eddy__slot_find(o, variable.node, name);
    return eddy_is_valid(slot) ? slot : new_slot(o, variable, name, o->name, initial_value);
}

eddy_tensor eddy_make_shared_slot(eddy_optimizer *o, const char *name, eddy_tensor initial_value)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(initial_value.graph);
    if (!name) return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a slot requires a name", o->name);
    eddy_tensor slot = eddy__shared_slot(o, name);
    return eddy_is_valid(slot) ? slot
                               : record_slot(o, 0, name, make_variable(g, name, initial_value));
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

eddy_tensor eddy__filled_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                              double value, const char *called)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(variable.graph);
    eddy_tensor slot = eddy__slot_find(o, variable.node, name);
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

eddy_tensor eddy__zero_slot(eddy_optimizer *o, eddy_tensor variable, const char *name)
{
    return eddy__filled_slot(o, variable, name, 0, NULL);
}

/* ------------------------------------------------------------------ reset -- */

/* The assignment of its first value to the variable that `init` initializes. */
static eddy_tensor assign_again(eddy_tensor init)
{
    return eddy_assign(eddy_input(init, 0), eddy_input(init, 1));
}

eddy_tensor eddy_optimizer_reset(eddy_optimizer *o)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(eddy_optimizer_graph(o));
    int           count, done = 0;
    const size_t  size = (size_t)eddy_graph_size(g) + 1;
    eddy_slot    *all = slots_new(o, &count);
    bool         *is_slot = eddy__allocate_zeroed(&o->allocator, size, sizeof *is_slot);
    eddy_tensor  *assigned = eddy__allocate_zeroed(&o->allocator, (size_t)count, sizeof *assigned);
    if (eddy__graph_ready(g) && count == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "reset: '%s' has no variables yet", o->name);
    else if (!is_slot || !assigned)
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a list of slots", o->name);
    for (int i = 0; is_slot && i < count; i++) is_slot[all[i].variable.node] = true;
    eddy_scope_begin(g, "reset");
    const int n = eddy_collection_size(g, EDDY_INITIALIZERS);
    for (int i = 0; eddy__graph_ready(g) && done < count && i < n; i++) {
        const eddy_tensor init = eddy_collection_at(g, EDDY_INITIALIZERS, i);
        if (is_slot[eddy_input(init, 0).node]) assigned[done++] = assign_again(init);
    }
    eddy_tensor y = eddy_group(g, (eddy_list){ done, assigned }, NULL);
    eddy_scope_end(g);
    slots_free(o, all, count);
    eddy__release(&o->allocator, is_slot, size * sizeof *is_slot);
    eddy__release(&o->allocator, assigned, (size_t)count * sizeof *assigned);
    return y;
}
