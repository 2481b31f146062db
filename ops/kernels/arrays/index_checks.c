/* index_checks.c -- bounds checks of indices in kernels, and arithmetic on the rows they select. */
#include "ops/kernels/arrays/index_checks.h"
#include "graph/base/cpu.h"

#define ROW(name, T, op)                                                        \
    EDDY_INLINE void name##_all(int64_t n, void *y_, const void *x_)            \
    {                                                                           \
        T *restrict y = y_;                                                     \
        const T *restrict x = x_;                                               \
        for (int64_t j = 0; j < n; j++) y[j] = (T)(y[j] op x[j]);               \
    }                                                                           \
    EDDY_CLONES_OF(name, (int64_t n, void *y, const void *x), (n, y, x))
/* The lesser or the greater of the two; NaN where either is. */
#define EXTREME(name, T, op)                                                    \
    EDDY_INLINE void name##_all(int64_t n, void *y_, const void *x_)            \
    {                                                                           \
        T *restrict y = y_;                                                     \
        const T *restrict x = x_;                                               \
        for (int64_t j = 0; j < n; j++)                                         \
            y[j] = y[j] op x[j] || y[j] != y[j] ? y[j] : x[j];                  \
    }                                                                           \
    EDDY_CLONES_OF(name, (int64_t n, void *y, const void *x), (n, y, x))

/* No x is 0.  The least integer over -1 wraps, and would be a trap. */
#define QUOTIENT(name, T)                                                       \
    EDDY_INLINE void name##_all(int64_t n, void *y_, const void *x_)            \
    {                                                                           \
        T *restrict y = y_;                                                     \
        const T *restrict x = x_;                                               \
        for (int64_t j = 0; j < n; j++)                                         \
            y[j] = (T)(x[j] == (T)-1 && (T)-1 < 1 ? -y[j] : y[j] / x[j]);       \
    }                                                                           \
    EDDY_CLONES_OF(name, (int64_t n, void *y, const void *x), (n, y, x))

#define ROWS(T, name) ROW(add_##name, T, +) ROW(sub_##name, T, -) ROW(mul_##name, T, *)
#define EXTREMES(T, name) EXTREME(min_##name, T, <) EXTREME(max_##name, T, >)

ROWS(float, f32)
ROWS(double, f64)
ROWS(int32_t, i32)
ROWS(int64_t, i64)
ROWS(uint8_t, u8)
ROWS(float _Complex, c64)
ROWS(double _Complex, c128)
ROW(div_f32, float, /)
ROW(div_f64, double, /)
QUOTIENT(div_i32, int32_t)
QUOTIENT(div_i64, int64_t)
QUOTIENT(div_u8, uint8_t)
ROW(div_c64, float _Complex, /)
ROW(div_c128, double _Complex, /)
EXTREMES(float, f32)
EXTREMES(double, f64)
EXTREMES(int32_t, i32)
EXTREMES(int64_t, i64)
EXTREMES(uint8_t, u8)

#define REAL(fn)                                                                \
    case EDDY_FLOAT32:    return EDDY_BEST_OF(fn##_f32);                        \
    case EDDY_FLOAT64:    return EDDY_BEST_OF(fn##_f64);                        \
    case EDDY_INT32:      return EDDY_BEST_OF(fn##_i32);                        \
    case EDDY_INT64:      return EDDY_BEST_OF(fn##_i64);                        \
    case EDDY_UINT8:      return EDDY_BEST_OF(fn##_u8);
#define PICK_REAL(fn)                                                           \
    switch ((int)d) {                                                           \
    REAL(fn)                                                                    \
    default:              return NULL;                                          \
    }
#define PICK(fn)                                                                \
    switch ((int)d) {                                                           \
    REAL(fn)                                                                    \
    case EDDY_COMPLEX64:  return EDDY_BEST_OF(fn##_c64);                        \
    case EDDY_COMPLEX128: return EDDY_BEST_OF(fn##_c128);                       \
    default:              return NULL;                                          \
    }

eddy_row_fn eddy__row_of(eddy_row_change change, eddy_dtype d)
{
    switch (change) {
    case EDDY_ROW_PUT: return NULL;
    case EDDY_ROW_ADD: PICK(add)
    case EDDY_ROW_SUB: PICK(sub)
    case EDDY_ROW_MUL: PICK(mul)
    case EDDY_ROW_DIV: PICK(div)
    case EDDY_ROW_MIN: PICK_REAL(min)
    case EDDY_ROW_MAX: PICK_REAL(max)
    }
    return NULL;
}

/* "2,0" for element i of a shape; "" for a scalar. */
static void print_position(eddy_shape s, int64_t i, char *buf, size_t size)
{
    int64_t at[EDDY_MAX_RANK];
    for (int a = s.rank - 1; a >= 0; a--) {
        at[a] = i % s.dim[a];
        i /= s.dim[a];
    }
    size_t used = 0;
    buf[0] = 0;
    for (int a = 0; a < s.rank && used < size; a++)
        used += (size_t)snprintf(buf + used, size - used, "%s%lld", a > 0 ? "," : "",
                                 (long long)at[a]);
}

/* All n indices are in [first, limit), without a branch for each. */
#define IN_RANGE(name, T)                                                       \
    static bool name(int64_t n, const void *at, int64_t first, int64_t limit)   \
    {                                                                           \
        const T *v = at;                                                        \
        int      bad = 0;                                                       \
        for (int64_t i = 0; i < n; i++) bad |= v[i] < first || v[i] >= limit;   \
        return !bad;                                                            \
    }
IN_RANGE(narrow_in_range, int32_t)
IN_RANGE(wide_in_range, int64_t)

eddy_status eddy__check_indices(eddy_kernel *k, const eddy_buffer *indices, int64_t limit,
                                bool allow_negative)
{
    const int64_t first = allow_negative ? INT64_MIN : 0, n = indices->count;
    if (indices->type.dtype == EDDY_INT32 && narrow_in_range(n, indices->data, first, limit))
        return EDDY_OK;
    if (indices->type.dtype == EDDY_INT64 && wide_in_range(n, indices->data, first, limit))
        return EDDY_OK;
    for (int64_t i = 0; i < indices->count; i++) {
        const int64_t v = eddy__index_at(indices, i);
        if (v >= first && v < limit) continue;
        char at[200];
        print_position(indices->type.shape, i, at, sizeof at);
        return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE, "indices[%s] = %lld is not in [0, %lld)", at,
                                (long long)v, (long long)limit);
    }
    return EDDY_OK;
}
