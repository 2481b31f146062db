/* lstm.h -- declarations shared by the kernels of one LSTM step and of a whole sequence. */
#ifndef EDDY_OPS_KERNELS_SEQUENCES_LSTM_H
#define EDDY_OPS_KERNELS_SEQUENCES_LSTM_H

#include "graph/op.h"

/* The columns of a block inside a sequence. */
enum { EDDY_LSTM_COLUMNS = 16 };

/* The gates of some rows and columns of a step.  Each row has `columns`; the four
 * gates are `gate` elements apart: i, f, g, o.  Rows of states are `row` apart, of gates
 * four times that; `other_row` and `other_gate` are those of z_more, or of dz_more. */
typedef struct eddy_lstm_block {
    int64_t rows, columns, row, gate, other_row, other_gate;
    const void *z, *z_more;              /* their sum is the input; z_more may be NULL */
    const void *c_before;
    void       *act, *c, *h;             /* sigmoid or tanh of the gates; the new states */
    /* backward: the given gradients, of which those marked * may be NULL; rows of dh_more are
     * `other_h` apart */
    const void *dh, *dh_more, *dc, *dc_more, *dact;      /* all except dh: * */
    int64_t     other_h;
    void       *dz, *dz_more, *dc_before;                /* dz_more: * */
} eddy_lstm_block;

/* The forward and the backward loop for float32 or float64; the block is passed as `attrs`, and n
 * is unused. */
eddy_tile_fn eddy__lstm_forward(eddy_dtype d);
eddy_tile_fn eddy__lstm_backward(eddy_dtype d);

#endif
