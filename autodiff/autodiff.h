/* autodiff.h -- gradients, as nodes appended to the graph.
 *
 * A call walks back from ys to xs once and asks each op on the way for its
 * rule.  The rules are made of ordinary ops, so the result can be run, saved
 * and differentiated again.  After tf.gradients and tf.hessians. */
#ifndef EDDY_AUTODIFF_H
#define EDDY_AUTODIFF_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the gradients that reach one tensor by several ways are added up:
 * one add_n; a chain of additions of two, under "<op>_gradient_sum"; or, where
 * there are more than two of known shape, accumulate_n (the same sum here). */
typedef enum eddy_aggregation {
    EDDY_AGGREGATION_DEFAULT = 0,
    EDDY_ADD_N = 0,
    EDDY_EXPERIMENTAL_TREE = 1,
    EDDY_EXPERIMENTAL_ACCUMULATE_N = 2
} eddy_aggregation;

/* What a source that no y depends on gets: an invalid tensor, or zeros. */
typedef enum eddy_unconnected {
    EDDY_UNCONNECTED_NONE = 0,
    EDDY_UNCONNECTED_ZERO = 1
} eddy_unconnected;

typedef struct eddy_gradients_args {
    char             unused_;
    eddy_list        ys;               /* what is differentiated; their sum */
    eddy_list        xs;               /* with respect to; any tensors, repeats allowed */
    eddy_tensor     *out;              /* xs.count results; invalid where there is none */
    /* weights of the ys, of their shapes; not given: ones.  An invalid entry: ones */
    eddy_list        grad_ys;
    const char      *name;             /* scope of the new nodes; default "gradients" */
    bool             colocate_gradients_with_ops;
    bool             gate_gradients;   /* an op's gradients become usable only together */
    eddy_aggregation aggregation_method;
    eddy_list        stop_gradients;   /* treated as constants, whole ops at a time */
    eddy_unconnected unconnected_gradients;
} eddy_gradients_args;

/* out[k] = sum over y of grad_y * dy/dx[k], of the shape and dtype of x[k].
 *
 *   eddy_tensor dx[2];
 *   eddy_gradients(EDDY_LIST(loss), EDDY_LIST(w, b), dx);
 *
 * A result is invalid (none), or zeros if asked for, where no differentiable
 * path leads from x to y.  An op on the path whose definition has no gradient
 * rule is the error NO_GRADIENT, naming it.  The gradient of eddy_gather is an
 * IndexedSlices tensor (eddy_slices_parts), dense to whoever evaluates it.
 * Returns the graph's status. */
EDDY_API eddy_status eddy_gradients_with(eddy_gradients_args args);
#define eddy_gradients(...) eddy_gradients_with(EDDY_ARGS(eddy_gradients_args, __VA_ARGS__))

/* The derivative of the sum of y with respect to x: one tensor, for the
 * commonest case. */
EDDY_API eddy_tensor eddy_gradient(eddy_tensor y, eddy_tensor x);

/* The product of the Hessian of the sum of y with v: out[k] = sum over j of
 * d2y/dx[k]dx[j] v[j], v[j] of the shape of x[j].  The matrix is never formed. */
EDDY_API eddy_status eddy_hessian_vector_product(eddy_tensor y, eddy_list xs, eddy_list vs,
                                                 eddy_tensor *out);

/* out[k] = the Hessian of the sum of y with respect to xs[k] alone, of shape
 * x.shape + x.shape, for x of known shape.  A first or second derivative that
 * does not depend on x is an error, as in tf.hessians. */
EDDY_API eddy_status eddy_hessians(eddy_tensor y, eddy_list xs, eddy_tensor *out);

#ifdef __cplusplus
}
#endif
#endif
