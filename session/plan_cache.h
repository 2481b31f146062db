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
    eddy_plan    *plan;          /* of its last run; NULL if that had stages, or it was dropped */
    eddy_plan_info info;         /* of the last plan that a full run took */
};

/* The plan for this run, whose arguments are checked, for the run alone until it is given
 * back; NULL with the error set.  The callable, if there is one, then remembers it; except
 * that of a stage, which has other feeds. */
eddy_plan *eddy__take_plan(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_callable *c,
                           bool stage, eddy_error *e);
/* The callable's last plan if it will do again; NULL leaves it to a full run.  The feeds are
 * not checked yet. */
eddy_plan *eddy__take_again(eddy_callable *c, const eddy_array *const *feeds);
void       eddy__give_plan(eddy_plan *p);

#endif
