/* wrappers.h -- optimizers around optimizers, and what is done to gradients in between.
 *
 * An optimizer around another is used like any: eddy_minimize(outer, loss).  The inner one
 * keeps its slots, under its own name (eddy_get_slot(inner, ...)), and is not used by
 * itself while it is inside.  They nest.  What a global step counts is runs of the whole,
 * also those in which nothing is updated.  What is written follows from the values of
 * before the run, so a variable is to be updated by one of them in a run, nor may the step
 * wait for another update of its variables.  Errors of each:
 * INVALID_ARGUMENT for an optimizer that is none, or of another graph. */
#ifndef EDDY_OPTIM_WRAPPERS_H
#define EDDY_OPTIM_WRAPPERS_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_lookahead_args {
    char            unused_;
    eddy_optimizer *optimizer;       /* required */
    int64_t         sync_period;     /* k; default 5 */
    eddy_tensor     slow_step_size;  /* alpha; default 0.5 */
    const char     *name;            /* default "Lookahead" */
} eddy_lookahead_args;
/* Zhang et al. 2019: at every k-th step slow += alpha (v - slow) and v = slow, where slow, a
 * slot, begins as the variable's initial value.  At these all of a variable is read and written,
 * also for sparse gradients. */
EDDY_API eddy_optimizer *eddy_lookahead_with(eddy_lookahead_args a);
#define eddy_lookahead(...) eddy_lookahead_with(EDDY_ARGS(eddy_lookahead_args, __VA_ARGS__))

typedef struct eddy_accumulate_gradients_args {
    char            unused_;
    eddy_optimizer *optimizer;       /* required */
    int64_t         steps;           /* k; required, positive */
    bool            sum;             /* the sum of the k gradients; default their mean */
    const char     *name;            /* default "AccumulateGradients" */
} eddy_accumulate_gradients_args;
/* Gradients add up in slots "gradient_sum", and only every k-th run updates: a batch in k
 * parts.  The runs in between leave variables and all slots of the inner optimizer as they
 * are, to the bit.  Each run computes the inner update, and those in between drop it.
 * Sparse gradients are made dense. */
EDDY_API eddy_optimizer *eddy_accumulate_gradients_with(eddy_accumulate_gradients_args a);
#define eddy_accumulate_gradients(...) \
    eddy_accumulate_gradients_with(EDDY_ARGS(eddy_accumulate_gradients_args, __VA_ARGS__))

typedef struct eddy_loss_scale_args {
    char            unused_;
    eddy_optimizer *optimizer;       /* required */
    eddy_tensor     loss_scale;      /* the first one; default 2^15 */
    bool            fixed;           /* it stays; default it follows the gradients */
    int64_t         increment_period;/* good steps before it is raised; default 2000 */
    eddy_tensor     multiplier;      /* by which it is raised and lowered; default 2 */
    const char     *name;            /* default "LossScale" */
} eddy_loss_scale_args;
/* Where gradients would be too small for their element type: those of a larger loss are taken,
 *
 *   eddy_optimizer *o = eddy_loss_scale(eddy_adam(g));
 *   eddy_tensor train = eddy_minimize(o, eddy_scale_loss(o, loss));
 *
 * and divided by the scale before the inner optimizer gets them.  If an element of any
 * gradient is not finite, the step is dropped, variables and slots staying as they are to
 * the bit, and the scale divided by multiplier, but not below 1; after increment_period
 * good steps it is multiplied.  A fixed scale drops nothing.  Micikevicius et al. 2018;
 * tf.train.experimental.DynamicLossScale, FixedLossScale. */
EDDY_API eddy_optimizer *eddy_loss_scale_with(eddy_loss_scale_args a);
#define eddy_loss_scale(...) eddy_loss_scale_with(EDDY_ARGS(eddy_loss_scale_args, __VA_ARGS__))
/* The loss times the scale of that optimizer; and the scale, a float32 scalar. */
EDDY_API eddy_tensor eddy_scale_loss(eddy_optimizer *o, eddy_tensor loss);
EDDY_API eddy_tensor eddy_loss_scale_of(eddy_optimizer *o);

/* An optimizer with the variables that it is for; none listed: all others. */
typedef struct eddy_optimizer_part {
    eddy_optimizer *optimizer;
    eddy_list       variables;
} eddy_optimizer_part;

typedef struct eddy_multi_optimizer_args {
    char                       unused_;
    const eddy_optimizer_part *parts;
    int                        count;
    const char                *name;     /* default "MultiOptimizer" */
} eddy_multi_optimizer_args;
/* One train step in which each variable has the optimizer of the first part that lists it,
 * or else of the first that lists none; INVALID_ARGUMENT where there is neither. */
EDDY_API eddy_optimizer *eddy_multi_optimizer_with(eddy_multi_optimizer_args a);
#define eddy_multi_optimizer(...) \
    eddy_multi_optimizer_with(EDDY_ARGS(eddy_multi_optimizer_args, __VA_ARGS__))

/* ------------------------------------------------------- lists of gradients -- */

/* These change the gradients of `count` pairs in place, between eddy_compute_gradients and
 * eddy_apply_gradients.  Pairs without a gradient stay as they are; IndexedSlices stay
 * slices, and count with the rows that they hold.  Bounds are scalars, cast to the type of
 * each gradient.  Errors: INVALID_ARGUMENT for a gradient that is no tensor of the graph or
 * a missing bound, and as the function of ops.h of the same name. */

/* max(min(gradient, hi), lo). */
EDDY_API void eddy_clip_gradients_by_value(eddy_gradient_pair *pairs, int count, eddy_tensor lo,
                                           eddy_tensor hi);
/* Each gradient scaled to a norm of at most `clip`. */
EDDY_API void eddy_clip_gradients_by_norm(eddy_gradient_pair *pairs, int count, eddy_tensor clip);
/* ... to a norm of at most `clip` times the number of its elements; slices are made dense. */
EDDY_API void eddy_clip_gradients_by_average_norm(eddy_gradient_pair *pairs, int count,
                                                  eddy_tensor clip);
/* All scaled alike, to a joint norm of at most `clip`; returns the norm of before. */
EDDY_API eddy_tensor eddy_clip_gradients_by_global_norm(eddy_gradient_pair *pairs, int count,
                                                        eddy_tensor clip);
/* The joint norm; INVALID_ARGUMENT if no pair has a gradient. */
EDDY_API eddy_tensor eddy_gradients_global_norm(const eddy_gradient_pair *pairs, int count);

typedef struct eddy_adaptive_clip_args {
    char                unused_;
    eddy_gradient_pair *pairs;
    int                 count;
    eddy_tensor         clip;        /* default 0.01 */
    eddy_tensor         epsilon;     /* the least norm of a unit; default 0.001 */
} eddy_adaptive_clip_args;
/* Brock et al. 2021: the gradient of each unit is scaled to a norm of at most clip times the
 * norm of the unit, taken for epsilon if it is smaller.  A unit is what differs in all axes
 * but the last (a column of a dense layer, a filter of a convolution); a variable of rank 0 or 1
 * is one unit.  IndexedSlices are made dense. */
EDDY_API void eddy_clip_gradients_adaptively_with(eddy_adaptive_clip_args a);
#define eddy_clip_gradients_adaptively(...) \
    eddy_clip_gradients_adaptively_with(EDDY_ARGS(eddy_adaptive_clip_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
