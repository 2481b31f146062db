/* recurrent.h -- recurrent layers (RNN, GRU, LSTM); layers.h describes the options that all
 * layers have. */
#ifndef EDDY_LAYERS_RECURRENT_H
#define EDDY_LAYERS_RECURRENT_H

#include "layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One step of a recurrent network: computes the next h from x [batch, n] and the state h [batch,
 * units]. [x, h] is their concatenation, and w and b are the variables <name>/kernel and
 * <name>/bias.
 *
 *   EDDY_BASIC_RNN_CELL  h' = f([x, h] w + b).  kernel [n + units, units].
 *   EDDY_LSTM_CELL       i, f, g, o = [x, h] w + b; c' = sigmoid(f + forget_bias) c +
 *                        sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c').  kernel [n + units,
 *                        4 units].  TensorFlow has the parts in the order i, g, f, o.
 *   EDDY_GRU_CELL        r, u = sigmoid([x, h] w + b), c = f([x, r h] v + d), h' = u h +
 *                        (1 - u) c.  gates/kernel [n + units, 2 units], gates/bias, initially
 *                        ones, candidate/kernel [n + units, units], candidate/bias.  With
 *                        reset_after c = f(x v + d + r (h v' + d')), where v' is the last rows
 *                        of the kernel and d' is candidate/recurrent_bias, as in Keras, PyTorch
 *                        and cuDNN.
 *
 * TensorFlow: nn.rnn_cell.BasicRNNCell, LSTMCell, GRUCell; keras.layers.GRU(reset_after=True). */
typedef enum eddy_cell_kind {
    EDDY_BASIC_RNN_CELL = 1,
    EDDY_LSTM_CELL,
    EDDY_GRU_CELL
} eddy_cell_kind;

/* A cell as a value, copied freely: EDDY_CELL(EDDY_LSTM_CELL, 64, .forget_bias = 0). In C, a struct
 * initialized without EDDY_CELL lacks the defaults, and is refused. */
typedef struct eddy_cell_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_cell_args));
    eddy_cell_kind   kind;
    int64_t          units;               /* positive */
    const char      *name;                /* default: "basic_rnn_cell", "lstm_cell", "gru_cell" */
    eddy_activation  activation;          /* f; not for an LSTM; default: eddy_tanh */
    double           forget_bias EDDY_DEFAULT(1); /* of an LSTM */
    bool             reset_after;         /* of a GRU */
    eddy_init        kernel_initializer;  /* default: eddy_glorot_uniform_initializer */
    eddy_init        bias_initializer;    /* default: zeros; ones for the gates of a GRU */
    eddy_regularizer kernel_regularizer;
} eddy_cell_args;
typedef eddy_cell_args eddy_cell;
#define EDDY_CELL(...) (*EDDY_ARGS(eddy_cell_args, __VA_ARGS__))

/* The result of a recurrent network: h of each step, and the state after the last step. */
typedef struct eddy_rnn_result {
    eddy_tensor outputs;                  /* [batch, steps, units], or steps first as x */
    eddy_tensor h, c;                     /* [batch, units]; only an LSTM has c */
} eddy_rnn_result;

typedef struct eddy_rnn_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_rnn_args));
    eddy_tensor x;
    eddy_cell   cell;
    const char *name;                     /* default: "rnn" */
    eddy_tensor sequence_length;
    eddy_tensor initial_h, initial_c;     /* [batch, units]; default: zeros */
    bool        time_major;               /* steps first */
    bool        go_backwards;             /* from the last step of each sequence to the first */
    bool        not_trainable;
    int64_t     seed;
    const char *reuse;
} eddy_rnn_args;

/* Runs a cell over the steps of a sequence.
 *
 *  x                [batch, steps, n], or with time_major [steps, batch, n]; n is known. If the
 *                   number of steps is unknown, it may be 0 in a run: h and c are then the
 *                   initial ones
 *  sequence_length  int32 or int64 [batch], each in [0, steps]: later outputs are 0, and h and c
 *                   are those of the last valid step.  Default: all steps
 *  go_backwards     outputs stay at the indices of their steps; h is that of the first step
 *
 *  An LSTM is one operation, eddy_lstm; the other cells are unrolled step by step, or run in a
 *  loop if the number of steps is unknown or above 65535. Other cells: eddy_dynamic_rnn (rnn.h).
 *  Variables: those of the cell, in <name>/<cell>.
 *  Errors: EDDY_INVALID_ARGUMENT for an unknown kind of cell, or one not created by EDDY_CELL;
 *  EDDY_BAD_SHAPE if it is known that there are no steps; EDDY_BAD_SHAPE and EDDY_BAD_DTYPE for
 *  another sequence_length.
 *  TensorFlow: nn.static_rnn, nn.dynamic_rnn. */
EDDY_API eddy_rnn_result eddy_rnn_with(const eddy_rnn_args *given);
#define eddy_rnn(...) eddy_rnn_with(EDDY_ARGS(eddy_rnn_args, __VA_ARGS__))

typedef struct eddy_bidirectional_rnn_result {
    eddy_tensor     outputs;              /* of both, concatenated: [batch, steps, both units] */
    eddy_rnn_result fw, bw;
} eddy_bidirectional_rnn_result;

typedef struct eddy_bidirectional_rnn_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_bidirectional_rnn_args));
    eddy_tensor x;
    eddy_cell   cell_fw, cell_bw;         /* default of the second: the first */
    const char *name;                     /* default: "bidirectional_rnn" */
    eddy_tensor sequence_length;
    bool        time_major;
    bool        not_trainable;
    int64_t     seed;
    const char *reuse;
} eddy_bidirectional_rnn_args;

/* A bidirectional network: one cell runs from the first step to the last, another from the last
 * to the first.
 *
 *  Options are as in eddy_rnn.  Variables: in <name>/fw/<cell> and <name>/bw/<cell>.
 *  TensorFlow: nn.bidirectional_dynamic_rnn. */
EDDY_API eddy_bidirectional_rnn_result eddy_bidirectional_rnn_with(
    const eddy_bidirectional_rnn_args *given);
#define eddy_bidirectional_rnn(...) \
    eddy_bidirectional_rnn_with(EDDY_ARGS(eddy_bidirectional_rnn_args, __VA_ARGS__))

typedef struct eddy_stacked_rnn_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_stacked_rnn_args));
    eddy_tensor      x;
    const eddy_cell *cells;               /* `count` of them, the first one reads x */
    int              count;
    const char      *name;                /* default: "rnn" */
    eddy_tensor      sequence_length;
    bool             time_major;
    eddy_rnn_result *results;             /* if not NULL, receives the result of each cell */
    double           dropout;             /* the rate between two cells; default: 0 */
    bool             training;
    eddy_tensor      training_when;
    bool             not_trainable;
    int64_t          seed;
    const char      *reuse;
} eddy_stacked_rnn_args;

/* Stacked recurrent networks, each of which reads the outputs of the previous one; returns the
 * result of the last one.
 *
 *  Options are as in eddy_rnn.  Variables: in <name>/cell_0/<cell>, <name>/cell_1/<cell>, ...
 *  Errors: EDDY_INVALID_ARGUMENT if there are no cells.
 *  TensorFlow: nn.dynamic_rnn of a MultiRNNCell. */
EDDY_API eddy_rnn_result eddy_stacked_rnn_with(const eddy_stacked_rnn_args *given);
#define eddy_stacked_rnn(...) eddy_stacked_rnn_with(EDDY_ARGS(eddy_stacked_rnn_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif

#include "rnn_weights.h"

#endif
