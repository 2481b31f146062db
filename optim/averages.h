/* averages.h -- averages of variables over the steps of a training. */
#ifndef EDDY_OPTIM_AVERAGES_H
#define EDDY_OPTIM_AVERAGES_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------- of one variable -- */

typedef struct eddy_assign_moving_average_args {
    char        unused_;
    eddy_tensor variable;            /* required, floating */
    eddy_tensor value;               /* required, of its type and shape */
    eddy_tensor decay;               /* required, a scalar */
    bool        no_zero_debias;      /* see below */
    const char *name;                /* default "AssignMovingAvg" */
} eddy_assign_moving_average_args;
/* variable -= (1 - decay) (variable - value); yields the new value.  Unless
 * no_zero_debias, that is done to a variable "<variable>/biased", which begins with zeros,
 * and variable = biased / (1 - decay^n) at the n-th run ("<variable>/local_step"), whatever
 * it was before.  BAD_DTYPE, BAD_SHAPE, INVALID_ARGUMENT if it is no variable.
 * moving_averages.assign_moving_average. */
EDDY_API eddy_tensor eddy_assign_moving_average_with(eddy_assign_moving_average_args a);
#define eddy_assign_moving_average(...) \
    eddy_assign_moving_average_with(EDDY_ARGS(eddy_assign_moving_average_args, __VA_ARGS__))

typedef struct eddy_weighted_moving_average_args {
    char        unused_;
    eddy_tensor value;               /* required, floating, of a known shape */
    eddy_tensor decay;               /* required, a scalar */
    eddy_tensor weight;              /* required; broadcasts to value */
    const char *name;                /* default "WeightedMovingAvg" */
} eddy_weighted_moving_average_args;
/* The moving average of value weight, divided by that of weight; both begin with zeros.
 * BAD_SHAPE for a shape that is not known.  moving_averages.weighted_moving_average. */
EDDY_API eddy_tensor eddy_weighted_moving_average_with(eddy_weighted_moving_average_args a);
#define eddy_weighted_moving_average(...) \
    eddy_weighted_moving_average_with(EDDY_ARGS(eddy_weighted_moving_average_args, __VA_ARGS__))

/* ------------------------------------------------------------ of many at once -- */

/* Averages of variables and tensors, each kept in a variable of its own, its shadow,
 * "<op>/<name of the averages>", not trainable.  Belongs to its graph. */
typedef struct eddy_averages eddy_averages;

typedef struct eddy_exponential_moving_average_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor decay;               /* required, a scalar */
    eddy_tensor num_updates;         /* a number n: decay is then min(decay, (1 + n) / (10 + n)) */
    bool        zero_debias;         /* of plain tensors; variables begin with their values */
    const char *name;                /* default "ExponentialMovingAverage" */
} eddy_exponential_moving_average_args;
/* shadow -= (1 - decay) (shadow - variable).  A shadow begins as its variable's initial
 * value, that of a plain tensor as zeros.  tf.train.ExponentialMovingAverage. */
EDDY_API eddy_averages *
eddy_exponential_moving_average_with(eddy_exponential_moving_average_args a);
#define eddy_exponential_moving_average(...) \
    eddy_exponential_moving_average_with(EDDY_ARGS(eddy_exponential_moving_average_args, __VA_ARGS__))

typedef struct eddy_stochastic_weight_average_args {
    char        unused_;
    eddy_graph *graph;
    int64_t     start;               /* runs that are passed over at first; default 0 */
    int64_t     every;               /* of the runs after these every so many-th counts; default 1 */
    const char *name;                /* default "StochasticWeightAverage" */
} eddy_stochastic_weight_average_args;
/* The mean of what the variables were in the runs that count: shadow += (variable -
 * shadow) / n at the n-th of them (Izmailov et al. 2018); with .every 1, the averaged
 * iterates of Polyak and Juditsky 1992.  Other runs leave the shadows as they are, to the
 * bit.  It is applied by one operation, which names all its variables: a further call of
 * eddy_averages_apply with new ones is INVALID_ARGUMENT.  The moving averages inside batch
 * normalisation belong to the weights of each step, not to their mean: after
 * eddy_averages_swap, run their updates over some batches before the model is used.
 * INVALID_ARGUMENT if start or every is negative.  PyTorch: AveragedModel. */
EDDY_API eddy_averages *
eddy_stochastic_weight_average_with(eddy_stochastic_weight_average_args a);
#define eddy_stochastic_weight_average(...) \
    eddy_stochastic_weight_average_with(EDDY_ARGS(eddy_stochastic_weight_average_args, __VA_ARGS__))

/* The operation that takes the present values into the averages, to run after each step:
 * made under a control dependency on a train step (eddy_control_begin) it sees the
 * variables after that step, else those of before the run.  var_list not given: the
 * trainable variables.  Shadows are made at first sight; variables join
 * EDDY_MOVING_AVERAGE_VARIABLES.  BAD_DTYPE: "The variables must be half, float, or double:
 * ..."; BAD_SHAPE for a plain tensor of unknown shape; INVALID_ARGUMENT for none at all. */
EDDY_API eddy_tensor eddy_averages_apply(eddy_averages *a, eddy_list var_list);
/* The shadow of t; invalid if there is none. */
EDDY_API eddy_tensor eddy_averages_of(const eddy_averages *a, eddy_tensor t);
/* What the shadow of t is called, also before there is one; cut to size; returns buf. */
EDDY_API char       *eddy_averages_name(const eddy_averages *a, eddy_tensor t, char *buf, size_t size);
/* The operation that exchanges all variables and their shadows: run it before an
 * evaluation, and once more after it. */
EDDY_API eddy_tensor eddy_averages_swap(eddy_averages *a);

typedef struct eddy_named_variable {
    const char *name;                /* lives with the graph */
    eddy_tensor variable;
} eddy_named_variable;
/* Under which name each variable is found in a file that holds shadows: trainable and
 * averaged ones under that of their shadow, whether there is one or not, other global ones
 * under their own.  Copies up to max of them, sorted by name; returns how many there are.
 * ExponentialMovingAverage.variables_to_restore. */
EDDY_API int eddy_averages_to_restore(const eddy_averages *a, eddy_named_variable *out, int max);

#ifdef __cplusplus
}
#endif
#endif
