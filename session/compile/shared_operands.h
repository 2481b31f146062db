/* shared_operands.h -- operands that several products of a run read, packed by the first one.
 *
 * The same weights are an operand of many products in a network that is written out over time, and
 * of one product in each iteration of a loop. A product of 32 rows takes a third longer if it
 * packs the operand itself. The packed form is in the arena from the first of the products to the
 * last one; in a body, it stays as long as the loop runs if the operand is the same in all
 * iterations. The conditions are those of packed operands (eddy__packs_operands). */
#ifndef EDDY_SESSION_COMPILE_SHARED_OPERANDS_H
#define EDDY_SESSION_COMPILE_SHARED_OPERANDS_H

#include "session/state/internal.h"

typedef struct shared_operand {
    eddy_shared_packing    form;
    struct shared_operand *next;
    const eddy_buffer     *operand;
    int32_t  memory;                    /* the root of the form */
    uint64_t bytes;
    int64_t  layout[sizeof((eddy_packing *)0)->layout / sizeof(int64_t)];
    int32_t  first, last;               /* instructions that read it */
    bool     lasts;                     /* as long as the loop runs */
} shared_operand;

/* The form of an operand of the instruction that is being prepared, if enough of the plan's later
 * instructions read the operand, too, before its memory is written; else NULL. */
eddy_shared_packing *eddy__share_operand(compile *c, const eddy_buffer *b, const eddy_packing *p);
/* The number of forms; gives each a root, for which there is room; sets their addresses. */
int32_t eddy__shared_operands(const eddy_plan *p);
void    eddy__shared_add_roots(eddy_plan *p);
void    eddy__shared_bind(eddy_plan *p);
/* A run of the plan begins, or, without `all`, the next iteration: nothing is packed yet. */
static inline void eddy__shared_begin(eddy_plan *p, bool all)
{
    for (shared_operand *s = p->shared; s; s = s->next)
        if (all || !s->lasts) s->form.ready = false;
}

#endif
