/* tape.h -- differentiating what is built between a begin and an end.
 *
 *   eddy_tape *tape = eddy_tape_new(g);
 *   EDDY_RECORD(tape) {
 *       eddy_tape_watch(tape, EDDY_LIST(x));
 *       y = Mul(x, x);
 *   }
 *   eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &dy_dx);
 *
 * A tape remembers which nodes were built while it recorded and what it watched
 * when; it copies nothing and costs nothing to the nodes.  A node is on the tape
 * if it was built while recording from something differentiable that was on it
 * then: a watched tensor, a trainable variable (watched when it is first used),
 * or another node on it.  Gradients flow along the tape alone.  Tapes nest to any
 * depth; each sees what is built, gradients too, so they give higher orders.
 *
 * A tape belongs to its graph and is freed with it at the latest.  A NULL or
 * freed tape is an error where there is a graph to carry it, and harmless
 * otherwise.  After tf.GradientTape. */
#ifndef EDDY_TAPE_H
#define EDDY_TAPE_H

#include "autodiff.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_tape eddy_tape;

typedef struct eddy_tape_args {
    char        unused_;
    eddy_graph *graph;
    bool        persistent;                     /* gradients may be asked for more than once */
    bool        no_watch_accessed_variables;    /* only what eddy_tape_watch names */
} eddy_tape_args;

/* A tape that does not record yet; NULL if out of memory. */
EDDY_API eddy_tape *eddy_tape_new_with(eddy_tape_args args);
#define eddy_tape_new(...) eddy_tape_new_with(EDDY_ARGS(eddy_tape_args, __VA_ARGS__))
/* Gives back what it holds before its graph goes; what it built stays. */
EDDY_API void eddy_tape_free(eddy_tape *tape);

/* Records from here; a second time goes on with the same recording.  Returns the
 * tape, NULL on an error.  Error: "Tape is already recording." */
EDDY_API eddy_tape *eddy_tape_begin(eddy_tape *tape);
/* Ends the recording; without effect if it has ended. */
EDDY_API void eddy_tape_end(eddy_tape *tape);

/* What is built between is not recorded; values that it makes are constants to
 * the tape.  Error where the tape is not recording. */
EDDY_API void eddy_tape_stop_recording(eddy_tape *tape);
EDDY_API void eddy_tape_resume(eddy_tape *tape);
EDDY_API bool eddy_tape_is_recording(const eddy_tape *tape);

/* A block that is recorded, or not; it ends also by break, goto and return. */
typedef struct eddy_tape_block {
    eddy_tape *tape;
    bool       once;
} eddy_tape_block;
EDDY_API void eddy_tape_block_end(eddy_tape_block *block);
EDDY_API void eddy_tape_pause_end(eddy_tape_block *block);
EDDY_API eddy_tape *eddy_tape_pause(eddy_tape *tape);    /* stop_recording; NULL on an error */
#define EDDY_BLOCK_(begin_, end_, name_)                                               \
    for (eddy_tape_block name_ __attribute__((cleanup(end_))) = { begin_, true };       \
         name_.once; name_.once = false)
#define EDDY_NAME_2_(line_) eddy_block_##line_
#define EDDY_NAME_(line_) EDDY_NAME_2_(line_)         /* so that blocks may nest */
#define EDDY_RECORD(tape_) \
    EDDY_BLOCK_(eddy_tape_begin(tape_), eddy_tape_block_end, EDDY_NAME_(__LINE__))
#define EDDY_STOP_RECORDING(tape_) \
    EDDY_BLOCK_(eddy_tape_pause(tape_), eddy_tape_pause_end, EDDY_NAME_(__LINE__))

/* Puts tensors and variables on the tape; what was built from them before is
 * not.  Error for what is no tensor of the tape's graph, and where the tape is
 * not recording.  One that is not differentiable has no effect. */
EDDY_API void eddy_tape_watch(eddy_tape *tape, eddy_list tensors);

/* Forgets everything recorded and watched; must be recording. */
EDDY_API void eddy_tape_reset(eddy_tape *tape);

/* The variables that it watches, in the order of their first use: their number;
 * the first `room` of them to out, which may be NULL if room is 0. */
EDDY_API int eddy_tape_watched_variables(eddy_tape *tape, eddy_tensor *out, int room);

typedef struct eddy_tape_gradient_args {
    char             unused_;
    eddy_tape       *tape;
    eddy_list        target;            /* tensors or variables; their sum */
    eddy_list        sources;
    eddy_tensor     *out;               /* sources.count results */
    eddy_list        output_gradients;  /* one a target; an invalid one is ones */
    eddy_unconnected unconnected_gradients;
    const char      *name;              /* scope of the new nodes; default "gradients" */
} eddy_tape_gradient_args;

/* out[k] = the derivative of the sum of the targets with respect to sources[k],
 * of its shape, along the tape; invalid, or zeros, where none leads there.
 * Sources may be intermediate tensors; a target that is also a source adds its
 * output gradient; integer targets and sources have none.  A mixture of dense
 * and sparse gradients is dense.
 *
 * A tape that is not persistent answers once, then its recording is over, also
 * within its block.  In the block of a persistent one, the gradient is recorded
 * too.  Errors: "GradientTape.gradient can only be called once on
 * non-persistent tapes.", unknown unconnected_gradients.  Returns the graph's
 * status. */
EDDY_API eddy_status eddy_tape_gradient_with(eddy_tape_gradient_args args);
#define eddy_tape_gradient(...) \
    eddy_tape_gradient_with(EDDY_ARGS(eddy_tape_gradient_args, __VA_ARGS__))

/* As eddy_jacobian and eddy_batch_jacobian, along the tape, which must not be
 * recording and counts as asked: once, if it is not persistent.  Differences, as
 * in TensorFlow: an unconnected batch_jacobian is zeros. */
EDDY_API eddy_status eddy_tape_jacobian_with(eddy_tape *tape, eddy_jacobian_args args);
#define eddy_tape_jacobian(tape_, ...) \
    eddy_tape_jacobian_with((tape_), EDDY_ARGS(eddy_jacobian_args, __VA_ARGS__))
EDDY_API eddy_tensor eddy_tape_batch_jacobian_with(eddy_tape *tape, eddy_batch_jacobian_args args);
#define eddy_tape_batch_jacobian(tape_, ...) \
    eddy_tape_batch_jacobian_with((tape_), EDDY_ARGS(eddy_batch_jacobian_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
