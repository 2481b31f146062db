/* pattern_norm.h -- the parts of normalizations, as recognized by the patterns. */
#ifndef EDDY_SESSION_PASSES_PATTERN_NORM_H
#define EDDY_SESSION_PASSES_PATTERN_NORM_H

#include "session/passes/patterns.h"

typedef struct eddy_norm_parts {
    eddy_parts  p;
    eddy_tensor x, scale, offset;      /* the last two may be invalid */
    unsigned    axes;                  /* 0: not known yet */
    double      epsilon;
} eddy_norm_parts;

/* Layer normalization averages over the last axis, batch normalization all others; NULL for
 * other axes. */
const eddy_op_def *eddy__norm_op(const rewrite *r, const eddy_norm_parts *m);
/* t, one number for each group, broadcasts to it. */
bool eddy__norm_is_of_groups(const rewrite *r, const eddy_norm_parts *m, eddy_tensor t);
/* t, which has one number for each index of the last axis, as a vector; invalid if it has
 * another form. The second function: such a vector of equal numbers. */
eddy_tensor eddy__norm_vector(rewrite *r, const eddy_norm_parts *m, eddy_tensor t);
eddy_tensor eddy__norm_filled(rewrite *r, double v, const eddy_norm_parts *m);
/* t = 1 / sqrt(variance + epsilon) of m->x; or the root itself. */
bool eddy__norm_is_rstd(const rewrite *r, eddy_norm_parts *m, eddy_tensor t, bool root);

#endif
