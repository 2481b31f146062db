/* shared_memory.c -- messages between ranks of one machine, through memory that they share.
 *
 * Each two ranks have a ring of bytes for each direction: the sender copies a message into it piece
 * by piece, after its length, and the receiver copies the pieces out. So the sender is done before
 * the receiver begins, unless the ring is full; and of a long message, both copy at the same time,
 * in the cache. */
#include "distributed/mpi/shared_memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,                       /* bytes of the cache, in which only one rank writes */
    PIECE = 1 << 14,
    MOST = 1 << 19, LEAST = 1 << 16, TOGETHER = 1 << 22     /* of one ring; of those to a rank */
};

/* Other atomic numbers would have locks, which processes do not share. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "numbers of 64 bits are always free of locks");

/* Numbers of bytes since the beginning, multiples of 8. */
typedef struct ring {
    _Alignas(LINE) _Atomic uint64_t written;
    _Alignas(LINE) _Atomic uint64_t read;
    _Alignas(LINE) char data[];
} ring;

/* One end of a ring, with the messages for it. */
typedef struct channel {
    ring         *ring;              /* NULL: to this rank itself, or to another machine */
    eddy_message *first;
    uint64_t      at, other;         /* as far as this end is, and as the other one was when read */
    bool          begun;             /* the length of the first message has passed */
} channel;

struct shared_memory {
    MPI_Comm comm;                   /* of the machine */
    MPI_Win  window;
    bool     locked;                 /* this rank has begun its epoch */
    uint64_t bytes;                  /* of a ring, a power of two */
    int      size;                   /* of all ranks */
    channel *to, *from;              /* by rank */
};

/* ------------------------------------------------------------------- copying -- */

/* Copies as far as it is possible at once: true if the message has ended. */
static bool move(channel *c, eddy_message *m, uint64_t bytes, uint64_t possible)
{
    uint64_t n = m->bytes - m->moved;
    if (n > possible) n = possible;
    if (n > PIECE) n = PIECE;
    if (n > bytes - c->at % bytes) n = bytes - c->at % bytes;
    char *in_ring = c->ring->data + c->at % bytes;
    if (n > 0 && m->sends) memcpy(in_ring, m->data + m->moved, n);
    else if (n > 0 && m->take) m->take(m->taker, m->moved, in_ring, n);
    else if (n > 0) memcpy(m->data + m->moved, in_ring, n);
    m->moved += n;
    c->at += (n + 7) / 8 * 8;
    return m->moved == m->bytes;
}

static void end_first(channel *c)
{
    eddy_message *m = c->first;
    c->first = m->next;
    c->begun = false;
    m->ended = true;
}

/* The bytes that can be written, or else read, now. The counter of the other end is in its cache:
 * it is read only if what was read before does not suffice. */
static uint64_t possible(channel *c, const eddy_message *m, uint64_t bytes)
{
    _Atomic uint64_t *counter = m->sends ? &c->ring->read : &c->ring->written;
    const uint64_t    extra = m->sends ? bytes : 0;
    if (c->other + extra - c->at < PIECE)
        c->other = atomic_load_explicit(counter, memory_order_acquire);
    return c->other + extra - c->at;
}

/* False if the message that comes is too long. */
static bool begin_first(channel *c, eddy_message *m, uint64_t bytes)
{
    uint64_t *length = (uint64_t *)(void *)(c->ring->data + c->at % bytes);
    if (m->sends) *length = m->bytes;
    else if (*length > m->bytes) return false;
    else m->bytes = *length;
    c->at += sizeof *length;
    return c->begun = true;
}

static bool advance(channel *c, uint64_t bytes)
{
    for (eddy_message *m; (m = c->first) != NULL;) {
        uint64_t now = possible(c, m, bytes);
        if (!c->begun && now >= sizeof(uint64_t)) {
            if (!begin_first(c, m, bytes)) return false;
            now -= sizeof(uint64_t);
        }
        if (!c->begun || (now == 0 && m->moved < m->bytes)) break;
        const bool ended = move(c, m, bytes, now);
        atomic_store_explicit(m->sends ? &c->ring->written : &c->ring->read, c->at,
                              memory_order_release);
        if (ended) end_first(c);
    }
    return true;
}

bool eddy__shared_memory_advance(shared_memory *s)
{
    bool fits = true;
    for (int r = 0; s && r < s->size; r++) {
        if (s->to[r].first) advance(&s->to[r], s->bytes);
        if (s->from[r].first) fits = advance(&s->from[r], s->bytes) && fits;
    }
    return fits;
}

void eddy__shared_memory_begin(shared_memory *s, eddy_message *m)
{
    channel       *c = m->sends ? &s->to[m->peer] : &s->from[m->peer];
    eddy_message **last = &c->first;
    while (*last) last = &(*last)->next;
    *last = m;
    if (m->sends) advance(c, s->bytes);
}

void eddy__shared_memory_cancel(shared_memory *s, eddy_message *m)
{
    eddy_message **at = m->sends ? &s->to[m->peer].first : &s->from[m->peer].first;
    while (*at && *at != m) at = &(*at)->next;
    if (*at) *at = m->next;
}

/* ------------------------------------------------------------ begin and end -- */

bool eddy__shared_memory_reaches(const shared_memory *s, int rank)
{
    return s && s->to[rank].ring != NULL;
}

void eddy__shared_memory_free(shared_memory *s)
{
    if (!s) return;
    if (s->window != MPI_WIN_NULL) {
        if (s->locked) MPI_Win_unlock_all(s->window);
        MPI_Win_free(&s->window);
    }
    if (s->comm != MPI_COMM_NULL) MPI_Comm_free(&s->comm);
    free(s->to);
    free(s->from);
    free(s);
}

/* Of the memory of each rank, a ring for each other one that sends to it. */
static bool allocate(shared_memory *s, int n)
{
    char *mine = NULL;
    s->bytes = MOST;
    while (s->bytes > LEAST && s->bytes * (uint64_t)n > TOGETHER) s->bytes /= 2;
    const uint64_t all = (uint64_t)n * (sizeof(ring) + s->bytes) + LINE;
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    if (MPI_Win_allocate_shared((MPI_Aint)all, 1, MPI_INFO_NULL, s->comm, &mine, &s->window) !=
        MPI_SUCCESS) {
        s->window = MPI_WIN_NULL;
        return false;
    }
    memset(mine, 0, all);
    return true;
}

/* Whether all ranks of the machine are content. */
static bool agree(MPI_Comm comm, bool ok)
{
    int mine = ok, all = 0;
    return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

/* Begins the epoch in which ranks may read and write the memory of others; what they have written
 * before is then seen by all. Ranks free a window together: so if one has none, the others leave
 * theirs. */
static bool open_window(shared_memory *s, int n)
{
    const bool mine = allocate(s, n);
    if (!agree(s->comm, mine)) {
        s->window = MPI_WIN_NULL;
        return false;
    }
    MPI_Win_set_errhandler(s->window, MPI_ERRORS_RETURN);
    s->locked = MPI_Win_lock_all(MPI_MODE_NOCHECK, s->window) == MPI_SUCCESS;
    const bool seen = s->locked && MPI_Win_sync(s->window) == MPI_SUCCESS;
    return agree(s->comm, seen) && agree(s->comm, MPI_Win_sync(s->window) == MPI_SUCCESS);
}

/* The ring in the memory of the rank `at` of the machine. */
static ring *ring_at(const shared_memory *s, int at, int from)
{
    MPI_Aint size;
    int      unit;
    char    *base = NULL;
    if (MPI_Win_shared_query(s->window, at, &size, &unit, &base) != MPI_SUCCESS) return NULL;
    base += (LINE - (uintptr_t)base % LINE) % LINE;
    return (ring *)(void *)(base + (size_t)from * (sizeof(ring) + s->bytes));
}

static bool find_rings(shared_memory *s, MPI_Comm all, int n, int me)
{
    MPI_Group group, others;
    bool      ok = true;
    MPI_Comm_group(all, &group);
    MPI_Comm_group(s->comm, &others);
    for (int i = 0; i < n; i++) {
        int rank;
        if (i == me) continue;
        MPI_Group_translate_ranks(others, 1, &i, group, &rank);
        s->to[rank].ring = ring_at(s, i, me);
        s->from[rank].ring = ring_at(s, me, i);
        ok = ok && s->to[rank].ring && s->from[rank].ring;
    }
    MPI_Group_free(&group);
    MPI_Group_free(&others);
    return ok;
}

shared_memory *eddy__shared_memory_new(MPI_Comm all)
{
    const char    *wanted = getenv("EDDY_SHARED_MEMORY");
    shared_memory *s = calloc(1, sizeof *s);
    int            n = 1, me = 0;
    bool           ok = false;
    MPI_Comm       comm = MPI_COMM_NULL;
    if (MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm) == MPI_SUCCESS) {
        MPI_Comm_size(comm, &n);
        MPI_Comm_rank(comm, &me);
    }
    if (s) {
        s->comm = comm;
        s->window = MPI_WIN_NULL;
        MPI_Comm_size(all, &s->size);
        s->to = calloc((size_t)s->size, sizeof *s->to);
        s->from = calloc((size_t)s->size, sizeof *s->from);
        ok = s->to && s->from && !(wanted && strcmp(wanted, "no") == 0);
    }
    /* With several ranks here, all of them must want it and have their part. */
    if (n > 1 && agree(comm, ok) && open_window(s, n) && agree(comm, find_rings(s, all, n, me)))
        return s;
    if (s) eddy__shared_memory_free(s);
    else if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    return NULL;
}
