/* threads.c -- a transport whose ranks are threads of one process.
 *
 * A message is copied once, from the sender's memory to the receiver's, by whichever of the two
 * comes later. All state is under one lock, except for the copying. */
#include "distributed/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum message_state { WAITING, COPYING, COMPLETE, TOO_LONG } message_state;

struct eddy_message {
    eddy_message  *next;            /* in a queue */
    int            owner, peer;     /* this rank, and the other one */
    bool           sends;
    message_state  state;
    char          *data;            /* the receiver's room, or what the sender sends */
    size_t         bytes;
    char          *what;            /* the collective that waits for it for long; NULL: none */
};

typedef struct message_queue {
    eddy_message *first;
} message_queue;

typedef struct thread_world {
    pthread_mutex_t lock;
    int             size, references;
    pthread_cond_t *changed; /* by rank: a message of it has ended, or a rank has failed or left */
    bool           *left;           /* by rank */
    eddy_message  **waits;          /* by rank: what it waits for, for long; or NULL */
    message_queue  *sends;          /* [from * size + to]: without a receiver yet */
    message_queue  *receives;       /* [from * size + to]: without a sender yet */
    eddy_error      error;          /* of the first rank that failed */
} thread_world;

typedef struct thread_rank {
    thread_world *world;
    int           rank;
} thread_rank;

/* ------------------------------------------------------------------ queues -- */

static void append(message_queue *q, eddy_message *m)
{
    eddy_message **at = &q->first;
    while (*at) at = &(*at)->next;
    m->next = NULL;
    *at = m;
}

static eddy_message *take_first(message_queue *q)
{
    eddy_message *m = q->first;
    if (m) q->first = m->next;
    return m;
}

static void take_out(message_queue *q, eddy_message *m)
{
    eddy_message **at = &q->first;
    while (*at && *at != m) at = &(*at)->next;
    if (*at) *at = m->next;
}

/* The messages that wait for a partner, in the direction of m. */
static message_queue *queue_of(const thread_rank *r, const eddy_message *m, bool sends)
{
    const int from = m->sends ? r->rank : m->peer, to = m->sends ? m->peer : r->rank;
    return (sends ? r->world->sends : r->world->receives) + from * r->world->size + to;
}

/* ---------------------------------------------------------------- messages -- */

static void wake_all(thread_world *w)
{
    for (int r = 0; r < w->size; r++) pthread_cond_broadcast(&w->changed[r]);
}

/* With the lock, which is released while the elements are copied. */
static void transfer(thread_world *w, eddy_message *sent, eddy_message *received)
{
    const bool fits = sent->bytes <= received->bytes;
    sent->state = received->state = COPYING;
    pthread_mutex_unlock(&w->lock);
    if (fits) memcpy(received->data, sent->data, sent->bytes);
    pthread_mutex_lock(&w->lock);
    sent->state = received->state = fits ? COMPLETE : TOO_LONG;
    pthread_cond_broadcast(&w->changed[sent->owner]);
    pthread_cond_broadcast(&w->changed[received->owner]);
}

static void message_free(eddy_message *m)
{
    free(m->what);
    free(m);
}

/* With the lock: the message ends. */
static void forget(const thread_world *w, const eddy_message *m)
{
    if (w->waits[m->owner] == m) w->waits[m->owner] = NULL;
}

static eddy_message *begin(thread_rank *r, bool sends, int peer, char *data, size_t bytes,
                           eddy_error *error)
{
    eddy_message *m = malloc(sizeof *m);
    if (!m) {
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "rank %d: out of memory for a message",
                               r->rank);
        return NULL;
    }
    *m = (eddy_message){
        .owner = r->rank, .peer = peer, .sends = sends, .data = data, .bytes = bytes
    };
    pthread_mutex_lock(&r->world->lock);
    eddy_message *other = take_first(queue_of(r, m, !sends));
    if (!other) append(queue_of(r, m, sends), m);
    else if (sends) transfer(r->world, m, other);
    else transfer(r->world, other, m);
    pthread_mutex_unlock(&r->world->lock);
    return m;
}

static eddy_message *threads_send(void *context, int to, const void *data, size_t bytes,
                                  eddy_error *error)
{
    return begin(context, true, to, (char *)(uintptr_t)data, bytes, error);
}

static eddy_message *threads_receive(void *context, int from, void *data, size_t bytes,
                                     eddy_error *error)
{
    return begin(context, false, from, data, bytes, error);
}

/* False with an error if the message will never end. */
static bool look(const thread_world *w, const eddy_message *m, bool *ended, eddy_error *error)
{
    *ended = m->state == COMPLETE;
    if (m->state == COMPLETE || m->state == COPYING) return true;
    if (m->state == TOO_LONG)
        return eddy__distributed_fail(error, EDDY_INTERNAL,
                                      "a message between ranks %d and %d is too "
                                      "long",
                                      m->owner, m->peer);
    if (w->error.status != EDDY_OK)
        return eddy__distributed_fail(error, w->error.status, "%s", w->error.message);
    return !w->left[m->peer] ||
           eddy__distributed_fail(error, EDDY_CLOSED, "rank %d has ended", m->peer);
}

static bool threads_wait(void *context, eddy_message *m, double seconds, bool *ended,
                         eddy_error *error)
{
    thread_rank    *r = context;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&r->world->lock);
    bool ok, late = false;
    while ((ok = look(r->world, m, ended, error)) && !*ended && !late)
        late = pthread_cond_timedwait(&r->world->changed[r->rank], &r->world->lock, &until) ==
               ETIMEDOUT;
    if (*ended) forget(r->world, m);
    pthread_mutex_unlock(&r->world->lock);
    if (*ended) message_free(m);
    return ok;
}

static void threads_cancel(void *context, eddy_message *m)
{
    thread_rank *r = context;
    pthread_mutex_lock(&r->world->lock);
    while (m->state == COPYING) pthread_cond_wait(&r->world->changed[r->rank], &r->world->lock);
    if (m->state == WAITING) take_out(queue_of(r, m, m->sends), m);
    forget(r->world, m);
    pthread_mutex_unlock(&r->world->lock);
    message_free(m);
}

static void threads_fail(void *context, eddy_status status, const char *text)
{
    thread_world *w = ((thread_rank *)context)->world;
    pthread_mutex_lock(&w->lock);
    eddy__distributed_fail(&w->error, status, "%s", text);
    wake_all(w);
    pthread_mutex_unlock(&w->lock);
}

/* The last rank of a circle that explains its wait finds the circle. */
static void threads_explain_wait(void *context, eddy_message *m, const char *what)
{
    const thread_rank  *r = context;
    thread_world       *w = r->world;
    const eddy_message *at = m;
    char                text[1000] = "the ranks do not agree";
    pthread_mutex_lock(&w->lock);
    m->what = strdup(what);
    w->waits[r->rank] = m;
    for (int i = 0; i < w->size && at && at->state == WAITING; i++) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s rank %d waits in %s for rank %d", i ? "," : ":",
                 at->owner, at->what ? at->what : "a collective", at->peer);
        at = w->waits[at->peer];
        if (at != m) continue;
        eddy__distributed_fail(&w->error, EDDY_INVALID_ARGUMENT, "%s", text);
        wake_all(w);
        break;
    }
    pthread_mutex_unlock(&w->lock);
}

/* ----------------------------------------------------------------- worlds -- */

static void world_free(thread_world *w)
{
    pthread_mutex_destroy(&w->lock);
    for (int r = 0; w->changed && r < w->size; r++) pthread_cond_destroy(&w->changed[r]);
    free(w->changed);
    free(w->left);
    free(w->waits);
    free(w->sends);
    free(w->receives);
    free(w);
}

static void threads_close(void *context)
{
    thread_rank  *r = context;
    thread_world *w = r->world;
    pthread_mutex_lock(&w->lock);
    w->left[r->rank] = true;
    const bool last = --w->references == 0;
    wake_all(w);
    pthread_mutex_unlock(&w->lock);
    if (last) world_free(w);
    free(r);
}

static thread_world *world_new(int size)
{
    pthread_condattr_t attr;
    const size_t       pairs = (size_t)size * (size_t)size;
    thread_world      *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->size = size;
    w->changed = calloc((size_t)size, sizeof *w->changed);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    for (int r = 0; w->changed && r < size; r++) pthread_cond_init(&w->changed[r], &attr);
    pthread_condattr_destroy(&attr);
    w->references = 1;               /* of the caller */
    w->left = calloc((size_t)size, sizeof *w->left);
    w->waits = calloc((size_t)size, sizeof *w->waits);
    w->sends = calloc(pairs, sizeof *w->sends);
    w->receives = calloc(pairs, sizeof *w->receives);
    if (w->changed && w->left && w->waits && w->sends && w->receives) return w;
    world_free(w);
    return NULL;
}

static const eddy_transport threads = {
    .name = "threads", .send = threads_send, .receive = threads_receive, .wait = threads_wait,
    .cancel = threads_cancel, .fail = threads_fail, .close = threads_close,
    .explain_wait = threads_explain_wait,
};

static eddy_communicator *join(thread_world *w, int rank, eddy_error *error)
{
    thread_rank *r = malloc(sizeof *r);
    if (!r) {
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "run_threads: out of memory");
        return NULL;
    }
    *r = (thread_rank){ w, rank };
    w->references++;
    return eddy_communicator_new(&threads, r, rank, w->size, error);
}

/* ---------------------------------------------------------------- threads -- */

typedef struct rank_thread {
    pthread_t          thread;
    eddy_communicator *c;
    bool             (*run)(eddy_communicator *c, void *context);
    void              *context;
    bool               started, ok;
} rank_thread;

static void *run_rank(void *at)
{
    rank_thread *t = at;
    t->ok = t->run(t->c, t->context);
    eddy_communicator_free(t->c);
    return NULL;
}

/* Starts all threads; without one of them, the others get an error. */
static bool run_all(thread_world *w, rank_thread *t, eddy_error *error)
{
    bool ok = true;
    for (int i = 0; i < w->size; i++) {
        const int failed = ok ? pthread_create(&t[i].thread, NULL, run_rank, &t[i]) : EAGAIN;
        t[i].started = failed == 0;
        if (failed && ok)
            ok = eddy__distributed_fail(error, EDDY_NO_MEMORY,
                                        "run_threads: a thread cannot be started: %s",
                                        strerror(failed));
        if (failed) eddy_communicator_free(t[i].c);
    }
    for (int i = 0; i < w->size; i++) {
        if (t[i].started) pthread_join(t[i].thread, NULL);
        ok = ok && t[i].ok;
    }
    return ok;
}

bool eddy_run_threads(int size, bool (*rank)(eddy_communicator *c, void *context), void *context,
                      eddy_error *error)
{
    if (size < 1 || size > EDDY_MAX_RANKS || !rank)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "run_threads: %d ranks%s; 1 to %d expected", size,
                                      rank ? "" : " without a function", EDDY_MAX_RANKS);
    thread_world *w = world_new(size);
    rank_thread  *t = calloc((size_t)size, sizeof *t);
    bool          ok = w && t;
    if (!ok) eddy__distributed_fail(error, EDDY_NO_MEMORY, "run_threads: out of memory");
    for (int i = 0; ok && i < size; i++) {
        t[i] = (rank_thread){ .c = join(w, i, error), .run = rank, .context = context };
        ok = t[i].c != NULL;
    }
    for (int i = 0; !ok && t && i < size; i++) eddy_communicator_free(t[i].c);
    ok = ok && run_all(w, t, error);
    if (w && w->error.status != EDDY_OK && error && error->status == EDDY_OK) *error = w->error;
    if (w && --w->references == 0) world_free(w);
    free(t);
    return ok;
}
