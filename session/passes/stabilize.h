/* stabilize.h -- declarations shared by the files of the pass for numerically stable forms. */
#ifndef EDDY_SESSION_PASSES_STABILIZE_H
#define EDDY_SESSION_PASSES_STABILIZE_H

#include "session/passes/match.h"

/* Rules for gradients: products and quotients in which a division and a factor that cancels it
 * would lose digits, overflow or give 0 / 0. */
bool eddy__stabilize_product(rewrite *r);
bool eddy__stabilize_quotient(rewrite *r);

/* n is 1 + a for some a. */
bool eddy__is_one_plus(const rewrite *r, const ir_node *n, eddy_tensor *a);
/* True if x is y minus a maximum of y, so that its exponentials do not overflow. */
bool eddy__is_shifted(const rewrite *r, eddy_tensor x);
/* The largest x along the axes, where it is finite, which stay with size 1. */
eddy_tensor eddy__make_top(rewrite *r, eddy_tensor x, unsigned axes);

#endif
