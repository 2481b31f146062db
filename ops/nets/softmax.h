/* softmax.h -- the attributes of softmax and log_softmax, which passes also read and write; private
 * to the library. */
#ifndef EDDY_OPS_NETS_SOFTMAX_H
#define EDDY_OPS_NETS_SOFTMAX_H

#include "graph/op.h"

typedef struct eddy_softmax_attrs {
    int64_t axis;                /* in [-rank, rank) */
} eddy_softmax_attrs;

#endif
