/* jacobians.h -- whole matrices of derivatives: Jacobians and Hessians. The rows are computed all
 * together, or one after the other in a loop. */
#ifndef EDDY_JACOBIANS_H
#define EDDY_JACOBIANS_H

#include "../tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- jacobians -- */

typedef struct eddy_jacobian_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_jacobian_args));
    eddy_tensor      y;
    eddy_list        xs;
    eddy_tensor     *out;                   /* xs.count results */
    eddy_unconnected unconnected_gradients;
    bool             no_pfor;               /* one row after the other, in a loop */
    int              parallel_iterations;   /* accepted, as in TensorFlow; changes nothing */
    const char      *name;                  /* scope of the new nodes; default "jacobian" */
} eddy_jacobian_args;

/* out[k] = dy/dx[k], of shape y.shape + x[k].shape.
 *
 * All rows at once: the gradient is built for one unit vector of y and then batched over all of
 * them (eddy_vmap). With no_pfor the gradient is the body of a loop over the unit vectors
 * (eddy_map_fn), which takes more time and less memory. In both cases y may have unknown dimensions;
 * its rank and that of x must be known, at most 7 each and at most 8 together. Sparse gradients
 * become dense. If y does not depend on x, or has an integer type, the result is
 * invalid, or zeros. For an analytic complex y it is the conjugate of dy/dx, as for gradients.
 * Returns the graph's status. After tf.GradientTape.jacobian and parallel_for.jacobian. */
EDDY_API eddy_status eddy_jacobian_with(const eddy_jacobian_args *given);
#define eddy_jacobian(...) eddy_jacobian_with(EDDY_ARGS(eddy_jacobian_args, __VA_ARGS__))

typedef struct eddy_batch_jacobian_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_batch_jacobian_args));
    eddy_tensor      y, x;                  /* [b, ...y] and [b, ...x] */
    eddy_unconnected unconnected_gradients;
    bool             no_pfor;
    int              parallel_iterations;
    const char      *name;                  /* default "batch_jacobian" */
} eddy_batch_jacobian_args;

/* The Jacobians of the rows, [b, ...y, ...x]: row i is dy[i]/dx[i]. y[i] must depend on no other
 * row of x; if it does, the result is the sum over the rows of y. Errors: EDDY_BAD_SHAPE for a rank
 * below 2, or different first dimensions. Invalid, or zeros, if y does not depend on x. After
 * tf.GradientTape.batch_jacobian and parallel_for.batch_jacobian. */
EDDY_API eddy_tensor eddy_batch_jacobian_with(const eddy_batch_jacobian_args *given);
#define eddy_batch_jacobian(...) \
    eddy_batch_jacobian_with(EDDY_ARGS(eddy_batch_jacobian_args, __VA_ARGS__))

/* As eddy_jacobian and eddy_batch_jacobian, along the tape, which must not be recording; without
 * `persistent` this is its one use. Difference, as in TensorFlow: an unconnected batch_jacobian
 * is zeros. */
EDDY_API eddy_status eddy_tape_jacobian_with(eddy_tape *tape, const eddy_jacobian_args *given);
#define eddy_tape_jacobian(tape_, ...) \
    eddy_tape_jacobian_with((tape_), EDDY_ARGS(eddy_jacobian_args, __VA_ARGS__))
EDDY_API eddy_tensor eddy_tape_batch_jacobian_with(
    eddy_tape *tape, const eddy_batch_jacobian_args *given);
#define eddy_tape_batch_jacobian(tape_, ...) \
    eddy_tape_batch_jacobian_with((tape_), EDDY_ARGS(eddy_batch_jacobian_args, __VA_ARGS__))

/* -------------------------------------------------------------- hessians -- */

typedef struct eddy_hessians_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_hessians_args));
    eddy_tensor  y;
    eddy_list    xs;
    eddy_tensor *out;              /* xs.count results */
    const char  *name;             /* scope of the new nodes; default "hessian" */
} eddy_hessians_args;

/* out[k] = the Hessian of the sum of y with respect to xs[k] alone, of shape x.shape + x.shape,
 * for x of known rank, at most 4. A missing first derivative is an error, as in tf.hessians, and
 * so is a missing second derivative. Returns the graph's status. */
EDDY_API eddy_status eddy_hessians_with(const eddy_hessians_args *given);
#define eddy_hessians(...) eddy_hessians_with(EDDY_ARGS(eddy_hessians_args, __VA_ARGS__))

/* The diagonal of that Hessian, d2y/dx[i]dx[i], in the shape of x; zeros where the gradient does
 * not depend on x. It computes all Hessian-vector products with the unit vectors, so it takes
 * the time and memory of the whole matrix. */
EDDY_API eddy_tensor eddy_hessian_diagonal(eddy_tensor y, eddy_tensor x);

#ifdef __cplusplus
}
#endif
#endif
