/* rnn.h -- recurrent networks over any cell: the interface of cells, which users can implement,
 * and the calls that run a cell over the steps of sequences. rnn_cells.h has ready-made cells. */
#ifndef EDDY_LAYERS_RNN_H
#define EDDY_LAYERS_RNN_H

#include "../autodiff/functions.h"
#include "initial.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- cells -- */

enum { EDDY_MAX_STATES = 60 };

/* One tensor of a cell's state: the shape for one example; the tensor has the batch as its first
 * dimension. */
typedef struct eddy_rnn_state {
    eddy_shape shape;               /* EDDY_SHAPE(units) */
    eddy_dtype dtype;               /* default: that of the inputs, float32 if these are integers */
    bool       is_memory;           /* like c of an LSTM: eddy_dropout_wrapper does not change it */
} eddy_rnn_state;

/* A recurrent cell, one step of a network: a plain struct, copied freely. The objects to which it
 * points must stay valid while networks are built from it; those of the library's own cells belong
 * to the graph.
 *
 *   static int step(eddy_list x, eddy_tensor *y, void *w)          // h' = h / 2 + x w
 *   {
 *       y[0] = y[1] = Add(Mul(0.5, x.at[1]), MatMul(x.at[0], *(eddy_tensor *)w));
 *       return 2;
 *   }
 *   eddy_rnn_state h = { .shape = EDDY_SHAPE(8) };
 *   eddy_rnn_cell  cell = { .f = { .build = step, .context = &w, .name = "leaky" },
 *                           .n_state = 1, .state = &h, .output = EDDY_SHAPE(8) }; */
typedef struct eddy_rnn_cell {
    /* of the input of a step, [batch, ...], and the n_state tensors of the state: the output,
     * [batch, ...], and the next state, of the same dtypes and shapes as the state */
    eddy_function         f;
    int                   n_state;  /* 0 to EDDY_MAX_STATES */
    const eddy_rnn_state *state;
    eddy_shape            output;   /* of one example, as in eddy_rnn_state */
    /* If not NULL, called before f with the type of an input, possibly more than once: to create
     * the variables, in the scope of the network. False: there is an error on the graph. */
    bool                (*prepare)(eddy_graph *g, eddy_type x, void *context);
    /* If not NULL, the part of f that depends only on the input: applied to all steps at once,
     * [..., n], as one product for the whole sequence; f gets its result. */
    eddy_tensor         (*project)(eddy_tensor x, void *context);
} eddy_rnn_cell;

/* One step: prepares the cell, projects x and calls f. `next` has room for the next state, and may
 * be `state`. Returns the output. In the body of a loop, prefer a cell that a network or another
 * step has prepared outside: variational dropout that is prepared in a body draws new random
 * numbers in each iteration. Errors, here and in all networks: EDDY_INVALID_ARGUMENT for a cell
 * without f or with another number of results, or without room, EDDY_BAD_SHAPE and EDDY_BAD_DTYPE
 * for states that change. */
EDDY_API eddy_tensor eddy_rnn_step(eddy_rnn_cell cell, eddy_tensor x, const eddy_tensor *state,
                                   eddy_tensor *next);

typedef struct eddy_zero_state_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_zero_state_args));
    eddy_rnn_cell cell;
    eddy_tensor   like;             /* [batch, ...]: gives the batch size */
    eddy_tensor  *state;            /* room for cell.n_state tensors */
    eddy_dtype    dtype;            /* default: that of `like`, float32 if it is an integer */
} eddy_zero_state_args;

/* A state of zeros; the number of its tensors, 0 with the error on the graph. The shapes in
 * cell.state must be known. TensorFlow: RNNCell.zero_state. */
EDDY_API int eddy_zero_state_with(const eddy_zero_state_args *given);
#define eddy_zero_state(...) eddy_zero_state_with(EDDY_ARGS(eddy_zero_state_args, __VA_ARGS__))

/* -------------------------------------------------------------- networks -- */

typedef struct eddy_dynamic_rnn_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_dynamic_rnn_args));
    eddy_rnn_cell cell;
    eddy_tensor   inputs;
    eddy_tensor  *state;            /* if not NULL, gets the final state: cell.n_state tensors */
    eddy_tensor   sequence_length;
    eddy_list     initial_state;    /* cell.n_state tensors; default zeros */
    eddy_dtype    dtype;            /* of the zeros; default: as in eddy_zero_state */
    bool          time_major;       /* steps first */
    bool          go_backwards;     /* from the last step of each sequence to the first */
    int           parallel_iterations;  /* accepted, as in TensorFlow; changes nothing */
    bool          swap_memory;      /* accepted; changes nothing */
    const char   *name;             /* default "rnn" */
    int           length_groups EDDY_DEFAULT(1);    /* 1 to 16: see below */
} eddy_dynamic_rnn_args;

/* Runs a cell over the steps of sequences, in a loop inside the graph (eddy_loop): the graph does
 * not grow with the number of steps. Returns the outputs of all steps, [batch, steps, ...].
 *
 *   eddy_rnn_cell lstm = eddy_lstm_cell(g, 64);
 *   eddy_tensor   y = eddy_dynamic_rnn(lstm, x, state, .sequence_length = lengths);
 *
 *  inputs           [batch, steps, ...], or with time_major [steps, batch, ...]; batch and steps
 *                   may be unknown, and 0. With time_major the outputs are likewise
 *  sequence_length  int32 or int64 [batch], in [0, steps]. After the end of a sequence the state
 *                   is carried on, the outputs are 0, and the inputs are ignored.
 *                   Default: all steps
 *  go_backwards     outputs stay at the indices of their steps; the state is that of step 0
 *  length_groups    needs sequence_length. The sequences are sorted by length and divided into this
 *                   many groups of nearly equal size, each of which ends with its longest sequence.
 *                   Results are those of one group, except for the last bits. For 32 sequences of 1
 *                   to 64 steps and a GRU of 256 units, 4 groups take 0.78 of the time of one
 *
 *  Variables: those of the cell, in <name>/<cell>.
 *  Errors: those of the cell (eddy_rnn_step); EDDY_BAD_SHAPE for inputs of unknown rank or below
 *  2, and for a sequence_length of unknown rank or of another batch; EDDY_BAD_DTYPE if it is not
 *  an integer; EDDY_INVALID_ARGUMENT for another number of initial states.
 *  TensorFlow: nn.dynamic_rnn. */
EDDY_API eddy_tensor eddy_dynamic_rnn_with(const eddy_dynamic_rnn_args *given);
#define eddy_dynamic_rnn(...) eddy_dynamic_rnn_with(EDDY_ARGS(eddy_dynamic_rnn_args, __VA_ARGS__))

typedef struct eddy_static_rnn_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_static_rnn_args));
    eddy_rnn_cell cell;
    eddy_list     inputs;           /* of each step, [batch, ...]; at least one */
    eddy_tensor  *out;              /* gets the output of each step */
    eddy_tensor  *state;            /* this and the following: as in eddy_dynamic_rnn */
    eddy_tensor   sequence_length;
    eddy_list     initial_state;
    eddy_dtype    dtype;
    const char   *name;             /* default "rnn" */
} eddy_static_rnn_args;

/* The same, unrolled: builds nodes for each step. Returns the number of steps, 0 with the error on
 * the graph. TensorFlow: nn.static_rnn. */
EDDY_API int eddy_static_rnn_with(const eddy_static_rnn_args *given);
#define eddy_static_rnn(...) eddy_static_rnn_with(EDDY_ARGS(eddy_static_rnn_args, __VA_ARGS__))

/* The outputs of the two directions, to be joined by eddy_concat. */
typedef struct eddy_rnn_outputs {
    eddy_tensor fw, bw;
} eddy_rnn_outputs;

typedef struct eddy_bidirectional_dynamic_rnn_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_bidirectional_dynamic_rnn_args));
    eddy_rnn_cell cell_fw, cell_bw;
    eddy_tensor   inputs;
    eddy_tensor  *state_fw, *state_bw;  /* this and the following: as in eddy_dynamic_rnn */
    eddy_tensor   sequence_length;
    eddy_list     initial_state_fw, initial_state_bw;
    eddy_dtype    dtype;
    bool          time_major;
    int           parallel_iterations;
    bool          swap_memory;
    const char   *name;             /* default "bidirectional_rnn" */
} eddy_bidirectional_dynamic_rnn_args;

/* Two networks: one runs from the first step to the last, the other from the last step of each
 * sequence to the first. Variables: those of the cells, in <name>/fw/<cell> and <name>/bw/<cell>.
 * TensorFlow: nn.bidirectional_dynamic_rnn. */
EDDY_API eddy_rnn_outputs eddy_bidirectional_dynamic_rnn_with(
    const eddy_bidirectional_dynamic_rnn_args *given);
#define eddy_bidirectional_dynamic_rnn(...)                                                        \
    eddy_bidirectional_dynamic_rnn_with(EDDY_ARGS(eddy_bidirectional_dynamic_rnn_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
