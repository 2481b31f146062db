/* solver_parts.h -- declarations shared by the solvers of control/solvers.h. */
#ifndef EDDY_CONTROL_SOLVER_PARTS_H
#define EDDY_CONTROL_SOLVER_PARTS_H

#include "control/closure.h"
#include "control/solvers.h"

/* True if x is not empty and its tensors have one type, float32 or float64. */
bool eddy__solver_takes(eddy_graph *g, const char *what, const char *name, eddy_list x);
/* A tolerance of -1 becomes the one for the type; false for one that is not positive. */
bool eddy__solver_tolerance(eddy_graph *g, const char *what, const char *name, eddy_dtype dtype,
                            double for_f32, double for_f64, double *tolerance);
/* False with an error if count is below 1. A count that no run reaches becomes 2^53, since options
 * are kept as doubles. */
bool eddy__solver_count(eddy_graph *g, const char *what, const char *name, int64_t *count);
/* False with an error if out is NULL. */
bool eddy__solver_out(eddy_graph *g, const char *what, const eddy_tensor *out);
/* False with an error if there are more than so many tensors, usually EDDY_SOLVER_MOST. */
enum { EDDY_SOLVER_MOST = 29 };
bool eddy__solver_room(eddy_graph *g, const char *what, const char *name, eddy_list x, int most);
/* True if the results of the closure are like x in number, type and shape. */
bool eddy__solver_results_fit(const closure *c, const char *what, eddy_list x);
/* False with an error if a tensor has an unknown shape. */
bool eddy__solver_shapes_are_known(eddy_graph *g, const char *what, const char *name, eddy_list x);

/* New nodes with the values of n tensors. */
void eddy__solver_copies(int n, const eddy_tensor *x, eddy_tensor *y);

/* n tensors as one vector; and the parts of a vector, in the shapes of these tensors, which are
 * known if there is more than one. */
eddy_tensor eddy__solver_joined(int n, const eddy_tensor *x);
void        eddy__solver_parted(eddy_tensor v, int n, const eddy_tensor *like, eddy_tensor *x);

/* The excess of a change from x to y: max |y - x| - tolerance max(max |y|, least), over all
 * elements of n tensors; not positive if it is small enough. NaN stays NaN. */
eddy_tensor eddy__solver_excess(int n, const eddy_tensor *x, const eddy_tensor *y, double tolerance,
                                double least);

/* The condition of a loop whose last variable is the excess: it is positive. */
int eddy__solver_goes_on(eddy_list v, eddy_tensor *y, void *context);
/* y, for which the run fails if the excess is not small enough after this many iterations. */
void eddy__solver_converged(int n, eddy_tensor *y, eddy_tensor excess, const char *what,
                            int64_t iterations);

/* y, for which the run fails with the message if `holds` is false. */
void eddy__solver_ensure(int n, eddy_tensor *y, eddy_tensor holds, const char *message);

/* out = y, the solution that a loop has found from `more` and the captured tensors, with the
 * gradient of the rule. In the rule r->x are: more; the captured tensors; the closure. */
void eddy__solver_attach(const closure *c, eddy_list y, eddy_list more, const char *name,
                         void (*rule)(eddy_rule *r), eddy_tensor *out);

#endif
