/* optim.h -- optimizers: gradients of a loss applied to variables, as graph nodes. After
 * TensorFlow 1's tf.train.Optimizer. */
#ifndef EDDY_OPTIM_H
#define EDDY_OPTIM_H

#include "../graph/graph.h"
#include "../autodiff/autodiff.h"
#include "../autodiff/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An optimizer. It belongs to the graph on which it was created, and is freed with it. */
typedef struct eddy_optimizer eddy_optimizer;

/* Gating: gradients become usable immediately; when all gradients of an operation are computed;
 * or when all gradients are. Values never differ: a session computes all gradients from the
 * values of the variables before the step. */
typedef enum eddy_gate {
    EDDY_GATE_DEFAULT = 0,      /* GATE_OP */
    EDDY_GATE_NONE,
    EDDY_GATE_OP,
    EDDY_GATE_GRAPH
} eddy_gate;

/* A gradient with its variable; the gradient may be missing (invalid). */
typedef struct eddy_gradient_pair {
    eddy_tensor gradient;
    eddy_tensor variable;
} eddy_gradient_pair;

typedef struct eddy_compute_gradients_args {
    size_t              size_ EDDY_DEFAULT(sizeof(eddy_compute_gradients_args));
    eddy_optimizer     *optimizer;
    eddy_tensor         loss;               /* floating; summed if it is not a scalar */
    eddy_gradient_pair *out;                /* room for max_out pairs */
    int                 max_out;
    eddy_list           var_list;           /* default: the trainable variables */
    eddy_gate           gate_gradients;
    eddy_aggregation    aggregation_method;
    bool                colocate_gradients_with_ops;
    eddy_tensor         grad_loss;          /* of the loss's shape; default ones */
    eddy_function       loss_function;      /* in place of loss; see below */
} eddy_compute_gradients_args;

/* Computes one pair per variable, in order; returns their number (0 with an error on the graph;
 * more than max_out pairs are also an error).
 *
 * A loss_function is called once, without arguments, under a tape: it builds the loss in the
 * optimizer's graph (its context provides the graph) and returns it as its one result. By
 * default, var_list is then the trainable variables that it used, in the order of their
 * creation, possibly none; gates, aggregation and colocation are ignored.
 *
 *   static int loss(eddy_list none, eddy_tensor *y, void *model) { ...; return 1; }
 *   eddy_minimize(o, .loss_function = { .build = loss, .context = &model });
 *
 * Errors: a loss, a grad_loss, or a variable with a gradient whose type is not floating
 * (EDDY_BAD_DTYPE); "No variables to optimize.", an unknown gate, tensors of another graph
 * (EDDY_INVALID_ARGUMENT). tf.train.Optimizer.compute_gradients. */
EDDY_API int eddy_compute_gradients_with(const eddy_compute_gradients_args *given);
#define eddy_compute_gradients(...) \
    eddy_compute_gradients_with(EDDY_ARGS(eddy_compute_gradients_args, __VA_ARGS__))

typedef struct eddy_apply_gradients_args {
    size_t                    size_ EDDY_DEFAULT(sizeof(eddy_apply_gradients_args));
    eddy_optimizer           *optimizer;
    const eddy_gradient_pair *pairs;
    int                       count;
    eddy_tensor               global_step;  /* variable that is incremented after all updates */
    const char               *name;         /* default: the optimizer's */
} eddy_apply_gradients_args;

/* Builds the training operation, which updates the variables; pairs without a gradient are
 * skipped, and their variables get no slots. It is added to the collection EDDY_TRAIN_OP.
 *
 * Slots are created here, so call eddy_initializer afterwards. A variable that is listed twice
 * is updated twice, the second update starting from the result of the first. Runs that update
 * variables exclude each other, so TensorFlow's use_locking is not needed. If a variable has a
 * constraint (eddy_variable), its new value is the constraint applied to the update. For
 * IndexedSlices (the gradient of eddy_gather) duplicate indices are summed first, and their
 * dense shape is ignored.
 *
 * Errors: "No variables provided.", "No gradients provided for any variable", a global_step that
 * is not a variable, slices for a variable with a constraint (EDDY_INVALID_ARGUMENT); incompatible
 * types and shapes; a tensor that is not a variable (EDDY_UNIMPLEMENTED); in a run,
 * EDDY_OUT_OF_RANGE for an index outside the variable. tf.train.Optimizer.apply_gradients. */
EDDY_API eddy_tensor eddy_apply_gradients_with(const eddy_apply_gradients_args *given);
#define eddy_apply_gradients(...) \
    eddy_apply_gradients_with(EDDY_ARGS(eddy_apply_gradients_args, __VA_ARGS__))

/* The updates of EDDY_UPDATE_OPS whose names start with `scope` (all if NULL), such as those of moving
 * averages, as steps of `o`, in place of eddy_update_ops: what an update subtracts is the gradient of
 * its variable. Gradient descent with a rate of 1 does what the updates do, and wrappers around it
 * average them over ranks (eddy_distributed) or over runs (eddy_accumulate_gradients):
 *
 *   eddy_optimizer *o = eddy_distributed(eddy_gradient_descent(g, eddy_scalar(g, 1)), c);
 *   eddy_tensor updates = eddy_apply_update_ops(o, NULL);
 *
 * Without such updates, the result is that of eddy_update_ops. Control inputs of an update are left out.
 * Errors: those of eddy_apply_gradients; EDDY_INVALID_ARGUMENT for an update other than AssignSub. */
EDDY_API eddy_tensor eddy_apply_update_ops(eddy_optimizer *o, const char *scope);

typedef struct eddy_minimize_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_minimize_args));
    eddy_optimizer  *optimizer;
    eddy_tensor      loss;
    eddy_tensor      global_step;
    eddy_list        var_list;
    eddy_gate        gate_gradients;
    eddy_aggregation aggregation_method;
    bool             colocate_gradients_with_ops;
    eddy_tensor      grad_loss;
    const char      *name;
    eddy_function    loss_function;
} eddy_minimize_args;

/* compute_gradients, then apply_gradients.  Error: "No gradients provided for any
 * variable, check your graph ...".  tf.train.Optimizer.minimize. */
EDDY_API eddy_tensor eddy_minimize_with(const eddy_minimize_args *given);
#define eddy_minimize(...) eddy_minimize_with(EDDY_ARGS(eddy_minimize_args, __VA_ARGS__))

/* The slot variable `name` ("m") that an optimizer keeps for `variable`; invalid if there is
 * none. */
EDDY_API eddy_tensor eddy_get_slot(const eddy_optimizer *o, eddy_tensor variable, const char *name);
/* All slots and other variables of the optimizer and of those that it wraps, sorted by name:
 * copies up to max of them to out, returns their total number. */
EDDY_API int         eddy_optimizer_variables(const eddy_optimizer *o, eddy_tensor *out, int max);
/* The names of the slots, sorted, without duplicates: copies up to max of them to out, which are
 * valid as long as the graph; returns their total number. */
EDDY_API int         eddy_get_slot_names(const eddy_optimizer *o, const char **out, int max);
/* An operation that resets all of eddy_optimizer_variables to their initial values: the
 * optimizer forgets its steps, and the variables that it updates are unchanged. Slots that are
 * initialized to their variable become a copy of its current value. Build it after
 * eddy_apply_gradients. Errors: EDDY_INVALID_ARGUMENT if there are no such variables yet.
 * TensorFlow: tf.variables_initializer(optimizer.variables()). */
EDDY_API eddy_tensor eddy_optimizer_reset(eddy_optimizer *o);

/* The global step, a counter of training steps: int64, initially 0, not trainable, in the
 * collection EDDY_GLOBAL_STEP. */
EDDY_API eddy_tensor eddy_create_global_step(eddy_graph *g);
EDDY_API eddy_tensor eddy_get_global_step(eddy_graph *g);            /* invalid if there is none */
EDDY_API eddy_tensor eddy_get_or_create_global_step(eddy_graph *g);

/* ---------------------------------------- user-defined optimizers ------ */

enum { EDDY_STEP_SLOTS = 7 };

/* An optimizer is this table of functions; the built-in ones are defined in the same manner.
 * `state` is the optimizer's own struct (eddy_optimizer_state). All functions are called inside
 * the scope of the apply operation.
 *
 * An elementwise optimizer needs only `step` and `slots`:
 *
 *   static void sum_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
 *   {
 *       const eddy_tensor *lr = eddy_optimizer_state(o);
 *       x[1] = Add(x[1], g);
 *       x[0] = Sub(x[0], Mul(eddy_hyper(*lr, g), x[1]));
 *   }
 *   static const eddy_optimizer_def sum = { .name = "Sum", .state_size = sizeof(eddy_tensor),
 *                                           .step = sum_step, .slots = { "sum" } }; */
typedef struct eddy_optimizer_def {
    const char *name;                /* default name, "Adam" */
    size_t      state_size;
    /* Creates the slots of a variable (eddy_make_slot); optional. */
    void        (*create_slots)(eddy_optimizer *o, eddy_tensor variable);
    /* Builds the scalars of a step, once per call of apply_gradients; optional. */
    void        (*prepare)(eddy_optimizer *o);
    /* Returns the operation that updates `variable` with the dense gradient g. */
    eddy_tensor (*apply_dense)(eddy_optimizer *o, eddy_tensor g, eddy_tensor variable);
    /* ... with the rows `values` at `indices`; duplicates are already summed, and negative indices,
     * which mark removed duplicates or padding, must be skipped. NULL: the gradient is converted to
     * a dense one. */
    eddy_tensor (*apply_sparse)(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                 eddy_tensor variable);
    /* After all updates: returns the operation of the whole step; optional. */
    eddy_tensor (*finish)(eddy_optimizer *o, eddy_list updates);
    bool        sums_duplicates;     /* apply_sparse sums repeated indices itself */
    bool        takes_complex;       /* the step is linear in g: variables may be complex */
    /* Replaces apply_dense, apply_sparse and create_slots. x[0] is the variable and x[k] its
     * slot slots[k - 1], or the rows of them that a sparse gradient contains; the step replaces
     * each x[k] by its new value, computed elementwise. An unchanged x[k] is not written. Slots
     * that create_slots does not create start as zeros. */
    void        (*step)(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x);
    const char *slots[EDDY_STEP_SLOTS + 1];
    /* Receives the gradients of all pairs after `prepare`, before the first update, and may
     * replace them; IndexedSlices may become dense. Optional. */
    void        (*transform)(eddy_optimizer *o, eddy_gradient_pair *pairs, int count);
} eddy_optimizer_def;

/* A new optimizer on g, which the graph owns; `name` NULL is the default, "" an error. `state`
 * is copied. */
EDDY_API eddy_optimizer *eddy_optimizer_new(eddy_graph *g, const eddy_optimizer_def *def,
                                            const void *state, const char *name);
EDDY_API void           *eddy_optimizer_state(eddy_optimizer *o);
EDDY_API eddy_graph     *eddy_optimizer_graph(const eddy_optimizer *o);
EDDY_API const char     *eddy_optimizer_name(const eddy_optimizer *o);
/* The slot `name` of `variable`, created at the first request with this initial value; not
 * trainable, named "<variable>/<optimizer>". */
EDDY_API eddy_tensor     eddy_make_slot(eddy_optimizer *o, eddy_tensor variable,
                                        const char *name, eddy_tensor initial_value);
/* A variable of the optimizer that belongs to no single variable ("beta1_power"). */
EDDY_API eddy_tensor     eddy_make_shared_slot(eddy_optimizer *o, const char *name,
                                               eddy_tensor initial_value);
/* Casts the scalar t to v's dtype. */
EDDY_API eddy_tensor     eddy_hyper(eddy_tensor t, eddy_tensor v);

#ifdef __cplusplus
}
#endif

#endif
