/* ranks.c -- communicators for random calls. Their transports connect a rank with itself at most;
 * messages of other ranks are lost, refused, or arrive damaged. */
#define _DEFAULT_SOURCE
#include "tests/hostile/ranks.h"
#include "tests/hostile/by_hand.h"
#include "tests/hostile/random_arguments.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int of(const char *name) { return object_kind_named(name); }

/* --------------------------------------------------------------- transports -- */

/* What happens to messages from other ranks. */
typedef enum behavior {
    LOST,               /* nothing arrives, and then the rank has ended */
    REFUSED,            /* they cannot be sent */
    WITHOUT_ERROR,      /* the same, and no error is set */
    DAMAGED,            /* bytes that nobody sent */
    ECHOED,             /* what this rank sent last */
    BEHAVIORS
} behavior;

typedef struct eddy_message message;
struct eddy_message {
    message *next;      /* of a queue */
    char    *data;      /* the receiver's room, or a copy of what was sent */
    size_t   bytes;
    bool     sends, to_itself;
    int      waits;
};

typedef struct lonely_rank {
    behavior behavior;
    int      rank;
    message *sent;      /* to this rank itself, in order */
    char    *last;      /* sent to another rank */
    size_t   last_bytes;
} lonely_rank;

static bool fail(eddy_error *e, const char *text)
{
    if (!e || e->status != EDDY_OK) return false;
    e->status = EDDY_IO;
    snprintf(e->message, sizeof e->message, "%s", text);
    return false;
}

static message *message_new(lonely_rank *r, int peer, size_t bytes, bool sends, eddy_error *error)
{
    if (peer != r->rank && r->behavior == REFUSED) return fail(error, "no such rank"), NULL;
    if (peer != r->rank && r->behavior == WITHOUT_ERROR) return NULL;
    message *m = calloc(1, sizeof *m);
    if (m) *m = (message){ .bytes = bytes, .sends = sends, .to_itself = peer == r->rank };
    return m;
}

static message *lonely_send(void *context, int to, const void *data, size_t bytes,
                            eddy_error *error)
{
    lonely_rank *r = context;
    message     *m = message_new(r, to, bytes, true, error);
    char        *copy = m ? malloc(bytes ? bytes : 1) : NULL;
    if (!copy) return m;
    memcpy(copy, data, bytes);
    if (!m->to_itself) {
        free(r->last);
        r->last = copy;
        r->last_bytes = bytes;
        return m;
    }
    message *s = calloc(1, sizeof *s), **at = &r->sent;
    if (!s) abort();
    *s = (message){ .data = copy, .bytes = bytes };
    while (*at) at = &(*at)->next;
    *at = s;
    return m;
}

static message *lonely_receive(void *context, int from, void *data, size_t bytes,
                               eddy_error *error)
{
    message *m = message_new(context, from, bytes, false, error);
    if (m) m->data = data;
    return m;
}

static bool take_own(lonely_rank *r, message *m)
{
    message *s = r->sent;
    if (!s) return false;
    r->sent = s->next;
    memcpy(m->data, s->data, s->bytes < m->bytes ? s->bytes : m->bytes);
    free(s->data);
    free(s);
    return true;
}

static bool lonely_wait(void *context, message *m, double seconds, bool *ended, eddy_error *error)
{
    const struct timespec moment = { 0, 1000000 };
    lonely_rank          *r = context;
    (void)seconds;
    *ended = m->sends || (m->to_itself ? take_own(r, m) : r->behavior >= DAMAGED);
    if (*ended && !m->sends && !m->to_itself) {
        const size_t known = r->behavior == DAMAGED || !r->last ? 0 : r->last_bytes;
        memset(m->data, 0xA5, m->bytes);
        if (known) memcpy(m->data, r->last, known < m->bytes ? known : m->bytes);
    }
    if (*ended) return free(m), true;
    nanosleep(&moment, NULL);
    return ++m->waits < 4 || fail(error, "rank 1 has ended");
}

static void lonely_cancel(void *context, message *m)
{
    (void)context;
    free(m);
}

static void lonely_fail(void *context, eddy_status status, const char *text)
{
    (void)context, (void)status;
    text_is_whole(text);
}

static void lonely_close(void *context)
{
    lonely_rank *r = context;
    while (r && r->sent) {
        message *s = r->sent;
        r->sent = s->next;
        free(s->data);
        free(s);
    }
    if (r) free(r->last);
    free(r);
}

static const eddy_transport lonely = {
    .name = "lonely", .send = lonely_send, .receive = lonely_receive, .wait = lonely_wait,
    .cancel = lonely_cancel, .fail = lonely_fail, .close = lonely_close,
};
static const eddy_transport incomplete = { .name = "incomplete", .close = lonely_close };

static eddy_communicator *communicator_new(int rank, int size, eddy_error *error)
{
    lonely_rank *r = calloc(1, sizeof *r);
    if (!r) abort();
    *r = (lonely_rank){ .behavior = (behavior)draw(BEHAVIORS), .rank = rank };
    return eddy_communicator_new(&lonely, r, rank, size, error);
}

void call_eddy_communicator_new(void)
{
    eddy_error *e = scratch_error();
    if (seldom(12)) {
        eddy_communicator_free(eddy_communicator_new(draw(2) ? &incomplete : NULL, NULL, 0, 1, e));
        return;
    }
    const int size = draw(3) ? 1 : seldom(4) ? draw_int() : 1 + draw(4);
    const int rank = seldom(12) ? draw_int() : size > 1 && size < 5 ? draw(size) : 0;
    object_keep(of("eddy_communicator"), communicator_new(rank, size, e));
}

/* ---------------------------------------------------------------- one's own -- */

typedef struct thread_calls {
    int  differs;       /* a rank that makes another call */
    bool leaves;        /* returns at once instead */
} thread_calls;

/* In a thread: nothing here draws or keeps. */
static bool ranks_meet(eddy_communicator *c, void *context)
{
    const thread_calls *t = context;
    eddy_error          e = { 0 };
    eddy_array         *a = eddy_array_of(EDDY_FLOAT32, 3);
    const bool          differs = eddy_communicator_rank(c) == t->differs;
    bool                ok = a && !(differs && t->leaves);
    if (ok && differs) ok = eddy_rank_barrier(c, &e);
    else if (ok) ok = eddy_array_all_reduce(c, EDDY_REDUCE_SUM, a, &e);
    if (!ok && e.status != EDDY_OK && !e.message[0]) abort();
    eddy_array_free(a);
    return ok;
}

void call_eddy_run_threads(void)
{
    static const int   sizes[] = { 1, 2, 3, 5, 0, -1, EDDY_MAX_RANKS + 1, INT_MAX, INT_MIN };
    const thread_calls t = { draw(6) - 1, draw(2) };
    const int          size = sizes[draw(draw(3) ? 4 : 9)];
    const bool         ok = eddy_run_threads(size, seldom(12) ? NULL : ranks_meet,
                                             (void *)(uintptr_t)&t, scratch_error());
    if (ok && size != 1 && t.differs >= 0 && t.differs < size)
        complain("eddy_run_threads", "ranks that differ", NULL);
}

void call_eddy_run_ranks(void)
{
    eddy_array *out[ENOUGH] = { NULL };
    begin_results(out);
    eddy_communicator *c = object_any(of("eddy_communicator"));
    eddy_session      *s = object_any(of("eddy_session"));
    check_status(eddy_run_ranks(c, s, draw_feeds(), draw_fetches(), !seldom(12) ? out : NULL));
    end_results(out);
}
