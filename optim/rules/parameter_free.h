/* parameter_free.h -- parameter-free optimizers (Prodigy, schedule-free AdamW), which estimate
 * their learning rate or need no schedule for it.
 *
 * Hyper-parameters are as in adaptive.h; sparse gradients are converted to dense ones. */
#ifndef EDDY_OPTIM_RULES_PARAMETER_FREE_H
#define EDDY_OPTIM_RULES_PARAMETER_FREE_H

#include "adaptive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_prodigy_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_prodigy_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(1); /* a factor, or a schedule */
    eddy_tensor          beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor          beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(1e-8);
    eddy_tensor          weight_decay;    /* default none */
    eddy_tensor          d_coef EDDY_DEFAULT_SCALAR(1); /* factor of the estimate */
    double               d0 EDDY_DEFAULT(1e-6); /* the first estimate, above 0 */
    eddy_variable_filter without_decay;
    const char          *name;            /* default "Prodigy" */
} eddy_prodigy_args;
/* Prodigy: d estimates the distance from the initial values p to a solution, for all variables
 * together: with b = sqrt(beta2) and w = d/d0 d lr, s = b s + w g; r = b r + w sum(g (p - x)); e
 * = max(d, d_coef r / sum|s|); m = beta1 m + d (1 - beta1) g; v = beta2 v + d^2 (1 - beta2) g^2;
 * x -= d lr weight_decay x + d lr m / (sqrt(v) + e epsilon); d = e. Slots "m", "v", "s", and
 * "p0", which is p; d and r are the shared slots "d" and "d_numerator". Mishchenko and Defazio
 * 2023, algorithm 4, in the form and with the defaults of the authors' code. Error: d0 not above
 * 0 (EDDY_INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *eddy_prodigy_with(const eddy_prodigy_args *given);
#define eddy_prodigy(...) eddy_prodigy_with(EDDY_ARGS(eddy_prodigy_args, __VA_ARGS__))

typedef struct eddy_schedule_free_adamw_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_schedule_free_adamw_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(0.0025); /* with a warm-up, no decay */
    eddy_tensor          beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor          beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(1e-8);
    eddy_tensor          weight_decay;    /* default none */
    eddy_variable_filter without_decay;
    const char          *name;            /* default "ScheduleFreeAdamW" */
} eddy_schedule_free_adamw_args;
/* Schedule-free AdamW: the variable is y, where gradients are evaluated; z, a slot, is the
 * sequence of the steps; their average x is the model. w is the square of the largest lr so far
 * and c = w / the sum of all w; v += (g^2 - v)(1 - beta2); u = g / (sqrt(v/(1 - beta2^t)) +
 * epsilon) + weight_decay y; y += (z - y) c - lr (1 - beta1 (1 - c)) u; z -= lr u. Slots "z" and
 * "v". Defazio et al. 2024, AdamWScheduleFree of the authors' code with r = 0. */
EDDY_API eddy_optimizer *eddy_schedule_free_adamw_with(const eddy_schedule_free_adamw_args *given);
#define eddy_schedule_free_adamw(...) \
    eddy_schedule_free_adamw_with(EDDY_ARGS(eddy_schedule_free_adamw_args, __VA_ARGS__))
/* The operation that writes the averages x to the variables, for evaluation and for files; and
 * the one that restores y, to be run before the next step: x = y + (z - y)(1 - 1/beta1), y = x +
 * (z - x)(1 - beta1). Build them after eddy_apply_gradients. EDDY_INVALID_ARGUMENT for another
 * optimizer, or without steps. */
EDDY_API eddy_tensor eddy_schedule_free_evaluate(eddy_optimizer *o);
EDDY_API eddy_tensor eddy_schedule_free_train(eddy_optimizer *o);

#ifdef __cplusplus
}
#endif
#endif
