/* slots.c -- the variables that an optimizer keeps for itself. */
#include "optim/internal.h"
#include "ops/ops.h"

#include <string.h>

eddy_tensor eddy_slot_find(const eddy_optimizer *o, int32_t owner, const char *name)
{
    for (int i = 0; i < o->n_slots; i++)
        if (o->slots[i].owner == owner && strcmp(o->slots[i].name, name) == 0)
            return o->slots[i].variable;
    return eddy_none(o->graph);
}

eddy_tensor eddy_get_slot(const eddy_optimizer *o, eddy_tensor variable, const char *name)
{
    eddy_graph *g = eddy_optimizer_graph(o);
    if (!g || !name || !eddy_is_valid(variable) || variable.graph != g) return eddy_none(g);
    return eddy_slot_find(o, variable.node, name);
}

int eddy_optimizer_variables(const eddy_optimizer *o, eddy_tensor *out, int max)
{
    if (!eddy_optimizer_graph(o)) return 0;
    for (int i = 0; out && i < max && i < o->n_slots; i++) out[i] = o->slots[i].variable;
    return o->n_slots;
}

/* Puts the slot where its variable's name belongs. */
static eddy_tensor keep(eddy_optimizer *o, int32_t owner, const char *name, eddy_tensor variable)
{
    eddy_graph *g = o->graph;
    if (!eddy_is_valid(variable)) return variable;
    if (o->n_slots == o->slots_capacity) {
        const int bigger = o->slots_capacity ? 2 * o->slots_capacity : 8;
        if (!eddy_grow(&o->allocator, (void **)&o->slots, (size_t)o->n_slots, (size_t)bigger,
                       sizeof *o->slots))
            return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a slot", o->name);
        o->slots_capacity = bigger;
    }
    const char *copy = eddy_arena_text(&g->arena, name, strlen(name));
    if (!copy) return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a slot", o->name);
    int at = o->n_slots++;
    for (; at > 0; at--) {
        if (strcmp(eddy_name_of(o->slots[at - 1].variable), eddy_name_of(variable)) <= 0) break;
        o->slots[at] = o->slots[at - 1];
    }
    o->slots[at] = (eddy_slot){ owner, copy, variable };
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

eddy_tensor eddy_make_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                           eddy_tensor initial_value)
{
    eddy_graph *g = eddy_optimizer_ready(o);
    if (!g) return eddy_none(variable.graph);
    if (!eddy_is_variable(variable) || variable.graph != g || !name)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a slot needs a name and a variable",
                         o->name);
    eddy_tensor slot = eddy_slot_find(o, variable.node, name);
    if (eddy_is_valid(slot)) return slot;
    enter_variable(g, variable);
    slot = make(g, o->name, initial_value);
    eddy_scope_end(g);
    return keep(o, variable.node, name, slot);
}

eddy_tensor eddy_make_shared_slot(eddy_optimizer *o, const char *name, eddy_tensor initial_value)
{
    eddy_graph *g = eddy_optimizer_ready(o);
    if (!g) return eddy_none(initial_value.graph);
    if (!name) return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a slot needs a name", o->name);
    eddy_tensor slot = eddy_shared_slot(o, name);
    return eddy_is_valid(slot) ? slot : keep(o, 0, name, make(g, name, initial_value));
}

eddy_tensor eddy_zero_slot(eddy_optimizer *o, eddy_tensor variable, const char *name)
{
    eddy_graph *g = eddy_optimizer_ready(o);
    if (!g) return eddy_none(variable.graph);
    eddy_tensor slot = eddy_slot_find(o, variable.node, name);
    if (eddy_is_valid(slot)) return slot;

    char made[EDDY_MAX_NAME], scope[EDDY_MAX_NAME + 16];
    enter_variable(g, variable);
    eddy_unique_name(g, o->name, false, made, sizeof made);
    eddy_scope_end(g);
    snprintf(scope, sizeof scope, "%s/Initializer/", made);

    const eddy_shape shape = eddy_shape_of(variable);
    eddy_control_clear(g);
    eddy_scope_begin(g, scope);
    eddy_tensor zeros = eddy_shape_is_known(shape)
                            ? eddy_zeros(g, eddy_dtype_of(variable), shape)
                            : eddy_zeros_like(eddy_initialized_value(variable));
    eddy_scope_end(g);
    eddy_control_end(g);
    return eddy_make_slot(o, variable, name, zeros);
}
