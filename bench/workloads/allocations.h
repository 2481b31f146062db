/* allocations.h -- counts calls of malloc and related functions. */
#ifndef EDDY_WORKLOADS_ALLOCATIONS_H
#define EDDY_WORKLOADS_ALLOCATIONS_H

/* Those of the program so far, without calls from shared libraries. */
long allocations_so_far(void);

#endif
