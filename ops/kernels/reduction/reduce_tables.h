/* reduce_tables.h -- the tables of the loops of a reduction (reduce_loops.h) for all types, and the
 * loops that finish a fold.
 *
 * Each loop processes elements in memory order and keeps columns and lanes separate, so all
 * instruction sets compute the same bits. */
#ifndef EDDY_OPS_KERNELS_REDUCTION_REDUCE_TABLES_H
#define EDDY_OPS_KERNELS_REDUCTION_REDUCE_TABLES_H

#include "ops/kernels/reduction/reduce_engine.h"
#include "graph/base/cpu.h"
#include "graph/base/element_types.h"
#include "ops/kernels/elementwise/vector_math_f64.h"

#include <tgmath.h>

enum { LANES = EDDY_FOLD_LANES, SHORT_LANES = 16, LONG_LANES = 32 };

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
/* The same for a type, with the accumulators of TOTAL, or of the type itself. */
#define FINISH_TOTAL(suffix, name, value)                                       \
    FINISH(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), EDDY_OF_KIND(EDDY_TOTAL, suffix), value)
#define FINISH_SAME(suffix, name, value)                                        \
    FINISH(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), EDDY_COLUMN(ELEMENT, suffix), value)

/* -------------------------------------------------------------- the table -- */

/* The loops name_... for a type, with accumulators A and results from end_f32; s: the suffix of the
 * instruction set. */
#define ENTRY(suffix, name, A, end, s)                                          \
    [EDDY_COLUMN(DTYPE, suffix)] = { sizeof(EDDY_COLUMN(ELEMENT, suffix)), sizeof(A),  \
      name##_start_##suffix, name##_fold_##suffix##s, name##_line_##suffix##s,  \
      name##_each_##suffix##s, name##_add_##suffix, end##_##suffix },
#define ENTRY_SAME(suffix, name, end, s)                                        \
    ENTRY(suffix, name, EDDY_COLUMN(ELEMENT, suffix), end, s)
#define ENTRY_TOTAL(suffix, name, end, s)                                       \
    ENTRY(suffix, name, EDDY_OF_KIND(EDDY_TOTAL, suffix), end, s)

/* Of the sets of numbers; integers and complex numbers have no loops for AVX-512. */
#define ENTRIES(ENTRY_OF, name, end, s)                                         \
    FOR_FLOATS(ENTRY_OF, name, end, s) FOR_INTEGERS(ENTRY_OF, name, end, TO_AVX2(s))
#define ENTRIES_COMPLEX(ENTRY_OF, name, end, s)                                 \
    ENTRIES(ENTRY_OF, name, end, s) FOR_COMPLEX(ENTRY_OF, name, end, TO_AVX2(s))
#define TO_AVX2(s) TO_AVX2##s
#define TO_AVX2_base   _base
#define TO_AVX2_avx2   _avx2
#define TO_AVX2_avx512 _avx2

/* The table of each instruction set, which is table(suffix). */
#if defined(__x86_64__)
#define EACH_SET(table) { table(_base), table(_avx2), table(_avx512) }
#else
#define EACH_SET(table) { table(_base) }
#endif

#endif
