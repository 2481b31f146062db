/* reduce_loops_norm.c -- the loops of sums of squares and of Euclidean norms. */
#include "ops/kernels/reduction/reduce_tables.h"

#define KIND(name) squares_##name
#define TYPES      FOR_FLOATS
#define A          TOTAL
#define FIRST      0
#define LOAD(x)    ((TOTAL)(x) * (TOTAL)(x))
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_CLONES_OF
#include "ops/kernels/reduction/reducer.h"

/* For doubles whose squares overflow or underflow: they are first multiplied by 2^-600 or 2^600. */
#define FOR_DOUBLES(M, ...) M(f64, __VA_ARGS__)

#define KIND(name) large_##name
#define TYPES      FOR_DOUBLES
#define A          double
#define FIRST      0
#define LOAD(x)    ((0x1p-600 * (x)) * (0x1p-600 * (x)))
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

#define KIND(name) small_##name
#define TYPES      FOR_DOUBLES
#define A          double
#define FIRST      0
#define LOAD(x)    ((0x1p600 * (x)) * (0x1p600 * (x)))
#define OP(a, b)   ((a) + (b))
#define VERSIONS   EDDY_BASE_OF
#include "ops/kernels/reduction/reducer.h"

FOR_FLOATS(FINISH_TOTAL, store, a)
FOR_FLOATS(FINISH_TOTAL, root, sqrt(a))
/* These replace results of root_f64 that overflowed or underflowed. */
FOR_DOUBLES(FINISH_TOTAL, large_root, eddy__norm_is_large(y[j]) ? 0x1p600 * sqrt(a) : y[j])
FOR_DOUBLES(FINISH_TOTAL, small_root, eddy__norm_is_small(y[j]) ? 0x1p-600 * sqrt(a) : y[j])

#define SQUARES(s) { FOR_FLOATS(ENTRY_TOTAL, squares, store, s) }
#define NORM(s) { FOR_FLOATS(ENTRY_TOTAL, squares, root, s) }
#define LARGE(s) { FOR_DOUBLES(ENTRY_TOTAL, large, large_root, _base) }
#define SMALL(s) { FOR_DOUBLES(ENTRY_TOTAL, small, small_root, _base) }
const eddy_fold eddy__fold_squares = { EACH_SET(SQUARES) };
const eddy_fold eddy__fold_norm = { EACH_SET(NORM) };
const eddy_fold eddy__fold_norm_large = { EACH_SET(LARGE) };
const eddy_fold eddy__fold_norm_small = { EACH_SET(SMALL) };
