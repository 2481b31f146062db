/* wrappers.h -- optimizers that wrap other optimizers, and modify gradients or updates in
 * between: clipping, weight decay, accumulation, lookahead, loss scaling and others.
 *
 * A wrapper is used like any optimizer: eddy_minimize(outer, loss). The inner optimizer keeps
 * its slots, under its own name (eddy_get_slot(inner, ...)), and must not be used by itself
 * while it is wrapped. Wrappers nest. A global step counts runs of the outermost optimizer,
 * including those that update nothing. Updates are computed from the values before the run, so
 * only one optimizer may update a variable in a run, and the step may not wait for another
 * update of its variables. Errors of each: EDDY_INVALID_ARGUMENT for an invalid optimizer, or one
 * of another graph. */
#ifndef EDDY_OPTIM_WRAPPERS_WRAPPERS_H
#define EDDY_OPTIM_WRAPPERS_WRAPPERS_H

#include "../optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_lookahead_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_lookahead_args));
    eddy_optimizer *optimizer;       /* required */
    int64_t         sync_period EDDY_DEFAULT(5); /* k */
    eddy_tensor     slow_step_size EDDY_DEFAULT_SCALAR(0.5); /* alpha */
    const char     *name;            /* default "Lookahead" */
} eddy_lookahead_args;
/* Lookahead (Zhang et al. 2019): at every k-th step slow += alpha (v - slow) and v = slow, where
 * slow, a slot, starts as the variable's initial value. These steps read and write the whole
 * variable, also for sparse gradients. */
EDDY_API eddy_optimizer *eddy_lookahead_with(const eddy_lookahead_args *given);
#define eddy_lookahead(...) eddy_lookahead_with(EDDY_ARGS(eddy_lookahead_args, __VA_ARGS__))

typedef struct eddy_accumulate_gradients_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_accumulate_gradients_args));
    eddy_optimizer *optimizer;       /* required */
    int64_t         steps;           /* k; required, positive */
    bool            sum;             /* the sum of the k gradients; default their mean */
    const char     *name;            /* default "AccumulateGradients" */
    bool            pairwise;        /* sums pairs, then pairs of these; k is a power of two */
} eddy_accumulate_gradients_args;
/* Gradient accumulation: gradients are summed in slots "gradient_sum", and only every k-th run
 * updates: a batch in k parts. The runs in between do not change the bits of variables and slots
 * of the inner optimizer. Each run computes the inner update; the runs in between discard it.
 * Sparse gradients are converted to dense ones.
 *
 * By default each gradient is added to the sum of the earlier ones. With `pairwise`, gradients 0 and 1
 * are added, 2 and 3, then these sums, and so on, with log2 k slots for each variable ("gradient_sum",
 * "gradient_sum_1", ...): the order in which ranks add, so that a batch gives the same bits however many
 * ranks share its parts (eddy_distributed). */
EDDY_API eddy_optimizer *eddy_accumulate_gradients_with(
    const eddy_accumulate_gradients_args *given);
#define eddy_accumulate_gradients(...) \
    eddy_accumulate_gradients_with(EDDY_ARGS(eddy_accumulate_gradients_args, __VA_ARGS__))

typedef struct eddy_loss_scale_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_loss_scale_args));
    eddy_optimizer *optimizer;       /* required */
    eddy_tensor     loss_scale EDDY_DEFAULT_SCALAR(32768); /* the first one */
    bool            fixed;           /* the scale is constant; default: it adapts */
    int64_t         increment_period EDDY_DEFAULT(2000); /* good steps before it is raised */
    eddy_tensor     multiplier EDDY_DEFAULT_SCALAR(2); /* by which it is raised and lowered */
    const char     *name;            /* default "LossScale" */
} eddy_loss_scale_args;
/* Loss scaling, for gradients that would be too small for their element type: eddy_minimize and
 * eddy_compute_gradients compute the gradients of the loss times the scale, and divide them by it,
 *
 *   eddy_optimizer *o = eddy_loss_scale(eddy_adam(g));
 *   eddy_tensor train = eddy_minimize(o, loss);
 *
 * so that gradients are handed out, clipped and applied unscaled; likewise if another wrapper is
 * around it. If an element of any gradient that is applied is not finite, the step is skipped,
 * without changing a bit of variables and slots, and the scale is divided by multiplier, but not
 * below 1; after increment_period successful steps it is multiplied. A fixed scale skips nothing.
 * Micikevicius et al. 2018; tf.train.experimental.DynamicLossScale, FixedLossScale. */
EDDY_API eddy_optimizer *eddy_loss_scale_with(const eddy_loss_scale_args *given);
#define eddy_loss_scale(...) eddy_loss_scale_with(EDDY_ARGS(eddy_loss_scale_args, __VA_ARGS__))
/* The loss times the scale of the optimizer, for programs that compute gradients by themselves
 * (eddy_gradients, tapes): eddy_apply_gradients then takes the gradients of the scaled loss and
 * divides them. A loss that contains this one is not scaled again by eddy_minimize and
 * eddy_compute_gradients; once gradients were computed by these for the optimizer, or for one
 * around it, eddy_apply_gradients takes unscaled gradients only. */
EDDY_API eddy_tensor eddy_scale_loss(eddy_optimizer *o, eddy_tensor loss);
/* The scale, a float32 scalar. */
EDDY_API eddy_tensor eddy_loss_scale_of(eddy_optimizer *o);

typedef struct eddy_apply_if_finite_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_apply_if_finite_args));
    eddy_optimizer *optimizer;       /* required */
    bool            quiet;           /* writes no line for a step that is skipped */
    void          (*write)(void *user, const char *line);    /* as for eddy_print */
    void           *user;
    const char     *name;            /* default "ApplyIfFinite" */
} eddy_apply_if_finite_args;
/* A guard against NaN: if an element of any gradient is infinite or NaN, the step is skipped,
 * without changing a bit of variables and slots, and a line names the first variable with such a
 * gradient and the number of elements:
 *
 *   ApplyIfFinite: step skipped; infinite or NaN elements in the gradient of 'dense/kernel': [3]
 *
 * Without the guard, NaN in one example spreads to all variables in one step. The guard sees the
 * gradients before a wrapper inside it changes them.
 * eddy_loss_scale skips such steps by itself. As optax.apply_if_finite, without a bound on
 * consecutive errors. */
EDDY_API eddy_optimizer *eddy_apply_if_finite_with(const eddy_apply_if_finite_args *given);
#define eddy_apply_if_finite(...) \
    eddy_apply_if_finite_with(EDDY_ARGS(eddy_apply_if_finite_args, __VA_ARGS__))
/* The number of steps that the optimizer has skipped, an int64 variable. Errors:
 * EDDY_INVALID_ARGUMENT for another optimizer. */
EDDY_API eddy_tensor eddy_skipped_steps(eddy_optimizer *o);

/* An optimizer with its variables; default: all others. */
typedef struct eddy_optimizer_part {
    eddy_optimizer *optimizer;
    eddy_list       variables;
} eddy_optimizer_part;

typedef struct eddy_multi_optimizer_args {
    size_t                     size_ EDDY_DEFAULT(sizeof(eddy_multi_optimizer_args));
    const eddy_optimizer_part *parts;
    int                        count;
    const char                *name;     /* default "MultiOptimizer" */
} eddy_multi_optimizer_args;
/* One training step in which each variable is updated by the optimizer of the first part that
 * lists it, or else of the first part that lists none; EDDY_INVALID_ARGUMENT if there is neither. */
EDDY_API eddy_optimizer *eddy_multi_optimizer_with(const eddy_multi_optimizer_args *given);
#define eddy_multi_optimizer(...) \
    eddy_multi_optimizer_with(EDDY_ARGS(eddy_multi_optimizer_args, __VA_ARGS__))

typedef struct eddy_clipped_gradients_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_clipped_gradients_args));
    eddy_optimizer *optimizer;       /* required */
    /* each element is clipped to [-value, value]; default: no limit */
    eddy_tensor     value EDDY_DEFAULT(EDDY_OMITTED_TENSOR);
    /* the largest norm of each gradient; default: no limit */
    eddy_tensor     norm EDDY_DEFAULT(EDDY_OMITTED_TENSOR);
    /* the largest norm of all together; default: no limit */
    eddy_tensor     global_norm EDDY_DEFAULT(EDDY_OMITTED_TENSOR);
    const char     *name;            /* default "ClippedGradients" */
} eddy_clipped_gradients_args;
/* The inner optimizer gets clipped gradients: clipped first by value, then by norm, then by
 * global norm, as by the functions below. It clips the gradients that it receives: inside
 * eddy_accumulate_gradients the mean of the k gradients, inside eddy_loss_scale the gradients of
 * the unscaled loss, and in a part of eddy_multi_optimizer those of that part:
 *
 *   eddy_optimizer *clipped = eddy_clipped_gradients(eddy_adamw(g), .global_norm = eddy_scalar(g, 1));
 *   eddy_optimizer *o = eddy_accumulate_gradients(clipped, 4);
 *
 * A variable must not be listed twice where such a mean is clipped (EDDY_INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *eddy_clipped_gradients_with(const eddy_clipped_gradients_args *given);
#define eddy_clipped_gradients(...) \
    eddy_clipped_gradients_with(EDDY_ARGS(eddy_clipped_gradients_args, __VA_ARGS__))

typedef struct eddy_transformed_gradients_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_transformed_gradients_args));
    eddy_optimizer *optimizer;       /* required */
    /* replaces the gradients of the pairs by tensors that it builds; required */
    void          (*transform)(void *context, eddy_gradient_pair *pairs, int count);
    void           *context;         /* passed to it; must live until the step is built */
    const char     *name;            /* default "TransformedGradients" */
} eddy_transformed_gradients_args;
/* The inner optimizer gets the gradients that a function of the caller makes of those of all pairs, once for each call
 * of eddy_apply_gradients or eddy_minimize. Pairs without a gradient have node 0, before and after; IndexedSlices may
 * become dense. Errors: EDDY_INVALID_ARGUMENT without a function, or if it changes a variable or returns what is not a
 * tensor of the graph; EDDY_BAD_SHAPE for a gradient of another type or shape. */
EDDY_API eddy_optimizer *eddy_transformed_gradients_with(
    const eddy_transformed_gradients_args *given);
#define eddy_transformed_gradients(...) \
    eddy_transformed_gradients_with(EDDY_ARGS(eddy_transformed_gradients_args, __VA_ARGS__))

typedef struct eddy_selected_updates_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_selected_updates_args));
    eddy_optimizer *optimizer;       /* required */
    /* whether the inner optimizer updates the variable and has slots for it; required */
    bool          (*selects)(void *context, eddy_tensor variable);
    /* Builds the rest of the step, and returns an operation or tensor that needs it; required. values[i]
     * is the new value of variables[i], or the gradient if it is not selected. */
    eddy_tensor   (*complete)(void *context, int count, const eddy_tensor *variables,
                              const eddy_tensor *values);
    void           *context;         /* passed to them; must live until the step is built */
    const char     *name;            /* default "SelectedUpdates" */
} eddy_selected_updates_args;
/* The inner optimizer updates only the variables that a function selects, and another function completes
 * the step, once for each call of eddy_apply_gradients or eddy_minimize: with the new values from
 * elsewhere, such as another process. The inner step must treat each variable by itself: one that
 * combines several gradients, such as clipping by the global norm, is EDDY_INVALID_ARGUMENT; put it
 * around this one. A function of the program inside (eddy_transformed_gradients) is first called with the
 * gradients of all variables, whatever is selected, to find whether it does so. EDDY_INVALID_ARGUMENT
 * also for a missing function, and one that returns nothing. */
EDDY_API eddy_optimizer *eddy_selected_updates_with(const eddy_selected_updates_args *given);
#define eddy_selected_updates(...) \
    eddy_selected_updates_with(EDDY_ARGS(eddy_selected_updates_args, __VA_ARGS__))

typedef struct eddy_sharpness_aware_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_sharpness_aware_args));
    eddy_optimizer     *optimizer;   /* required */
    eddy_tensor         loss;        /* required: a floating tensor, summed if it is not a scalar */
    eddy_gradient_pair *out;         /* room for max_out pairs */
    int                 max_out;
    eddy_tensor         rho EDDY_DEFAULT_SCALAR(0.05);
    eddy_list           var_list;    /* default: the trainable variables */
} eddy_sharpness_aware_args;
/* Sharpness-aware gradients (SAM): as eddy_compute_gradients, but evaluated at a nearby point
 * with a higher loss, x + rho g/|g|, where |g| is the norm of the gradients g of all variables
 * at x. The part of the graph between variables and loss is built a second time for that; random
 * operations without a gradient, such as those of dropout, are shared, so that both evaluations
 * use the same random numbers. Returns the number of pairs; pass them to eddy_apply_gradients.
 * If g is 0, the second point is x itself. Errors: as eddy_compute_gradients; EDDY_UNIMPLEMENTED
 * for a loss that depends on an update of a variable, or on an operation that contains a graph.
 * Foret et al. 2021. */
EDDY_API int eddy_sharpness_aware_gradients_with(const eddy_sharpness_aware_args *given);
#define eddy_sharpness_aware_gradients(...) \
    eddy_sharpness_aware_gradients_with(EDDY_ARGS(eddy_sharpness_aware_args, __VA_ARGS__))

/* ------------------------------------------------------- lists of gradients -- */

/* These functions change the gradients of `count` pairs in place, between eddy_compute_gradients
 * and eddy_apply_gradients. Pairs without a gradient are unchanged; IndexedSlices stay slices,
 * and their norms are those of their rows. Bounds are scalars, cast to the type of each
 * gradient. Errors: EDDY_INVALID_ARGUMENT for a gradient that is not a tensor of the graph or a
 * missing bound, and those of the function of the same name in ops.h. */

/* max(min(gradient, hi), lo). */
EDDY_API void eddy_clip_gradients_by_value(eddy_gradient_pair *pairs, int count, eddy_tensor lo,
                                           eddy_tensor hi);
/* Scales each gradient to a norm of at most `clip`. */
EDDY_API void eddy_clip_gradients_by_norm(eddy_gradient_pair *pairs, int count, eddy_tensor clip);
/* Scales each gradient to a norm of at most `clip` times the number of its elements; slices are
 * converted to dense gradients. */
EDDY_API void eddy_clip_gradients_by_average_norm(eddy_gradient_pair *pairs, int count,
                                                  eddy_tensor clip);
/* Scales all gradients by one factor, to a global norm of at most `clip`; returns the norm
 * before clipping. */
EDDY_API eddy_tensor eddy_clip_gradients_by_global_norm(eddy_gradient_pair *pairs, int count,
                                                        eddy_tensor clip);
/* The global norm of all gradients; EDDY_INVALID_ARGUMENT if no pair has a gradient. */
EDDY_API eddy_tensor eddy_gradients_global_norm(const eddy_gradient_pair *pairs, int count);

typedef struct eddy_adaptive_clip_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_adaptive_clip_args));
    eddy_gradient_pair *pairs;
    int                 count;
    eddy_tensor         clip EDDY_DEFAULT_SCALAR(0.01);
    eddy_tensor         epsilon EDDY_DEFAULT_SCALAR(0.001); /* the least norm of a unit */
} eddy_adaptive_clip_args;
/* Adaptive gradient clipping (Brock et al. 2021): the gradient of each unit is scaled to a norm
 * of at most clip times the norm of the unit, which is taken to be at least epsilon. A unit is a
 * column of a dense layer, a filter of a convolution: all elements with the same index along the
 * last axis. A variable of rank 0 or 1 is one unit. IndexedSlices are converted to dense
 * gradients. */
EDDY_API void eddy_clip_gradients_adaptively_with(const eddy_adaptive_clip_args *given);
#define eddy_clip_gradients_adaptively(...) \
    eddy_clip_gradients_adaptively_with(EDDY_ARGS(eddy_adaptive_clip_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
