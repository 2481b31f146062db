/* averaging.h -- what the optimizers of several ranks do with the gradients of a step; not
 * installed. */
#ifndef EDDY_DISTRIBUTED_AVERAGING_H
#define EDDY_DISTRIBUTED_AVERAGING_H

#include "distributed/collective_op.h"

/* How gradients are averaged; the graph owns it. */
typedef struct averaging {
    int64_t     communicator;
    eddy_tensor examples;
    eddy_tensor share;               /* of this rank's examples in all; node 0: equal */
    bool        sum, overlap, compress;
    int64_t     bucket_bytes, dense_bytes;
} averaging;

/* The communicator, a reference that the caller gives back, with the share of this rank; NULL
 * with an error on the graph. */
eddy_communicator *eddy__averaging_begin(averaging *a, const char *what, eddy_graph *g);
/* The gradient times the share of this rank. */
eddy_tensor    eddy__weighted(const averaging *a, eddy_tensor g);
eddy_reduction eddy__averaging_reduction(const averaging *a);
/* For a variable of which each rank has a part: what gathers it has the sum of the ranks' gradients as its
 * gradient; a layer that is divided has the gradient of the one loss. */
void           eddy__average_part(const averaging *a, const char *what, int ranks, eddy_gradient_pair *p);
/* The rows of all ranks; divided, because rows of one index are summed later. */
eddy_tensor    eddy__gathered(const averaging *a, eddy_communicator *c, eddy_gradient_pair p,
                              eddy_tensor values, eddy_tensor indices);
/* y[i] = the sum or mean of x[i], float32 of known shapes, rounded to bfloat16 on its way. */
bool           eddy__all_reduce_compressed(eddy_communicator *c, eddy_list x, eddy_reduction how,
                                           eddy_tensor *y);
bool           eddy__can_compress(eddy_tensor x);
/* The size of a variable, or a default if its shape is not known. */
int64_t        eddy__bytes_of(eddy_tensor variable, int64_t otherwise);

#endif
