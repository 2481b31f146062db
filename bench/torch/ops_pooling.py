"""Pooling along one to three axes and to given sizes, normalizations, and 3-D convolutions: see
bench/ops/bench_ops.h."""
import torch
import torch.nn.functional as F


def second(x):
    return x.movedim(-1, 1)


def last(y):
    return y.movedim(1, -1)


BOTH = {
    "max_pool1d": lambda x: last(F.max_pool1d(second(x), 3, 2, 1)),
    "max_pool1d NCW": lambda x: F.max_pool1d(x, 2),
    "avg_pool1d, 4 channels": lambda x: last(F.avg_pool1d(second(x), 2)),
    "max_pool3d": lambda x: last(F.max_pool3d(second(x), 2)),
    "max_pool3d NCDHW": lambda x: F.max_pool3d(x, 3, 2),
    "avg_pool3d": lambda x: last(F.avg_pool3d(second(x), 2)),
    "max pool with padding": lambda x: last(F.max_pool2d(second(x), 3, 2, 1)),
    "max pool with gaps": lambda x: last(F.max_pool2d(second(x), 3, 1, 0, 2)),
    "adaptive_avg_pool": lambda x: last(F.adaptive_avg_pool2d(second(x), 7)),
    "adaptive_max_pool": lambda x: last(F.adaptive_max_pool2d(second(x), 7)),
    "adaptive_avg_pool NCHW": lambda x: F.adaptive_avg_pool2d(x, 7),
    "max_pool_with_argmax": lambda x: last(F.max_pool2d(second(x), 2, return_indices=True)[0]),
    "lp_pool": lambda x: last(F.lp_pool2d(second(x), 2, 2)),
    "global_average_pool": lambda x: x.mean((1, 2)),
    "global_max_pool NCHW": lambda x: x.amax((2, 3)),
    "group_norm": lambda x, s, o: last(F.group_norm(second(x), 8, s, o)),
    "group_norm NCHW": lambda x, s, o: F.group_norm(x, 8, s, o),
    "instance_norm": lambda x, s, o: last(F.instance_norm(second(x), weight=s, bias=o)),
    "instance_norm NCHW": lambda x, s, o: F.instance_norm(x, weight=s, bias=o),
    "rms_norm": lambda x, s: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * s,
    "weight_norm": lambda v, g: torch._weight_norm(v, g.reshape(1, 1, 1, -1), 3),
    "local_response_normalization": lambda x: last(F.local_response_norm(second(x), 5, 1.0, 0.75)),
    "conv3d, 4 groups": lambda x, w: last(F.conv3d(second(x), w.permute(4, 3, 0, 1, 2), padding=1,
                                                   groups=4)),
    "conv3d_transpose": lambda x, w: last(F.conv_transpose3d(second(x), w.permute(4, 3, 0, 1, 2),
                                                             stride=2)),
}
ROWS = {**BOTH, **{name + ", gradient": f for name, f in BOTH.items()}}
