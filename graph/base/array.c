/* array.c -- arrays: reference-counted data with an element type and a shape. */
#include "graph/base/half.h"
#include "graph/base/base.h"
#include "graph/base/dtype.h"
#include "graph/base/interruptible.h"
#include "graph/base/new_array.h"

#include <complex.h>
#include <math.h>
#include <string.h>

struct eddy_array {
    atomic_int     refs;
    eddy_type      type;
    int64_t        count;
    size_t         bytes;
    void          *data;
    void          *base;            /* the address from the allocator; NULL for foreign memory */
    eddy_allocator allocator;
    void         (*release)(void *context, void *data);
    void          *context;
};

static bool sizes(eddy_dtype d, eddy_shape s, int64_t *count, size_t *bytes)
{
    size_t size = eddy_dtype_size(d);
    if (size == 0 || !eddy_shape_is_valid(s) || !eddy_shape_is_known(s)) return false;
    *count = eddy_shape_count(s);
    *bytes = (size_t)*count * size;
    return *count <= eddy__most_bytes / (int64_t)size;
}

static eddy_array *header(const eddy_allocator *a, eddy_dtype d, eddy_shape s)
{
    int64_t count;
    size_t  bytes;
    if (!sizes(d, s, &count, &bytes)) return NULL;
    eddy_array *r = eddy__allocate_zeroed(a, 1, sizeof *r);
    if (!r) return NULL;
    atomic_init(&r->refs, 1);
    r->type = (eddy_type){ d, s };
    r->count = count;
    r->bytes = bytes;
    r->allocator = *a;
    return r;
}

eddy_array *eddy__array_unset(const eddy_allocator *a, eddy_dtype d, eddy_shape s)
{
    if (!a) a = &eddy__libc;
    eddy_array *r = header(a, d, s);
    if (!r) return NULL;
    r->data = eddy__allocate_aligned(a, r->bytes, &r->base);
    if (!r->data) {
        eddy__release(a, r, sizeof *r);
        return NULL;
    }
    return r;
}

eddy_array *eddy_array_new_in(const eddy_allocator *a, eddy_dtype d, eddy_shape s)
{
    eddy_array *r = eddy__array_unset(a, d, s);
    if (r) memset(r->data, 0, r->bytes);
    return r;
}

eddy_array *eddy_array_new(eddy_dtype d, eddy_shape s)
{
    return eddy_array_new_in(&eddy__libc, d, s);
}

eddy_array *eddy_array_copy_of(eddy_dtype d, eddy_shape s, const void *data)
{
    eddy_array *r = eddy__array_unset(NULL, d, s);
    if (r && !data && r->bytes > 0) {
        eddy_array_free(r);
        return NULL;
    }
    if (r && r->bytes > 0) memcpy(r->data, data, r->bytes);
    return r;
}

eddy_array *eddy_array_adopt(eddy_dtype d, eddy_shape s, void *data,
                             void (*release)(void *context, void *data), void *context)
{
    eddy_array *r = header(&eddy__libc, d, s);
    if (r && !data && r->bytes > 0) {
        eddy__release(&eddy__libc, r, sizeof *r);
        return NULL;
    }
    if (!r) return NULL;
    r->data = data;
    r->release = release;
    r->context = context;
    return r;
}

eddy_array *eddy_array_borrow(eddy_dtype d, eddy_shape s, void *data)
{
    return eddy_array_adopt(d, s, data, NULL, NULL);
}

eddy_array *eddy_array_of(eddy_dtype d, double value)
{
    eddy_array *r = eddy_array_new(d, EDDY_SCALAR);
    if (r) eddy_array_set(r, 0, value);
    return r;
}

/* -------------------------------------------------------- arrays on the stack -- */

/* An array without reference count, stored in an eddy_array_room, the type of which may alias. */
typedef struct inline_array {
    eddy_array array;
    double     element[2];
} inline_array;
_Static_assert(sizeof(inline_array) <= sizeof(eddy_array_room), "no room for an array");

static bool is_inline(const eddy_array *a)
{
    return atomic_load_explicit(&a->refs, memory_order_relaxed) == 0;
}

const eddy_array *eddy_array_view(eddy_array_room *room, eddy_dtype d, eddy_shape s,
                                  const void *data)
{
    int64_t count;
    size_t  bytes;
    if (!room || !sizes(d, s, &count, &bytes) || (bytes > 0 && !data)) return NULL;
    eddy_array *a = (eddy_array *)(void *)room;
    memset(a, 0, sizeof *a);
    atomic_init(&a->refs, 0);
    a->type = (eddy_type){ d, s };
    a->count = count;
    a->bytes = bytes;
    a->data = (void *)(uintptr_t)data;
    return a;
}

const eddy_array *eddy_array_number(eddy_array_room *room, eddy_dtype d, double value)
{
    inline_array *l = (inline_array *)(void *)room;
    if (!eddy_array_view(room, d, EDDY_SCALAR, l ? l->element : NULL)) return NULL;
    eddy_array_set(&l->array, 0, value);
    return &l->array;
}

const eddy_array *eddy_array_shaped(eddy_array_room *room, const eddy_array *a, eddy_shape s)
{
    if (!a || eddy_shape_count(s) != a->count) return NULL;
    return eddy_array_view(room, a->type.dtype, s, a->data);
}

/* ------------------------------------------------------------ references -- */

eddy_array *eddy_array_copy(const eddy_array *a)
{
    return a ? eddy_array_copy_of(a->type.dtype, a->type.shape, a->data) : NULL;
}

eddy_array *eddy_array_retain(eddy_array *a)
{
    if (!a) return NULL;
    if (is_inline(a)) return eddy_array_copy(a);
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void eddy_array_free(eddy_array *a) { eddy__array_free_late(a, NULL); }

void eddy__array_free_late(eddy_array *a, const eddy_stop *stop)
{
    if (!a || is_inline(a) || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
        return;
    eddy_allocator allocator = a->allocator;
    if (a->release) a->release(a->context, a->data);
    if (a->base) eddy__release_late(stop, &allocator, a->base, a->bytes);
    eddy__release(&allocator, a, sizeof *a);
}

void      *eddy_array_data(const eddy_array *a)  { return a ? a->data : NULL; }
eddy_dtype eddy_array_dtype(const eddy_array *a) { return a ? a->type.dtype : EDDY_DEFAULT_DTYPE; }
eddy_shape eddy_array_shape(const eddy_array *a)
{
    return a ? a->type.shape : eddy_shape_unknown();
}
int64_t    eddy_array_count(const eddy_array *a) { return a ? a->count : 0; }
size_t     eddy_array_bytes(const eddy_array *a) { return a ? a->bytes : 0; }
bool       eddy__array_is_shared(const eddy_array *a)
{
    return a && atomic_load_explicit(&a->refs, memory_order_acquire) > 1;
}
bool       eddy__array_is_borrowed(const eddy_array *a) { return a && !a->base; }

/* ------------------------------------------------------------ elements -- */

/* An element as a double, the real part if it is complex. */
#define GET_FLOATING(suffix, x) (double)(x)
#define GET_INTEGER(suffix, x)  (double)(x)
#define GET_BOOLEAN(suffix, x)  (x) != 0
#define GET_HALF(suffix, x)     (double)eddy__f32_of_##suffix(x)
#define GET_COMPLEX(suffix, x)  creal((double complex)(x))
#define GET(suffix, ...)                                                        \
    case EDDY_COLUMN(DTYPE, suffix):                                            \
        return EDDY_OF_KIND(GET, suffix)(suffix, ((const EDDY_COLUMN(ELEMENT, suffix) *)p)[i]);

double eddy_array_get(const eddy_array *a, int64_t i)
{
    if (!a || i < 0 || i >= a->count) return NAN;
    const void *p = a->data;
    switch ((int)a->type.dtype) { FOR_ALL_TYPES(GET, 0) }
    return NAN;
}

/* v as an integer of [low, high]; NaN is 0. */
static int64_t saturated(double v, int64_t low, int64_t high)
{
    if (isnan(v)) return 0;
    if (v <= (double)low) return low;
    if (v >= (double)high) return high;
    return (int64_t)v;
}

/* The element whose value is v. */
#define SET_FLOATING(suffix) v
#define SET_INTEGER(suffix)  \
    saturated(v, EDDY_COLUMN(LOWEST, suffix), EDDY_COLUMN(HIGHEST, suffix))
#define SET_BOOLEAN(suffix)  v != 0
#define SET_HALF(suffix)     eddy__##suffix##_of_f64(v)
#define SET_COMPLEX(suffix)  v
#define SET(suffix, ...)                                                        \
    case EDDY_COLUMN(DTYPE, suffix):                                            \
        ((EDDY_COLUMN(ELEMENT, suffix) *)p)[i] =                                \
            (EDDY_COLUMN(ELEMENT, suffix))(EDDY_OF_KIND(SET, suffix)(suffix));  \
        break;

void eddy__element_put(eddy_dtype d, void *p, int64_t i, double v)
{
    switch ((int)d) { FOR_ALL_TYPES(SET, 0) }
}

bool eddy_array_set(eddy_array *a, int64_t i, double v)
{
    if (!a || i < 0 || i >= a->count) return false;
    eddy__element_put(a->type.dtype, a->data, i, v);
    return true;
}

double eddy_array_get_imag(const eddy_array *a, int64_t i)
{
    if (!a || i < 0 || i >= a->count) return NAN;
    if (!eddy_dtype_is_complex(a->type.dtype)) return 0;
    return eddy__float_at(eddy_dtype_real(a->type.dtype), a->data, 2 * i + 1);
}

bool eddy_array_set_complex(eddy_array *a, int64_t i, double re, double im)
{
    if (!a || i < 0 || i >= a->count || !eddy_dtype_is_complex(a->type.dtype)) return false;
    eddy__float_put(eddy_dtype_real(a->type.dtype), a->data, 2 * i, re);
    eddy__float_put(eddy_dtype_real(a->type.dtype), a->data, 2 * i + 1, im);
    return true;
}

double eddy_array_item(const eddy_array *a) { return eddy_array_get(a, 0); }

bool eddy_array_equal(const eddy_array *a, const eddy_array *b)
{
    if (!a || !b) return a == b;
    return a->type.dtype == b->type.dtype && eddy_shape_equal(a->type.shape, b->type.shape) &&
           (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

/* ------------------------------------------------------------ printing -- */

/* The number of trailing dimensions that end at (or, for `starts`, begin at) element i. */
static int edges(eddy_shape s, int64_t i, bool starts)
{
    int     n = 0;
    int64_t stride = 1;
    for (int axis = s.rank - 1; axis >= 0; axis--, n++) {
        stride *= s.dim[axis];
        if ((starts ? i : i + 1) % stride != 0) break;
    }
    return n;
}

char *eddy_array_print(const eddy_array *a, int64_t limit, char *buf, size_t size)
{
    if (!buf || size == 0) return buf;
    buf[0] = 0;
    if (!a) return buf;
    size_t at = 0;
#define PUT(...) \
    do { \
        if (at < size) at += (size_t)snprintf(buf + at, size - at, __VA_ARGS__); \
    } while (0)
    if (a->count == 0) {
        char shape[80];
        PUT("[] of shape %s", eddy_shape_print(a->type.shape, shape, sizeof shape));
    }
    int open = 0;
    for (int64_t i = 0; i < a->count && at < size; i++) {
        int starts = edges(a->type.shape, i, true), ends = edges(a->type.shape, i, false);
        if (i > 0) PUT(", ");
        for (int k = 0; k < starts; k++, open++) PUT("[");
        if (i >= limit) {
            PUT("...");
            while (open-- > 0) PUT("]");
            break;
        }
        if (a->type.dtype == EDDY_BOOL) PUT(eddy_array_get(a, i) != 0 ? "true" : "false");
        else if (eddy_dtype_is_integer(a->type.dtype))
            PUT("%lld", (long long)eddy__whole_at(a->type.dtype, a->data, i));
        else {
            const int  digits = eddy_dtype_real(a->type.dtype) == EDDY_FLOAT64 ? 10 : 7;
            const bool pair = eddy_dtype_is_complex(a->type.dtype);
            PUT("%s%.*g", pair ? "(" : "", digits, eddy_array_get(a, i));
            if (pair) PUT(",%.*g)", digits, eddy_array_get_imag(a, i));
        }
        for (int k = 0; k < ends; k++, open--) PUT("]");
    }
#undef PUT
    return buf;
}
