/* functions.h -- functions that build a piece of graph: over a batch, together
 * with their gradients, and with gradients of their own. */
#ifndef EDDY_FUNCTIONS_H
#define EDDY_FUNCTIONS_H

#include "autodiff.h"

#include "../graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EDDY_MAX_RESULTS = 64, EDDY_SHARED = -1000 };

/* A function from tensors to tensors: `build` appends nodes to the graph of its
 * arguments, stores its results in y (room for EDDY_MAX_RESULTS) and returns how
 * many.  It may be called more than once.  A plain struct, copied freely.
 *
 *   static int square(eddy_list x, eddy_tensor *y, void *context)
 *   {
 *       y[0] = Mul(x.at[0], x.at[0]);
 *       return 1;
 *   }
 *   eddy_function f = { .build = square, .name = "square", .parameters = "x" }; */
typedef struct eddy_function {
    int       (*build)(eddy_list x, eddy_tensor *y, void *context);
    void       *context;
    const char *name;           /* for messages; may be NULL */
    const char *parameters;     /* "w1, x1, w2, x2"; NULL: unnamed, any number */
} eddy_function;

/* ------------------------------------------------------------------ vmap -- */

typedef struct eddy_vmap_args {
    char          unused_;
    eddy_function f;            /* of one example */
    eddy_list     x;            /* arguments for all examples */
    eddy_tensor  *out;          /* a result each of f's, examples along axis 0 */
    /* x.count axes along which the examples of x[i] lie, or EDDY_SHARED: one
     * argument for all; NULL: axis 0 of every argument */
    const int    *axes;
    const char   *name;         /* scope of the new nodes; default "vmap" */
} eddy_vmap_args;

/* f of every example at once: builds f for one example and then again with a
 * batching rule for each op.  An op without a rule is looped over, which needs
 * a known number of examples.  Arguments need known ranks and equally many
 * examples, which a run checks where the number is not known; axes are counted from
 * the end if negative.  Random numbers that f draws are drawn for each example, and
 * the same for all where a seed that is a tensor is the same; what was drawn before f
 * was built is shared.  Gradients and Jacobians inside or of a map draw nothing again.
 * An op that changes a variable is refused if it depends on
 * the examples, or waits for one that checks or prints them, and is otherwise run
 * once.  What f's nodes wait for (eddy_control_begin) the new nodes wait for, an
 * assertion then being one about all examples.  A registered or custom gradient is
 * kept under a name of this process, "vmap_gradient_N", that nobody can register: a
 * graph file does not keep it.
 * Returns the number of results, 0 with the error on the graph.
 * After tf.vectorized_map and jax.vmap. */
EDDY_API int eddy_vmap_with(eddy_vmap_args args);
#define eddy_vmap(...) eddy_vmap_with(EDDY_ARGS(eddy_vmap_args, __VA_ARGS__))

/* --------------------------------------------------- gradient functions -- */

typedef struct eddy_function_args {
    char             unused_;
    eddy_function    f;
    eddy_list        x;             /* its arguments */
    eddy_tensor     *out;           /* a gradient for each chosen parameter */
    const char      *names;         /* the chosen parameters, "w1, w2"; NULL: see indices */
    eddy_dims        indices;       /* or by position, of any size up to 8; none given: all */
    eddy_list        dy;            /* one a result of f; not given: ones */
    eddy_tensor     *value;         /* if not NULL, gets f's results (EDDY_MAX_RESULTS) */
    eddy_unconnected unconnected_gradients;
} eddy_function_args;

/* The gradients of f at x with respect to its parameters, all or the chosen
 * ones: out[k] is d(sum of f's results)/d(parameter k).  One tensor given for
 * two parameters counts as two.  f is built once.  With .value also what f
 * returned: value_and_gradients_function.  Returns the number of gradients, 0
 * with the error on the graph.  tfe.gradients_function. */
EDDY_API int eddy_gradients_function_with(eddy_function_args args);
#define eddy_gradients_function(...) \
    eddy_gradients_function_with(EDDY_ARGS(eddy_function_args, __VA_ARGS__))

/* A gradient with its variable; as optimizers take them. */
typedef struct eddy_implicit_args {
    char          unused_;
    eddy_function f;
    eddy_list     x;                /* may be empty: then `graph` is needed */
    eddy_tensor  *gradients;        /* room of each; a gradient may be none */
    eddy_tensor  *variables;
    int           room;
    eddy_tensor  *value;            /* if not NULL, gets f's results (EDDY_MAX_RESULTS) */
    eddy_list     dy;
    eddy_graph   *graph;
} eddy_implicit_args;

/* The gradients of f at x with respect to every trainable variable that f used,
 * in the order in which the variables were made.  f is built once, its value
 * and the gradients share its nodes.  Returns the number of variables; the first
 * `room` of them are stored.  Error: "No trainable variables were accessed while
 * the function was being computed."  tfe.implicit_gradients, and with .value
 * tfe.implicit_value_and_gradients. */
EDDY_API int eddy_implicit_gradients_with(eddy_implicit_args args);
#define eddy_implicit_gradients(...) \
    eddy_implicit_gradients_with(EDDY_ARGS(eddy_implicit_args, __VA_ARGS__))

/* ------------------------------------------------------ custom gradients -- */

typedef struct eddy_custom_gradient_args {
    char        unused_;
    eddy_list   y;                  /* what was built ... */
    eddy_list   x;                  /* ... from these */
    eddy_tensor *out;               /* y.count tensors with the values of y */
    /* sets r->dx[i] for x[i], then for the variables, from r->dy[k]; r->x are x and the
     * variables, r->y the results; what it leaves alone has no gradient */
    void      (*gradient)(eddy_rule *r);
    void       *context;            /* r->context; to outlive the graph's last gradient */
    eddy_list   variables;          /* trainable variables inside that it has gradients for */
    const char *name;               /* registers the gradient under it; default: made up */
} eddy_custom_gradient_args;

/* A piece of graph with a gradient of its own: out[k] = y[k], and whoever asks
 * for gradients of out[k] gets, with respect to x, what `gradient` builds; the
 * ops between x and y are not asked.  The rule is called when gradients are
 * built, as often as they are; what it builds is differentiated by its own ops.
 *
 *   static void rule(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], Cos(r->x[0])); }
 *   eddy_custom_gradient(EDDY_LIST(y), EDDY_LIST(x), &z, rule);
 *
 * A trainable variable used between x and y that is not named in .variables is
 * an error.  The name stands in a graph file; eddy_register_custom_gradient gives
 * it its rule again after loading.  Returns the graph's status.
 * tf.custom_gradient. */
EDDY_API eddy_status eddy_custom_gradient_with(eddy_custom_gradient_args args);
#define eddy_custom_gradient(...) \
    eddy_custom_gradient_with(EDDY_ARGS(eddy_custom_gradient_args, __VA_ARGS__))

EDDY_API bool eddy_register_custom_gradient(eddy_graph *g, const char *name,
                                            void (*gradient)(eddy_rule *r), void *context);

/* y, built from x, with less memory: out[k] = y[k], but the gradient computes
 * what lies between x and y again, when it is needed, instead of keeping it from
 * the forward pass.  Gradients also reach whatever else is used in between
 * (variables).  Random numbers and variables' values are not drawn or read again.
 * Returns the graph's status.  tf.recompute_grad; Chen et al., "Training deep
 * nets with sublinear memory cost", 2016. */
EDDY_API eddy_status eddy_recompute_grad(eddy_list y, eddy_list x, eddy_tensor *out);

#ifdef __cplusplus
}
#endif
#endif
