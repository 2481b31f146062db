/* in_place.h -- which output of an IN_PLACE operation may be computed in the memory of which
 * input. */
#ifndef EDDY_SESSION_COMPILE_IN_PLACE_H
#define EDDY_SESSION_COMPILE_IN_PLACE_H

#include "ops/weak_ops.h"

typedef struct in_place_pair {
    int output, input;
} in_place_pair;

/* 0 and 0, except that an LSTM computes its gates in the memory of their inputs and the gradients
 * of these in that of the gates. */
static inline in_place_pair eddy__in_place_pair(const eddy_op_def *op)
{
    if (op == &eddy_op_block_lstm) return (in_place_pair){ .output = 2 };
    return (in_place_pair){ .input = op == &eddy_op_block_lstm_grad };
}

#endif
