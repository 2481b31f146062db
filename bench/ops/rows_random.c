/* rows_random.c -- random numbers. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

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
BUILD(whole, REAL(eddy_random_uniform_int(g, EDDY_SHAPE(1000, 1000), 0, 1000)))
BUILD(truncated, eddy_truncated_normal(g, EDDY_SHAPE(1000, 1000)))
BUILD(laplace, eddy_random_laplace(x[0], OnesLike(x[0])))
BUILD(gumbel, eddy_random_gumbel(x[0], OnesLike(x[0])))
BUILD(logistic, eddy_random_logistic(x[0], OnesLike(x[0])))
BUILD(geometric, eddy_random_geometric(x[0]))
BUILD(beta, eddy_random_beta(x[0], x[0]))
BUILD(chi2, eddy_random_chi2(x[0]))
BUILD(student, eddy_random_student_t(x[0]))
BUILD(vectors, eddy_random_multivariate_normal(x[0], x[1]))
BUILD(shuffle, eddy_random_shuffle(x[0]))
BUILD(choice, eddy_random_choice(x[0], 100000))
BUILD(orthogonal, eddy_init_orthogonal(g, EDDY_FLOAT32, EDDY_SHAPE(256, 256), 7))
BUILD(stateless, eddy_stateless_random_normal(EDDY_SHAPE(1000, 1000), eddy_const(g, EDDY_INT32,
                                              EDDY_SHAPE(2), (int32_t[]){ 1, 2 })))

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
    RANDOM("random uniform int", whole, 0, 1, S(1)),
    RANDOM("truncated_normal", truncated, 0, 1, S(1)),
    RANDOM("random laplace", laplace, 0, 1, S(1000, 1000)),
    RANDOM("random gumbel", gumbel, 0, 1, S(1000, 1000)),
    RANDOM("random logistic", logistic, 0, 1, S(1000, 1000)),
    RANDOM("random geometric", geometric, 0.1, 0.9, S(1000, 1000)),
    RANDOM("random beta", beta, 0.5, 4, S(500, 1000)),
    RANDOM("random chi2", chi2, 1, 9, S(500, 1000)),
    RANDOM("random student_t", student, 1, 9, S(500, 1000)),
    { .name = "random multivariate_normal", .build = vectors, .n = 2,
      .shape = { S(10000, 16), S(10000, 16, 16) }, .random = true },
    RANDOM("random shuffle", shuffle, 0, 1, S(100000, 10)),
    RANDOM("random choice", choice, 0, 1, S(10000)),
    RANDOM("random orthogonal", orthogonal, 0, 1, S(1)),
    RANDOM("stateless_random_normal", stateless, 0, 1, S(1)),
};
OPS_FAMILY(random, rows);
