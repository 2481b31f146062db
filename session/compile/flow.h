/* flow.h -- the flow: the computation of a plan, as a graph of its own that passes may rewrite.
 *
 * lower.c builds it from the part of the user's graph that a run needs: every type is concrete,
 * feeds and constants are nodes, each read of a variable is resolved, and control edges only
 * define an order. Nodes are numbered from 1; inputs and controls have smaller numbers. The
 * `graph` of a tensor is not used here.
 *
 * A pass visits each node once, in order, after its inputs have been rewritten, and may replace
 * its outputs by other tensors; nodes that are then no longer needed are dropped. passes.c has
 * the list of passes. */
#ifndef EDDY_SESSION_COMPILE_FLOW_H
#define EDDY_SESSION_COMPILE_FLOW_H

#include "session/state/internal.h"

typedef struct flow_node {
    const eddy_op_def *op;
    const void        *attrs;
    const eddy_node   *source;      /* in the user's graph: for names, seeds and messages */
    eddy_tensor       *inputs;
    int32_t           *controls;
    eddy_type         *outputs;
    eddy_array       **values;      /* of constants: one an output; else NULL */
    int32_t            id, n_inputs, n_controls, n_outputs;
    int32_t            readers;     /* inputs and fetches that are its outputs; never too few */
    int32_t            feed;        /* its number; or -1 */
    int32_t            variable;    /* its number, for a variable; or -1 */
    struct eddy_program *program;   /* of a Loop or Case node; else NULL */
    int64_t           *parts;       /* as op->parts says, if the memory can be shared; else NULL */
    bool               alias;       /* output 0 is input 0's elements */
    bool               kept;        /* has a side effect */
    bool               effect;      /* ... or waits for one: what waits for it keeps it */
    bool               must_read;   /* a variable that must have a value when the run begins */
    bool               apart;       /* not to be one loop with what is executed before it */
} flow_node;

/* Of a variable: the value from before the run; its storage, as updates leave it. */
enum { BEFORE_RUN = 0, STORAGE = 1 };

struct eddy_flow {
    compile     *c;
    eddy_arena  *arena;             /* of what is here, less the nodes themselves */
    flow_node  **nodes;             /* [1..size] */
    int32_t      size, capacity;
    eddy_tensor *fetches;           /* of the plan, in order */
    int32_t     *table;             /* of equal nodes: numbers by hash; 0: none */
    int32_t      table_size;        /* a power of two */
    bool         merge;             /* equal nodes are one */
    int32_t      n_steady;          /* the first so many are for what runs need not repeat */
};

/* The node and the type of a tensor; its elements if they are constant, else NULL. */
static inline flow_node *eddy__flow_node(const eddy_flow *f, eddy_tensor t)
{
    return f->nodes[t.node];
}
static inline eddy_type eddy__flow_type(const eddy_flow *f, eddy_tensor t)
{
    const flow_node *n = f->nodes[t.node];
    return n->outputs[n->variable >= 0 ? 0 : t.output];
}
static inline const eddy_array *eddy__flow_value(const eddy_flow *f, eddy_tensor t)
{
    const flow_node *n = f->nodes[t.node];
    return n->values ? n->values[t.output] : NULL;
}
static inline eddy_tensor eddy__flow_tensor(int32_t id, int32_t output)
{
    return (eddy_tensor){ .node = id, .output = output };
}
static inline bool eddy__flow_is(const eddy_flow *f, eddy_tensor t, const eddy_op_def *op)
{
    return f->nodes[t.node]->op == op && !f->nodes[t.node]->values;
}

/* The ops of nodes that no user builds: what is fed, and an input of which only the
 * type matters. */
extern const eddy_op_def eddy_op_fed, eddy_op_type_only;

/* An empty flow of the plan that c makes; NULL if memory is out.  There are two at a
 * time: the one before the last is gone, but for its nodes. */
eddy_flow *eddy__flow_new(compile *c, int32_t capacity);
/* Numbers n, whose inputs are in f, and appends it; or finds its equal, which is then
 * what stands for it.  NULL if memory is out. */
flow_node *eddy__flow_append(eddy_flow *f, flow_node *n);
/* Fills n->parts; the inputs of n are in f.  False if memory is out. */
bool eddy__flow_find_parts(eddy_flow *f, flow_node *n);
/* Whether all outputs are parts of input 0's memory. */
static inline bool eddy__flow_is_view(const flow_node *n)
{
    return n->parts && !(n->op->flags & EDDY_OP_JOINS);
}
/* A constant; takes over the reference to a. */
eddy_tensor eddy__flow_constant(eddy_flow *f, const eddy_node *source, eddy_array *a);
/* The constant scalar v of an element type. */
eddy_tensor eddy__flow_scalar(eddy_flow *f, const eddy_node *source, eddy_dtype d, double v);

/* ------------------------------------------------------------- rewriting -- */

/* Handed to a pass for each node.  `node` has its inputs in `flow`, where new nodes
 * go.  The pass may set y[k], one an output, and return true. */
typedef struct rewrite {
    eddy_flow       *flow;
    const flow_node *node;
    eddy_tensor     *y;
} rewrite;

/* A new node that helps to stand for r->node: output 0, invalid if it cannot be (the
 * op refuses, or memory is out; then leave the node alone).  `attrs` is copied. */
eddy_tensor eddy__rewrite_add(rewrite *r, const eddy_op_def *op, const void *attrs, int n,
                              const eddy_tensor *in);
static inline bool eddy__flow_valid(eddy_tensor t) { return t.node > 0; }
/* The elements of t under another shape of as many. */
eddy_tensor eddy__rewrite_reshaped(rewrite *r, eddy_tensor t, eddy_shape shape);
/* The node that gives t, if it is `op` and nothing else reads it; else NULL. */
const flow_node *eddy__rewrite_sole(const rewrite *r, eddy_tensor t, const eddy_op_def *op);
/* Whether all elements of t are the number v. */
bool eddy__flow_is_filled(const eddy_flow *f, eddy_tensor t, double v);

/* One walk over the plan's flow: unneeded nodes go, equal ones become one if `merge`,
 * and `rule`, if there is one, sees the rest.  The number of nodes that were replaced
 * or dropped is added to *changes. */
bool eddy__flow_sweep(compile *c, bool (*rule)(rewrite *r), bool merge, int *changes);

/* The flow with all its nodes in this order of their numbers, inputs and controls first. */
bool eddy__flow_reorder(compile *c, const int32_t *order);

/* flow_equal.c: whether a and b always give the same values, and the same number for both. */
bool     eddy__flow_is_function(const flow_node *n);
bool     eddy__flow_equal(const flow_node *a, const flow_node *b);
uint32_t eddy__flow_hash(const flow_node *n);

/* Writes the nodes, a line each. */
void eddy__flow_print(const eddy_flow *f, FILE *to);

/* Puts the nodes of c->flow into the order in which they are executed. */
bool eddy__arrange(compile *c);
/* Makes cheap values again where a later loop reads them; the number of values that then
 * need no memory is added to *changes. */
bool eddy__recompute(compile *c, int *changes);

/* An attribute of a node by its name; NULL if the op has none. */
const void *eddy__flow_attr(const flow_node *n, const char *name);

#endif
