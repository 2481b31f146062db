/* rnn_weights.h -- weights of recurrent cells that PyTorch, TensorFlow or Keras trained: how their
 * layouts map to the variables here, and the calls that convert them. */
#ifndef EDDY_LAYERS_RNN_WEIGHTS_H
#define EDDY_LAYERS_RNN_WEIGHTS_H

#include "recurrent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The library whose layout the weights have. n is the size of an input, h that of the state; a
 * transposed kernel has the inputs as columns. The parts of an LSTM are i (input), f (forget), g
 * (new values, also called j or c), o (output); those of a GRU r (reset), z (update, here u), n
 * (candidate).
 *
 *             orientation                   LSTM        GRU      biases
 *   here      [n + h, parts]                i f g o     r z, n   one; a GRU with reset_after also
 *                                                                has that of n h'
 *   PyTorch   [parts, n] and [parts, h]     i f g o     r z n    of x and of h
 *   TF 1      [n + h, parts]                i g f o     r z, n   one; forget_bias is added
 *   Keras     [n, parts] and [h, parts]     i f g o     z r n    one; a GRU with reset_after
 *                                                                has [2, 3 h]: of x and of h
 *
 * TensorFlow 1's GRUCell has its reset before the product, PyTorch's GRU after it (reset_after),
 * and Keras has both. */
typedef enum eddy_rnn_layout {
    EDDY_TORCH_LAYOUT = 1,      /* nn.RNN, nn.LSTM, nn.GRU, and their cells */
    EDDY_TENSORFLOW_LAYOUT,     /* nn.rnn_cell.BasicRNNCell, LSTMCell, GRUCell */
    EDDY_KERAS_LAYOUT           /* keras.layers.SimpleRNN, LSTM, GRU */
} eddy_rnn_layout;

/* Weights in the layout of this library: values for the variables of a cell. A tensor that
 * the kind of cell does not have is invalid. */
typedef struct eddy_rnn_weights {
    eddy_tensor kernel, bias;                       /* basic cells, LSTM */
    eddy_tensor projection;                         /* projection/kernel */
    eddy_tensor gates_kernel, gates_bias;           /* GRU */
    eddy_tensor candidate_kernel, candidate_bias;
    eddy_tensor recurrent_bias;                     /* candidate/recurrent_bias */
} eddy_rnn_weights;

typedef struct eddy_rnn_weights_args {
    size_t          size_ EDDY_DEFAULT(sizeof(eddy_rnn_weights_args));
    eddy_cell_kind  kind;
    eddy_rnn_layout layout;
    eddy_tensor     kernel;             /* weight_ih; kernel; of TensorFlow's GRU gates/kernel */
    eddy_tensor     recurrent_kernel;   /* weight_hh; recurrent_kernel; not TensorFlow's */
    eddy_tensor     bias;               /* bias_ih; bias; of TensorFlow's GRU gates/bias */
    eddy_tensor     recurrent_bias;     /* bias_hh; PyTorch only */
    eddy_tensor     projection;         /* weight_hr [p, h] of PyTorch; projection/kernel [h, p] */
    eddy_tensor     candidate_kernel, candidate_bias;   /* TensorFlow's GRU only */
    double          forget_bias EDDY_DEFAULT(1);        /* of the LSTM that gets the weights */
} eddy_rnn_weights_args;

/* Converts the weights of a cell. Omitted biases are 0. PyTorch and Keras have no forget_bias in
 * addition to the bias, so the forget_bias of the cell here is subtracted.
 *
 *   eddy_rnn_weights w = eddy_convert_rnn_weights(EDDY_LSTM_CELL, EDDY_TORCH_LAYOUT,
 *                                                 weight_ih, weight_hh, bias_ih, bias_hh);
 *   eddy_run(s, feeds, EDDY_FETCH(eddy_assign_rnn_weights(g, "rnn/lstm_cell", w)), NULL);
 *
 * For weights in a safetensors file, eddy_torch_map and eddy_keras_map do this without a graph.
 *
 * Errors: EDDY_INVALID_ARGUMENT for another kind or layout or if a kernel is missing, and those of
 * the operations if shapes do not fit: all tensors are invalid then. */
EDDY_API eddy_rnn_weights eddy_convert_rnn_weights_with(const eddy_rnn_weights_args *given);
#define eddy_convert_rnn_weights(...) \
    eddy_convert_rnn_weights_with(EDDY_ARGS(eddy_rnn_weights_args, __VA_ARGS__))

/* An operation without a value that assigns the weights to the variables of the cell in a scope,
 * such as "rnn/lstm_cell". A recurrent_bias is left out if the cell, without reset_after, has none.
 * Errors: EDDY_NOT_FOUND if there is no such variable; those of eddy_assign. */
EDDY_API eddy_tensor eddy_assign_rnn_weights(eddy_graph *g, const char *scope, eddy_rnn_weights w);

#ifdef __cplusplus
}
#endif
#endif
