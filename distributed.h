/* distributed.h -- the header of libeddy_distributed: training with several ranks. */
#ifndef EDDY_ALL_DISTRIBUTED_H
#define EDDY_ALL_DISTRIBUTED_H

#include "distributed/communicator.h"
#include "distributed/collectives.h"
#include "distributed/parallel_layers.h"
#include "distributed/sync_batch_norm.h"
#include "distributed/training.h"
#include "distributed/transport.h"

#endif
