/* adaptive.h -- optimizers newer than those of tf.train: AdamW, LAMB, Lion, Adafactor, Muon,
 * Shampoo and others.
 *
 * Hyper-parameters are scalar tensors, as in tf_train.h. Omitted ones are float64, so that a
 * float64 variable gets all their digits. t is the number of the step, counted from 1 in a
 * variable "iterations"; g is the gradient, x the variable. All arithmetic is elementwise, and
 * slots start as zeros, unless stated otherwise.
 *
 * A sparse gradient (IndexedSlices) is converted to a dense one if the rule changes elements
 * whose gradient is 0: the step is then that of the dense gradient. With `lazy`, an option of
 * elementwise rules, only the rows in the gradient are read and written, and the moments of the
 * other rows are unchanged (as in tf.contrib.opt.LazyAdamOptimizer). */
#ifndef EDDY_OPTIM_RULES_ADAPTIVE_H
#define EDDY_OPTIM_RULES_ADAPTIVE_H

#include "../optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Selects the variables to which an option does not apply; zeroed, it selects none. A plain
 * struct, copied freely; `context` must remain valid until the last apply_gradients. */
typedef struct eddy_variable_filter {
    bool (*picks)(eddy_tensor variable, void *context);
    void  *context;
} eddy_variable_filter;

/* A filter function: selects variables of rank below 2, such as biases and the scales of
 * normalizations. */
EDDY_API bool eddy_rank_below_2(eddy_tensor variable, void *context);

/* ------------------------------------------------------------ Adam's family -- */

typedef struct eddy_adamw_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_adamw_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor          beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor          beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(1e-8);
    eddy_tensor          weight_decay EDDY_DEFAULT_SCALAR(0.01);
    bool                 amsgrad;
    bool                 lazy;
    eddy_variable_filter without_decay;
    const char          *name;            /* default "AdamW" */
} eddy_adamw_args;
/* AdamW: m += (g - m)(1 - beta1); s += (g^2 - s)(1 - beta2); x -= lr weight_decay x + lr m/(1 -
 * beta1^t) / (sqrt(s/(1 - beta2^t)) + epsilon). With amsgrad the root is taken of the largest s
 * so far. Loshchilov and Hutter 2019, Reddi et al. 2018; formula and defaults are those of
 * PyTorch's AdamW. */
EDDY_API eddy_optimizer *eddy_adamw_with(const eddy_adamw_args *given);
#define eddy_adamw(...) eddy_adamw_with(EDDY_ARGS(eddy_adamw_args, __VA_ARGS__))

typedef struct eddy_adamax_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adamax_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.002);
    eddy_tensor beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-8); /* above 0 */
    bool        lazy;
    const char *name;                     /* default "Adamax" */
} eddy_adamax_args;
/* AdaMax: m += (g - m)(1 - beta1); u = max(beta2 u, |g| + epsilon); x -= lr/(1 - beta1^t) m/u.
 * Kingma and Ba 2014, section 7.1; epsilon has the position of PyTorch's Adamax, so that
 * elements without a gradient do not change. */
EDDY_API eddy_optimizer *eddy_adamax_with(const eddy_adamax_args *given);
#define eddy_adamax(...) eddy_adamax_with(EDDY_ARGS(eddy_adamax_args, __VA_ARGS__))

typedef struct eddy_nadam_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_nadam_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.002);
    eddy_tensor beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-8);
    eddy_tensor momentum_decay EDDY_DEFAULT_SCALAR(0.004); /* psi */
    bool        lazy;
    const char *name;                     /* default "Nadam" */
} eddy_nadam_args;
/* NAdam: mu(t) = beta1 (1 - 0.96^(t psi)/2), P = mu(1) ... mu(t), in a variable; m += (g - m)(1
 * - beta1); s += (g^2 - s)(1 - beta2); x -= lr ((1 - mu(t))/(1 - P) g + mu(t+1)/(1 - P mu(t+1))
 * m) / (sqrt(s/(1 - beta2^t)) + epsilon). Dozat 2016, as in PyTorch and Keras. */
EDDY_API eddy_optimizer *eddy_nadam_with(const eddy_nadam_args *given);
#define eddy_nadam(...) eddy_nadam_with(EDDY_ARGS(eddy_nadam_args, __VA_ARGS__))

typedef struct eddy_radam_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_radam_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-8); /* above 0 */
    bool        lazy;
    const char *name;                     /* default "RAdam" */
} eddy_radam_args;
/* RAdam: m and s as in Adam; R = 2/(1 - beta2) - 1, r = R - 2 t beta2^t/(1 - beta2^t); x -= lr
 * m/(1 - beta1^t) while r <= 5, and then x -= lr m/(1 - beta1^t) q sqrt(1 - beta2^t)/(sqrt(s) +
 * epsilon) with q^2 = (r - 4)(r - 2) R / ((R - 4)(R - 2) r). Liu et al. 2020; the threshold 5
 * and the defaults are those of PyTorch's RAdam. */
EDDY_API eddy_optimizer *eddy_radam_with(const eddy_radam_args *given);
#define eddy_radam(...) eddy_radam_with(EDDY_ARGS(eddy_radam_args, __VA_ARGS__))

typedef struct eddy_adabelief_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adabelief_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-16); /* above 0 */
    bool        lazy;
    const char *name;                     /* default "AdaBelief" */
} eddy_adabelief_args;
/* AdaBelief: m += (g - m)(1 - beta1); s += ((g - m)^2 - s)(1 - beta2) + epsilon, with the new m;
 * x -= lr m/(1 - beta1^t) / (sqrt(s/(1 - beta2^t)) + epsilon). Zhuang et al. 2020; epsilon is
 * that of the authors' code. */
EDDY_API eddy_optimizer *eddy_adabelief_with(const eddy_adabelief_args *given);
#define eddy_adabelief(...) eddy_adabelief_with(EDDY_ARGS(eddy_adabelief_args, __VA_ARGS__))

typedef struct eddy_adan_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_adan_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor          beta1 EDDY_DEFAULT_SCALAR(0.98);
    eddy_tensor          beta2 EDDY_DEFAULT_SCALAR(0.92);
    eddy_tensor          beta3 EDDY_DEFAULT_SCALAR(0.99);
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(1e-8);
    eddy_tensor          weight_decay;    /* default none */
    eddy_variable_filter without_decay;
    const char          *name;            /* default "Adan" */
} eddy_adan_args;
/* Adan: d = g - the gradient of the previous step, 0 in the first step; m += (g - m)(1 - beta1);
 * v += (d - v)(1 - beta2); n += ((g + beta2 d)^2 - n)(1 - beta3); u = (m/(1 - beta1^t) + beta2
 * v/(1 - beta2^t)) / (sqrt(n/(1 - beta3^t)) + epsilon); x = (x - lr u) / (1 + lr weight_decay).
 * Slots "m", "v", "n" and "g". Sparse gradients are converted to dense ones. Xie et al. 2022;
 * the betas are those of the authors' code, which are 1 minus the paper's. */
EDDY_API eddy_optimizer *eddy_adan_with(const eddy_adan_args *given);
#define eddy_adan(...) eddy_adan_with(EDDY_ARGS(eddy_adan_args, __VA_ARGS__))

typedef struct eddy_yogi_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_yogi_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.01);
    eddy_tensor beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(0.001);
    double      initial_accumulator_value EDDY_DEFAULT(1e-6); /* of s */
    bool        lazy;
    const char *name;                     /* default "Yogi" */
} eddy_yogi_args;
/* Yogi: m += (g - m)(1 - beta1); s -= (1 - beta2) sign(s - g^2) g^2; x -= lr m/(1 - beta1^t) /
 * (sqrt(s/(1 - beta2^t)) + epsilon). Zaheer et al. 2018 with the bias corrections and the
 * defaults of the authors' code; m starts at 0, as in the paper. Error:
 * initial_accumulator_value below 0 (EDDY_INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *eddy_yogi_with(const eddy_yogi_args *given);
#define eddy_yogi(...) eddy_yogi_with(EDDY_ARGS(eddy_yogi_args, __VA_ARGS__))

typedef struct eddy_lion_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_lion_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(0.0001);
    eddy_tensor          beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor          beta2 EDDY_DEFAULT_SCALAR(0.99);
    eddy_tensor          weight_decay;    /* default none */
    bool                 lazy;
    eddy_variable_filter without_decay;
    const char          *name;            /* default "Lion" */
} eddy_lion_args;
/* Lion: x -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay x); m = beta2 m + (1 - beta2) g.
 * Chen et al. 2023. The sign of 0 is 0. */
EDDY_API eddy_optimizer *eddy_lion_with(const eddy_lion_args *given);
#define eddy_lion(...) eddy_lion_with(EDDY_ARGS(eddy_lion_args, __VA_ARGS__))

/* -------------------------------------------------- a rate for each variable -- */

typedef struct eddy_lamb_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_lamb_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor          beta1 EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor          beta2 EDDY_DEFAULT_SCALAR(0.999);
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(1e-6);
    eddy_tensor          weight_decay;    /* default none; the paper has 0.01 */
    eddy_variable_filter without_decay;
    eddy_variable_filter without_adaptation;
    const char          *name;            /* default "LAMB" */
} eddy_lamb_args;
/* LAMB: m and s as in Adam; u = m/(1 - beta1^t) / (sqrt(s/(1 - beta2^t)) + epsilon) +
 * weight_decay x; x -= lr |x|/|u| u with the Euclidean norms of the whole variable; the ratio is
 * 1 if a norm is 0, and for variables without adaptation. You et al. 2020; defaults of the
 * authors' code. Sparse gradients are converted to dense ones. */
EDDY_API eddy_optimizer *eddy_lamb_with(const eddy_lamb_args *given);
#define eddy_lamb(...) eddy_lamb_with(EDDY_ARGS(eddy_lamb_args, __VA_ARGS__))

typedef struct eddy_lars_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_lars_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate;   /* required */
    eddy_tensor          momentum EDDY_DEFAULT_SCALAR(0.9);
    eddy_tensor          weight_decay EDDY_DEFAULT_SCALAR(0.0001);
    eddy_tensor          eeta EDDY_DEFAULT_SCALAR(0.001); /* the trust coefficient */
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(0);
    eddy_variable_filter skip;            /* variables with neither adaptation nor decay */
    bool                 use_nesterov;
    const char          *name;            /* default "LARSOptimizer" */
} eddy_lars_args;
/* LARS: r = eeta |x| / (|g| + weight_decay |x| + epsilon), 1 if |x| or |g| is 0; d = lr r (g +
 * weight_decay x); a = momentum a + d; x -= a, or with Nesterov momentum x -= d + momentum a.
 * For excluded variables d = lr g. You et al. 2017, in the form of tf.contrib.opt.LARSOptimizer.
 * Sparse gradients are converted to dense ones. */
EDDY_API eddy_optimizer *eddy_lars_with(const eddy_lars_args *given);
#define eddy_lars(...) eddy_lars_with(EDDY_ARGS(eddy_lars_args, __VA_ARGS__))

typedef struct eddy_novograd_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_novograd_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor          beta1 EDDY_DEFAULT_SCALAR(0.95);
    eddy_tensor          beta2 EDDY_DEFAULT_SCALAR(0.98);
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(1e-8);
    eddy_tensor          weight_decay;    /* default none */
    eddy_variable_filter without_decay;
    const char          *name;            /* default "NovoGrad" */
} eddy_novograd_args;
/* NovoGrad: s is one number for each variable, s += (|g|^2 - s)(1 - beta2), except s = |g|^2 in
 * the first step, with the Euclidean norm; m = beta1 m + g/(sqrt(s) + epsilon) + weight_decay x;
 * x -= lr m. Slots "m" and "v", which is s. Sparse gradients are converted to dense ones.
 * Ginsburg et al. 2019. */
EDDY_API eddy_optimizer *eddy_novograd_with(const eddy_novograd_args *given);
#define eddy_novograd(...) eddy_novograd_with(EDDY_ARGS(eddy_novograd_args, __VA_ARGS__))

/* ------------------------------------------------------- moments of matrices -- */

typedef struct eddy_adafactor_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adafactor_args));
    eddy_graph *graph;
    /* default: the relative step min(0.01, 1/sqrt(t)) */
    eddy_tensor learning_rate EDDY_DEFAULT(EDDY_OMITTED_TENSOR);
    eddy_tensor beta1;                    /* default none: no average of the steps */
    eddy_tensor decay_rate EDDY_DEFAULT_SCALAR(0.8); /* c of beta2(t) = 1 - t^-c */
    eddy_tensor clipping_threshold EDDY_DEFAULT_SCALAR(1); /* d */
    eddy_tensor epsilon1 EDDY_DEFAULT_SCALAR(1e-30); /* added to squares */
    eddy_tensor epsilon2 EDDY_DEFAULT_SCALAR(0.001); /* least scale of a variable */
    bool        without_parameter_scale;
    const char *name;                     /* default "Adafactor" */
} eddy_adafactor_args;
/* Adafactor: q = g^2 + epsilon1. For matrices, and for the last two axes of larger tensors, R
 * and C are moving averages with beta2(t) of the means of q over rows and over columns, and u =
 * g / sqrt(R C / mean(R)); for ranks below 2, V is the moving average of q and u = g / sqrt(V).
 * rms is the root of the mean square of all elements. step = lr max(epsilon2, rms(x)) u / max(1,
 * rms(u)/d); without_parameter_scale omits the factor max(epsilon2, rms(x)). x -= step, or with
 * beta1 its moving average m. Shazeer and Stern 2018, algorithms 4 to 6 with their constants.
 * Sparse gradients are converted to dense ones. Error: a variable of unknown rank
 * (EDDY_UNIMPLEMENTED). */
EDDY_API eddy_optimizer *eddy_adafactor_with(const eddy_adafactor_args *given);
#define eddy_adafactor(...) eddy_adafactor_with(EDDY_ARGS(eddy_adafactor_args, __VA_ARGS__))

typedef struct eddy_sm3_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_sm3_args));
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* required */
    eddy_tensor momentum EDDY_DEFAULT_SCALAR(0.9);
    const char *name;                     /* default "SM3" */
} eddy_sm3_args;
/* SM3: a slot a_i for each axis, with its length. n = min_i a_i + g^2; a_i = the maximum of n
 * over the other axes; m = momentum m + (1 - momentum) g/sqrt(n), where 0/0 is 0; x -= lr m. For
 * ranks below 2, the slot is n itself. Anil et al. 2019, SM3-II.
 *
 * For a sparse gradient only its rows change, and only the slot of axis 0 is used, as in the
 * authors' code: the other slots would grow with each step and never be the minimum. So the
 * gradients of one variable should be either all sparse or all dense. Error: a variable of
 * unknown rank (EDDY_UNIMPLEMENTED). */
EDDY_API eddy_optimizer *eddy_sm3_with(const eddy_sm3_args *given);
#define eddy_sm3(...) eddy_sm3_with(EDDY_ARGS(eddy_sm3_args, __VA_ARGS__))

typedef struct eddy_shampoo_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_shampoo_args));
    eddy_graph *graph;
    eddy_tensor learning_rate EDDY_DEFAULT_SCALAR(0.1);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(0.0001); /* above 0 */
    eddy_tensor momentum;        /* default none */
    int64_t     max_size EDDY_DEFAULT(1024); /* of an axis with a preconditioner */
    bool        separate_roots;           /* eddy_shampoo_roots makes them, not the step */
    const char *name;                     /* default "Shampoo" */
} eddy_shampoo_args;
/* Shampoo: for each of the k axes of x whose length is at most max_size, with G the gradient as
 * a matrix whose rows lie along axis i: L_i += G G'; p = g times L_i^(-1/2k) along each of them;
 * x -= lr p, or with momentum a = momentum a + p; x -= lr a. L_i starts as epsilon I. A variable
 * without such an axis has p = g/sqrt(s + epsilon), s the sum of g^2. Gupta, Koren and Singer
 * 2018; epsilon is the paper's for its images.
 *
 * The roots are computed from eigenvalues, n^3 operations for an axis of n. With separate_roots
 * the step uses the roots computed by the operation eddy_shampoo_roots, which is to be run once
 * every few steps; before its first run they are the identity. Sparse gradients are converted to
 * dense ones. Errors: a variable of unknown shape (EDDY_UNIMPLEMENTED); max_size below 0
 * (EDDY_INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *eddy_shampoo_with(const eddy_shampoo_args *given);
#define eddy_shampoo(...) eddy_shampoo_with(EDDY_ARGS(eddy_shampoo_args, __VA_ARGS__))
/* The operation that computes the roots of all statistics of a Shampoo with separate_roots
 * whose steps have been built.  EDDY_INVALID_ARGUMENT for any other optimizer. */
EDDY_API eddy_tensor eddy_shampoo_roots(eddy_optimizer *shampoo);

typedef struct eddy_muon_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_muon_args));
    eddy_graph          *graph;
    eddy_tensor          learning_rate EDDY_DEFAULT_SCALAR(0.001);
    eddy_tensor          momentum EDDY_DEFAULT_SCALAR(0.95);
    eddy_tensor          weight_decay EDDY_DEFAULT_SCALAR(0.1);
    eddy_tensor          epsilon EDDY_DEFAULT_SCALAR(1e-7); /* the least norm */
    int                  newton_steps EDDY_DEFAULT(5);
    bool                 no_nesterov;
    eddy_variable_filter without_decay;
    const char          *name;            /* default "Muon" */
} eddy_muon_args;
/* Muon: m += (g - m)(1 - momentum); u = g + (m - g) momentum, or m with no_nesterov; U is u as a
 * matrix of its last axis by all others, divided by max(|U|, epsilon); newton_steps times U =
 * 3.4445 U - 4.775 U U' U + 2.0315 U U' U U' U, which keeps the singular vectors and moves the
 * singular values toward 1; x -= lr weight_decay x + lr sqrt(max(1, columns/rows)) U.
 *
 * For the hidden matrices of a network, with inputs as rows and outputs as columns, as in
 * eddy_dense. Embeddings, the last layer and variables of rank below 2 need another optimizer
 * (eddy_multi_optimizer). Sparse gradients are converted to dense ones. Jordan et al. 2024, with
 * the formula and the defaults of PyTorch's Muon, whose matrices have outputs as rows; computed
 * in the variable's type. Errors: rank below 2 or an unknown shape (EDDY_UNIMPLEMENTED);
 * newton_steps below 0 (EDDY_INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *eddy_muon_with(const eddy_muon_args *given);
#define eddy_muon(...) eddy_muon_with(EDDY_ARGS(eddy_muon_args, __VA_ARGS__))

/* ------------------------------------------------------------------- wrapper -- */

typedef struct eddy_decoupled_weight_decay_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_decoupled_weight_decay_args));
    eddy_optimizer      *optimizer;       /* required */
    eddy_tensor          weight_decay;    /* required; not multiplied by the learning rate */
    eddy_variable_filter without_decay;
    const char          *name;            /* default "DecoupledWeightDecay" */
} eddy_decoupled_weight_decay_args;
/* Decoupled weight decay: the step of any optimizer, and in addition x -= weight_decay x, both
 * from x before the run; for a sparse gradient only its rows decay. The slots are those of the
 * wrapped optimizer. Loshchilov and Hutter 2019;
 * tf.contrib.opt.extend_with_decoupled_weight_decay. Error: no live optimizer, or one of another
 * graph (EDDY_INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *
eddy_decoupled_weight_decay_with(const eddy_decoupled_weight_decay_args *given);
#define eddy_decoupled_weight_decay(...) \
    eddy_decoupled_weight_decay_with(EDDY_ARGS(eddy_decoupled_weight_decay_args, __VA_ARGS__))

/* The same options; default name "CoupledWeightDecay". */
typedef eddy_decoupled_weight_decay_args eddy_coupled_weight_decay_args;
/* The wrapped optimizer gets g + weight_decay x instead of g: this is what PyTorch's optimizers
 * call weight_decay, and the gradient of weight_decay |x|^2 / 2 in the loss. For a sparse
 * gradient only its rows decay, except that before an optimizer that examines all gradients
 * first (clipping, Prodigy) it is converted to a dense one. Inside eddy_accumulate_gradients it
 * is added to the whole gradient once. */
EDDY_API eddy_optimizer *eddy_coupled_weight_decay_with(
    const eddy_coupled_weight_decay_args *given);
#define eddy_coupled_weight_decay(...) \
    eddy_coupled_weight_decay_with(EDDY_ARGS(eddy_coupled_weight_decay_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
