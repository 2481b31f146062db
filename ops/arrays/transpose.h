/* transpose.h -- the attributes of transpose, which passes also read and write; private to the
 * library. */
#ifndef EDDY_OPS_ARRAYS_TRANSPOSE_H
#define EDDY_OPS_ARRAYS_TRANSPOSE_H

#include "graph/op.h"

typedef struct eddy_transpose_attrs {
    eddy_dims perm;              /* count 0: the reverse order */
} eddy_transpose_attrs;

#endif
