/* modern.h -- optimizers that came after those of tf.train.
 *
 * Hyper-parameters are scalar tensors, as in classic.h; those left out are float64, so that
 * a float64 variable sees all their digits.  t is the number of the step, from 1, that of a
 * variable "iterations"; g is the gradient, x the variable, all arithmetic is by element,
 * and slots begin as zeros unless it is said.
 *
 * A gradient of rows (IndexedSlices) is made dense where the rule moves an element whose
 * gradient is 0: the step is then that of the dense gradient.  With `lazy`, which rules
 * that treat each element by itself have, only the named rows are read and written, and
 * the moments of the others wait (as in tf.contrib.opt.LazyAdamOptimizer). */
#ifndef EDDY_OPTIM_MODERN_H
#define EDDY_OPTIM_MODERN_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Picks the variables that an option leaves alone; zeroed, it picks none.  A plain struct,
 * copied freely; what `context` points to must outlive the last apply_gradients. */
typedef struct eddy_variable_filter {
    bool (*picks)(eddy_tensor variable, void *context);
    void  *context;
} eddy_variable_filter;

/* A filter's function: ranks below 2, which biases and the scales of normalisations have. */
EDDY_API bool eddy_is_below_matrix(eddy_tensor variable, void *context);

/* ------------------------------------------------------------ Adam's family -- */

typedef struct eddy_adamw_args {
    char                 unused_;
    eddy_graph          *graph;
    eddy_tensor          learning_rate;   /* default 0.001 */
    eddy_tensor          beta1;           /* default 0.9 */
    eddy_tensor          beta2;           /* default 0.999 */
    eddy_tensor          epsilon;         /* default 1e-8 */
    eddy_tensor          weight_decay;    /* default 0.01 */
    bool                 amsgrad;
    bool                 lazy;
    eddy_variable_filter without_decay;
    const char          *name;            /* default "AdamW" */
} eddy_adamw_args;
/* m += (g - m)(1 - beta1); s += (g^2 - s)(1 - beta2);
 * x -= lr weight_decay x + lr m/(1 - beta1^t) / (sqrt(s/(1 - beta2^t)) + epsilon).
 * With amsgrad the largest s so far stands in the root.  Loshchilov and Hutter 2019, Reddi et
 * al. 2018; formula and defaults are those of PyTorch's AdamW. */
EDDY_API eddy_optimizer *eddy_adamw_with(eddy_adamw_args args);
#define eddy_adamw(...) eddy_adamw_with(EDDY_ARGS(eddy_adamw_args, __VA_ARGS__))

typedef struct eddy_adamax_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* default 0.002 */
    eddy_tensor beta1;                    /* default 0.9 */
    eddy_tensor beta2;                    /* default 0.999 */
    eddy_tensor epsilon;                  /* default 1e-8 */
    bool        lazy;
    const char *name;                     /* default "Adamax" */
} eddy_adamax_args;
/* m += (g - m)(1 - beta1); u = max(beta2 u, |g| + epsilon); x -= lr/(1 - beta1^t) m/u.
 * Kingma and Ba 2014, section 7.1; epsilon stands where PyTorch's Adamax has it, so that
 * elements without a gradient stay where they are. */
EDDY_API eddy_optimizer *eddy_adamax_with(eddy_adamax_args args);
#define eddy_adamax(...) eddy_adamax_with(EDDY_ARGS(eddy_adamax_args, __VA_ARGS__))

typedef struct eddy_nadam_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* default 0.002 */
    eddy_tensor beta1;                    /* default 0.9 */
    eddy_tensor beta2;                    /* default 0.999 */
    eddy_tensor epsilon;                  /* default 1e-8 */
    eddy_tensor momentum_decay;           /* psi, default 0.004 */
    bool        lazy;
    const char *name;                     /* default "Nadam" */
} eddy_nadam_args;
/* mu(t) = beta1 (1 - 0.96^(t psi)/2), P = mu(1) ... mu(t), in a variable; m += (g - m)(1 -
 * beta1); s += (g^2 - s)(1 - beta2); x -= lr ((1 - mu(t))/(1 - P) g + mu(t+1)/(1 - P mu(t+1)) m)
 * / (sqrt(s/(1 - beta2^t)) + epsilon).  Dozat 2016, as PyTorch's and Keras's Nadam have it. */
EDDY_API eddy_optimizer *eddy_nadam_with(eddy_nadam_args args);
#define eddy_nadam(...) eddy_nadam_with(EDDY_ARGS(eddy_nadam_args, __VA_ARGS__))

typedef struct eddy_radam_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* default 0.001 */
    eddy_tensor beta1;                    /* default 0.9 */
    eddy_tensor beta2;                    /* default 0.999 */
    eddy_tensor epsilon;                  /* default 1e-8, above 0 */
    bool        lazy;
    const char *name;                     /* default "RAdam" */
} eddy_radam_args;
/* m and s as Adam's; R = 2/(1 - beta2) - 1, r = R - 2 t beta2^t/(1 - beta2^t);
 * x -= lr m/(1 - beta1^t) while r <= 5, and then
 * x -= lr m/(1 - beta1^t) q sqrt(1 - beta2^t)/(sqrt(s) + epsilon) with
 * q^2 = (r - 4)(r - 2) R / ((R - 4)(R - 2) r).
 * Liu et al. 2020; the threshold 5 and the defaults are PyTorch's RAdam's. */
EDDY_API eddy_optimizer *eddy_radam_with(eddy_radam_args args);
#define eddy_radam(...) eddy_radam_with(EDDY_ARGS(eddy_radam_args, __VA_ARGS__))

typedef struct eddy_yogi_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* default 0.01 */
    eddy_tensor beta1;                    /* default 0.9 */
    eddy_tensor beta2;                    /* default 0.999 */
    eddy_tensor epsilon;                  /* default 0.001 */
    double      initial_accumulator_value;/* of s; default 1e-6, -0.0 is 0 */
    bool        lazy;
    const char *name;                     /* default "Yogi" */
} eddy_yogi_args;
/* m += (g - m)(1 - beta1); s -= (1 - beta2) sign(s - g^2) g^2;
 * x -= lr m/(1 - beta1^t) / (sqrt(s/(1 - beta2^t)) + epsilon).
 * Zaheer et al. 2018 with the corrections for the start of the authors' code, whose
 * defaults these are; m starts at 0, as in the paper.
 * Error: initial_accumulator_value below 0 (INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *eddy_yogi_with(eddy_yogi_args args);
#define eddy_yogi(...) eddy_yogi_with(EDDY_ARGS(eddy_yogi_args, __VA_ARGS__))

typedef struct eddy_lion_args {
    char                 unused_;
    eddy_graph          *graph;
    eddy_tensor          learning_rate;   /* default 0.0001 */
    eddy_tensor          beta1;           /* default 0.9 */
    eddy_tensor          beta2;           /* default 0.99 */
    eddy_tensor          weight_decay;    /* default none */
    bool                 lazy;
    eddy_variable_filter without_decay;
    const char          *name;            /* default "Lion" */
} eddy_lion_args;
/* x -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay x); m = beta2 m + (1 - beta2) g.
 * Chen et al. 2023.  The sign of 0 is 0. */
EDDY_API eddy_optimizer *eddy_lion_with(eddy_lion_args args);
#define eddy_lion(...) eddy_lion_with(EDDY_ARGS(eddy_lion_args, __VA_ARGS__))

/* -------------------------------------------------- a rate for each variable -- */

typedef struct eddy_lamb_args {
    char                 unused_;
    eddy_graph          *graph;
    eddy_tensor          learning_rate;   /* default 0.001 */
    eddy_tensor          beta1;           /* default 0.9 */
    eddy_tensor          beta2;           /* default 0.999 */
    eddy_tensor          epsilon;         /* default 1e-6 */
    eddy_tensor          weight_decay;    /* default none; the paper has 0.01 */
    eddy_variable_filter without_decay;
    eddy_variable_filter without_adaptation;
    const char          *name;            /* default "LAMB" */
} eddy_lamb_args;
/* m and s as Adam's; u = m/(1 - beta1^t) / (sqrt(s/(1 - beta2^t)) + epsilon) + weight_decay x;
 * x -= lr |x|/|u| u with the Euclidean norms of the whole variable; the ratio is 1 where a
 * norm is 0, and for variables without adaptation.  You et al. 2020; defaults of the authors'
 * code.  Sparse gradients are made dense. */
EDDY_API eddy_optimizer *eddy_lamb_with(eddy_lamb_args args);
#define eddy_lamb(...) eddy_lamb_with(EDDY_ARGS(eddy_lamb_args, __VA_ARGS__))

typedef struct eddy_lars_args {
    char                 unused_;
    eddy_graph          *graph;
    eddy_tensor          learning_rate;   /* required */
    eddy_tensor          momentum;        /* default 0.9 */
    eddy_tensor          weight_decay;    /* default 0.0001 */
    eddy_tensor          eeta;            /* the trust coefficient, default 0.001 */
    eddy_tensor          epsilon;         /* default 0 */
    eddy_variable_filter skip;            /* variables with neither adaptation nor decay */
    bool                 use_nesterov;
    const char          *name;            /* default "LARSOptimizer" */
} eddy_lars_args;
/* r = eeta |x| / (|g| + weight_decay |x| + epsilon), 1 where |x| or |g| is 0;
 * d = lr r (g + weight_decay x); a = momentum a + d; x -= a, or with Nesterov x -= d +
 * momentum a.  Of variables that are skipped d = lr g.  You et al. 2017, in the form of
 * tf.contrib.opt.LARSOptimizer.  Sparse gradients are made dense. */
EDDY_API eddy_optimizer *eddy_lars_with(eddy_lars_args args);
#define eddy_lars(...) eddy_lars_with(EDDY_ARGS(eddy_lars_args, __VA_ARGS__))

/* ------------------------------------------------------- moments of matrices -- */

typedef struct eddy_adafactor_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* default: the relative step min(0.01, 1/sqrt(t)) */
    eddy_tensor beta1;                    /* default none: no average of the steps */
    eddy_tensor decay_rate;               /* c of beta2(t) = 1 - t^-c; default 0.8 */
    eddy_tensor clipping_threshold;       /* d, default 1 */
    eddy_tensor epsilon1;                 /* added to squares, default 1e-30 */
    eddy_tensor epsilon2;                 /* least scale of a variable, default 0.001 */
    bool        without_parameter_scale;
    const char *name;                     /* default "Adafactor" */
} eddy_adafactor_args;
/* q = g^2 + epsilon1.  Of matrices, and of the last two axes of larger tensors, R and C are
 * moving averages with beta2(t) of the means of q over rows and over columns, and
 * u = g / sqrt(R C / mean(R)); of ranks below 2, V is that of q and u = g / sqrt(V).
 * With rms the root of the mean square of all elements,
 * step = lr max(epsilon2, rms(x)) u / max(1, rms(u)/d), without_parameter_scale not scaled;
 * x -= step, or with beta1 the moving average m of it.
 * Shazeer and Stern 2018, algorithms 4 to 6 with their constants.  Sparse gradients are made
 * dense.  Error: a variable of unknown rank (UNIMPLEMENTED). */
EDDY_API eddy_optimizer *eddy_adafactor_with(eddy_adafactor_args args);
#define eddy_adafactor(...) eddy_adafactor_with(EDDY_ARGS(eddy_adafactor_args, __VA_ARGS__))

typedef struct eddy_sm3_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* required */
    eddy_tensor momentum;                 /* default 0.9 */
    const char *name;                     /* default "SM3" */
} eddy_sm3_args;
/* A slot a_i for each axis, as long as it.  n = min_i a_i + g^2; a_i = the maximum of n over
 * the other axes; m = momentum m + (1 - momentum) g/sqrt(n), where 0/0 is 0; x -= lr m.  Of
 * ranks below 2, n is kept itself.  Anil et al. 2019, SM3-II.
 *
 * Of a sparse gradient only the named rows change, and only by the slot of axis 0, as in the
 * authors' code: the others would grow with each step and never be the minimum.  So the
 * gradients of one variable should all be sparse, or all dense.
 * Error: a variable of unknown rank (UNIMPLEMENTED). */
EDDY_API eddy_optimizer *eddy_sm3_with(eddy_sm3_args args);
#define eddy_sm3(...) eddy_sm3_with(EDDY_ARGS(eddy_sm3_args, __VA_ARGS__))

typedef struct eddy_shampoo_args {
    char        unused_;
    eddy_graph *graph;
    eddy_tensor learning_rate;            /* default 0.1 */
    eddy_tensor epsilon;                  /* default 0.0001, above 0 */
    eddy_tensor momentum;                 /* default none */
    int64_t     max_size;                 /* of an axis with a preconditioner; default 1024 */
    bool        separate_roots;           /* eddy_shampoo_roots makes them, not the step */
    const char *name;                     /* default "Shampoo" */
} eddy_shampoo_args;
/* For each of the k axes of x that are no longer than max_size, with G the gradient as a
 * matrix whose rows lie along axis i: L_i += G G'; p = g times L_i^(-1/2k) along each of them;
 * x -= lr p, or with momentum a = momentum a + p; x -= lr a.  L_i starts as epsilon I.  A
 * variable without such an axis has p = g/sqrt(s + epsilon), s the sum of g^2.
 * Gupta, Koren and Singer 2018; epsilon is the paper's for its images.
 *
 * The roots are by eigenvalues, n^3 for an axis of n: with separate_roots the step takes the
 * roots that the operation eddy_shampoo_roots has left, to be run each so many steps, and
 * until it first is, the identity.  Sparse gradients are made dense.
 * Errors: a variable of unknown shape (UNIMPLEMENTED); max_size below 0 (INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *eddy_shampoo_with(eddy_shampoo_args args);
#define eddy_shampoo(...) eddy_shampoo_with(EDDY_ARGS(eddy_shampoo_args, __VA_ARGS__))
/* The operation that computes the roots of all statistics of a Shampoo with separate_roots
 * whose steps have been built.  INVALID_ARGUMENT for any other optimizer. */
EDDY_API eddy_tensor eddy_shampoo_roots(eddy_optimizer *shampoo);

/* ------------------------------------------------------------------- wrapper -- */

typedef struct eddy_decoupled_weight_decay_args {
    char                 unused_;
    eddy_optimizer      *optimizer;       /* required */
    eddy_tensor          weight_decay;    /* required; follows no learning rate by itself */
    eddy_variable_filter without_decay;
    const char          *name;            /* default "DecoupledWeightDecay" */
} eddy_decoupled_weight_decay_args;
/* The step of any optimizer, and with it x -= weight_decay x, both from the x of before; of a
 * sparse gradient only the named rows decay.  Slots are those of the optimizer inside.
 * Loshchilov and Hutter 2019; tf.contrib.opt.extend_with_decoupled_weight_decay.
 * Error: no live optimizer, or one of another graph (INVALID_ARGUMENT). */
EDDY_API eddy_optimizer *
eddy_decoupled_weight_decay_with(eddy_decoupled_weight_decay_args args);
#define eddy_decoupled_weight_decay(...) \
    eddy_decoupled_weight_decay_with(EDDY_ARGS(eddy_decoupled_weight_decay_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
