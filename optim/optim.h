/* optim.h -- optimizers: gradients of a loss applied to variables, as graph
 * nodes.  After TensorFlow 1's tf.train.Optimizer. */
#ifndef EDDY_OPTIM_H
#define EDDY_OPTIM_H

#include "../graph/graph.h"
#include "../autodiff/autodiff.h"
#include "../autodiff/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to the graph that it was made on, and is freed with it. */
typedef struct eddy_optimizer eddy_optimizer;

/* When gradients become usable: at once; when all of an op's are there; when
 * all are there.  Values never differ: a session computes all gradients from
 * the variables of before the step. */
typedef enum eddy_gate {
    EDDY_GATE_DEFAULT = 0,      /* GATE_OP */
    EDDY_GATE_NONE,
    EDDY_GATE_OP,
    EDDY_GATE_GRAPH
} eddy_gate;

/* A gradient with its variable; the gradient may be none (invalid). */
typedef struct eddy_gradient_pair {
    eddy_tensor gradient;
    eddy_tensor variable;
} eddy_gradient_pair;

typedef struct eddy_compute_gradients_args {
    char                unused_;
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

/* One pair a variable, in order; returns how many (0 with an error on the
 * graph; also an error if there are more than max_out).
 *
 * A loss_function is called once, without arguments, under a tape: it builds the loss in
 * the optimizer's graph (its context says where) and returns it as its one result.
 * var_list is then by default the trainable variables that it used, in the order of
 * their making, which may be none; gates, aggregation and colocation have no say.
 *
 *   static int loss(eddy_list none, eddy_tensor *y, void *model) { ...; return 1; }
 *   eddy_minimize(o, .loss_function = { .build = loss, .context = &model });
 *
 * Errors: a loss, a grad_loss, or a variable with a gradient whose type is not floating
 * (BAD_DTYPE); "No variables to optimize.", an unknown gate, tensors of another graph
 * (INVALID_ARGUMENT).  tf.train.Optimizer.compute_gradients. */
EDDY_API int eddy_compute_gradients_with(eddy_compute_gradients_args args);
#define eddy_compute_gradients(...) \
    eddy_compute_gradients_with(EDDY_ARGS(eddy_compute_gradients_args, __VA_ARGS__))

typedef struct eddy_apply_gradients_args {
    char                      unused_;
    eddy_optimizer           *optimizer;
    const eddy_gradient_pair *pairs;
    int                       count;
    eddy_tensor               global_step;  /* variable that is incremented after all updates */
    const char               *name;         /* default: the optimizer's */
} eddy_apply_gradients_args;

/* The operation that updates the variables; pairs without gradient are passed
 * over, and their variables get no slots.  It joins the collection EDDY_TRAIN_OP.
 *
 * Slots are made here, so eddy_initializer comes after.  A variable that is
 * listed twice is updated twice, the second time from what the first has left.  Runs that
 * update exclude each other: there is nothing for TensorFlow's use_locking to do.  Where a variable has a constraint
 * (eddy_variable), it gets what that makes of its new value.  Of slices (the gradient
 * of eddy_gather) equal indices are added up first, and their dense shape has no say.
 *
 * Errors: "No variables provided.", "No gradients provided for any variable", a
 * global_step that is no variable, slices for a variable with a constraint
 * (INVALID_ARGUMENT); types and shapes that do not fit; a tensor that is not a variable
 * (UNIMPLEMENTED); in a run, OUT_OF_RANGE for an index outside the variable.
 * tf.train.Optimizer.apply_gradients. */
EDDY_API eddy_tensor eddy_apply_gradients_with(eddy_apply_gradients_args args);
#define eddy_apply_gradients(...) \
    eddy_apply_gradients_with(EDDY_ARGS(eddy_apply_gradients_args, __VA_ARGS__))

typedef struct eddy_minimize_args {
    char             unused_;
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
EDDY_API eddy_tensor eddy_minimize_with(eddy_minimize_args args);
#define eddy_minimize(...) eddy_minimize_with(EDDY_ARGS(eddy_minimize_args, __VA_ARGS__))

/* The variable that an optimizer keeps for `variable` under `name` ("m");
 * invalid if there is none. */
EDDY_API eddy_tensor eddy_get_slot(const eddy_optimizer *o, eddy_tensor variable, const char *name);
/* All slots and other variables of the optimizer, sorted by name: copies up to
 * max of them to out, returns how many there are. */
EDDY_API int         eddy_optimizer_variables(const eddy_optimizer *o, eddy_tensor *out, int max);
/* The names of the slots of variables, sorted, each once: up to max of them to out, which
 * live as long as the graph; returns how many there are. */
EDDY_API int         eddy_get_slot_names(const eddy_optimizer *o, const char **out, int max);

/* The step counter: int64, zero, not trainable, in EDDY_GLOBAL_STEP. */
EDDY_API eddy_tensor eddy_create_global_step(eddy_graph *g);
EDDY_API eddy_tensor eddy_get_global_step(eddy_graph *g);            /* invalid if there is none */
EDDY_API eddy_tensor eddy_get_or_create_global_step(eddy_graph *g);

/* ------------------------------------------------------ one's own ------ */

enum { EDDY_STEP_SLOTS = 7 };

/* An optimizer is this table of functions; the built-in ones are made the same
 * way.  `state` is the optimizer's own struct (eddy_optimizer_state).  All are
 * called inside the scope of the apply op.
 *
 * One that treats each element of a variable by itself needs only `step` and `slots`:
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
    /* Makes the scalars of a step, once a call of apply_gradients; optional. */
    void        (*prepare)(eddy_optimizer *o);
    /* The operation that updates `variable` by the dense gradient g. */
    eddy_tensor (*apply_dense)(eddy_optimizer *o, eddy_tensor g, eddy_tensor variable);
    /* ... by the rows `values` at `indices`; duplicates are already summed, and
     * negative indices, which stand for those or for padding, are to be passed over.
     * NULL: the gradient is made dense. */
    eddy_tensor (*apply_sparse)(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                 eddy_tensor variable);
    /* After all updates: returns the operation of the whole step; optional. */
    eddy_tensor (*finish)(eddy_optimizer *o, eddy_list updates);
    bool        sums_duplicates;     /* apply_sparse copes with repeated indices itself */
    bool        takes_complex;       /* the step is linear in g, so that variables may be complex */
    /* In place of apply_dense, apply_sparse and create_slots.  x[0] is the variable and x[k] its
     * slot slots[k - 1], or the rows of them that a sparse gradient names; the step puts what
     * they become there, each element from those in its place.  What it leaves alone is not
     * written.  Slots that create_slots does not make begin as zeros. */
    void        (*step)(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x);
    const char *slots[EDDY_STEP_SLOTS + 1];
} eddy_optimizer_def;

/* A new optimizer on g; `name` NULL is the default, "" an error.  `state` is copied. */
EDDY_API eddy_optimizer *eddy_optimizer_new(eddy_graph *g, const eddy_optimizer_def *def,
                                            const void *state, const char *name);
EDDY_API void           *eddy_optimizer_state(eddy_optimizer *o);
EDDY_API eddy_graph     *eddy_optimizer_graph(const eddy_optimizer *o);
EDDY_API const char     *eddy_optimizer_name(const eddy_optimizer *o);
/* The slot `name` of `variable`, made on first demand with this initial value;
 * not trainable, named "<variable>/<optimizer>". */
EDDY_API eddy_tensor     eddy_make_slot(eddy_optimizer *o, eddy_tensor variable,
                                        const char *name, eddy_tensor initial_value);
/* A variable of the optimizer that belongs to no single variable ("beta1_power"). */
EDDY_API eddy_tensor     eddy_make_shared_slot(eddy_optimizer *o, const char *name,
                                               eddy_tensor initial_value);
/* t as a scalar of v's dtype. */
EDDY_API eddy_tensor     eddy_hyper(eddy_tensor t, eddy_tensor v);

#ifdef __cplusplus
}
#endif

#include "classic.h"
#include "modern.h"
#include "schedules.h"
#include "averages.h"
#include "wrappers.h"
#include "lbfgs.h"

#endif
