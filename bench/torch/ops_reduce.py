"""Sums, cumulative sums, softmax, norms: see bench/ops/bench_ops.h."""
import torch


def clipped(*x):
    norm = torch.stack([v.square().sum() for v in x]).sum().sqrt()
    scale = 5 / torch.clamp(norm, min=5)
    return torch.cat([v * scale for v in x])


def weighted(x, w):
    total = w.sum(0)
    mean = (x * w).sum(0) / total
    return (x.square() * w).sum(0) / total - mean.square()


def cumsum_back(x):
    y = x.flip(-1).cumsum(-1)
    return torch.cat([torch.zeros(len(x), 1), y[:, :-1]], -1).flip(-1)


def scan(x, w):
    y = [x[:, 0]]
    for j in range(1, x.shape[1]):
        y.append(torch.addcmul(x[:, j], w[:, j], y[-1]))
    return torch.stack(y, 1)


def shift(x):
    return torch.cat([torch.zeros(len(x), 3), x[:, :-3]], 1)


def softmax(x):
    return torch.softmax(x, -1)


def log_softmax(x):
    return torch.log_softmax(x, -1)


ROWS = {
    "sum": torch.sum,
    "sum last axis": lambda x: x.sum(-1),
    "sum first axis": lambda x: x.sum(0),
    "sum middle axis": lambda x: x.sum(1),
    "sum outer axes": lambda x: x.sum((0, 2)),
    "sum short rows": lambda x: x.sum(-1),
    "mean last axis": lambda x: x.mean(-1),
    "max last axis": lambda x: x.amax(-1),
    "max first axis": lambda x: x.amax(0),
    "max last axis, gradient": lambda x: x.amax(-1),
    "min of all": torch.min,
    "prod last axis": lambda x: x.prod(-1),
    "prod last axis, gradient": lambda x: x.prod(-1),
    "any last axis": lambda x: (x > 0.9).any(-1).float(),
    "all first axis": lambda x: (x < 0.9).all(0).float(),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "logsumexp, gradient": lambda x: torch.logsumexp(x, -1),
    "argmax last axis": lambda x: x.argmax(-1).float(),
    "argmax first axis": lambda x: x.argmax(0).float(),
    "argmin last axis": lambda x: x.argmin(-1).float(),
    "euclidean_norm": lambda x: x.norm(dim=-1),
    "l2_loss": lambda x: x.square().sum() / 2,
    "moments": lambda x: torch.var_mean(x, 0, unbiased=False)[0],
    "weighted_moments": weighted,
    "add_n": lambda a, b, c, d: a + b + c + d,
    "clip_by_global_norm": clipped,
    "cumsum last axis": lambda x: x.cumsum(-1),
    "cumsum first axis": lambda x: x.cumsum(0),
    "cumsum exclusive, reverse": cumsum_back,
    "cumprod": lambda x: x.cumprod(-1),
    "cummin": lambda x: x.cummin(-1)[0],
    "linear_scan": scan,
    "softmax": softmax,
    "softmax first axis": lambda x: torch.softmax(x, 0),
    "softmax short rows": softmax,
    "softmax, gradient": lambda x: softmax(x).square(),
    "log_softmax": log_softmax,
    "log_softmax, gradient": lambda x: log_softmax(x) * x,
    "nth_element": lambda x: x.kthvalue(101, -1)[0],
    "quantile": lambda x: torch.quantile(x, 0.3, -1),
    "shift": shift,
    "norm inf of rows": lambda x: torch.linalg.vector_norm(x, torch.inf, -1),
    "norm 3 of rows": lambda x: torch.linalg.vector_norm(x, 3, -1),
    "zero_fraction": lambda x: (torch.relu(x) == 0).float().mean(),
}
