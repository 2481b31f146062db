/* internal.h -- declarations shared by the optimizers' own files; not installed. */
#ifndef EDDY_OPTIM_INTERNAL_H
#define EDDY_OPTIM_INTERNAL_H

#include "graph/internal.h"
#include "optim/optim.h"
#include "optim/variable_parts.h"

typedef struct eddy_slot {
    int32_t     owner;            /* node of its variable; 0: shared by all */
    const char *name;             /* "m" */
    eddy_tensor variable;
} eddy_slot;

struct eddy_optimizer {
    eddy_allocator     allocator;
    eddy_graph        *graph;
    eddy_optimizer_def def;
    const char        *name;      /* in the graph's arena */
    void              *state;         /* begins with the addresses of the optimizers inside */
    int                n_inside;      /* number of these */
    bool               combines;      /* its step uses the gradients of several variables at once */
    bool               takes_parts;   /* ... and these may be parts, if it has sum_parts */
    eddy_sum_parts     sum_parts;     /* NULL: variables must be whole */
    bool               skip_negative; /* of the slices that are being applied */
    bool               constrains;    /* the step being built applies the constraint itself */
    eddy_tensor        variable;      /* that `step` is updating */
    eddy_tensor        loss_scale;    /* of one that scales the loss, a scalar; else node 0 */
    bool               takes_scaled;  /* the program scales the loss (eddy_scale_loss), ... */
    bool               takes_unscaled;   /* ... unless gradients were computed for it: these are not */
    eddy_slot         *slots;     /* in order of creation */
    int32_t           *places;    /* 2 * slots_capacity: where slots are, plus 1, by hash */
    int                n_slots, slots_capacity;      /* the capacity is a power of two */
};

/* The graph of a live optimizer that can be built in, else NULL. */
eddy_graph *eddy__optimizer_ready(const eddy_optimizer *o);

/* The slot "what" of `owner`; invalid if there is none. owner 0: a shared slot. */
eddy_tensor eddy__slot_find(const eddy_optimizer *o, int32_t owner, const char *name);
/* The shared slot `name`; invalid if there is none. */
static inline eddy_tensor eddy__shared_slot(const eddy_optimizer *o, const char *name)
{
    return eddy__slot_find(o, 0, name);
}
/* The slot `name` of `variable`, of its type and shape, each element `value`, as a variable
 * "<variable>/<called>"; `called` is the optimizer's name if it is NULL. */
eddy_tensor eddy__filled_slot(eddy_optimizer *o, eddy_tensor variable, const char *name,
                              double value, const char *called);
eddy_tensor eddy__zero_slot(eddy_optimizer *o, eddy_tensor variable, const char *name);

/* The functions create_slots, apply_dense and apply_sparse of an optimizer with a `step`. */
void        eddy__step_slots(eddy_optimizer *o, eddy_tensor variable);
eddy_tensor eddy__step_all(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor variable);
eddy_tensor eddy__step_rows(eddy_optimizer *o, eddy_tensor rows, eddy_tensor indices,
                            eddy_tensor variable);

/* The optimizer o, or one inside it, whose step combines variables; NULL if none says so. */
const eddy_optimizer *eddy__combining(const eddy_optimizer *o);

/* Variables of which this process has a part (variable_parts.c). */
bool        eddy__is_part(eddy_tensor variable);
eddy_shape  eddy__whole_shape(eddy_tensor variable);
/* Whether the variable is whole; else the error is on the graph. */
bool        eddy__requires_whole(const eddy_optimizer *o, eddy_tensor variable);
/* Whether the optimizer, and those inside it, can update all of these; else likewise. */
bool        eddy__parts_fit(const eddy_optimizer *o, const eddy_gradient_pair *pairs, int count);
/* Replaces x[i], a scalar of a part of variables[i], by the sum over all parts, with one exchange. */
void        eddy__sum_parts(const eddy_optimizer *o, int n, const eddy_tensor *variables, eddy_tensor *x);
/* The sum of the squares of x, which is v or its gradient, and two norms of such tensors. */
eddy_tensor eddy__sum_squares(const eddy_optimizer *o, eddy_tensor v, eddy_tensor x);
void        eddy__two_norms(const eddy_optimizer *o, eddy_tensor v, eddy_tensor x[2]);

/* A gradient of partly unknown shape with the variable's, or the run fails. */
eddy_tensor eddy__shaped(eddy_tensor gradient, eddy_tensor variable);

/* The result of the variable's constraint for the new value, or the value itself. */
eddy_tensor eddy__constrained(eddy_tensor value, eddy_tensor variable);

/* A hyper-parameter given to a constructor: a floating scalar of the graph.
 * One that is missing becomes `fallback`, or an error if that is NaN. */
bool eddy__hyper_settle(eddy_graph *g, const char *what, eddy_tensor *t, double fallback);
/* t, which must be above 0: an error now if it is constant, else in a run.  For `prepare`. */
eddy_tensor eddy__hyper_positive(const char *what, eddy_tensor t);

/* Whether an option that is a number is above 0, or not below; else the error is on g. */
bool eddy__setting_is_positive(eddy_graph *g, const char *what, double x);
bool eddy__setting_is_not_negative(eddy_graph *g, const char *what, double x);

/* Computes the pairs according to the arguments of compute_gradients, and the loss, in memory
 * allocated by the graph's allocator. False with the error on the graph; release them in either
 * case. */
typedef struct eddy_pairs {
    eddy_gradient_pair *at;
    int                 count;
    eddy_tensor         loss;
} eddy_pairs;
bool eddy__pairs_compute(eddy_graph *g, const eddy_compute_gradients_args *a, eddy_pairs *out);
void eddy__pairs_release(eddy_graph *g, eddy_pairs *p);

/* How the optimizer, or one inside it, scales this loss: the gradients are those of the loss times
 * `factor`, over `divisor`. A loss that contains the scale is not multiplied again. Without a scale
 * both have no node. */
typedef struct eddy_scaling {
    eddy_tensor factor, divisor;
} eddy_scaling;
eddy_scaling eddy__scaling_of(eddy_optimizer *o, eddy_tensor loss);
/* The weight of the loss, of which the factor is a part; `weight` may have no node. */
eddy_tensor eddy__scaled_weight(const eddy_scaling *s, eddy_tensor loss, eddy_tensor weight);
/* The gradient over the divisor; it may be IndexedSlices, or have no node. */
eddy_tensor eddy__unscaled(const eddy_scaling *s, eddy_tensor gradient);

/* x moved toward 0 by `by`, and not beyond: sign(x) max(|x| - by, 0). */
eddy_tensor eddy__shrink(eddy_tensor x, eddy_tensor by);

bool eddy__is_variable(eddy_tensor t);

#endif
