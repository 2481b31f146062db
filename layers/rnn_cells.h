/* rnn_cells.h -- the cells of recurrent networks (rnn.h), and wrappers around cells.
 *
 * A cell belongs to the graph and may be copied freely. A cell creates its variables when the first
 * network is built from it; all networks of one cell share them. Errors of all constructors:
 * EDDY_INVALID_ARGUMENT for counts that are not above 0, limits below 0 and probabilities out of
 * range, EDDY_LIMIT for counts that are too large; the result has no build function then. A cell
 * that is used in another graph is an error on that graph, EDDY_INVALID_ARGUMENT. */
#ifndef EDDY_LAYERS_RNN_CELLS_H
#define EDDY_LAYERS_RNN_CELLS_H

#include "rnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- cells -- */

typedef struct eddy_rnn_cell_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_rnn_cell_args));
    eddy_graph      *graph;
    int64_t          units;               /* above 0 */
    const char      *name;                /* default "basic_rnn_cell", "lstm_cell", "gru_cell" */
    eddy_activation  activation;          /* default eddy_tanh */
    double           forget_bias EDDY_DEFAULT(1);   /* this and the next four: of an LSTM */
    bool             use_peepholes;
    double           cell_clip;           /* c is clipped to [-cell_clip, cell_clip]; 0: no limit */
    int64_t          num_proj;            /* columns of the projection of h; 0: none */
    double           proj_clip;           /* h is clipped likewise after the projection */
    bool             reset_after;         /* of a GRU */
    eddy_init        kernel_initializer;  /* default eddy_glorot_uniform_initializer */
    eddy_init        bias_initializer;    /* default zeros; ones for the gates of a GRU */
    eddy_regularizer kernel_regularizer;
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;               /* as in layers.h: the scope of another cell */
} eddy_rnn_cell_args;

/* h' = f([x, h] w + b): the basic recurrent cell. x [batch, n], h and the output [batch, units].
 * Variables: kernel [n + units, units], bias. TensorFlow: nn.rnn_cell.BasicRNNCell. */
EDDY_API eddy_rnn_cell eddy_basic_rnn_cell_with(const eddy_rnn_cell_args *given);
#define eddy_basic_rnn_cell(...) eddy_basic_rnn_cell_with(EDDY_ARGS(eddy_rnn_cell_args, __VA_ARGS__))

/* Long short-term memory. The state is h [batch, units, or num_proj] and c [batch, units], in this
 * order; the output is h'.
 *
 *   i', f', g', o' = the parts of [x, h] w + b
 *   f = sigmoid(f' + forget_bias + w_f c)      i = sigmoid(i' + w_i c)
 *   c' = f c + i a(g')                         o = sigmoid(o' + w_o c')
 *   h' = o a(c'), with num_proj (o a(c')) p, a being the activation
 *
 *  Variables: kernel [n + columns of h, 4 units], bias; with use_peepholes, w_f_diag, w_i_diag,
 *  w_o_diag [units], which are absent above otherwise; with num_proj projection/kernel [units,
 *  num_proj]. rnn_weights.h converts from other orders of the parts.
 *  TensorFlow: nn.rnn_cell.LSTMCell; Sak et al., "Long short-term memory recurrent neural network
 *  architectures for large scale acoustic modeling", 2014. */
EDDY_API eddy_rnn_cell eddy_lstm_cell_with(const eddy_rnn_cell_args *given);
#define eddy_lstm_cell(...) eddy_lstm_cell_with(EDDY_ARGS(eddy_rnn_cell_args, __VA_ARGS__))

/* The gated recurrent unit of recurrent.h, with both forms of the reset gate: before the product
 * (TensorFlow 1's; Cho et al., 2014), or after it, with reset_after (Keras, PyTorch, cuDNN). h
 * and the output are [batch, units].
 * Variables: gates/kernel [n + units, 2 units], gates/bias, candidate/kernel [n + units, units],
 * candidate/bias, with reset_after candidate/recurrent_bias. TensorFlow: nn.rnn_cell.GRUCell. */
EDDY_API eddy_rnn_cell eddy_gru_cell_with(const eddy_rnn_cell_args *given);
#define eddy_gru_cell(...) eddy_gru_cell_with(EDDY_ARGS(eddy_rnn_cell_args, __VA_ARGS__))

/* -------------------------------------------------------------- wrappers -- */

typedef struct eddy_multi_rnn_cell_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_multi_rnn_cell_args));
    eddy_graph          *graph;
    const eddy_rnn_cell *cells;           /* `count` of them, the first one reads x; copied */
    int                  count;
    const char          *name;            /* default "multi_rnn_cell" */
} eddy_multi_rnn_cell_args;

/* Cells on top of each other: each gets the output of the one before it. The state is that of the
 * first cell, then that of the second, and so on. Variables: in <name>/cell_0/<cell>, ...
 * TensorFlow: nn.rnn_cell.MultiRNNCell. */
EDDY_API eddy_rnn_cell eddy_multi_rnn_cell_with(const eddy_multi_rnn_cell_args *given);
#define eddy_multi_rnn_cell(...) \
    eddy_multi_rnn_cell_with(EDDY_ARGS(eddy_multi_rnn_cell_args, __VA_ARGS__))

typedef struct eddy_dropout_wrapper_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_dropout_wrapper_args));
    eddy_graph   *graph;
    eddy_rnn_cell cell;
    /* the probabilities, above 0 and at most 1, that an element is kept */
    double        input_keep_prob EDDY_DEFAULT(1);
    double        output_keep_prob EDDY_DEFAULT(1);
    double        state_keep_prob EDDY_DEFAULT(1);
    bool          variational_recurrent;
    bool          training;               /* as in layers.h; neither: the cell itself is returned */
    eddy_tensor   training_when;
    int64_t       seed;
    const char   *name;                   /* default "dropout" */
} eddy_dropout_wrapper_args;

/* A cell with dropout on its inputs, outputs and next state where these are float32 or float64,
 * except memory (eddy_rnn_state). Elements that are kept are divided by the probability of keeping
 * them. With variational_recurrent the same elements are dropped in all steps and for all
 * examples of a run (Gal and Ghahramani, "A theoretically grounded application of dropout in
 * recurrent neural networks", 2016); otherwise each step draws. TensorFlow:
 * nn.rnn_cell.DropoutWrapper. */
EDDY_API eddy_rnn_cell eddy_dropout_wrapper_with(const eddy_dropout_wrapper_args *given);
#define eddy_dropout_wrapper(...) \
    eddy_dropout_wrapper_with(EDDY_ARGS(eddy_dropout_wrapper_args, __VA_ARGS__))

typedef struct eddy_residual_wrapper_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_residual_wrapper_args));
    eddy_graph   *graph;
    eddy_rnn_cell cell;
    eddy_tensor (*residual_fn)(eddy_tensor inputs, eddy_tensor outputs);   /* default: the sum */
} eddy_residual_wrapper_args;

/* A cell whose outputs are its inputs plus those of `cell`, which must have their size.
 * TensorFlow: nn.rnn_cell.ResidualWrapper. */
EDDY_API eddy_rnn_cell eddy_residual_wrapper_with(const eddy_residual_wrapper_args *given);
#define eddy_residual_wrapper(...) \
    eddy_residual_wrapper_with(EDDY_ARGS(eddy_residual_wrapper_args, __VA_ARGS__))

/* ------------------------------------------------------------- attention -- */

/* Attention to the steps of a sequence, the memory; it belongs to the graph. */
typedef struct eddy_attention_mechanism eddy_attention_mechanism;

typedef struct eddy_attention_mechanism_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_attention_mechanism_args));
    int64_t     num_units;              /* above 0 */
    eddy_tensor memory;                 /* [batch, steps, depth]; depth known */
    eddy_tensor memory_sequence_length; /* int32 or int64 [batch]; default: all steps */
    bool        normalize;              /* TensorFlow's `normalize` and, for Luong's, `scale` */
    const char *name;                   /* default "bahdanau_attention", "luong_attention" */
    eddy_init   kernel_initializer;     /* default eddy_glorot_uniform_initializer */
    bool        not_trainable;
    int64_t     seed;
} eddy_attention_mechanism_args;

/* Additive attention: the score of a step m of the memory is the sum of v tanh(q w + m u), or with
 * normalize of g v / |v| tanh(q w + m u + b), q being the query.
 * Variables: memory_layer/kernel u [depth, num_units], query_layer/kernel w [size of q, num_units],
 * attention_v [num_units], attention_g (initially 1 / sqrt(num_units)), attention_b.
 * TensorFlow: contrib.seq2seq.BahdanauAttention; Bahdanau et al., "Neural machine translation by
 * jointly learning to align and translate", 2015. */
EDDY_API eddy_attention_mechanism *eddy_bahdanau_attention_with(
    const eddy_attention_mechanism_args *given);
#define eddy_bahdanau_attention(...) \
    eddy_bahdanau_attention_with(EDDY_ARGS(eddy_attention_mechanism_args, __VA_ARGS__))

/* Multiplicative attention: the score is q . (m u), with normalize times g; q has num_units
 * columns. Variables: memory_layer/kernel u, attention_g (initially 1).
 * TensorFlow: contrib.seq2seq.LuongAttention(scale=normalize); Luong et al., "Effective approaches
 * to attention-based neural machine translation", 2015. */
EDDY_API eddy_attention_mechanism *eddy_luong_attention_with(
    const eddy_attention_mechanism_args *given);
#define eddy_luong_attention(...) \
    eddy_luong_attention_with(EDDY_ARGS(eddy_attention_mechanism_args, __VA_ARGS__))

/* The softmax of the scores, [batch, steps of the memory], for queries [batch, depth]; for [batch,
 * n, depth], such as the outputs of a whole network, [batch, n, steps of the memory]. They are
 * 0 after the end of a memory, and everywhere if its length is 0. */
EDDY_API eddy_tensor eddy_attention_alignments(eddy_attention_mechanism *m, eddy_tensor query);

typedef struct eddy_attention_wrapper_args {
    size_t                    size_ EDDY_DEFAULT(sizeof(eddy_attention_wrapper_args));
    eddy_rnn_cell             cell;
    eddy_attention_mechanism *mechanism;
    int64_t     attention_layer_size;     /* 0: no layer */
    bool        output_attention EDDY_DEFAULT(true);
    const char *name;                     /* default "attention_wrapper" */
    eddy_init   kernel_initializer;       /* default eddy_glorot_uniform_initializer */
    bool        not_trainable;
    int64_t     seed;
} eddy_attention_wrapper_args;

/* A cell with attention to a memory. In each step `cell` gets [x, attention]; its output is the
 * query; the context is the sum of the memory's steps, weighted by the alignments; the next
 * attention is the context, or with attention_layer_size [query, context] times a kernel. The
 * output is the attention, or the query without output_attention. The state is that of `cell`, then
 * the attention; initial_state must have both.
 * Variables: those of the cell and of the mechanism, attention_layer/kernel. TensorFlow:
 * contrib.seq2seq.AttentionWrapper. */
EDDY_API eddy_rnn_cell eddy_attention_wrapper_with(const eddy_attention_wrapper_args *given);
#define eddy_attention_wrapper(...) \
    eddy_attention_wrapper_with(EDDY_ARGS(eddy_attention_wrapper_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
