/* segment.h -- declarations shared by the files of segment reductions. Their operations have the
 * inputs x, ids and num_segments. */
#ifndef EDDY_OPS_REDUCE_SEGMENT_H
#define EDDY_OPS_REDUCE_SEGMENT_H

#include "graph/op.h"

/* For each row, the row of t that belongs to its segment. */
eddy_tensor eddy__segment_gathered(const eddy_rule *r, eddy_tensor t);
/* t [n], to be broadcast against x [n,tail...]. */
eddy_tensor eddy__segment_by_row(eddy_tensor t, eddy_tensor x);
/* The operation on x, the ids and the number. */
eddy_tensor eddy__segment_apply(const eddy_op_def *op, eddy_tensor x, eddy_tensor ids,
                                eddy_tensor number);

/* Gradient rules. */
void eddy__segment_sum_gradient(eddy_rule *r);
void eddy__segment_prod_gradient(eddy_rule *r);
void eddy__segment_extreme_gradient(eddy_rule *r);

#endif
