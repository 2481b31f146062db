/* reduce_loops.c -- the loops of sum and mean. The loops of other reductions have files of their
 * own, which a program links only if it uses them. */
#include "ops/kernels/reduction/reduce_loops.h"

#define KIND(name) sum_##name
#define TYPES      FOR_NUMBERS | FOR_COMPLEX
#define A          TOTAL
#define FIRST      0
#define LOAD(x)    (x)
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

FINISH(store_f32, float, double, a)
FINISH(store_f64, double, double, a)
FINISH(store_c64, float complex, double complex, a)
FINISH(store_c128, double complex, double complex, a)
FINISH(store_i32, int32_t, int64_t, a)
FINISH(store_i64, int64_t, int64_t, a)
FINISH(store_u8, uint8_t, int64_t, a)
FINISH(mean_f32, float, double, a / (double)count)
FINISH(mean_f64, double, double, a / (double)count)
FINISH(mean_c64, float complex, double complex, a / (double)count)
FINISH(mean_c128, double complex, double complex, a / (double)count)
FINISH(mean_i32, int32_t, int64_t, count > 0 ? a / count : 0)
FINISH(mean_i64, int64_t, int64_t, count > 0 ? a / count : 0)
FINISH(mean_u8, uint8_t, int64_t, count > 0 ? a / count : 0)

#define SUM(s) TOTALS(sum, store, s, s)
#define MEAN(s) TOTALS(sum, mean, s, s)
const eddy_fold eddy__fold_sum = { EACH_SET(SUM) };
const eddy_fold eddy__fold_mean = { EACH_SET(MEAN) };
