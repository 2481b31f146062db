/* match.h -- pattern matching for the rules of passes: queries about the inputs of a node, and
 * creation of replacement nodes. */
#ifndef EDDY_SESSION_PASSES_MATCH_H
#define EDDY_SESSION_PASSES_MATCH_H

#include "session/passes/passes.h"

/* -------------------------------------------------------------- lookup -- */

static inline bool eddy__match_same(eddy_tensor a, eddy_tensor b)
{
    return a.node == b.node && a.output == b.output;
}
static inline eddy_type eddy__match_type(const rewrite *r, eddy_tensor t)
{
    return eddy__ir_type(r->ir, t);
}
static inline bool eddy__same_type(eddy_type a, eddy_type b)
{
    return a.dtype == b.dtype && eddy_shape_equal(a.shape, b.shape);
}
/* Its element type is float32 or float64. */
bool eddy__match_real(const rewrite *r, eddy_tensor t);
/* The node whose output 0 is t, if its op is `op` and it has no control inputs; else NULL. */
const ir_node *eddy__match(const rewrite *r, eddy_tensor t, const eddy_op_def *op);
/* The tensor that has the elements of t, in whatever shape: t without its reshapes. */
eddy_tensor eddy__match_elements(const rewrite *r, eddy_tensor t);
/* All elements of t, floating-point numbers, are *v; or exactly this number. */
bool eddy__match_number(const rewrite *r, eddy_tensor t, double *v);
bool eddy__match_is(const rewrite *r, eddy_tensor t, double v);
/* n, of two inputs, has this number as one of them; *other is the other one. */
bool eddy__match_with(const rewrite *r, const ir_node *n, double v, eddy_tensor *other);
/* The node with this op that computes input i of n or, if none does, input 1 - i; then *i is
 * changed. */
const ir_node *eddy__match_either(const rewrite *r, const ir_node *n, const eddy_op_def *op,
                                  int *i);
/* The axes that a sum, mean, maximum or minimum folds: bit i is axis i of its input. */
unsigned eddy__match_axes(const rewrite *r, const ir_node *n);
/* The only axis in a set; -1 if there are none or several. */
int eddy__match_axis(unsigned mask);
/* Of a transpose: the dimension of its input that becomes dimension i of its output. The second
 * function: true if exactly the last two dimensions are exchanged. */
int  eddy__match_permuted(const ir_node *transpose, int i);
bool eddy__match_exchanges(const ir_node *transpose);
/* s with size 1 along the axes in `mask`. */
eddy_shape eddy__match_folded(eddy_shape s, unsigned mask);

/* The nodes of a pattern, except the last one. */
enum { EDDY_PARTS = 24 };
typedef struct eddy_parts {
    const ir_node *at[EDDY_PARTS];
    int            n;                  /* number of nodes; may exceed EDDY_PARTS */
} eddy_parts;

/* Like eddy__match; adds the node to the pattern. */
const ir_node *eddy__match_part(const rewrite *r, eddy_parts *p, eddy_tensor t,
                                const eddy_op_def *op);
/* Like eddy__match_elements; adds the reshapes to the pattern. */
eddy_tensor eddy__match_part_elements(const rewrite *r, eddy_parts *p, eddy_tensor t);
/* Only parts and r->node read the parts. */
bool eddy__match_closed(const rewrite *r, const eddy_parts *p);

/* -------------------------------------------------------- construction -- */

/* Replaces r->node by t if the types are equal. */
bool eddy__give(rewrite *r, eddy_tensor t);
/* New nodes without attributes. */
eddy_tensor eddy__make1(rewrite *r, const eddy_op_def *op, eddy_tensor a);
eddy_tensor eddy__make2(rewrite *r, const eddy_op_def *op, eddy_tensor a, eddy_tensor b);
/* v as a scalar of the type that `like` has. */
eddy_tensor eddy__make_number(rewrite *r, double v, eddy_tensor like);
/* -t, without a second change of sign. */
eddy_tensor eddy__make_negative(rewrite *r, eddy_tensor t);
/* A reduction along the axes in `mask`, which stay with size 1. */
eddy_tensor eddy__make_fold(rewrite *r, const eddy_op_def *op, eddy_tensor t, unsigned mask);
/* An op whose only attribute is an axis, such as softmax. */
eddy_tensor eddy__make_along(rewrite *r, const eddy_op_def *op, int n, const eddy_tensor *in,
                             int axis);

#endif
