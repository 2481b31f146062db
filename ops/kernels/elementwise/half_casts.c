/* half_casts.c -- inner loops that convert between float32 and the 16-bit types. All instruction
 * sets give the same bits. */
#include "ops/kernels/elementwise/half_casts.h"
#include "graph/base/cpu.h"
#include "graph/base/element_types.h"
#include "graph/base/half.h"

#define CONVERSION(name, from, to, value)                                       \
    static eddy_status name(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        const from *a = x[0];                                                   \
        to         *b = y;                                                      \
        (void)attrs;                                                            \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i = 0; i < n; i++) b[i] = value(a[i]);                     \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_CLONES(name)

#define BOTH_WAYS(half, ...)                                                    \
    CONVERSION(to_f32_##half, uint16_t, float, eddy__f32_of_##half)             \
    CONVERSION(of_f32_##half, float, uint16_t, eddy__##half##_of_f32)
FOR_HALVES(BOTH_WAYS, 0)

#define BEST(half, name) case EDDY_COLUMN(DTYPE, half): return EDDY_BEST(name##_##half);

bool eddy__dtype_is_half(eddy_dtype d) { return eddy__half_to_f32(d) != NULL; }

eddy_tile_fn eddy__half_to_f32(eddy_dtype half)
{
    switch ((int)half) { FOR_HALVES(BEST, to_f32) }
    return NULL;
}

eddy_tile_fn eddy__f32_to_half(eddy_dtype half)
{
    switch ((int)half) { FOR_HALVES(BEST, of_f32) }
    return NULL;
}
