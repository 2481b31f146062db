/* cast_array.c -- elements of a file as elements of a variable, and the reverse: with one rounding,
 * and integers only if they fit. */
#include "graph/base/half.h"
#include "session/checkpoints/internal.h"

#include <string.h>

/* Elements go through a type that holds all of them: double for floating types, int64_t for
 * integers. */
enum { PART = 1024 };

static void doubles_of(const eddy_array *x, int64_t at, int64_t n, double *to)
{
    const void *p = eddy_array_data(x);
    switch ((int)eddy_array_dtype(x)) {
    case EDDY_FLOAT64: memcpy(to, (const double *)p + at, (size_t)n * sizeof *to); break;
    case EDDY_FLOAT32: for (int64_t i = 0; i < n; i++) to[i] = ((const float *)p)[at + i]; break;
    case EDDY_FLOAT16:
        for (int64_t i = 0; i < n; i++) to[i] = eddy__f32_of_f16(((const uint16_t *)p)[at + i]);
        break;
    case EDDY_BFLOAT16:
        for (int64_t i = 0; i < n; i++) to[i] = eddy__f32_of_bf16(((const uint16_t *)p)[at + i]);
        break;
    default: memset(to, 0, (size_t)n * sizeof *to); break;      /* not floating */
    }
}

#define STORE(T, value)                                                         \
    do {                                                                        \
        T *to = (T *)eddy_array_data(y) + at;                                   \
        for (int64_t i = 0; i < n; i++) to[i] = (T)(value);                     \
    } while (0)

static void store_doubles(eddy_array *y, int64_t at, int64_t n, const double *x)
{
    switch ((int)eddy_array_dtype(y)) {
    case EDDY_FLOAT64: STORE(double, x[i]); break;
    case EDDY_FLOAT32: STORE(float, x[i]); break;
    case EDDY_FLOAT16: STORE(uint16_t, eddy__f16_of_f64(x[i])); break;
    case EDDY_BFLOAT16: STORE(uint16_t, eddy__bf16_of_f64(x[i])); break;
    default: break;
    }
}

static void integers_of(const eddy_array *x, int64_t at, int64_t n, int64_t *to)
{
    const void *p = eddy_array_data(x);
    switch ((int)eddy_array_dtype(x)) {
    case EDDY_INT64: memcpy(to, (const int64_t *)p + at, (size_t)n * sizeof *to); break;
    case EDDY_INT32: for (int64_t i = 0; i < n; i++) to[i] = ((const int32_t *)p)[at + i]; break;
    case EDDY_UINT8: for (int64_t i = 0; i < n; i++) to[i] = ((const uint8_t *)p)[at + i]; break;
    default: break;
    }
}

static void store_integers(eddy_array *y, int64_t at, int64_t n, const int64_t *x)
{
    switch ((int)eddy_array_dtype(y)) {
    case EDDY_INT64: STORE(int64_t, x[i]); break;
    case EDDY_INT32: STORE(int32_t, x[i]); break;
    case EDDY_UINT8: STORE(uint8_t, x[i]); break;
    case EDDY_FLOAT64: STORE(double, x[i]); break;
    case EDDY_FLOAT32: STORE(float, x[i]); break;
    case EDDY_FLOAT16: STORE(uint16_t, eddy__f16_of_f64((double)x[i])); break;
    case EDDY_BFLOAT16: STORE(uint16_t, eddy__bf16_of_f64((double)x[i])); break;
    default: break;
    }
}

/* The first of n that the integer type cannot hold; n if there is none. */
static int64_t first_outside(eddy_dtype d, const int64_t *x, int64_t n)
{
    const int64_t least = d == EDDY_INT32 ? INT32_MIN : d == EDDY_UINT8 ? 0 : INT64_MIN;
    const int64_t most = d == EDDY_INT32 ? INT32_MAX : d == EDDY_UINT8 ? UINT8_MAX : INT64_MAX;
    int64_t i = 0;
    while (i < n && x[i] >= least && x[i] <= most) i++;
    return i;
}

static bool cast_integers(const eddy_array *x, eddy_array *y, const char *what, eddy_error *e)
{
    const eddy_dtype d = eddy_array_dtype(y);
    int64_t          part[PART];
    for (int64_t at = 0, n; at < eddy_array_count(x); at += n) {
        n = eddy_array_count(x) - at < PART ? eddy_array_count(x) - at : PART;
        integers_of(x, at, n, part);
        const int64_t bad = eddy_dtype_is_integer(d) ? first_outside(d, part, n) : n;
        if (bad < n)
            return eddy__error_set(e, EDDY_OUT_OF_RANGE,
                                   "'%.200s' has %lld as element %lld, which %s cannot hold", what,
                                   (long long)part[bad], (long long)(at + bad), eddy_dtype_name(d));
        store_integers(y, at, n, part);
    }
    return true;
}

#define CONVERT(F, T, f)                                                        \
    do {                                                                        \
        const F *from = eddy_array_data(x);                                     \
        T       *to = eddy_array_data(y);                                       \
        for (int64_t i = 0, n = eddy_array_count(x); i < n; i++) to[i] = f(from[i]); \
    } while (0)

/* The frequent types, without a detour; false for others. */
static bool cast_halves(const eddy_array *x, eddy_array *y)
{
    const eddy_dtype a = eddy_array_dtype(x), b = eddy_array_dtype(y);
    if (a == EDDY_FLOAT32 && b == EDDY_BFLOAT16) CONVERT(float, uint16_t, eddy__bf16_of_f32);
    else if (a == EDDY_FLOAT32 && b == EDDY_FLOAT16) CONVERT(float, uint16_t, eddy__f16_of_f32);
    else if (a == EDDY_BFLOAT16 && b == EDDY_FLOAT32) CONVERT(uint16_t, float, eddy__f32_of_bf16);
    else if (a == EDDY_FLOAT16 && b == EDDY_FLOAT32) CONVERT(uint16_t, float, eddy__f32_of_f16);
    else return false;
    return true;
}

/* Also the parts of complex numbers. */
static void cast_floats(const eddy_array *x, eddy_array *y)
{
    if (cast_halves(x, y)) return;
    double part[PART];
    for (int64_t at = 0, n; at < eddy_array_count(x); at += n) {
        n = eddy_array_count(x) - at < PART ? eddy_array_count(x) - at : PART;
        doubles_of(x, at, n, part);
        store_doubles(y, at, n, part);
    }
}

/* True if type `to` has all values of `from`. */
static bool holds(eddy_dtype from, eddy_dtype to)
{
    if (eddy_dtype_is_complex(from))
        return eddy_dtype_is_complex(to) && holds(eddy_dtype_real(from), eddy_dtype_real(to));
    if (eddy_dtype_is_floating(from))
        return to == EDDY_FLOAT64 ||
               (to == EDDY_FLOAT32 && (from == EDDY_FLOAT16 || from == EDDY_BFLOAT16));
    return eddy_dtype_is_integer(from) &&
           (to == EDDY_INT64 || (to == EDDY_INT32 && from == EDDY_UINT8));
}

bool eddy__may_cast(eddy_dtype from, eddy_dtype to, eddy_casting casting)
{
    if (from == to) return true;
    if (casting == EDDY_CAST_NONE) return false;
    if (holds(from, to)) return true;
    /* A file may hold small integers, which the reader widens. */
    if (eddy_dtype_is_integer(from) && eddy_dtype_is_integer(to)) return true;
    if (casting != EDDY_CAST_ANY) return false;
    if (eddy_dtype_is_complex(from)) return eddy_dtype_is_complex(to);
    return (eddy_dtype_is_floating(from) || eddy_dtype_is_integer(from)) &&
           eddy_dtype_is_floating(to);
}

eddy_array *eddy__cast_array(const eddy_allocator *a, eddy_array *x, eddy_dtype d, const char *what,
                             eddy_error *e)
{
    const eddy_dtype from = eddy_array_dtype(x);
    if (from == d) return eddy_array_retain(x);
    eddy_array *y = eddy_array_new_in(a, d, eddy_array_shape(x));
    if (!y)
        return (void)eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", what), NULL;
    if (eddy_dtype_is_complex(from)) {
        eddy_array *parts = eddy__as_real(x), *to = eddy__as_real(y);
        if (parts && to) cast_floats(parts, to);
        else eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", what);
        eddy_array_free(parts);
        eddy_array_free(to);
    } else if (eddy_dtype_is_integer(from)) {
        cast_integers(x, y, what, e);
    } else {
        cast_floats(x, y);
    }
    if (!e || e->status == EDDY_OK) return y;
    eddy_array_free(y);
    return NULL;
}

/* ------------------------------------------------------------- addition -- */

void eddy__add_array(eddy_array *y, const eddy_array *x)
{
    double sum[PART], other[PART];
    for (int64_t at = 0, n; at < eddy_array_count(y); at += n) {
        n = eddy_array_count(y) - at < PART ? eddy_array_count(y) - at : PART;
        doubles_of(y, at, n, sum);
        doubles_of(x, at, n, other);
        for (int64_t i = 0; i < n; i++) sum[i] += other[i];
        store_doubles(y, at, n, sum);
    }
}

void eddy__add_number(eddy_array *y, int64_t begin, int64_t count, double x)
{
    double part[PART];
    for (int64_t at = begin, n; at < begin + count; at += n) {
        n = begin + count - at < PART ? begin + count - at : PART;
        doubles_of(y, at, n, part);
        for (int64_t i = 0; i < n; i++) part[i] += x;
        store_doubles(y, at, n, part);
    }
}

/* ------------------------------------------------------ complex numbers -- */

static void release_pairs(void *context, void *data)
{
    (void)data;
    eddy_array_free(context);
}

/* The elements of x, to which the new array has a reference. */
static eddy_array *reinterpreted(eddy_array *x, eddy_dtype d, eddy_shape s)
{
    eddy_array *kept = eddy_array_retain(x);
    eddy_array *y =
        kept ? eddy_array_adopt(d, s, eddy_array_data(kept), release_pairs, kept) : NULL;
    if (!y) eddy_array_free(kept);
    return y;
}

/* Of the largest rank: one axis for all elements. */
eddy_array *eddy__as_real(eddy_array *x)
{
    eddy_shape s = eddy_array_shape(x);
    if (s.rank == EDDY_MAX_RANK) {
        s.dim[0] = eddy_array_count(x);
        s.rank = 1;
    }
    s.dim[s.rank++] = 2;
    return reinterpreted(x, eddy_dtype_real(eddy_array_dtype(x)), s);
}

eddy_array *eddy__as_complex(eddy_array *x)
{
    eddy_shape       s = eddy_array_shape(x);
    const eddy_dtype d = eddy_array_dtype(x) == EDDY_FLOAT64 ? EDDY_COMPLEX128 : EDDY_COMPLEX64;
    s.rank--;
    return reinterpreted(x, d, s);
}
