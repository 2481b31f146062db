"""Convolutions of many kinds, and patches: see bench/ops/bench_ops.h."""
import torch
import torch.nn.functional as F


def planes(x):
    return x.permute(0, 3, 1, 2)


def last(y):
    return y.permute(0, 2, 3, 1)


def filters(w):
    return w.permute(3, 2, 0, 1)


def apart(w):
    h, v, c, m = w.shape
    return w.permute(2, 3, 0, 1).reshape(c * m, 1, h, v)


def depthwise(x, w, stride=1):
    return F.conv2d(x, apart(w), stride=stride, padding=w.shape[0] // 2, groups=w.shape[2])


def conv(x, w, **options):
    return last(F.conv2d(planes(x), filters(w), **options))


def line(x, w):
    return F.conv1d(x, w.permute(2, 1, 0), padding=2)


def patches(x):
    return x.unfold(1, 3, 1).unfold(2, 3, 1).permute(0, 1, 2, 4, 5, 3).contiguous()


BOTH = {
    "depthwise 3x3, 64": lambda x, w: last(depthwise(planes(x), w)),
    "depthwise 3x3, 512": lambda x, w: last(depthwise(planes(x), w)),
    "depthwise 3x3, stride 2": lambda x, w: last(depthwise(planes(x), w, 2)),
    "depthwise 5x5, multiplier 2": lambda x, w: last(depthwise(planes(x), w)),
    "depthwise NCHW": depthwise,
    "separable": lambda x, w, p: last(F.conv2d(depthwise(planes(x), w), filters(p))),
    "conv1d": lambda x, w: line(x.permute(0, 2, 1), w).permute(0, 2, 1),
    "conv1d NCW": line,
    "patches 3x3": patches,
    "conv3d": lambda x, w: F.conv3d(x.permute(0, 4, 1, 2, 3), w.permute(4, 3, 0, 1, 2),
                                    padding=1).permute(0, 2, 3, 4, 1),
    "conv 1x1": conv,
    "conv 7x7, stride 2": lambda x, w: conv(x, w, stride=2, padding=3),
    "conv 3x3, stride 2": lambda x, w: conv(x, w, stride=2, padding=1),
    "conv 3x3, 8 groups": lambda x, w: conv(x, w, padding=1, groups=8),
    "conv 3x3, dilated": lambda x, w: conv(x, w, padding=2, dilation=2),
    "conv NCHW": lambda x, w: F.conv2d(x, filters(w), padding=1),
    "conv 3x3, one image": lambda x, w: F.conv2d(x, filters(w), padding=1),
}
ROWS = {**BOTH, **{name + ", gradient": f for name, f in BOTH.items()}}
