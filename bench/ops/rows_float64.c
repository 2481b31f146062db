/* rows_float64.c -- elementwise functions of float64 and complex128. */
#include "bench/ops/bench_ops.h"

BUILD(exp_, eddy_exp(x[0]))
BUILD(log_, eddy_log(x[0]))
BUILD(sin_, eddy_sin(x[0]))
BUILD(cos_, eddy_cos(x[0]))
BUILD(tanh_, eddy_tanh(x[0]))
BUILD(expm1_, eddy_expm1(x[0]))
BUILD(log1p_, eddy_log1p(x[0]))
BUILD(softplus_, eddy_softplus(x[0]))
BUILD(sigmoid_, eddy_sigmoid(x[0]))
BUILD(atan_, eddy_atan(x[0]))
BUILD(pow_, eddy_pow(x[0], x[1]))
BUILD(erf_, eddy_erf(x[0]))
BUILD(erfc_, eddy_erfc(x[0]))
BUILD(gelu_, eddy_gelu(x[0]))
BUILD(lgamma_, eddy_lgamma(x[0]))
BUILD(digamma_, eddy_digamma(x[0]))

/* Of 50 000 numbers in [from, to), which the second cache holds. */
enum { MANY = 50000 };
#define OF(type, called, fn, from, to)                                              \
    { .name = called, .build = fn, .n = 1, .shape = { S(MANY) }, .low = { from },   \
      .high = { to }, .dtype = type }

static const ops_row rows[] = {
    OF(EDDY_FLOAT64, "float64 exp", exp_, -10, 10),
    OF(EDDY_FLOAT64, "float64 log", log_, 0.01, 100),
    OF(EDDY_FLOAT64, "float64 sin", sin_, -10, 10),
    OF(EDDY_FLOAT64, "float64 cos", cos_, -10, 10),
    OF(EDDY_FLOAT64, "float64 tanh", tanh_, -5, 5),
    OF(EDDY_FLOAT64, "float64 expm1", expm1_, -10, 10),
    OF(EDDY_FLOAT64, "float64 log1p", log1p_, -0.99, 100),
    OF(EDDY_FLOAT64, "float64 softplus", softplus_, -10, 10),
    OF(EDDY_FLOAT64, "float64 sigmoid", sigmoid_, -10, 10),
    OF(EDDY_FLOAT64, "float64 atan", atan_, -10, 10),
    { .name = "float64 pow", .build = pow_, .n = 2, .shape = { S(MANY), S(MANY) },
      .low = { 0.5, -2 }, .high = { 2, 2 }, .dtype = EDDY_FLOAT64 },
    OF(EDDY_FLOAT64, "float64 erf", erf_, -4, 4),
    OF(EDDY_FLOAT64, "float64 erfc", erfc_, -4, 4),
    OF(EDDY_FLOAT64, "float64 gelu", gelu_, -4, 4),
    OF(EDDY_FLOAT64, "float64 lgamma", lgamma_, 0.1, 9),
    OF(EDDY_FLOAT64, "float64 digamma", digamma_, 0.1, 9),
    OF(EDDY_COMPLEX128, "complex128 exp", exp_, -2, 2),
    OF(EDDY_COMPLEX128, "complex128 log", log_, -2, 2),
};
OPS_FAMILY(float64, rows);
