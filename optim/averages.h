/* averages.h -- averages of variables over the steps of a training. */
#ifndef EDDY_OPTIM_AVERAGES_H
#define EDDY_OPTIM_AVERAGES_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
