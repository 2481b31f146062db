/* collectives.h -- collectives as operations of a graph, which all ranks build and run alike.
 *
 * Ranks meet in the order in which the collectives were built, which is the same on all ranks because
 * the graphs are the same: each collective has a control edge to the one before it. A run executes
 * those that its fetches need, so all ranks fetch the same. A difference between ranks (another
 * operation, type, shape, option or node) is the error EDDY_INVALID_ARGUMENT on all of them, which names
 * the operation, the node and both sides. Their values are never merged, folded or kept.
 *
 * Derivatives are those of the sum of the ranks' losses: each rank differentiates its own loss, and what
 * other ranks' losses contribute comes by a collective. So the gradient of a collective is a collective,
 * and all ranks must build and fetch it.
 *
 * Options in each struct: `communicator` and `x` are required; collectives with `root` take the number
 * of a rank. Errors of all: EDDY_INVALID_ARGUMENT without a communicator; in a run, EDDY_CLOSED if it
 * has been freed, or a rank has ended or failed; EDDY_CANCELLED and EDDY_TIMED_OUT if the run of a
 * rank ends early. eddy_vmap maps them over examples. A graph file cannot contain them. */
#ifndef EDDY_DISTRIBUTED_COLLECTIVES_H
#define EDDY_DISTRIBUTED_COLLECTIVES_H

#include "communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The collection with the collectives of a graph, in the order in which ranks meet. */
#define EDDY_COLLECTIVES "collectives"

typedef struct eddy_all_reduce_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_all_reduce_args));
    eddy_communicator *communicator;
    eddy_tensor        x;
    eddy_reduction     reduction;    /* default: the sum */
    const char        *name;
} eddy_all_reduce_args;
/* y = the sum, mean, least or greatest of the ranks' x, elementwise; the same on all ranks.
 *
 *   x  any type except bool, any shape, the same on all ranks; y has both. Means of floating and
 *      complex types, extremes of real ones. Half types are combined in float32.
 *
 *   eddy_tensor mean = eddy_all_reduce(c, loss, .reduction = EDDY_REDUCE_MEAN);
 *
 * Gradient: of sum and mean, the sum or mean of the ranks' dy; of an extreme, the sum of dy, divided
 * equally among the elements of all ranks that have it. */
EDDY_API eddy_tensor eddy_all_reduce_with(const eddy_all_reduce_args *given);
#define eddy_all_reduce(...) eddy_all_reduce_with(EDDY_ARGS(eddy_all_reduce_args, __VA_ARGS__))
/* y[i] = the same of x.at[i], tensors of one type, with one exchange of messages for all. y has room for
 * x.count tensors. False with an error on the graph. */
EDDY_API bool eddy_all_reduce_list(eddy_communicator *c, eddy_list x, eddy_reduction how,
                                   eddy_tensor *y);

typedef struct eddy_all_gather_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_all_gather_args));
    eddy_communicator *communicator;
    eddy_tensor        x;
    bool               uneven;       /* ranks may have different numbers of rows, 0 too */
    const char        *name;
} eddy_all_gather_args;
/* y = the rows of all ranks, in the order of ranks: x along axis 0.
 *
 *   x  any type, rank at least 1; y has the same dimensions except the first
 *
 * `uneven` exchanges the numbers of rows first. Gradient: each rank gets the sum of the ranks' dy for its
 * rows (eddy_reduce_scatter). */
EDDY_API eddy_tensor eddy_all_gather_with(const eddy_all_gather_args *given);
#define eddy_all_gather(...) eddy_all_gather_with(EDDY_ARGS(eddy_all_gather_args, __VA_ARGS__))

typedef struct eddy_reduce_scatter_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_reduce_scatter_args));
    eddy_communicator *communicator;
    eddy_tensor        x;
    eddy_tensor        rows;         /* int64, one for each rank; default: equal numbers */
    const char        *name;
} eddy_reduce_scatter_args;
/* y = rows of the sum of the ranks' x: the first rows[0] are rank 0's, and so on.
 *
 *   x     any type except bool, rank at least 1, the same shape on all ranks. Without `rows`, the
 *         number of rows is a multiple of the number of ranks (EDDY_BAD_SHAPE)
 *   rows  the same on all ranks; their sum is the number of rows of x
 *
 * Gradient: the rows of dy of all ranks (eddy_all_gather). */
EDDY_API eddy_tensor eddy_reduce_scatter_with(const eddy_reduce_scatter_args *given);
#define eddy_reduce_scatter(...) \
    eddy_reduce_scatter_with(EDDY_ARGS(eddy_reduce_scatter_args, __VA_ARGS__))

typedef struct eddy_rooted_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_rooted_args));
    eddy_communicator *communicator;
    eddy_tensor        x;
    int64_t            root;
    const char        *name;
} eddy_rooted_args;
/* y = x of the root, on all ranks. x: any type, the same shape on all ranks. Gradient: the sum of the
 * ranks' dy on the root, and 0 elsewhere (eddy_reduce_to_root). */
EDDY_API eddy_tensor eddy_broadcast_from_root_with(const eddy_rooted_args *given);
#define eddy_broadcast_from_root(...) eddy_broadcast_from_root_with(EDDY_ARGS(eddy_rooted_args, __VA_ARGS__))
/* y = the sum of the ranks' x on the root, and 0 elsewhere. x: any type except bool, the same shape on
 * all ranks. Gradient: dy of the root (eddy_broadcast_from_root). */
EDDY_API eddy_tensor eddy_reduce_to_root_with(const eddy_rooted_args *given);
#define eddy_reduce_to_root(...) eddy_reduce_to_root_with(EDDY_ARGS(eddy_rooted_args, __VA_ARGS__))

typedef struct eddy_all_to_all_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_all_to_all_args));
    eddy_communicator *communicator;
    eddy_tensor        x;
    eddy_tensor        rows;         /* int64, one for each rank; default: equal numbers */
    const char        *name;
} eddy_all_to_all_args;
/* Each rank sends the first rows[0] rows of x to rank 0, the next rows[1] to rank 1, and so on. y = what
 * this rank gets, in the order of ranks: the transpose of a matrix whose blocks the ranks hold.
 *
 *   x     any type, rank at least 1; without `rows`, the number of rows is a multiple of the number
 *         of ranks (EDDY_BAD_SHAPE)
 *   rows  their sum is the number of rows of x; ranks may have different ones, which are exchanged first
 *
 * Gradient: the rows of dy, sent back. */
EDDY_API eddy_tensor eddy_all_to_all_with(const eddy_all_to_all_args *given);
#define eddy_all_to_all(...) eddy_all_to_all_with(EDDY_ARGS(eddy_all_to_all_args, __VA_ARGS__))

typedef struct eddy_send_receive_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_send_receive_args));
    eddy_communicator *communicator;
    eddy_tensor        x;
    int64_t            to EDDY_DEFAULT(-1);      /* -1: x is not sent */
    int64_t            from EDDY_DEFAULT(-1);    /* -1: nothing is received, y is 0 */
    const char        *name;
} eddy_send_receive_args;
/* Sends x to one rank, and y = what another one sends, of the type and shape of x. Ranks have different
 * options, so that each message has a sender and a receiver: with to = rank + 1 and from = rank - 1, values
 * move along the ranks. Only the two ranks of a message wait for each other.
 *
 *   x  any type, the same shape on both
 *
 * Gradient: dy, sent back. */
EDDY_API eddy_tensor eddy_send_receive_with(const eddy_send_receive_args *given);
#define eddy_send_receive(...) \
    eddy_send_receive_with(EDDY_ARGS(eddy_send_receive_args, __VA_ARGS__))

/* An operation without a value: waits until all ranks run it. */
EDDY_API eddy_tensor eddy_barrier(eddy_graph *g, eddy_communicator *c);

#ifdef __cplusplus
}
#endif
#endif
