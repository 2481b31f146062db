/* reduce_loops_norm.c -- the loops of sums of squares and of Euclidean norms. */
#include "ops/kernels/reduction/reduce_loops.h"

#define KIND(name) squares_##name
#define TYPES      FOR_FLOATS
#define A          TOTAL
#define FIRST      0
#define LOAD(x)    ((TOTAL)(x) * (TOTAL)(x))
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

/* Of doubles whose squares overflow or vanish: those are multiplied by 2^-600 or 2^600 before. */
#define KIND(name) large_##name
#define TYPES      FOR_F64
#define A          double
#define FIRST      0
#define LOAD(x)    ((0x1p-600 * (x)) * (0x1p-600 * (x)))
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) small_##name
#define TYPES      FOR_F64
#define A          double
#define FIRST      0
#define LOAD(x)    ((0x1p600 * (x)) * (0x1p600 * (x)))
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

FINISH(store_f32, float, double, a)
FINISH(store_f64, double, double, a)
FINISH(root_f32, float, double, sqrt(a))
FINISH(root_f64, double, double, sqrt(a))
/* These put right what root_f64 has left. */
FINISH(large_root_f64, double, double, eddy__norm_is_large(y[j]) ? 0x1p600 * sqrt(a) : y[j])
FINISH(small_root_f64, double, double, eddy__norm_is_small(y[j]) ? 0x1p-600 * sqrt(a) : y[j])

#define ROOTS(end, s) {                                                         \
    [EDDY_FLOAT32] = ENTRY(squares, f32, float, double, end, s),                \
    [EDDY_FLOAT64] = ENTRY(squares, f64, double, double, end, s) }
#define SQUARES(s) ROOTS(store, s)
#define NORM(s) ROOTS(root, s)
#define LARGE(s) { [EDDY_FLOAT64] = ENTRY(large, f64, double, double, large_root, _base) }
#define SMALL(s) { [EDDY_FLOAT64] = ENTRY(small, f64, double, double, small_root, _base) }
const eddy_fold eddy__fold_squares = { EACH_SET(SQUARES) };
const eddy_fold eddy__fold_norm = { EACH_SET(NORM) };
const eddy_fold eddy__fold_norm_large = { EACH_SET(LARGE) };
const eddy_fold eddy__fold_norm_small = { EACH_SET(SMALL) };
