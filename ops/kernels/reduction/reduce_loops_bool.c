/* reduce_loops_bool.c -- the loops of the any and all reductions. */
#include "ops/kernels/reduction/reduce_loops.h"

#define KIND(name) any_##name
#define TYPES      FOR_B8
#define A          T
#define FIRST      0
#define LOAD(x)    ((x) != 0)
#define OP(a, b)   ((a) | (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) all_##name
#define TYPES      FOR_B8
#define A          T
#define FIRST      1
#define LOAD(x)    ((x) != 0)
#define OP(a, b)   ((a) & (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

FINISH(copy_b8, uint8_t, uint8_t, a)

#define ANY(s) { [EDDY_BOOL] = ENTRY(any, b8, uint8_t, uint8_t, copy, _base) }
#define ALL(s) { [EDDY_BOOL] = ENTRY(all, b8, uint8_t, uint8_t, copy, _base) }
const eddy_fold eddy__fold_any = { EACH_SET(ANY) };
const eddy_fold eddy__fold_all = { EACH_SET(ALL) };
