/* internal.h -- what the optimizers' own files share; not installed. */
#ifndef EDDY_OPTIM_INTERNAL_H
#define EDDY_OPTIM_INTERNAL_H

#include "graph/internal.h"
#include "optim/optim.h"

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
    void              *state;
    bool               skip_negative; /* of the slices that are being applied */
    eddy_slot         *slots;     /* in the order of their making */
    int32_t           *places;    /* 2 * slots_capacity: where slots are, plus 1, by hash */
    int                n_slots, slots_capacity;      /* the capacity is a power of two */
};

/* The graph of a live optimizer that can be built in, else NULL. */
eddy_graph *eddy_optimizer_ready(const eddy_optimizer *o);

/* "what"[owner]; invalid if there is none.  owner 0 is a shared one. */
eddy_tensor eddy_slot_find(const eddy_optimizer *o, int32_t owner, const char *name);
/* The shared slot `name`; invalid if there is none. */
static inline eddy_tensor eddy_shared_slot(const eddy_optimizer *o, const char *name)
{
    return eddy_slot_find(o, 0, name);
}
/* The slot `name` of `variable`, of its type and shape, made of zeros. */
eddy_tensor eddy_zero_slot(eddy_optimizer *o, eddy_tensor variable, const char *name);

/* A hyper-parameter handed to a constructor: a floating scalar of the graph.
 * One that is missing becomes `fallback`, or an error if that is NaN. */
bool eddy_hyper_settle(eddy_graph *g, const char *what, eddy_tensor *t, double fallback);

bool eddy_is_variable(eddy_tensor t);

#endif
