"""The workloads of bench/workloads in PyTorch: the same models, data and initial values.

    workloads.py [NAME [--threads N] [--steps S] [--warm-up W] [--cpu] [--json] [--slices]]

The command line and the output are those of the C program.  Each workload is the fastest of the
eager, scripted and traced variants, with channels first or last; the optimizers are plain updates
of lists of tensors.
"""
import argparse
import gzip
import json
import math
import os
import resource
import sys
import time
from typing import List

import numpy as np
import torch
import torch.nn.functional as F


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ------------------------------------------------------------------ numbers and data --

def words(n, seed):
    """SplitMix64 of a counter."""
    mask = (1 << 64) - 1
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(seed * 0xD1342543DE82EF95 & mask)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(shape, seed, bound=1.0):
    unit = (words(math.prod(shape), seed) >> np.uint64(40)).astype(np.float64) / 2.0 ** 24
    numbers = -bound + 2 * bound * unit
    return torch.from_numpy(numbers.astype(np.float32).reshape(shape))


def matrix(rows, columns, seed, scale=1.0):
    """As F.linear takes it: [columns, rows], drawn as [rows, columns]."""
    w = uniform((rows, columns), seed, math.sqrt(6 / rows)) * scale
    return w.t().contiguous().requires_grad_()


def filter_of(out, channels, side, seed):
    return uniform((out, channels, side, side), seed, math.sqrt(6 / (channels * side * side)))


def filled(n, value=0.0):
    return torch.full((n,), value, requires_grad=True)


def labeled(n, width):
    x = uniform((n, width), 100)
    return x, (x.double() @ uniform((width, 10), 101).double()).argmax(1)


def images(n=8192):
    folder = "/usr/share/datasets/fashion-mnist/train-"
    try:
        with gzip.open(folder + "images-idx3-ubyte.gz") as f:
            pixels = np.frombuffer(f.read(16 + n * 784), np.uint8, offset=16)
        with gzip.open(folder + "labels-idx1-ubyte.gz") as f:
            labels = np.frombuffer(f.read(8 + n), np.uint8, offset=8)
    except FileNotFoundError:
        return labeled(n, 784)
    x = pixels.reshape(n, 784).astype(np.float32) / np.float32(255)
    return torch.from_numpy(x), torch.from_numpy(labels.astype(np.int64))


def text():
    known = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    number = {ord(c): i for i, c in enumerate(known)}
    try:
        with open("/usr/share/common-licenses/GPL-3", "rb") as f:
            return torch.tensor([number.get(c, 1) for c in f.read()])
    except FileNotFoundError:
        return torch.from_numpy((words(35149, 102) >> np.uint64(33)).astype(np.int64) % 65)


def windows(batch, length):
    all_of_it = text()
    places = len(all_of_it) - length - 1
    starts = [w * 97 % places for w in range(64 * batch)]
    x = torch.stack([all_of_it[i:i + length] for i in starts])
    y = torch.stack([all_of_it[i + 1:i + length + 1] for i in starts])
    return in_batches(x, y, batch)


def in_batches(x, y, batch):
    return list(zip(x.split(batch), y.split(batch)))


# ----------------------------------------------------------------------- optimizers --

def sgd(parameters, rate):
    def update(loss):
        g = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            torch._foreach_add_(parameters, g, alpha=-rate)
    return update


def momentum(parameters, rate, decay=0.9):
    sums = [torch.zeros_like(p) for p in parameters]

    def update(loss):
        g = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            torch._foreach_mul_(sums, decay)
            torch._foreach_add_(sums, g)
            torch._foreach_add_(parameters, sums, alpha=-rate)
    return update


def adam_step(parameters, decay=0.0, rate=1e-3, beta1=0.9, beta2=0.999):
    m = [torch.zeros_like(p) for p in parameters]
    v = [torch.zeros_like(p) for p in parameters]
    steps = 0

    def update(g):
        nonlocal steps
        steps += 1
        with torch.no_grad():
            if decay:
                torch._foreach_mul_(parameters, 1 - rate * decay)
            torch._foreach_mul_(m, beta1)
            torch._foreach_add_(m, g, alpha=1 - beta1)
            torch._foreach_mul_(v, beta2)
            torch._foreach_addcmul_(v, g, g, 1 - beta2)
            root = torch._foreach_sqrt(v)
            torch._foreach_div_(root, math.sqrt(1 - beta2 ** steps))
            torch._foreach_add_(root, 1e-8)
            torch._foreach_addcdiv_(parameters, m, root, -rate / (1 - beta1 ** steps))
    return update


def adam(parameters, decay=0.0):
    step = adam_step(parameters, decay)
    return lambda loss: step(torch.autograd.grad(loss, parameters))


def training(loss_of, batches, update):
    """The function that makes step i and returns its loss."""
    def step(i):
        loss = loss_of(*batches[i % len(batches)])
        update(loss)
        return loss
    return step


# ------------------------------------------------------------------ dense workloads --

def layers(sizes):
    return [p for k in range(len(sizes) - 1)
            for p in (matrix(sizes[k], sizes[k + 1], k + 1), filled(sizes[k + 1]))]


def logits(x, p, activate):
    for k in range(0, len(p) - 2, 2):
        x = activate(F.linear(x, p[k], p[k + 1]))
    return F.linear(x, p[-2], p[-1])


def perceptron(sizes, batches, optimizer):
    p = layers(sizes)
    return training(lambda x, y: F.cross_entropy(logits(x, p, F.relu), y), batches, optimizer(p))


def logreg():
    return perceptron([784, 10], in_batches(*images(), 128), lambda p: sgd(p, 0.1))


def mlp(batch):
    return perceptron([784, 512, 512, 10], in_batches(*images(), batch), adam)


def mlp_small():
    return perceptron([64, 32, 10], in_batches(*labeled(4096, 64), 32), lambda p: sgd(p, 0.1))


def hvp():
    sizes, batches = [784, 512, 512, 10], in_batches(*images(), 128)
    p = layers(sizes)
    v = [d for k in range(3)
         for d in (uniform((sizes[k], sizes[k + 1]), 11 + k).t().contiguous(),
                   uniform((sizes[k + 1],), 21 + k))]

    def loss(x, y, *p):
        return F.cross_entropy(logits(x, p, torch.tanh), y)
    traced = torch.jit.trace(loss, batches[0] + tuple(p))

    def step(i):
        g = torch.autograd.grad(traced(*batches[i % len(batches)], *p), p, create_graph=True)
        return torch.autograd.grad(g, p, grad_outputs=v)
    return step, lambda hv: sum(float((h.double() * d).sum()) for h, d in zip(hv, v))


# ------------------------------------------------------------------------- pictures --

def lenet():
    p = [filter_of(32, 1, 5, 1), torch.zeros(32), filter_of(64, 32, 5, 2), torch.zeros(64),
         matrix(3136, 1024, 3), filled(1024), matrix(1024, 10, 4), filled(10)]
    for w in p[:4]:
        w.requires_grad_()
    x, y = images(4096)
    batches = in_batches(x.view(-1, 1, 28, 28), y, 64)

    def loss(x, y, *p):
        h = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1], padding=2)), 2)
        h = F.max_pool2d(F.relu(F.conv2d(h, p[2], p[3], padding=2)), 2)
        return F.cross_entropy(logits(h.flatten(1), p[4:], F.relu), y)
    traced = torch.jit.trace(loss, batches[0] + tuple(p))
    return training(lambda x, y: traced(x, y, *p), batches, momentum(p, 0.01))


class Residual:
    """Parameters are numbered in the order in which they are made."""

    def __init__(self):
        self.p, plan = [], [(16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2),
                            (64, 64, 1)]
        self.first = self.convolution(3, 16, 3)
        self.blocks = [(self.convolution(c, o, 3), self.convolution(o, o, 3),
                        None if c == o else self.convolution(c, o, 1), stride)
                       for c, o, stride in plan]
        self.p += [matrix(64, 10, len(self.p) + 1), filled(10)]

    def convolution(self, channels, out, side):
        w = filter_of(out, channels, side, len(self.p) + 1)
        w = w.contiguous(memory_format=torch.channels_last).requires_grad_()
        three = [w, filled(out, 1.0), filled(out)]
        self.p += three
        return three

    @staticmethod
    def normalized(x, three, stride=1):
        y = F.conv2d(x, three[0], stride=stride, padding=three[0].shape[2] // 2)
        return F.batch_norm(y, None, None, three[1], three[2], training=True, eps=1e-5)

    def loss(self, x, y):
        h = F.relu(self.normalized(x, self.first))
        for one, two, down, stride in self.blocks:
            inner = F.relu(self.normalized(h, one, stride))
            past = h if down is None else self.normalized(h, down, stride)
            h = F.relu(self.normalized(inner, two) + past)
        return F.cross_entropy(F.linear(h.mean((2, 3)), self.p[-2], self.p[-1]), y)


def resnet():
    x = uniform((1024, 3, 32, 32), 100)
    y = torch.from_numpy((words(1024, 101) >> np.uint64(33)).astype(np.int64) % 10)
    x[torch.arange(1024), y % 3] += y.view(-1, 1, 1).float() / 10
    net = Residual()
    batches = in_batches(x.contiguous(memory_format=torch.channels_last), y, 32)
    return training(net.loss, batches, momentum(net.p, 0.05))


# ----------------------------------------------------------------------------- text --

def lstm_parameters():
    """Characters, wx, wh, b, wo, bo."""
    characters = uniform((65, 128), 1).requires_grad_()
    wx, wh = matrix(128, 1024, 2), matrix(256, 1024, 3)
    with torch.no_grad():
        wx *= 0.4
        wh *= 0.4
    return [characters, wx, wh, filled(1024), matrix(256, 65, 4), filled(65)]


def lstm_loss(x, y, characters, wx, wh, b, wo, bo):
    z = F.linear(F.embedding(x, characters).transpose(0, 1), wx, b)
    h = torch.zeros(x.size(0), wh.size(1))
    c = torch.zeros(x.size(0), wh.size(1))
    hs = []
    turned = wh.t()
    for added in z.unbind(0):
        gates = torch.addmm(added, h, turned).chunk(4, 1)
        c = torch.sigmoid(gates[1]) * c + torch.sigmoid(gates[0]) * torch.tanh(gates[2])
        h = torch.sigmoid(gates[3]) * torch.tanh(c)
        hs.append(h)
    out = F.linear(torch.stack(hs, 0), wo, bo)
    return F.cross_entropy(out.view(-1, wo.size(0)), y.t().reshape(-1))


def lstm(batch=32):
    """Scripted, but eager for a batch of 1: that is faster."""
    p = lstm_parameters()
    loss = lstm_loss if batch == 1 else torch.jit.script(lstm_loss)
    return training(lambda x, y: loss(x, y, *p), windows(batch, 64), adam(p))


class Gpt:
    """Parameters are numbered in the order in which they are made."""
    width, heads, context = 128, 4, 128

    def __init__(self):
        self.p, w = [], self.width
        self.characters, self.places = self.drawn(65, w), self.drawn(128, w)
        self.blocks = [(self.normal(), self.linear(w, 3 * w), self.linear(w, w),
                        self.normal(), self.linear(w, 4 * w), self.linear(4 * w, w))
                       for _ in range(4)]
        self.last, self.head = self.normal(), self.drawn(w, 65, turn=True)
        self.mask = torch.full((128, 128), -math.inf).triu(1)

    def drawn(self, rows, columns, turn=False):
        w = uniform((rows, columns), len(self.p) + 1, 0.035)
        self.p.append((w.t().contiguous() if turn else w).requires_grad_())
        return self.p[-1]

    def pair(self, first):
        self.p.append(filled(first.shape[0]))
        return first, self.p[-1]

    def linear(self, rows, columns):
        return self.pair(self.drawn(rows, columns, turn=True))

    def normal(self):
        self.p.append(filled(self.width, 1.0))
        return self.p[-1], filled_into(self.p, self.width)

    def attend(self, x, qkv, out):
        b, s, w = x.shape
        three = F.linear(x, *qkv).view(b, s, 3, self.heads, w // self.heads)
        q, k, v = three.permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(q, k.transpose(-2, -1)) * (1 / math.sqrt(w // self.heads))
        y = torch.matmul(torch.softmax(scores + self.mask, -1), v)
        return F.linear(y.transpose(1, 2).reshape(b, s, w), *out)

    def loss(self, x, y):
        h = F.embedding(x, self.characters) + self.places
        for norm1, qkv, out, norm2, up, down in self.blocks:
            h = h + self.attend(F.layer_norm(h, (self.width,), *norm1), qkv, out)
            inner = F.gelu(F.linear(F.layer_norm(h, (self.width,), *norm2), *up))
            h = h + F.linear(inner, *down)
        h = F.linear(F.layer_norm(h, (self.width,), *self.last), self.head)
        return F.cross_entropy(h.view(-1, 65), y.reshape(-1))


def filled_into(p, n):
    p.append(filled(n))
    return p[-1]


def gpt():
    net = Gpt()
    return training(net.loss, windows(8, 128), adam(net.p, 0.01))


# --------------------------------------------------------------------- control flow --

@torch.jit.script
def ragged_loss(x, y, n, characters, gates, gates_bias, candidate, bias, recurrent_bias, wo, bo):
    """Sorted by length, so each step has only the sequences that are that long."""
    n, order = n.sort(descending=True)
    there = torch.arange(int(n[0])).unsqueeze(1) < n
    sizes: List[int] = there.sum(1).tolist()
    at = x[order].t()[:len(sizes)][there]
    wx = torch.cat([gates[:, :128], candidate[:, :128]])
    wh = torch.cat([gates[:, 128:], candidate[:, 128:]]).t()
    z = F.linear(F.embedding(at, characters), wx, torch.cat([gates_bias, bias])).split(sizes)
    behind = torch.cat([torch.zeros_like(gates_bias), recurrent_bias])
    h = torch.zeros(x.size(0), wh.size(0))
    hs = []
    for added, size in zip(z, sizes):
        h = h[:size]
        of_x, of_h = added.split([512, 256], 1), torch.addmm(behind, h, wh).split([512, 256], 1)
        r, u = torch.sigmoid(of_x[0] + of_h[0]).chunk(2, 1)
        c = torch.tanh(of_x[1] + r * of_h[1])
        h = c + u * (h - c)
        hs.append(h)
    return F.cross_entropy(F.linear(torch.cat(hs), wo, bo), y[order].t()[:len(sizes)][there])


def gru_ragged():
    """Takes less time than packed sequences, and than masks."""
    p = [uniform((65, 128), 1).requires_grad_(), matrix(384, 512, 2), filled(512),
         matrix(384, 256, 3), filled(256), filled(256), matrix(256, 65, 4), filled(65)]
    with torch.no_grad():
        p[1] *= 0.4
        p[3] *= 0.4
    lengths = torch.from_numpy((words(64 * 32, 103) >> np.uint64(33)).astype(np.int64) % 64 + 1)
    batches = [b + (n,) for b, n in zip(windows(32, 64), lengths.split(32))]
    return training(lambda x, y, n: ragged_loss(x, y, n, *p), batches, adam(p))


def cond_loop():
    """Eager: a script takes longer."""
    batches = list(zip(uniform((64, 100, 128), 100), uniform((64, 128), 101)))
    w, scale = matrix(128, 128, 1), filled(128, 0.9)
    with torch.no_grad():
        w *= 0.4
    p = [w, scale, uniform((32, 128), 2).requires_grad_()]

    def loss(rows, goal, w, scale, h):
        turned = w.t()
        for x in rows.unbind(0):
            if float(x.sum()) > 0:
                h = torch.tanh(torch.addmm(x, h, turned))
            else:
                h = torch.addcmul(x, h, scale)
        return F.mse_loss(h, goal.expand_as(h))
    return training(lambda x, goal: loss(x, goal, *p), batches, adam(p))


@torch.jit.script
def write(noise, characters, wx, wh, b, wo, bo):
    """The mean loss of the letters by their own logits; scripted, with products of a vector."""
    z = F.linear(characters, wx, b).unbind(0)
    wh, wo = wh.t().contiguous().t(), wo.t().contiguous().t()
    h, c = torch.zeros(256), torch.zeros(256)
    last = 0
    logits: List[torch.Tensor] = []
    written: List[int] = []
    for drawn in noise.unbind(0):
        gates = torch.addmv(z[last], wh, h).chunk(4, 0)
        c = torch.sigmoid(gates[1]) * c + torch.sigmoid(gates[0]) * torch.tanh(gates[2])
        h = torch.sigmoid(gates[3]) * torch.tanh(c)
        out = torch.addmv(bo, wo, h)
        last = int((out + drawn).argmax())
        logits.append(out)
        written.append(last)
    return F.cross_entropy(torch.stack(logits), torch.tensor(written))


def gumbel(letters):
    unit = ((words(4 * letters * 65, 104) >> np.uint64(40)).astype(np.float64) + 0.5) / 2.0 ** 24
    return torch.from_numpy(-np.log(-np.log(unit))).float().view(4, letters, 65)


def write_lstm():
    noise = gumbel(1000)
    p = [t.detach() for t in lstm_parameters()]

    def step(i):
        with torch.inference_mode():
            return write(noise[i % 4], *p)
    return step


class Cached:
    """A GPT, its parameters numbered in the order in which they are made."""

    def __init__(self, letters):
        self.p = []
        self.vectors, self.places = self.drawn(65, 128).t(), self.drawn(letters, 128).t()
        self.blocks = [self.block() for _ in range(4)]
        self.norm, self.head = self.normal(), self.linear(128, 65)

    def drawn(self, rows, columns):
        self.p.append((matrix(rows, columns, len(self.p) + 1) * 0.4).detach())
        return self.p[-1]

    def linear(self, rows, columns):
        w = self.drawn(rows, columns)
        self.p.append(torch.zeros(columns))
        return [w, self.p[-1]]

    def normal(self):
        self.p += [torch.ones(128), torch.zeros(128)]
        return self.p[-2:]

    def block(self):
        return (self.normal() + self.linear(128, 384) + self.linear(128, 128) + self.normal() +
                self.linear(128, 512) + self.linear(512, 128))


@torch.jit.script
def write_cached(noise, vectors, places, blocks: List[List[torch.Tensor]],
                 norm: List[torch.Tensor], head: List[torch.Tensor]):
    letters = noise.size(0)
    keys = torch.zeros(len(blocks), 4, letters, 32)
    values = torch.zeros(len(blocks), 4, letters, 32)
    last = 0
    logits: List[torch.Tensor] = []
    written: List[int] = []
    for n in range(letters):
        h = vectors[last] + places[n]
        for i, w in enumerate(blocks):
            x = torch.addmv(w[3], w[2], F.layer_norm(h, (128,), w[0], w[1])).view(3, 4, 32)
            keys[i, :, n], values[i, :, n] = x[1], x[2]
            scores = torch.matmul(keys[i, :, :n + 1], x[0].unsqueeze(2)) * 0.17677669529663687
            y = torch.matmul(torch.softmax(scores, 1).transpose(1, 2), values[i, :, :n + 1])
            h = h + torch.addmv(w[5], w[4], y.reshape(128))
            inner = torch.relu(torch.addmv(w[9], w[8], F.layer_norm(h, (128,), w[6], w[7])))
            h = h + torch.addmv(w[11], w[10], inner)
        out = torch.addmv(head[1], head[0], F.layer_norm(h, (128,), norm[0], norm[1]))
        last = int((out + noise[n]).argmax())
        logits.append(out)
        written.append(last)
    return F.cross_entropy(torch.stack(logits), torch.tensor(written))


def write_gpt():
    """Scripted, with products of a vector."""
    noise, net = gumbel(512), Cached(512)

    def step(i):
        with torch.inference_mode():
            return write_cached(noise[i % 4], net.vectors, net.places,
                                [list(b) for b in net.blocks], list(net.norm), list(net.head))
    return step


# ------------------------------------------------------------------ without products --

def elementwise(n):
    x = uniform((n,), 1, 2.0).requires_grad_()

    def f(x):
        return (torch.tanh(1.5 * x + 0.25) * torch.sigmoid(0.75 * x) - torch.exp(-x * x)).sum()
    traced = torch.jit.trace(f, (x,))

    def step(_):
        y = traced(x)
        return y, torch.autograd.grad(y, x)
    return step, lambda r: float(r[0])


def scalars():
    start = [torch.tensor(v, requires_grad=True) for v in (0.5, 1.1, 0.01)]

    def step(_):
        x, w, u = start
        for _ in range(333):
            x = torch.tanh(x * w + u)
        return torch.autograd.grad(x, start)
    return step, lambda g: float(g[1])


def adam_1e7():
    p, g = uniform((10 ** 7,), 1), uniform((10 ** 7,), 2)
    update = adam_step([p])

    def step(_):
        mean = p[:1000].mean()
        update([g])
        return mean
    return step


# name: how it is built, steps to warm up, steps
WORKLOADS = {
    "logreg": (logreg, 100, 2000),
    "mlp_b128": (lambda: mlp(128), 20, 150),
    "mlp_b1024": (lambda: mlp(1024), 10, 30),
    "mlp_small": (mlp_small, 20, 5000),
    "lenet": (lenet, 5, 20),
    "resnet": (resnet, 5, 20),
    "lstm": (lstm, 5, 20),
    "lstm_unrolled": (lstm, 5, 20),
    "lstm_scan": (lstm, 5, 20),
    "lstm_scan_b1": (lambda: lstm(1), 10, 60),
    "gru_ragged": (gru_ragged, 5, 20),
    "cond_loop": (cond_loop, 10, 50),
    "write_lstm": (write_lstm, 2, 10),
    "write_gpt": (write_gpt, 2, 10),
    "gpt": (gpt, 4, 15),
    "elementwise_1e6": (lambda: elementwise(10 ** 6), 5, 80),
    "elementwise_1e7": (lambda: elementwise(10 ** 7), 3, 10),
    "scalars": (scalars, 5, 100),
    "hvp": (hvp, 10, 100),
    "adam_1e7": (adam_1e7, 3, 20),
}


class Course:
    """A workload being run; losses holds the first six."""

    def __init__(self, options):
        built = WORKLOADS[options.name][0]()
        self.step, self.value = built if isinstance(built, tuple) else (built, float)
        self.clock = time.process_time if options.cpu else time.perf_counter
        self.done, self.losses, self.last = 0, [], 0.0

    def run(self, steps):
        """Makes that many steps; returns their times in milliseconds."""
        times = []
        for _ in range(steps):
            start = self.clock()
            result = self.step(self.done)
            times.append(1e3 * (self.clock() - start))
            self.last = self.value(result)
            if self.done < 6:
                self.losses.append(self.last)
            self.done += 1
        return times


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("name", nargs="?", choices=WORKLOADS)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--steps", type=int)
    p.add_argument("--warm-up", type=int)
    for flag in ("--cpu", "--json", "--slices"):
        p.add_argument(flag, action="store_true")
    return p.parse_args()


def main():
    options = parse()
    if not options.name:
        print("\n".join(WORKLOADS))
        return
    torch.set_num_threads(options.threads)
    empty = peak_mib()
    course = Course(options)
    _, warm_up, steps = WORKLOADS[options.name]
    course.run(warm_up if options.warm_up is None else options.warm_up)
    times = []
    if options.slices:
        print("ready", flush=True)
        for line in sys.stdin:
            times += course.run(int(line))
            print(*(f"{t:.6g}" for t in times[-int(line):]), flush=True)
    else:
        times = course.run(steps if options.steps is None else options.steps)
    times.sort()
    record = dict(name=options.name, threads=options.threads, steps=len(times),
                  median=times[len(times) // 2] if times else 0, least=times[0] if times else 0,
                  losses=course.losses, last=course.last, peak_mib=peak_mib() - empty,
                  version=torch.__version__)
    print(json.dumps(record) if options.json or options.slices else record)


if __name__ == "__main__":
    for library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        if library not in os.environ:
            print(f"set {library} to the number of threads", file=sys.stderr)
    main()
