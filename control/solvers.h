/* solvers.h -- values that an equation defines: fixed points, roots, solutions of linear systems,
 * eigenvectors, and solutions of ordinary differential equations. A solver is a loop inside the
 * graph (control.h) that runs until a tolerance is met. Gradients of all except differential
 * equations follow from the equation at its solution, and not from the iterations, so they need no
 * memory for these and do not depend on the guess.
 *
 * A function is called once, while the graph is built. Tensors and trainable variables from
 * outside that it uses are captured, and gradients of every order reach them. It may not draw
 * random numbers or update variables.
 *
 * A solver that does not meet its tolerance is an error of the run, EDDY_CHECK_FAILED, which names
 * the call. The number of iterations differs between runs; under eddy_vmap each example has its
 * own. A map over a loop that contains a solver (also one over the gradient of eddy_odeint by the
 * adjoint equation) has values, and no further gradient: EDDY_NO_GRADIENT.
 *
 * A graph file has the nodes of the gradients that were built before it was written. Building
 * others for a graph that was read is the error EDDY_NO_GRADIENT, as for custom gradients.
 *
 * Every function here returns the number of results, which it stores in `out` (room for
 * EDDY_MAX_RESULTS), or 0 with the error on the graph. */
#ifndef EDDY_SOLVERS_H
#define EDDY_SOLVERS_H

#include "control.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ equations -- */

typedef struct eddy_fixed_point_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_fixed_point_args));
    eddy_function f;                /* of x, and then of theta: as many tensors as x, like x */
    eddy_list     x0;               /* the first guess: float32 or float64, of any shapes; at most 29 */
    eddy_tensor  *out;              /* as many as x0, of their types */
    eddy_list     theta;            /* further arguments of f; default none */
    /* the largest |f(x) - x| that is accepted, relative to the largest |x| or to 1, if that is
     * larger; -1: 1e-5 for float32, 1e-10 for float64 */
    double        tolerance EDDY_DEFAULT(-1);
    int64_t       maximum_iterations EDDY_DEFAULT(1000);
    const char   *name;             /* scope of the new nodes; default "fixed_point" */
} eddy_fixed_point_args;

/* The x for which x = f(x, theta), by repeating x = f(x, theta) from x0. It converges where f is a
 * contraction.
 *
 *   eddy_fixed_point(cosine, EDDY_LIST(guess), &x);
 *
 * Gradient: with u = dy + (df/dx)' u, which is repeated in the same way and with the same
 * tolerance, relative to u, dtheta = (df/dtheta)' u; none for x0. Errors: x0 of different types, or
 * of types other than float32 and float64; results that differ from x0 in number, type or shape; a
 * tolerance that is not positive; fewer than 1 iterations. jaxopt.FixedPointIteration. */
EDDY_API int eddy_fixed_point_with(const eddy_fixed_point_args *args);
#define eddy_fixed_point(...) eddy_fixed_point_with(EDDY_ARGS(eddy_fixed_point_args, __VA_ARGS__))

typedef struct eddy_root_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_root_args));
    eddy_function f;                /* of x, and then of theta: as many elements as x in all */
    eddy_list     x0;               /* the first guess: float32 or float64, of known shapes; at most 29 */
    eddy_tensor  *out;              /* as many as x0, of their types */
    eddy_list     theta;            /* further arguments of f; default none */
    /* the largest step of Newton's method that is accepted as the last, relative to the largest
     * |x| or to 1, if that is larger; -1: 1e-5 for float32, 1e-10 for float64 */
    double        tolerance EDDY_DEFAULT(-1);
    int64_t       maximum_iterations EDDY_DEFAULT(50);
    const char   *name;             /* scope of the new nodes; default "root" */
} eddy_root_args;

/* An x for which f(x, theta) = 0, by Newton's method from x0. The Jacobian J = df/dx is a matrix
 * of all elements of x, which is solved in each iteration: x is meant to be small.
 *
 *   eddy_root(square_less_a, EDDY_LIST(guess), &x, EDDY_LIST(a));
 *
 * Gradient: dtheta = -(df/dtheta)' (J')^-1 dy, with the J of the root; none for x0. Errors: as for
 * eddy_fixed_point; unknown shapes; a result that does not depend on x; in a run, a singular J.
 * scipy.optimize.root; jax.lax.custom_root. */
EDDY_API int eddy_root_with(const eddy_root_args *args);
#define eddy_root(...) eddy_root_with(EDDY_ARGS(eddy_root_args, __VA_ARGS__))

/* ------------------------------------------------------- linear operators -- */

/* A linear operator A is a function that builds the nodes of A x from x: as many tensors as x, like
 * x. A matrix need not exist: A x may be convolutions, products of sparse matrices, or the
 * vector-Jacobian product of a function. In what follows a list of tensors counts as one vector of
 * all their elements, with the norm |x|. Several tensors need known shapes. */

typedef struct eddy_conjugate_gradient_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_conjugate_gradient_args));
    eddy_function a;                /* of x, and then of theta: A x; symmetric, positive definite */
    eddy_list     b;                /* float32 or float64, of any shapes; at most 20 */
    eddy_tensor  *out;              /* as many as b, of their types */
    eddy_list     theta;            /* further arguments of a; default none */
    eddy_list     x0;               /* the first guess, like b; default zeros */
    /* of r, and then of theta: M r, where M is near A^-1, symmetric and positive definite; default
     * (no build function) none */
    eddy_function preconditioner;
    double        tolerance EDDY_DEFAULT(-1);   /* |b - A x| <= tolerance |b|; -1: 1e-5 for float32,
                                                 * 1e-10 for float64 */
    int64_t       maximum_iterations EDDY_DEFAULT(1000);    /* products with A */
    const char   *name;             /* scope of the new nodes; default "conjugate_gradient" */
} eddy_conjugate_gradient_args;

/* The x for which A x = b, by conjugate gradients (Hestenes and Stiefel 1952; Saad, Iterative
 * methods for sparse linear systems, 2003, algorithm 9.1).
 *
 *   eddy_conjugate_gradient(laplacian, EDDY_LIST(b), &x, .preconditioner = divided_by_diagonal);
 *
 * The residual is that of the recurrence, which in the end is smaller than the true one if A is
 * ill-conditioned. Gradient: u = A^-1 dy, by the same method with the same tolerance, is db; dtheta
 * is -(d(A x)/dtheta)' u; none for x0. It is right only if A is symmetric and linear, which is not
 * checked. Errors: b of different types, or of types other than float32 and float64; results of a
 * function that differ from b in number, type or shape; an x0 that does; a tolerance that is not
 * positive; fewer than 1 iterations; in a run, no convergence, or a direction p with p'A p <= 0.
 * tf.linalg.experimental.conjugate_gradient; scipy.sparse.linalg.cg. */
EDDY_API int eddy_conjugate_gradient_with(const eddy_conjugate_gradient_args *args);
#define eddy_conjugate_gradient(...) \
    eddy_conjugate_gradient_with(EDDY_ARGS(eddy_conjugate_gradient_args, __VA_ARGS__))

typedef struct eddy_gmres_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_gmres_args));
    eddy_function a;                /* of x, and then of theta: A x */
    eddy_list     b;                /* float32 or float64, of any shapes; at most 20 */
    eddy_tensor  *out;              /* as many as b, of their types */
    eddy_list     theta;            /* further arguments of a; default none */
    eddy_list     x0;               /* the first guess, like b; default zeros */
    /* of r, and then of theta: M r, where M is linear and near A^-1; default (no build function)
     * none */
    eddy_function preconditioner;
    int64_t       restart EDDY_DEFAULT(20);     /* products in one cycle, at most 1000 */
    double        tolerance EDDY_DEFAULT(-1);   /* |b - A x| <= tolerance |b|; -1: 1e-5 for float32,
                                                 * 1e-10 for float64 */
    int64_t       maximum_iterations EDDY_DEFAULT(100);     /* cycles */
    const char   *name;             /* scope of the new nodes; default "gmres" */
} eddy_gmres_args;

/* The x for which A x = b, by GMRES with restarts (Saad and Schultz 1986): each cycle minimizes
 * |b - A x| over the space of `restart` products with A M, by Arnoldi's method, orthogonalized
 * twice. It keeps restart + 1 vectors. Short cycles may make no progress.
 *
 *   eddy_gmres(transport, EDDY_LIST(b), &x, .restart = 50);
 *
 * Gradient: u = (A')^-1 dy, by the same method, is db, where A' and M' are vector-Jacobian products
 * of a and the preconditioner; dtheta is -(d(A x)/dtheta)' u; none for x0. Errors: as for
 * eddy_conjugate_gradient; a restart below 1 or above 1000. scipy.sparse.linalg.gmres;
 * jax.scipy.sparse.linalg.gmres. */
EDDY_API int eddy_gmres_with(const eddy_gmres_args *args);
#define eddy_gmres(...) eddy_gmres_with(EDDY_ARGS(eddy_gmres_args, __VA_ARGS__))

typedef struct eddy_lanczos_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_lanczos_args));
    eddy_function a;                /* of x, and then of theta: A x; symmetric */
    /* the first vector: float32 or float64, of known shapes, at most 20; zeros: one of the method's
     * own */
    eddy_list     v0;
    eddy_tensor  *out;              /* eigenvalues [k]; then for each tensor of v0 the eigenvectors,
                                     * [k, ...] */
    int64_t       k EDDY_DEFAULT(1);            /* eigenpairs, 1 to the elements of v0 */
    /* those of the smallest eigenvalues, in ascending order; default: of the largest, descending */
    bool          smallest;
    eddy_list     theta;            /* further arguments of a; default none */
    int64_t       basis;            /* vectors that are kept; 0: 2 k + 1, and at least 20 */
    /* the largest |A v - e v| that is accepted, relative to the largest |e| that was found; -1:
     * 1e-5 for float32, 1e-10 for float64 */
    double        tolerance EDDY_DEFAULT(-1);
    int64_t       maximum_iterations EDDY_DEFAULT(300);     /* restarts */
    const char   *name;             /* scope of the new nodes; default "lanczos" */
} eddy_lanczos_args;

/* The k largest or smallest eigenvalues e of A and their eigenvectors v, of length 1, by Lanczos's
 * method with thick restarts (Wu and Simon 2000), orthogonalized twice. An eigenvalue that A has
 * more than once may be found less often.
 *
 *   eddy_lanczos(laplacian, EDDY_LIST(zeros), y, .k = 3, .smallest = true);
 *
 * Gradient: with u[i] = -(A - e[i])^+ dv[i], by conjugate gradients, which converge since all other
 * eigenvalues are on one side, dtheta is the sum of (d(A v[i])/dtheta)' (de[i] v[i] + u[i]); none
 * for v0. Between two equal eigenvalues among the k, parts of dv count as 0, as in eddy_eigh. If an
 * eigenvalue has vectors that are not among the k, dv has no meaning, and a run that needs it
 * fails, with the error of eddy_conjugate_gradient or one of its own. Errors: as for
 * eddy_conjugate_gradient; unknown shapes; k, or k and a basis, out of range; in a run, no
 * convergence. scipy.sparse.linalg.eigsh. */
EDDY_API int eddy_lanczos_with(const eddy_lanczos_args *args);
#define eddy_lanczos(...) eddy_lanczos_with(EDDY_ARGS(eddy_lanczos_args, __VA_ARGS__))

/* ------------------------------------------------ differential equations -- */

typedef enum eddy_ode_method {
    EDDY_DOPRI5 = 0,                /* Dormand and Prince, 5(4), with step control */
    EDDY_RK4 = 1                    /* the classical method of Runge and Kutta, equal steps */
} eddy_ode_method;

typedef enum eddy_ode_gradient {
    EDDY_ODE_UNROLLED = 0,          /* of the steps that were made */
    EDDY_ODE_ADJOINT = 1            /* of the equation, by integrating it backward */
} eddy_ode_gradient;

typedef struct eddy_odeint_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_odeint_args));
    eddy_function     f;            /* of t, a scalar, and y: dy/dt, as many tensors as y, like y */
    eddy_list         y0;           /* at t[0]: float32 or float64, of any shapes; at most 29 */
    eddy_tensor       t;            /* [n] of the type of y0, n at least 1, in any order */
    eddy_tensor      *out;          /* as many as y0: [n, ...], out[k][0] = y0[k] */
    eddy_ode_method   method;
    eddy_ode_gradient gradient;
    /* the accepted error of a step: the mean square of error / (atol + rtol |y|) is at most 1;
     * -1: 1e-4 and 1e-6 for float32, 1e-7 and 1e-9 for float64 */
    double            rtol EDDY_DEFAULT(-1);
    double            atol EDDY_DEFAULT(-1);
    /* DOPRI5: maximum steps between two times, including rejected ones */
    int64_t           max_steps EDDY_DEFAULT(1000);
    int64_t           steps EDDY_DEFAULT(1);        /* RK4: steps between two times */
    double            first_step EDDY_DEFAULT(0);   /* DOPRI5: its length; 0: chosen from f */
    const char       *name;         /* scope of the new nodes; default "odeint" */
    eddy_recompute    recompute;    /* UNROLLED: values kept for the gradient of the */
    int64_t           segment;      /* steps between two times (eddy_recompute) */
} eddy_odeint_args;

/* The solution of dy/dt = f(t, y), y(t[0]) = y0, at the times t. The steps end at these times.
 *
 *   eddy_odeint(decay, EDDY_LIST(y0), t, &y);
 *   eddy_odeint(decay, EDDY_LIST(y0), t, &y, .gradient = EDDY_ODE_ADJOINT, .rtol = 1e-8);
 *
 * Gradients reach y0, t and the tensors that f captures.
 *
 * UNROLLED: they are those of the computed solution, exact, except that step lengths count as
 * constants. With DOPRI5, f is then evaluated 12 times per step, and the values of each step
 * between two times are kept while the gradient of this part is computed, except with .recompute or
 * .segment, which count rejected steps too.
 *
 * ADJOINT: they solve an equation of their own from the last time to the first (Chen et al.,
 * "Neural ordinary differential equations", 2018), with the same method and tolerances, and y
 * starts again from its computed value at each time. No steps are kept. They are as accurate as the
 * tolerances, and not those of the computed solution: with RK4 and few steps the two differ. At
 * most 14 tensors of y0, fewer if captured tensors have unknown shapes.
 *
 * Errors: y0 of different types, or of types other than float32 and float64; a t that is not a
 * vector of their type; results of f that differ from y0 in number, type or shape; .recompute or
 * .segment with ADJOINT; in a run, more than max_steps steps between two times.
 * scipy.integrate.odeint; tf.contrib.integrate.odeint. */
EDDY_API int eddy_odeint_with(const eddy_odeint_args *args);
#define eddy_odeint(...) eddy_odeint_with(EDDY_ARGS(eddy_odeint_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
