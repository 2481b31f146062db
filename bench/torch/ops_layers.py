"""Layers: see bench/ops/bench_ops.h. Variables are passed in the order in which Eddy's layers
create them, and rearranged to the order of torch.nn."""
import torch
import torch.nn.functional as F


class Layer:
    """forward(inputs..., variables...), the variables as `order` gives them."""

    def __init__(self, forward, order):
        self.forward, self.order = forward, order

    def convert(self, *variables):
        """Each variable, and whether it is differentiated."""
        return [v if isinstance(v, tuple) else (v, True) for v in self.order(*variables)]

    def __call__(self, *x):
        return self.forward(*x)


def fixed(v):
    return v, False


def second(x):
    return x.movedim(-1, 1)


def last(y):
    return y.movedim(1, -1)


def turned(*weights):
    """Matrices; biases stay."""
    return [w.t() for w in weights]


def filters(w, b):
    return [w.movedim((-1, -2), (0, 1)), b]


def apart(w, *others):
    h, v, c, m = w.shape
    return [w.permute(2, 3, 0, 1).reshape(c * m, 1, h, v)] + [
        o.movedim((-1, -2), (0, 1)) if o.dim() == 4 else o for o in others]


def as_they_are(*variables):
    return variables


def mlp(x, *w):
    for i in range(0, 4, 2):
        x = F.relu(F.linear(x, w[i], w[i + 1]))
    return F.linear(x, w[4], w[5])


def separable(x, d, p, b):
    return last(F.conv2d(F.conv2d(second(x), d, padding=1, groups=d.shape[0]), p, b))


def batch(x, gamma, beta):
    return F.batch_norm(x, None, None, gamma, beta, True, 0.01, 1e-3)


def batch_after(x, gamma, beta):
    n = len(gamma)
    return F.batch_norm(second(x), torch.zeros(n), torch.ones(n), gamma, beta, False, 0.01, 1e-3)


HEADS = 8


def attend(x, w, b, o, c, memory=None, mask=None):
    """torch.nn.MultiheadAttention, batch first."""
    memory = x if memory is None else memory
    y = F.multi_head_attention_forward(
        x.transpose(0, 1), memory.transpose(0, 1), memory.transpose(0, 1), x.shape[-1], HEADS,
        w, b, None, None, False, 0.0, o, c, training=True, need_weights=False, attn_mask=mask)
    return y[0].transpose(0, 1)


def later(s):
    return torch.full((s, s), -torch.inf).triu(1)


def of_memory(x, memory, w, b, o, c):
    return attend(x, w, b, o, c, memory)


def joined(q, qb, kv, kvb, o, c):
    return [torch.cat([q, kv], 1).t(), torch.cat([qb, kvb]), o.t(), c]


def packed(w, b, o, c):
    return [w.t(), b, o.t(), c]


def norm(x, gamma, beta):
    return F.layer_norm(x, gamma.shape, gamma, beta)


def forward_part(x, w, b, v, c):
    return F.linear(F.relu(F.linear(x, w, b)), v, c)


def encoder(x, *w):
    x = norm(x + attend(x, *w[:4]), *w[4:6])
    return norm(x + forward_part(x, *w[6:10]), *w[10:12])


def decoder(x, memory, *w):
    x = norm(x + attend(x, *w[:4], mask=later(x.shape[1])), *w[4:6])
    x = norm(x + attend(x, *w[6:10], memory), *w[10:12])
    return norm(x + forward_part(x, *w[12:16]), *w[16:18])


def encoder_order(*w):
    return [*packed(*w[:4]), *w[4:6], *(v.t() for v in w[6:10]), *w[10:12]]


def decoder_order(*w):
    return [*packed(*w[:4]), *w[4:6], *joined(*w[6:12]), *w[12:14],
            *(v.t() for v in w[14:18]), *w[18:20]]


def recurrent(kind, layers=1, both=False):
    def forward(x, *w):
        h = torch.zeros(layers * (1 + both), x.shape[1], w[1].shape[1])
        first = (h, h) if kind == "lstm" else h
        function = getattr(torch._VF, kind)
        return function(x, first, w, True, layers, 0.0, True, both, False)[0]
    return forward


UNITS = 128


def cell(kernel, bias):
    """W, U, the bias and a second one that stays 0."""
    n = len(kernel) - UNITS
    return [kernel[:n].t(), kernel[n:].t(), bias, fixed(torch.zeros_like(bias))]


def cells(*w):
    return sum((cell(*w[i:i + 2]) for i in range(0, len(w), 2)), [])


def gru(gates, gates_bias, kernel, bias, recurrent_bias):
    n = len(kernel) - len(bias)
    w = torch.cat([gates, kernel], 1)
    return [w[:n].t(), w[n:].t(), torch.cat([gates_bias, bias]), recurrent_bias]


def gru_forward(x, w, u, b, c):
    """c is the part of the second bias that cannot be merged with the first one."""
    return recurrent("gru")(x, w, u, b, F.pad(c, (len(b) - len(c), 0)))


BOTH = {
    "dense": Layer(lambda x, w, b: F.relu(F.linear(x, w, b)), turned),
    "dense, 3 axes": Layer(lambda x, w, b: F.relu(F.linear(x, w, b)), turned),
    "mlp": Layer(mlp, turned),
    "conv1d": Layer(lambda x, w, b: last(F.conv1d(second(x), w, b, padding=2)), filters),
    "conv2d": Layer(lambda x, w, b: last(F.relu(F.conv2d(second(x), w, b, padding=1))), filters),
    "conv3d": Layer(lambda x, w, b: last(F.conv3d(second(x), w, b, padding=1)), filters),
    "conv2d_transpose": Layer(lambda x, w, b: last(F.conv_transpose2d(second(x), w, b, 2)),
                              filters),
    "depthwise_conv2d": Layer(lambda x, w, b: last(F.conv2d(second(x), w, b, padding=1,
                                                            groups=len(w))), apart),
    "separable_conv2d": Layer(separable, apart),
    "embedding": Layer(lambda i, w: F.embedding(i.long(), w), as_they_are),
    "dropout": lambda x: F.dropout(x, 0.1, True),
    "batch_norm": Layer(lambda x, g, b: last(batch(second(x), g, b)), as_they_are),
    "batch_norm NCHW": Layer(batch, as_they_are),
    "batch_norm of rows": Layer(batch, as_they_are),
    "batch_norm, not training": Layer(lambda x, g, b: last(batch_after(x, g, b)), as_they_are),
    "layer_norm": Layer(norm, as_they_are),
    "multi_head_attention": Layer(attend, packed),
    "multi_head_attention, causal":
        Layer(lambda x, *w: attend(x, *w, mask=later(x.shape[1])), packed),
    "multi_head_attention, memory": Layer(of_memory, joined),
    "transformer_block": Layer(encoder, encoder_order),
    "transformer_block, memory": Layer(decoder, decoder_order),
    "rnn, basic": Layer(recurrent("rnn_tanh"), cells),
    "rnn, lstm": Layer(recurrent("lstm"), cells),
    "rnn, gru": Layer(gru_forward, gru),
    "bidirectional_rnn": Layer(recurrent("lstm", both=True), cells),
    "stacked_rnn": Layer(recurrent("lstm", 2), cells),
}


def squared(f):
    if isinstance(f, Layer):
        return Layer(squared(f.forward), f.order)
    return lambda *x: f(*x).square()


ROWS = {**{f"layer {name}": f for name, f in BOTH.items()},
        **{f"layer {name}, gradient": squared(f) for name, f in BOTH.items()}}
