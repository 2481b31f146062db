/* fused_checks.h -- the check of fused loops for infinities and NaN.
 *
 * Not every value is tested: if an operation gives an infinity or NaN whenever a certain operand is
 * one, the operand shows in the result. So only those parts are tested whose results no later part
 * of the loop shows (1 / x hides an infinity). An infinity is refused if nothing that the
 * loop reads is infinite. */
#ifndef EDDY_SESSION_COMPILE_FUSED_CHECKS_H
#define EDDY_SESSION_COMPILE_FUSED_CHECKS_H

#include "session/compile/fused_loop.h"
#include "session/compile/numerics.h"

/* An operand that the loop overwrites. If it is a variable, `finite` is its version that a run left
 * with finite elements; else 0. */
typedef struct overwritten {
    const eddy_buffer *at;
    bool               fed;         /* no instruction has checked it */
    uint64_t           finite;
} overwritten;

typedef struct loop_checks {
    numerics    *of;
    overwritten *over;              /* feeds and variables first, then results of this run */
    int          n_over, n_outside; /* n_outside: how many are feeds and variables */
} loop_checks;

/* Of a loop that is complete; sets f->checks and which of its parts are tested. */
bool eddy__fused_checks_make(compile *c, fused *f);
/* True if an operand that is overwritten may be infinite; tests it if that is not known. */
bool eddy__fused_checks_begin(const fused *f);
/* The loop has succeeded. */
void eddy__fused_checks_end(const fused *f);
/* True if an operand in memory, not overwritten, has an infinity among the elements [from, to). */
bool eddy__fused_reads_infinity(const fused *f, int64_t from, int64_t to);

#endif
