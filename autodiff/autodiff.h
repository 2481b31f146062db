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
 * out is cleared before anything is read, so it may not be a list that is handed
 * in.  Returns the graph's status. */
EDDY_API eddy_status eddy_gradients_with(eddy_gradients_args args);
#define eddy_gradients(...) eddy_gradients_with(EDDY_ARGS(eddy_gradients_args, __VA_ARGS__))

/* The derivative of the sum of y with respect to x: one tensor, for the
 * commonest case.  Where no differentiable path leads from x to y, it is an
 * invalid tensor, and the graph has no error. */
EDDY_API eddy_tensor eddy_gradient(eddy_tensor y, eddy_tensor x);

/* The product of the Hessian of the sum of y with v, linear in v and
 * differentiable by it: out[k] = sum over j of
 * d2y/dx[k]dx[j] v[j], v[j] of the shape of x[j].  The matrix is never formed. */
EDDY_API eddy_status eddy_hessian_vector_product(eddy_tensor y, eddy_list xs, eddy_list vs,
                                                 eddy_tensor *out);

/* Jacobian-vector product, forward mode: out[k] = sum over j of dy[k]/dx[j] v[j],
 * of the shape of y[k]; v[j] of the shape of x[j], an invalid one is zero.  Made
 * of two reverse sweeps, of which only the part that is linear in v is left to
 * run; no Jacobian is formed.  out[k] is invalid where y[k] depends on no x.
 *
 *   eddy_jvp(EDDY_LIST(y), EDDY_LIST(x), EDDY_LIST(v), &dy);
 *
 * torch.func.jvp; TensorFlow's ForwardAccumulator. */
EDDY_API eddy_status eddy_jvp(eddy_list ys, eddy_list xs, eddy_list vs, eddy_tensor *out);

/* Vector-Jacobian product: out[k] = sum over i of u[i] dy[i]/dx[k], of the shape
 * of x[k]; u[i] of the shape of y[i], an invalid one is ones.  What
 * eddy_gradients does with grad_ys = us. */
EDDY_API eddy_status eddy_vjp(eddy_list ys, eddy_list xs, eddy_list us, eddy_tensor *out);

/* The product of the Gauss-Newton matrix of loss(z(xs)) with v:
 * out[k] = (dz/dx[k])' H dz/dx v, with H the Hessian of the sum of `loss` with
 * respect to `z`, the model's outputs.  Neither matrix is formed.  Positive
 * semi-definite where the loss is convex in z (Schraudolph, 2002). */
EDDY_API eddy_status eddy_gauss_newton_vector_product(eddy_tensor loss, eddy_list z, eddy_list xs,
                                                      eddy_list vs, eddy_tensor *out);

/* ------------------------------------------------------------- jacobians -- */

typedef struct eddy_jacobian_args {
    char             unused_;
    eddy_tensor      y;
    eddy_list        xs;
    eddy_tensor     *out;                   /* xs.count results */
    eddy_unconnected unconnected_gradients;
    bool             no_pfor;               /* a row at a time, unrolled: y of known shape */
    int              parallel_iterations;   /* accepted, as in TensorFlow; changes nothing */
    const char      *name;                  /* scope of the new nodes; default "jacobian" */
} eddy_jacobian_args;

/* out[k] = dy/dx[k], of shape y.shape + x[k].shape.
 *
 * All rows at once: the gradient is built for one unit vector of y and then
 * batched over all of them (eddy_vmap), so y may have unknown dimensions; its
 * rank and that of x must be known, at most 7 each and at most 8 together.  With
 * no_pfor the rows are built one by one.  Sparse gradients come out dense; where
 * y does not depend on x, or is of integers, the result is invalid, or zeros.  Of
 * an analytic complex y it is the conjugate of dy/dx, as gradients are.  Returns
 * the graph's status.
 * After tf.GradientTape.jacobian and parallel_for.jacobian. */
EDDY_API eddy_status eddy_jacobian_with(eddy_jacobian_args args);
#define eddy_jacobian(...) eddy_jacobian_with(EDDY_ARGS(eddy_jacobian_args, __VA_ARGS__))

typedef struct eddy_batch_jacobian_args {
    char             unused_;
    eddy_tensor      y, x;                  /* [b, ...y] and [b, ...x] */
    eddy_unconnected unconnected_gradients;
    bool             no_pfor;
    int              parallel_iterations;
    const char      *name;                  /* default "batch_jacobian" */
} eddy_batch_jacobian_args;

/* The Jacobians of the rows, [b, ...y, ...x]: row i is dy[i]/dx[i].  Supposes
 * that y[i] depends on no other row of x; where it does, the result is the sum
 * over the rows of y.  Errors: BAD_SHAPE for a rank below 2, or first dimensions
 * that differ.  Invalid, or zeros, where y does not depend on x.
 * After tf.GradientTape.batch_jacobian and parallel_for.batch_jacobian. */
EDDY_API eddy_tensor eddy_batch_jacobian_with(eddy_batch_jacobian_args args);
#define eddy_batch_jacobian(...) \
    eddy_batch_jacobian_with(EDDY_ARGS(eddy_batch_jacobian_args, __VA_ARGS__))

/* out[k] = the Hessian of the sum of y with respect to xs[k] alone, of shape
 * x.shape + x.shape, for x of known rank.  A first derivative that is not there
 * is an error, as in tf.hessians; a second one that is not there is too. */
EDDY_API eddy_status eddy_hessians(eddy_tensor y, eddy_list xs, eddy_tensor *out);

/* The diagonal of that Hessian, d2y/dx[i]dx[i], in the shape of x; zeros where
 * the gradient does not depend on x.  Computes all Hessian-vector products
 * with the unit vectors: time and memory of the whole matrix. */
EDDY_API eddy_tensor eddy_hessian_diagonal(eddy_tensor y, eddy_tensor x);

#ifdef __cplusplus
}
#endif
#endif
