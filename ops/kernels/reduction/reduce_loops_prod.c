/* reduce_loops_prod.c -- the loops of the product reduction. */
#include "ops/kernels/reduction/reduce_loops.h"

#define KIND(name) prod_##name
#define TYPES      FOR_FLOATS
#define A          TOTAL
#define FIRST      1
#define LOAD(x)    (x)
#define OP(a, b)   ((a) * (b))
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

/* Vectors have no products of 64 bits, and complex ones may have to be put right. */
#define KIND(name) prod_##name
#define TYPES      FOR_INTEGERS | FOR_COMPLEX
#define A          TOTAL
#define FIRST      1
#define LOAD(x)    (x)
#define OP(a, b)   ((a) * (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

FINISH(store_f32, float, double, a)
FINISH(store_f64, double, double, a)
FINISH(store_c64, float complex, double complex, a)
FINISH(store_c128, double complex, double complex, a)
FINISH(store_i32, int32_t, int64_t, a)
FINISH(store_i64, int64_t, int64_t, a)
FINISH(store_u8, uint8_t, int64_t, a)

#define PROD(s) TOTALS(prod, store, s, _base)
const eddy_fold eddy__fold_prod = { EACH_SET(PROD) };
