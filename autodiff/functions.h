/* functions.h -- transformations of functions that build a part of a graph: vmap, value and
 * gradient, and custom gradients. */
#ifndef EDDY_FUNCTIONS_H
#define EDDY_FUNCTIONS_H

#include "autodiff.h"

#include "../graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EDDY_MAX_RESULTS = 64, EDDY_SHARED = -1000 };

/* A function from tensors to tensors: `build` appends nodes to the graph of its arguments,
 * stores its results in y (at most EDDY_MAX_RESULTS) and returns their number. It may be called
 * more than once. A plain struct, copied freely.
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
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_vmap_args));
    eddy_function f;            /* of one example */
    eddy_list     x;            /* arguments for all examples */
    eddy_tensor  *out;          /* one result for each result of f, examples along axis 0 */
    /* x.count axes along which the examples of x[i] lie, or EDDY_SHARED: one
     * argument for all; NULL: axis 0 of every argument */
    const int    *axes;
    const char   *name;         /* scope of the new nodes; default "vmap" */
} eddy_vmap_args;

/* Applies f to every example of a batch: builds f for one example and then again, with the
 * batching rule of each operation. An operation without a rule is looped over, which needs a
 * known number of examples. Arguments need known ranks and equal numbers of examples; where
 * these are unknown, a run checks them. Negative axes count from the end.
 *
 * Random numbers that f draws are drawn for each example; with a seed that is a tensor, examples
 * with the same seed get the same numbers. Numbers drawn before f was built are shared.
 * Gradients and Jacobians inside or of a map draw nothing again. An operation that changes a
 * variable is rejected if it depends on the examples, or waits for one that checks or prints
 * them; otherwise it runs once. The new nodes have the control dependencies of f's nodes
 * (eddy_control_begin); an assertion among these then applies to all examples. A registered or
 * custom gradient is stored under a name of this process, "vmap_gradient_N", that users cannot
 * register; a graph file does not contain it.
 *
 * Returns the number of results, 0 with the error on the graph; if no x has a graph, on the
 * graph of the nodes that f builds. After tf.vectorized_map and jax.vmap. */
EDDY_API int eddy_vmap_with(const eddy_vmap_args *given);
#define eddy_vmap(...) eddy_vmap_with(EDDY_ARGS(eddy_vmap_args, __VA_ARGS__))

/* --------------------------------------------------- gradient functions -- */

typedef struct eddy_function_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_function_args));
    eddy_function    f;
    eddy_list        x;             /* its arguments */
    eddy_tensor     *out;           /* a gradient for each chosen parameter */
    const char      *names;         /* the chosen parameters, "w1, w2"; NULL: see indices */
    eddy_dims        indices;       /* or their positions, at most 8; default: all */
    eddy_list        dy;            /* one weight per result of f; default: ones */
    eddy_tensor     *value;         /* if not NULL, gets f's results (EDDY_MAX_RESULTS) */
    eddy_unconnected unconnected_gradients;
} eddy_function_args;

/* The gradients of f at x with respect to its parameters, all or a selection: out[k] is d(sum of
 * f's results)/d(parameter k). One tensor passed for two parameters counts as two. f is built
 * once. With .value it also returns f's results: value_and_gradients_function. Returns the
 * number of gradients, 0 with the error on the graph; if no x has a graph, on the graph of the
 * nodes that f builds. tfe.gradients_function. */
EDDY_API int eddy_gradients_function_with(const eddy_function_args *given);
#define eddy_gradients_function(...) \
    eddy_gradients_function_with(EDDY_ARGS(eddy_function_args, __VA_ARGS__))

/* The options of eddy_implicit_gradients. */
typedef struct eddy_implicit_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_implicit_args));
    eddy_function f;
    eddy_list     x;                /* may be empty: then `graph` is needed */
    eddy_tensor  *gradients;        /* arrays of `room` entries; a gradient may be invalid */
    eddy_tensor  *variables;
    int           room;             /* at least as many as there are variables */
    eddy_tensor  *value;            /* if not NULL, gets f's results (EDDY_MAX_RESULTS) */
    eddy_list     dy;
    eddy_graph   *graph;
} eddy_implicit_args;

/* The gradients of f at x with respect to every trainable variable that f used, in the order in
 * which the variables were created. f is built once; its value and the gradients share its
 * nodes. Returns the number of variables, 0 with the error on the graph; without .gradients and
 * .variables it only counts them. Errors: insufficient room; "No trainable variables were
 * accessed while the function was being computed."; neither x nor a graph, which is recorded on
 * the graph of the nodes that f builds. tfe.implicit_gradients, and with .value
 * tfe.implicit_value_and_gradients. */
EDDY_API int eddy_implicit_gradients_with(const eddy_implicit_args *given);
#define eddy_implicit_gradients(...) \
    eddy_implicit_gradients_with(EDDY_ARGS(eddy_implicit_args, __VA_ARGS__))

/* ------------------------------------------------------ custom gradients -- */

typedef struct eddy_custom_gradient_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_custom_gradient_args));
    eddy_list   y;                  /* what was built ... */
    eddy_list   x;                  /* ... from these */
    eddy_tensor *out;               /* y.count tensors with the values of y */
    /* sets r->dx[i] for x[i], then for the variables, from r->dy[k]; r->x are x and the
     * variables, r->y the results; an input whose dx is not set has no gradient */
    void      (*gradient)(eddy_rule *r);
    void       *context;            /* r->context; must stay valid while gradients are built */
    eddy_list   variables;          /* trainable variables used between x and y */
    const char *name;               /* name of the gradient; default: generated */
} eddy_custom_gradient_args;

/* A part of a graph with a custom gradient: out[k] = y[k], and the gradients of out[k] with
 * respect to x are those that `gradient` builds; the rules of the operations between x and y are
 * not used. The rule is called each time gradients are built; the nodes that it builds are
 * differentiated by their own operations.
 *
 *   static void rule(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], Cos(r->x[0])); }
 *   eddy_custom_gradient(EDDY_LIST(y), EDDY_LIST(x), &z, rule);
 *
 * A trainable variable used between x and y that is not listed in .variables is an error. A
 * graph file contains the name of the gradient; eddy_register_custom_gradient attaches the rule
 * again after loading. Returns the graph's status. tf.custom_gradient. */
EDDY_API eddy_status eddy_custom_gradient_with(const eddy_custom_gradient_args *given);
#define eddy_custom_gradient(...) \
    eddy_custom_gradient_with(EDDY_ARGS(eddy_custom_gradient_args, __VA_ARGS__))

/* Attaches the rule of a custom gradient by its name; false with the error on the graph. */
EDDY_API bool eddy_register_custom_gradient(eddy_graph *g, const char *name,
                                            void (*gradient)(eddy_rule *r), void *context);

/* Gradient checkpointing: out[k] = y[k], but the gradient recomputes the nodes between x and y
 * when it needs them instead of keeping them from the forward pass, which saves memory.
 * Gradients also reach other tensors used in between (variables). Random numbers are not drawn
 * again, and values of variables are not read again. Returns the graph's status.
 * tf.recompute_grad; Chen et al., "Training deep nets with sublinear memory cost", 2016. */
EDDY_API eddy_status eddy_recompute_grad(eddy_list y, eddy_list x, eddy_tensor *out);

#ifdef __cplusplus
}
#endif
#endif
