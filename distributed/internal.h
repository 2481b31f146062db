/* internal.h -- what the files of libeddy_distributed share; not installed.
 *
 * A communicator belongs to a world: one rank of a transport, with a lock that lets one
 * collective at a time use it. Each collective is a call: the ranks first exchange headers that
 * say what each is about to do, with the data if they are short, and compare them. Ranks that differ
 * and exchange no headers wait in a circle, which the transport finds. So a difference is an error
 * on all ranks, except as communicator.h says. Then long data follow. */
#ifndef EDDY_DISTRIBUTED_INTERNAL_H
#define EDDY_DISTRIBUTED_INTERNAL_H

#include "transport.h"

#include <pthread.h>

/* ---------------------------------------------------------- communicators -- */

struct eddy_background;

struct eddy_packet;

typedef struct eddy_world {
    const eddy_transport *transport;
    void                 *context;
    int                   rank, size;
    int                   references;   /* by communicators, under the lock of the registry */
    pthread_mutex_t       lock;         /* held by the collective in progress */
    char                 *scratch;      /* of it */
    size_t                scratch_size;
    struct eddy_packet   *packets;      /* of it, that of this rank first */
    size_t                n_packets;
    eddy_message        **messages;     /* of it, EDDY_MESSAGES for each rank */
    pthread_mutex_t       error_lock;
    eddy_error            error;        /* once set, no collective works */
    /* under error_lock, in seconds: when the world or its last report began, how long
     * collectives were under way, and how long runs waited for them */
    double                begun, exchanging, waiting;
    struct eddy_background *background; /* NULL: no collective has run in the background */
} eddy_world;

/* Ranks exchange messages level by level. Their numbers are written with the radices of the levels,
 * the lowest digit first; at a level, those exchange whose numbers differ only in its digit. So n ranks
 * exchange with the sum of (radix - 1) others in place of n - 1. Few ranks have one level.
 *
 * Ranks that differ only in digits of lower levels have consecutive numbers. All radices except for
 * the last are powers of two, so that pairs are combined as they would be at once, and with the same
 * bits. */
typedef struct eddy_level {
    int stride, radix;
    int digit, first;                /* of this rank; and the rank with the digit 0 */
} eddy_level;

enum { EDDY_MAX_LEVELS = 12 };       /* of EDDY_MAX_RANKS ranks */

/* Up to `direct` ranks have one level. More have levels of up to `radix` ranks, and a last one of up to
 * 2 `radix`, or of the odd number that is left. Tests change them. */
extern struct eddy_level_limits {
    int direct, radix;
} eddy__level_limits;

struct eddy_communicator {
    eddy_communicator *next;            /* in the registry */
    int64_t            id;              /* never used again; nodes refer to it */
    int                references;      /* by the caller and by collectives in progress */
    _Atomic bool       closed;          /* its jobs are being cancelled; no more may begin */
    eddy_world        *world;
    int                n, me;           /* ranks, and the number of this one */
    int               *ranks;           /* of the world */
    uint64_t           group;           /* equal for the members of a group */
    eddy_level         levels[EDDY_MAX_LEVELS];
    int                n_levels, radix; /* the largest one */
};

/* Divides n ranks into levels; c->n and c->me are set. */
void eddy__set_levels(eddy_communicator *c);
/* The rank with a digit at a level. */
static inline int eddy__peer(const eddy_level *at, int digit)
{
    return at->first + digit * at->stride;
}

/* A reference to a communicator that has not been freed, or NULL; give it back. */
eddy_communicator *eddy__communicator_take(int64_t id);
void               eddy__communicator_give(eddy_communicator *c);

/* Records the first error and returns false; e may be NULL. */
bool eddy__distributed_fail(eddy_error *e, eddy_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ------------------------------------------------------------------ calls -- */

typedef enum eddy_collective {
    EDDY_ALL_REDUCE = 1, EDDY_ALL_GATHER, EDDY_REDUCE_SCATTER, EDDY_BROADCAST, EDDY_REDUCE,
    EDDY_ALL_TO_ALL, EDDY_SEND_RECEIVE, EDDY_BARRIER
} eddy_collective;

/* OpenMPI sends messages above 4 KiB only when the receiver has answered. So, of short data, at most
 * EDDY_FIRST_BYTES travel with the header where ranks meet, and the rest follows at once. */
enum { EDDY_SHORT_BYTES = 4096, EDDY_FIRST_BYTES = 3584, EDDY_CALL_NAME = 128 };

/* The collective that a rank is about to run. Members that ranks must share are compared. */
typedef struct eddy_call_header {
    uint32_t   size;                 /* of this struct */
    int32_t    rank;                 /* of the world */
    int32_t    kind, dtype;
    int32_t    detail;               /* the eddy_reduction, or the root; else 0 */
    int32_t    parts;                /* arrays that travel together */
    uint64_t   bytes;                /* of data with it where ranks meet; not compared */
    uint64_t   group;
    uint64_t   hash;                 /* of their shapes, or of the numbers of rows of all ranks */
    eddy_shape shape;                /* of the array, or of all parts together */
    char       name[EDDY_CALL_NAME]; /* of the node; "" for a call of the program */
} eddy_call_header;

_Static_assert(sizeof(eddy_call_header) + EDDY_FIRST_BYTES < 4000, "sent at once");

typedef struct eddy_packet {
    eddy_call_header header;
    char             data[EDDY_SHORT_BYTES];
} eddy_packet;

/* A collective in progress. */
typedef struct eddy_call {
    eddy_communicator *c;
    eddy_status      (*stopped)(const void *run);   /* why it must end early; NULL: it need not */
    const void        *run;
    eddy_error         error;
    bool               has_turn;                    /* holds the lock of the world */
    bool               in_background;               /* called by the thread for such collectives */
    double             begun;                       /* seconds */
    eddy_packet       *mine, *packets;              /* of a level, by digit, except for mine */
    eddy_message     **messages;                    /* in progress; NULL: ended */
    int                n_messages;
} eddy_call;

/* Begins a collective: waits for others of this process. `h` has kind, dtype, detail, shape,
 * name. Then end must follow, also after an error. */
bool eddy__collective_begin(eddy_call *call, eddy_communicator *c, const eddy_call_header *h);
bool eddy__collective_end(eddy_call *call);    /* false if there was an error */

/* Exchanges headers with the ranks of a level, and `bytes` of data if they are at most
 * EDDY_SHORT_BYTES. Ranks that have met at all levels, in their order, have all met. */
bool eddy__collective_meet(eddy_call *call, const eddy_level *at, const void *data, size_t bytes);
bool eddy__collective_meet_all(eddy_call *call);        /* without data */
/* The data that came from the rank with a digit, or this rank's. NULL with the call failed unless
 * they have so many bytes. */
void *eddy__collective_came(eddy_call *call, const eddy_level *at, int digit, size_t bytes);
/* Begins to send to a rank of the communicator, or to receive from it; finish waits for all. At
 * most EDDY_MESSAGES n at a time. */
enum { EDDY_MESSAGES = 4 };
bool eddy__collective_send(eddy_call *call, int to, const void *data, size_t bytes);
bool eddy__collective_receive(eddy_call *call, int from, void *data, size_t bytes);
/* The same with `take` for each part; false without an error if the transport cannot. */
bool eddy__collective_receive_parts(eddy_call *call, int from, size_t bytes, eddy_take_part take,
                                    void *taker);
bool eddy__collective_finish(eddy_call *call);
/* Fails this call, and with it all ranks; returns false. */
bool eddy__collective_fail(eddy_call *call, eddy_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails unless b, the header of another rank, is of the same collective. */
bool eddy__collective_compare(eddy_call *call, const eddy_call_header *a, const eddy_call_header *b);
/* Memory until the end of the call; NULL with the call failed. */
void *eddy__collective_scratch(eddy_call *call, uint64_t bytes);

/* -------------------------------------------------------------- exchanges -- */

/* The collectives on memory. `call` has begun; they meet first. `in` and `out` may be the same for
 * all_reduce, reduce and broadcast. rows[r] is the number of rows of rank r, each of row_bytes. */
bool eddy__all_reduce(eddy_call *call, const void *in, void *out, int64_t count);
/* The same for several arrays, which then have more than EDDY_SHORT_BYTES together. No `out`
 * overlaps an `in`, except its own. */
typedef struct eddy_reduced {
    const void *in;
    void       *out;
    int64_t     count;
} eddy_reduced;
bool eddy__all_reduce_arrays(eddy_call *call, int n, const eddy_reduced *arrays);
/* The result is on rank header.detail; elsewhere zeros. */
bool eddy__reduce(eddy_call *call, const void *in, void *out, int64_t count);
bool eddy__reduce_scatter(eddy_call *call, const void *in, void *out, const int64_t *rows,
                          int64_t row_count);
bool eddy__all_gather(eddy_call *call, const void *in, void *out, const int64_t *rows,
                      size_t row_bytes);
bool eddy__broadcast(eddy_call *call, const void *in, void *out, size_t bytes);
bool eddy__all_to_all(eddy_call *call, const void *in, const int64_t *sent, void *out,
                      const int64_t *received, size_t row_bytes);
/* to or from -1: no rank. */
bool eddy__send_receive(eddy_call *call, const void *in, int to, void *out, int from, size_t bytes);

/* Fails all ranks, if nothing has failed them before. */
void eddy__world_fail(eddy_world *w, eddy_status status, const char *why);

/* ------------------------------------------------------------- background -- */

/* An all_reduce that a thread of the world runs, in the order in which they were begun. */
typedef struct eddy_job eddy_job;

/* Begins one on `bytes` of data, which `fill` writes; its number, or 0 with an error. The caller
 * holds a reference to c only during the call: eddy__jobs_cancel waits for the job. */
int64_t eddy__job_begin(eddy_communicator *c, const eddy_call_header *h, int64_t count,
                        uint64_t bytes, void (*fill)(void *context, void *data), void *context,
                        eddy_error *error);
/* Waits for it, calls `take` with the result if there is one, and frees it. `stopped` as in a
 * call. */
bool    eddy__job_end(eddy_communicator *c, int64_t number, eddy_status (*stopped)(const void *run),
                      const void *run, void (*take)(void *context, const void *data), void *context,
                      eddy_error *error);
/* Waits until none is under way: other collectives come after all that were begun before. */
bool    eddy__jobs_wait(eddy_call *call);
/* Ends those of a communicator that is being freed, and those of the world with their thread. */
void    eddy__jobs_cancel(eddy_communicator *c);
void    eddy__background_free(eddy_world *w);

/* ------------------------------------------------------------------- times -- */

double eddy__seconds(void);          /* of a clock that is never set */
void   eddy__world_add_times(eddy_world *w, double exchanging, double waiting);

/* ------------------------------------------------------- outside of graphs -- */

/* The text of the root, on all ranks; the caller frees it. NULL with an error. */
char *eddy__broadcast_text(eddy_communicator *c, int root, const char *text, eddy_error *error);
/* Gives all ranks the error of the first rank that has one; true if none has. All ranks call it. */
bool  eddy__all_succeeded(eddy_communicator *c, eddy_error *error);
/* The names of the global variables that are whole, or of those of which each rank has a part
 * (division.h), each with a newline; the caller frees them. NULL without memory. */
char *eddy__variable_names(eddy_graph *g, bool divided);
/* The global variable of that name; node 0 if there is none. */
eddy_tensor eddy__variable_named(eddy_graph *g, const char *name);

/* --------------------------------------------------------------- combining -- */

/* Whether elements of the type can be reduced so; else the reason is in `why`. */
bool   eddy__reduction_fits(eddy_reduction how, eddy_dtype d, char *why, size_t size);
/* n parts are combined, pair by pair. Partial results of half types are float32 (eddy__sum_type):
 * one of `from` and `to` may be a half type and the other one float32. */
typedef struct eddy_combining {
    eddy_dtype     from, to;         /* of the parts, and of the result */
    eddy_reduction how;
    int            n, ranks;         /* a mean divides by the number of ranks */
    int            kept;             /* a part that is not changed */
} eddy_combining;
eddy_dtype eddy__sum_type(eddy_dtype d);
/* Parts may be changed, and `out` may be one of them, of the same type; work is memory of
 * eddy__combine_work bytes, for half types. */
void   eddy__combine(const eddy_combining *x, void **parts, int64_t count, void *out, void *work);
size_t eddy__combine_work(eddy_dtype d, int n);

float    eddy__half_to_float(eddy_dtype d, uint16_t h);
uint16_t eddy__float_to_half(eddy_dtype d, float x);

#endif
