"""Joining, splitting, selecting rows, segments: see bench/ops/bench_ops.h."""
import torch
import torch.nn.functional as F


def split(x):
    a, b, c, d = torch.split(x, x.shape[1] // 4, 1)
    return a * b * (c * d)


def partition(x, i):
    """Four parts of 2000 rows, padded with zeros."""
    parts = [x[i.int() == p][:2000] for p in range(4)]
    return torch.stack([F.pad(p, (0, 0, 0, 2000 - len(p))) for p in parts])


def stitch(a, b):
    y = torch.empty(4000, a.shape[1])
    y[torch.arange(4000)] = a
    y[torch.arange(4000)] = b
    return y


def mask(x, m):
    y = x[m > 0]
    return F.pad(y, (0, 0, 0, 8000 - len(y)))


def reverse(x, lengths):
    t, n = torch.arange(x.shape[1]), lengths.long()[:, None]
    at = torch.where(t < n, n - 1 - t, t)
    return torch.gather(x, 1, at[:, :, None].expand(x.shape))


def to_batch(x):
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).permute(2, 4, 0, 1, 3, 5).reshape(
        4 * n, h // 2, w // 2, c)


def from_batch(x):
    n, h, w, c = x.shape
    return x.reshape(2, 2, n // 4, h, w, c).permute(2, 3, 0, 4, 1, 5).reshape(
        n // 4, 2 * h, 2 * w, c)


def set_diagonal(x, d):
    y = x.clone()
    y.diagonal(0, -2, -1).copy_(d)
    return y


def invert(_):
    p = torch.randperm(100000)
    y = torch.empty_like(p)
    y[p] = torch.arange(100000)
    return y.float()


def unsorted(kind, start):
    return lambda x, i: torch.full((2000, x.shape[1]), start).index_reduce_(0, i.long(), x, kind)


def unsorted_sum(x, i):
    return torch.zeros(2000, x.shape[1]).index_add_(0, i.long(), x)


def unsorted_mean(x, i):
    i = i.long()
    count = torch.bincount(i, minlength=2000).clamp(min=1)
    return torch.zeros(2000, x.shape[1]).index_add_(0, i, x) / count[:, None]


def duplicates(x, i):
    """The sums, in any order."""
    unique, at = torch.unique(i.int(), return_inverse=True)
    return torch.zeros(len(unique), x.shape[1]).index_add_(0, at, x)


SEGMENTS = torch.full((2000,), 10)


def segment(kind):
    return lambda x: torch.segment_reduce(x, kind, lengths=SEGMENTS, axis=0)


def checked(x):
    if not torch.isfinite(x).all():
        raise ArithmeticError
    return x.clone()


def ensured(x, y):
    if not (y <= 1).all():
        raise ArithmeticError
    return x.clone()


ROWS = {
    "concat": lambda *x: torch.cat(x, 1),
    "concat first axis": lambda *x: torch.cat(x),
    "stack last axis": lambda *x: torch.stack(x, 2),
    "split": split,
    "split, gradient": split,
    "transpose": lambda x: x.t().contiguous(),
    "transpose 0 2 1 3": lambda x: x.transpose(1, 2).contiguous(),
    "transpose to NCHW": lambda x: x.permute(0, 3, 1, 2).contiguous(),
    "tile": lambda x: x.repeat(3, 3),
    "pad": lambda x: F.pad(x, (3, 5, 2, 4)),
    "broadcast_to": lambda x: x.expand(1000, 1000).contiguous(),
    "gather": lambda x, i: x[i.long()],
    "gather of numbers": lambda x, i: torch.take(x, i.long()),
    "gather axis 1": lambda x, i: torch.index_select(x, 1, i.long()),
    "embedding_lookup": lambda x, i: F.embedding(i.long(), x),
    "one_hot": lambda i: torch.zeros(1000, 1000).scatter_(1, i.long()[:, None], 1),
    "cast to int32 and back": lambda x: (x * 100).int().float(),
    "reverse_sequence": reverse,
    "boolean_mask": mask,
    "dynamic_partition": partition,
    "dynamic_stitch": stitch,
    "space_to_batch_nd": to_batch,
    "batch_to_space_nd": from_batch,
    "matrix_set_diag": set_diagonal,
    "sequence_mask": lambda n: (torch.arange(500) < n.int()[:, None]).float(),
    "meshgrid": lambda a, b: torch.meshgrid(a, b, indexing="xy")[0].contiguous(),
    "invert_permutation": invert,
    "segment_sum": segment("sum"),
    "segment_mean": segment("mean"),
    "segment_max": segment("max"),
    "unsorted_segment_sum": unsorted_sum,
    "unsorted_segment_max": unsorted("amax", -torch.finfo(torch.float32).max),
    "unsorted_segment_prod": unsorted("prod", 1.0),
    "unsorted_segment_mean": unsorted_mean,
    "slices_sum_duplicates": duplicates,
    "tile, gradient": lambda x: x.repeat(3, 3).square(),
    "gather, gradient": lambda x, i: x[i.long()].square(),
    "gather axis 1, gradient": lambda x, i: torch.index_select(x, 1, i.long()).square(),
    "segment_sum, gradient":
        lambda x: torch.segment_reduce(x, "sum", lengths=SEGMENTS, axis=0).square(),
    "matrix_transpose": lambda x: x.mT.contiguous(),
    "check_numerics": checked,
    "ensure": ensured,
}
