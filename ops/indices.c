/* indices.c -- checking indices, and arithmetic on the rows they name. */
#include "ops/arrays.h"

#define ROWS(T, name)                                                           \
    static void add_##name(int64_t n, void *y_, const void *x_)                 \
    {                                                                           \
        T *restrict y = y_;                                                     \
        const T *restrict x = x_;                                               \
        for (int64_t j = 0; j < n; j++) y[j] = (T)(y[j] + x[j]);                \
    }                                                                           \
    static void sub_##name(int64_t n, void *y_, const void *x_)                 \
    {                                                                           \
        T *restrict y = y_;                                                     \
        const T *restrict x = x_;                                               \
        for (int64_t j = 0; j < n; j++) y[j] = (T)(y[j] - x[j]);                \
    }

ROWS(float, f32)
ROWS(double, f64)
ROWS(int32_t, i32)
ROWS(int64_t, i64)
ROWS(uint8_t, u8)
ROWS(float _Complex, c64)
ROWS(double _Complex, c128)

static const struct { eddy_row_fn add, sub; } rows[EDDY_DTYPES] = {
    [EDDY_FLOAT32]    = { add_f32, sub_f32 },
    [EDDY_FLOAT64]    = { add_f64, sub_f64 },
    [EDDY_INT32]      = { add_i32, sub_i32 },
    [EDDY_INT64]      = { add_i64, sub_i64 },
    [EDDY_UINT8]      = { add_u8, sub_u8 },
    [EDDY_COMPLEX64]  = { add_c64, sub_c64 },
    [EDDY_COMPLEX128] = { add_c128, sub_c128 },
};

eddy_row_fn eddy_row_add(eddy_dtype d) { return d > 0 && d < EDDY_DTYPES ? rows[d].add : NULL; }
eddy_row_fn eddy_row_sub(eddy_dtype d) { return d > 0 && d < EDDY_DTYPES ? rows[d].sub : NULL; }

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
