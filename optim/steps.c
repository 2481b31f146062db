/* steps.c -- elementwise optimizers: one update rule, applied to all elements of a variable or
 * to the rows that a sparse gradient (IndexedSlices) contains. */
#include "optim/internal.h"
#include "ops/short_names.h"

#include <string.h>

void eddy__step_slots(eddy_optimizer *o, eddy_tensor variable)
{
    for (int i = 0; i < EDDY_STEP_SLOTS && o->def.slots[i]; i++)
        eddy__zero_slot(o, variable, o->def.slots[i]);
}

/* Lists the variable and its slots in the order of `slots`, and creates slots that create_slots
 * omitted. Returns the length of the list. */
static int variables_of(eddy_optimizer *o, eddy_tensor variable, eddy_tensor *x)
{
    int n = 1;
    x[0] = o->variable = variable;
    for (; n <= EDDY_STEP_SLOTS && o->def.slots[n - 1]; n++)
        x[n] = eddy__zero_slot(o, variable, o->def.slots[n - 1]);
    return n;
}

/* Slots precede the variable, so that its update comes last. */
static eddy_tensor group_updates(eddy_graph *g, int n, eddy_tensor *updates)
{
    return n == 1 ? updates[0] : eddy_group(g, (eddy_list){ n, updates }, NULL);
}

eddy_tensor eddy__step_all(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor variable)
{
    eddy_tensor var[EDDY_STEP_SLOTS + 1], x[EDDY_STEP_SLOTS + 1], updates[EDDY_STEP_SLOTS + 1];
    const int   n = variables_of(o, variable, var);
    int         made = 0;
    memcpy(x, var, (size_t)n * sizeof *x);
    o->def.step(o, gradient, x);
    if (o->constrains) x[0] = eddy__constrained(x[0], variable);
    for (int i = n - 1; i >= 0; i--)
        if (!eddy_same(x[i], var[i])) updates[made++] = eddy_assign(var[i], x[i]);
    return group_updates(o->graph, made, updates);
}

/* A row that is skipped reads an arbitrary row and is written nowhere. */
eddy_tensor eddy__step_rows(eddy_optimizer *o, eddy_tensor rows, eddy_tensor indices,
                            eddy_tensor variable)
{
    eddy_tensor var[EDDY_STEP_SLOTS + 1], old[EDDY_STEP_SLOTS + 1], x[EDDY_STEP_SLOTS + 1];
    eddy_tensor updates[EDDY_STEP_SLOTS + 1], at = Maximum(indices, 0);
    const int   n = variables_of(o, variable, var);
    int         made = 0;
    for (int i = 0; i < n; i++) x[i] = old[i] = Gather(var[i], at);
    o->def.step(o, rows, x);
    for (int i = n - 1; i >= 0; i--)
        if (!eddy_same(x[i], old[i]))
            updates[made++] = eddy_scatter_update(var[i], indices, x[i], .skip_negative = true);
    return group_updates(o->graph, made, updates);
}
