/* rows_math.c -- elementwise operations. */
#include "bench/ops/bench_ops.h"

BUILD(exp_, eddy_exp(x[0]))
BUILD(tanh_, eddy_tanh(x[0]))
BUILD(pow_, eddy_pow(x[0], x[1]))

static const ops_row rows[] = {
    OPS_ROW("exp", exp_, 1, S(1000, 1000)),
    OPS_GRADIENT("tanh, gradient", tanh_, 1, S(1000, 1000)),
    { .name = "pow", .build = pow_, .n = 2, .shape = { S(1000, 1000), S(1000, 1000) },
      .low = { 0.5, -2 }, .high = { 2, 2 } },
};
OPS_FAMILY(math, rows);
