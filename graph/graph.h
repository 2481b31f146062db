/* graph.h -- the core types and functions: shapes, arrays, graphs, tensors.
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
#include "options.h"             /* argument structs; EDDY_MAX_RANK, eddy_dims */
#ifdef __cplusplus
extern "C" {
#endif

#define EDDY_API __attribute__((visibility("default")))

/* The version of these headers: EDDY_VERSION is "0.1.0", and EDDY_VERSION_NUMBER is 100; version
 * numbers compare as integers. */
#define EDDY_VERSION_MAJOR 0
#define EDDY_VERSION_MINOR 1
#define EDDY_VERSION_PATCH 0
#define EDDY_VERSION_NUMBER \
    (EDDY_VERSION_MAJOR * 10000 + EDDY_VERSION_MINOR * 100 + EDDY_VERSION_PATCH)
#define EDDY_TEXT_2_(x) #x
#define EDDY_TEXT_(x)   EDDY_TEXT_2_(x)
#define EDDY_VERSION \
    EDDY_TEXT_(EDDY_VERSION_MAJOR) "." EDDY_TEXT_(EDDY_VERSION_MINOR) "." \
    EDDY_TEXT_(EDDY_VERSION_PATCH)

/* The version of the library that the program is running with, a static string. */
EDDY_API const char *eddy_version(void);

/* ------------------------------------------------------------- status -- */

/* This list generates the enum, the names and the texts. Brackets contain the errors that
 * TensorFlow raises in the same situation. */
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
    X(INTERNAL,          "a defect of the library")                             \
    X(CANCELLED,         "the run was cancelled") /* [Cancelled]                */ \
    X(TIMED_OUT,         "the run took too long") /* [DeadlineExceeded]         */

#define EDDY_STATUS_ENUM(name, text) EDDY_##name,
typedef enum eddy_status { EDDY_STATUS_LIST(EDDY_STATUS_ENUM) } eddy_status;
#undef EDDY_STATUS_ENUM

/* The name of the constant without its prefix ("BAD_SHAPE"), and a short text. Both are static
 * strings; an unknown value gives "?". */
EDDY_API const char *eddy_status_name(eddy_status s);
EDDY_API const char *eddy_status_text(eddy_status s);

/* An error with its message, for functions that have no graph or session to record it on.
 * Zero-initialize it; the functions below accept NULL for it. */
typedef struct eddy_error {
    eddy_status status;
    char        message[1012];
} eddy_error;

/* ------------------------------------------------- allocator and files -- */

/* A memory allocator. allocate returns NULL if no memory is left; release gets the size that was
 * requested. Both must be thread-safe if the graph or its sessions are used by several threads.
 * The default is libc's. */
typedef struct eddy_allocator {
    void *(*allocate)(void *context, size_t size);
    void  (*release)(void *context, void *p, size_t size);
    void   *context;
} eddy_allocator;

/* File access. Each function returns -1 with errno set on failure, like the POSIX function of
 * its name. The default is POSIX.
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

/* Element types. Zero means "the default" wherever an option takes an element type. A complex
 * element is the real part followed by the imaginary part, a C `float complex` or C++
 * std::complex<float>. Support for the half types (float16, bfloat16) depends on the operation;
 * its documentation says whether it accepts them. */
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
    EDDY_DTYPES               /* the number of element types */
} eddy_dtype;

EDDY_API const char *eddy_dtype_name(eddy_dtype d);       /* "float32"; "?" if unknown */
EDDY_API eddy_dtype  eddy_dtype_named(const char *name);  /* EDDY_DEFAULT_DTYPE if none */
EDDY_API size_t      eddy_dtype_size(eddy_dtype d);       /* bytes; 0 if unknown */
EDDY_API bool        eddy_dtype_is_floating(eddy_dtype d);/* float16, bfloat16, 32, 64 */
EDDY_API bool        eddy_dtype_is_integer(eddy_dtype d); /* int32, int64, uint8 */
EDDY_API bool        eddy_dtype_is_complex(eddy_dtype d);
EDDY_API eddy_dtype  eddy_dtype_real(eddy_dtype d);       /* of the parts if d is complex; else d */
/* Gradients flow through floating and complex tensors only. */
EDDY_API bool        eddy_dtype_is_differentiable(eddy_dtype d);

/* -------------------------------------------------------------- shapes -- */

enum { EDDY_ANY = -1, EDDY_UNKNOWN_RANK = -1 };

/* rank dimensions, each >= 0, or EDDY_ANY if it is known only in a run. With rank
 * EDDY_UNKNOWN_RANK nothing is known. A zeroed shape is a scalar. The tag of the struct appears in
 * the messages of compilers if something else is passed, as in eddy_reshape(x, 3, 4) instead of
 * eddy_reshape(x, EDDY_SHAPE(3, 4)). */
typedef struct eddy_write_EDDY_SHAPE_ {
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

/* A shape from an array of dimensions. rank > EDDY_MAX_RANK, or dim NULL with rank > 0, gives a
 * shape that eddy_shape_is_valid rejects. */
EDDY_API eddy_shape eddy_shape_of_dims(const int64_t *dim, size_t rank);
EDDY_API eddy_shape eddy_shape_unknown(void);
#ifdef __cplusplus
inline eddy_shape eddy_shape_of_list_(std::initializer_list<int64_t> dim)
{
    return eddy_shape_of_dims(dim.begin(), dim.size());
}
#endif
/* True if the rank is within limits, dimensions are >= -1, and there are at most 2^48 elements. */
EDDY_API bool       eddy_shape_is_valid(eddy_shape s);
EDDY_API bool       eddy_shape_is_known(eddy_shape s);    /* all dimensions known */
EDDY_API bool       eddy_shape_equal(eddy_shape a, eddy_shape b);      /* identical */
EDDY_API bool       eddy_shape_compatible(eddy_shape a, eddy_shape b); /* may be equal */
EDDY_API int64_t    eddy_shape_count(eddy_shape s);       /* number of elements; -1 if unknown */
/* Broadcasting as in NumPy; false if the shapes are incompatible. */
EDDY_API bool       eddy_shape_broadcast(eddy_shape a, eddy_shape b, eddy_shape *out);
/* Prints "[32,784]", "[?,784]", "[]", or "?" for unknown rank; truncated to size; returns buf. */
EDDY_API char      *eddy_shape_print(eddy_shape s, char *buf, size_t size);

/* -------------------------------------------------------------- arrays -- */

/* Concrete data: dtype, shape and row-major elements, reference counted. The count is atomic;
 * the caller must synchronize access to the elements. Constructors return NULL if the shape is
 * not fully known or too large, or if out of memory. Free with eddy_array_free. */
typedef struct eddy_array eddy_array;

EDDY_API eddy_array *eddy_array_new(eddy_dtype d, eddy_shape s);      /* zeros */
EDDY_API eddy_array *eddy_array_copy_of(eddy_dtype d, eddy_shape s, const void *data);
/* Refers to the caller's memory, which must outlive the array. */
EDDY_API eddy_array *eddy_array_borrow(eddy_dtype d, eddy_shape s, void *data);
/* Takes ownership of data: release(context, data) is called when the last reference is freed. */
EDDY_API eddy_array *eddy_array_adopt(eddy_dtype d, eddy_shape s, void *data,
                                      void (*release)(void *context, void *data), void *context);
EDDY_API eddy_array *eddy_array_new_in(const eddy_allocator *a, eddy_dtype d, eddy_shape s);
EDDY_API eddy_array *eddy_array_of(eddy_dtype d, double value);       /* a scalar */
/* Adds a reference and returns a. For an array that lives in a block (below) it returns a copy;
 * NULL if out of memory. */
EDDY_API eddy_array *eddy_array_retain(eddy_array *a);
EDDY_API eddy_array *eddy_array_copy(const eddy_array *a);            /* NULL for NULL */
EDDY_API void        eddy_array_free(eddy_array *a);                  /* one reference; NULL is allowed */

EDDY_API void       *eddy_array_data(const eddy_array *a);            /* NULL for NULL */
EDDY_API eddy_dtype  eddy_array_dtype(const eddy_array *a);
EDDY_API eddy_shape  eddy_array_shape(const eddy_array *a);
EDDY_API int64_t     eddy_array_count(const eddy_array *a);           /* elements */
EDDY_API size_t      eddy_array_bytes(const eddy_array *a);
/* Element i as a double (complex: the real part); NaN if i is out of range. */
EDDY_API double      eddy_array_get(const eddy_array *a, int64_t i);
/* Stores v with C's conversion, saturated for integers; false if i is out of range. */
EDDY_API bool        eddy_array_set(eddy_array *a, int64_t i, double v);
/* The imaginary part of element i: 0 for real types; NaN if i is out of range. */
EDDY_API double      eddy_array_get_imag(const eddy_array *a, int64_t i);
/* Stores both parts; false if i is out of range or the type is not complex. */
EDDY_API bool        eddy_array_set_complex(eddy_array *a, int64_t i, double re, double im);
EDDY_API double      eddy_array_item(const eddy_array *a);            /* element 0 */
EDDY_API bool        eddy_array_equal(const eddy_array *a, const eddy_array *b); /* bit for bit */
/* Prints nested brackets with %g, complex elements as (1,2), and "..." after `limit` elements;
 * truncated to size; returns buf. */
EDDY_API char       *eddy_array_print(const eddy_array *a, int64_t limit, char *buf, size_t size);

/* NumPy's .npy files, format 1.0 to 3.0, all dtypes above except bfloat16. load reads other integers
 * as int32 or int64, and returns an array that the caller frees, or NULL. files NULL means POSIX. */
EDDY_API eddy_status eddy_array_save(const eddy_array *a, const char *path,
                                     const eddy_files *files, eddy_error *error);
EDDY_API eddy_array *eddy_array_load(const char *path, const eddy_files *files, eddy_error *error);

/* -------------------------------------------------------- small arrays -- */

/* Temporary arrays for one call or one block, without allocating or freeing: for feeds, values
 * of variables and constants.
 *
 *   EDDY_FLOATS(1, 2, 3)                        float32[3]; DOUBLES, INTS (int32), INT64S,
 *                                               BYTES (uint8), BOOLS; one element or more
 *   EDDY_NUMBER(EDDY_FLOAT32, 0.1)              a scalar, converted from a double
 *   EDDY_VIEW(p, 4, 2)                          the 8 elements at p, with the dtype of *p;
 *                                               they are not copied
 *   EDDY_SHAPED(EDDY_FLOATS(1, 2, 3, 4), 2, 2)  the elements of any array with another shape
 *
 *   eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(pixels, 32, 784) }), EDDY_FETCH(y), &out);
 *   eddy_variable_set(s, rate, EDDY_NUMBER(EDDY_FLOAT32, 0.1));
 *   eddy_tensor c = eddy_constant(g, EDDY_FLOATS(1, 2, 3));
 *
 * They live until the end of the block (in C++: of the statement), as do the numbers of a list.
 * To keep one longer, use eddy_array_copy. Functions that retain an array, such as
 * eddy_constant, copy it. eddy_array_free does nothing to it. The result is NULL where
 * eddy_array_new returns NULL, if p is NULL, and for a shape with another number of elements. */
typedef struct __attribute__((may_alias)) eddy_array_room {
    void *room_[24];
} eddy_array_room;
/* Called by the macros. The header of the array is stored in *room, and so is the element of
 * EDDY_NUMBER. */
EDDY_API const eddy_array *eddy_array_view(eddy_array_room *room, eddy_dtype d, eddy_shape s,
                                           const void *data);
EDDY_API const eddy_array *eddy_array_number(eddy_array_room *room, eddy_dtype d, double value);
EDDY_API const eddy_array *eddy_array_shaped(eddy_array_room *room, const eddy_array *a,
                                             eddy_shape s);
#ifdef __cplusplus
extern "C++" {
inline eddy_dtype eddy_dtype_at_(const float *)     { return EDDY_FLOAT32; }
inline eddy_dtype eddy_dtype_at_(const double *)    { return EDDY_FLOAT64; }
inline eddy_dtype eddy_dtype_at_(const int *)       { return EDDY_INT32; }
inline eddy_dtype eddy_dtype_at_(const long *)
{
    return sizeof(long) == 8 ? EDDY_INT64 : EDDY_INT32;
}
inline eddy_dtype eddy_dtype_at_(const long long *) { return EDDY_INT64; }
inline eddy_dtype eddy_dtype_at_(const uint8_t *)   { return EDDY_UINT8; }
inline eddy_dtype eddy_dtype_at_(const bool *)      { return EDDY_BOOL; }
template <typename T>
inline const eddy_array *eddy_view_(const T *p, eddy_shape s, eddy_array_room &&room = {})
{
    return eddy_array_view(&room, eddy_dtype_at_(p), s, p);
}
template <typename T>
inline const eddy_array *eddy_elements_(std::initializer_list<T> at, eddy_array_room &&room = {})
{
    return eddy_view_(at.begin(), EDDY_SHAPE((int64_t)at.size()), (eddy_array_room &&)room);
}
inline const eddy_array *eddy_number_(eddy_dtype d, double value, eddy_array_room &&room = {})
{
    return eddy_array_number(&room, d, value);
}
inline const eddy_array *eddy_shaped_(const eddy_array *a, eddy_shape s,
                                      eddy_array_room &&room = {})
{
    return eddy_array_shaped(&room, a, s);
}
}
#define EDDY_ELEMENTS_(type, ...) (eddy_elements_<type>({ __VA_ARGS__ }))
#define EDDY_NUMBER(dtype, value) (eddy_number_(dtype, value))
#define EDDY_VIEW(p, ...)         (eddy_view_(p, EDDY_SHAPE(__VA_ARGS__)))
#define EDDY_SHAPED(a, ...)       (eddy_shaped_(a, EDDY_SHAPE(__VA_ARGS__)))
#else
#define EDDY_DTYPE_AT_(p) _Generic(&(p)[0],                                             \
    float *: EDDY_FLOAT32,   const float *: EDDY_FLOAT32,                               \
    double *: EDDY_FLOAT64,  const double *: EDDY_FLOAT64,                              \
    int *: EDDY_INT32,       const int *: EDDY_INT32,                                   \
    long *: sizeof(long) == 8 ? EDDY_INT64 : EDDY_INT32,                                \
    const long *: sizeof(long) == 8 ? EDDY_INT64 : EDDY_INT32,                          \
    long long *: EDDY_INT64, const long long *: EDDY_INT64,                             \
    uint8_t *: EDDY_UINT8,   const uint8_t *: EDDY_UINT8,                               \
    bool *: EDDY_BOOL,       const bool *: EDDY_BOOL,                                   \
    float _Complex *: EDDY_COMPLEX64,   const float _Complex *: EDDY_COMPLEX64,         \
    double _Complex *: EDDY_COMPLEX128, const double _Complex *: EDDY_COMPLEX128)
#define EDDY_ROOM_ (&(eddy_array_room){ { NULL } })
#define EDDY_ELEMENTS_(type, ...)                                                       \
    EDDY_VIEW(((const type[]){ __VA_ARGS__ }), sizeof((type[]){ __VA_ARGS__ }) / sizeof(type))
#define EDDY_NUMBER(dtype, value) (eddy_array_number(EDDY_ROOM_, dtype, value))
#define EDDY_VIEW(p, ...) \
    (eddy_array_view(EDDY_ROOM_, EDDY_DTYPE_AT_(p), EDDY_SHAPE(__VA_ARGS__), p))
#define EDDY_SHAPED(a, ...) (eddy_array_shaped(EDDY_ROOM_, a, EDDY_SHAPE(__VA_ARGS__)))
#endif
#define EDDY_FLOATS(...)  EDDY_ELEMENTS_(float, __VA_ARGS__)
#define EDDY_DOUBLES(...) EDDY_ELEMENTS_(double, __VA_ARGS__)
#define EDDY_INTS(...)    EDDY_ELEMENTS_(int32_t, __VA_ARGS__)
#define EDDY_INT64S(...)  EDDY_ELEMENTS_(int64_t, __VA_ARGS__)
#define EDDY_BYTES(...)   EDDY_ELEMENTS_(uint8_t, __VA_ARGS__)
#define EDDY_BOOLS(...)   EDDY_ELEMENTS_(bool, __VA_ARGS__)

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
 * option whose default is a number other than 0. */
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
#define EDDY_REPLACEMENTS_(...) ((const eddy_replacement[]){ { EDDY_ZERO_TENSOR, EDDY_ZERO_TENSOR }, __VA_ARGS__ })
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
EDDY_API const char *eddy_graph_message(const eddy_graph *g);  /* its message, "" if none; valid until cleared */
EDDY_API void        eddy_graph_clear_error(eddy_graph *g);    /* building can then continue */
/* Sets a handler, called at the first error while the failing call is still on the stack. */
EDDY_API void        eddy_graph_on_error(eddy_graph *g, void (*handler)(void *user, eddy_status s, const char *message), void *user);

EDDY_API void        eddy_graph_set_seed(eddy_graph *g, int64_t seed);
EDDY_API int64_t     eddy_graph_seed(const eddy_graph *g);
EDDY_API int32_t     eddy_graph_size(const eddy_graph *g);     /* nodes; also the largest id */
EDDY_API void        eddy_graph_finalize(eddy_graph *g);       /* adds no more nodes; later errors do not fail runs */
EDDY_API bool        eddy_graph_is_finalized(const eddy_graph *g);

/* A variable with a name in files. */
typedef struct eddy_named_variable {
    const char *name;                /* lives with the graph */
    eddy_tensor variable;
} eddy_named_variable;

EDDY_API bool        eddy_is_valid(eddy_tensor t);
EDDY_API bool        eddy_same(eddy_tensor a, eddy_tensor b);  /* the same output of the same node */
EDDY_API eddy_dtype  eddy_dtype_of(eddy_tensor t);             /* EDDY_DEFAULT_DTYPE if invalid or without a value */
EDDY_API eddy_shape  eddy_shape_of(eddy_tensor t);             /* static shape; unknown rank if invalid */
EDDY_API const char *eddy_name_of(eddy_tensor t);              /* the node's name, "" if invalid; lives with the graph */
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
EDDY_API char       *eddy_unique_name(eddy_graph *g, const char *name, bool reserve, char *buf, size_t size);

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
EDDY_API void        eddy_collections_add(eddy_graph *g, const char *const *keys, int n, eddy_tensor t);
/* Entries whose node name starts with `prefix` (all if NULL or ""): copies up to `max` of them
 * to out and returns their total number. */
EDDY_API int         eddy_collection_get(const eddy_graph *g, const char *key, const char *prefix, eddy_tensor *out, int max);
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
 * the bit, collections; the same graph gives the same bytes. docs/guide/graph-files.md describes the
 * format; eddy_graph_load (ops.h) reads it. Save replaces the whole file or leaves it unchanged.
 * A graph with an error is rejected with that error, and to_yaml returns NULL. */
EDDY_API eddy_status eddy_graph_save(const eddy_graph *g, const char *path, eddy_error *error);
EDDY_API char       *eddy_graph_to_yaml(const eddy_graph *g);   /* for eddy_string_free */

#ifdef __cplusplus
}
#endif
#endif
