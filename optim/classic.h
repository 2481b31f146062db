/* classic.h -- the optimizers of TensorFlow 1's tf.train.
 *
 * Hyper-parameters are scalar tensors (eddy_scalar, a placeholder, a schedule)
 * of any floating type; they are cast to each variable's. */
#ifndef EDDY_OPTIM_CLASSIC_H
#define EDDY_OPTIM_CLASSIC_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_gradient_descent_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    const char *name;                /* default "GradientDescent" */
} eddy_gradient_descent_args;
/* v -= lr g. */
EDDY_API eddy_optimizer *eddy_gradient_descent_with(eddy_gradient_descent_args args);
#define eddy_gradient_descent(...) \
    eddy_gradient_descent_with(EDDY_ARGS(eddy_gradient_descent_args, __VA_ARGS__))

typedef struct eddy_momentum_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    eddy_tensor momentum;            /* required */
    bool        use_nesterov;
    const char *name;                /* default "Momentum" */
} eddy_momentum_args;
/* a = momentum a + g; v -= lr a, or with Nesterov v -= lr g + lr momentum a. */
EDDY_API eddy_optimizer *eddy_momentum_with(eddy_momentum_args args);
#define eddy_momentum(...) eddy_momentum_with(EDDY_ARGS(eddy_momentum_args, __VA_ARGS__))

typedef struct eddy_adam_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* default 0.001 */
    eddy_tensor beta1;               /* default 0.9 */
    eddy_tensor beta2;               /* default 0.999 */
    eddy_tensor epsilon;             /* default 1e-8, the "epsilon hat" of the paper */
    const char *name;                /* default "Adam" */
} eddy_adam_args;
/* Kingma and Ba 2014 in TensorFlow's form: alpha = lr sqrt(1 - beta2^t) /
 * (1 - beta1^t); m += (g - m)(1 - beta1); s += (g^2 - s)(1 - beta2);
 * v -= alpha m / (sqrt(s) + epsilon). */
EDDY_API eddy_optimizer *eddy_adam_with(eddy_adam_args args);
#define eddy_adam(...) eddy_adam_with(EDDY_ARGS(eddy_adam_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
