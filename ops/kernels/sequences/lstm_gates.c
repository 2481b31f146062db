/* lstm_gates.c -- the loops of the gates of an LSTM, by element type. */
#include "graph/base/cpu.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/kernels/sequences/lstm.h"

#include <tgmath.h>

#define TEMPLATE "ops/kernels/sequences/lstm_gates_loops.h"
#include "ops/kernels/for_floats.h"

EDDY_CLONES(forward_f32)
EDDY_CLONES(backward_f32)

eddy_tile_fn eddy__lstm_forward(eddy_dtype d)
{
    return d == EDDY_FLOAT32 ? EDDY_BEST(forward_f32) : forward_f64;
}

eddy_tile_fn eddy__lstm_backward(eddy_dtype d)
{
    return d == EDDY_FLOAT32 ? EDDY_BEST(backward_f32) : backward_f64;
}
