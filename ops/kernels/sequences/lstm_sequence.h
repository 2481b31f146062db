/* lstm_sequence.h -- the recurrence of an LSTM over a whole sequence. */
#ifndef EDDY_OPS_KERNELS_SEQUENCES_LSTM_SEQUENCE_H
#define EDDY_OPS_KERNELS_SEQUENCES_LSTM_SEQUENCE_H

#include "graph/op.h"

/* Sizes and tensors: xw, act, dact, dz [steps,batch,4h]; hs, cs, dhs, dcs [steps,batch,h];
 * h0, c0, dh0, dc0 [batch,h]; u [h,4h].  dcs and dact may be NULL. */
typedef struct eddy_lstm_sequence {
    int64_t     steps, batch, h;
    const void *xw, *h0, *c0, *u;
    void       *hs, *cs, *act;
    const void *dhs, *dcs, *dact;
    void       *dz, *dh0, *dc0;
} eddy_lstm_sequence;

/* Bytes of working memory for this number of threads. */
uint64_t eddy__lstm_scratch(eddy_dtype d, const eddy_lstm_sequence *s, bool gradient, int threads);
/* hs, cs and act; dz, dh0 and dc0. */
void eddy__lstm_run(eddy_kernel *k, const eddy_lstm_sequence *s);
void eddy__lstm_run_back(eddy_kernel *k, const eddy_lstm_sequence *s);

#endif
