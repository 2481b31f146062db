/* gather.h -- the attributes of gather. */
#ifndef EDDY_OPS_ARRAYS_GATHER_H
#define EDDY_OPS_ARRAYS_GATHER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct eddy_gather_attrs {
    int64_t axis;
    bool    skip_negative;
    int64_t batch_dims;
} eddy_gather_attrs;

#endif
