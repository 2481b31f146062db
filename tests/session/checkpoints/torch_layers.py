"""Makes torch_layers.safetensors for test_layer_maps.c: layers of PyTorch with their weights, their
inputs ("in.NAME", with channels last) and their outputs ("out.NAME"); and layers of Keras, whose
outputs are computed here from the formulas in its documentation, under the names "keras/...".

    python3 tests/session/checkpoints/torch_layers.py
"""
import os
import sys

import numpy
import torch
from torch import nn

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(here, "../../../data"))
from safetensors_file import save  # noqa: E402

torch.manual_seed(2)
arrays = {}


def last(x):
    return x.movedim(1, -1)


def put(name, module, x, y):
    for value in module.parameters():            # so that no weight is 0 or 1
        value.data += 0.2 * torch.randn_like(value)
    for key, value in module.named_buffers():
        if value.is_floating_point():
            value.data += torch.rand_like(value)
    module.eval()
    with torch.no_grad():
        arrays["in." + name], arrays["out." + name] = x.numpy(), y(module, x).numpy()
    for key, value in module.state_dict().items():
        arrays[name + "." + key] = value.numpy()


def channels(module, x):
    return last(module(x.movedim(-1, 1)))


def separable():
    return nn.ModuleDict({"depthwise": nn.Conv2d(2, 6, 3, groups=2, bias=False),
                          "pointwise": nn.Conv2d(6, 4, 1, bias=False)})


def self_attention(m, x):
    return m(x, x, x)[0]


def cross_attention(m, x):
    return m(x[:, :2], x, x)[0]


r = torch.randn
put("dense", nn.Linear(3, 4), r(2, 3), lambda m, x: m(x))
put("conv1", nn.Conv1d(3, 4, 3), r(2, 6, 3), channels)
put("conv2", nn.Conv2d(3, 4, (2, 3)), r(2, 5, 6, 3), channels)
put("conv3", nn.Conv3d(2, 3, 2), r(1, 3, 4, 4, 2), channels)
put("deconv", nn.ConvTranspose2d(3, 4, 2, stride=2), r(1, 3, 3, 3), channels)
put("separable", separable(), r(1, 5, 5, 2),
    lambda m, x: last(m["pointwise"](m["depthwise"](x.movedim(-1, 1)))))
put("norm", nn.LayerNorm(5), r(3, 5), lambda m, x: m(x))
put("batch", nn.BatchNorm1d(4, eps=1e-3), r(3, 4), lambda m, x: m(x))
put("vectors", nn.Embedding(6, 3), torch.tensor([[0, 5], [2, 2]]), lambda m, x: m(x))
put("heads", nn.MultiheadAttention(8, 2, batch_first=True), r(2, 3, 8), self_attention)
put("cross", nn.MultiheadAttention(8, 2, batch_first=True), r(2, 3, 8), cross_attention)
put("lstm", nn.LSTM(3, 4, batch_first=True), r(2, 5, 3), lambda m, x: m(x)[0])
put("gru", nn.GRU(3, 4, batch_first=True), r(2, 5, 3), lambda m, x: m(x)[0])
put("plain", nn.RNN(3, 4, batch_first=True), r(2, 5, 3), lambda m, x: m(x)[0])
put("stack", nn.LSTM(3, 4, 2, batch_first=True), r(2, 5, 3), lambda m, x: m(x)[0])
put("both", nn.GRU(3, 4, batch_first=True, bidirectional=True), r(2, 5, 3), lambda m, x: m(x)[0])
put("projected", nn.LSTM(3, 4, batch_first=True, proj_size=2), r(2, 5, 3), lambda m, x: m(x)[0])

put("wide", nn.MultiheadAttention(8, 2, kdim=5, vdim=3, batch_first=True), r(2, 3, 16),
    lambda m, x: m(x[..., :8], x[..., 8:13], x[..., 13:])[0])
put("narrow", nn.MultiheadAttention(8, 2, kdim=5, vdim=5, batch_first=True), r(2, 3, 13),
    lambda m, x: m(x[..., :8], x[..., 8:], x[..., 8:])[0])
put("apart", nn.MultiheadAttention(8, 2, batch_first=True), r(2, 3, 24),
    lambda m, x: m(x[..., :8], x[..., 8:16], x[..., 16:])[0])

# ------------------------------------------------------------------ Keras

rng = numpy.random.default_rng(3)


def weights(name, **shapes):
    all_of = {key.replace("__", "/"): rng.normal(size=shape) for key, shape in shapes.items()}
    for key, value in all_of.items():
        arrays["keras/" + name + "/" + key] = value
    return list(all_of.values())


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def keras(name, x, y):
    arrays["in.keras." + name], arrays["out.keras." + name] = x, y


def lstm(x, kernel, recurrent, bias):            # keras.layers.LSTM: gates i, f, c, o
    h = c = numpy.zeros((len(x), recurrent.shape[0]))
    steps = []
    for t in range(x.shape[1]):
        i, f, g, o = numpy.split(x[:, t] @ kernel + h @ recurrent + bias, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
        h = sigmoid(o) * numpy.tanh(c)
        steps.append(h)
    return numpy.stack(steps, 1)


def gru(x, kernel, recurrent, bias):             # keras.layers.GRU: z, r, h; 2 rows: reset_after
    h = numpy.zeros((len(x), recurrent.shape[0]))
    steps = []
    for t in range(x.shape[1]):
        if bias.ndim == 2:
            xz, xr, xh = numpy.split(x[:, t] @ kernel + bias[0], 3, 1)
            rz, rr, rh = numpy.split(h @ recurrent + bias[1], 3, 1)
            z, r = sigmoid(xz + rz), sigmoid(xr + rr)
            new = numpy.tanh(xh + r * rh)
        else:
            uz, ur, uh = numpy.split(recurrent, 3, 1)
            xz, xr, xh = numpy.split(x[:, t] @ kernel + bias, 3, 1)
            z, r = sigmoid(xz + h @ uz), sigmoid(xr + h @ ur)
            new = numpy.tanh(xh + (r * h) @ uh)
        h = z * h + (1 - z) * new
        steps.append(h)
    return numpy.stack(steps, 1)


# keras.layers.MultiHeadAttention
def attention(x, memory, values, qk, qb, kk, kb, vk, vb, ok, ob):
    q, k, v = (numpy.einsum("bsn,nhd->bshd", y, w) + b
               for y, w, b in ((x, qk, qb), (memory, kk, kb), (values, vk, vb)))
    scores = numpy.einsum("bshd,bthd->bhst", q, k) / numpy.sqrt(q.shape[-1])
    p = numpy.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return numpy.einsum("bhst,bthd,hdn->bsn", p, v, ok) + ob


x = rng.normal(size=(2, 4, 3))
keras("lstm", x, lstm(x, *weights("lstm", kernel=(3, 16), recurrent_kernel=(4, 16), bias=16)))
keras("gru", x, gru(x, *weights("gru", kernel=(3, 12), recurrent_kernel=(4, 12), bias=(2, 12))))
keras("before", x, gru(x, *weights("before", kernel=(3, 12), recurrent_kernel=(4, 12), bias=12)))
x = rng.normal(size=(2, 3, 6))
keras("heads", x, attention(x, x, x, *weights(
    "heads", query__kernel=(6, 2, 3), query__bias=(2, 3), key__kernel=(6, 2, 3), key__bias=(2, 3),
    value__kernel=(6, 2, 3), value__bias=(2, 3), attention_output__kernel=(2, 3, 6),
    attention_output__bias=6)))
x = rng.normal(size=(2, 3, 13))
keras("wide", x, attention(x[..., :6], x[..., 6:10], x[..., 10:], *weights(
    "wide", query__kernel=(6, 2, 3), query__bias=(2, 3), key__kernel=(4, 2, 3), key__bias=(2, 3),
    value__kernel=(3, 2, 3), value__bias=(2, 3), attention_output__kernel=(2, 3, 6),
    attention_output__bias=6)))

save(os.path.join(here, "torch_layers.safetensors"), arrays)
