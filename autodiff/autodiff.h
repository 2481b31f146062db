/* autodiff.h -- symbolic gradients, as nodes appended to the graph.
 *
 * A call walks back from ys to xs once and calls the gradient rule of each operation on the way.
 * The rules are composed of ordinary operations, so the result can be run, saved and
 * differentiated again. After tf.gradients and tf.hessians. */
#ifndef EDDY_AUTODIFF_H
#define EDDY_AUTODIFF_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the gradients that reach one tensor along several paths are added: by one add_n; by a
 * chain of binary additions, under "<op>_gradient_sum"; or, if there are more than two of known
 * shape, by accumulate_n (the same sum here). */
typedef enum eddy_aggregation {
    EDDY_AGGREGATION_DEFAULT = 0,
    EDDY_ADD_N = 0,
    EDDY_EXPERIMENTAL_TREE = 1,
    EDDY_EXPERIMENTAL_ACCUMULATE_N = 2
} eddy_aggregation;

/* The result for an x on which no y depends: an invalid tensor, or zeros. */
typedef enum eddy_unconnected {
    EDDY_UNCONNECTED_NONE = 0,
    EDDY_UNCONNECTED_ZERO = 1
} eddy_unconnected;

typedef struct eddy_gradients_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_gradients_args));
    eddy_list        ys;               /* what is differentiated; their sum */
    eddy_list        xs;               /* with respect to; any tensors, repeats allowed */
    eddy_tensor     *out;              /* xs.count results; invalid where there is none */
    /* one weight per y, with its type and shape; default, also for an invalid entry: ones */
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
 * If no differentiable path leads from x to y, the result is invalid, or zeros if requested. An
 * operation on the path without a gradient rule is the error EDDY_NO_GRADIENT, which names it. The
 * gradient of eddy_gather is an IndexedSlices tensor (eddy_slices_parts); its value is the dense
 * gradient. out is cleared first, so it must not overlap a list that is passed in. Returns the
 * graph's status. */
EDDY_API eddy_status eddy_gradients_with(const eddy_gradients_args *given);
#define eddy_gradients(...) eddy_gradients_with(EDDY_ARGS(eddy_gradients_args, __VA_ARGS__))

/* The derivative of the sum of y with respect to x, the most common case. If no differentiable
 * path leads from x to y, the result is an invalid tensor, and the graph has no error. */
EDDY_API eddy_tensor eddy_gradient(eddy_tensor y, eddy_tensor x);

typedef struct eddy_hessian_vector_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_hessian_vector_args));
    eddy_tensor  y;
    eddy_list    xs, vs;           /* one v per x; an invalid entry of vs is zero */
    eddy_tensor *out;              /* xs.count results */
    const char  *name;             /* scope of the new nodes; default: as eddy_gradients */
} eddy_hessian_vector_args;

/* The product of the Hessian of the sum of y with v, linear in v and differentiable with respect
 * to it: out[k] = sum over j of d2y/dx[k]dx[j] v[j], where v[j] has the shape of x[j]. The
 * matrix is never formed. out[k] is invalid if there is no such derivative. Returns the graph's
 * status. */
EDDY_API eddy_status eddy_hessian_vector_product_with(const eddy_hessian_vector_args *given);
#define eddy_hessian_vector_product(...) \
    eddy_hessian_vector_product_with(EDDY_ARGS(eddy_hessian_vector_args, __VA_ARGS__))

typedef struct eddy_jvp_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_jvp_args));
    eddy_list    ys, xs, vs;       /* one v per x; an invalid entry of vs is zero */
    eddy_tensor *out;              /* ys.count results */
    const char  *name;             /* scope of the new nodes; default "jvp" */
} eddy_jvp_args;

/* Jacobian-vector product, forward mode: out[k] = sum over j of dy[k]/dx[j] v[j], of the shape
 * of y[k]; v[j] has the shape of x[j], and an invalid one means zero. It is built from two
 * reverse sweeps, of which only the part that is linear in v is run; no Jacobian is formed.
 * out[k] is invalid if y[k] depends on no x. Returns the graph's status.
 *
 *   eddy_jvp(EDDY_LIST(y), EDDY_LIST(x), EDDY_LIST(v), &dy);
 *
 * torch.func.jvp; TensorFlow's ForwardAccumulator. */
EDDY_API eddy_status eddy_jvp_with(const eddy_jvp_args *given);
#define eddy_jvp(...) eddy_jvp_with(EDDY_ARGS(eddy_jvp_args, __VA_ARGS__))

typedef struct eddy_vjp_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_vjp_args));
    eddy_list    ys, xs, us;       /* one u per y; default: ones */
    eddy_tensor *out;              /* xs.count results */
    const char  *name;             /* scope of the new nodes; default "vjp" */
} eddy_vjp_args;

/* Vector-Jacobian product: out[k] = sum over i of u[i] dy[i]/dx[k], of the shape of x[k]; u[i]
 * has the shape of y[i], and an invalid one means ones. Equivalent to eddy_gradients with
 * grad_ys = us. Returns the graph's status. */
EDDY_API eddy_status eddy_vjp_with(const eddy_vjp_args *given);
#define eddy_vjp(...) eddy_vjp_with(EDDY_ARGS(eddy_vjp_args, __VA_ARGS__))

typedef struct eddy_gauss_newton_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_gauss_newton_args));
    eddy_tensor  loss;
    eddy_list    z, xs, vs;        /* the model's outputs; one v per x */
    eddy_tensor *out;              /* xs.count results */
    const char  *name;             /* scope of the new nodes; default "gauss_newton" */
} eddy_gauss_newton_args;

/* The product of the Gauss-Newton matrix of loss(z(xs)) with v: out[k] = (dz/dx[k])' H dz/dx v,
 * where H is the Hessian of the sum of `loss` with respect to `z`, the model's outputs. Neither
 * matrix is formed. The matrix is positive semi-definite if the loss is convex in z
 * (Schraudolph, 2002). Returns the graph's status. */
EDDY_API eddy_status eddy_gauss_newton_vector_product_with(const eddy_gauss_newton_args *given);
#define eddy_gauss_newton_vector_product(...) \
    eddy_gauss_newton_vector_product_with(EDDY_ARGS(eddy_gauss_newton_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
