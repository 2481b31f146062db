/* graph.h -- the core types and functions: graphs and tensors; array.h and status.h have others.
 *
 * Building a graph needs no check after each call. A builder that receives invalid input records
 * the first error on the graph (eddy_graph_status, eddy_graph_message) and returns an invalid
 * tensor, which every other builder passes on silently. Functions that run a graph or access
 * files return a status.
 *
 * Unless a comment says otherwise, every function accepts null, invalid and foreign handles and
 * returns an error, and every string or array that is passed in is copied or retained; its
 * address is never kept. */
#ifndef EDDY_GRAPH_H
#define EDDY_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
#include <initializer_list>     /* C++ has no compound literals: this implements the lists below */
#endif
#include "array.h"
#ifdef __cplusplus
extern "C" {
#endif
/* --------------------------------------------------- graphs and tensors -- */

/* A graph owns every node, name, constant and optimizer created in it. Nodes are never removed,
 * and an input always has a smaller id than its consumer, so ids are a topological order. While
 * one thread builds (gradients and L-BFGS build too), no other thread may build, run or look up
 * on that graph; otherwise any number of threads may run. */
typedef struct eddy_graph eddy_graph;

/* The graph of a tensor. Compilers name this type in messages if a plain number is passed for a
 * tensor, as in eddy_adam(g, 0.001) instead of eddy_adam(g, eddy_scalar(g, 0.001)). */
typedef eddy_graph eddy_write_eddy_scalar_;

/* One output of one node: 16 bytes, copied freely, never freed, valid as long as its graph. node
 * 0 is the invalid tensor. A node without outputs (no_op, a training operation) is represented
 * by output 0 of itself. */
typedef struct eddy_tensor {
    eddy_write_eddy_scalar_ *graph;
    int32_t                  node;
    int32_t                  output;
} eddy_tensor;

/* No tensor, in a list or an option that takes one: "not given". EDDY_OMITTED_TENSOR is an omitted
 * option whose default is a number other than 0. A function that returns no tensor because of an
 * error returns eddy_none(g) instead, which has the graph (graph/op.h). */
#ifdef __cplusplus
#define EDDY_ZERO_TENSOR eddy_tensor{ nullptr, 0, 0 }
#define EDDY_NO_TENSOR   (EDDY_ZERO_TENSOR)
#define EDDY_OMITTED_TENSOR (eddy_tensor{ (eddy_graph *)(intptr_t)EDDY_OMITTED, 0, 0 })
#else
#define EDDY_ZERO_TENSOR { NULL, 0, 0 }               /* the same, in an initializer */
#define EDDY_NO_TENSOR   ((eddy_tensor)EDDY_ZERO_TENSOR)
#define EDDY_OMITTED_TENSOR { (eddy_graph *)(intptr_t)EDDY_OMITTED, 0, 0 }   /* likewise */
#endif

/* Several tensors as an argument: EDDY_LIST(a, b), EDDY_LIST(). In C++ the list lives to the end
 * of the statement. */
typedef struct eddy_list {
    int                count;
    const eddy_tensor *at;
} eddy_list;
#ifdef __cplusplus
inline eddy_list eddy_list_of_(std::initializer_list<eddy_tensor> at)
{
    return eddy_list{ (int)at.size(), at.begin() };
}
#define EDDY_LIST(...) (eddy_list_of_({ __VA_ARGS__ }))
#else
#define EDDY_TENSORS_(...) ((const eddy_tensor[]){ EDDY_ZERO_TENSOR, __VA_ARGS__ })
#define EDDY_LIST(...) ((eddy_list){                                          \
    .count = (int)(sizeof EDDY_TENSORS_(__VA_ARGS__) / sizeof(eddy_tensor)) - 1, \
    .at    = EDDY_TENSORS_(__VA_ARGS__) + 1 })
#endif

/* Tensors and what takes their place: EDDY_REPLACE({ x, y }, { z, w }) puts y in the place of x. */
typedef struct eddy_replacement {
    eddy_tensor tensor, by;
} eddy_replacement;
typedef struct eddy_replacements {
    int              count;
    const eddy_replacement *at;
} eddy_replacements;
#ifdef __cplusplus
inline eddy_replacements eddy_replacements_of_(std::initializer_list<eddy_replacement> at)
{
    return eddy_replacements{ (int)at.size(), at.begin() };
}
#define EDDY_REPLACE(...) (eddy_replacements_of_({ __VA_ARGS__ }))
#else
#define EDDY_REPLACEMENTS_(...)                                                        \
    ((const eddy_replacement[]){ { EDDY_ZERO_TENSOR, EDDY_ZERO_TENSOR }, __VA_ARGS__ })
#define EDDY_REPLACE(...) ((eddy_replacements){                                        \
    .count = (int)(sizeof EDDY_REPLACEMENTS_(__VA_ARGS__) / sizeof(eddy_replacement)) - 1,  \
    .at    = EDDY_REPLACEMENTS_(__VA_ARGS__) + 1 })
#endif

typedef struct eddy_graph_args {
    size_t                size_ EDDY_DEFAULT(sizeof(eddy_graph_args));
    const eddy_allocator *allocator;  /* copied; default libc */
    const eddy_files     *files;      /* copied; default POSIX */
    int64_t               seed EDDY_DEFAULT(87654321); /* of the random operations; TensorFlow's */
} eddy_graph_args;

/* A new, empty graph, which the caller frees; NULL if out of memory.
 *   eddy_graph_new(), eddy_graph_new(.seed = 7) */
EDDY_API eddy_graph *eddy_graph_new_with(const eddy_graph_args *given);
#define eddy_graph_new(...) eddy_graph_new_with(EDDY_ARGS(eddy_graph_args, __VA_ARGS__))

/* Frees the graph and all that it owns: its handles are invalid from this call on. Its sessions
 * return EDDY_CLOSED, and the memory is released when the last of them is freed. */
EDDY_API void        eddy_graph_free(eddy_graph *g);

EDDY_API eddy_status eddy_graph_status(const eddy_graph *g);   /* the first error, or EDDY_OK */
/* Its message, "" if none; valid until cleared. */
EDDY_API const char *eddy_graph_message(const eddy_graph *g);
EDDY_API void        eddy_graph_clear_error(eddy_graph *g);    /* building can then continue */
/* Sets a handler, called at the first error while the failing call is still on the stack. It cannot
 * clear the error. */
EDDY_API void        eddy_graph_on_error(eddy_graph *g,
                                         void (*handler)(void *user, eddy_status s,
                                                         const char *message),
                                         void *user);

EDDY_API void        eddy_graph_set_seed(eddy_graph *g, int64_t seed);
EDDY_API int64_t     eddy_graph_seed(const eddy_graph *g);
EDDY_API int32_t     eddy_graph_size(const eddy_graph *g);     /* nodes; also the largest id */
/* The graph takes no more nodes, and later errors do not fail runs. */
EDDY_API void        eddy_graph_finalize(eddy_graph *g);
EDDY_API bool        eddy_graph_is_finalized(const eddy_graph *g);

/* A variable with a name in files. */
typedef struct eddy_named_variable {
    const char *name;                /* lives with the graph */
    eddy_tensor variable;
} eddy_named_variable;

EDDY_API bool        eddy_is_valid(eddy_tensor t);
EDDY_API bool        eddy_same(eddy_tensor a, eddy_tensor b);  /* one output of one node */
/* EDDY_DEFAULT_DTYPE if t is invalid or has no value. */
EDDY_API eddy_dtype  eddy_dtype_of(eddy_tensor t);
/* The static shape; of unknown rank if t is invalid. */
EDDY_API eddy_shape  eddy_shape_of(eddy_tensor t);
/* The node's name, "" if t is invalid; lives with the graph. */
EDDY_API const char *eddy_name_of(eddy_tensor t);
EDDY_API const char *eddy_type_of(eddy_tensor t);              /* the operation's type, "MatMul" */
EDDY_API int         eddy_outputs_of(eddy_tensor t);           /* number of outputs of the node */
EDDY_API eddy_tensor eddy_output(eddy_tensor t, int i);        /* output i of t's node */
EDDY_API int         eddy_inputs_of(eddy_tensor t);            /* number of data inputs */
EDDY_API eddy_tensor eddy_input(eddy_tensor t, int i);
EDDY_API int         eddy_controls_of(eddy_tensor t);          /* number of control inputs */
EDDY_API eddy_tensor eddy_control(eddy_tensor t, int i);
EDDY_API const char *eddy_device_of(eddy_tensor t);            /* "" if none was set */
EDDY_API eddy_tensor eddy_node_at(eddy_graph *g, int32_t id);  /* output 0 of node id, 1..size */

/* Refines t's static shape (as tf.Tensor.set_shape); a shape that contradicts the known shape is
 * an error, in a run too (EDDY_BAD_SHAPE), except in the body of a loop or branch. Returns t. */
EDDY_API eddy_tensor eddy_set_shape(eddy_tensor t, eddy_shape s);

/* ------------------------------------------------------ names and scopes -- */

/* Names are unique in a graph, ignoring case; a name in use gets the suffix _1, _2 ...
 * eddy_named renames t's node to `name` in the current scope; a name that ends in '/' is used as
 * it is, without the slash. Returns t. */
EDDY_API eddy_tensor eddy_named(const char *name, eddy_tensor t);
/* The name that the next node with the requested name `name` would get; if `reserve`, it is
 * reserved. It is written to buf, truncated to size; returns buf. */
EDDY_API char       *eddy_unique_name(eddy_graph *g, const char *name, bool reserve, char *buf,
                                      size_t size);

/* Nodes created between begin and end get the scope's name and a slash as a prefix. A name in
 * use gets the suffix _1 and so on; one that ends in '/' re-enters exactly that scope; NULL or
 * "" returns to the root until end. */
EDDY_API void        eddy_scope_begin(eddy_graph *g, const char *name);
EDDY_API void        eddy_scope_end(eddy_graph *g);
EDDY_API const char *eddy_scope_name(const eddy_graph *g);     /* with its slash; "" at the root */

/* Nodes created between begin and end run after all of `after`. Blocks nest, and their
 * dependencies accumulate; eddy_control_clear opens a block without the outer ones. */
EDDY_API void        eddy_control_begin(eddy_graph *g, eddy_list after);
EDDY_API void        eddy_control_clear(eddy_graph *g);
EDDY_API void        eddy_control_end(eddy_graph *g);

/* A device string for the nodes created inside, "/cpu:0". It is recorded and written to files,
 * and has no other effect in this version. */
EDDY_API void        eddy_device_begin(eddy_graph *g, const char *device);
EDDY_API void        eddy_device_end(eddy_graph *g);

/* Nodes of this operation type created inside are differentiated by the gradient that is
 * registered under that name, instead of their operation's own rule. It must be registered
 * (eddy_register_gradient) before it is needed. Scopes nest; for each type the innermost
 * applies. NULL or "" restores the operation's own rule. As tf.Graph.gradient_override_map.
 *   eddy_gradient_override_begin(g, "Square", "CustomSquare"); */
EDDY_API void        eddy_gradient_override_begin(eddy_graph *g, const char *op_type,
                                                  const char *gradient);
EDDY_API void        eddy_gradient_override_end(eddy_graph *g);

/* The same as C blocks: the scope ends however the block is left, also by break, continue, goto
 * and return. break and continue leave only the block, not a loop around it.
 *
 *   EDDY_SCOPE(g, "layer1") {
 *       h = eddy_relu(eddy_matmul(x, w));
 *   }
 *   EDDY_CONTROL(g, EDDY_LIST(update)) after = eddy_read(v); */
#define EDDY_SCOPE(graph_, name_)    EDDY_GRAPH_BLOCK_(scope, eddy_scope_open(graph_, name_))
#define EDDY_CONTROL(graph_, after_) EDDY_GRAPH_BLOCK_(control, eddy_control_open(graph_, after_))
#define EDDY_CONTROL_CLEAR(graph_)   EDDY_GRAPH_BLOCK_(clear, eddy_control_clear_open(graph_))
#define EDDY_DEVICE(graph_, device_) EDDY_GRAPH_BLOCK_(device, eddy_device_open(graph_, device_))
#define EDDY_GRADIENT_OVERRIDE(graph_, op_type_, gradient_) \
    EDDY_GRAPH_BLOCK_(override, eddy_gradient_override_open(graph_, op_type_, gradient_))

/* Called by the macros: these begin a scope, and eddy_graph_block_end ends it. */
typedef struct eddy_graph_block {
    eddy_graph *graph;                  /* NULL: nothing to end */
    void      (*end)(eddy_graph *g);
    bool        once;
} eddy_graph_block;
EDDY_API eddy_graph_block eddy_scope_open(eddy_graph *g, const char *name);
EDDY_API eddy_graph_block eddy_control_open(eddy_graph *g, eddy_list after);
EDDY_API eddy_graph_block eddy_control_clear_open(eddy_graph *g);
EDDY_API eddy_graph_block eddy_device_open(eddy_graph *g, const char *device);
EDDY_API eddy_graph_block eddy_gradient_override_open(eddy_graph *g, const char *op_type,
                                                      const char *gradient);
EDDY_API void       eddy_graph_block_end(eddy_graph_block *block);
#define EDDY_BLOCK_(type_, end_, name_, ...)                                           \
    for (type_ name_ __attribute__((cleanup(end_))) = __VA_ARGS__; name_.once;         \
         name_.once = false)
#define EDDY_NAME_2_(kind_, line_) eddy_##kind_##_##line_##_
#define EDDY_NAME_(kind_, line_) EDDY_NAME_2_(kind_, line_)      /* so that blocks may nest */
#define EDDY_GRAPH_BLOCK_(kind_, begin_) \
    EDDY_BLOCK_(eddy_graph_block, eddy_graph_block_end, EDDY_NAME_(kind_, __LINE__), begin_)

/* -------------------------------------------------------------- look-up -- */

/* Lookup by name: eddy_graph_tensor takes "op:0", eddy_graph_operation "op". An unknown or
 * malformed name is an error of the graph (EDDY_NOT_FOUND, EDDY_INVALID_ARGUMENT); eddy_graph_has
 * accepts either form and records no error. */
EDDY_API eddy_tensor eddy_graph_tensor(eddy_graph *g, const char *name);
EDDY_API eddy_tensor eddy_graph_operation(eddy_graph *g, const char *name);
EDDY_API bool        eddy_graph_has(const eddy_graph *g, const char *name);

/* ---------------------------------------------------------- collections -- */

#define EDDY_GLOBAL_VARIABLES          "variables"
#define EDDY_TRAINABLE_VARIABLES       "trainable_variables"
#define EDDY_LOCAL_VARIABLES           "local_variables"
#define EDDY_MODEL_VARIABLES           "model_variables"
#define EDDY_MOVING_AVERAGE_VARIABLES  "moving_average_variables"
#define EDDY_REGULARIZATION_LOSSES     "regularization_losses"
#define EDDY_LOSSES                    "losses"
#define EDDY_UPDATE_OPS                "update_ops"
/* Nodes that mark variables of which this process has only a part, their input 0: optimizers refuse to
 * combine the gradients of these with others. For libraries that divide variables. */
#define EDDY_DIVIDED_VARIABLES         "divided_variables"
#define EDDY_TRAIN_OP                  "train_op"
#define EDDY_GLOBAL_STEP               "global_step"
#define EDDY_EVAL_STEP                 "eval_step"
#define EDDY_SUMMARIES                 "summaries"
#define EDDY_INIT_OP                   "init_op"
#define EDDY_LOCAL_INIT_OP             "local_init_op"
#define EDDY_INITIALIZERS              "initializers"         /* of all variables, by creation */
#define EDDY_LOCAL_INITIALIZERS        "local_initializers"   /* of local variables (metrics) */
#define EDDY_MODEL_INPUTS              "model_inputs"         /* of a graph from eddy_extract */
#define EDDY_MODEL_OUTPUTS             "model_outputs"
#define EDDY_READY_OP                  "ready_op"
#define EDDY_WEIGHTS                   "weights"
#define EDDY_BIASES                    "biases"
#define EDDY_ACTIVATIONS               "activations"
#define EDDY_SAVERS                    "savers"
#define EDDY_QUEUE_RUNNERS             "queue_runners"
#define EDDY_TABLE_INITIALIZERS        "table_initializer"
#define EDDY_ASSET_FILEPATHS           "asset_filepaths"
#define EDDY_COND_CONTEXT              "cond_context"
#define EDDY_WHILE_CONTEXT             "while_context"

/* Collections are named lists of tensors, in order of insertion; duplicates are allowed. */
EDDY_API void        eddy_collection_add(eddy_graph *g, const char *key, eddy_tensor t);
/* Adds t once to each distinct key of keys[0..n-1]. */
EDDY_API void        eddy_collections_add(eddy_graph *g, const char *const *keys, int n,
                                          eddy_tensor t);
/* Entries whose node name starts with `prefix` (all if NULL or ""): copies up to `max` of them
 * to out and returns their total number. */
EDDY_API int         eddy_collection_get(const eddy_graph *g, const char *key, const char *prefix,
                                         eddy_tensor *out, int max);
EDDY_API int         eddy_collection_size(const eddy_graph *g, const char *key);
EDDY_API eddy_tensor eddy_collection_at(eddy_graph *g, const char *key, int i);
EDDY_API bool        eddy_collection_has(const eddy_graph *g, const char *key, eddy_tensor t);
EDDY_API void        eddy_collection_clear(eddy_graph *g, const char *key);

/* ------------------------------------------------------------- listings -- */

/* One line per node, "id name = Type(inputs) dtype[shape]"; or Graphviz source. The caller frees
 * the string with eddy_string_free; NULL if out of memory or if g is not a graph. */
EDDY_API char *eddy_graph_to_text(const eddy_graph *g);
EDDY_API char *eddy_graph_to_dot(const eddy_graph *g);
EDDY_API void  eddy_string_free(char *s);

/* ---------------------------------------------------------- graph files -- */

/* Writes the whole graph as YAML: nodes with their attributes, shapes and names, constants to
 * the bit, collections; the same graph gives the same bytes. docs/guide/graph-files.md describes
 * the format; eddy_graph_load (ops.h) reads it. Save replaces the whole file or leaves it
 * unchanged.
 * A graph with an error is rejected with that error, and to_yaml returns NULL. */
EDDY_API eddy_status eddy_graph_save(const eddy_graph *g, const char *path, eddy_error *error);
EDDY_API char       *eddy_graph_to_yaml(const eddy_graph *g);   /* for eddy_string_free */

#ifdef __cplusplus
}
#endif
#endif
