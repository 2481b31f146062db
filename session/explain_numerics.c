/* explain_numerics.c -- names the node that made an infinity or NaN. */
#include "session/explain_numerics.h"
#include "session/compile/numerics.h"

/* The draws of the failed run, by source; the other sources do not count this run. */
static bool take_draws(eddy_session *s, const eddy_plan *failed, const eddy_stop *stop,
                       uint64_t **taken, int32_t *n, eddy_error *e)
{
    if (!eddy__lock_session(s, stop, e)) return false;
    const bool ok = eddy__draws_room(s, taken, n, e);
    for (int32_t i = 0; ok && i < *n; i++) (*taken)[i] = 0;
    pthread_mutex_lock(&s->draws.lock);
    for (const plan_draw *d = failed->draws; ok && d; d = d->next)
        (*taken)[s->draws.nodes[d->source].source] = d->count;
    pthread_mutex_unlock(&s->draws.lock);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

void eddy__explain_numerics(const plan_request *request, eddy_plan *failed,
                            const eddy_array *const *values, eddy_error *error)
{
    if (!failed->numerics || !atomic_load(&failed->numerics->found) ||
        eddy__numerics_has_updated(failed))
        return;
    eddy_session *s = failed->session;
    eddy_error    e = { 0 };
    uint64_t     *taken = NULL;
    int32_t       n = 0;
    eddy_plan    *p = eddy__plain_plan(s, request, &e);
    const bool once = eddy__numerics_exchanges(p);
    if (p && !once && take_draws(s, failed, request->stop, &taken, &n, &e)) {
        run_snapshot now = { .taken = taken, .changes = failed->numerics->changes, .begun = true };
        eddy__plan_run(p, values, NULL, &now, *request->stop, &e);
        if (atomic_load(&p->numerics->found)) *error = e;
    } else if (e.status == EDDY_CHECK_FAILED) *error = e;     /* in a constant */
    eddy__plan_free(p);
    eddy__release(&s->allocator, taken, (size_t)n * sizeof *taken);
}
