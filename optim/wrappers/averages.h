/* averages.h -- averages of variables over training steps: exponential moving averages (EMA) and
 * stochastic weight averaging (SWA). */
#ifndef EDDY_OPTIM_WRAPPERS_AVERAGES_H
#define EDDY_OPTIM_WRAPPERS_AVERAGES_H

#include "../optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------- of one variable -- */

typedef struct eddy_assign_moving_average_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assign_moving_average_args));
    eddy_tensor variable;            /* required, floating */
    eddy_tensor value;               /* required, of its type and shape */
    eddy_tensor decay;               /* required, a scalar */
    bool        no_zero_debias;      /* see below */
    const char *name;                /* default "AssignMovingAvg" */
} eddy_assign_moving_average_args;
/* variable -= (1 - decay) (variable - value); returns the new value. Unless no_zero_debias is
 * set, this is applied to a variable "<variable>/biased", which starts as zeros, and variable =
 * biased / (1 - decay^n) at the n-th run ("<variable>/local_step"), whatever its old value.
 * EDDY_BAD_DTYPE, EDDY_BAD_SHAPE, EDDY_INVALID_ARGUMENT if it is not a variable.
 * moving_averages.assign_moving_average. */
EDDY_API eddy_tensor eddy_assign_moving_average_with(const eddy_assign_moving_average_args *given);
#define eddy_assign_moving_average(...) \
    eddy_assign_moving_average_with(EDDY_ARGS(eddy_assign_moving_average_args, __VA_ARGS__))

typedef struct eddy_weighted_moving_average_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_weighted_moving_average_args));
    eddy_tensor value;               /* required, floating, of a known shape */
    eddy_tensor decay;               /* required, a scalar */
    eddy_tensor weight;              /* required; broadcasts to value */
    const char *name;                /* default "WeightedMovingAvg" */
} eddy_weighted_moving_average_args;
/* The moving average of value weight, divided by that of weight; both start as zeros.
 * EDDY_BAD_SHAPE for an unknown shape. moving_averages.weighted_moving_average. */
EDDY_API eddy_tensor eddy_weighted_moving_average_with(
    const eddy_weighted_moving_average_args *given);
#define eddy_weighted_moving_average(...) \
    eddy_weighted_moving_average_with(EDDY_ARGS(eddy_weighted_moving_average_args, __VA_ARGS__))

/* ---------------------------------------------------------- several variables -- */

/* Averages of variables and tensors. Each average is a variable of its own, the shadow,
 * "<op>/<name of the averages>", not trainable. They belong to their graph. */
typedef struct eddy_averages eddy_averages;

typedef struct eddy_exponential_moving_average_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_exponential_moving_average_args));
    eddy_graph *graph;
    eddy_tensor decay;               /* required, a scalar */
    eddy_tensor num_updates;         /* a number n: decay is then min(decay, (1 + n) / (10 + n)) */
    bool        zero_debias;         /* of plain tensors; variables begin with their values */
    const char *name;                /* default "ExponentialMovingAverage" */
} eddy_exponential_moving_average_args;
/* Exponential moving averages: shadow -= (1 - decay) (shadow - variable). The shadow of a
 * variable starts as the variable's initial value, that of a plain tensor as zeros.
 * tf.train.ExponentialMovingAverage. */
EDDY_API eddy_averages *
eddy_exponential_moving_average_with(const eddy_exponential_moving_average_args *given);
#define eddy_exponential_moving_average(...) \
    eddy_exponential_moving_average_with(EDDY_ARGS(eddy_exponential_moving_average_args, __VA_ARGS__))

typedef struct eddy_stochastic_weight_average_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_stochastic_weight_average_args));
    eddy_graph *graph;
    int64_t     start;               /* runs that are skipped at first; default 0 */
    int64_t     every EDDY_DEFAULT(1); /* after these, every n-th run counts */
    const char *name;                /* default "StochasticWeightAverage" */
} eddy_stochastic_weight_average_args;
/* Stochastic weight averaging: the mean of the variables over the runs that count. shadow +=
 * (variable - shadow) / n at the n-th of them (Izmailov et al. 2018); with .every 1, the
 * averaged iterates of Polyak and Juditsky 1992. Other runs do not change the bits of the
 * shadows. One operation updates all averages, so another call of eddy_averages_apply with new
 * variables is EDDY_INVALID_ARGUMENT. The moving averages of batch normalization belong to the
 * weights of each step, not to their mean: after eddy_averages_swap, run their updates over some
 * batches before using the model. EDDY_INVALID_ARGUMENT if start or every is negative. PyTorch:
 * AveragedModel. */
EDDY_API eddy_averages *
eddy_stochastic_weight_average_with(const eddy_stochastic_weight_average_args *given);
#define eddy_stochastic_weight_average(...) \
    eddy_stochastic_weight_average_with(EDDY_ARGS(eddy_stochastic_weight_average_args, __VA_ARGS__))

/* The operation that updates the averages with the current values, to be run after each step: if
 * built under a control dependency on a training operation (eddy_control_begin), it reads the
 * variables after that step, otherwise their values from before the run. If var_list is omitted
 * or empty: the trainable variables. Shadows are created at first use; variables are added to
 * EDDY_MOVING_AVERAGE_VARIABLES. EDDY_BAD_DTYPE: "The variables must be half, float, or double:
 * ..."; EDDY_BAD_SHAPE for a plain tensor of unknown shape; EDDY_INVALID_ARGUMENT if there are no
 * variables. */
EDDY_API eddy_tensor eddy_averages_apply(eddy_averages *a, eddy_list var_list);
/* The shadow of t; invalid if there is none. */
EDDY_API eddy_tensor eddy_averages_of(const eddy_averages *a, eddy_tensor t);
/* The name of t's shadow, even if it does not exist yet; truncated to size; returns buf. */
EDDY_API char       *eddy_averages_name(const eddy_averages *a, eddy_tensor t, char *buf, size_t size);
/* The operation that exchanges all variables and their shadows: run it before an
 * evaluation, and once more after it. */
EDDY_API eddy_tensor eddy_averages_swap(eddy_averages *a);

/* The name of each variable in a file of shadows: trainable and averaged variables under the
 * name of their shadow, whether it exists or not, other global ones under their own. Copies up
 * to max of them, sorted by name; returns their total number.
 * ExponentialMovingAverage.variables_to_restore; eddy_restore_checkpoint takes them. */
EDDY_API int eddy_averages_to_restore(const eddy_averages *a, eddy_named_variable *out, int max);

#ifdef __cplusplus
}
#endif
#endif
