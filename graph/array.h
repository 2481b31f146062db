/* array.h -- element types, shapes and arrays. Included by graph.h. */
#ifndef EDDY_ARRAY_H
#define EDDY_ARRAY_H

#include <stdio.h>

#ifdef __cplusplus
#include <initializer_list>     /* C++ has no compound literals: this implements the lists below */
#endif
#include "options.h"             /* argument structs; EDDY_MAX_RANK, eddy_dims */
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* NumPy's .npy files, format 1.0 to 3.0, all dtypes above except bfloat16. load reads other
 * integers as int32 or int64, and returns an array that the caller frees, or NULL. files NULL means
 * POSIX. */
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
    uint64_t room_[24];
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
#define EDDY_ROOM_ (&(eddy_array_room){ { 0 } })
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

#ifdef __cplusplus
}
#endif
#endif
