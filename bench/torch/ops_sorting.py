"""Sorting, top-k, cumulative operations, statistics, bins: see bench/ops/bench_ops.h."""
import torch


def in_top_k(x, labels):
    """As TensorFlow defines it: fewer than k are larger."""
    own = x.gather(1, labels.long()[:, None])
    return ((x > own).sum(1) < 5).float()


ROWS = {
    "sort": lambda x: torch.sort(x, -1)[0],
    "sort one long row": lambda x: torch.sort(x, -1)[0],
    "sort short rows": lambda x: torch.sort(x, -1)[0],
    "sort first axis": lambda x: torch.sort(x, 0)[0],
    "sort int32": lambda x: torch.sort(x.int(), -1)[0].float(),
    "argsort descending": lambda x: torch.argsort(x, -1, True).float(),
    "sort, gradient": lambda x: torch.sort(x, -1)[0],
    "top_k 10": lambda x: torch.topk(x, 10)[0],
    "top_k 1000": lambda x: torch.topk(x, 1000)[0],
    "top_k 10, gradient": lambda x: torch.topk(x, 10)[0],
    "median": lambda x: torch.median(x, 1)[0],
    "in_top_k": in_top_k,
    "cumulative_logsumexp": lambda x: torch.logcumsumexp(x, 1),
    "cumulative_logsumexp, gradient": lambda x: torch.logcumsumexp(x, 1),
    "cummax": lambda x: torch.cummax(x, 1)[0],
    "cummax first axis": lambda x: torch.cummax(x, 0)[0],
    "cummax, gradient": lambda x: torch.cummax(x, 1)[0],
    "variance": lambda x: torch.var(x, 1, unbiased=False),
    "variance, gradient": lambda x: torch.var(x, 1, unbiased=False),
    "std of all": lambda x: torch.std(x),
    "l2_normalize": lambda x: torch.nn.functional.normalize(x, dim=1),
    "count_nonzero": lambda x: torch.count_nonzero(x, 1).float(),
    "bincount": lambda x: torch.bincount(x.int(), minlength=1000).float(),
    "bincount, weights": lambda x, w: torch.bincount(x.int(), w, 1000).float(),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([-0.5, 0, 0.5]), right=True).float(),
    "histogram": lambda x: torch.histc(x, 100, -1, 1),
}
