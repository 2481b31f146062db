/* optim.h -- optimizers: gradients of a loss applied to variables, as graph
 * nodes.  After TensorFlow 1's tf.train.Optimizer. */
#ifndef EDDY_OPTIM_H
#define EDDY_OPTIM_H

#include "../graph/graph.h"
#include "../autodiff/autodiff.h"

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
} eddy_compute_gradients_args;

/* One pair a variable, in order; returns how many (0 with an error on the
 * graph; also an error if there are more than max_out). */
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
 * over.  It joins the collection EDDY_TRAIN_OP. */
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
} eddy_minimize_args;

/* compute_gradients, then apply_gradients. */
EDDY_API eddy_tensor eddy_minimize_with(eddy_minimize_args args);
#define eddy_minimize(...) eddy_minimize_with(EDDY_ARGS(eddy_minimize_args, __VA_ARGS__))

/* The variable that an optimizer keeps for `variable` under `name` ("m");
 * invalid if there is none. */
EDDY_API eddy_tensor eddy_get_slot(const eddy_optimizer *o, eddy_tensor variable, const char *name);
/* All slots and other variables of the optimizer, sorted by name: copies up to
 * max of them to out, returns how many there are. */
EDDY_API int         eddy_optimizer_variables(const eddy_optimizer *o, eddy_tensor *out, int max);

/* The step counter: int64, zero, not trainable, in EDDY_GLOBAL_STEP. */
EDDY_API eddy_tensor eddy_create_global_step(eddy_graph *g);
EDDY_API eddy_tensor eddy_get_global_step(eddy_graph *g);            /* invalid if there is none */
EDDY_API eddy_tensor eddy_get_or_create_global_step(eddy_graph *g);

/* ------------------------------------------------------ one's own ------ */

/* An optimizer is this table of functions; the built-in ones are made the same
 * way.  `state` is the optimizer's own struct (eddy_optimizer_state).  All are
 * called inside the scope of the apply op. */
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
