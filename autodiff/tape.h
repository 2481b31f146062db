/* tape.h -- gradient tapes: differentiating the nodes built between begin and end of a
 * recording.
 *
 *   eddy_tape *tape = eddy_tape_new(g);
 *   EDDY_RECORD(tape) {
 *       eddy_tape_watch(tape, EDDY_LIST(x));
 *       y = Mul(x, x);
 *   }
 *   eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &dy_dx);
 *
 * A tape remembers which nodes were built while it recorded, which tensors it watched, and since
 * when; it copies nothing and adds no cost to the nodes. A node is on the tape if it was
 * built during the recording from a differentiable tensor that was on the tape at that time: a
 * watched tensor, a trainable variable (watched when it is first used), or the output of another
 * node on the tape. Gradients flow along the tape alone. Tapes nest to any depth; each one
 * records all nodes that are built, including gradients, so nested tapes give higher-order
 * derivatives.
 *
 * A tape belongs to its graph and is freed with it at the latest. A NULL or freed tape is an
 * error if there is a graph to record the error on, and harmless otherwise. After
 * tf.GradientTape. */
#ifndef EDDY_TAPE_H
#define EDDY_TAPE_H

#include "autodiff.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_tape eddy_tape;

typedef struct eddy_tape_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_tape_args));
    eddy_graph *graph;
    bool        persistent;                     /* gradients may be asked for more than once */
    bool        no_watch_accessed_variables;    /* only what eddy_tape_watch names */
} eddy_tape_args;

/* A tape that does not record yet; NULL if out of memory. */
EDDY_API eddy_tape *eddy_tape_new_with(const eddy_tape_args *given);
#define eddy_tape_new(...) eddy_tape_new_with(EDDY_ARGS(eddy_tape_args, __VA_ARGS__))
/* Frees the tape's memory before its graph is freed; the nodes that it built remain. */
EDDY_API void eddy_tape_free(eddy_tape *tape);

/* Starts recording; a later call resumes the same recording. Returns the tape, NULL on an error.
 * Error: "Tape is already recording." */
EDDY_API eddy_tape *eddy_tape_begin(eddy_tape *tape);
/* Ends the recording; does nothing if it has ended. */
EDDY_API void eddy_tape_end(eddy_tape *tape);

/* Nodes built between these calls are not recorded; their values are constants for the tape.
 * Error if the tape is not recording. */
EDDY_API void eddy_tape_stop_recording(eddy_tape *tape);
EDDY_API void eddy_tape_resume(eddy_tape *tape);
EDDY_API bool eddy_tape_is_recording(const eddy_tape *tape);

/* A C block that is recorded (EDDY_RECORD) or not (EDDY_STOP_RECORDING); it also ends by break,
 * goto and return. */
typedef struct eddy_tape_block {
    eddy_tape *tape;
    bool       once;
} eddy_tape_block;
EDDY_API void eddy_tape_block_end(eddy_tape_block *block);
EDDY_API void eddy_tape_pause_end(eddy_tape_block *block);
EDDY_API eddy_tape *eddy_tape_pause(eddy_tape *tape);    /* stop_recording; NULL on an error */
#define EDDY_RECORD(tape_)                                                             \
    EDDY_BLOCK_(eddy_tape_block, eddy_tape_block_end, EDDY_NAME_(record, __LINE__),     \
                { eddy_tape_begin(tape_), true })
#define EDDY_STOP_RECORDING(tape_)                                                     \
    EDDY_BLOCK_(eddy_tape_block, eddy_tape_pause_end, EDDY_NAME_(pause, __LINE__),      \
                { eddy_tape_pause(tape_), true })

/* Puts tensors and variables on the tape; nodes built from them before are not on it. Error for
 * a tensor that is not of the tape's graph, and if the tape is not recording. A tensor that is
 * not differentiable is ignored. */
EDDY_API void eddy_tape_watch(eddy_tape *tape, eddy_list tensors);

/* Discards everything recorded and watched; the tape must be recording. */
EDDY_API void eddy_tape_reset(eddy_tape *tape);

/* The watched variables in the order of their first use: returns their number and copies the
 * first `room` of them to out, which may be NULL only if room is 0. */
EDDY_API int eddy_tape_watched_variables(eddy_tape *tape, eddy_tensor *out, int room);

typedef struct eddy_tape_gradient_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_tape_gradient_args));
    eddy_tape       *tape;
    eddy_list        target;            /* tensors or variables; their sum */
    eddy_list        sources;
    eddy_tensor     *out;               /* sources.count results */
    eddy_list        output_gradients;  /* one per target; an invalid tensor means ones */
    eddy_unconnected unconnected_gradients;
    const char      *name;              /* scope of the new nodes; default "gradients" */
} eddy_tape_gradient_args;

/* out[k] = the derivative of the sum of the targets with respect to sources[k], of its shape,
 * along the tape; invalid, or zeros, if no path exists. Sources may be intermediate tensors; a
 * target that is also a source adds its output gradient; integer targets and sources have no
 * gradient. A sum of dense and sparse gradients is dense.
 *
 * A tape that is not persistent can be used once; then its recording ends, also within its
 * block. In the block of a persistent tape, the gradient is recorded too. Errors:
 * "GradientTape.gradient can only be called once on non-persistent tapes.", unknown
 * unconnected_gradients. Returns the graph's status. */
EDDY_API eddy_status eddy_tape_gradient_with(const eddy_tape_gradient_args *given);
#define eddy_tape_gradient(...) \
    eddy_tape_gradient_with(EDDY_ARGS(eddy_tape_gradient_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
