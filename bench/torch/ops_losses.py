"""Losses: see bench/ops/bench_ops.h."""
import math

import torch
import torch.nn.functional as F


def weighted(z, x):
    weight = torch.tensor(2.0)
    return F.binary_cross_entropy_with_logits(x, z, pos_weight=weight, reduction="none")


def divergence(t, x):
    return F.kl_div(torch.log(x), t, reduction="batchmean")


def log_cosh(t, x):
    e = (x - t).abs()
    return (e + F.softplus(-2 * e) - math.log(2)).mean()


def quantile(t, x):
    return (0.5 * (t - x).abs()).mean()


def gaussian(t, x, v):
    return F.gaussian_nll_loss(x, t, v)


def hinge(t, x):
    return (1 - (2 * t - 1) * x).clamp(min=0).mean()


def log_loss(t, p):
    return -(t * (p + 1e-7).log() + (1 - t) * (1 - p + 1e-7).log()).mean()


def focal(t, x):
    p = torch.sigmoid(x)
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    fits = p * t + (1 - p) * (1 - t)
    return ((0.25 * t + 0.75 * (1 - t)) * (1 - fits).square() * loss).mean()


def dice(t, p):
    return 1 - (2 * (p * t).sum() + 1) / (p.sum() + t.sum() + 1)


def contrastive(a, b):
    label = (a[:, 0] > 0).float()
    d = (a - b).norm(dim=-1)
    return (label * d.square() + (1 - label) * (1 - d).clamp(min=0).square()).mean()


def semihard(y, x):
    n, d = len(y), torch.cdist(x, x).square()
    same = y.int()[:, None] == y.int()
    inf = torch.tensor(torch.inf)
    others = torch.where(same, inf, d)[:, None, :].expand(n, n, n)
    further = torch.where(others > d[:, :, None], others, inf).amin(-1)
    furthest = torch.where(same, torch.zeros(()), d).amax(-1, keepdim=True).expand(n, n)
    k = torch.where(further < inf, further, furthest)
    pairs = same & ~torch.eye(n, dtype=torch.bool)
    return (d - k + 1).clamp(min=0)[pairs].mean()


def pairwise(t, x):
    e = x - t
    n = e.shape[1]
    each = 2 * (e.square().sum(1) / (n - 1) - e.sum(1).square() / (n * (n - 1)))
    return each.sum()


BOTH = {
    "absolute_difference": F.l1_loss,
    "smooth_l1_loss": lambda t, x: F.smooth_l1_loss(x, t),
    "log_cosh_loss": log_cosh,
    "quantile_loss": quantile,
    "log_poisson_loss": lambda t, x: F.poisson_nll_loss(x, t, reduction="none"),
    "hinge_loss": hinge,
    "log_loss": log_loss,
    "focal_loss": focal,
    "dice_loss": dice,
    "softmax_cross_entropy_loss": lambda t, x: F.cross_entropy(x, torch.softmax(t, -1)),
    "mean_pairwise_squared_error": pairwise,
}
ROWS = {
    **BOTH, **{name + ", gradient": f for name, f in BOTH.items()},
    "gaussian_nll_loss": gaussian,
    "sparse_softmax_cross_entropy_loss": lambda y, x: F.cross_entropy(x, y.long()),
    "cosine_embedding_loss": lambda a, b: F.cosine_embedding_loss(a, b, a[:, 0].sign()),
    "margin_ranking_loss": lambda y, a, b: F.margin_ranking_loss(a, b, y.sign()),
    "contrastive_loss": contrastive,
    "triplet_semihard_loss": semihard,
    "mean_squared_error": F.mse_loss,
    "mean_squared_error, gradient": F.mse_loss,
    "huber_loss": lambda t, x: F.huber_loss(x, t, delta=0.5),
    "huber_loss, gradient": lambda t, x: F.huber_loss(x, t, delta=0.5),
    "weighted_cross_entropy": weighted,
    "kl_divergence_loss": divergence,
    "triplet_margin_loss": F.triplet_margin_loss,
    "cosine_similarity": lambda a, b: F.cosine_similarity(a, b, dim=-1),
}
