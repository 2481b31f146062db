/* writer.h -- the state of one writing: a model that grows node by node. */
#ifndef EDDY_FORMATS_ONNX_WRITER_H
#define EDDY_FORMATS_ONNX_WRITER_H

#include "part.h"
#include "../build.h"
#include "../../sink.h"

/* Operator set 17 is the newest that ONNX 1.12 checks; it has LayerNormalization, and scatters that
 * add. */
enum { WRITER_OPSET = 17, WRITER_IR = 8 };

/* Fields of the messages. */
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_OP, NODE_ATTRIBUTE, NODE_DOMAIN = 7 };
enum { GRAPH_NODE = 1, GRAPH_NAME, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT };
enum { TENSOR_DIMS = 1, TENSOR_TYPE, TENSOR_NAME = 8, TENSOR_RAW, TENSOR_EXTERNAL = 13,
       TENSOR_WHERE };
enum { MODEL_IR = 1, MODEL_PRODUCER, MODEL_GRAPH = 7, MODEL_IMPORT, MODEL_METADATA = 14,
       MODEL_FUNCTION = 25 };

/* A weight or another constant of the model. */
typedef struct writer_constant {
    struct writer_constant *next, *same_hash;
    const char *name;
    eddy_array *array;                  /* a reference of the writer's */
    int64_t     offset;                 /* in the file of external data; -1: in the model */
} writer_constant;

/* A variable of the main graph that the run updates. */
typedef struct writer_variable {
    const eddy_node *node;
    const char      *before, *now;      /* its value before the run, and at this point of it */
    int32_t          first_update;      /* the id of a node; 0: it is only read */
} writer_variable;

/* Of a loop or branch: which outputs are read, and which inputs these need. */
typedef struct writer_use {
    bool *read, *takes;
} writer_use;

/* The nodes of one graph, the main one or a part of a body. */
typedef struct writer_scope {
    struct writer_scope *outer;
    eddy_graph  *graph;
    int32_t      size;
    const char ***names;                /* by id: of the outputs; NULL if it was not written yet */
    bool        *live, *effect;
    uint8_t    **reads_now;             /* by id: which inputs see the updates of variables before them */
    writer_use **uses;                  /* by id, of live loops and branches */
    writer_variable **variables;        /* by id; NULL for the other nodes and in bodies */
    const char  *prefix;                /* of names */
    message      nodes;                 /* fields GRAPH_NODE */
    uint64_t    *wanted;                /* by id: a bit for each output that is read */
} writer_scope;

/* The constants of the model, or of a function. */
enum { CONSTANT_BUCKETS = 1024 };
typedef struct writer_constants {
    writer_constant *first, **last;
    writer_constant *buckets[CONSTANT_BUCKETS];
} writer_constants;

/* A function of the model: all of it except its name. */
typedef struct writer_function {
    struct writer_function *next;
    const eddy_onnx_operator *of;
    const char *name;
    message     body;
} writer_function;

enum { DEEPEST = 32 };                  /* loops and functions within each other */

struct onnx_writer {
    region           memory;
    eddy_session    *session;
    eddy_error      *error;
    const char      *path;
    writer_scope    *scope;             /* the innermost one */
    writer_constants constants;
    const eddy_onnx_operator *operators;/* the caller's */
    int              operator_count;
    bool            *used;              /* by operator: whether a node is of it */
    writer_function *functions;         /* the last one first */
    const char      *in_function;       /* the operation whose function is written; NULL if none */
    int              values;            /* names given so far */
    int              depth;
    bool             reporting;         /* goes on after nodes that cannot be written */
    bool             failed;
    entry_list       entries;
};

/* Records the first error; returns false. */
bool eddy__writer_fail(onnx_writer *w, eddy_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool eddy__writer_no_memory(onnx_writer *w);

/* ----------------------------------------------------------------- the walk -- */

/* A scope for the nodes of g that these tensors need; NULL with the error. It becomes the innermost
 * one; end returns to the outer one and leaves the messages to the caller. */
writer_scope *eddy__scope_begin(onnx_writer *w, eddy_graph *g, const char *prefix);
void          eddy__scope_end(onnx_writer *w);
/* Sets the name of a tensor, which is then not computed. */
bool eddy__scope_bind(onnx_writer *w, eddy_tensor t, const char *name);
/* Finds the nodes that these tensors need, and which reads see updates; writes them. */
bool eddy__scope_mark(onnx_writer *w, int n, const eddy_tensor *outputs);
bool eddy__scope_write_marked(onnx_writer *w);
/* Marks the node of a tensor, whose value is needed, as live; finds the inputs that a live loop or
 * branch needs, once all marks behind it are set; whether a node needs the value of its input i. */
bool eddy__writer_want(onnx_writer *w, eddy_tensor t);
bool eddy__writer_find_use(onnx_writer *w, const eddy_node *node);
bool eddy__writer_needs(const eddy_node *node, int i);
/* The bit of an output in `wanted`; those after the first 63 share one. */
static inline uint64_t eddy__output_bit(int k) { return (uint64_t)1 << (k < 63 ? k : 63); }
/* The name of a tensor that was written; NULL if it was not. */
const char *eddy__scope_name(const writer_scope *s, eddy_tensor t);
/* Which reads of variables see updates (reads.c). */
bool eddy__scope_order_reads(onnx_writer *w);

/* A field GRAPH_INPUT or GRAPH_OUTPUT: a value with its type. */
void eddy__writer_value_info(message *m, uint32_t field, const char *name, eddy_type t);

/* A node that gives a value another name. */
void eddy__writer_identity(message *nodes, const char *from, const char *to);

/* A constant, which the main graph or the function has once; a is not changed. */
const char *eddy__writer_constant(onnx_writer *w, const char *name, eddy_array *a);
void        eddy__writer_begin_constants(writer_constants *c);
void        eddy__writer_free_constants(writer_constants *c);
/* The fields of a tensor except its elements. */
message     eddy__writer_tensor_head(const char *name, const eddy_array *a);

/* --------------------------------------------------------- the caller's operators -- */

/* NULL if the caller has none for an operation. */
const eddy_onnx_operator *eddy__writer_operator(const onnx_writer *w, const char *op);
/* Writes a node as the caller's operator: a call of a function, which is written if it is new, or an
 * operator of the caller's domain. */
bool eddy__writer_call_operator(onnx_part *p, const eddy_onnx_operator *o);
/* Whether they can be used; then makes room for notes on them. */
bool eddy__writer_check_operators(onnx_writer *w);
/* Append the versions of ONNX's operators and of the domains that were used so far, as fields of a
 * model or a function; and the functions to a model. */
void eddy__writer_put_imports(const onnx_writer *w, uint32_t field, message *m);
void eddy__writer_put_functions(const onnx_writer *w, message *model);
void eddy__writer_free_functions(onnx_writer *w);

/* ---------------------------------------------------------------- the file -- */

/* Writes the model, atomically: the nodes, inputs and outputs in `graph`, the constants, and other
 * fields of the model; constants of at least external_bytes bytes go to a second file, if that is
 * not 0. */
bool eddy__writer_save(onnx_writer *w, const message *graph, const message *others,
                       const eddy_files *files, int64_t external_bytes);

#endif
