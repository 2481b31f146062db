/* cast_array.c -- elements of a file as elements of a variable, and the reverse: with one rounding,
 * and integers only if they fit. */
#include "graph/base/dtype.h"
#include "graph/base/half.h"
#include "session/checkpoints/internal.h"

/* Elements go through a type that holds all of them: double for floating types, int64_t for
 * integers. */
enum { PART = 1024 };

typedef void load_doubles(const void *from, int64_t n, double *to);
typedef void store_doubles(void *to, int64_t n, const double *from);
typedef void load_integers(const void *from, int64_t n, int64_t *to);
typedef void store_integers(void *to, int64_t n, const int64_t *from);

#define AS_IT_IS(suffix, x)  (x)
#define FROM_HALF(suffix, x) EDDY_NAME(eddy__f32_of, suffix)(x)
#define TO_HALF(suffix, x)   eddy__##suffix##_of_f64((double)(x))

/* name_f32, from elements of float to X, and the reverse. */
#define LOAD(suffix, name, X, VALUE)                                            \
    static void name##_##suffix(const void *from, int64_t n, X *to)             \
    {                                                                           \
        const EDDY_COLUMN(ELEMENT, suffix) *x = from;                           \
        for (int64_t i = 0; i < n; i++) to[i] = VALUE(suffix, x[i]);            \
    }
#define STORE(suffix, name, X, VALUE)                                           \
    static void name##_##suffix(void *to, int64_t n, const X *from)             \
    {                                                                           \
        EDDY_COLUMN(ELEMENT, suffix) *y = to;                                   \
        for (int64_t i = 0; i < n; i++)                                         \
            y[i] = (EDDY_COLUMN(ELEMENT, suffix))VALUE(suffix, from[i]);        \
    }
FOR_FLOATS(LOAD, doubles_of, double, AS_IT_IS)
FOR_HALVES(LOAD, doubles_of, double, FROM_HALF)
FOR_FLOATS(STORE, doubles_to, double, AS_IT_IS)
FOR_HALVES(STORE, doubles_to, double, TO_HALF)
FOR_INTEGERS(LOAD, integers_of, int64_t, AS_IT_IS)
FOR_INTEGERS(STORE, integers_to, int64_t, AS_IT_IS)
FOR_FLOATS(STORE, integers_to, int64_t, AS_IT_IS)
FOR_HALVES(STORE, integers_to, int64_t, TO_HALF)

/* By type; NULL for types that they do not hold. */
#define OF_TYPE(suffix, name) [EDDY_COLUMN(DTYPE, suffix)] = name##_##suffix,
static load_doubles *const double_loads[EDDY_DTYPES] = { FOR_FLOATS(OF_TYPE, doubles_of)
                                                             FOR_HALVES(OF_TYPE, doubles_of) };
static store_doubles *const double_stores[EDDY_DTYPES] = { FOR_FLOATS(OF_TYPE, doubles_to)
                                                               FOR_HALVES(OF_TYPE, doubles_to) };
static load_integers *const integer_loads[EDDY_DTYPES] = { FOR_INTEGERS(OF_TYPE, integers_of) };
static store_integers *const integer_stores[EDDY_DTYPES] = { FOR_INTEGERS(OF_TYPE, integers_to)
                                                                 FOR_FLOATS(OF_TYPE, integers_to)
                                                                     FOR_HALVES(OF_TYPE,
                                                                                integers_to) };

/* Element `at` of an array. */
static void *element(const eddy_array *x, int64_t at)
{
    return (char *)eddy_array_data(x) + (size_t)at * eddy_dtype_size(eddy_array_dtype(x));
}

/* The first of n that the integer type cannot hold; n if there is none. */
static int64_t first_outside(eddy_dtype d, const int64_t *x, int64_t n)
{
    int64_t i = 0;
    while (i < n && eddy__dtype_holds(d, (double)x[i])) i++;
    return i;
}

static bool cast_integers(const eddy_array *x, eddy_array *y, const char *what, eddy_error *e)
{
    const eddy_dtype d = eddy_array_dtype(y);
    load_integers   *load = integer_loads[eddy_array_dtype(x)];
    store_integers  *store = integer_stores[d];
    int64_t          part[PART];
    for (int64_t at = 0, n; at < eddy_array_count(x); at += n) {
        n = eddy_array_count(x) - at < PART ? eddy_array_count(x) - at : PART;
        load(element(x, at), n, part);
        const int64_t bad = eddy_dtype_is_integer(d) ? first_outside(d, part, n) : n;
        if (bad < n)
            return eddy__error_set(e, EDDY_OUT_OF_RANGE,
                                   "'%.200s' has %lld as element %lld, which %s cannot hold", what,
                                   (long long)part[bad], (long long)(at + bad), eddy_dtype_name(d));
        store(element(y, at), n, part);
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
    load_doubles  *load = double_loads[eddy_array_dtype(x)];
    store_doubles *store = double_stores[eddy_array_dtype(y)];
    double         part[PART];
    for (int64_t at = 0, n; at < eddy_array_count(x); at += n) {
        n = eddy_array_count(x) - at < PART ? eddy_array_count(x) - at : PART;
        load(element(x, at), n, part);
        store(element(y, at), n, part);
    }
}

/* True if `from` is floating and the real type `to` has all its values. */
static bool holds(eddy_dtype from, eddy_dtype to)
{
    return eddy_dtype_is_floating(from) &&
           (to == EDDY_FLOAT64 ||
            (to == EDDY_FLOAT32 && (from == EDDY_FLOAT16 || from == EDDY_BFLOAT16)));
}

/* True if elements of the type can be read and written: a type without loops is refused. */
static bool has_loops(eddy_dtype d) { return integer_stores[eddy_dtype_real(d)] != NULL; }

bool eddy__may_cast(eddy_dtype from, eddy_dtype to, eddy_casting casting)
{
    if (from == to) return true;
    if (casting == EDDY_CAST_NONE || !has_loops(from) || !has_loops(to)) return false;
    /* A file may hold small integers, which the reader widens; each value is checked. */
    if (eddy_dtype_is_integer(from) && eddy_dtype_is_integer(to)) return true;
    if (eddy_dtype_is_complex(from) != eddy_dtype_is_complex(to)) return false;
    from = eddy_dtype_real(from);
    to = eddy_dtype_real(to);
    return casting == EDDY_CAST_ANY ? eddy_dtype_is_floating(to) : holds(from, to);
}

eddy_array *eddy__cast_array(const eddy_allocator *a, eddy_array *x, eddy_dtype d, const char *what,
                             eddy_error *e)
{
    const eddy_dtype from = eddy_array_dtype(x);
    if (from == d) return eddy_array_retain(x);
    eddy_array *y = eddy_array_new_in(a, d, eddy_array_shape(x));
    if (!y)
        return (void)eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", what), NULL;
    bool ok = true;
    if (eddy_dtype_is_complex(from)) {
        eddy_array *parts = eddy__as_real(x), *to = eddy__as_real(y);
        ok = (parts && to) ||
             eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", what);
        if (ok) cast_floats(parts, to);
        eddy_array_free(parts);
        eddy_array_free(to);
    } else if (eddy_dtype_is_integer(from)) {
        ok = cast_integers(x, y, what, e);
    } else {
        cast_floats(x, y);
    }
    if (ok) return y;
    eddy_array_free(y);
    return NULL;
}

/* ------------------------------------------------------------- addition -- */

void eddy__add_array(eddy_array *y, const eddy_array *x)
{
    load_doubles  *load = double_loads[eddy_array_dtype(y)];
    load_doubles  *load_x = double_loads[eddy_array_dtype(x)];
    store_doubles *store = double_stores[eddy_array_dtype(y)];
    double         sum[PART], other[PART];
    for (int64_t at = 0, n; at < eddy_array_count(y); at += n) {
        n = eddy_array_count(y) - at < PART ? eddy_array_count(y) - at : PART;
        load(element(y, at), n, sum);
        load_x(element(x, at), n, other);
        for (int64_t i = 0; i < n; i++) sum[i] += other[i];
        store(element(y, at), n, sum);
    }
}

void eddy__add_number(eddy_array *y, int64_t begin, int64_t count, double x)
{
    load_doubles  *load = double_loads[eddy_array_dtype(y)];
    store_doubles *store = double_stores[eddy_array_dtype(y)];
    double         part[PART];
    for (int64_t at = begin, n; at < begin + count; at += n) {
        n = begin + count - at < PART ? begin + count - at : PART;
        load(element(y, at), n, part);
        for (int64_t i = 0; i < n; i++) part[i] += x;
        store(element(y, at), n, part);
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
