/* rows_random.c -- random numbers. */
#include "bench/ops/bench_ops.h"
#include "ops/math.h"

#define REAL(x) eddy_cast(x, EDDY_FLOAT32)

BUILD(uniform, eddy_random_uniform_like(x[0]))
BUILD(normal, eddy_random_normal_like(x[0]))
BUILD(bernoulli, eddy_random_bernoulli(x[0], .dtype = EDDY_FLOAT32))
BUILD(exponential, eddy_random_exponential(x[0]))
BUILD(cauchy, eddy_random_cauchy(x[0]))
BUILD(log_normal, eddy_random_log_normal(x[0]))
BUILD(gamma_numbers, eddy_random_gamma(x[0]))
BUILD(dirichlet, eddy_random_dirichlet(x[0]))
BUILD(poisson, eddy_random_poisson(x[0]))
BUILD(binomial, eddy_random_binomial(x[0], x[1]))
BUILD(categorical, REAL(eddy_random_categorical(x[0], 1)))
BUILD(categorical_many, REAL(eddy_random_categorical(x[0], 1000)))
BUILD(permutation, REAL(eddy_random_permutation(g, 1000000)))

#define RANDOM(called, fn, from, to, ...)                                       \
    { .name = called, .build = fn, .n = 1, .shape = { __VA_ARGS__ }, .low = { from }, \
      .high = { to }, .random = true }
static const ops_row rows[] = {
    RANDOM("random uniform", uniform, 0, 1, S(1000, 1000)),
    RANDOM("random normal", normal, 0, 1, S(1000, 1000)),
    RANDOM("random bernoulli", bernoulli, 0, 1, S(1000, 1000)),
    RANDOM("random exponential", exponential, 1, 2, S(1000, 1000)),
    RANDOM("random cauchy", cauchy, 0, 1, S(1000, 1000)),
    RANDOM("random log_normal", log_normal, 0, 1, S(1000, 1000)),
    RANDOM("random gamma", gamma_numbers, 0.1, 4, S(500, 1000)),
    RANDOM("random dirichlet", dirichlet, 0.5, 4, S(500, 1000)),
    RANDOM("random poisson, few", poisson, 0.1, 9, S(500, 1000)),
    RANDOM("random poisson, many", poisson, 12, 99, S(500, 1000)),
    { .name = "random binomial", .build = binomial, .n = 2, .shape = { S(500, 1000), S(500, 1000) },
      .low = { 50, 0.2 }, .high = { 99, 0.8 }, .random = true },
    RANDOM("random categorical", categorical, -2, 2, S(500, 1000)),
    RANDOM("random categorical, many", categorical_many, -2, 2, S(100, 1000)),
    RANDOM("random permutation", permutation, 0, 1, S(1)),
};
OPS_FAMILY(random, rows);
