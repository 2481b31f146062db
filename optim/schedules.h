/* schedules.h -- learning rates that follow the step. */
#ifndef EDDY_OPTIM_SCHEDULES_H
#define EDDY_OPTIM_SCHEDULES_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
