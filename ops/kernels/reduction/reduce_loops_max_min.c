/* reduce_loops_max_min.c -- the loops of the max and min reductions. */
#include "ops/kernels/reduction/reduce_loops.h"

/* A NaN on either side wins.  In two steps, which compilers turn into vectors. */
EDDY_INLINE float larger_f32(float a, float b)
{
    const float m = a > b ? a : b;
    return a != a ? a : m;
}
EDDY_INLINE double larger_f64(double a, double b)
{
    const double m = a > b ? a : b;
    return a != a ? a : m;
}
EDDY_INLINE float smaller_f32(float a, float b)
{
    const float m = a < b ? a : b;
    return a != a ? a : m;
}
EDDY_INLINE double smaller_f64(double a, double b)
{
    const double m = a < b ? a : b;
    return a != a ? a : m;
}

#define KIND(name) max_##name
#define TYPES      FOR_FLOATS
#define A          T
#define FIRST      LOWEST
#define LOAD(x)    (x)
#define OP(a, b)   EDDY_NAME(larger, SUFFIX)(a, b)
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) max_##name
#define TYPES      FOR_I32 | FOR_I64
#define A          T
#define FIRST      LOWEST
#define LOAD(x)    (x)
#define OP(a, b)   ((a) > (b) ? (a) : (b))
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) max_##name
#define TYPES      FOR_U8
#define A          T
#define FIRST      LOWEST
#define LOAD(x)    (x)
#define OP(a, b)   ((a) > (b) ? (a) : (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) min_##name
#define TYPES      FOR_FLOATS
#define A          T
#define FIRST      HIGHEST
#define LOAD(x)    (x)
#define OP(a, b)   EDDY_NAME(smaller, SUFFIX)(a, b)
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) min_##name
#define TYPES      FOR_I32 | FOR_I64
#define A          T
#define FIRST      HIGHEST
#define LOAD(x)    (x)
#define OP(a, b)   ((a) < (b) ? (a) : (b))
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) min_##name
#define TYPES      FOR_U8
#define A          T
#define FIRST      HIGHEST
#define LOAD(x)    (x)
#define OP(a, b)   ((a) < (b) ? (a) : (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

FINISH(copy_f32, float, float, a)
FINISH(copy_f64, double, double, a)
FINISH(copy_i32, int32_t, int32_t, a)
FINISH(copy_i64, int64_t, int64_t, a)
FINISH(copy_u8, uint8_t, uint8_t, a)

#define EXTREMES(name, s) {                                                     \
    [EDDY_FLOAT32] = ENTRY(name, f32, float, float, copy, s),                   \
    [EDDY_FLOAT64] = ENTRY(name, f64, double, double, copy, s),                 \
    [EDDY_INT32] = ENTRY(name, i32, int32_t, int32_t, copy, s),                 \
    [EDDY_INT64] = ENTRY(name, i64, int64_t, int64_t, copy, s),                 \
    [EDDY_UINT8] = ENTRY(name, u8, uint8_t, uint8_t, copy, _base) }
#define MAX(s) EXTREMES(max, s)
#define MIN(s) EXTREMES(min, s)
const eddy_fold eddy__fold_max = { EACH_SET(MAX) };
const eddy_fold eddy__fold_min = { EACH_SET(MIN) };
