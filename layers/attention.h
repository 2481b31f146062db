/* attention.h -- multi-head attention, positional encodings and transformer blocks, as layers;
 * layers.h describes the options that all layers have. */
#ifndef EDDY_LAYERS_ATTENTION_H
#define EDDY_LAYERS_ATTENTION_H

#include "layers.h"
#include "attention_cache.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_multi_head_attention_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_multi_head_attention_args));
    eddy_tensor      x;
    int64_t          heads;
    const char      *name;                /* default: "attention" */
    eddy_tensor      memory;              /* source of keys and values; default: x */
    /* of all heads together; default: that of x */
    int64_t          units EDDY_DEFAULT(EDDY_OMITTED);
    bool             causal;              /* position i attends only to positions 0 to i */
    eddy_tensor      lengths;             /* number of valid positions of the memory */
    eddy_tensor      mask;                /* the positions that each position attends to */
    double           dropout;             /* rate for the attention weights; default: 0 */
    bool             training;
    eddy_tensor      training_when;
    bool             no_bias;
    eddy_init        kernel_initializer;  /* default: eddy_glorot_uniform_initializer */
    eddy_regularizer kernel_regularizer;
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;
    eddy_attention_cache *cache;          /* of earlier positions; default: none */
    eddy_tensor      values;              /* source of the values; default: memory */
} eddy_multi_head_attention_args;

/* Multi-head attention: each position of a sequence gets a weighted mean of the values at all
 * positions, weighted by how well its query matches their keys, for each head (Vaswani et al.,
 * "Attention is all you need", 2017).
 *
 *  x        [batch, s, n], n known; y has its shape
 *  heads    positive; must divide units
 *  memory   [batch, t, m] of the type of x, m known
 *  values   [batch, t, v] of the type of x, v known; requires a memory, from which the keys are
 *  lengths  int32 or int64 [batch]: the memory of example i ends after lengths[i] positions
 *  mask     broadcasts to [batch, heads, s, t]: bool, true for visible positions, or numbers of
 *           the type of x that are added to the scores
 *  dropout  the rate; the probabilities, [batch, heads, s, t], are then stored, which they
 *           otherwise are not (eddy_packed_self_attention, eddy_scaled_dot_product_attention)
 *
 *  cache    x holds the positions after those in the cache, to which its keys and values are added.
 *           Without a memory, .causal is required: the results are those that the same positions of
 *           the whole sequence have. With a memory, its keys and values are computed in the first
 *           call, and later calls read neither memory nor lengths. A mask, other lengths and
 *           dropout in training are not possible.
 *
 *  Positions hidden by lengths or a bool mask have 10^9 subtracted from their scores: if all
 *  positions are hidden from a position, it gets the mean of all.
 *  Variables: qkv/kernel [n, 3 units], the queries, keys and values, each head after head; with
 *  a memory query/kernel [n, units] and key_value/kernel [m, 2 units], or with values also
 *  keys/kernel [m, units] and values/kernel [v, units] in its place; attention_output/kernel
 *  [units, n]; and a bias for each.
 *  Errors: EDDY_INVALID_ARGUMENT if heads do not divide units, for values without a memory, or for
 *  options that a cache does not allow; EDDY_BAD_SHAPE and EDDY_BAD_DTYPE for other lengths, and
 *  EDDY_BAD_SHAPE for values of another batch or number of positions than the memory; at run
 *  time, EDDY_CHECK_FAILED for a position beyond the window of the cache.
 *  TensorFlow: keras.layers.MultiHeadAttention. PyTorch: MultiheadAttention, where kdim and vdim
 *  are m and v. */
EDDY_API eddy_tensor eddy_multi_head_attention_with(const eddy_multi_head_attention_args *given);
#define eddy_multi_head_attention(...) \
    eddy_multi_head_attention_with(EDDY_ARGS(eddy_multi_head_attention_args, __VA_ARGS__))

/* Sinusoidal positional encoding, with wavelengths from 2 pi to nearly 20000 pi, a constant
 * [length, units]: element [i, 2 k] is sin(i / 10000^(2 k / units)), [i, 2 k + 1] the cosine
 * (Vaswani et al., 2017).
 *
 *  length, units  positive
 *  dtype          float64 or float32; 0 is float32
 *
 *  Errors: EDDY_INVALID_ARGUMENT, EDDY_BAD_DTYPE; EDDY_NO_MEMORY if it is too large. */
EDDY_API eddy_tensor eddy_sinusoidal_positions(eddy_graph *g, int64_t length, int64_t units,
                                               eddy_dtype dtype);

typedef struct eddy_position_layer_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_position_layer_args));
    eddy_tensor x;
    int64_t     max_length EDDY_DEFAULT(EDDY_OMITTED); /* of a sequence; default: that of x */
    bool        learned;                  /* a variable; otherwise eddy_sinusoidal_positions */
    const char *name;                     /* default: "positions" */
    eddy_init   embeddings_initializer;   /* default: eddy_random_normal_initializer(0, 0.02) */
    bool        not_trainable;
    int64_t     seed;
    const char *reuse;
    eddy_attention_cache *cache;          /* of earlier positions; default: none */
} eddy_position_layer_args;

/* Adds a positional encoding, a vector for each position of a sequence, to x.
 *
 *  x           [batch, s, n], n known
 *  max_length  at least s; required if s is unknown; with a cache, the default is its window
 *  cache       x holds the positions after those in the cache
 *
 *  Variables, if learned: embeddings [max_length, n].
 *  Errors: EDDY_INVALID_ARGUMENT if s is above max_length; at run time, EDDY_OUT_OF_RANGE, or
 *  EDDY_CHECK_FAILED for a position beyond the window of the cache. */
EDDY_API eddy_tensor eddy_position_layer_with(const eddy_position_layer_args *given);
#define eddy_position_layer(...) \
    eddy_position_layer_with(EDDY_ARGS(eddy_position_layer_args, __VA_ARGS__))

typedef struct eddy_transformer_block_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_transformer_block_args));
    eddy_tensor      x;
    int64_t          heads;
    const char      *name;                /* default: "transformer_block" */
    /* of the feed-forward layer; default: 4 times that of x */
    int64_t          hidden EDDY_DEFAULT(EDDY_OMITTED);
    eddy_tensor      memory;              /* for cross-attention, as in a decoder; default: none */
    bool             causal;
    eddy_tensor      lengths, memory_lengths;
    eddy_tensor      mask;                /* of the self-attention of x */
    bool             pre_norm;            /* layer normalization before each part, not after it */
    eddy_activation  activation;  /* of the feed-forward layer; default: eddy_relu */
    double           dropout;             /* the rate after each part; default: 0 */
    double           attention_dropout;   /* of eddy_multi_head_attention; default: 0 */
    bool             training;
    eddy_tensor      training_when;
    double           epsilon EDDY_DEFAULT(1e-5); /* of the layer norms */
    eddy_init        kernel_initializer;  /* default: eddy_glorot_uniform_initializer */
    eddy_regularizer kernel_regularizer;
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;
    eddy_attention_cache *cache;          /* of earlier positions; default: none */
} eddy_transformer_block_args;

/* A transformer block: self-attention, cross-attention to a memory if there is one, and two fully
 * connected layers (eddy_mlp). Each part f of these has a residual connection and layer
 * normalization: norm(x + f(x)), or with pre_norm x + f(norm(x)).
 *
 *  x  [batch, s, n], n known; y has its shape
 *
 *  memory, lengths, mask, causal, heads, cache  as in eddy_multi_head_attention
 *
 *  Variables: those of attention, cross_attention, feed_forward (eddy_mlp), and of layer_norm,
 *  layer_norm_1, layer_norm_2.
 *  torch.nn.TransformerEncoderLayer and, with a memory, TransformerDecoderLayer. */
EDDY_API eddy_tensor eddy_transformer_block_with(const eddy_transformer_block_args *given);
#define eddy_transformer_block(...) \
    eddy_transformer_block_with(EDDY_ARGS(eddy_transformer_block_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
