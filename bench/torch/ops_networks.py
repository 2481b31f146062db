"""Products, attention, parts of networks without variables, decoders: see bench/ops/bench_ops.h."""
import math

import torch
import torch.nn.functional as F


def attention(q, k, v, causal=False):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores + torch.full(scores.shape[-2:], -torch.inf).triu(1)
    return torch.softmax(scores, -1) @ v


def packed(x):
    q, k, v = x.permute(2, 0, 3, 1, 4)
    return attention(q, k, v).transpose(1, 2).contiguous()


def lstm(x, w, u, b):
    h = torch.zeros(1, x.shape[1], u.shape[0])
    return torch._VF.lstm(x, (h, h), (w.t().contiguous(), u.t().contiguous(), b,
                                      torch.zeros_like(b)), True, 1, 0.0, True, False, False)[0]


def second(x):
    return x.movedim(-1, 1)


def last(y):
    return y.movedim(1, -1)


def dilation(x, w):
    n, h, v, c = x.shape
    x = F.pad(second(x), (1, 1, 1, 1), value=-torch.inf)
    parts = [x[:, :, i:i + h, j:j + v] + w[i, j][:, None, None]
             for i in range(3) for j in range(3)]
    return last(torch.stack(parts).amax(0))


def batch(x, scale, offset):
    return last(F.batch_norm(second(x), None, None, scale, offset, True, 0.01, 1e-3))


def sparse_classes(y, x):
    return F.cross_entropy(x, y.long(), reduction="none")


def expected(classes, count):
    """Of the log-uniform sampler."""
    return count * ((classes + 2.0) / (classes + 1)).log() / math.log(10001)


def logits(w, b, y, x):
    y = y.long()
    u = torch.rand(64)
    drawn = ((u * math.log(10001)).exp() - 1).long().clamp(max=9999)
    true = (w[y] * x).sum(-1) + b[y] - expected(y, 64).log()
    others = F.linear(x, w[drawn], b[drawn]) - expected(drawn, 64).log()
    return true, others, drawn == y[:, None]


def sampled(w, b, y, x):
    true, others, hit = logits(w, b, y, x)
    all_ = torch.cat([true[:, None], others.masked_fill(hit, -torch.inf)], 1)
    return F.cross_entropy(all_, torch.zeros(len(y), dtype=torch.long), reduction="none")


def noise(w, b, y, x):
    true, others, _ = logits(w, b, y, x)
    return F.softplus(-true) + F.softplus(others).sum(-1)


def sampler(_):
    p = ((torch.arange(100000) + 2.0) / (torch.arange(100000) + 1)).log()
    return torch.multinomial(p, 1000).float()


def squared(f):
    return lambda *x: f(*x).square()


BOTH = {
    "matmul 256": torch.matmul,
    "batch_matmul": torch.bmm,
    "attention": attention,
    "attention, causal": lambda q, k, v: attention(q, k, v, True),
    "packed attention": packed,
    "lstm": lstm,
    "conv2d_transpose": lambda x, w: last(F.conv_transpose2d(second(x), w.permute(3, 2, 0, 1),
                                                             stride=2)),
    "conv1d_transpose": lambda x, w: last(F.conv_transpose1d(second(x), w.permute(2, 1, 0),
                                                             stride=2)),
    "max_pool2d": lambda x: last(F.max_pool2d(second(x), 2)),
    "avg_pool2d": lambda x: last(F.avg_pool2d(second(x), 2)),
    "dilation2d": dilation,
    "layer_norm": lambda x, s, o: F.layer_norm(x, s.shape, s, o),
    "fused_batch_norm": batch,
    "softmax_cross_entropy": lambda t, x: F.cross_entropy(x, torch.softmax(t, -1),
                                                          reduction="none"),
    "sigmoid_cross_entropy": lambda t, x: F.binary_cross_entropy_with_logits(x, t,
                                                                             reduction="none"),
}
ROWS = {
    **BOTH, **{name + ", gradient": squared(f) for name, f in BOTH.items()},
    "matmul 64 x 784 x 512": torch.matmul,
    "cached attention": lambda q, k, v, n: attention(q, k[:, :, :512], v[:, :, :512]),
    "matmul, transposed": lambda a, b: a.t() @ b,
    "batch_matmul of small ones": torch.bmm,
    "matvec": torch.mv,
    "outer": torch.outer,
    "multi_dot": lambda *x: torch.linalg.multi_dot(x),
    "matrix_power": lambda x: torch.linalg.matrix_power(x, 5),
    "bias_add": torch.add,
    "dropout": lambda x: F.dropout(x, 0.1, True),
    "spatial_dropout": lambda x: last(F.dropout2d(second(x), 0.1, True)),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.1, True),
    "sparse_softmax_cross_entropy": sparse_classes,
    "sparse_softmax_cross_entropy, gradient": sparse_classes,
    "sampled_softmax_loss": sampled,
    "nce_loss": noise,
    "log_uniform_candidate_sampler": sampler,
    "ctc_greedy_decoder": lambda x: -x.max(-1)[0].sum(0)[:, None],
}
