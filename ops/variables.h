/* variables.h -- what the ops share that read variables and change them.  Private to ops/. */
#ifndef EDDY_VARIABLES_H
#define EDDY_VARIABLES_H

#include "ops/arrays.h"

/* Input 0 is a variable that has a value; otherwise records that it has none. */
eddy_status eddy_variable_ready(eddy_kernel *k);
/* Output 0, if there is one, gets the value of the variable that is input 0. */
eddy_status eddy_variable_yield(eddy_kernel *k);

/* ------------------------------------------------- rows (ops/scatter.c) -- */

/* What is done to a variable is not done to this element type: "cannot be added". */
bool eddy_infer_combine(eddy_infer *c, eddy_row_fn combine, const char *done);

/* The ops on rows: attributes, shape rule, prepare, and the kernel but for `combine`, without
 * which rows are replaced.  Nothing is written before all indices are found good. */
typedef struct eddy_scatter_attrs {
    bool skip_negative;
} eddy_scatter_attrs;
extern const eddy_attr_field eddy_scatter_fields[];
bool        eddy_infer_scatter(eddy_infer *c);
eddy_status eddy_scatter_prepare(eddy_kernel *k);
eddy_status eddy_scatter_rows(eddy_kernel *k, eddy_row_fn combine);
double      eddy_scatter_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out);

#endif
