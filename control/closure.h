/* closure.h -- a user's function with the tensors that it captured, kept in the graph so that its
 * nodes can be built again on other arguments: in a loop, and later in a gradient rule.
 *
 * The function is called once. A Case of one branch owns its body; no run needs that node. Its
 * results are the options of the caller, the arguments, and the results of the function. So its
 * inputs are an index, the arguments in order, and the captured tensors, wherever the node is
 * copied to. */
#ifndef EDDY_CONTROL_CLOSURE_H
#define EDDY_CONTROL_CLOSURE_H

#include "control/internal.h"

enum { EDDY_CLOSURE_OPTIONS = 8 };

typedef struct closure {
    eddy_graph      *graph;
    const eddy_node *node;              /* the Case */
    int              n_x, n_captured, n_y;
    double           options[EDDY_CLOSURE_OPTIONS];     /* the first one is n_x */
} closure;

/* Calls f on the tensors x, which stand for its arguments, and on `more`, which are captured.
 * x must be new nodes. False with the error set. */
bool eddy__closure_begin(closure *c, const char *what, const eddy_function *f, eddy_list x,
                         eddy_list more);
/* The closure to which the last input of a rule belongs, and which has n_x arguments. The inputs
 * between the first n_x and the last one are the tensors that it captured. False with the error
 * set. */
bool eddy__closure_of(closure *c, eddy_rule *r, int n_x);

/* The node, whose side effects do not count: a Case of f alone (cases.c). */
int eddy__closure_case(eddy_graph *g, const eddy_function *f, eddy_list x, eddy_tensor *out);

/* Its output 0, by which eddy__closure_of finds it. */
eddy_tensor eddy__closure_tensor(const closure *c);
/* Result k of the function for the arguments with which it was called; only its type is of
 * interest. */
eddy_tensor eddy__closure_result(const closure *c, int k);
/* Captured tensor i. */
eddy_tensor eddy__closure_captured(const closure *c, int i);

/* Builds the function's nodes again on n_x arguments and on n_captured tensors in place of the
 * captured ones (NULL: the captured ones); stores n_y results in y. False with the error set. */
bool eddy__closure_build(const closure *c, const eddy_tensor *x, const eddy_tensor *captured,
                         eddy_tensor *y);

/* The function built again, to be differentiated: y as a function of x, n_x new nodes of the
 * caller, and of copies of the captured tensors. */
typedef struct linearized {
    closure            c;
    const eddy_tensor *x;
    eddy_tensor       *captured;
    eddy_tensor        y[EDDY_MAX_RESULTS];
} linearized;
/* False with the error set; to be ended in either case. */
bool eddy__linearize(linearized *l, const closure *c, const eddy_tensor *x);
void eddy__linearized_end(linearized *l);
/* dx[i] = sum over k of u[k] dy[k]/dx[i], invalid where there is none; and the same for the
 * captured tensors. */
bool eddy__linearized_vjp(const linearized *l, const eddy_tensor *u, eddy_tensor *dx);
bool eddy__linearized_vjp_captured(const linearized *l, const eddy_tensor *u, eddy_tensor *dx);

#endif
