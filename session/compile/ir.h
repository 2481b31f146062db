/* ir.h -- the IR: the computation of a plan, as a graph of its own that passes may rewrite.
 *
 * lower.c builds it from the part of the user's graph that a run needs: every type is concrete,
 * feeds and constants are nodes, each read of a variable is resolved, and control edges only
 * define an order. Nodes are numbered from 1; inputs and controls have smaller numbers. The
 * `graph` of a tensor is not used here.
 *
 * A pass visits each node once, in order, after its inputs have been rewritten, and may replace
 * its outputs by other tensors; nodes that are then no longer needed are dropped. passes.c has
 * the list of passes. */
#ifndef EDDY_SESSION_COMPILE_IR_H
#define EDDY_SESSION_COMPILE_IR_H

#include "session/state/internal.h"

typedef struct ir_node {
    const eddy_op_def *op;
    const void        *attrs;
    const eddy_node   *source;      /* in the user's graph: for names, seeds and messages */
    eddy_tensor       *inputs;
    int32_t           *controls;
    eddy_type         *outputs;
    eddy_array       **values;      /* of a constant: the value of each output; else NULL */
    int32_t            id, n_inputs, n_controls, n_outputs;
    int32_t            readers;     /* inputs and fetches that are its outputs; never too few */
    int32_t            feed;        /* its number; or -1 */
    int32_t            variable;    /* its number, for a variable; or -1 */
    struct eddy_program *program;   /* of a Loop or Case node; else NULL */
    int64_t           *parts;   /* the result of op->parts if the memory can be shared; else NULL */
    bool               alias;       /* output 0 is input 0's elements */
    bool               kept;        /* has a side effect */
    bool               effect;  /* it, or a node for which it waits, has a side effect */
    bool               must_read;   /* a variable that must have a value when the run begins */
    bool               starts_loop;  /* must not be fused with nodes that are executed before it */
    bool               has_log, has_less_one;   /* a node is its logarithm, or this less 1 */
    bool               corrected;   /* other nodes make up for its rounding (corrected_rounding.c) */
} ir_node;

/* Outputs of a variable's node: the value from before the run, and the storage with updates. */
enum { BEFORE_RUN = 0, STORAGE = 1 };

struct ir_graph {
    compile     *c;
    eddy_arena  *arena;             /* owns the arrays below; the nodes are in c->scratch */
    ir_node    **nodes;             /* [1..size] */
    int32_t      size, capacity;
    eddy_tensor *fetches;           /* the plan's fetches, in order */
    struct ir_entry *table;         /* hash table of nodes, for finding equal ones */
    int32_t      table_size;        /* a power of two */
    int32_t      entered, entries;  /* the nodes up to this one are in the table; with a search */
    bool         distinct;          /* nodes appended without a search equal none with one */
    bool         merge;             /* equal nodes are one */
    bool         merged;            /* ... all of them */
    bool         settled;           /* the last walk at most dropped nodes, so that repeating it
                                     * would change nothing */
    bool         has_roots;         /* some node is a Sqrt or Rsqrt; there is no normalization without */
    bool         has_corrections;   /* some node has a logarithm and is read less 1 */
    int32_t      n_invariant;       /* the number of leading nodes that need not run every time */
};

/* Bytes of a value of this type, also where addresses have 32 bits and it is too large. */
static inline uint64_t eddy__type_bytes(eddy_type t)
{
    return (uint64_t)eddy_shape_count(t.shape) * eddy_dtype_size(t.dtype);
}

/* The node and the type of a tensor, and its elements if it is constant, else NULL. */
static inline ir_node *eddy__ir_node(const ir_graph *f, eddy_tensor t)
{
    return f->nodes[t.node];
}
static inline eddy_type *eddy__ir_type_at(const ir_graph *f, eddy_tensor t)
{
    const ir_node *n = f->nodes[t.node];
    return &n->outputs[n->variable >= 0 ? 0 : t.output];
}
static inline eddy_type eddy__ir_type(const ir_graph *f, eddy_tensor t)
{
    return *eddy__ir_type_at(f, t);
}
static inline const eddy_array *eddy__ir_value(const ir_graph *f, eddy_tensor t)
{
    const ir_node *n = f->nodes[t.node];
    return n->values ? n->values[t.output] : NULL;
}
static inline eddy_tensor eddy__ir_tensor(int32_t id, int32_t output)
{
    return (eddy_tensor){ .node = id, .output = output };
}

/* The operations of nodes that only the compiler creates: a feed, and an input of which only
 * the type matters. */
extern const eddy_op_def eddy_op_fed, eddy_op_type_only;

/* A new, empty IR for the plan of c; NULL if out of memory. Two exist at a time: the memory
 * of the arrays of the IR before the previous one is reused; its nodes remain. */
ir_graph *eddy__ir_new(compile *c, int32_t capacity);
/* Appends n, whose inputs are in f, and numbers it; or returns an equal node, which the caller
 * uses instead. NULL if out of memory. */
ir_node *eddy__ir_append(ir_graph *f, ir_node *n);
/* Sets n->parts; the inputs of n are in f. False if out of memory. */
bool eddy__ir_find_parts(ir_graph *f, ir_node *n);
/* True if all outputs are parts of the memory of input 0. */
static inline bool eddy__ir_is_view(const ir_node *n)
{
    return n->parts && !(n->op->flags & EDDY_OP_JOINS);
}
/* Marks nodes whose rounding error n, which has been appended, makes up for. */
void eddy__find_corrected(ir_graph *f, ir_node *n);
/* A constant; takes over the reference to a. */
eddy_tensor eddy__ir_constant(ir_graph *f, const eddy_node *source, eddy_array *a);
/* The constant scalar v of an element type. */
eddy_tensor eddy__ir_scalar(ir_graph *f, const eddy_node *source, eddy_dtype d, double v);

/* ------------------------------------------------------------- rewriting -- */

/* Passed to a pass for each node. The inputs of `node` are in `ir`, to which the pass appends
 * new nodes. The pass may set y[k] for each output and return true. */
typedef struct rewrite {
    ir_graph      *ir;
    const ir_node *node;
    eddy_tensor   *y;
} rewrite;

/* Appends a node that helps to replace r->node. Returns its output 0, or an invalid tensor if
 * the operation refuses its inputs or memory is out; then the pass leaves r->node unchanged.
 * `attrs` is copied. */
eddy_tensor eddy__rewrite_add(rewrite *r, const eddy_op_def *op, const void *attrs, int n,
                              const eddy_tensor *in);
static inline bool eddy__ir_valid(eddy_tensor t) { return t.node > 0; }
/* The elements of t with another shape of the same size. */
eddy_tensor eddy__rewrite_reshaped(rewrite *r, eddy_tensor t, eddy_shape shape);
/* The node that computes t, if its op is `op` and it has no other reader; else NULL. */
const ir_node *eddy__rewrite_sole(const rewrite *r, eddy_tensor t, const eddy_op_def *op);
/* True if all elements of t equal v. */
bool eddy__ir_is_filled(const ir_graph *f, eddy_tensor t, double v);

/* Walks once over the plan's IR: drops unneeded nodes, merges equal nodes if `merge`, and calls
 * `rule`, if not NULL, for the others. Adds the number of replaced and dropped nodes to
 * *changes. */
bool eddy__ir_transform(compile *c, bool (*rule)(rewrite *r), bool merge, int *changes);

/* The IR with all its nodes in this order of their numbers, inputs and controls first. */
bool eddy__ir_reorder(compile *c, const int32_t *order);

/* From node_equality.c. pure: the value depends only on inputs, attributes and control inputs.
 * equal: a and b always have the same values; equal nodes have the same hash. */
bool     eddy__ir_is_pure(const ir_node *n);
bool     eddy__ir_equal(const ir_node *a, const ir_node *b);
uint32_t eddy__ir_hash(const ir_node *n);

/* Writes the nodes, a line each. */
void eddy__ir_print(const ir_graph *f, FILE *to);

/* Calls `edge` for nodes of a body of which `from` should run before `id`, which then can overwrite
 * what both read. Together with inputs and controls, the edges have no cycle. False if out of
 * memory or if `edge` fails. */
bool eddy__readers_first(compile *c, void *to, bool (*edge)(void *to, int32_t from, int32_t id));
/* Sorts the nodes of c->ir into execution order. */
bool eddy__schedule_nodes(compile *c);
/* Recomputes cheap values where a later loop reads them. Adds the number of values that then
 * need no memory to *changes. */
bool eddy__recompute(compile *c, int *changes);

#endif
