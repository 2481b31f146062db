/* session_info.c -- information about a session: its last error, its last plan, and the sessions
 * that run in the calling thread. */
#include "session/state/internal.h"
#include "graph/base/interruptible.h"

/* ------------------------------------------------------------- the report -- */

/* Its lock is held for a copy only, so that a message can be read where no other
 * lock of the session could be waited for: in the callback of a print. */
void eddy__session_note(eddy_session *s, const eddy_error *e)
{
    eddy_error named = *e;
    if (named.status != EDDY_OK) eddy__lines_add(s->graph, &named);
    pthread_mutex_lock(&s->report_lock);
    s->error = named;
    pthread_mutex_unlock(&s->report_lock);
}

void eddy__session_note_plan(eddy_session *s, const eddy_plan_info *info)
{
    pthread_mutex_lock(&s->report_lock);
    s->last_info = *info;
    pthread_mutex_unlock(&s->report_lock);
}

/* Readers do not see the lock. */
static pthread_mutex_t *report_lock(const eddy_session *s)
{
    return (pthread_mutex_t *)(uintptr_t)&s->report_lock;
}

eddy_status eddy_session_status(const eddy_session *s)
{
    if (!eddy__live(s, EDDY_LIVE_SESSION)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(report_lock(s));
    const eddy_status status = s->error.status;
    pthread_mutex_unlock(report_lock(s));
    return status;
}

const char *eddy_session_message(const eddy_session *s)
{
    static _Thread_local eddy_error last;
    if (!eddy__live(s, EDDY_LIVE_SESSION)) return "the session is NULL or has been freed";
    pthread_mutex_lock(report_lock(s));
    last = s->error;
    pthread_mutex_unlock(report_lock(s));
    return last.message;
}

eddy_plan_info eddy_session_plan_info(const eddy_session *s)
{
    eddy_plan_info info = { 0 };
    if (!eddy__live(s, EDDY_LIVE_SESSION)) return info;
    pthread_mutex_lock(report_lock(s));
    info = s->last_info;
    pthread_mutex_unlock(report_lock(s));
    return info;
}

/* ------------------------------------------------------------------ stopping -- */

eddy_stop eddy__stop_begin(eddy_session *s)
{
    const int64_t timeout = atomic_load_explicit(&s->timeout, memory_order_relaxed);
    eddy__late_blocks_free(&s->stop_requests);
    return (eddy_stop){ .requests = &s->stop_requests,
                        .begun = atomic_load(&s->stop_requests),
                        .deadline = timeout > 0 ? eddy__monotonic_nanoseconds() + timeout : 0,
                        .timeout = timeout };
}

bool eddy__must_stop(const eddy_session *s, const eddy_stop *stop, const char *where,
                     eddy_error *error)
{
    if (!eddy__stopped(stop)) return false;
    if (atomic_load(&s->closed))
        return !eddy__error_set(error, EDDY_CANCELLED, "the session was closed during the run%s",
                                where);
    if (eddy__stop_requested(stop))
        return !eddy__error_set(error, EDDY_CANCELLED, "the run was cancelled%s", where);
    return !eddy__error_set(error, EDDY_TIMED_OUT, "the run took longer than its timeout of %g s%s",
                            (double)stop->timeout * 1e-9, where);
}

/* False if the run must end instead of waiting. */
static bool may_wait(const eddy_session *s, const eddy_stop *stop, eddy_error *error)
{
    const struct timespec pause = { .tv_nsec = 100000 };
    if (eddy__must_stop(s, stop, " while it waited for another one", error)) return false;
    nanosleep(&pause, NULL);
    return true;
}

bool eddy__lock_session(eddy_session *s, const eddy_stop *stop, eddy_error *error)
{
    while (stop->deadline > 0) {
        if (pthread_mutex_trylock(&s->lock) == 0) return true;
        if (!may_wait(s, stop, error)) return false;
    }
    return pthread_mutex_lock(&s->lock) == 0;
}

bool eddy__lock_state(eddy_session *s, bool write, const eddy_stop *stop, eddy_error *error)
{
    pthread_rwlock_t *lock = &s->state_lock;
    while (stop->deadline > 0) {
        if ((write ? pthread_rwlock_trywrlock(lock) : pthread_rwlock_tryrdlock(lock)) == 0)
            return true;
        if (!may_wait(s, stop, error)) return false;
    }
    return (write ? pthread_rwlock_wrlock(lock) : pthread_rwlock_rdlock(lock)) == 0;
}

/* ------------------------------------------------- running in this thread -- */

static _Thread_local const eddy_running *innermost;

void eddy__running_begin(eddy_running *r, const eddy_session *s)
{
    *r = (eddy_running){ s, innermost };
    innermost = r;
}

void eddy__running_end(const eddy_running *r) { innermost = r->outer; }

bool eddy__session_enter(eddy_session *s)
{
    if (!eddy__live(s, EDDY_LIVE_SESSION)) return false;
    const eddy_running *r = innermost;
    while (r && r->session != s) r = r->outer;
    if (!r) return true;
    eddy_error e = { 0 };
    eddy__error_set(&e, EDDY_INVALID_ARGUMENT,
                    "the session is running in this thread; a callback must not use it");
    eddy__session_note(s, &e);
    return false;
}
