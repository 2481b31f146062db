/* initial.h -- initializers and regularizers of a layer's variables, as options of layers: small
 * values that are copied freely. */
#ifndef EDDY_LAYERS_INITIAL_H
#define EDDY_LAYERS_INITIAL_H

#include "../ops/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An activation: a function of a tensor, eddy_relu, eddy_gelu or the user's own; not its name,
 * "relu". */
typedef eddy_tensor (*eddy_activation)(eddy_tensor x);

/* --------------------------------------------------------- initializers -- */

/* The initial value of a variable: the result of one of the functions below, or
 *
 *   { .build = f }    the tensor that a function builds: the user's own, eddy_init_zeros, ...
 *   { .value = t }    a tensor of the variable's type and shape
 *
 * If zeroed, the default of the option. */
typedef struct eddy_init {
    eddy_initializer_fn build;
    eddy_tensor         value;
    int64_t             seed;           /* 0: the layer's */
    int                 kind;           /* of the functions below; 0: none */
    double              a, b;           /* their parameters */
    const char         *mode, *distribution;
} eddy_init;

/* All 0, all 1, all `value`.  tf.zeros_initializer and so on. */
EDDY_API eddy_init eddy_zeros_initializer(void);
EDDY_API eddy_init eddy_ones_initializer(void);
EDDY_API eddy_init eddy_constant_initializer(double value);

/* Uniform in [minval, maxval); normal; normal truncated at two standard deviations.
 * tf.random_uniform_initializer and so on. */
EDDY_API eddy_init eddy_random_uniform_initializer(double minval, double maxval);
EDDY_API eddy_init eddy_random_normal_initializer(double mean, double stddev);
EDDY_API eddy_init eddy_truncated_normal_initializer(double mean, double stddev);

typedef struct eddy_variance_scaling_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_variance_scaling_args));
    double      scale EDDY_DEFAULT(1); /* positive */
    const char *mode;                   /* "fan_in" (default), "fan_out", "fan_avg" */
    /* "truncated_normal" (default), "untruncated_normal", "uniform" */
    const char *distribution;
    int64_t     seed;
} eddy_variance_scaling_args;

/* Random numbers with mean 0 and variance scale / n, where n is the fan-in (number of inputs of
 * a unit), the fan-out, or their mean (eddy_init_variance_scaling). The strings must outlive the
 * value. tf.variance_scaling_initializer. */
EDDY_API eddy_init eddy_variance_scaling_initializer_with(const eddy_variance_scaling_args *given);
#define eddy_variance_scaling_initializer(...) \
    eddy_variance_scaling_initializer_with(EDDY_ARGS(eddy_variance_scaling_args, __VA_ARGS__))

/* The same with the scale, mode and distribution of Glorot and Bengio (2010), He et al.
 * (2015) and LeCun et al. (1998).  tf.glorot_uniform_initializer, tf.initializers.he_normal
 * and so on. */
EDDY_API eddy_init eddy_glorot_uniform_initializer(void);
EDDY_API eddy_init eddy_glorot_normal_initializer(void);
EDDY_API eddy_init eddy_he_uniform_initializer(void);
EDDY_API eddy_init eddy_he_normal_initializer(void);
EDDY_API eddy_init eddy_lecun_uniform_initializer(void);
EDDY_API eddy_init eddy_lecun_normal_initializer(void);

/* `gain` times a random matrix with orthogonal rows or columns (eddy_init_orthogonal), and
 * times the identity matrix.  tf.orthogonal_initializer, tf.initializers.identity. */
EDDY_API eddy_init eddy_orthogonal_initializer(double gain);
EDDY_API eddy_init eddy_identity_initializer(double gain);

/* Builds the tensor that `init` describes; all zeros if it is zeroed.
 *
 *  dtype  0 is float32
 *  shape  fully known
 *  seed   of random numbers if init has none; 0: the default seeds of the operations
 *
 *  Errors: those of the operations; EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if init.value has another
 *  shape or type, EDDY_BAD_SHAPE for an identity that is not a matrix. */
EDDY_API eddy_tensor eddy_initial_value(eddy_graph *g, eddy_init init, eddy_dtype dtype,
                                        eddy_shape shape, int64_t seed);

/* --------------------------------------------------------- regularizers -- */

/* A penalty on a variable, which is added to EDDY_REGULARIZATION_LOSSES (eddy_get_total_loss
 * sums these): l1 times the sum of |x| plus l2 times half the sum of x^2, or the tensor that
 * `build` returns. Zeroed: none.
 *   .kernel_regularizer = { .l2 = 1e-4 } */
typedef struct eddy_regularizer {
    double        l1, l2;                       /* at least 0 */
    eddy_tensor (*build)(eddy_tensor x);        /* instead: returns the penalty, a scalar */
} eddy_regularizer;

#ifdef __cplusplus
}
#endif
#endif
