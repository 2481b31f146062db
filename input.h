/* input.h -- the header of libeddy_input: readers of data files, and pipelines that make
 * batches. */
#ifndef EDDY_ALL_INPUT_H
#define EDDY_ALL_INPUT_H

#include "input/dataset.h"
#include "input/readers.h"

#endif
