/* wide.h -- small instructions that do not depend on each other as one, which runs them
 * side by side: wide.c finds them, strands.c makes one of them and runs it. */
#ifndef EDDY_WIDE_H
#define EDDY_WIDE_H

#include "session/internal.h"

/* Parts that run one after the other, in memory of their own. */
typedef struct strand {
    int32_t    *parts;              /* n numbers, ascending */
    int32_t     n;
    size_t      at;                 /* of its memory, in the scratch */
    eddy_status status;
    eddy_error  error;
} strand;

/* A piece of memory that lies in that of a strand. */
typedef struct strand_root {
    int32_t root;                   /* -1: scratch of a part */
    int32_t part;                   /* the first part that uses it */
    size_t  offset;                 /* in the scratch */
} strand_root;

/* The state of such an instruction. */
typedef struct wide {
    int32_t      n_parts, n_strands, n_roots, n_states;
    instruction *parts;             /* in the order in which they would run alone */
    int32_t     *strand_of;         /* by part */
    strand      *strands;
    strand_root *roots;
    eddy_state **states;            /* of variables that must have a value when it begins */
} wide;

/* Instructions first to end of the plan, and which of them belong together: by instruction
 * the number of one that stands for all of these. */
typedef struct stretch {
    int32_t        first, end;
    const int32_t *group;
    const double  *cost;            /* by instruction: nanoseconds, roughly */
    size_t         most_bytes;      /* of the memory of its strands */
    int32_t       *by_root;         /* zeros, and zeros again afterwards */
} stretch;

/* Nothing outside the stretch reads or writes it. */
static inline bool eddy_is_within(const stretch *s, const plan_root *r)
{
    return r->kind == VALUE_TEMP && r->first >= s->first && r->last < s->end;
}

/* Operand j is the storage of a variable that the instruction changes, whatever it yields. */
static inline bool eddy_changes_operand(const instruction *i, int j)
{
    return j == 0 && i->run == i->kernel.op->kernel && (i->kernel.op->flags & EDDY_OP_UPDATES);
}

/* As the kernel of such an instruction. */
eddy_status eddy_wide_kernel(eddy_kernel *k);
/* Makes *to of the stretch, if the strands do not need too much memory. */
bool eddy_make_wide(compile *c, const stretch *s, instruction *to, bool *made);
/* Where the strands' memory is known, so is that of what lies in it. */
void eddy_settle_wide(eddy_plan *p, instruction *i);
static inline const wide *eddy_wide_of(const instruction *i)
{
    return i->run == eddy_wide_kernel ? i->kernel.state : NULL;
}

#endif
