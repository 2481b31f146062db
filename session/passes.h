/* passes.h -- the rules of the passes, each in a file of its own. */
#ifndef EDDY_PASSES_H
#define EDDY_PASSES_H

#include "session/flow.h"

/* Rules for eddy_flow_sweep. */
bool eddy_simplify(rewrite *r);
bool eddy_stabilise(rewrite *r);
bool eddy_find_patterns(rewrite *r);

bool eddy_improve_products(rewrite *r);
bool eddy_take_in_epilogues(rewrite *r);
bool eddy_take_in_conv_epilogues(rewrite *r);
bool eddy_pair_up(rewrite *r);

/* Whether n is a product of two matrices of real numbers; then f says so in full. */
struct eddy_fused_matmul_attrs;
bool eddy_as_fused_product(const flow_node *n, struct eddy_fused_matmul_attrs *f);

/* Whether t is made by an elementwise loop and read once: better made in that loop than
 * written to memory for an epilogue to read. */
bool eddy_is_passing(const eddy_flow *f, eddy_tensor t);

/* Puts the nodes of c->flow into the order in which they are executed. */
bool eddy_arrange(compile *c);
/* Makes cheap values again where a later loop reads them; the number of values that then
 * need no memory is added to *changes. */
bool eddy_recompute(compile *c, int *changes);

/* An attribute of a node by its name; NULL if the op has none. */
const void *eddy_flow_attr(const flow_node *n, const char *name);

#endif
