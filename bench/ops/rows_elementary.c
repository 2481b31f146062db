/* rows_elementary.c -- further elementwise operations. */
#include "bench/ops/bench_ops.h"

BUILD(tan_, eddy_tan(x[0]))
BUILD(asin_, eddy_asin(x[0]))
BUILD(atan_, eddy_atan(x[0]))
BUILD(atan2_, eddy_atan2(x[0], x[1]))
BUILD(hypot_, eddy_hypot(x[0], x[1]))
BUILD(sinh_, eddy_sinh(x[0]))
BUILD(cosh_, eddy_cosh(x[0]))
BUILD(asinh_, eddy_asinh(x[0]))
BUILD(atanh_, eddy_atanh(x[0]))
BUILD(exp2_, eddy_exp2(x[0]))
BUILD(log2_, eddy_log2(x[0]))
BUILD(log10_, eddy_log10(x[0]))
BUILD(elu_, eddy_elu(x[0]))
BUILD(selu_, eddy_selu(x[0]))
BUILD(leaky_relu_, eddy_leaky_relu(x[0]))
BUILD(relu6_, eddy_relu6(x[0]))
BUILD(swish_, eddy_swish(x[0]))
BUILD(mish_, eddy_mish(x[0]))
BUILD(softsign_, eddy_softsign(x[0]))
BUILD(log_sigmoid_, eddy_log_sigmoid(x[0]))
BUILD(hard_swish_, eddy_hard_swish(x[0]))
BUILD(soft_shrink_, eddy_soft_shrink(x[0]))
BUILD(logaddexp_, eddy_logaddexp(x[0], x[1]))
BUILD(truncatemod_, eddy_truncatemod(x[0], x[1]))
BUILD(erfc_, eddy_erfc(x[0]))
BUILD(erfinv_, eddy_erfinv(x[0]))
BUILD(lgamma_, eddy_lgamma(x[0]))
BUILD(digamma_, eddy_digamma(x[0]))
BUILD(i0e_, eddy_bessel_i0e(x[0]))
BUILD(igamma_, eddy_igamma(x[0], x[1]))

#define LARGE S(1000, 1000)
#define SMALL S(100, 100)
#define FROM(called, fn, shape_, a, b) \
    { .name = called, .build = fn, .n = 1, .shape = { shape_ }, .low = { a }, .high = { b } }
#define FROM_2(called, fn, shape_, a, b)                                        \
    { .name = called, .build = fn, .n = 2, .shape = { shape_, shape_ }, .low = { a, a }, \
      .high = { b, b } }

static const ops_row rows[] = {
    OPS_ROW("tan", tan_, 1, LARGE),
    OPS_GRADIENT("tan, gradient", tan_, 1, LARGE),
    OPS_ROW("asin", asin_, 1, LARGE),
    FROM("atan", atan_, LARGE, -4, 4),
    OPS_ROW("atan2", atan2_, 2, LARGE, LARGE),
    OPS_ROW("hypot", hypot_, 2, LARGE, LARGE),
    FROM("sinh", sinh_, LARGE, -4, 4),
    FROM("cosh", cosh_, LARGE, -4, 4),
    FROM("asinh", asinh_, LARGE, -4, 4),
    OPS_ROW("atanh", atanh_, 1, LARGE),
    FROM("exp2", exp2_, LARGE, -4, 4),
    FROM("log2", log2_, LARGE, 0.1, 4),
    FROM("log10", log10_, LARGE, 0.1, 4),
    OPS_ROW("elu", elu_, 1, LARGE),
    OPS_GRADIENT("elu, gradient", elu_, 1, LARGE),
    OPS_GRADIENT("selu, gradient", selu_, 1, LARGE),
    OPS_GRADIENT("leaky_relu, gradient", leaky_relu_, 1, LARGE),
    OPS_GRADIENT("relu6, gradient", relu6_, 1, LARGE),
    OPS_ROW("swish", swish_, 1, LARGE),
    OPS_GRADIENT("swish, gradient", swish_, 1, LARGE),
    OPS_ROW("mish", mish_, 1, LARGE),
    OPS_GRADIENT("mish, gradient", mish_, 1, LARGE),
    OPS_GRADIENT("softsign, gradient", softsign_, 1, LARGE),
    OPS_ROW("log_sigmoid", log_sigmoid_, 1, LARGE),
    OPS_GRADIENT("hard_swish, gradient", hard_swish_, 1, LARGE),
    OPS_ROW("soft_shrink", soft_shrink_, 1, LARGE),
    OPS_ROW("logaddexp", logaddexp_, 2, LARGE, LARGE),
    FROM_2("truncatemod", truncatemod_, LARGE, 1, 4),
    FROM("erfc", erfc_, LARGE, -3, 3),
    OPS_ROW("erfinv", erfinv_, 1, LARGE),
    FROM("lgamma", lgamma_, LARGE, 0.1, 9),
    FROM("digamma", digamma_, LARGE, 0.1, 9),
    FROM("bessel_i0e", i0e_, LARGE, -9, 9),
    FROM_2("igamma", igamma_, SMALL, 0.5, 9),
};
OPS_FAMILY(elementary, rows);
