/* parallel_groups.h -- small independent instructions combined into one that runs them in
 * parallel: parallel_groups.c finds them, parallel_chains.c combines and runs them. */
#ifndef EDDY_SESSION_COMPILE_PARALLEL_GROUPS_H
#define EDDY_SESSION_COMPILE_PARALLEL_GROUPS_H

#include "session/state/internal.h"

/* Parts that run one after the other, in memory of their own. */
typedef struct chain {
    int32_t    *parts;              /* n numbers, ascending */
    int32_t     n;
    uint64_t    at;                 /* offset of its memory in the scratch memory */
    eddy_status status;
    eddy_error  error;
} chain;

/* A root in the memory of a chain. */
typedef struct chain_root {
    int32_t  root;                  /* -1: scratch of a part */
    int32_t  part;                  /* the first part that uses it */
    uint64_t offset;                /* in the scratch */
} chain_root;

/* The state of a parallel instruction. */
typedef struct parallel_chains {
    eddy_plan   *plan;
    int32_t      n_parts, n_chains, n_roots, n_states;
    instruction *parts;             /* in the order of sequential execution */
    int32_t     *chain_of;          /* by part */
    chain       *chains;
    chain_root  *roots;
    eddy_state **states;       /* of variables that must have a value when the instruction begins */
} parallel_chains;

/* The instructions first..end of the plan, and by instruction the number of the one that
 * represents its group. */
typedef struct instruction_range {
    int32_t        first, end;
    const int32_t *group;
    const double  *cost;            /* by instruction: estimated nanoseconds */
    size_t         most_bytes;      /* maximum memory of all chains */
    int32_t       *by_root;         /* zeros, and zeros again afterwards */
} instruction_range;

/* True if no instruction outside the range reads or writes the root. */
static inline bool eddy__is_within(const instruction_range *s, const plan_root *r)
{
    return r->kind == VALUE_TEMP && r->first >= s->first && r->last < s->end;
}

/* Operand j is the storage of a variable that the instruction changes, whatever it yields. */
static inline bool eddy__changes_operand(const instruction *i, int j)
{
    return j == 0 && i->run == i->kernel.op->kernel && (i->kernel.op->flags & EDDY_OP_UPDATES);
}

/* The kernel of a parallel instruction. */
eddy_status eddy__parallel_group_kernel(eddy_kernel *k);
/* Makes *to of the range, if the chains do not need too much memory. */
bool eddy__make_parallel_group(compile *c, const instruction_range *s, instruction *to, bool *made);
/* Sets the addresses of roots in the chains' memory, when the scratch memory is known. */
void eddy__parallel_groups_bind(eddy_plan *p, instruction *i);
static inline const parallel_chains *eddy__parallel_chains_of(const instruction *i)
{
    return i->run == eddy__parallel_group_kernel ? i->kernel.state : NULL;
}

#endif
