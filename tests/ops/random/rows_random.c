/* rows_random.c -- distributions, seeds given as tensors, choices; see rows.h. */
#include "tests/lib/rows.h"

#define SEED INTS(EDDY_SHAPE(2), 3, 4)

BUILD(seeded_uniform, eddy_stateless_random_uniform_like(x[0], SEED))
BUILD(seeded_normal, eddy_stateless_random_normal_like(x[0], SEED))
BUILD(seeded_truncated, eddy_stateless_truncated_normal_like(x[0], SEED, .mean = 1))
BUILD(poisson, eddy_random_poisson(x[0]))
BUILD(binomial, eddy_random_binomial(x[0], x[1]))
/* The gradient of a gamma number is that of the quantile, not of the way it was drawn, so
 * differences do not see it: tests/ops/random/test_distributions.c does. */
#define SEEDED .stateless_seed = SEED
#define ONES OnesLike(x[0])
BUILD(gamma_like, Add(x[0], eddy_random_gamma(ONES, SEEDED)))
BUILD(gamma_scaled, eddy_random_gamma(ONES, x[1], SEEDED))
BUILD(beta, Mul(x[0], eddy_random_beta(ONES, ONES, SEEDED)))
BUILD(dirichlet, Mul(x[0], eddy_random_dirichlet(ONES, SEEDED)))
BUILD(chi2, Mul(x[0], eddy_random_chi2(ONES, SEEDED)))
BUILD(student_t, Mul(x[0], eddy_random_student_t(ONES, SEEDED)))
BUILD(gamma_unseeded, Add(x[0], Mul(0, eddy_random_gamma(ONES))))
BUILD(bernoulli, eddy_random_bernoulli(x[0]))
BUILD(bernoulli_logits, eddy_random_bernoulli(.logits = x[0], .dtype = EDDY_FLOAT32))
BUILD(exponential, eddy_random_exponential(x[0], .stateless_seed = SEED))
BUILD(geometric, eddy_random_geometric(x[0]))
BUILD(laplace, eddy_random_laplace(x[0], x[1], .stateless_seed = SEED))
BUILD(gumbel, eddy_random_gumbel(x[0], x[1], .stateless_seed = SEED))
BUILD(logistic, eddy_random_logistic(x[0], x[1], .stateless_seed = SEED))
BUILD(cauchy, eddy_random_cauchy(x[0], x[1], .stateless_seed = SEED))
BUILD(log_normal, eddy_random_log_normal(x[0], x[1], .stateless_seed = SEED))
BUILD(categorical, eddy_random_categorical(x[0], 5))
BUILD(choice, eddy_random_choice(StopGradient(x[0]), 6))
#define TWO eddy_random_choice(StopGradient(x[0]), 2, .without_replacement = true)
BUILD(choice_of, Add(Sum(x[0]), Mul(0, TWO)))

#define RANDOM(type, option, fn, from, to)                                      \
    { .op = type, .how = option, .build = fn, .n = 1, .shape = { S(3, 4) },     \
      .low = { from }, .high = { to }, .options = SWEEP_RANDOM | SWEEP_REAL }
#define RANDOM_2(type, option, fn, from_a, to_a, from_b, to_b)                  \
    { .op = type, .how = option, .build = fn, .n = 2, .shape = { S(3, 4), S(4) }, \
      .low = { from_a, from_b }, .high = { to_a, to_b }, .options = SWEEP_RANDOM | SWEEP_REAL }
static const sweep_row rows[] = {
    RANDOM("StatelessRandomUniform", "", seeded_uniform, -2, 2),
    RANDOM("StatelessRandomNormal", "", seeded_normal, -2, 2),
    RANDOM("StatelessTruncatedNormal", "", seeded_truncated, -2, 2),
    RANDOM("RandomPoissonV2", "", poisson, 1, 30),
    RANDOM_2("RandomBinomial", "", binomial, 1, 99, 0.1, 0.9),
    RANDOM("RandomGamma", "", gamma_like, -2, 2),
    { .op = "RandomGamma", .how = "scaled", .build = gamma_scaled, .n = 2,
      .shape = { S(3, 4), S(4) }, .low = { -2, 1 }, .high = { 2, 2 }, .constant = 1,
      .options = SWEEP_RANDOM | SWEEP_REAL },
    RANDOM("RandomGamma", "beta", beta, -2, 2),
    RANDOM("RandomGamma", "dirichlet", dirichlet, -2, 2),
    RANDOM("RandomGamma", "chi2", chi2, -2, 2),
    RANDOM("RandomGamma", "student_t", student_t, -2, 2),
    RANDOM("RandomGamma", "unseeded", gamma_unseeded, -2, 2),
    RANDOM("RandomUniform", "bernoulli", bernoulli, 0, 1),
    RANDOM("RandomUniform", "bernoulli, logits", bernoulli_logits, -2, 2),
    RANDOM("RealDiv", "exponential", exponential, 1, 2),
    RANDOM("RandomUniform", "geometric", geometric, 0.1, 0.9),
    RANDOM_2("Add", "laplace", laplace, -2, 2, 1, 2),
    RANDOM_2("Add", "gumbel", gumbel, -2, 2, 1, 2),
    RANDOM_2("Add", "logistic", logistic, -2, 2, 1, 2),
    RANDOM_2("Add", "cauchy", cauchy, -2, 2, 1, 2),
    RANDOM_2("Exp", "log_normal", log_normal, -2, 2, 1, 2),
    { .op = "Multinomial", .build = categorical, .n = 1, .shape = { S(3, 4) },
      .options = SWEEP_RANDOM, .keep = { 4 } },
    { .op = "RandomUniform", .how = "choice", .build = choice, .n = 1, .shape = { S(3, 4) },
      .options = SWEEP_RANDOM, .keep = { 3 } },
    { .op = "Sum", .how = "choice", .build = choice_of, .n = 1, .shape = { S(3, 4) },
      .options = SWEEP_RANDOM, .keep = { 3 } },
};
FAMILY_OF_ROWS(random, rows);
