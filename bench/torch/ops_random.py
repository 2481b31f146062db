"""Random numbers: see bench/ops/bench_ops.h."""
import torch
from torch.distributions import (Beta, Cauchy, Chi2, Dirichlet, Exponential, Geometric, Gumbel,
                                 Laplace, LogNormal, StudentT)


def of(kind):
    return lambda *x: kind(*x, validate_args=False).sample()


ROWS = {
    "random uniform": torch.rand_like,
    "random normal": torch.randn_like,
    "random bernoulli": torch.bernoulli,
    "random exponential": of(Exponential),
    "random cauchy": lambda x: of(Cauchy)(x, torch.ones(())),
    "random log_normal": lambda x: of(LogNormal)(x, torch.ones(())),
    "random gamma": torch._standard_gamma,
    "random dirichlet": of(Dirichlet),
    "random poisson, few": torch.poisson,
    "random poisson, many": torch.poisson,
    "random binomial": lambda n, p: torch.binomial(torch.floor(n), p),
    "random categorical": lambda x: torch.multinomial(torch.softmax(x, -1), 1).float(),
    "random categorical, many":
        lambda x: torch.multinomial(torch.softmax(x, -1), 1000, replacement=True).float(),
    "random permutation": lambda x: torch.randperm(1000000).float(),
    "random uniform int":
        lambda x: torch.randint(0, 1000, (1000, 1000), dtype=torch.int32).float(),
    "truncated_normal": lambda x: torch.nn.init.trunc_normal_(torch.empty(1000, 1000)),
    "random laplace": lambda x: of(Laplace)(x, torch.ones(())),
    "random gumbel": lambda x: of(Gumbel)(x, torch.ones(())),
    "random logistic": lambda x: torch.logit(torch.rand_like(x)) + x,
    "random geometric": of(Geometric),
    "random beta": lambda x: of(Beta)(x, x),
    "random chi2": of(Chi2),
    "random student_t": of(StudentT),
    "random multivariate_normal": lambda m, s: m + (s @ torch.randn_like(m)[..., None])[..., 0],
    "random shuffle": lambda x: x[torch.randperm(len(x))],
    "random choice": lambda x: x[torch.randint(len(x), (100000,))],
    "random orthogonal": lambda x: torch.nn.init.orthogonal_(torch.empty(256, 256)),
    "stateless_random_normal": lambda x: torch.randn(1000, 1000),
}
