/* reduce_loops_prod.c -- the loops of the product reduction. */
#include "ops/kernels/reduction/reduce_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Vector instructions have no 64-bit products, and complex products may need a correction for
 * infinities. */
#define VERSIONS_FLOATING EDDY_CLONES_OF
#define VERSIONS_INTEGER  EDDY_BASE_OF
#define VERSIONS_COMPLEX  EDDY_BASE_OF

/* The clone that is replaced below. */
#define prod_each_f32_avx2 prod_general_f32_avx2

#define KIND(name) prod_##name
#define TYPES      FOR_NUMBERS_COMPLEX
#define A          TOTAL
#define FIRST      1
#define LOAD(x)    (x)
#define OP(a, b)   ((a) * (b))
#define VERSIONS   EDDY_OF_KIND(VERSIONS, SUFFIX)
#include "ops/kernels/reduction/reducer.h"
#undef prod_each_f32_avx2

#if defined(__x86_64__)
#define EACH            prod_each_f32_avx2
#define GENERAL         prod_general_f32_avx2
#define ALL             prod_each_f32_all
#define EACH_NAME(name) prod_f32_##name
#define OP(a, b)        ((a) * (b))
#include "ops/kernels/reduction/reduce_long_rows.h"
#endif

FOR_NUMBERS_COMPLEX(FINISH_TOTAL, store, a)

#define ENTRY_BASE(suffix, s) ENTRY_TOTAL(suffix, prod, store, _base)
#define PROD(s) \
    { \
        FOR_FLOATS(ENTRY_TOTAL, prod, store, s) \
        FOR_INTEGERS(ENTRY_BASE, s) FOR_COMPLEX(ENTRY_BASE, s) \
    }
const eddy_fold eddy__fold_prod = { EACH_SET(PROD) };
