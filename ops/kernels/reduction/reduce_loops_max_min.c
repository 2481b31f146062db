/* reduce_loops_max_min.c -- the loops of the max and min reductions. */
#include "ops/kernels/reduction/reduce_tables.h"

/* A NaN on either side wins.  In two steps, which compilers turn into vectors. */
#define EXTREMES_OF_FLOATS(suffix, T)                                           \
    EDDY_INLINE T larger_##suffix(T a, T b)                                     \
    {                                                                           \
        const T m = a > b ? a : b;                                              \
        return a != a ? a : m;                                                  \
    }                                                                           \
    EDDY_INLINE T smaller_##suffix(T a, T b)                                    \
    {                                                                           \
        const T m = a < b ? a : b;                                              \
        return a != a ? a : m;                                                  \
    }
#define EXTREMES_OF(suffix, ...) EXTREMES_OF_FLOATS(suffix, EDDY_COLUMN(ELEMENT, suffix))
FOR_FLOATS(EXTREMES_OF, 0)

#define LARGER_FLOATING(a, b)  EDDY_NAME(larger, SUFFIX)(a, b)
#define LARGER_INTEGER(a, b)   ((a) > (b) ? (a) : (b))
#define SMALLER_FLOATING(a, b) EDDY_NAME(smaller, SUFFIX)(a, b)
#define SMALLER_INTEGER(a, b)  ((a) < (b) ? (a) : (b))

#define VERSIONS_FLOATING EDDY_CLONES_OF
#define VERSIONS_INTEGER  EDDY_CLONES_TO_AVX2_OF

#define KIND(name) max_##name
#define TYPES      FOR_NUMBERS
#define A          T
#define FIRST      LOWEST
#define LOAD(x)    (x)
#define OP(a, b)   EDDY_OF_KIND(LARGER, SUFFIX)(a, b)
#define VERSIONS   EDDY_OF_KIND(VERSIONS, SUFFIX)
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) min_##name
#define TYPES      FOR_NUMBERS
#define A          T
#define FIRST      HIGHEST
#define LOAD(x)    (x)
#define OP(a, b)   EDDY_OF_KIND(SMALLER, SUFFIX)(a, b)
#define VERSIONS   EDDY_OF_KIND(VERSIONS, SUFFIX)
#include "ops/kernels/reduction/reducer.h"

FOR_NUMBERS(FINISH_SAME, copy, a)

#define MAX(s) { ENTRIES(ENTRY_SAME, max, copy, s) }
#define MIN(s) { ENTRIES(ENTRY_SAME, min, copy, s) }
const eddy_fold eddy__fold_max = { EACH_SET(MAX) };
const eddy_fold eddy__fold_min = { EACH_SET(MIN) };
