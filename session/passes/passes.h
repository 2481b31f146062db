/* passes.h -- declarations of the rules of the passes, each in a file of its own. */
#ifndef EDDY_SESSION_PASSES_PASSES_H
#define EDDY_SESSION_PASSES_PASSES_H

#include "session/compile/ir.h"

/* Rules for eddy__ir_transform. */
bool eddy__simplify(rewrite *r);
bool eddy__stabilize(rewrite *r);
bool eddy__find_patterns(rewrite *r);

bool eddy__improve_products(rewrite *r);
bool eddy__take_in_epilogues(rewrite *r);
bool eddy__take_in_conv_epilogues(rewrite *r);
bool eddy__chain_up(rewrite *r);
/* Part of eddy__simplify: a sum one of whose terms is zero except in a few rows. */
bool eddy__add_to_rows(rewrite *r);

/* True if n is a product of two real matrices; then f describes it completely. */
struct eddy_fused_matmul_attrs;
bool eddy__as_fused_product(const ir_node *n, struct eddy_fused_matmul_attrs *f);

/* True if an elementwise loop computes t and t has one reader. Computing it in that loop is
 * cheaper than writing it to memory for an epilogue. */
bool eddy__is_passing(const ir_graph *f, eddy_tensor t);

#endif
