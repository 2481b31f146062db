/* body.h -- operations whose attributes include a graph that a session compiles and runs: Loop
 * and Case (control/). Sessions know them by their flags, EDDY_OP_LOOP and EDDY_OP_CASE, and by
 * the structs below, with which their attributes begin.
 *
 * A quiet node repeats computations of another node for a gradient: side effects in its body, at
 * any depth, are left out.
 *
 * Nodes 1, 2, ... of a body are its arguments (operation `_Argument`). A tensor of a body is
 * given as two integers in `outs`, node and output. Several nodes may have the same body with
 * different `outs`: the gradient of a loop adds a node that also yields the values that the
 * backward loop needs, and a session runs both as one. */
#ifndef EDDY_BODY_H
#define EDDY_BODY_H

#include "graph/internal.h"

/* Inputs: the number of iterations (int64 scalar) if `counted`; n_carried initial values;
 * n_sliced tensors, of which each iteration sees one row; then captured values.
 * Arguments of the body: the iteration (int64 scalar), and then those inputs less the count.
 * outs: if `conditional`, whether another iteration follows (bool scalar, computed from the
 * arguments before each iteration); n_carried new values; n_stacked values that are stacked along
 * a new axis 0; and nodes with side effects, which every iteration runs.
 * Outputs: n_carried final values; n_stacked stacks; the number of iterations (int64 scalar).
 *
 * The number of iterations is the smallest of: `trips`, if it is not negative; input 0, if
 * `counted`; the rows of each sliced input; those before the condition is false. With `reverse`,
 * the iterations run from the last row to the first. Stacks of a conditional or counted loop
 * have room for the largest number; rows that are not written are zero.
 *
 * Only the condition or the count limits an open loop, so its stacks have as many rows as it runs
 * iterations. Their memory grows in the run, their shape in a plan has no rows, and only loops read
 * them, row by row. `open` says that the sliced inputs are such stacks; they then do not limit the
 * iterations of a correct graph.
 *
 * Each iteration of a `segmented` loop runs a segment of the iterations of another loop, which is
 * in its body. In messages all segments are one loop: their iterations are numbered consecutively,
 * and the segmented loop is not named. */
typedef struct eddy_loop_attrs {
    eddy_graph *body;
    eddy_ints   outs;
    int64_t     n_carried, n_sliced, n_stacked;
    int64_t     trips;
    bool        conditional, counted, reverse, open, quiet, segmented;
} eddy_loop_attrs;

/* A limit above this number of iterations counts as none when stacks are planned. */
enum { EDDY_LOOP_PLANNED = 1 << 16 };

/* Inputs: the index of a branch (int32 scalar; one out of range selects the last branch); then
 * captured values, the arguments of the body. outs: for each branch n_out tensors. effects: pairs
 * of a branch and a node with a side effect that it runs. Outputs: those of the branch. */
typedef struct eddy_case_attrs {
    eddy_graph *body;
    eddy_ints   outs, effects;
    int64_t     n_branches, n_out;
    bool        quiet;
} eddy_case_attrs;

enum { EDDY_OP_BODY = EDDY_OP_LOOP | EDDY_OP_CASE };

/* The body of a Loop or Case node; both structs begin with it. */
static inline eddy_graph *eddy__body_of(const eddy_node *node)
{
    return *(eddy_graph *const *)node->attrs;
}
/* Tensor i of a list of outs. */
static inline eddy_tensor eddy__body_out(eddy_graph *body, eddy_ints outs, int64_t i)
{
    return (eddy_tensor){ body, (int32_t)outs.at[2 * i], (int32_t)outs.at[2 * i + 1] };
}
/* The number of arguments of the body of a node. */
static inline int eddy__body_args(const eddy_node *node)
{
    if (node->op->flags & EDDY_OP_CASE) return node->n_inputs - 1;
    return node->n_inputs + 1 - ((const eddy_loop_attrs *)node->attrs)->counted;
}
/* The number of tensors of the body of a loop before its side effects. */
static inline int64_t eddy__loop_results(const eddy_loop_attrs *a)
{
    return a->conditional + a->n_carried + a->n_stacked;
}

/* Whether the loop is open. */
static inline bool eddy__loop_is_open(const eddy_loop_attrs *a)
{
    return a->open || (a->n_sliced == 0 && (a->conditional || a->counted) &&
                       (a->trips < 0 || a->trips > EDDY_LOOP_PLANNED));
}
/* Whether output k of the node is a stack of an open loop. */
static inline bool eddy__is_open_stack(const eddy_node *node, int k)
{
    if (!(node->op->flags & EDDY_OP_LOOP)) return false;
    const eddy_loop_attrs *a = node->attrs;
    return k >= a->n_carried && k < a->n_carried + a->n_stacked && eddy__loop_is_open(a);
}

/* Whether stack k of a loop is that of a carried value before each iteration. If only its type is
 * read, no plan computes it: all rows have the type of the initial value. */
static inline bool eddy__stacks_argument(const eddy_loop_attrs *a, int64_t k)
{
    const int64_t node = a->outs.at[2 * (a->conditional + a->n_carried + k)];
    return node >= 2 && node < 2 + a->n_carried;
}

static inline bool eddy__is_quiet(const eddy_node *node)
{
    return node->op->flags & EDDY_OP_CASE ? ((const eddy_case_attrs *)node->attrs)->quiet
                                          : ((const eddy_loop_attrs *)node->attrs)->quiet;
}

/* Whether running the body has side effects. */
static inline bool eddy__body_acts(const eddy_node *node)
{
    if (node->op->flags & EDDY_OP_CASE)
        return ((const eddy_case_attrs *)node->attrs)->effects.count > 0 && !eddy__is_quiet(node);
    const eddy_loop_attrs *a = node->attrs;
    return !a->quiet && a->outs.count / 2 > eddy__loop_results(a);
}

#endif
