/* fusion_targets.h -- declares the fused operations that a session may build from the operations of
 * a file. This links them, so that a program that has the parts also has the fused operation
 * (ops/weak_ops.h). */
#ifndef EDDY_FUSION_TARGETS_H
#define EDDY_FUSION_TARGETS_H

#include "build/gen/table.h"

/* A list of pointers to definitions; at most one per file. */
#define EDDY_FUSION_TARGETS(...)                                                \
    static const eddy_op_def *const fusion_targets[] __attribute__((used)) = { __VA_ARGS__ };

#endif
