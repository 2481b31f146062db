/* lower.h -- declarations shared by the files that lower the user's graph to a IR: liveness.c,
 * variable_order.c, lower.c. */
#ifndef EDDY_SESSION_COMPILE_LOWER_H
#define EDDY_SESSION_COMPILE_LOWER_H

#include "session/compile/ir.h"

static inline bool type_only(const eddy_op_def *op, int i)
{
    return eddy__input_is_in(op->shape_inputs, i);
}
static inline bool by_reference(const eddy_op_def *op, int i)
{
    return i == 0 && (op->flags & EDDY_OP_REFERENCE);
}
static inline bool is_folded(const compile *c, int32_t id) { return c->info[id].folded != NULL; }
static inline bool is_executed(const compile *c, int32_t id)
{
    return c->info[id].live && !is_folded(c, id);
}

/* Marks the nodes that fetches and side effects need, checks that they have known shapes, and
 * finds their variables and the first update of each (c->variable_of, c->first_update). */
void eddy__mark_live(compile *c);
bool eddy__check_live(compile *c);
bool eddy__number_variables(compile *c);
/* Fills c->plain_read and c->reads_now: a control edge, or an explicit read, shows a
 * reader the updates it waits for; all others see the value from before the run. */
bool eddy__order_reads(compile *c);

#endif
