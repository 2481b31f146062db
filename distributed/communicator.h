/* communicator.h -- ranks that train together: processes on several machines, or threads of one
 * process, each with a graph and a session of its own.
 *
 * Ranks have numbers from 0 to size - 1. Collectives are calls or operations that all ranks of a
 * communicator make in the same order with the same arguments; each waits for the others. If ranks
 * differ, or wait for each other in a circle, all of them get an error that says how, where the
 * transport finds circles, as threads and MPI do. Above 32 ranks, a message of eddy_send_receive that
 * its receiver does not expect may go unnoticed over MPI. Once a rank has failed, ended or been
 * cancelled, every wait for it, now or later, is an error: EDDY_CLOSED, EDDY_CANCELLED or what the rank
 * said. Such a communicator stays as it is; graphs and sessions remain usable.
 *
 * These functions are a library of their own, libeddy_distributed, which uses only the public
 * interface of Eddy: include <eddy/distributed.h> and link with pkg-config --libs eddy-distributed. */
#ifndef EDDY_DISTRIBUTED_COMMUNICATOR_H
#define EDDY_DISTRIBUTED_COMMUNICATOR_H

#include "../eddy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One rank's view of a group of ranks. Several threads may use it: collectives of a process wait for
 * each other. */
typedef struct eddy_communicator eddy_communicator;

enum { EDDY_MAX_RANKS = 4096, EDDY_MAX_BUCKET = 256 };  /* the tensors of one all_reduce */

/* How all_reduce combines the elements of the ranks. Sums and means are formed pair by pair, always in
 * the same order: ranks 0 and 1, 2 and 3, then these sums, and so on. So results have the same bits in
 * every run, on every rank and with every transport. NaN on one rank is NaN in the result. */
typedef enum eddy_reduction {
    EDDY_REDUCE_SUM = 0,
    EDDY_REDUCE_MEAN,                /* floating and complex types */
    EDDY_REDUCE_MIN,                 /* real types */
    EDDY_REDUCE_MAX
} eddy_reduction;

EDDY_API int eddy_communicator_rank(const eddy_communicator *c);   /* 0 for NULL */
EDDY_API int eddy_communicator_size(const eddy_communicator *c);   /* 1 for NULL */

/* The communicator of some ranks of c, given by their numbers in c, in the order of their numbers in
 * the group. Only its members call this, with the same list. The caller frees it. NULL with an error
 * (EDDY_INVALID_ARGUMENT, EDDY_NO_MEMORY) for a list that is empty, has a rank twice, or lacks this
 * rank. */
EDDY_API eddy_communicator *eddy_communicator_group(eddy_communicator *c, const int *ranks, int count,
                                                    eddy_error *error);
/* Leaves: ranks that wait for this one get an error. Operations of graphs that use c then fail in a
 * run. NULL is allowed. */
EDDY_API void eddy_communicator_free(eddy_communicator *c);

/* A child of fork() is not a rank: it must neither use the communicators of its parent, whose locks may
 * be held, nor run graphs with collectives. */

/* Makes an error of this rank every rank's: their waits, now and later, end with EDDY_CLOSED and
 * "rank 1 failed: TEXT". For errors outside of collectives, such as a file that a rank cannot read. */
EDDY_API void eddy_communicator_fail(eddy_communicator *c, const char *text);
/* EDDY_OK, or why collectives of c no longer work; the text is valid until c is freed. */
EDDY_API eddy_status eddy_communicator_status(const eddy_communicator *c);
EDDY_API const char *eddy_communicator_message(const eddy_communicator *c);

/* Where the time of each rank went since it joined, or since the last report: rank 0 writes a table to
 * `to`, NULL for stdout, and names a rank for which the others wait. All ranks call it.
 *
 *   rank   seconds  computing  waiting  overlapped
 *      0     12.03      81.2%    18.8%       30.4%
 *
 *   waiting     for messages and for ranks that come later
 *   overlapped  messages were under way, and the rank computed */
EDDY_API bool eddy_report_ranks(eddy_communicator *c, FILE *to, eddy_error *error);

/* Collectives on arrays, outside of graphs: for losses, metrics and decisions of the program. They
 * change the elements of `array`, which has the same type and shape on all ranks, in place; false with
 * an error. collectives.h has them as operations. */
EDDY_API bool eddy_array_all_reduce(eddy_communicator *c, eddy_reduction how, eddy_array *array,
                                    eddy_error *error);
EDDY_API bool eddy_array_broadcast(eddy_communicator *c, int root, eddy_array *array,
                                   eddy_error *error);
/* Waits until all ranks have called it. */
EDDY_API bool eddy_rank_barrier(eddy_communicator *c, eddy_error *error);

/* A view of this rank's share of the rows of `array`, along axis 0, without copying: of n rows, those
 * from n rank / size to n (rank + 1) / size. So all ranks can read one batch, and each feeds its part:
 *
 *   eddy_run(s, EDDY_FEED({ x, EDDY_SHARE(c, images) }, { y, EDDY_SHARE(c, labels) }), ...);
 *
 * It lives until the end of the block (in C++: of the statement), and the header is stored in *room.
 * NULL if there is no array, or for a scalar. */
EDDY_API const eddy_array *eddy_array_share(eddy_array_room *room, const eddy_communicator *c,
                                            const eddy_array *array);
#ifdef __cplusplus
extern "C++" {
inline const eddy_array *eddy_share_(const eddy_communicator *c, const eddy_array *array,
                                     eddy_array_room &&room = {})
{
    return eddy_array_share(&room, c, array);
}
}
#define EDDY_SHARE(c, array) (eddy_share_(c, array))
#else
#define EDDY_SHARE(c, array) (eddy_array_share(EDDY_ROOM_, c, array))
#endif

/* Runs `rank` on `size` threads, each with a communicator of all of them, and returns when all have
 * returned: true if all returned true. A rank that returns leaves, so that no other waits for it. In
 * `error`, the first failure of a communicator, if there was one. For tests, debuggers, and
 * machines with several sockets. */
EDDY_API bool eddy_run_threads(int size, bool (*rank)(eddy_communicator *c, void *context),
                               void *context, eddy_error *error);

#ifdef __cplusplus
}
#endif
#endif
