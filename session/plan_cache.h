/* plan_cache.h -- the plan cache of a session. */
#ifndef EDDY_PLAN_CACHE_H
#define EDDY_PLAN_CACHE_H

#include "session/state/internal.h"

struct eddy_callable {
    struct eddy_callable *next;
    eddy_session *session;
    int           n_feeds, n_fetches;
    eddy_feed    *feeds;
    eddy_tensor  *fetches;
    eddy_plan    *plan;     /* of its last run; NULL if that run had stages or the plan was freed */
    eddy_plan_info info;         /* of the plan that the last complete run used */
};

/* The plan for a run whose arguments have been checked, reserved for this run until it is
 * returned; NULL with the error set. The callable, if there is one, remembers the plan, except
 * the plan of a stage, which has other feeds. */
eddy_plan *eddy__take_plan(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_callable *c,
                           bool stage, eddy_error *e);
/* The callable's last plan if it will do again; NULL leaves it to a full run.  The feeds are
 * not checked yet. */
eddy_plan *eddy__take_again(eddy_callable *c, const eddy_array *const *feeds);
void       eddy__give_plan(eddy_plan *p);

#endif
