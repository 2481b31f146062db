/* rule_formulas.h -- the step counter, formulas and filters of variables that several optimizers
 * share; not installed. */
#ifndef EDDY_OPTIM_RULES_RULE_FORMULAS_H
#define EDDY_OPTIM_RULES_RULE_FORMULAS_H

#include "optim/option_table.h"
#include "optim/rules/tf_train.h"
#include "optim/rules/adaptive.h"
#include "optim/rules/parameter_free.h"
#include "ops/short_names.h"

/* The number of this step in float64, from 1; and 1 - beta^t.  For `prepare`. */
eddy_tensor eddy__step_number(const eddy_optimizer *o);
eddy_tensor eddy__one_less_power(eddy_tensor beta, eddy_tensor t);
static inline eddy_tensor eddy__exact(eddy_tensor t) { return eddy_cast(t, EDDY_FLOAT64); }
/* create_slots: creates `slots` and the count of steps; finish: increments the count. */
void        eddy__counted_slots(eddy_optimizer *o, eddy_tensor variable);
eddy_tensor eddy__count_step(eddy_optimizer *o, eddy_list updates);

/* 1 - beta in v's type, with all its digits: the float32 next to 0.999 is 0.99900001, whose
 * difference from 1 is wrong in the fifth digit. */
eddy_tensor eddy__share(eddy_tensor beta, eddy_tensor v);
/* m + (x - m)(1 - beta): a moving average. */
eddy_tensor eddy__moving(eddy_tensor m, eddy_tensor x, eddy_tensor beta);
/* `ratio`, or 1 where a or b, which are norms, is 0. */
eddy_tensor eddy__trust(eddy_tensor a, eddy_tensor b, eddy_tensor ratio);
bool        eddy__picks(const eddy_variable_filter *f, eddy_tensor variable);

#endif
