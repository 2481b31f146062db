/* training.h -- training steps of several ranks: each computes gradients from its share of the
 * examples, and all apply the same average. */
#ifndef EDDY_DISTRIBUTED_TRAINING_H
#define EDDY_DISTRIBUTED_TRAINING_H

#include "communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_distributed_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_distributed_args));
    eddy_optimizer    *optimizer;    /* required */
    eddy_communicator *communicator; /* required */
    /* the number of examples of this rank's loss, a scalar of a real type: gradients are weighted by it;
     * 0 on a rank without examples, whose gradients do not count; if no rank has any, the gradients
     * are 0; default: equal numbers */
    eddy_tensor        examples;
    bool               sum;          /* gradients are summed; default: averaged */
    int64_t            bucket_bytes EDDY_DEFAULT(4194304); /* of gradients that travel together */
    const char        *name;         /* default "Distributed" */
} eddy_distributed_args;
/* The optimizer with the average of the ranks' gradients, so that all ranks take the same step:
 *
 *   eddy_optimizer *o = eddy_distributed(eddy_adam(g), c);
 *   eddy_tensor train = eddy_minimize(o, loss);
 *
 * If losses are means over the examples of each rank, the step is that of one process with all of them.
 * Dense gradients travel in buckets; of sparse gradients (IndexedSlices) the rows of all ranks are
 * gathered, in any numbers. Wrap the other wrappers: what they do then follows from the averaged
 * gradients, on all ranks alike. So clipping uses the global norm over all ranks, and a step that
 * eddy_loss_scale or eddy_apply_if_finite skips is skipped on all ranks. All ranks must begin with the
 * same variables: eddy_broadcast_variables. Errors: EDDY_INVALID_ARGUMENT for an invalid optimizer, no
 * communicator, or both `sum` and `examples`; EDDY_OUT_OF_RANGE for bucket_bytes below 1. */
EDDY_API eddy_optimizer *eddy_distributed_with(const eddy_distributed_args *given);
#define eddy_distributed(...) eddy_distributed_with(EDDY_ARGS(eddy_distributed_args, __VA_ARGS__))

/* Gives all global variables of the session that have a value on the root the values that they have
 * there: after the initializer, or after rank 0 has restored a checkpoint. All ranks call it. False with
 * an error. */
EDDY_API bool eddy_broadcast_variables(eddy_communicator *c, int root, eddy_graph *g, eddy_session *s,
                                       eddy_error *error);

#ifdef __cplusplus
}
#endif
#endif
