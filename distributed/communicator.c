/* communicator.c -- communicators, their worlds, and a registry of those in use. */
#include "distributed/internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- errors -- */

bool eddy__distributed_fail(eddy_error *e, eddy_status status, const char *format, ...)
{
    if (!e || e->status != EDDY_OK) return false;
    va_list args;
    va_start(args, format);
    e->status = status;
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return false;
}

/* --------------------------------------------------------------- registry -- */

static pthread_mutex_t    registry_lock = PTHREAD_MUTEX_INITIALIZER;
static eddy_communicator *registry;
static int64_t            last_id;

/* A child of fork() finds the registry as it is between two changes. A communicator that another
 * thread uses at that moment stays locked in the child. */
static void before_fork(void) { pthread_mutex_lock(&registry_lock); }
static void after_fork(void) { pthread_mutex_unlock(&registry_lock); }
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void world_free(eddy_world *w)
{
    eddy__background_free(w);
    w->transport->close(w->context);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->error_lock);
    free(w->scratch);
    free(w->packets);
    free(w->messages);
    free(w);
}

eddy_communicator *eddy__communicator_take(int64_t id)
{
    pthread_mutex_lock(&registry_lock);
    eddy_communicator *c = registry;
    while (c && c->id != id) c = c->next;
    if (c) c->references++;
    pthread_mutex_unlock(&registry_lock);
    return c;
}

void eddy__communicator_give(eddy_communicator *c)
{
    pthread_mutex_lock(&registry_lock);
    const bool last = --c->references == 0;
    const bool leaves = last && --c->world->references == 0;
    pthread_mutex_unlock(&registry_lock);
    if (!last) return;
    if (leaves) world_free(c->world);
    free(c->ranks);
    free(c);
}

/* Takes a reference to the world. NULL without memory. */
static eddy_communicator *communicator_new(eddy_world *w, int n, int me)
{
    eddy_communicator *c = calloc(1, sizeof *c);
    int               *ranks = calloc((size_t)n, sizeof *ranks);
    if (!c || !ranks) {
        free(c);
        free(ranks);
        return NULL;
    }
    pthread_mutex_lock(&registry_lock);
    *c = (eddy_communicator){ .next = registry, .id = ++last_id, .references = 1, .world = w,
                              .n = n, .me = me, .ranks = ranks };
    eddy__set_levels(c);
    w->references++;
    registry = c;
    pthread_mutex_unlock(&registry_lock);
    return c;
}

void eddy_communicator_free(eddy_communicator *c)
{
    if (!c) return;
    pthread_mutex_lock(&registry_lock);
    eddy_communicator **at = &registry;
    while (*at && *at != c) at = &(*at)->next;
    const bool found = *at != NULL;
    if (found) *at = c->next;
    pthread_mutex_unlock(&registry_lock);
    if (found) eddy__jobs_cancel(c);
    if (found) eddy__communicator_give(c);
}

/* --------------------------------------------------------------- creation -- */

static bool is_complete(const eddy_transport *t)
{
    return t && t->send && t->receive && t->wait && t->cancel && t->fail && t->close;
}

eddy_communicator *eddy_communicator_new(const eddy_transport *transport, void *context, int rank,
                                         int size, eddy_error *error)
{
    eddy_communicator *c = NULL;
    eddy_world        *w = NULL;
    if (!is_complete(transport))
        eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                               "communicator_new: functions of the transport are missing");
    else if (size < 1 || size > EDDY_MAX_RANKS || rank < 0 || rank >= size)
        eddy__distributed_fail(
            error, EDDY_INVALID_ARGUMENT,
            "communicator_new: rank %d of %d; a size from 1 to %d and a rank below "
            "it expected",
            rank, size, EDDY_MAX_RANKS);
    else if (!(w = calloc(1, sizeof *w)))
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "communicator_new: out of memory");
    if (!w) {
        if (is_complete(transport)) transport->close(context);
        return NULL;
    }
    *w = (eddy_world){ .transport = transport, .context = context, .rank = rank, .size = size,
                       .begun = eddy__seconds() };
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->error_lock, NULL);
    c = communicator_new(w, size, rank);
    if (!c) {
        world_free(w);
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "communicator_new: out of memory");
        return NULL;
    }
    c->group = 1;
    for (int i = 0; i < size; i++) c->ranks[i] = i;
    return c;
}

/* A group is known to its members by its ranks in the world. */
static uint64_t group_of(const int *ranks, int n)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < n; i++) h = (h ^ (uint64_t)(ranks[i] + 1)) * 1099511628211u;
    return h;
}

/* The number of this rank in the list; -1 with an error if the list is not that of a group. */
static int member(const eddy_communicator *c, const int *ranks, int count, eddy_error *error)
{
    int me = -1;
    for (int i = 0; i < count; i++) {
        if (ranks[i] == c->me) me = i;
        bool twice = false;
        for (int j = 0; j < i; j++) twice = twice || ranks[j] == ranks[i];
        if (ranks[i] < 0 || ranks[i] >= c->n || twice) {
            eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                   twice ? "communicator_group: rank %d is listed twice"
                                         : "communicator_group: there is no rank %d", ranks[i]);
            return -1;
        }
    }
    if (me < 0)
        eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                               "communicator_group: rank %d, which calls it, is not listed", c->me);
    return me;
}

eddy_communicator *eddy_communicator_group(eddy_communicator *c, const int *ranks, int count,
                                           eddy_error *error)
{
    if (!c || !ranks || count < 1) {
        eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                               "communicator_group: no communicator, or no ranks");
        return NULL;
    }
    const int me = member(c, ranks, count, error);
    if (me < 0) return NULL;
    eddy_communicator *group = communicator_new(c->world, count, me);
    if (!group) {
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "communicator_group: out of memory");
        return NULL;
    }
    for (int i = 0; i < count; i++) group->ranks[i] = c->ranks[ranks[i]];
    group->group = group_of(group->ranks, count);
    return group;
}

/* ------------------------------------------------------------------ state -- */

int eddy_communicator_rank(const eddy_communicator *c) { return c ? c->me : 0; }
int eddy_communicator_size(const eddy_communicator *c) { return c ? c->n : 1; }

void eddy_communicator_fail(eddy_communicator *c, const char *text)
{
    char why[600];
    if (!c) return;
    eddy_world *w = c->world;
    snprintf(why, sizeof why, "rank %d failed: %.500s", w->rank, text ? text : "");
    pthread_mutex_lock(&w->error_lock);
    eddy__distributed_fail(&w->error, EDDY_CLOSED, "%s", why);
    pthread_mutex_unlock(&w->error_lock);
    w->transport->fail(w->context, EDDY_CLOSED, why);
}

eddy_status eddy_communicator_status(const eddy_communicator *c)
{
    if (!c) return EDDY_OK;
    pthread_mutex_lock(&c->world->error_lock);
    const eddy_status s = c->world->error.status;
    pthread_mutex_unlock(&c->world->error_lock);
    return s;
}

/* Once there is an error, its text does not change. */
const char *eddy_communicator_message(const eddy_communicator *c)
{
    return eddy_communicator_status(c) == EDDY_OK ? "" : c->world->error.message;
}
