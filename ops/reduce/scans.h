/* scans.h -- attributes, rules and the builder that running sums, products, logarithms of sums and
 * extremes along an axis share (ops/reduce/cumsum.c). */
#ifndef EDDY_OPS_REDUCE_SCANS_H
#define EDDY_OPS_REDUCE_SCANS_H

#include "ops/ops.h"

typedef struct eddy_scan_attrs {
    int64_t axis;
    bool    exclusive, reverse;
} eddy_scan_attrs;

extern const eddy_attr_field eddy__scan_fields[];

bool        eddy__scan_infer(eddy_infer *c);
void        eddy__scan_batch(eddy_batch *b);
eddy_tensor eddy__scan_apply(const eddy_op_def *op, const eddy_scan_args *given);

#endif
