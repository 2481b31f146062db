/* modern_internal.h -- what the optimizers of modern.h share; not installed. */
#ifndef EDDY_OPTIM_MODERN_INTERNAL_H
#define EDDY_OPTIM_MODERN_INTERNAL_H

#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>

/* Hyper-parameters as eddy_hyper_settle takes them; a fallback is a float64. */
typedef struct eddy_hyper_row {
    const char  *what;
    eddy_tensor *t;
    double       fallback;           /* NaN: required; infinite: none, and t stays as it is */
} eddy_hyper_row;
bool eddy_hypers_settle(eddy_graph *g, const eddy_hyper_row *rows, size_t n);

/* The number of this step in float64, from 1; and 1 - beta^t.  For `prepare`. */
eddy_tensor eddy_step_number(const eddy_optimizer *o);
eddy_tensor eddy_one_less_power(eddy_tensor beta, eddy_tensor t);
static inline eddy_tensor eddy_exact(eddy_tensor t) { return eddy_cast(t, EDDY_FLOAT64); }
/* For create_slots: those of `slots`, and the count of the steps; for finish: one more. */
void        eddy_counted_slots(eddy_optimizer *o, eddy_tensor variable);
eddy_tensor eddy_count_step(eddy_optimizer *o, eddy_list updates);

/* 1 - beta in v's type, with all the digits that this has room for; the float32 next to 0.999
 * is 0.99900001, whose difference from 1 is wrong in the fifth digit. */
eddy_tensor eddy_share(eddy_tensor beta, eddy_tensor v);
/* m + (x - m)(1 - beta): a moving average. */
eddy_tensor eddy_moving(eddy_tensor m, eddy_tensor x, eddy_tensor beta);
/* `ratio`, or 1 where a or b, which are norms, is 0. */
eddy_tensor eddy_trust(eddy_tensor a, eddy_tensor b, eddy_tensor ratio);
bool        eddy_picks(const eddy_variable_filter *f, eddy_tensor variable);
/* The definition of a rule with a `step` whose sparse gradients are made dense. */
eddy_optimizer_def eddy_made_dense(eddy_optimizer_def def);

#endif
