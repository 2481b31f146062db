"""Slices, gathering and scattering, diagonals, blocks: see bench/ops/bench_ops.h."""
import torch
import torch.nn.functional as F


def nonzero(x):
    """As many rows as x has, padded with zeros."""
    places = torch.nonzero(torch.relu(x)).float()
    return F.pad(places, (0, 0, 0, x.shape[0] - places.shape[0]))


def to_space(x):
    """Channels last; the block's rows and columns before the channels."""
    n, h, w, c = x.shape
    y = x.reshape(n, h, w, 2, 2, c // 4).permute(0, 1, 3, 2, 4, 5)
    return y.reshape(n, 2 * h, 2 * w, c // 4)


def to_depth(x):
    """Channels second; the block's rows and columns before the channels."""
    n, c, h, w = x.shape
    y = x.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 1, 2, 4)
    return y.reshape(n, 4 * c, h // 2, w // 2)


def gather_nd(x, at):
    """Rows by pairs of indices."""
    i = at.long()
    return x[i[:, 0], i[:, 1]]


def box(x, begin, like):
    """As many elements as `like` has, from begin on."""
    i, j = begin.int().tolist()
    return x[i:i + like.shape[0], j:j + like.shape[1]].contiguous()


def box_in_zeros(like, begin, x):
    i, j = begin.int().tolist()
    h, w = like.shape
    return F.pad(x, (j, w - j - x.shape[1], i, h - i - x.shape[0]))


ROWS = {
    "strided slice": lambda x: x[1:-1:2, ::2].contiguous(),
    "strided slice, gradient": lambda x: x[:, 1::3].contiguous(),
    "slice_at": box,
    "slice_at, gradient": box,
    "pad_at": box_in_zeros,
    "reverse last": lambda x: torch.flip(x, (-1,)),
    "reverse first": lambda x: torch.flip(x, (0,)),
    "roll": lambda x: torch.roll(x, 37, 1),
    "mirror pad": lambda x: F.pad(x, (3, 3, 3, 3), "reflect"),
    "mirror pad, gradient": lambda x: F.pad(x, (3, 3, 3, 3), "reflect"),
    "gather_nd": gather_nd,
    "tensor_scatter_add": lambda x, i, v: x.index_add(0, i.long(), v),
    "inplace_add": lambda x, i, v: x.index_add(0, i.long(), v),
    "take_along_axis": lambda x, i: torch.gather(x, 1, i.long()),
    "tril": torch.tril,
    "matrix_diag": torch.diag_embed,
    "matrix_diag_part": lambda x: torch.diagonal(x, 0, -2, -1).contiguous(),
    "space_to_depth": to_depth,
    "depth_to_space": to_space,
    "repeat": lambda x: torch.repeat_interleave(x, 3, 1),
    "searchsorted": lambda x, v: torch.searchsorted(torch.cumsum(x, -1), v).float(),
    "nonzero": nonzero,
    "unique": lambda x: torch.unique(x.int(), return_inverse=True, return_counts=True)[2].float(),
}
