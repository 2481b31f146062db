/* reduce_loops_sum.c -- the loops of the sum and mean reductions. Each kind of reduction has a
 * file, which a program links only if it uses it. */
#include "ops/kernels/reduction/reduce_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define VERSIONS_FLOATING EDDY_CLONES_OF
#define VERSIONS_INTEGER  EDDY_CLONES_TO_AVX2_OF
#define VERSIONS_COMPLEX  EDDY_CLONES_TO_AVX2_OF

/* The clone that is replaced below. */
#define sum_each_f32_avx2 sum_general_f32_avx2

#define KIND(name) sum_##name
#define TYPES      FOR_NUMBERS_COMPLEX
#define A          TOTAL
#define FIRST      0
#define LOAD(x)    (x)
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_OF_KIND(VERSIONS, SUFFIX)
#include "ops/kernels/reduction/reducer.h"
#undef sum_each_f32_avx2

#if defined(__x86_64__)
#define EACH            sum_each_f32_avx2
#define GENERAL         sum_general_f32_avx2
#define ALL             sum_each_f32_all
#define EACH_NAME(name) sum_f32_##name
#define OP(a, b)        ((a) + (b))
#include "ops/kernels/reduction/reduce_long_rows.h"
#endif

#define MEAN_INTEGER  count > 0 ? a / count : 0
#define MEAN_FLOATING a / (double)count
#define MEAN_COMPLEX  MEAN_FLOATING
#define FINISH_MEAN(suffix, name) FINISH_TOTAL(suffix, name, EDDY_OF_KIND(MEAN, suffix))
FOR_NUMBERS_COMPLEX(FINISH_TOTAL, store, a)
FOR_NUMBERS_COMPLEX(FINISH_MEAN, mean)

#define SUM(s) { ENTRIES_COMPLEX(ENTRY_TOTAL, sum, store, s) }
#define MEAN(s) { ENTRIES_COMPLEX(ENTRY_TOTAL, sum, mean, s) }
const eddy_fold eddy__fold_sum = { EACH_SET(SUM) };
const eddy_fold eddy__fold_mean = { EACH_SET(MEAN) };
