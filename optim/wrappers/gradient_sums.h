/* gradient_sums.h -- the collection of the slots in which eddy_accumulate_gradients sums; not
 * installed. After a step their values do not matter, and their number depends on how many runs
 * share a step: so another number of ranks goes on without those that a checkpoint lacks. */
#ifndef EDDY_OPTIM_WRAPPERS_GRADIENT_SUMS_H
#define EDDY_OPTIM_WRAPPERS_GRADIENT_SUMS_H

#define EDDY_GRADIENT_SUMS "gradient_sums"

#endif
