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

/* Feeds and fetches whose types have been checked, and how the plan is used. */
typedef struct plan_request {
    eddy_feeds     feeds;
    eddy_list      fetches;
    eddy_list      sizes;       /* tensors whose elements decide shapes; some of them are fed */
    eddy_callable *callable;    /* remembers the plan; NULL: none */
    const eddy_stop *stop;      /* of the run */
    bool           stage;       /* the plan is for a stage of a run, so no callable keeps it */
} plan_request;

/* The plan for a run, reserved for it until it is returned; NULL with the error set. Then *missing
 * is a tensor without whose elements a shape is unknown, if that is the reason. */
eddy_plan *eddy__take_plan(eddy_session *s, const plan_request *r, eddy_tensor *missing,
                           eddy_error *e);
/* The callable's last plan if it can run again; NULL requires a complete run. The feeds have
 * not been checked. */
eddy_plan *eddy__take_again(eddy_callable *c, const eddy_array *const *feeds, const eddy_stop *stop);
void       eddy__give_plan(eddy_plan *p);
/* A plan without optimizations, updates and other effects, outside of the cache: the caller frees
 * it. */
eddy_plan *eddy__plain_plan(eddy_session *s, const plan_request *r, eddy_error *e);

#endif
