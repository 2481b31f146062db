/* tf_train.h -- the optimizers of TensorFlow 1's tf.train: gradient descent, momentum, Adagrad,
 * Adam, RMSProp, Adadelta, FTRL and others.
 *
 * Hyper-parameters are scalar tensors (eddy_scalar, a placeholder, a schedule) of any floating
 * type; they are cast to the type of each variable. Options that TensorFlow checks when the
 * optimizer is created are plain numbers.
 *
 * v is a variable, float32 or float64 (complex too, where the comment says so), g its gradient,
 * lr the learning rate. For a sparse gradient, all rules except Adam's read and write only the
 * rows of v and of the slots that the gradient contains.
 *
 * A constructor returns NULL and records the error on the graph if a hyper-parameter is missing,
 * belongs to another graph, is not floating (EDDY_BAD_DTYPE) or is not a scalar (EDDY_BAD_SHAPE),
 * if a number is out of its range (EDDY_INVALID_ARGUMENT), or if a name is empty. `graph` may be
 * omitted if a tensor determines it. */
#ifndef EDDY_OPTIM_RULES_TF_TRAIN_H
#define EDDY_OPTIM_RULES_TF_TRAIN_H

#include "../optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_gradient_descent_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_gradient_descent_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    const char *name;                /* default "GradientDescent" */
} eddy_gradient_descent_args;
/* v -= lr g. Also for complex variables. No slots. */
EDDY_API eddy_optimizer *eddy_gradient_descent_with(const eddy_gradient_descent_args *given);
#define eddy_gradient_descent(...) \
    eddy_gradient_descent_with(EDDY_ARGS(eddy_gradient_descent_args, __VA_ARGS__))

typedef struct eddy_momentum_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_momentum_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    eddy_tensor momentum;            /* required */
    bool        use_nesterov;
    const char *name;                /* default "Momentum" */
    eddy_tensor dampening;           /* default none */
    eddy_tensor weight_decay;        /* in the gradient; default none */
} eddy_momentum_args;
/* d = g + weight_decay v; a = momentum a + (1 - dampening) d, except a = d in the first step; v
 * -= lr a, or with Nesterov momentum v -= lr d + lr momentum a. Also for complex variables.
 * Slot: "momentum". Polyak 1964; Sutskever et al. 2013; dampening and weight_decay are those of
 * PyTorch's SGD. */
EDDY_API eddy_optimizer *eddy_momentum_with(const eddy_momentum_args *given);
#define eddy_momentum(...) eddy_momentum_with(EDDY_ARGS(eddy_momentum_args, __VA_ARGS__))

typedef struct eddy_adam_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adam_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-8); /* the "epsilon hat" of the paper */
    bool        amsgrad;             /* the root is that of the largest s so far, slot "vhat" */
    const char *name;                /* default "Adam" */
} eddy_adam_args;
/* Adam, in TensorFlow's form: alpha = lr sqrt(1 - beta2^t) / (1 - beta1^t); m += (g - m)(1 -
 * beta1); s += (g^2 - s)(1 - beta2); v -= alpha m / (sqrt(s) + epsilon). Kingma and Ba 2014.
 * amsgrad: Reddi et al. 2018, as in tf.keras's Adam. */
EDDY_API eddy_optimizer *eddy_adam_with(const eddy_adam_args *given);
#define eddy_adam(...) eddy_adam_with(EDDY_ARGS(eddy_adam_args, __VA_ARGS__))

typedef struct eddy_adagrad_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adagrad_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    double      initial_accumulator_value EDDY_DEFAULT(0.1); /* above 0 */
    const char *name;                /* default "Adagrad" */
} eddy_adagrad_args;
/* a += g^2; v -= lr g / sqrt(a).  Slot: "accumulator".  Duchi, Hazan and Singer 2011. */
EDDY_API eddy_optimizer *eddy_adagrad_with(const eddy_adagrad_args *given);
#define eddy_adagrad(...) eddy_adagrad_with(EDDY_ARGS(eddy_adagrad_args, __VA_ARGS__))

typedef struct eddy_adagrad_da_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adagrad_da_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    eddy_tensor global_step;         /* required: an integer; to be counted by apply_gradients */
    double      initial_gradient_squared_accumulator_value EDDY_DEFAULT(0.1); /* above 0 */
    double      l1_regularization_strength, l2_regularization_strength;
    const char *name;                /* default "AdagradDA" */
} eddy_adagrad_da_args;
/* Dual averaging, with T = global_step + 1: G += g; Q += g^2; v = -lr sign(G) max(|G| - l1 T, 0)
 * / (l2 T lr + sqrt(Q)). The old v is ignored: the first step forgets the initial value. Slots:
 * "gradient_accumulator", "gradient_squared_accumulator". Duchi, Hazan and Singer 2011. */
EDDY_API eddy_optimizer *eddy_adagrad_da_with(const eddy_adagrad_da_args *given);
#define eddy_adagrad_da(...) eddy_adagrad_da_with(EDDY_ARGS(eddy_adagrad_da_args, __VA_ARGS__))

typedef struct eddy_adadelta_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adadelta_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor rho EDDY_DEFAULT_SCALAR(0.95);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-8);
    const char *name;                /* default "Adadelta" */
} eddy_adadelta_args;
/* a = rho a + (1 - rho) g^2; u = g sqrt(d + epsilon) / sqrt(a + epsilon); v -= lr u;
 * d = rho d + (1 - rho) u^2.  Slots: "accum", "accum_update".  Zeiler 2012. */
EDDY_API eddy_optimizer *eddy_adadelta_with(const eddy_adadelta_args *given);
#define eddy_adadelta(...) eddy_adadelta_with(EDDY_ARGS(eddy_adadelta_args, __VA_ARGS__))

typedef struct eddy_rmsprop_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_rmsprop_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    eddy_tensor decay EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor momentum EDDY_DEFAULT_SCALAR(0);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-10);
    bool        centered;
    const char *name;                /* default "RMSProp" */
} eddy_rmsprop_args;
/* r += (g^2 - r)(1 - decay); q = momentum q + lr g / sqrt(r + epsilon); v -= q; if centered, m
 * += (g - m)(1 - decay) and the root is sqrt(r - m^2 + epsilon). r starts at 1. Slots: "rms",
 * "momentum", if centered also "mg". Tieleman and Hinton 2012; Graves 2013. */
EDDY_API eddy_optimizer *eddy_rmsprop_with(const eddy_rmsprop_args *given);
#define eddy_rmsprop(...) eddy_rmsprop_with(EDDY_ARGS(eddy_rmsprop_args, __VA_ARGS__))

typedef struct eddy_ftrl_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_ftrl_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required; above 0, or the run fails */
    double      learning_rate_power EDDY_DEFAULT(-0.5); /* not above 0 */
    double      initial_accumulator_value EDDY_DEFAULT(0.1); /* not below 0 */
    double      l1_regularization_strength, l2_regularization_strength;
    const char *name;                /* default "Ftrl" */
    const char *accum_name;          /* of the variables that are the slots; default `name` */
    const char *linear_name;
    double      l2_shrinkage_regularization_strength;
    double      beta;
} eddy_ftrl_args;
/* With p = -learning_rate_power and n' = n + g^2: z += g + 2 shrinkage v -
 * (n'^p - n^p) / lr v; v = (l1 sign(z) - z) / ((n'^p + beta) / lr + 2 l2) where |z| > l1,
 * else 0; n = n'.  Slots: "accum", which is n, and "linear", z.  McMahan et al. 2013;
 * beta as in TensorFlow's later versions. */
EDDY_API eddy_optimizer *eddy_ftrl_with(const eddy_ftrl_args *given);
#define eddy_ftrl(...) eddy_ftrl_with(EDDY_ARGS(eddy_ftrl_args, __VA_ARGS__))

typedef struct eddy_proximal_gradient_descent_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_proximal_gradient_descent_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required */
    double      l1_regularization_strength, l2_regularization_strength;
    const char *name;                /* default "ProximalGradientDescent" */
} eddy_proximal_gradient_descent_args;
/* w = v - lr g; v = sign(w) max(|w| - lr l1, 0) / (1 + lr l2).  No slots.  Duchi and
 * Singer 2009. */
EDDY_API eddy_optimizer *
eddy_proximal_gradient_descent_with(const eddy_proximal_gradient_descent_args *given);
#define eddy_proximal_gradient_descent(...) \
    eddy_proximal_gradient_descent_with(EDDY_ARGS(eddy_proximal_gradient_descent_args, __VA_ARGS__))

typedef struct eddy_proximal_adagrad_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_proximal_adagrad_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;       /* required; above 0, or the run fails */
    double      initial_accumulator_value EDDY_DEFAULT(0.1); /* above 0 */
    double      l1_regularization_strength, l2_regularization_strength;
    const char *name;                /* default "ProximalAdagrad" */
} eddy_proximal_adagrad_args;
/* a += g^2; e = lr / sqrt(a); w = v - e g; v = sign(w) max(|w| - e l1, 0) / (1 + e l2).
 * Slot: "accumulator".  Duchi and Singer 2009. */
EDDY_API eddy_optimizer *eddy_proximal_adagrad_with(const eddy_proximal_adagrad_args *given);
#define eddy_proximal_adagrad(...) \
    eddy_proximal_adagrad_with(EDDY_ARGS(eddy_proximal_adagrad_args, __VA_ARGS__))

/* ------------------------------------- of PyTorch, with hyper-parameters as those of adaptive.h */

typedef struct eddy_rprop_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_rprop_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.01); /* the first step of each element */
    eddy_tensor eta_minus EDDY_DEFAULT_SCALAR(0.5);
    eddy_tensor eta_plus EDDY_DEFAULT_SCALAR(1.2);
    eddy_tensor min_step EDDY_DEFAULT_SCALAR(1e-6);
    eddy_tensor max_step EDDY_DEFAULT_SCALAR(50);
    const char *name;                /* default "Rprop" */
} eddy_rprop_args;
/* p is g of the previous step. Where p g > 0, d = min(d eta_plus, max_step); where p g < 0, d =
 * max(d eta_minus, min_step) and g = 0; v -= sign(g) d; p = g. For full-batch gradients, not for
 * minibatches. Slots: "prev", and "step_size", d, which is initialized to learning_rate when
 * variables are initialized. Sparse gradients are converted to dense ones. Riedmiller and Braun
 * 1993, in the form of PyTorch's Rprop. */
EDDY_API eddy_optimizer *eddy_rprop_with(const eddy_rprop_args *given);
#define eddy_rprop(...) eddy_rprop_with(EDDY_ARGS(eddy_rprop_args, __VA_ARGS__))

typedef struct eddy_asgd_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_asgd_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.01);
    eddy_tensor lambda EDDY_DEFAULT_SCALAR(0.0001); /* decay */
    eddy_tensor alpha EDDY_DEFAULT_SCALAR(0.75); /* power of the rate's decay */
    eddy_tensor t0 EDDY_DEFAULT_SCALAR(1e6); /* the step with which averaging begins */
    const char *name;                /* default "ASGD" */
} eddy_asgd_args;
/* At step t, counted from 1: e = learning_rate / (1 + lambda learning_rate (t - 1))^alpha; v = v
 * (1 - lambda e) - e g; a += (v - a) / max(1, t - 1 - t0). The average, for evaluation, is the
 * slot "ax"; before averaging starts it equals v. Sparse gradients are converted to dense ones.
 * Polyak and Juditsky 1992, in the form of PyTorch's ASGD. */
EDDY_API eddy_optimizer *eddy_asgd_with(const eddy_asgd_args *given);
#define eddy_asgd(...) eddy_asgd_with(EDDY_ARGS(eddy_asgd_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
