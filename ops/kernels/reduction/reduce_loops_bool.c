/* reduce_loops_bool.c -- the loops of the any and all reductions. */
#include "ops/kernels/reduction/reduce_tables.h"

#define KIND(name) any_##name
#define TYPES      FOR_BOOLS
#define A          T
#define FIRST      0
#define LOAD(x)    ((x) != 0)
#define OP(a, b)   ((a) | (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) all_##name
#define TYPES      FOR_BOOLS
#define A          T
#define FIRST      1
#define LOAD(x)    ((x) != 0)
#define OP(a, b)   ((a) & (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

FOR_BOOLS(FINISH_SAME, copy, a)

#define ANY(s) { FOR_BOOLS(ENTRY_TOTAL, any, copy, _base) }
#define ALL(s) { FOR_BOOLS(ENTRY_TOTAL, all, copy, _base) }
const eddy_fold eddy__fold_any = { EACH_SET(ANY) };
const eddy_fold eddy__fold_all = { EACH_SET(ALL) };
