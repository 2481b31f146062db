/* indices.c -- checking indices, and arithmetic on the rows they name. */
#include "ops/arrays.h"
#include "ops/clones.h"

#define ROW(name, T, op)                                                        \
    EDDY_INLINE void name##_all(int64_t n, void *y_, const void *x_)            \
    {                                                                           \
        T *restrict y = y_;                                                     \
        const T *restrict x = x_;                                               \
        for (int64_t j = 0; j < n; j++) y[j] = (T)(y[j] op x[j]);               \
    }                                                                           \
    EDDY_CLONES_OF(name, (int64_t n, void *y, const void *x), (n, y, x))
#define ROWS(T, name) ROW(add_##name, T, +) ROW(sub_##name, T, -)

ROWS(float, f32)
ROWS(double, f64)
ROWS(int32_t, i32)
ROWS(int64_t, i64)
ROWS(uint8_t, u8)
ROWS(float _Complex, c64)
ROWS(double _Complex, c128)

#define PICK(fn)                                                                \
    switch ((int)d) {                                                           \
    case EDDY_FLOAT32:    return EDDY_BEST_OF(fn##_f32);                        \
    case EDDY_FLOAT64:    return EDDY_BEST_OF(fn##_f64);                        \
    case EDDY_INT32:      return EDDY_BEST_OF(fn##_i32);                        \
    case EDDY_INT64:      return EDDY_BEST_OF(fn##_i64);                        \
    case EDDY_UINT8:      return EDDY_BEST_OF(fn##_u8);                         \
    case EDDY_COMPLEX64:  return EDDY_BEST_OF(fn##_c64);                        \
    case EDDY_COMPLEX128: return EDDY_BEST_OF(fn##_c128);                       \
    default:              return NULL;                                          \
    }

eddy_row_fn eddy_row_add(eddy_dtype d) { PICK(add) }
eddy_row_fn eddy_row_sub(eddy_dtype d) { PICK(sub) }

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

eddy_status eddy_check_indices(eddy_kernel *k, const eddy_buffer *indices, int64_t limit,
                               bool allow_negative)
{
    const int64_t first = allow_negative ? INT64_MIN : 0;
    for (int64_t i = 0; i < indices->count; i++) {
        const int64_t v = eddy_index_at(indices, i);
        if (v >= first && v < limit) continue;
        char at[200];
        print_position(indices->type.shape, i, at, sizeof at);
        return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE, "indices[%s] = %lld is not in [0, %lld)", at,
                                (long long)v, (long long)limit);
    }
    return EDDY_OK;
}
