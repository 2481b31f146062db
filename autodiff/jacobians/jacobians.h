/* jacobians.h -- whole matrices of derivatives: Jacobians and Hessians. They are computed by rows,
 * in reverse mode, or by columns, in forward mode: all together, in blocks, or one after the
 * other. */
#ifndef EDDY_JACOBIANS_H
#define EDDY_JACOBIANS_H

#include "../tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- jacobians -- */

/* Reverse mode computes a Jacobian by rows, one for each element of y; forward mode by columns, one
 * for each element of x, from two reverse sweeps as eddy_jvp. Automatic is forward mode where the
 * sizes are known while building and y has more than twice the elements of all xs, provided that
 * the types are real and every operation of the first sweep has a gradient; else reverse mode. */
typedef enum eddy_jacobian_mode {
    EDDY_JACOBIAN_AUTOMATIC = 0,
    EDDY_JACOBIAN_FORWARD = 1,
    EDDY_JACOBIAN_REVERSE = 2
} eddy_jacobian_mode;

typedef struct eddy_jacobian_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_jacobian_args));
    eddy_tensor      y;
    eddy_list        xs;
    eddy_tensor     *out;                   /* xs.count results */
    eddy_unconnected unconnected_gradients;
    bool             no_pfor;               /* one row after the other, in a loop */
    int              parallel_iterations;   /* accepted, as in TensorFlow; changes nothing */
    const char      *name;                  /* scope of the new nodes; default "jacobian" */
    eddy_jacobian_mode mode;
    int64_t          max_bytes;             /* for the temporaries of a block; 0: no limit */
} eddy_jacobian_args;

/* out[k] = dy/dx[k], of shape y.shape + x[k].shape.
 *
 * All rows at once: the gradient is built for one unit vector of y and then batched over all of
 * them (eddy_vmap). With no_pfor the gradient is the body of a loop over the unit vectors
 * (eddy_map_fn), which takes more time and less memory. In both cases y may have unknown
 * dimensions; its rank and that of x must be known, at most 7 each and at most 8 together. In
 * forward mode the same is done for the unit vectors of x[k], which suits a y much larger than x.
 *
 * With max_bytes the loop is over blocks of as many rows, or columns, as it permits, at least one.
 * A row counts as twice the largest of y, the xs and the tensors between them; the matrix itself
 * does not count. The sizes of y and the xs must be known while building.
 *
 * Sparse gradients become dense. If y does not depend on x, or has an integer type, the result is
 * invalid, or zeros. For an analytic complex y it is the conjugate of dy/dx, as for gradients.
 * Errors: EDDY_INVALID_ARGUMENT for an unknown mode or a negative max_bytes; EDDY_BAD_DTYPE for
 * forward mode and complex types; EDDY_BAD_SHAPE for an unknown rank, or an unknown size with
 * max_bytes; EDDY_LIMIT for the ranks. Returns the graph's status. After tf.GradientTape.jacobian
 * and parallel_for.jacobian, which have reverse mode only. */
EDDY_API eddy_status eddy_jacobian_with(const eddy_jacobian_args *given);
#define eddy_jacobian(...) eddy_jacobian_with(EDDY_ARGS(eddy_jacobian_args, __VA_ARGS__))

typedef struct eddy_batch_jacobian_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_batch_jacobian_args));
    eddy_tensor      y, x;                  /* [b, ...y] and [b, ...x] */
    eddy_unconnected unconnected_gradients;
    bool             no_pfor;
    int              parallel_iterations;
    const char      *name;                  /* default "batch_jacobian" */
    eddy_jacobian_mode mode;                /* automatic compares the sizes of a row of y and x */
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
    eddy_unconnected unconnected_gradients;
    int64_t      max_bytes;        /* for the temporaries of a block of rows; 0: no limit */
} eddy_hessians_args;

/* out[k] = the Hessian of the sum of y with respect to xs[k] alone, of shape x.shape + x.shape,
 * for x of known rank, at most 4. A missing first derivative is an error, as in tf.hessians, and
 * so is a missing second derivative, as of a linear y; with EDDY_UNCONNECTED_ZERO both are zeros.
 * max_bytes is that of eddy_jacobian. Returns the graph's status. */
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
