/* variable.h -- helpers shared by operations that read or change variables. Private to ops/. */
#ifndef EDDY_OPS_STATE_VARIABLE_H
#define EDDY_OPS_STATE_VARIABLE_H

#include "ops/arrays/arrays.h"
#include "ops/ops.h"

/* Checks that input 0, a variable, has a value; records an error otherwise. */
eddy_status eddy__variable_ready(eddy_kernel *k);
/* Copies the value of the variable that is input 0 to output 0, if there is one. */
eddy_status eddy__variable_yield(eddy_kernel *k);

/* ------------------------------------------------- rows (ops/state/scatter.c) -- */

/* The operations on rows: attributes, shape rule, prepare and kernel; the variant is the update
 * of a row. Nothing is written before all indices are checked. */
typedef struct eddy_scatter_attrs {
    bool skip_negative;
} eddy_scatter_attrs;
extern const eddy_attr_field eddy__scatter_fields[];
bool        eddy__infer_scatter(eddy_infer *c);
eddy_status eddy__scatter_prepare(eddy_kernel *k);
eddy_status eddy__scatter_rows(eddy_kernel *k);
double      eddy__scatter_flops(const void *attrs, int n_in, const eddy_type *in,
                                const eddy_type *out);
/* The builder of each. */
eddy_tensor eddy__scatter_apply(const eddy_op_def *op, const eddy_scatter_args *given);

#define EDDY_SCATTER(type, change, types)                                       \
    .name = type, .min_inputs = 3, .max_inputs = 3, .outputs = 1, .variant = change, \
    .inputs = EDDY_INPUTS({ "var", (types) | EDDY_RANK_FROM(1) }, { "indices", EDDY_TAKES_INDICES }, \
                          { "updates", EDDY_LIKE(0) }),                         \
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL, \
    .attrs_size = sizeof(eddy_scatter_attrs), .attrs = eddy__scatter_fields,    \
    .infer = eddy__infer_scatter, .prepare = eddy__scatter_prepare,             \
    .gradient = eddy_not_differentiable

#endif
