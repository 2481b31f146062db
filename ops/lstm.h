/* lstm.h -- what one step of an LSTM and a whole sequence share. */
#ifndef EDDY_LSTM_H
#define EDDY_LSTM_H

#include "graph/op.h"

/* The gates of some rows and columns of a step.  Of each row there are `columns`; the four
 * gates lie `gate` elements apart: i, f, g, o.  Rows of states are `row` apart, of gates
 * four times that; `other_row` and `other_gate` are those of z_more, or of dz_more. */
typedef struct eddy_lstm_block {
    int64_t rows, columns, row, gate, other_row, other_gate;
    const void *z, *z_more;              /* their sum is looked at; z_more may be NULL */
    const void *c_before;
    void       *act, *c, *h;             /* sigmoid or tanh of the gates; the new states */
    /* backwards: what arrives, those marked * may be NULL; dh_more has rows of `other_h` */
    const void *dh, *dh_more, *dc, *dc_more, *dact;      /* all but dh: * */
    int64_t     other_h;
    void       *dz, *dz_more, *dc_before;                /* dz_more: * */
} eddy_lstm_block;

/* Forwards and backwards, on rows of float32 or float64; n is not looked at, the block is
 * `attrs`. */
eddy_tile_fn eddy_lstm_forward(eddy_dtype d);
eddy_tile_fn eddy_lstm_backward(eddy_dtype d);

/* Whether anything arrived: the sweep puts zeros where nothing did. */
bool eddy_lstm_arrived(eddy_tensor dy);

/* The gradient of a step as ordinary ops see it: its inputs, any leading dimensions. */
typedef struct eddy_lstm_terms {
    eddy_tensor act, c_before, c, dh, dc, dact;          /* dact may be invalid */
} eddy_lstm_terms;

/* What dz and dc_before are made of: gates [i,f,g,o], and the factors of their derivatives. */
typedef struct eddy_lstm_parts {
    eddy_tensor gate[4], slope[4];       /* slope: i (1-i), f (1-f), 1 - g*g, o (1-o) */
    eddy_tensor top, top_slope;          /* tanh c, 1 - its square */
    eddy_tensor of_c[3];                 /* dz[k] = of_c[k] (dc + dh of_h[0]), k = i, f, g */
    eddy_tensor of_h[2];                 /* dz[o] = of_h[1] dh */
} eddy_lstm_parts;
eddy_lstm_parts eddy_lstm_parts_of(const eddy_lstm_terms *t);

/* dx[] = the gradients of act, c_before, c, dh, dc and dact, from those of dz and of
 * dc_before. */
void eddy_lstm_second(const eddy_lstm_terms *t, eddy_tensor dz, eddy_tensor dc_before,
                      eddy_tensor *dx);

#endif
