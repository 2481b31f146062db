/* lbfgs.h -- limited-memory BFGS, which drives a graph from C. */
#ifndef EDDY_OPTIM_LBFGS_H
#define EDDY_OPTIM_LBFGS_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
