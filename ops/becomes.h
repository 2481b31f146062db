/* becomes.h -- declares the fused operations that a session may build from the operations of a
 * file. Including it links them, so that a program that has the parts also has the fused
 * operation (ops/linked.h). */
#ifndef EDDY_BECOMES_H
#define EDDY_BECOMES_H

#include "build/gen/table.h"

/* Of pointers to definitions; at most one a file. */
#define EDDY_MAY_BECOME(...)                                                    \
    static const eddy_op_def *const may_become[] __attribute__((used)) = { __VA_ARGS__ };

#endif
