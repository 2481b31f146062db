/* layers.h -- layers with variables of their own, as functions that build them.
 *
 * A layer opens a name scope, `name` or the layer's default, and creates its variables there:
 * those of eddy_dense(x, 10, "logits") are logits/kernel and logits/bias. Layers have these
 * options in common:
 *
 *   name           the name of the scope; a name in use gets the suffix _1 and so on
 *   reuse          the scope of a layer of the same kind whose variables are used instead of
 *                  new ones, as in eddy_scope_name and in names of variables: "tower/logits"
 *   not_trainable  excludes the variables from the updates of optimizers
 *   seed           of the initializers and of dropout; 0: the default seeds of the operations
 *   *_initializer  the initial value of a variable (initial.h)
 *   *_regularizer  a penalty on it, in EDDY_REGULARIZATION_LOSSES
 *   activation     a function applied to the result: eddy_relu, eddy_gelu, the caller's own;
 *                  default: none
 *   training       if true, the layer behaves as in training (dropout, batch statistics), ...
 *   training_when  ... or, if given, where this bool scalar is true in a run
 *
 * x is float32 or float64, and the variables have its type. The batch size may be unknown.
 *
 * Errors of all layers: EDDY_BAD_DTYPE if x has another type; EDDY_BAD_SHAPE if x has another rank
 * or a size on which variables depend is unknown; EDDY_INVALID_ARGUMENT for a count that is not
 * positive; EDDY_NOT_FOUND and EDDY_BAD_SHAPE if there is no variable to reuse or it has another
 * shape; and the errors of the operations that a layer is composed of. The gradients of a layer are
 * those of its operations. */
#ifndef EDDY_LAYERS_H
#define EDDY_LAYERS_H

#include "../ops/ops.h"
#include "initial.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------- fully connected -- */

typedef struct eddy_dense_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_dense_args));
    eddy_tensor      x;
    int64_t          units;               /* columns of y */
    const char      *name;                /* default: "dense" */
    eddy_activation  activation;
    bool             no_bias;
    eddy_init        kernel_initializer;  /* default: eddy_glorot_uniform_initializer */
    eddy_init        bias_initializer;    /* default: zeros */
    bool             not_trainable;
    int64_t          seed;
    eddy_regularizer kernel_regularizer, bias_regularizer;
    const char      *reuse;
} eddy_dense_args;

/* A fully connected layer: y = f(x w + b).
 *
 *  x        [..., in], rank 2 or more, the last dimension known; y is [..., units]
 *  units    the number of columns of y, positive
 *  no_bias  omit b
 *
 *  Variables: kernel [in, units], bias [units].  TensorFlow: layers.dense. */
EDDY_API eddy_tensor eddy_dense_with(const eddy_dense_args *given);
#define eddy_dense(...) eddy_dense_with(EDDY_ARGS(eddy_dense_args, __VA_ARGS__))

typedef struct eddy_mlp_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_mlp_args));
    eddy_tensor      x;
    eddy_dims        units;               /* of each layer: EDDY_DIMS(256, 256, 10) */
    const char      *name;                /* default: "mlp" */
    eddy_activation  activation;          /* of all except the last; default: eddy_relu */
    eddy_activation  output_activation;   /* of the last; default: none */
    double           dropout;             /* the rate after each activation; default: 0 */
    bool             training;
    eddy_tensor      training_when;
    eddy_init        kernel_initializer;  /* default: eddy_glorot_uniform_initializer */
    eddy_regularizer kernel_regularizer;
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;
} eddy_mlp_args;

/* Fully connected layers in sequence (multilayer perceptron).
 *
 *  x      [..., in], as in eddy_dense; y is [..., the last of units]
 *  units  1 to 8 counts, each positive
 *
 *  Variables: those of layers dense, dense_1 and so on.
 *  Errors: EDDY_INVALID_ARGUMENT if there are no units. */
EDDY_API eddy_tensor eddy_mlp_with(const eddy_mlp_args *given);
#define eddy_mlp(...) eddy_mlp_with(EDDY_ARGS(eddy_mlp_args, __VA_ARGS__))

typedef struct eddy_residual_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_residual_args));
    eddy_tensor x, y;
    const char *name;                     /* default: "residual" */
    eddy_init   kernel_initializer;       /* default: eddy_he_normal_initializer */
    bool        not_trainable;
    int64_t     seed;
    const char *reuse;
} eddy_residual_args;

/* A residual connection, x + y, where y was computed from x; if their shapes differ, x first
 * passes through a linear layer or a 1x1 convolution (He et al., "Deep residual learning",
 * 2016).
 *
 *  x  [..., n]
 *  y  [..., m].  Images [batch, height, width, m] may be smaller than x by an integer factor,
 *     the stride of the convolution
 *
 *  Variables: shortcut/kernel [n, m] or [1, 1, n, m], if the shapes differ. */
EDDY_API eddy_tensor eddy_residual_with(const eddy_residual_args *given);
#define eddy_residual(...) eddy_residual_with(EDDY_ARGS(eddy_residual_args, __VA_ARGS__))

/* ---------------------------------------------------------- convolutions -- */

typedef struct eddy_conv_layer_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_conv_layer_args));
    eddy_tensor      x;
    int64_t          filters;             /* channels of y */
    eddy_dims        kernel_size;         /* one for all axes, or one for each */
    const char      *name;                /* default: "conv1d", "conv2d", ... */
    eddy_dims        strides;             /* likewise; default: 1 */
    const char      *padding;             /* "VALID" (default), "SAME" */
    const char      *data_format;         /* channels last (default); "NCW", "NCHW", "NCDHW" */
    eddy_dims        dilation_rate;       /* as strides; default: 1 */
    int64_t          groups EDDY_DEFAULT(1); /* of channels; not for three dimensions */
    eddy_activation  activation;
    bool             no_bias;
    eddy_init        kernel_initializer;  /* default: eddy_glorot_uniform_initializer */
    eddy_init        bias_initializer;    /* default: zeros */
    eddy_regularizer kernel_regularizer, bias_regularizer;
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;
} eddy_conv_layer_args;

/* Convolutions with a bias and an activation: eddy_conv1d, eddy_conv2d, eddy_conv3d.
 *
 *  x            [batch, width, channels], [batch, height, width, channels], [batch, depth,
 *               height, width, channels], or with channels second; their number is known
 *  filters      positive; groups must divide it and the channels of x
 *  kernel_size  each positive
 *
 *  Variables: kernel [kernel_size..., channels / groups, filters], bias [filters].
 *  TensorFlow: layers.conv1d, conv2d, conv3d. */
EDDY_API eddy_tensor eddy_conv1d_layer_with(const eddy_conv_layer_args *given);
#define eddy_conv1d_layer(...) eddy_conv1d_layer_with(EDDY_ARGS(eddy_conv_layer_args, __VA_ARGS__))
EDDY_API eddy_tensor eddy_conv2d_layer_with(const eddy_conv_layer_args *given);
#define eddy_conv2d_layer(...) eddy_conv2d_layer_with(EDDY_ARGS(eddy_conv_layer_args, __VA_ARGS__))
EDDY_API eddy_tensor eddy_conv3d_layer_with(const eddy_conv_layer_args *given);
#define eddy_conv3d_layer(...) eddy_conv3d_layer_with(EDDY_ARGS(eddy_conv_layer_args, __VA_ARGS__))

/* Transposed convolution, eddy_conv2d_transpose; "SAME" with strides of 2 doubles the size of
 * images.
 *
 *  x  [batch, height, width, channels] or NCHW, height and width known
 *
 *  Variables: kernel [kernel_size..., filters, channels], bias [filters].
 *  Errors: EDDY_INVALID_ARGUMENT for groups.  TensorFlow: layers.conv2d_transpose. */
EDDY_API eddy_tensor eddy_conv2d_transpose_layer_with(const eddy_conv_layer_args *given);
#define eddy_conv2d_transpose_layer(...) \
    eddy_conv2d_transpose_layer_with(EDDY_ARGS(eddy_conv_layer_args, __VA_ARGS__))

typedef struct eddy_depthwise_layer_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_depthwise_layer_args));
    eddy_tensor      x;
    int64_t          filters;             /* of eddy_separable_conv2d_layer: channels of y */
    eddy_dims        kernel_size;         /* one for both axes, or two */
    const char      *name;                /* default: "depthwise_conv2d", "separable_conv2d" */
    eddy_dims        strides;             /* likewise; default: 1 */
    const char      *padding;             /* "VALID" (default), "SAME" */
    const char      *data_format;         /* "NHWC" (default), "NCHW" */
    eddy_dims        dilation_rate;       /* as strides; default: 1 */
    int64_t          depth_multiplier EDDY_DEFAULT(1); /* filters per channel */
    eddy_activation  activation;
    bool             no_bias;
    eddy_init        depthwise_initializer;   /* default: eddy_glorot_uniform_initializer */
    eddy_init        pointwise_initializer;   /* likewise */
    eddy_init        bias_initializer;        /* default: zeros */
    eddy_regularizer depthwise_regularizer, pointwise_regularizer, bias_regularizer;
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;
} eddy_depthwise_layer_args;

/* Depthwise convolution, where each channel has its own filters (eddy_depthwise_conv2d), and
 * separable convolution, which adds a 1x1 convolution over channels (eddy_separable_conv2d).
 *
 *  x        [batch, height, width, channels] or NCHW, the number of channels known
 *  filters  omitted or 0 for the former, positive for the latter
 *
 *  Variables: depthwise_kernel [kernel_size..., channels, depth_multiplier], bias; and
 *  pointwise_kernel [1, 1, channels depth_multiplier, filters].
 *  TensorFlow: keras.layers.DepthwiseConv2D, layers.separable_conv2d. */
EDDY_API eddy_tensor eddy_depthwise_conv2d_layer_with(const eddy_depthwise_layer_args *given);
#define eddy_depthwise_conv2d_layer(...) \
    eddy_depthwise_conv2d_layer_with(EDDY_ARGS(eddy_depthwise_layer_args, __VA_ARGS__))
EDDY_API eddy_tensor eddy_separable_conv2d_layer_with(const eddy_depthwise_layer_args *given);
#define eddy_separable_conv2d_layer(...) \
    eddy_separable_conv2d_layer_with(EDDY_ARGS(eddy_depthwise_layer_args, __VA_ARGS__))

/* Pooling and eddy_flatten have no variables: layers.max_pooling2d, average_pooling2d and
 * flatten are eddy_max_pool2d, eddy_avg_pool2d and eddy_flatten. */

/* -------------------------------------------------------- normalization -- */

typedef struct eddy_batch_norm_layer_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_batch_norm_layer_args));
    eddy_tensor      x;
    const char      *name;                /* default: "batch_normalization" */
    bool             training;
    eddy_tensor      training_when;
    int64_t          axis EDDY_DEFAULT(-1); /* of the channels */
    double           momentum EDDY_DEFAULT(0.99); /* of the moving averages */
    double           epsilon EDDY_DEFAULT(1e-3);
    bool             no_center, no_scale; /* omit beta, gamma */
    eddy_init        beta_initializer;    /* default: zeros */
    eddy_init        gamma_initializer;   /* default: ones */
    eddy_init        moving_mean_initializer;       /* default: zeros */
    eddy_init        moving_variance_initializer;   /* default: ones */
    eddy_regularizer beta_regularizer, gamma_regularizer;
    bool             not_trainable;
    const char      *reuse;
} eddy_batch_norm_layer_args;

/* Batch normalization: in training each channel has mean beta and standard deviation gamma over
 * the batch; otherwise it is normalized with the moving averages of mean and variance.
 *
 *  x     [..., channels], rank 2 or more, the number of channels known; images
 *        [batch, channels, height, width] with an axis of 1
 *  axis  0 or the last, or 1 for rank 4
 *
 *  Variables: gamma, beta, moving_mean, moving_variance [channels], the latter two not
 *  trainable.  Updates of these, moving = moving momentum + batch (1 - momentum), are added to
 *  EDDY_UPDATE_OPS; a training step must run them (eddy_update_ops).  For rank 4 the variance
 *  of the moving average is divided by the count minus one, as in TensorFlow's fused
 *  operation, and otherwise by the count.
 *  Errors: EDDY_INVALID_ARGUMENT for any other axis or a momentum outside [0, 1].
 *  TensorFlow: layers.batch_normalization. */
EDDY_API eddy_tensor eddy_batch_norm_layer_with(const eddy_batch_norm_layer_args *given);
#define eddy_batch_norm_layer(...) \
    eddy_batch_norm_layer_with(EDDY_ARGS(eddy_batch_norm_layer_args, __VA_ARGS__))

/* One operation that runs all of EDDY_UPDATE_OPS whose names start with `scope` (all if NULL):
 *   eddy_run(s, feeds, EDDY_FETCH(train, updates), out);
 * tf.group(tf.get_collection(UPDATE_OPS)). */
EDDY_API eddy_tensor eddy_update_ops(eddy_graph *g, const char *scope);

typedef struct eddy_layer_norm_layer_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_layer_norm_layer_args));
    eddy_tensor x;
    const char *name;                     /* default: "layer_norm" */
    double      epsilon EDDY_DEFAULT(1e-5);
    eddy_init   gamma_initializer;        /* default: ones */
    eddy_init   beta_initializer;         /* default: zeros */
    bool        not_trainable;
    const char *reuse;
} eddy_layer_norm_layer_args;

/* Layer normalization: each row of x along its last axis has mean beta and standard deviation
 * gamma (eddy_layer_norm).
 *
 *  x  [..., n], rank 1 or more, n known
 *
 *  Variables: gamma, beta [n].  TensorFlow: keras.layers.LayerNormalization. */
EDDY_API eddy_tensor eddy_layer_norm_layer_with(const eddy_layer_norm_layer_args *given);
#define eddy_layer_norm_layer(...) \
    eddy_layer_norm_layer_with(EDDY_ARGS(eddy_layer_norm_layer_args, __VA_ARGS__))

/* ------------------------------------------------- dropout and embedding -- */

typedef struct eddy_dropout_layer_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_dropout_layer_args));
    eddy_tensor x;
    double      rate;                     /* the fraction dropped, in [0,1); 0 drops nothing */
    bool        training;
    eddy_tensor training_when;
    eddy_dims   noise_shape;              /* default: x's shape */
    int64_t     seed;
    const char *name;                     /* default: "dropout" */
} eddy_dropout_layer_args;

/* eddy_dropout in training, otherwise x itself. TensorFlow: layers.dropout. */
EDDY_API eddy_tensor eddy_dropout_layer_with(const eddy_dropout_layer_args *given);
#define eddy_dropout_layer(...) \
    eddy_dropout_layer_with(EDDY_ARGS(eddy_dropout_layer_args, __VA_ARGS__))

typedef struct eddy_embedding_layer_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_embedding_layer_args));
    eddy_tensor      ids;                 /* int32 or int64, any shape */
    int64_t          input_dim;           /* number of distinct ids, [0, input_dim) */
    int64_t          output_dim;          /* size of each vector */
    const char      *name;                /* default: "embedding" */
    eddy_init        embeddings_initializer;    /* default: uniform in [-0.05, 0.05) */
    eddy_regularizer embeddings_regularizer;
    eddy_dtype       dtype;               /* default: float32 */
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;
} eddy_embedding_layer_args;

/* Embedding: a vector for each id (eddy_embedding_lookup); y is [ids..., output_dim].
 *
 *  Variables: embeddings [input_dim, output_dim].
 *  Errors: EDDY_BAD_DTYPE for other types of ids or another dtype; at run time, EDDY_OUT_OF_RANGE
 *  for an id outside [0, input_dim).  TensorFlow: keras.layers.Embedding. */
EDDY_API eddy_tensor eddy_embedding_layer_with(const eddy_embedding_layer_args *given);
#define eddy_embedding_layer(...) \
    eddy_embedding_layer_with(EDDY_ARGS(eddy_embedding_layer_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif

#include "attention.h"
#include "recurrent.h"
#include "rnn.h"
#include "rnn_cells.h"
#include "beam_search.h"
#include "generate.h"

#endif
