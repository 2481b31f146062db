/* background.c -- collectives that a thread of their own runs while the session computes.
 *
 * Jobs run one after the other, in the order in which they were begun, which is that of the
 * graph. A collective that a kernel runs itself waits for them first, so ranks meet in the same
 * order. */
#include "distributed/internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct eddy_job {
    eddy_job          *next;
    int64_t            number;
    eddy_communicator *c;
    eddy_call_header   header;
    int64_t            count;
    void              *data;
    bool               done, cancelled;
    eddy_error         error;
};

typedef struct eddy_background {
    pthread_t       thread;
    pthread_mutex_t lock;            /* protects the rest */
    pthread_cond_t  changed;
    eddy_job       *first;           /* by number; those that are done wait for their end */
    int64_t         last_number;
    bool            ends;
} eddy_background;

/* -------------------------------------------------------------------- thread -- */

static eddy_status job_stopped(const void *run)
{
    const eddy_job  *j = run;
    eddy_background *b = j->c->world->background;
    pthread_mutex_lock(&b->lock);
    const bool cancelled = j->cancelled;
    pthread_mutex_unlock(&b->lock);
    return cancelled ? EDDY_CANCELLED : EDDY_OK;
}

static void run_job(eddy_job *j)
{
    eddy_call call = { .stopped = job_stopped, .run = j, .in_background = true };
    if (eddy__collective_begin(&call, j->c, &j->header))
        eddy__all_reduce(&call, j->data, j->data, j->count);
    eddy__collective_end(&call);
    j->error = call.error;
}

static eddy_job *first_to_do(const eddy_background *b)
{
    eddy_job *j = b->first;
    while (j && j->done) j = j->next;
    return j;
}

static void *work(void *at)
{
    eddy_background *b = at;
    pthread_mutex_lock(&b->lock);
    while (!b->ends) {
        eddy_job *j = first_to_do(b);
        if (!j) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        run_job(j);
        pthread_mutex_lock(&b->lock);
        j->done = true;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* The thread blocks all signals, which are meant for the program's own threads. */
static bool start_thread(eddy_background *b)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool started = pthread_create(&b->thread, NULL, work, b) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* One thread of a rank at a time begins jobs of a new world. */
static eddy_background *background_of(eddy_world *w, eddy_error *error)
{
    pthread_mutex_lock(&w->error_lock);
    eddy_background *b = w->background ? w->background : calloc(1, sizeof *b);
    if (b && b != w->background) {
        pthread_condattr_t attr;
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_mutex_init(&b->lock, NULL);
        pthread_cond_init(&b->changed, &attr);
        pthread_condattr_destroy(&attr);
        if (start_thread(b)) w->background = b;
        else {
            pthread_mutex_destroy(&b->lock);
            pthread_cond_destroy(&b->changed);
            free(b);
            b = NULL;
        }
    }
    pthread_mutex_unlock(&w->error_lock);
    if (!b)
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "a thread for messages cannot be started");
    return b;
}

static eddy_background *existing(eddy_world *w)
{
    pthread_mutex_lock(&w->error_lock);
    eddy_background *b = w->background;
    pthread_mutex_unlock(&w->error_lock);
    return b;
}

/* ---------------------------------------------------------------------- jobs -- */

static void job_free(eddy_job *j)
{
    free(j->data);
    free(j);
}

/* Frees results that nobody has taken, of runs that failed. */
static void drop_left_over(eddy_background *b, const eddy_call_header *h)
{
    for (eddy_job **at = &b->first; *at;) {
        eddy_job *j = *at;
        if (j->done && strcmp(j->header.name, h->name) == 0) {
            *at = j->next;
            job_free(j);
        } else at = &j->next;
    }
}

int64_t eddy__job_begin(eddy_communicator *c, const eddy_call_header *h, int64_t count,
                        uint64_t bytes, void (*fill)(void *context, void *data), void *context,
                        eddy_error *error)
{
    eddy_background *b = background_of(c->world, error);
    eddy_job        *j = b ? malloc(sizeof *j) : NULL;
    void            *data = j && bytes < PTRDIFF_MAX ? malloc((size_t)bytes + 1) : NULL;
    if (!data) {
        free(j);
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "out of memory for messages");
        return 0;
    }
    fill(context, data);
    pthread_mutex_lock(&b->lock);
    if (c->closed) {
        pthread_mutex_unlock(&b->lock);
        free(data);
        free(j);
        eddy__distributed_fail(error, EDDY_CLOSED, "its communicator has been freed");
        return 0;
    }
    drop_left_over(b, h);
    const int64_t number = ++b->last_number;
    *j = (eddy_job){ .number = number, .c = c, .header = *h, .count = count, .data = data };
    eddy_job **at = &b->first;
    while (*at) at = &(*at)->next;
    *at = j;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return number;
}

/* Waits a moment for a change; the lock is held. */
static void pause_for_change(eddy_background *b)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 10000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&b->changed, &b->lock, &until);
}

/* Waits for the job, or for all if it is NULL; false with the status if the run must end. */
static bool wait_for(eddy_background *b, const eddy_job *job,
                     eddy_status (*stopped)(const void *run), const void *run, eddy_status *status)
{
    *status = EDDY_OK;
    while (job ? !job->done : first_to_do(b) != NULL) {
        pause_for_change(b);
        if (!stopped || *status != EDDY_OK) continue;
        pthread_mutex_unlock(&b->lock);
        *status = stopped(run);
        pthread_mutex_lock(&b->lock);
        if (*status != EDDY_OK) break;
    }
    return *status == EDDY_OK;
}

static void fail_stopped(eddy_world *w, eddy_status status, eddy_error *error)
{
    eddy__distributed_fail(error, status, "rank %d: the run %s", w->rank,
                           status == EDDY_TIMED_OUT ? "took longer than its timeout"
                                                    : "was cancelled");
    eddy__world_fail(w, status, error->message);
}

bool eddy__job_end(eddy_communicator *c, int64_t number, eddy_status (*stopped)(const void *run),
                   const void *run, void (*take)(void *context, const void *data), void *context,
                   eddy_error *error)
{
    eddy_background *b = existing(c->world);
    eddy_status      status = EDDY_OK;
    const double     begun = eddy__seconds();
    if (!b) return eddy__distributed_fail(error, EDDY_CLOSED, "its collective has not begun");
    pthread_mutex_lock(&b->lock);
    eddy_job **at = &b->first;
    while (*at && (*at)->number != number) at = &(*at)->next;
    eddy_job *j = *at;
    if (j && wait_for(b, j, stopped, run, &status)) {
        for (at = &b->first; *at != j;) at = &(*at)->next;
        *at = j->next;
    }
    pthread_mutex_unlock(&b->lock);
    eddy__world_add_times(c->world, 0, eddy__seconds() - begun);
    if (!j) return eddy__distributed_fail(error, EDDY_CLOSED, "its collective has not begun");
    if (status != EDDY_OK) fail_stopped(c->world, status, error);
    else if (j->error.status != EDDY_OK)
        eddy__distributed_fail(error, j->error.status, "%s", j->error.message);
    else take(context, j->data);
    if (status == EDDY_OK) job_free(j);
    return error->status == EDDY_OK;
}

bool eddy__jobs_wait(eddy_call *call)
{
    eddy_world      *w = call->c->world;
    eddy_background *b = existing(w);
    eddy_status      status = EDDY_OK;
    if (!b) return true;
    pthread_mutex_lock(&b->lock);
    const bool ok = wait_for(b, NULL, call->stopped, call->run, &status);
    pthread_mutex_unlock(&b->lock);
    if (!ok) fail_stopped(w, status, &call->error);
    return ok;
}

/* ----------------------------------------------------------------------- end -- */

/* A job that begins at the same time is either in the list, or sees `closed`: so none is left that
 * uses c when this returns. */
void eddy__jobs_cancel(eddy_communicator *c)
{
    c->closed = true;
    eddy_background *b = existing(c->world);
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    for (eddy_job *j = b->first; j; j = j->next) j->cancelled = j->cancelled || j->c == c;
    for (bool any = true; any;) {
        any = false;
        for (eddy_job *j = b->first; j; j = j->next) any = any || (j->c == c && !j->done);
        if (any) pause_for_change(b);
    }
    pthread_mutex_unlock(&b->lock);
}

void eddy__background_free(eddy_world *w)
{
    eddy_background *b = w->background;
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    b->ends = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    for (eddy_job *j = b->first, *next; j; j = next) {
        next = j->next;
        job_free(j);
    }
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    free(b);
}
