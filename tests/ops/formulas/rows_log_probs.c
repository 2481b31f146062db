/* rows_log_probs.c -- densities, distribution functions, entropies, divergences; triangular
 * factors, eigenvalues; asserted shapes; see rows.h. */
#include "tests/lib/rows.h"
#include "ops/linear/linear.h"

BUILD(normal, eddy_normal_log_prob(x[0], x[1], x[2]))
BUILD(normal_cdf, eddy_normal_cdf(x[0], x[1], x[2]))
BUILD(normal_log_cdf, eddy_normal_log_cdf(x[0], x[1], x[2]))
BUILD(normal_kl, Add(eddy_normal_kl(x[0], x[1], Neg(x[0]), x[2]), eddy_normal_entropy(x[1])))
BUILD(uniform, eddy_uniform_log_prob(x[0], x[1], x[2]))
BUILD(uniform_cdf, Add(eddy_uniform_cdf(x[0], x[1], x[2]), eddy_uniform_entropy(x[1], x[2])))
BUILD(bernoulli, Add(eddy_bernoulli_log_prob(x[0], x[1]), eddy_bernoulli_entropy(x[1])))
BUILD(exponential, eddy_exponential_log_prob(x[0], x[1]))
BUILD(exponential_cdf, Add(eddy_exponential_cdf(x[0], x[1]), eddy_exponential_entropy(x[1])))
BUILD(laplace, Add(eddy_laplace_log_prob(x[0], x[1], x[2]), eddy_laplace_entropy(x[2])))
BUILD(laplace_cdf, eddy_laplace_cdf(x[0], x[1], x[2]))
BUILD(gamma_of, Add(eddy_gamma_log_prob(x[0], x[1], x[2]), eddy_gamma_entropy(x[1], x[2])))
BUILD(gamma_cdf, eddy_gamma_cdf(x[0], x[1], x[2]))
BUILD(beta_of, Add(eddy_beta_log_prob(x[0], x[1], x[2]), eddy_beta_entropy(x[1], x[2])))
BUILD(beta_cdf, Mul(x[1], eddy_beta_cdf(x[0], NumberLike(1.5, x[0]), NumberLike(2.5, x[0]))))
BUILD(poisson_of, eddy_poisson_log_prob(x[0], x[1]))
BUILD(poisson_cdf, Mul(x[0], eddy_poisson_cdf(StopGradient(x[0]), x[1])))
BUILD(student_t, Add(eddy_student_t_log_prob(x[0], x[1], Neg(x[2]), x[2]),
                     eddy_student_t_entropy(x[1], x[2])))
BUILD(student_t_cdf, eddy_student_t_cdf(x[0], NumberLike(3, x[0]), x[1], x[2]))

#define CLASSES INTS(EDDY_SHAPE(3), 2, 0, 3)
BUILD(categorical_of, eddy_categorical_log_prob(CLASSES, x[0]))
BUILD(categorical_entropy, eddy_categorical_entropy(x[0]))
BUILD(categorical_kl, eddy_categorical_kl(x[0], x[1]))
BUILD(dirichlet_of, Add(eddy_dirichlet_log_prob(x[0], x[1]), eddy_dirichlet_entropy(x[1])))

/* Factors with a diagonal above 0, of n by n numbers. */
static eddy_tensor factor(eddy_tensor x)
{
    const eddy_tensor one = OnesLike(eddy_matrix_diag_part(x));
    return Add(Mul(0.25, eddy_tril(x, -1)), eddy_matrix_diag(Add(one, one)));
}
BUILD(multivariate, eddy_multivariate_normal_log_prob(x[0], x[1], factor(x[2])))
BUILD(multivariate_kl, Add(eddy_multivariate_normal_kl(x[0], factor(x[1]), Neg(x[0]), factor(x[2])),
                           eddy_multivariate_normal_entropy(factor(x[2]))))
#define NUMBERS_OF(l) \
    eddy_random_multivariate_normal(x[0], l, .stateless_seed = INTS(EDDY_SHAPE(2), 3, 5))
BUILD(multivariate_sample, NUMBERS_OF(factor(x[1])))

static eddy_tensor regular(eddy_tensor x) { return Add(x, Mul(6, eddy__identity_like(x))); }
BUILD(lu, eddy_lu(regular(x[0]), EDDY_INT32))
BUILD(lu_reconstruct, eddy_lu_reconstruct(eddy_lu(regular(x[0]), EDDY_INT64),
                                          eddy_output(eddy_lu(regular(x[0]), EDDY_INT64), 1)))

/* Distinct eigenvalues, and the vectors without the phase that is arbitrary. */
static eddy_tensor apart(eddy_tensor x)
{
    return Add(x, Mul(3, Mul(eddy__identity_like(x), Cumsum(OnesLike(x), -1))));
}
static eddy_tensor eig(eddy_graph *g, const eddy_tensor *x)
{
    const eddy_tensor e = eddy_eig(apart(x[0])), v = eddy_output(e, 1);
    const eddy_tensor list[] = { Real(e), Real(Mul(v, Conj(v))) };
    (void)g;
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}
BUILD(eigvals, Real(Mul(eddy_eigvals(apart(x[0])), eddy_eigvals(apart(x[0])))))
BUILD(ensure_shape, eddy_ensure_shape(x[0], EDDY_SHAPE(EDDY_ANY, EDDY_ANY)))
BUILD(flip, eddy_flip(x[0], EDDY_AXES(1)))

#define ROW3(type, option, fn, a, b, c, d, e, f)                                \
    { .op = type, .how = option, .build = fn, .n = 3, .shape = { S(3, 4), S(3, 4), S(3, 1) }, \
      .low = { a, c, e }, .high = { b, d, f }, .options = SWEEP_REAL }
#define ROW2(type, option, fn, a, b, c, d)                                      \
    { .op = type, .how = option, .build = fn, .n = 2, .shape = { S(3, 4), S(3, 4) }, \
      .low = { a, c }, .high = { b, d }, .options = SWEEP_REAL }

static const sweep_row rows[] = {
    ROW3("Log", "normal_log_prob", normal, -2, 2, -1, 1, 0.5, 2),
    ROW3("Ndtr", "normal_cdf", normal_cdf, -2, 2, -1, 1, 0.5, 2),
    ROW3("LogNdtr", "normal_log_cdf", normal_log_cdf, -2, 2, -1, 1, 0.5, 2),
    ROW3("Log", "normal_kl", normal_kl, -2, 2, 0.5, 1, 0.5, 2),
    ROW3("Log", "uniform_log_prob", uniform, 0.1, 0.9, -1, 0, 1, 2),
    ROW3("Minimum", "uniform_cdf", uniform_cdf, 0.1, 0.9, -1, 0, 1, 2),
    ROW2("Softplus", "bernoulli_log_prob", bernoulli, 0, 1, -2, 2),
    ROW2("Log", "exponential_log_prob", exponential, 0.5, 2, 0.75, 2),
    ROW2("Expm1", "exponential_cdf", exponential_cdf, 0.75, 2, 1, 2),
    ROW3("Abs", "laplace_log_prob", laplace, 1, 2, -1, 0, 0.5, 2),
    ROW3("Exp", "laplace_cdf", laplace_cdf, -2, -1, 0, 1, 0.5, 2),
    ROW3("Lgamma", "gamma_log_prob", gamma_of, 0.5, 2, 1.5, 3, 0.5, 2),
    ROW3("Igamma", "gamma_cdf", gamma_cdf, 0.5, 2, 1.5, 3, 0.5, 2),
    ROW3("Lgamma", "beta_log_prob", beta_of, 0.2, 0.8, 1.5, 3, 0.5, 0.9),
    ROW2("Betainc", "beta_cdf", beta_cdf, 0.2, 0.8, 1, 2),
    ROW2("Lgamma", "poisson_log_prob", poisson_of, 0.5, 4, 0.5, 3),
    ROW2("Igammac", "poisson_cdf", poisson_cdf, 0.1, 0.9, 0.5, 3),
    ROW3("Lgamma", "student_t_log_prob", student_t, -1, 1, 1.5, 4, 0.5, 2),
    ROW3("Betainc", "student_t_cdf", student_t_cdf, 1, 2, -1, 0, 0.5, 2),

    OP_KEEP("SparseSoftmaxCrossEntropyWithLogits", "categorical_log_prob", categorical_of, 1,
            KEEP(3, 4), S(3, 4)),
    OP_KEEP("LogSoftmax", "categorical_entropy", categorical_entropy, 1, KEEP(4), S(3, 4)),
    OP_KEEP("LogSoftmax", "categorical_kl", categorical_kl, 2, KEEP(4), S(3, 4), S(4)),
    { .op = "Digamma", .how = "dirichlet", .build = dirichlet_of, .n = 2, .keep = { 4 },
      .shape = { S(3, 4), S(3, 4) }, .low = { 1, 1.5 }, .high = { 2, 3 } },
    { .op = "MatrixTriangularSolve", .how = "multivariate_normal_log_prob", .build = multivariate,
      .n = 3, .shape = { S(2, 3), S(3), S(3, 3) }, .keep = { 3 }, .options = SWEEP_REAL },
    { .op = "MatrixTriangularSolve", .how = "multivariate_normal_kl", .build = multivariate_kl,
      .n = 3, .shape = { S(3), S(3, 3), S(3, 3) }, .keep = { 3 }, .options = SWEEP_REAL },
    { .op = "MatrixBandPart", .how = "random_multivariate_normal", .build = multivariate_sample,
      .n = 2, .shape = { S(2, 3), S(3, 3) }, .keep = { 3 }, .options = SWEEP_RANDOM | SWEEP_REAL },
    OP_KEEP("Lu", "", lu, 1, KEEP(3), S(2, 3, 3)),
    OP_KEEP("Lu", "reconstruct", lu_reconstruct, 1, KEEP(3), S(2, 3, 3)),
    { .op = "Eig", .build = eig, .n = 1, .shape = { S(2, 3, 3) }, .low = { -1 }, .high = { 1 },
      .keep = { 3 }, .options = SWEEP_REAL },
    { .op = "Eig", .how = "values", .build = eigvals, .n = 1, .shape = { S(3, 3) }, .low = { -1 },
      .high = { 1 }, .keep = { 3 }, .options = SWEEP_REAL },
    OP("EnsureShape", "", ensure_shape, 1, S(3, 4)),
    OP("ReverseV2", "flip", flip, 1, S(3, 4)),
};
static const sweep_exempt exempts[] = {
    { "AssertRank", "has no value" },
    { "AssertShapes", "has no value" },
};
FAMILY(log_probs, rows, exempts);
