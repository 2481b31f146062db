/* schedules_internal.h -- declarations shared by the files of schedules; not installed. */
#ifndef EDDY_OPTIM_SCHEDULES_SCHEDULES_INTERNAL_H
#define EDDY_OPTIM_SCHEDULES_SCHEDULES_INTERNAL_H

#include "graph/call_options.h"
#include "optim/internal.h"
#include "optim/schedules/schedules.h"
#include "ops/short_names.h"

/* A schedule that is being built, inside a scope of its name. */
typedef struct eddy__schedule {
    eddy_graph *g;
    const char *what;             /* "exponential_decay", for messages */
    const char *rate_name;        /* in these; NULL: "learning_rate" */
    const char *step_name;        /* NULL: "global_step" */
    eddy_tensor rate, step;       /* both of the rate's type */
} eddy__schedule;

/* Checks the two operands that every schedule has and enters its scope: `name`, or `otherwise`
 * if that is NULL or empty. Fills s. False with the error set, and no scope. */
bool eddy__schedule_begin(eddy__schedule *s, eddy_tensor rate, eddy_tensor step, const char *name,
                          const char *otherwise);
/* An operand as a scalar of the rate's type; if it is missing, `fallback`, or an error if
 * that is NaN. */
eddy_tensor eddy__schedule_operand(const eddy__schedule *s, const char *which, eddy_tensor t,
                                   double fallback);
/* The same for a member with a default of `args`, a struct of this type. */
#define OPTION(s, type, args, member) \
    eddy__schedule_operand(s, #member, (args).member, EDDY_DEFAULT_OF(type, member))
/* Leaves the scope; t gets its name. */
eddy_tensor eddy__schedule_end(const eddy__schedule *s, eddy_tensor t);
/* (1 + cos(pi x)) / 2. */
eddy_tensor eddy__half_cosine(eddy_tensor x);

#endif
