/* index_checks.c -- bounds checks of indices in kernels, and arithmetic on the rows they select. */
#include "ops/kernels/arrays/index_checks.h"
#include "graph/base/cpu.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"

#define TEMPLATE "ops/kernels/arrays/row_update_loops.h"
#define TYPES    FOR_NUMBERS_COMPLEX
#include "ops/kernels/for_types.h"

eddy_row_fn eddy__row_of(eddy_row_change change, eddy_dtype d)
{
    eddy_row_fn (*of)(eddy_row_change) = EDDY_FOR_TYPE(row_of, FOR_NUMBERS_COMPLEX, d);
    return of ? of(change) : NULL;
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

#define TEMPLATE "ops/kernels/arrays/in_range_loops.h"
#define TYPES    FOR_INDICES
#include "ops/kernels/for_types.h"

eddy_status eddy__check_indices(eddy_kernel *k, const eddy_buffer *indices, int64_t limit,
                                bool allow_negative)
{
    enum { PART = 1 << 18 };
    const int64_t first = allow_negative ? INT64_MIN : 0, n = indices->count;
    const size_t  size = eddy_dtype_size(indices->type.dtype);
    bool          all = true;
    for (int64_t i = 0; i < n && all; i += PART) {
        if (eddy__stopped(k->stop))
            return eddy_kernel_fail(k, eddy_kernel_stopped(k),
                                    "the run was stopped while the indices were checked");
        all = EDDY_FOR_TYPE(in_range, FOR_INDICES, indices->type.dtype)(
            eddy__min(PART, n - i), (const char *)indices->data + (size_t)i * size, first, limit);
    }
    if (all) return EDDY_OK;
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
