/* views.h -- values of an IR that share the memory of others: views.c decides which, and
 * emit.c makes the buffers. */
#ifndef EDDY_SESSION_COMPILE_VIEWS_H
#define EDDY_SESSION_COMPILE_VIEWS_H

#include "session/compile/ir.h"

typedef struct views {
    compile       *c;
    ir_graph      *ir;
    const int32_t *first_update;    /* by variable: a node id; 0: none */
    int32_t       *value_base;      /* by node: the number of its first value */
    int32_t        n_values;
    int32_t       *reads;       /* by value: the last reader of its memory; INT32_MAX: it is kept */
    int32_t       *join;        /* by value: the node inside whose result it is computed; 0: none */
    size_t        *at;              /* ... from which byte on */
    uint8_t       *joined;          /* by node: some of its inputs are computed inside its result */
} views;

/* Computes all members for the IR in v->c; first_update must be set. Afterwards a node whose
 * outputs are views has `parts`, and a node that copies has none. */
bool eddy__find_views(views *v);

/* True if the node reads the memory of input i as a value of the IR: not only its type, and not a
 * variable's storage. */
static inline bool eddy__is_value(const ir_graph *f, const ir_node *n, int i)
{
    const ir_node *from = f->nodes[n->inputs[i].node];
    return from->op != &eddy_op_type_only &&
           (from->variable < 0 || n->inputs[i].output == BEFORE_RUN);
}

static inline int32_t eddy__value_of(const views *v, eddy_tensor t)
{
    return v->value_base[t.node] + t.output;
}

/* The value that t is, under another shape, and that a node computed. */
eddy_tensor eddy__unaliased(const ir_graph *f, eddy_tensor t);

#endif
