/* numerics.h -- the check of values for infinities and NaN, an option of a session. */
#ifndef EDDY_SESSION_COMPILE_NUMERICS_H
#define EDDY_SESSION_COMPILE_NUMERICS_H

#include "ops/kernels/reduction/finiteness.h"
#include "session/state/internal.h"

/* The data that the plans of a run share. */
typedef struct numerics {
    int         mode;           /* EDDY_NUMERICS_MADE, ... */
    atomic_bool found;          /* by the last run */
    atomic_bool infinite;       /* the last run has computed infinities that are allowed */
    uint64_t    changes;        /* of variables when the last run ended: eddy_session.changes */
} numerics;

/* How an instruction is checked. */
typedef struct numerics_check {
    numerics           *of;
    bool                only_before;    /* its results are checked elsewhere */
    bool                overwrites;     /* ... operands that are fed, or a variable */
    int                 n_before;       /* operands that are checked before it runs */
    eddy_buffer *const *before;
    const eddy_finite_test *how;        /* the test of each output; no function: none */
} numerics_check;

/* Before a plan is compiled, and when its instructions are final. */
bool eddy__numerics_begin(compile *c);
bool eddy__numerics_attach(compile *c);
/* The plan changes no variable and has no other effect when it runs. NULL is allowed. */
void eddy__numerics_without_effects(eddy_plan *p);
/* True if the plan, which no pass has changed, exchanges data with other sessions or processes. */
bool eddy__numerics_exchanges(const eddy_plan *p);
/* True if the last run may have changed a variable. */
bool eddy__numerics_has_updated(const eddy_plan *p);

/* The result of one operation in memory: fails the kernel if it is refused. worst: of the operands
 * that the result overwrote. to: where infinities that are allowed are noted, or NULL. */
eddy_status eddy__numerics_check(eddy_kernel *k, int mode, eddy_finiteness worst,
                                 numerics *to);
/* Fails the kernel because of an element of an output; with_inputs: its operands are still in
 * memory. */
eddy_status eddy__numerics_fail(eddy_kernel *k, int output, int64_t element,
                                eddy_finiteness what, bool with_inputs);

/* `found` is refused as the result of operands of which the worst is `worst`. */
static inline bool eddy__numerics_refuses(int mode, eddy_finiteness found, eddy_finiteness worst)
{
    if (found == EDDY_FINITE) return false;
    if (found == EDDY_IS_NAN || mode == EDDY_NUMERICS_ALL) return true;
    return mode == EDDY_NUMERICS_MADE && worst == EDDY_FINITE;
}

#endif
