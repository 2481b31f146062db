/* schedule.h -- what the files of stage 2 share: schedule.c makes the plan's
 * instructions, order.c finds out which reads of variables see updates. */
#ifndef EDDY_SCHEDULE_H
#define EDDY_SCHEDULE_H

#include "session/internal.h"

typedef struct build {
    compile   *c;
    eddy_plan *plan;
    int32_t   *buffer_of;       /* by value number; -1 */
    int32_t   *value_base;      /* by node id: its first value number */
    int32_t   *reads; /* by value number of a live value: last reader's id; INT32_MAX: fetched */
    int32_t   *variable_of;     /* by node id: index in plan->variables, or -1 */
    int32_t   *first_update, *last_update;   /* by variable index: node ids; 0: none */
    int32_t   *feed_buffer;     /* by feed; -1 */
    uint8_t   *plain_read;      /* by node id: an explicit read that no update precedes */
    uint8_t  **reads_now;       /* by node id: NULL, or by input: is a variable behind an update */
    int32_t    n_values;
} build;

static inline bool type_only(const eddy_node *node, int i)
{
    return eddy_input_is_in(node->op->shape_inputs, i);
}
static inline bool by_reference(const eddy_node *node, int i)
{
    return i == 0 && (node->op->flags & EDDY_OP_REFERENCE);
}
static inline bool is_folded(const compile *c, int32_t id) { return c->info[id].folded != NULL; }
static inline bool is_executed(const compile *c, int32_t id)
{
    return c->info[id].live && !is_folded(c, id);
}

/* Fills plain_read and reads_now: a control edge, or an explicit read, shows a
 * reader the updates it waits for; all others see the value from before the run. */
bool eddy_order_reads(build *b);
static inline bool is_read_now(const build *b, const eddy_node *node, int i)
{
    return b->reads_now[node->id] && b->reads_now[node->id][i];
}

#endif
