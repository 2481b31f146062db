/* collective_op.h -- what the operations of collectives share; not installed. */
#ifndef EDDY_DISTRIBUTED_COLLECTIVE_OP_H
#define EDDY_DISTRIBUTED_COLLECTIVE_OP_H

#include "distributed/collectives.h"
#include "distributed/internal.h"
#include "graph/op.h"

/* The attributes of all collectives. */
typedef struct eddy_collective_attrs {
    int64_t     communicator;        /* its id */
    int64_t     ranks, rank;
    int64_t     detail;              /* the reduction, the root, or the rank that gets x */
    int64_t     from;                /* of send_receive */
    const char *node;                /* the name that ranks compare */
} eddy_collective_attrs;

extern const eddy_op_def eddy__op_all_reduce, eddy__op_all_gather, eddy__op_reduce_scatter,
    eddy__op_broadcast_from_root, eddy__op_reduce_to_root, eddy__op_all_to_all,
    eddy__op_send_receive, eddy__op_reduce_from_ranks, eddy__op_copy_to_ranks, eddy__op_barrier;

/* The attributes of a collective of c; false with an error on the graph if it is NULL. */
bool eddy__collective_attrs(eddy_graph *g, const eddy_op_def *op, const eddy_communicator *c,
                            eddy_collective_attrs *out);
/* Appends a collective after all earlier ones of the graph. `name` NULL: the default. */
eddy_tensor eddy__collective_apply(eddy_graph *g, const eddy_op_def *op,
                                   const eddy_collective_attrs *attrs, int n, const eddy_tensor *x,
                                   const char *name);
/* The same for a gradient or batching rule: the same attributes, another operation. */
eddy_tensor eddy__collective_again(const eddy_op_def *op, const void *attrs, int n,
                                   const eddy_tensor *x);
/* y[i] = the result of ReduceToRoot or BroadcastFromRoot for x[i], tensors of one type, with one
 * exchange. */
void        eddy__rooted_list(const eddy_op_def *op, eddy_communicator *c, int root, int n,
                              const eddy_tensor *x, eddy_tensor *y);

/* Begins the call of a kernel: `shape` is that of all inputs together, `rows` the numbers of
 * rows of all ranks, which they must agree on, or NULL. False: return eddy__kernel_end. */
bool        eddy__kernel_begin(eddy_kernel *k, eddy_call *call, eddy_collective kind, eddy_shape shape,
                               const int64_t *rows);
eddy_status eddy__kernel_end(eddy_kernel *k, eddy_call *call);
/* What the call of the kernel says to other ranks. */
eddy_call_header eddy__kernel_header(const eddy_kernel *k, eddy_collective kind, eddy_shape shape,
                                     const int64_t *rows);

/* y[i] = the same of x[i] as eddy_all_reduce_list; other nodes run while the messages travel. */
bool eddy__all_reduce_overlapped(eddy_communicator *c, eddy_list x, eddy_reduction how,
                                 eddy_tensor *y);

#endif
