/* variable_parts.h -- optimizers of variables of which this process has only a part: those in the
 * collection EDDY_DIVIDED_VARIABLES. For those who write libraries; optim.h does not include it.
 *
 * The collection has a node for each such variable, whose input is the part and whose output has the
 * type and shape of the whole. */
#ifndef EDDY_OPTIM_VARIABLE_PARTS_H
#define EDDY_OPTIM_VARIABLE_PARTS_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x[i], a scalar that was computed from this process's part of variables[i]: replaces it by the sum over
 * all processes that have a part. All of them call it in the same order. */
typedef void (*eddy_sum_parts)(int n, const eddy_tensor *variables, eddy_tensor *x);

/* Lets the optimizer, and those inside it, use norms of variables and of their gradients, and whether
 * all are finite, where this process has a part: they sum with `sum`. The gradients that reach it are those
 * of the whole loss. For LAMB, LARS, NovoGrad, eddy_clipped_gradients, eddy_loss_scale and
 * eddy_apply_if_finite, which refuse such variables without it; others that need a whole variable
 * (Adafactor, Muon, Shampoo, SM3, Prodigy) refuse them always. */
EDDY_API void eddy_optimizer_sum_parts(eddy_optimizer *o, eddy_sum_parts sum);

#ifdef __cplusplus
}
#endif
#endif
