/* reductions.h -- declarations shared by the reductions. */
#ifndef EDDY_OPS_REDUCE_REDUCTIONS_H
#define EDDY_OPS_REDUCE_REDUCTIONS_H

#include "ops/ops.h"
#include "ops/kernels/reduction/reduce_engine.h"

typedef struct eddy_reduce_attrs {
    eddy_dims axes;
    bool      keep_dims;
} eddy_reduce_attrs;

extern const eddy_attr_field eddy__reduce_fields[];

bool           eddy__reduce_infer(eddy_infer *c);
eddy_reduction eddy__reduce_loops(const eddy_kernel *k, const eddy_fold *fold);
bool           eddy__reduce_folds(const eddy_kernel *k, eddy_blocks *b);
eddy_status    eddy__reduce_prepare(eddy_kernel *k);
eddy_status    eddy__reduce_kernel(eddy_kernel *k);
void           eddy__reduce_batch(eddy_batch *b);
/* t, which has the shape of y, broadcast to the shape of x. */
eddy_tensor    eddy__reduce_spread(const eddy_rule *r, eddy_tensor t);
/* The builder shared by all reductions. */
eddy_tensor    eddy__reduce_apply(const eddy_op_def *op, const eddy_reduce_args *given);

/* The definition of a reduction: its fold, the element types of x, its gradient, and whether a
 * loop that computes the elements may reduce them on the way (eddy__reduce_folds, or NULL). */
#define REDUCTION(type, fold_, types, rule, folds_)                             \
    { .name = type, .min_inputs = 1, .max_inputs = 1, .outputs = 1, .fold = fold_, \
      .inputs = EDDY_INPUTS({ "x", types }),                                    \
      .attrs_size = sizeof(eddy_reduce_attrs), .attrs = eddy__reduce_fields,    \
      .infer = eddy__reduce_infer, .prepare = eddy__reduce_prepare,             \
      .kernel = eddy__reduce_kernel, .gradient = rule, .batch = eddy__reduce_batch, \
      .flops = eddy_flops_per_input, .folds = folds_ }

#endif
