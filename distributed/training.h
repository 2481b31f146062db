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
    /* the number of examples of this rank's loss, a scalar of a real type: gradients are
     * weighted by it; 0 on a rank without examples, whose gradients do not count; if no rank has
     * any, the gradients are 0; default: equal numbers */
    eddy_tensor        examples;
    bool               sum;          /* gradients are summed; default: averaged */
    int64_t            bucket_bytes EDDY_DEFAULT(4194304); /* of gradients that travel together */
    const char        *name;         /* default "Distributed" */
    /* buckets of dense gradients travel while the run computes others: a thread of each rank
     * exchanges copies of them. It pays between machines, with a bucket_bytes of about 256 KiB, and
     * not between ranks of one machine */
    bool               overlap;
    /* dense float32 gradients travel as bfloat16, half as many bytes. What rounding loses is
     * kept in variables of each rank and added in the next step; results then depend on the
     * number of ranks */
    bool               compress;
    /* sparse gradients of variables of at most so many bytes travel as dense ones. These are shorter
     * where a batch uses most rows, or a row often. The optimizer gets the sum of all rows of an
     * index, and zeros for the others, which momentum and Adam may still move; default 0: the rows
     * of all ranks are gathered */
    int64_t            dense_bytes;
} eddy_distributed_args;
/* The optimizer with the average of the ranks' gradients, so that all ranks take the same step:
 *
 *   eddy_optimizer *o = eddy_distributed(eddy_adam(g), c);
 *   eddy_tensor train = eddy_minimize(o, loss);
 *
 * If losses are means over the examples of each rank, the step is that of one process with all
 * of them. Dense gradients travel in buckets; of sparse gradients (IndexedSlices) the rows of
 * all ranks are gathered, in any numbers. Wrap the other wrappers: what they do then follows
 * from the averaged gradients, on all ranks alike. So clipping uses the global norm over all
 * ranks, and a step that eddy_loss_scale or eddy_apply_if_finite skips is skipped on all ranks.
 * All ranks must begin with the same variables: eddy_broadcast_variables. Errors:
 * EDDY_INVALID_ARGUMENT for an invalid optimizer, no communicator, both `sum` and `examples`, or
 * both `overlap` and `compress`; EDDY_OUT_OF_RANGE for bucket_bytes below 1 or dense_bytes below 0. */
EDDY_API eddy_optimizer *eddy_distributed_with(const eddy_distributed_args *given);
#define eddy_distributed(...) eddy_distributed_with(EDDY_ARGS(eddy_distributed_args, __VA_ARGS__))

typedef struct eddy_sharded_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_sharded_args));
    eddy_optimizer    *optimizer;    /* required */
    eddy_communicator *communicator; /* required */
    /* the gradients are those of all ranks already, from an eddy_distributed around this
     * optimizer */
    bool               averaged;
    eddy_tensor        examples;     /* these three as of eddy_distributed */
    bool               sum;
    int64_t            bucket_bytes EDDY_DEFAULT(4194304);
    const char        *name;         /* default "Sharded" */
} eddy_sharded_args;
/* The optimizer with slots and gradients divided among the ranks (ZeRO, Rajbhandari et al. 2020,
 * stages 1 and 2), in place of eddy_distributed:
 *
 *   eddy_optimizer *o = eddy_sharded(eddy_adam(g), c);
 *
 * Each variable is updated by one rank, which alone has its slots and the average of its gradients;
 * then it has the new value on all ranks. Steps have the bits of eddy_distributed. Variables are
 * divided as a whole, the largest first, so that ranks have about the same number of bytes: with
 * fewer variables than ranks, some ranks have no slots.
 *
 * An optimizer that combines the gradients of several variables, such as clipping by the global
 * norm or loss scaling, cannot be inside (EDDY_INVALID_ARGUMENT). A function of the program
 * (eddy_transformed_gradients) is called once with all gradients, for this check, and then with those of
 * the rank's variables. What combines goes around; then slots alone are divided (stage 1):
 *
 *   o = eddy_sharded(eddy_adam(g), c, .averaged = true);
 *   o = eddy_distributed(eddy_clipped_gradients(o, .global_norm = most), c);
 *
 * Build what draws random numbers before the step: ranks have different nodes after it. Save
 * with eddy_save_ranks. Errors: those of eddy_distributed; EDDY_INVALID_ARGUMENT for `averaged`
 * with `sum` or `examples`. */
EDDY_API eddy_optimizer *eddy_sharded_with(const eddy_sharded_args *given);
#define eddy_sharded(...) eddy_sharded_with(EDDY_ARGS(eddy_sharded_args, __VA_ARGS__))

/* Trainable variables of the layers that are built until eddy_divide_variables_end are divided among the
 * ranks, too (ZeRO, stage 3), and so are their gradients and slots:
 *
 *   eddy_divide_variables_begin(c, g, 1000);
 *   ... layers ...
 *   eddy_divide_variables_end(g);
 *   eddy_optimizer *o = eddy_sharded(eddy_adam(g), c);
 *
 * A layer gets a tensor that gathers the parts of all ranks; gradients gather them again, so that the
 * memory of a whole variable is free between its uses. Each rank has a vector of count / ranks elements,
 * which the optimizer updates; variables of fewer than `least` elements, or fewer elements than ranks,
 * stay whole. The initial value is computed whole on each rank: ranks need the same seeds, and
 * eddy_initialize_variables. Steps have the bits of eddy_distributed on 2, 4, 8, ... ranks, except for
 * tables, whose gradients are dense here, and where norms are used: they are sums over the ranks' parts.
 *
 * LAMB, LARS, NovoGrad and clipping by the norm of each gradient work with parts, inside eddy_sharded or
 * eddy_distributed. Clipping by the global norm, loss scaling and eddy_apply_if_finite go around an
 * optimizer with `averaged`, as for eddy_sharded:
 *
 *   o = eddy_sharded(eddy_adam(g), c, .averaged = true);
 *   o = eddy_distributed(eddy_clipped_gradients(o, .global_norm = most), c);
 *
 * EDDY_INVALID_ARGUMENT outside of them, for optimizers that need a whole variable (Adafactor, Muon, Shampoo,
 * SM3, Prodigy), and for `examples`: weight the loss. Layers cannot be reused.
 * Errors: EDDY_INVALID_ARGUMENT without a communicator, or for an end without a beginning;
 * EDDY_OUT_OF_RANGE for a negative `least`. */
EDDY_API void eddy_divide_variables_begin(eddy_communicator *c, eddy_graph *g, int64_t least);
EDDY_API void eddy_divide_variables_end(eddy_graph *g);

/* Gives all ranks the values that the global variables have on the root: after the initializer, or
 * after rank 0 has restored a checkpoint. Variables that only some ranks have, such as slots of
 * eddy_sharded, are set where they are; those of which each rank has a part are left alone. All ranks
 * call it. False with an error. */
EDDY_API bool eddy_broadcast_variables(eddy_communicator *c, int root, eddy_graph *g,
                                       eddy_session *s, eddy_error *error);

/* Gives the global variables their initial values, the same on any number of ranks: those that a process
 * alone draws, also where each rank has a part (eddy_divide_variables_begin) and where .first_run of the
 * session lets ranks draw different numbers; whole variables are then those of rank 0. In place of
 * eddy_initializer and eddy_broadcast_variables. All ranks call it. If a rank fails, all return false with
 * its error: that of the initializer. */
EDDY_API bool eddy_initialize_variables(eddy_communicator *c, eddy_graph *g, eddy_session *s,
                                        eddy_error *error);

/* Saves the global variables of all ranks, each once, as one checkpoint: a file for each rank
 * beside the index `path`, which ends in ".safetensors.index.json"; all ranks call it, with a
 * folder that they share. Any number of ranks, each with its graph, and a process alone restore it:
 *
 *   eddy_save_ranks(c, g, session, "m.safetensors.index.json", &error);
 *   eddy_restore_part(g, session, "m.safetensors.index.json", &error);
 *
 * Files have new names, and the index is replaced atomically when all are complete; then older
 * files are removed. After a crash the index is that of the old checkpoint or the new one, and
 * complete. The index lists all ranks' variables, and rank 0's file has the counts of draws. Variables
 * of which each rank has a part are saved whole, with their slots, in files of their own.
 * POSIX files only. If a rank cannot save, all return false with its error, the files of the old
 * checkpoint stay and no others, and the communicator still works. EDDY_INVALID_ARGUMENT for a missing
 * argument or another path; those of eddy_save. */
EDDY_API bool eddy_save_ranks(eddy_communicator *c, eddy_graph *g, eddy_session *s,
                              const char *path, eddy_error *error);
/* The same with n pairs of rank 0 (those of other ranks do not count), as eddy_save_checkpoint has them,
 * which eddy_checkpoint_text reads: the position of a dataset (EDDY_DATASET_POSITION), for example. */
EDDY_API bool eddy_save_ranks_with_metadata(eddy_communicator *c, eddy_graph *g, eddy_session *s,
                                            const char *path, const eddy_metadata *metadata, int n,
                                            eddy_error *error);

/* eddy_restore for ranks: also for graphs with variables of which each rank has a part
 * (eddy_divide_variables_begin, parallel_layers.h). The file, of any number of ranks or of one process, has
 * them whole, and this rank takes its part. Ranks need not call it together.
 *
 * A training whose bits do not depend on the number of ranks goes on exactly on another number, if it was
 * saved between two steps: slots of eddy_accumulate_gradients (gradient sums), of which fewer ranks
 * have more, are 0 where the file lacks them. A global step counts runs: set it to the number of steps
 * times the runs of a step. Variables may have been set before a failure. False with the error of
 * eddy_restore, and EDDY_BAD_SHAPE if the file has another whole. */
EDDY_API bool eddy_restore_part(eddy_graph *g, eddy_session *s, const char *path, eddy_error *error);

/* eddy_run on all ranks of a communicator, where one rank's failure is every rank's: the others
 * wait for nothing, and their runs end with "rank 1 failed: " and its message. Without it, they
 * wait until the rank that has failed frees its communicator. The status is that of eddy_run;
 * the communicator then stays in error. */
EDDY_API eddy_status eddy_run_ranks(eddy_communicator *c, eddy_session *s, eddy_feeds feeds,
                                    eddy_list fetches, eddy_array **out);

#ifdef __cplusplus
}
#endif
#endif
