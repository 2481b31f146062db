/* mpi_ranks.c -- a transport over MPI. */
#include "distributed/mpi/mpi_ranks.h"
#include "distributed/mpi/shared_memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tags: of messages, and of notices that a rank has failed or ended, or waits. */
enum { MESSAGE = 1, NOTICE = 2 };

/* A rank that waits for long sends a notice to the one that it waits for, which sends it on if it
 * waits for long, too, and has not begun that message. If it comes back, all that it reached wait
 * in a circle, since none of them could go on before. */
enum { WAITS = -1 };

typedef struct notice {
    int32_t status;                  /* EDDY_OK: the rank ends; WAITS; or it has failed */
    int32_t asks, hops;              /* the rank that waited first, and how often it was sent on */
    int32_t sends;                   /* whether the last rank sends what it waits for */
    int64_t number;                  /* among those between the two */
    int64_t wait;                    /* of the rank that waited first */
    char    text[1000];
} notice;

/* Messages that have ended are used again, since new memory takes as long as the copy. */
enum { KEPT = 16, KEPT_BYTES = 64 << 20 };

typedef struct mpi_rank {
    pthread_mutex_t lock;            /* MPI permits one thread at a time */
    MPI_Comm     comm;
    int          rank, size;
    bool         finalizes;          /* this rank has initialized MPI */
    bool         failed;             /* and the others have been told */
    bool        *left;               /* by rank */
    notice       failure, end;       /* what it tells the others */
    MPI_Request *telling;            /* by rank: of the failure, and then of the end */
    int64_t     *begun[2];           /* by rank: how many messages it has received, and sent */
    eddy_message *waits;             /* what this rank waits for, for long; NULL: nothing */
    int64_t       wait;              /* how often that was so */
    unsigned      waited;            /* how often it has waited at all */
    char          what[400];         /* the collective that waits */
    eddy_message *cancelled;         /* what was being sent */
    eddy_message *kept;              /* what has ended, */
    size_t        kept_bytes;        /* with so much room, */
    int           n_kept;            /* and its number */
    eddy_error   error;              /* of the first rank that failed */
    shared_memory *shared;           /* with the other ranks of this machine */
} mpi_rank;

static bool fail(eddy_error *e, eddy_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(eddy_error *e, eddy_status status, const char *format, ...)
{
    if (!e || e->status != EDDY_OK) return false;
    va_list args;
    va_start(args, format);
    e->status = status;
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return false;
}

static bool fail_mpi(eddy_error *e, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int  length = 0;
    MPI_Error_string(code, text, &length);
    return fail(e, EDDY_IO, "MPI: %s: %.800s", what, text);
}

/* ---------------------------------------------------------------- messages -- */

static eddy_message *take_kept(mpi_rank *r, size_t room)
{
    for (eddy_message **at = &r->kept, *m; (m = *at) != NULL; at = &m->next)
        if (m->room >= room && m->room / 2 <= room) {
            *at = m->next;
            r->kept_bytes -= m->room;
            r->n_kept--;
            return m;
        }
    return NULL;
}

static void free_message(mpi_rank *r, eddy_message *m)
{
    if (r->waits == m) r->waits = NULL;
    if (r->n_kept == KEPT || m->room > KEPT_BYTES - r->kept_bytes) {
        free(m);
        return;
    }
    m->next = r->kept;
    r->kept = m;
    r->kept_bytes += m->room;
    r->n_kept++;
}

size_t eddy__mpi_most_bytes = INT32_MAX;

/* MPI counts with int: the bytes of a longer message are one element of a type of its own. */
static int type_of(size_t bytes, MPI_Datatype *type)
{
    const size_t most = eddy__mpi_most_bytes, rest = bytes % most;
    MPI_Datatype types[] = { MPI_BYTE, MPI_BYTE };
    int          code = MPI_Type_contiguous((int)most, MPI_BYTE, &types[0]);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Type_create_struct(2, (int[]){ (int)(bytes / most), (int)rest },
                                  (MPI_Aint[]){ 0, (MPI_Aint)(bytes - rest) }, types, type);
    MPI_Type_free(&types[0]);
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

static bool begin_mpi(mpi_rank *r, eddy_message *m, eddy_error *error)
{
    const bool   is_long = m->bytes > eddy__mpi_most_bytes;
    const int    n = is_long ? 1 : (int)m->bytes;
    MPI_Datatype type = MPI_BYTE;
    if (m->sends) memcpy(m->sent, m->data, m->bytes);
    pthread_mutex_lock(&r->lock);
    int code = is_long ? type_of(m->bytes, &type) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = m->sends ? MPI_Isend(m->sent, n, type, m->peer, MESSAGE, r->comm, &m->request)
                        : MPI_Irecv(m->data, n, type, m->peer, MESSAGE, r->comm, &m->request);
    if (type != MPI_BYTE) MPI_Type_free(&type);         /* when the message has ended */
    pthread_mutex_unlock(&r->lock);
    return code == MPI_SUCCESS || fail_mpi(error, m->sends ? "send" : "receive", code);
}

static eddy_message *begin(mpi_rank *r, bool sends, int peer, void *data, size_t bytes,
                           eddy_error *error)
{
    const bool    is_shared = eddy__shared_memory_reaches(r->shared, peer);
    size_t        room = sends && !is_shared ? bytes : 0;
    eddy_message *m = take_kept(r, room);
    if (m) room = m->room;
    else if (!(m = malloc(sizeof *m + room))) {
        fail(error, EDDY_NO_MEMORY, "MPI: a message of %zu bytes: out of memory", bytes);
        return NULL;
    }
    *m = (eddy_message){ .request = MPI_REQUEST_NULL, .peer = peer, .sends = sends,
                         .is_shared = is_shared, .data = data, .bytes = bytes, .room = room,
                         .number = ++r->begun[sends][peer] };
    if (is_shared) eddy__shared_memory_begin(r->shared, m);
    else if (!begin_mpi(r, m, error)) {
        free_message(r, m);
        return NULL;
    }
    return m;
}

static eddy_message *mpi_send(void *context, int to, const void *data, size_t bytes,
                              eddy_error *error)
{
    return begin(context, true, to, (void *)(uintptr_t)data, bytes, error);
}

static eddy_message *mpi_receive(void *context, int from, void *data, size_t bytes,
                                 eddy_error *error)
{
    return begin(context, false, from, data, bytes, error);
}

static eddy_message *mpi_receive_parts(void *context, int from, size_t bytes, eddy_take_part take,
                                       void *taker)
{
    mpi_rank     *r = context;
    eddy_message *m = NULL;
    if (eddy__shared_memory_reaches(r->shared, from)) m = begin(r, false, from, NULL, bytes, NULL);
    if (!m) return NULL;
    m->take = take;
    m->taker = taker;
    return m;
}

/* Frees what was being sent, if MPI is done with it. */
static void free_sent(mpi_rank *r)
{
    for (eddy_message **at = &r->cancelled; *at;) {
        eddy_message *m = *at;
        int           done = 0;
        MPI_Test(&m->request, &done, MPI_STATUS_IGNORE);
        if (done) {
            *at = m->next;
            free(m);
        } else at = &m->next;
    }
}

/* Sends a notice on to the rank for which this one waits. Without memory, the ranks wait on. */
static void send_on(mpi_rank *r, const notice *from)
{
    const eddy_message *w = r->waits;
    eddy_message       *m = malloc(sizeof *m + sizeof(notice));
    notice              n = *from;
    const size_t        length = strlen(n.text);
    free_sent(r);
    if (!m) return;
    n.sends = w->sends;
    n.number = w->number;
    n.hops++;
    snprintf(n.text + length, sizeof n.text - length, "%s rank %d waits in %s for rank %d",
             length > 0 ? "," : "", r->rank, r->what, w->peer);
    *m = (eddy_message){ .next = r->cancelled };
    memcpy(m->sent, &n, sizeof n);
    r->cancelled = m;
    MPI_Isend(m->sent, sizeof n, MPI_BYTE, w->peer, NOTICE, r->comm, &m->request);
}

/* A rank waits for a message with this one. */
static void take_wait(mpi_rank *r, const notice *n, int from)
{
    if (!r->waits || r->begun[!n->sends][from] >= n->number) return;
    if (n->asks != r->rank && n->hops <= r->size) send_on(r, n);
    else if (n->asks == r->rank && n->wait == r->wait)
        fail(&r->error, EDDY_INVALID_ARGUMENT, "the ranks do not agree:%s", n->text);
}

static void mpi_explain_wait(void *context, eddy_message *m, const char *what)
{
    mpi_rank *r = context;
    pthread_mutex_lock(&r->lock);
    r->waits = m;
    snprintf(r->what, sizeof r->what, "%s", what);
    send_on(r, &(notice){ .status = WAITS, .asks = r->rank, .wait = ++r->wait });
    pthread_mutex_unlock(&r->lock);
}

/* Reads the notices that have arrived. */
static void read_notices(mpi_rank *r)
{
    int        any = 0;
    MPI_Status at;
    while (MPI_Iprobe(MPI_ANY_SOURCE, NOTICE, r->comm, &any, &at) == MPI_SUCCESS && any) {
        notice n;
        if (MPI_Recv(&n, sizeof n, MPI_BYTE, at.MPI_SOURCE, NOTICE, r->comm, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return;
        n.text[sizeof n.text - 1] = '\0';
        if (n.status == EDDY_OK) r->left[at.MPI_SOURCE] = true;
        else if (n.status == WAITS) take_wait(r, &n, at.MPI_SOURCE);
        else fail(&r->error, (eddy_status)n.status, "%s", n.text);
    }
}

static bool test(mpi_rank *r, eddy_message *m, bool *ended, eddy_error *error)
{
    if (!eddy__shared_memory_advance(r->shared))
        return fail(error, EDDY_IO, "MPI: a message is longer than its receiver permits");
    *ended = m->ended;
    if (m->is_shared) return true;
    int       done = 0;
    const int code = MPI_Test(&m->request, &done, MPI_STATUS_IGNORE);
    *ended = done != 0;
    return code == MPI_SUCCESS || fail_mpi(error, m->sends ? "send" : "receive", code);
}

/* False with an error if the message will never end, which only notices tell. */
static bool look(mpi_rank *r, eddy_message *m, bool notices, bool *ended, eddy_error *error)
{
    if (!test(r, m, ended, error) || *ended) return *ended;
    if (!notices) return true;
    read_notices(r);
    if (r->error.status != EDDY_OK) return fail(error, r->error.status, "%s", r->error.message);
    if (!r->left[m->peer]) return true;
    /* what it sent before it ended may have arrived meanwhile */
    return (test(r, m, ended, error) && *ended) ||
           fail(error, EDDY_CLOSED, "rank %d has ended", m->peer);
}

/* MPI permits one thread at a time. */
static bool look_alone(mpi_rank *r, eddy_message *m, bool notices, bool *ended, eddy_error *error)
{
    if (m->is_shared && !notices) return look(r, m, notices, ended, error);
    pthread_mutex_lock(&r->lock);
    const bool ok = look(r, m, notices, ended, error);
    pthread_mutex_unlock(&r->lock);
    return ok;
}

/* Looks at once, then lets others run that share the processor, then looks more and more seldom.
 * A look for notices takes longer than one at the message: there is one at the end at least, since
 * few looks may fit in on a busy processor, where MPI itself lets others run in each, and one in
 * some of the waits, since they may all end soon. */
static bool mpi_wait(void *context, eddy_message *m, double seconds, bool *ended, eddy_error *error)
{
    enum { FEW = 8, SOME = 64 };
    mpi_rank       *r = context;
    const int       at_once = m->is_shared ? 500 : 50, together = at_once + 1000;
    struct timespec pause = { .tv_nsec = 1000 };
    double          until = 0;
    bool            ok;
    for (int turn = r->waited++ % SOME == 0 ? SOME : 1;
         (ok = look_alone(r, m, turn % SOME == 0 || turn > together, ended, error)) && !*ended;
         turn++) {
        if (turn < at_once && (m->is_shared || turn % FEW != 0)) continue;
        const double now = MPI_Wtime();
        if (until == 0) until = now + seconds;
        if (now >= until) {
            ok = look_alone(r, m, true, ended, error);
            break;
        }
        if (turn < at_once) continue;
        if (turn < together) {      /* a pause takes tens of microseconds */
            sched_yield();
            continue;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 200000) pause.tv_nsec += pause.tv_nsec / 4;
    }
    if (*ended) free_message(r, m);
    return ok;
}

/* A receive that has begun goes on to its end, since MPI writes to the memory until then. A message
 * that is being sent waits for mpi_close. */
static void mpi_cancel(void *context, eddy_message *m)
{
    mpi_rank *r = context;
    if (m->is_shared) eddy__shared_memory_cancel(r->shared, m);
    if (r->waits == m) r->waits = NULL;
    pthread_mutex_lock(&r->lock);
    const bool under_way = m->request != MPI_REQUEST_NULL;
    if (under_way && m->sends) {
        m->next = r->cancelled;
        r->cancelled = m;
    } else if (under_way) {
        MPI_Cancel(&m->request);
        MPI_Wait(&m->request, MPI_STATUS_IGNORE);
    }
    pthread_mutex_unlock(&r->lock);
    if (!under_way || !m->sends) free(m);
}

/* ------------------------------------------------------------- fail and end -- */

static void tell(mpi_rank *r, const notice *n, MPI_Request *telling)
{
    for (int i = 0; i < r->size; i++)
        if (i != r->rank) MPI_Isend(n, sizeof *n, MPI_BYTE, i, NOTICE, r->comm, &telling[i]);
}

static void mpi_fail(void *context, eddy_status status, const char *text)
{
    mpi_rank *r = context;
    pthread_mutex_lock(&r->lock);
    fail(&r->error, status, "%s", text);
    if (!r->failed) {
        r->failed = true;
        r->failure.status = (int32_t)status;
        snprintf(r->failure.text, sizeof r->failure.text, "%s", text);
        tell(r, &r->failure, r->telling);
    }
    pthread_mutex_unlock(&r->lock);
}

static void release(mpi_rank *r)
{
    pthread_mutex_destroy(&r->lock);
    for (eddy_message *m; (m = r->kept) != NULL; free(m)) r->kept = m->next;
    free(r->left);
    free(r->telling);
    free(r->begun[0]);
    free(r);
}

/* Receives the messages that nobody waits for any more, so that their sending ends. */
static void read_cancelled(mpi_rank *r)
{
    int        any = 0;
    MPI_Status at;
    while (MPI_Iprobe(MPI_ANY_SOURCE, MESSAGE, r->comm, &any, &at) == MPI_SUCCESS && any) {
        MPI_Count    bytes = 0;
        MPI_Datatype type = MPI_BYTE;
        MPI_Get_elements_x(&at, MPI_BYTE, &bytes);
        const bool is_long = (size_t)bytes > eddy__mpi_most_bytes;
        void      *data = malloc((size_t)bytes + 1);
        const bool fits = data && (!is_long || type_of((size_t)bytes, &type) == MPI_SUCCESS);
        MPI_Recv(data, !fits ? 0 : is_long ? 1 : (int)bytes, type, at.MPI_SOURCE, MESSAGE, r->comm,
                 MPI_STATUS_IGNORE);
        if (type != MPI_BYTE) MPI_Type_free(&type);
        free(data);
    }
}

static void free_cancelled(mpi_rank *r)
{
    while (r->cancelled) {
        eddy_message *m = r->cancelled;
        r->cancelled = m->next;
        MPI_Wait(&m->request, MPI_STATUS_IGNORE);
        free(m);
    }
}

/* Waits until all ranks leave, so that each learns that the others do. Messages of a rank arrive
 * before the notice that it leaves. */
static void mpi_close(void *context)
{
    const struct timespec pause = { .tv_nsec = 200000 };
    mpi_rank             *r = context;
    tell(r, &r->end, r->telling + r->size);
    for (int waiting = 1; waiting > 0;) {
        waiting = 0;
        read_notices(r);
        read_cancelled(r);
        for (int i = 0; i < r->size; i++) waiting += i != r->rank && !r->left[i];
        if (waiting > 0) nanosleep(&pause, NULL);
    }
    MPI_Waitall(2 * r->size, r->telling, MPI_STATUSES_IGNORE);
    free_cancelled(r);
    eddy__shared_memory_free(r->shared);
    MPI_Comm_free(&r->comm);
    if (r->finalizes) MPI_Finalize();
    release(r);
}

static const eddy_transport transport = {
    .name = "mpi", .send = mpi_send, .receive = mpi_receive, .wait = mpi_wait, .cancel = mpi_cancel,
    .fail = mpi_fail, .close = mpi_close, .receive_parts = mpi_receive_parts,
    .explain_wait = mpi_explain_wait,
};

/* -------------------------------------------------------------------- join -- */

/* Starts MPI; what follows are calls of all ranks. */
static bool start(mpi_rank *r, eddy_error *error)
{
    int started = 0, ended = 0, level = 0, code = MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (ended) return fail(error, EDDY_CLOSED, "MPI: it has ended, and cannot start again");
    if (code == MPI_SUCCESS && !started)
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    else MPI_Query_thread(&level);
    r->finalizes = code == MPI_SUCCESS && !started;
    if (code == MPI_SUCCESS) code = MPI_Comm_dup(MPI_COMM_WORLD, &r->comm);
    if (code != MPI_SUCCESS) return fail_mpi(error, "start", code);
    MPI_Comm_set_errhandler(r->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(r->comm, &r->rank);
    MPI_Comm_size(r->comm, &r->size);
    if (level < MPI_THREAD_SERIALIZED)
        fail(error, EDDY_UNIMPLEMENTED, "MPI: the library was started without "
             "MPI_THREAD_SERIALIZED, which sessions need");
    return true;
}

/* This rank with its memory; NULL without. */
static mpi_rank *rank_new(const mpi_rank *started)
{
    mpi_rank *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = *started;
    pthread_mutex_init(&r->lock, NULL);
    r->left = calloc((size_t)r->size, sizeof *r->left);
    r->telling = malloc(2 * (size_t)r->size * sizeof(MPI_Request));
    r->begun[0] = calloc(2 * (size_t)r->size, sizeof *r->begun[0]);
    for (int i = 0; r->telling && i < 2 * r->size; i++) r->telling[i] = MPI_REQUEST_NULL;
    if (r->begun[0]) r->begun[1] = r->begun[0] + r->size;
    if (r->left && r->telling && r->begun[0]) return r;
    release(r);
    return NULL;
}

/* If a rank cannot join, none does, so that none waits for it. */
eddy_communicator *eddy_mpi_join(eddy_error *error)
{
    eddy_error here = { 0 };
    mpi_rank   started = { .comm = MPI_COMM_NULL }, *r = NULL;
    int        ok = 0, all = 0;
    if (start(&started, &here)) {
        r = rank_new(&started);
        if (!r) fail(&here, EDDY_NO_MEMORY, "MPI: rank %d: out of memory", started.rank);
        ok = here.status == EDDY_OK;
        if (MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, started.comm) != MPI_SUCCESS) all = 0;
    }
    if (all) {
        r->shared = eddy__shared_memory_new(r->comm);
        return eddy_communicator_new(&transport, r, r->rank, r->size, error);
    }
    if (ok) fail(&here, EDDY_CLOSED, "MPI: another rank cannot join");
    if (error && error->status == EDDY_OK) *error = here;
    if (started.comm != MPI_COMM_NULL) MPI_Comm_free(&started.comm);
    if (started.finalizes) MPI_Finalize();
    if (r) release(r);
    return NULL;
}
