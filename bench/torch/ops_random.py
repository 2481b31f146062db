"""Random numbers: see bench/ops/bench_ops.h."""
import torch
from torch.distributions import Cauchy, Dirichlet, Exponential, LogNormal


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
}
