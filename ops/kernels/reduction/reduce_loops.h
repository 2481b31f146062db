/* reduce_loops.h -- building blocks of the reducers: the loops of a fold for one element type,
 * and the tables of these loops for all types.
 *
 * Each loop processes elements in memory order and keeps columns and lanes separate, so all
 * instruction sets compute the same bits. */
#ifndef EDDY_OPS_KERNELS_REDUCTION_REDUCE_LOOPS_H
#define EDDY_OPS_KERNELS_REDUCTION_REDUCE_LOOPS_H

#include "ops/kernels/reduction/reduce_engine.h"
#include "graph/base/cpu.h"
#include "ops/kernels/elementwise/vector_math.h"

#include <tgmath.h>

enum { LANES = EDDY_FOLD_LANES, SHORT_LANES = 16 };

#define FINISH(name, T, A, value)                                               \
    static void name(void *y_, const void *acc_, int64_t n, int64_t count)      \
    {                                                                           \
        T *y = y_;                                                              \
        const A *acc = acc_;                                                    \
        (void)count;                                                            \
        for (int64_t j = 0; j < n; j++) {                                       \
            const A a = acc[j];                                                 \
            y[j] = (T)(value);                                                  \
        }                                                                       \
    }

/* -------------------------------------------------------------- the table -- */

/* s: the suffix of the instruction set for which the loops are compiled. */
#define ENTRY(name, type, T, A, end, s)                                         \
    { sizeof(T), sizeof(A), name##_start_##type, name##_fold_##type##s, name##_line_##type##s, \
      name##_each_##type##s, name##_add_##type, end##_##type }

/* Two kinds of result: narrowed from the accumulator's type, or in it.  The types that do not
 * profit from wider vectors have the suffix `rest`. */
#define TOTALS(name, end, s, rest) {                                            \
    [EDDY_FLOAT32] = ENTRY(name, f32, float, double, end, s),                   \
    [EDDY_FLOAT64] = ENTRY(name, f64, double, double, end, s),                  \
    [EDDY_COMPLEX64] = ENTRY(name, c64, float complex, double complex, end, rest), \
    [EDDY_COMPLEX128] = ENTRY(name, c128, double complex, double complex, end, rest), \
    [EDDY_INT32] = ENTRY(name, i32, int32_t, int64_t, end, rest),               \
    [EDDY_INT64] = ENTRY(name, i64, int64_t, int64_t, end, rest),               \
    [EDDY_UINT8] = ENTRY(name, u8, uint8_t, int64_t, end, rest) }

/* The table of each instruction set, which is table(suffix). */
#if defined(__x86_64__)
#define EACH_SET(table) { table(_base), table(_avx2), table(_avx512) }
#else
#define EACH_SET(table) { table(_base) }
#endif

#endif
