/* transport.h -- how messages travel between ranks, for authors of transports. The library has one
 * whose ranks are threads of a process; libeddy_mpi is another one (distributed/mpi/mpi_ranks.h).
 *
 * A transport only moves bytes from one rank to another. Collectives, their checks and their sums are
 * built on that, so results have the same bits with every transport. */
#ifndef EDDY_DISTRIBUTED_TRANSPORT_H
#define EDDY_DISTRIBUTED_TRANSPORT_H

#include "communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A message that is being sent or received. */
typedef struct eddy_message eddy_message;

/* Takes the `bytes` of a message that follow its first `before`. */
typedef void (*eddy_take_part)(void *taker, size_t before, void *part, size_t bytes);

/* The functions of a transport; each receives the context that was given with the table. One thread
 * at a time calls them; `fail` may be called at any time. Name the members: those that a later version
 * adds are optional, and NULL if they are not named. */
typedef struct eddy_transport {
    const char *name;                /* "threads" */
    /* Begins to send bytes to a rank, or to receive them from it. Messages from one rank to another
     * arrive in the order in which they were sent; one may be shorter than the receiver permits, not
     * longer. `data` must stay until `wait` or `cancel` has ended the message. NULL with an error
     * if that is impossible. */
    eddy_message *(*send)(void *context, int to, const void *data, size_t bytes, eddy_error *error);
    eddy_message *(*receive)(void *context, int from, void *data, size_t bytes, eddy_error *error);
    /* Waits for the end of the message, at most so many seconds. True with *ended if it has ended, and
     * without if it is still under way. False with an error if the other rank has ended, or a rank
     * has failed; then the message still has to be cancelled. */
    bool        (*wait)(void *context, eddy_message *m, double seconds, bool *ended,
                        eddy_error *error);
    /* Ends a message early. Its memory is not used afterwards. */
    void        (*cancel)(void *context, eddy_message *m);
    /* Ends the waits of all ranks, now and later, with this status and text. */
    void        (*fail)(void *context, eddy_status status, const char *text);
    /* The rank leaves: whoever waits for it gets an error. Frees the context. */
    void        (*close)(void *context);
    /* Optional. Like `receive`, except that `take` gets the message, one part after the other. A part
     * begins at a multiple of 8 bytes, in memory that `take` may change, and each part except for the
     * last has a multiple of 8 bytes. `take` is called within `wait` only, by its thread, and not after
     * `wait` or `cancel` has ended the message. NULL if messages of this rank cannot come so; `receive`
     * is called then. */
    eddy_message *(*receive_parts)(void *context, int from, size_t bytes, eddy_take_part take,
                                   void *taker);
    /* Optional. The rank has waited for m for a quarter of a second, in a collective that `what` names,
     * which is valid during the call only. It is called at most once for a message, and m stays until
     * `wait` or `cancel` ends it. If ranks wait for each other in a circle, as one that needs a message
     * of a rank in another collective, the waits of all ranks end with EDDY_INVALID_ARGUMENT and a text
     * that names the ranks of the circle and what each does, as far as there is room. */
    void        (*explain_wait)(void *context, eddy_message *m, const char *what);
} eddy_transport;

/* The communicator of one rank, which takes the context over, also on an error. The caller frees it.
 * The table must outlive it. NULL with an error for a rank outside of 0..size-1, missing functions, or
 * no memory. */
EDDY_API eddy_communicator *eddy_communicator_new(const eddy_transport *transport, void *context,
                                                  int rank, int size, eddy_error *error);

#ifdef __cplusplus
}
#endif
#endif
