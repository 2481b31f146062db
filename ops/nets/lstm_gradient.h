/* lstm_gradient.h -- the gradient of one step of an LSTM, composed of ordinary operations. */
#ifndef EDDY_OPS_NETS_LSTM_GRADIENT_H
#define EDDY_OPS_NETS_LSTM_GRADIENT_H

#include "graph/op.h"

/* The gradient of a step as an operation: its inputs, with any leading dimensions. */
typedef struct eddy_lstm_terms {
    eddy_tensor act, c_before, c, dh, dc, dact;          /* dact may be invalid */
} eddy_lstm_terms;

/* The terms of dz and dc_before: gates [i,f,g,o], and the factors of their derivatives. */
typedef struct eddy_lstm_parts {
    eddy_tensor gate[4], slope[4];       /* slope: i (1-i), f (1-f), 1 - g*g, o (1-o) */
    eddy_tensor top, top_slope;          /* tanh c, 1 - its square */
    eddy_tensor of_c[3];                 /* dz[k] = of_c[k] (dc + dh of_h[0]), k = i, f, g */
    eddy_tensor of_h[2];                 /* dz[o] = of_h[1] dh */
} eddy_lstm_parts;
eddy_lstm_parts eddy__lstm_parts_of(const eddy_lstm_terms *t);

/* dx[] = the gradients of act, c_before, c, dh, dc and dact, from those of dz and of
 * dc_before. */
void eddy__lstm_second(const eddy_lstm_terms *t, eddy_tensor dz, eddy_tensor dc_before,
                       eddy_tensor *dx);

#endif
