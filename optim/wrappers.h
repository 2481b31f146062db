/* wrappers.h -- optimizers around optimizers, and what is done to gradients in between. */
#ifndef EDDY_OPTIM_WRAPPERS_H
#define EDDY_OPTIM_WRAPPERS_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
