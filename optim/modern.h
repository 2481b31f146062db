/* modern.h -- optimizers that came after those of tf.train. */
#ifndef EDDY_OPTIM_MODERN_H
#define EDDY_OPTIM_MODERN_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
