/* graph.h -- what everything stands on: shapes, arrays, graphs, tensors.
 *
 * Building never needs a check per line: a builder that is given something
 * wrong records the first error on the graph (eddy_graph_status,
 * eddy_graph_message) and returns an invalid tensor, which every other builder
 * passes on in silence.  Whatever runs or touches files returns a status.
 *
 * Unless a comment says otherwise, every function accepts null, invalid and
 * foreign handles and answers with an error, and every string or array that is
 * handed in is copied or retained, never kept by address. */
#ifndef EDDY_GRAPH_H
#define EDDY_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
#include <initializer_list>     /* C++ has no compound literals: the lists below are made of these */
extern "C" {
#endif

#define EDDY_API __attribute__((visibility("default")))

#define EDDY_VERSION "0.1.0"

/* ------------------------------------------------------------- status -- */

/* One list makes the enum, the names and the texts.  In brackets, the error
 * that TensorFlow raises in the same place. */
#define EDDY_STATUS_LIST(X)                                                     \
    X(OK,                "no error")                                            \
    X(INVALID_ARGUMENT,  "invalid argument")      /* [ValueError, InvalidArgument] */ \
    X(BAD_DTYPE,         "wrong element type")    /* [TypeError]                */ \
    X(BAD_SHAPE,         "shapes do not fit")     /* [ValueError]               */ \
    X(NOT_FOUND,         "no such element")       /* [KeyError, ValueError]     */ \
    X(NO_GRADIENT,       "no gradient defined")   /* [LookupError]              */ \
    X(NOT_FED,           "placeholder not fed")   /* [InvalidArgument]          */ \
    X(UNINITIALIZED,     "variable uninitialized")/* [FailedPrecondition]       */ \
    X(FINALIZED,         "graph is finalized")    /* [RuntimeError]             */ \
    X(OUT_OF_RANGE,      "out of range")          /* [OutOfRange, InvalidArgument] */ \
    X(LIMIT,             "a published limit is exceeded") /* [ResourceExhausted] */ \
    X(NO_MEMORY,         "out of memory")         /* [ResourceExhausted]        */ \
    X(IO,                "input or output failed")                              \
    X(CORRUPT,           "file is damaged")       /* [DataLoss]                 */ \
    X(CLOSED,            "object is closed")      /* [RuntimeError]             */ \
    X(CHECK_FAILED,      "a check in the graph failed") /* [InvalidArgument]    */ \
    X(UNIMPLEMENTED,     "not implemented for this input") /* [Unimplemented]   */ \
    X(INTERNAL,          "a defect of the library")

#define EDDY_STATUS_ENUM(name, text) EDDY_##name,
typedef enum eddy_status { EDDY_STATUS_LIST(EDDY_STATUS_ENUM) } eddy_status;
#undef EDDY_STATUS_ENUM

/* The constant's name without its prefix ("BAD_SHAPE"), and a short text.
 * Both are static strings; an unknown value gives "?". */
EDDY_API const char *eddy_status_name(eddy_status s);
EDDY_API const char *eddy_status_text(eddy_status s);

/* An error with its sentence; for functions that have no graph or session to
 * leave it on.  Zero-initialise it; the functions below accept NULL for it. */
typedef struct eddy_error {
    eddy_status status;
    char        message[1012];
} eddy_error;

/* ------------------------------------------------- allocator and files -- */

/* Where memory comes from.  allocate returns NULL when there is none; release
 * gets the size that was asked for.  Must be callable from several threads if
 * the graph or its sessions are.  The default is libc's. */
typedef struct eddy_allocator {
    void *(*allocate)(void *context, size_t size);
    void  (*release)(void *context, void *p, size_t size);
    void   *context;
} eddy_allocator;

/* How files are reached; each function returns -1 with errno set on failure,
 * like the POSIX call of its name.  The default is POSIX.
 *   open     flags are open(2)'s; mode 0666 less the umask
 *   size     bytes in the file
 *   sync_dir makes a rename inside the directory of `path` durable */
typedef struct eddy_files {
    int     (*open)(void *context, const char *path, int flags);
    int64_t (*read)(void *context, int fd, void *p, size_t n);
    int64_t (*write)(void *context, int fd, const void *p, size_t n);
    int64_t (*size)(void *context, int fd);
    int     (*sync)(void *context, int fd);
    int     (*close)(void *context, int fd);
    int     (*rename)(void *context, const char *from, const char *to);
    int     (*unlink)(void *context, const char *path);
    int     (*sync_dir)(void *context, const char *path);
    void     *context;
} eddy_files;

/* -------------------------------------------------------------- dtypes -- */

/* Element types.  Zero stands for "the default" wherever an option takes one.
 * A complex element is the real and then the imaginary part, a C `float complex`
 * or C++ std::complex<float>.  The half types have names and sizes; operations
 * take them as their documentation says. */
typedef enum eddy_dtype {
    EDDY_DEFAULT_DTYPE = 0,
    EDDY_FLOAT32,
    EDDY_FLOAT64,
    EDDY_INT32,
    EDDY_INT64,
    EDDY_UINT8,
    EDDY_BOOL,                /* one byte, 0 or 1 */
    EDDY_FLOAT16,
    EDDY_BFLOAT16,
    EDDY_COMPLEX64,
    EDDY_COMPLEX128,
    EDDY_DTYPES               /* how many there are */
} eddy_dtype;

EDDY_API const char *eddy_dtype_name(eddy_dtype d);       /* "float32"; "?" if unknown */
EDDY_API eddy_dtype  eddy_dtype_named(const char *name);  /* EDDY_DEFAULT_DTYPE if none */
EDDY_API size_t      eddy_dtype_size(eddy_dtype d);       /* bytes; 0 if unknown */
EDDY_API bool        eddy_dtype_is_floating(eddy_dtype d);/* float16, bfloat16, 32, 64 */
EDDY_API bool        eddy_dtype_is_integer(eddy_dtype d); /* int32, int64, uint8 */
EDDY_API bool        eddy_dtype_is_complex(eddy_dtype d);
EDDY_API eddy_dtype  eddy_dtype_real(eddy_dtype d);       /* of the parts of a complex one; else d */
/* Gradients flow through floating and complex tensors only. */
EDDY_API bool        eddy_dtype_is_differentiable(eddy_dtype d);

/* -------------------------------------------------------------- shapes -- */

enum { EDDY_MAX_RANK = 8, EDDY_ANY = -1, EDDY_UNKNOWN_RANK = -1 };

/* rank dimensions, each >= 0, or EDDY_ANY where only a run will tell.  A rank
 * of EDDY_UNKNOWN_RANK leaves everything open.  Zeroed, it is a scalar. */
typedef struct eddy_shape {
    int     rank;
    int64_t dim[EDDY_MAX_RANK];
} eddy_shape;

/* EDDY_SHAPE(32, 784) is a 32 by 784 matrix. */
#ifdef __cplusplus
#define EDDY_SHAPE(...) (eddy_shape_of_list_({ __VA_ARGS__ }))
#else
#define EDDY_SHAPE(...) ((eddy_shape){                                        \
    .rank = (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),      \
    .dim  = { __VA_ARGS__ } })
#endif
#define EDDY_SCALAR        (eddy_shape_of_dims(NULL, 0))
#define EDDY_UNKNOWN_SHAPE (eddy_shape_unknown())

/* rank > EDDY_MAX_RANK, or dim NULL with rank > 0, gives a shape that
 * eddy_shape_is_valid refuses. */
EDDY_API eddy_shape eddy_shape_of_dims(const int64_t *dim, size_t rank);
EDDY_API eddy_shape eddy_shape_unknown(void);
#ifdef __cplusplus
inline eddy_shape eddy_shape_of_list_(std::initializer_list<int64_t> dim)
{
    return eddy_shape_of_dims(dim.begin(), dim.size());
}
#endif
/* rank within limits, dimensions >= -1, and product within 2^48 elements. */
EDDY_API bool       eddy_shape_is_valid(eddy_shape s);
EDDY_API bool       eddy_shape_is_known(eddy_shape s);    /* nothing left open */
EDDY_API bool       eddy_shape_equal(eddy_shape a, eddy_shape b);      /* identical */
EDDY_API bool       eddy_shape_compatible(eddy_shape a, eddy_shape b); /* could be equal */
EDDY_API int64_t    eddy_shape_count(eddy_shape s);       /* elements; -1 if not known */
/* NumPy's broadcasting; false if the shapes do not fit. */
EDDY_API bool       eddy_shape_broadcast(eddy_shape a, eddy_shape b, eddy_shape *out);
/* "[32,784]", "[?,784]", "[]", "?" for unknown rank; cut to size; returns buf. */
EDDY_API char      *eddy_shape_print(eddy_shape s, char *buf, size_t size);

/* A short list of dimensions or axes as an option; zeroed means "not given",
 * EDDY_NO_DIMS is the empty list.  It begins with a pointer, always NULL, so that a number in
 * its place, eddy_sum(x, 1) for eddy_sum(x, EDDY_AXES(1)), does not pass for a count. */
typedef struct eddy_dims {
    const struct eddy_write_EDDY_AXES_ *no_number_;
    int     count;                       /* 0 not given; -1 the empty list */
    int64_t at[EDDY_MAX_RANK];
} eddy_dims;
#ifdef __cplusplus
/* More than there is room for gives a count that no operation takes. */
inline eddy_dims eddy_dims_of_list_(std::initializer_list<int64_t> at)
{
    eddy_dims d = {};
    for (int64_t i : at)
        if (d.count++ < EDDY_MAX_RANK) d.at[d.count - 1] = i;
    return d;
}
#define EDDY_DIMS(...) (eddy_dims_of_list_({ __VA_ARGS__ }))
#else
#define EDDY_DIMS(...) ((eddy_dims){                                          \
    .count = (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),     \
    .at    = { __VA_ARGS__ } })
#endif
#define EDDY_AXES EDDY_DIMS
#ifdef __cplusplus
#define EDDY_NO_DIMS (eddy_dims{ nullptr, -1, { 0 } })
#else
#define EDDY_NO_DIMS ((eddy_dims){ .count = -1 })
#endif

/* -------------------------------------------------------------- arrays -- */

/* Concrete data: dtype, shape and row-major elements, reference counted.  The
 * count is atomic; the elements are the caller's to guard.  Constructors
 * return NULL when the shape is not fully known, too large, or memory is out;
 * release with eddy_array_free. */
typedef struct eddy_array eddy_array;

EDDY_API eddy_array *eddy_array_new(eddy_dtype d, eddy_shape s);      /* zeros */
EDDY_API eddy_array *eddy_array_copy_of(eddy_dtype d, eddy_shape s, const void *data);
/* A view of the caller's memory, which must outlive the array. */
EDDY_API eddy_array *eddy_array_borrow(eddy_dtype d, eddy_shape s, void *data);
/* Takes data over: release(context, data) is called with the last reference. */
EDDY_API eddy_array *eddy_array_adopt(eddy_dtype d, eddy_shape s, void *data,
                                      void (*release)(void *context, void *data), void *context);
EDDY_API eddy_array *eddy_array_new_in(const eddy_allocator *a, eddy_dtype d, eddy_shape s);
EDDY_API eddy_array *eddy_array_of(eddy_dtype d, double value);       /* a scalar */
EDDY_API eddy_array *eddy_array_retain(eddy_array *a);                /* returns a */
EDDY_API void        eddy_array_free(eddy_array *a);                  /* one reference; NULL is fine */

EDDY_API void       *eddy_array_data(const eddy_array *a);            /* NULL for NULL */
EDDY_API eddy_dtype  eddy_array_dtype(const eddy_array *a);
EDDY_API eddy_shape  eddy_array_shape(const eddy_array *a);
EDDY_API int64_t     eddy_array_count(const eddy_array *a);           /* elements */
EDDY_API size_t      eddy_array_bytes(const eddy_array *a);
/* Element i as a number (complex: the real part); NaN when there is none. */
EDDY_API double      eddy_array_get(const eddy_array *a, int64_t i);
/* Stores with C's conversion, saturated for integers; false when there is no i. */
EDDY_API bool        eddy_array_set(eddy_array *a, int64_t i, double v);
/* The imaginary part: 0 where elements are real; NaN when there is no i. */
EDDY_API double      eddy_array_get_imag(const eddy_array *a, int64_t i);
/* Stores both parts; false when there is no i or elements are not complex. */
EDDY_API bool        eddy_array_set_complex(eddy_array *a, int64_t i, double re, double im);
EDDY_API double      eddy_array_item(const eddy_array *a);            /* element 0 */
EDDY_API bool        eddy_array_equal(const eddy_array *a, const eddy_array *b); /* bit for bit */
/* Nested brackets with %g, complex elements as (1,2), "..." after `limit` elements;
 * cut to size; returns buf. */
EDDY_API char       *eddy_array_print(const eddy_array *a, int64_t limit, char *buf, size_t size);

/* NumPy's .npy, format 1.0 to 3.0, C or Fortran order, little-endian, the
 * dtypes above except bfloat16.  files NULL is POSIX. */
EDDY_API eddy_status eddy_array_save(const eddy_array *a, const char *path,
                                     const eddy_files *files, eddy_error *error);
EDDY_API eddy_array *eddy_array_load(const char *path, const eddy_files *files, eddy_error *error);

/* --------------------------------------------------- graphs and tensors -- */

/* Owns every node, name, constant and optimizer made in it.  Nodes are never
 * removed, and an input always has a smaller id than its consumer, so ids are
 * a topological order.  While a thread builds, which gradients and L-BFGS do too, no other
 * may build, run or look up on that graph; otherwise any number of threads may run. */
typedef struct eddy_graph eddy_graph;

/* One output of one node: a value of 16 bytes, copied freely, never freed,
 * valid as long as its graph.  node 0 is the invalid tensor.  A node without
 * outputs (no_op, a train step) is passed around as output 0 of itself. */
typedef struct eddy_tensor {
    eddy_graph *graph;
    int32_t     node;
    int32_t     output;
} eddy_tensor;

/* Several tensors, as an argument: EDDY_LIST(a, b), EDDY_LIST().  In C++ the
 * list lives to the end of the statement. */
typedef struct eddy_list {
    int                count;
    const eddy_tensor *at;
} eddy_list;
#ifdef __cplusplus
#define EDDY_ZERO_TENSOR eddy_tensor{ nullptr, 0, 0 }
#else
#define EDDY_ZERO_TENSOR { NULL, 0, 0 }
#endif
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

/* Options of a call: the argument struct's first members in order, the others
 * by name; what is left out is zero, which means the default.  The leading
 * member keeps compilers from warning about the ones left out.  C++ does not mix
 * the two: there the names go to the function behind the macro, as in
 * eddy_sum_with({ .x = x, .keepdims = true }) of C++20. */
#ifdef __cplusplus
#define EDDY_ARGS(type, ...) (type{ 0, __VA_ARGS__ })
#else
#define EDDY_ARGS(type, ...) ((type){ .unused_ = 0, __VA_ARGS__ })
#endif

typedef struct eddy_graph_args {
    char                  unused_;
    const eddy_allocator *allocator;  /* copied; default libc */
    const eddy_files     *files;      /* copied; default POSIX */
    int64_t               seed;       /* of the random operations; default 87654321 */
} eddy_graph_args;

/* A new, empty graph; NULL if memory is out.
 *   eddy_graph_new(), eddy_graph_new(.seed = 7) */
EDDY_API eddy_graph *eddy_graph_new_with(eddy_graph_args args);
#define eddy_graph_new(...) eddy_graph_new_with(EDDY_ARGS(eddy_graph_args, __VA_ARGS__))

/* Frees the graph and all that it owns: its handles are invalid from this call
 * on.  Sessions of it answer CLOSED, and memory is given back with the last. */
EDDY_API void        eddy_graph_free(eddy_graph *g);

EDDY_API eddy_status eddy_graph_status(const eddy_graph *g);   /* the first error, or EDDY_OK */
EDDY_API const char *eddy_graph_message(const eddy_graph *g);  /* its sentence, "" if none; lives with g until cleared */
EDDY_API void        eddy_graph_clear_error(eddy_graph *g);    /* go on building after it */
/* Called at the first error, while the guilty call is still on the stack. */
EDDY_API void        eddy_graph_on_error(eddy_graph *g, void (*handler)(void *user, eddy_status s, const char *message), void *user);

EDDY_API void        eddy_graph_set_seed(eddy_graph *g, int64_t seed);
EDDY_API int64_t     eddy_graph_seed(const eddy_graph *g);
EDDY_API int32_t     eddy_graph_size(const eddy_graph *g);     /* nodes; also the largest id */
EDDY_API void        eddy_graph_finalize(eddy_graph *g);       /* no node from now on; later errors stop no run */
EDDY_API bool        eddy_graph_is_finalized(const eddy_graph *g);

EDDY_API bool        eddy_is_valid(eddy_tensor t);
EDDY_API bool        eddy_same(eddy_tensor a, eddy_tensor b);  /* the same output of the same node */
EDDY_API eddy_dtype  eddy_dtype_of(eddy_tensor t);             /* EDDY_DEFAULT_DTYPE if invalid or without a value */
EDDY_API eddy_shape  eddy_shape_of(eddy_tensor t);             /* static shape; unknown rank if invalid */
EDDY_API const char *eddy_name_of(eddy_tensor t);              /* the node's name, "" if invalid; lives with the graph */
EDDY_API const char *eddy_type_of(eddy_tensor t);              /* the operation's type, "MatMul" */
EDDY_API int         eddy_outputs_of(eddy_tensor t);           /* how many values the node yields */
EDDY_API eddy_tensor eddy_output(eddy_tensor t, int i);        /* output i of t's node */
EDDY_API int         eddy_inputs_of(eddy_tensor t);            /* how many data inputs */
EDDY_API eddy_tensor eddy_input(eddy_tensor t, int i);
EDDY_API int         eddy_controls_of(eddy_tensor t);          /* how many control inputs */
EDDY_API eddy_tensor eddy_control(eddy_tensor t, int i);
EDDY_API const char *eddy_device_of(eddy_tensor t);            /* "" if none was set */
EDDY_API eddy_tensor eddy_node_at(eddy_graph *g, int32_t id);  /* output 0 of node id, 1..size */

/* Narrows t's static shape (as tf.Tensor.set_shape); a shape that contradicts
 * what is known is an error.  Returns t. */
EDDY_API eddy_tensor eddy_set_shape(eddy_tensor t, eddy_shape s);

/* ------------------------------------------------------ names and scopes -- */

/* Names are unique in a graph, whatever their case; a taken name gets _1, _2
 * ...  eddy_named renames t's node to `name` in the current scope; a name that
 * ends in '/' is taken as it is, less the slash.  Returns t. */
EDDY_API eddy_tensor eddy_named(const char *name, eddy_tensor t);
/* The name that the next node asked to be called `name` would get; it is
 * reserved if `reserve`.  buf is cut to size and returned. */
EDDY_API char       *eddy_unique_name(eddy_graph *g, const char *name, bool reserve, char *buf, size_t size);

/* Nodes made between begin and end get the scope's name and a slash in front.
 * A name in use gets _1 and so on; one ending in '/' re-enters exactly that
 * scope; NULL or "" goes back to the root for the duration. */
EDDY_API void        eddy_scope_begin(eddy_graph *g, const char *name);
EDDY_API void        eddy_scope_end(eddy_graph *g);
EDDY_API const char *eddy_scope_name(const eddy_graph *g);     /* with its slash; "" at the root */

/* Nodes made between begin and end run after all of `after`.  Blocks nest and
 * add up; eddy_control_clear opens a block free of the outer ones. */
EDDY_API void        eddy_control_begin(eddy_graph *g, eddy_list after);
EDDY_API void        eddy_control_clear(eddy_graph *g);
EDDY_API void        eddy_control_end(eddy_graph *g);

/* A device string for the nodes made inside, "/cpu:0"; recorded, written to
 * files, and without other effect in this version. */
EDDY_API void        eddy_device_begin(eddy_graph *g, const char *device);
EDDY_API void        eddy_device_end(eddy_graph *g);

/* Nodes of this op type made inside are differentiated by the gradient that is
 * registered under that name (eddy_register_gradient, when it is needed at the
 * latest), instead of their op's own rule.  Scopes nest; the innermost for a
 * type wins.  NULL or "": the op's own rule again.
 *   eddy_gradient_override_begin(g, "Square", "CustomSquare");
 * tf.Graph.gradient_override_map. */
EDDY_API void        eddy_gradient_override_begin(eddy_graph *g, const char *op_type,
                                                  const char *gradient);
EDDY_API void        eddy_gradient_override_end(eddy_graph *g);

/* -------------------------------------------------------------- look-up -- */

/* By name: eddy_graph_tensor takes "op:0", eddy_graph_operation "op".  An
 * unknown or malformed name is an error of the graph (NOT_FOUND,
 * INVALID_ARGUMENT); eddy_graph_has asks without consequences, either form. */
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
#define EDDY_TRAIN_OP                  "train_op"
#define EDDY_GLOBAL_STEP               "global_step"
#define EDDY_EVAL_STEP                 "eval_step"
#define EDDY_SUMMARIES                 "summaries"
#define EDDY_INIT_OP                   "init_op"
#define EDDY_LOCAL_INIT_OP             "local_init_op"
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

/* Named lists of tensors, in order, repeats allowed. */
EDDY_API void        eddy_collection_add(eddy_graph *g, const char *key, eddy_tensor t);
/* Adds t once to each different key of keys[0..n-1]. */
EDDY_API void        eddy_collections_add(eddy_graph *g, const char *const *keys, int n, eddy_tensor t);
/* Entries whose node name begins with `prefix` (all if NULL or ""): copies up
 * to `max` of them to out and returns how many there are. */
EDDY_API int         eddy_collection_get(const eddy_graph *g, const char *key, const char *prefix, eddy_tensor *out, int max);
EDDY_API int         eddy_collection_size(const eddy_graph *g, const char *key);
EDDY_API eddy_tensor eddy_collection_at(eddy_graph *g, const char *key, int i);
EDDY_API bool        eddy_collection_has(const eddy_graph *g, const char *key, eddy_tensor t);
EDDY_API void        eddy_collection_clear(eddy_graph *g, const char *key);

/* ------------------------------------------------------------- listings -- */

/* One line a node, "id name = Type(inputs) dtype[shape]"; or Graphviz source.
 * The string is the caller's, freed with eddy_string_free; NULL if memory is
 * out or g is not a graph. */
EDDY_API char *eddy_graph_to_text(const eddy_graph *g);
EDDY_API char *eddy_graph_to_dot(const eddy_graph *g);
EDDY_API void  eddy_string_free(char *s);

/* ---------------------------------------------------------- graph files -- */

/* The whole graph as YAML: nodes with their attributes, shapes and names,
 * constants to the bit, collections; the same graph gives the same bytes.
 * docs/graph-files.md describes the format; eddy_graph_load (ops.h) reads it.
 * Save replaces the file as a whole or leaves it as it was.  A graph with an
 * error is refused with that error, and to_yaml gives NULL. */
EDDY_API eddy_status eddy_graph_save(const eddy_graph *g, const char *path, eddy_error *error);
EDDY_API char       *eddy_graph_to_yaml(const eddy_graph *g);   /* for eddy_string_free */

#ifdef __cplusplus
}
#endif
#endif
