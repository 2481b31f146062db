"""Metrics, written as one would in PyTorch, which has none: see bench/ops/bench_ops.h."""
import torch


class Taken:
    """Sums over calls in float64, and the metric computed from them."""

    def __init__(self, sums, value):
        self.sums, self.value, self.state = sums, value, None

    def __call__(self, *x):
        new = torch.stack([s.double() if torch.is_tensor(s) else
                           torch.tensor(s, dtype=torch.float64) for s in self.sums(*x)])
        self.state = new if self.state is None else self.state.add_(new)
        return self.value(self.state).float()


def ratio(s):
    return s[0] / s[1]


def top_k(y, x):
    best = x.topk(5, -1)[1]
    return (best == y.long()[:, None]).any(-1).float()


def both(y, p, w=None):
    true = y.int() != 0
    hit = true & (p.int() != 0)
    return (hit.sum(), true.sum()) if w is None else ((w * hit).sum(), (w * true).sum())


def matrix(y, p, n):
    return torch.bincount(y.long() * n + p.long(), minlength=n * n).reshape(n, n)


def iou(m):
    hits = m.diagonal()
    either = m.sum(0) + m.sum(1) - hits
    return (hits / either).mean()


# The first and the last one lie outside of [0, 1].
THRESHOLDS = torch.tensor([-1e-7] + [(i + 1) / 199 for i in range(198)] + [1 + 1e-7])


def counts(y, p):
    """How many true and how many false ones are above each threshold."""
    place = torch.bucketize(p, THRESHOLDS)
    n = torch.bincount(place + 201 * (y.int() != 0), minlength=402).reshape(2, 201)
    return n.flip(1).cumsum(1).flip(1)[:, 1:]


def area(n):
    rate = n / n[:, :1]
    fall = rate[:, :-1] - rate[:, 1:]
    return (fall[0] * (rate[1, :-1] + rate[1, 1:]) / 2).sum()


ROWS = {
    "metric mean": Taken(lambda x: (x.sum(), x.numel()), ratio),
    "metric accuracy": Taken(lambda y, p: ((y.int() == p.int()).sum(), y.numel()), ratio),
    "metric top_k_accuracy": Taken(lambda y, p: (top_k(y, p).sum(), y.numel()), ratio),
    "metric root_mean_squared_error":
        Taken(lambda y, p: ((y - p).square().sum(), y.numel()), lambda s: ratio(s).sqrt()),
    "metric mean_absolute_error":
        Taken(lambda y, p: ((y - p).abs().sum(), y.numel()), ratio),
    "metric precision": Taken(lambda y, p: both(p, y), ratio),
    "metric recall": Taken(both, ratio),
    "metric recall, weights": Taken(both, ratio),
    "metric mean_iou": Taken(lambda y, p: matrix(y, p, 20), iou),
    "metric auc": Taken(counts, area),
    "confusion_matrix": lambda y, p: matrix(y, p, 100).float(),
}
