/* internal.h -- declarations shared by the files of control/: the operations Loop and Case, and
 * the extraction of a body from the graph in which it was built. */
#ifndef EDDY_CONTROL_INTERNAL_H
#define EDDY_CONTROL_INTERNAL_H

#include "autodiff/internal.h"
#include "control/control.h"
#include "graph/body.h"

extern const eddy_op_def eddy_op_argument, eddy_op_loop, eddy_op_case;
extern const eddy_op_def eddy_op_tensor_array_read, eddy_op_tensor_array_write;

/* Of TensorArrayRead and TensorArrayWrite: the array, for messages. */
typedef struct eddy_array_index_attrs {
    const char *array_name;
    bool        dynamic_size;
} eddy_array_index_attrs;

typedef struct eddy_argument_attrs {
    eddy_dtype dtype;
    eddy_shape shape;
} eddy_argument_attrs;

/* An argument of a body, or a tensor that stands for one while a function is built. */
eddy_tensor eddy__argument(eddy_graph *g, eddy_type t);

/* The static type of a tensor; float32 of unknown shape if it is invalid or a node without
 * outputs. */
static inline eddy_type eddy__type_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && node->n_outputs > 0 ? node->outputs[t.output]
                                       : (eddy_type){ EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE };
}

/* ------------------------------------------------------------ extraction -- */

/* Copies nodes of one graph into a body. Tensors of nodes that are not copied become arguments:
 * the caller finds them, adds an argument for each in the order that it wants, and then copies.
 *
 *   eddy__extract_begin(&e, from);
 *   e.copies[id] = ...                      for the nodes to copy, by id
 *   eddy__extract_find(&e, n, roots);       e.captures are the others that roots need
 *   eddy__extract_argument(&e, t) ...
 *   eddy__extract_copy(&e);
 *   ... eddy__extract_image(&e, root)
 *   eddy__extract_end(&e);                  e.body is the caller's; NULL after an error */
enum { NEEDS_VALUE = 1, NEEDS_TYPE = 2 };
typedef struct extraction {
    eddy_graph  *from, *body;
    int32_t      inside;            /* nodes with smaller ids are outside the function */
    int32_t      size;              /* of `from`; nodes that are appended later are not seen */
    /* Variables that nodes from `first` on update (body_variables.c). */
    int32_t      first;
    eddy_tensor *vars;
    int          n_vars;
    int32_t     *waits, *before, *last;     /* updates: see there; by update; by part and variable */
    uint8_t     *products;          /* by id: computed for all rows before the loop; or NULL */
    bool         gradient;          /* `from` is a body with gradients: forward nodes run again */
    bool         seeded;            /* random nodes keep their numbers: eddy__seeded_attrs */
    eddy_arena   arena;
    uint8_t     *copies;            /* by id */
    uint8_t     *needed;            /* by id: a set of NEEDS_VALUE and NEEDS_TYPE */
    eddy_tensor **images;           /* by id: one an output, or NULL */
    eddy_tensor *captures;
    uint8_t     *capture_needs;     /* by capture: as `needed` */
    int         *capture_before;    /* by capture: the one before it of the same node, or -1 */
    int         *last_capture;      /* by id: one more than the last capture of the node, or 0 */
    int          n_captures, capacity;
} extraction;

bool        eddy__extract_begin(extraction *e, eddy_graph *from);
/* The same with a graph that exists, whose tensors the caller sets as images of arguments. The
 * caller frees e->arena, and does not call eddy__extract_end. */
bool        eddy__extract_begin_into(extraction *e, eddy_graph *from, eddy_graph *to);
bool        eddy__extract_find(extraction *e, int n, const eddy_tensor *roots);
/* Node `id` is copied although no root needs it. */
void        eddy__extract_also(extraction *e, int32_t id);
void        eddy__extract_argument(extraction *e, eddy_tensor t, eddy_type type);
bool        eddy__extract_copy(extraction *e);
eddy_tensor eddy__extract_image(const extraction *e, eddy_tensor t);
/* Frees the memory of the extraction; after an error also the body, and records the error on
 * e->from. */
bool        eddy__extract_end(extraction *e);
void       *eddy__extract_room(extraction *e, int64_t n, size_t size);

/* Finds the variables that nodes from parts[0] on update, to be called when e->copies is still
 * empty. Part i, from parts[i] to parts[i + 1], is a branch; parts[n_parts] is e->size + 1. The
 * updates are needed. */
bool eddy__extract_variables(extraction *e, const int32_t *parts, int n_parts);
/* The number of the variable that t is, among those; or -1. */
int  eddy__extract_variable(const extraction *e, eddy_tensor t);
/* The value of variable k after all updates of the part; that of input i of a node. */
eddy_tensor eddy__extract_last(const extraction *e, int part, int k);
eddy_tensor eddy__extract_input(const extraction *e, const eddy_node *node, int i);
/* The operation that computes the value that the update would write. */
const eddy_op_def *eddy__extract_function(const eddy_node *node, eddy_type var);

/* Before the node that owns the body: the values with which the variables begin. */
bool eddy__variables_begin(const extraction *e, eddy_tensor *values);
/* After it: assigns its outputs from `first` on, for which the n results of the call then wait. */
void eddy__variables_end(const extraction *e, eddy_tensor node, int first, eddy_tensor *out, int n);
/* Nodes built next run after the assignments that follow the node; returns the number of control
 * blocks that the caller must end. */
int  eddy__variables_wait(const eddy_node *node, eddy_graph *g);

/* The nodes of a body whose values differ between iterations, as marks by id: those that depend
 * on the arguments 1 .. n_varying, and those that draw. */
uint8_t *eddy__body_varying(extraction *e, const eddy_graph *body, int n_varying);

/* Appends to a list of outs. */
typedef struct out_list {
    int64_t *at;
    int64_t  n;             /* integers */
} out_list;
static inline void eddy__out_add(out_list *l, eddy_tensor t)
{
    l->at[l->n++] = t.node;
    l->at[l->n++] = t.output;
}

/* Gradient rules. eddy__rule_alloc returns at least n objects, uninitialized, or NULL with the
 * error on the graph. */
static inline void *eddy__rule_alloc(eddy_rule *r, eddy_arena *arena, int64_t n, size_t size)
{
    void *p = eddy__arena_alloc(arena, (size_t)(n + 1) * size);
    if (!p) eddy_fail(r->graph, EDDY_NO_MEMORY, "out of memory for a gradient");
    return p;
}
void eddy__loop_gradient(eddy_rule *r);
void eddy__case_gradient(eddy_rule *r);
/* Batching rules. */
void eddy__loop_batch(eddy_batch *b);
void eddy__case_batch(eddy_batch *b);

#endif
