# export_models.py -- writes models of PyTorch, with their losses, as ONNX files, and .npy files of their
# inputs a and b and of a vector in the shape of one of their weights: python3 export_models.py FOLDER.
# The exporter of PyTorch 1.x needs no package onnx.
import sys
import warnings
import numpy
import torch
from torch import nn
import torch.nn.functional as F


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 8, 3, stride=2, groups=2)
        self.norm, self.classes = nn.BatchNorm2d(6), nn.Linear(8, 5)

    def forward(self, x, labels):
        h = F.max_pool2d(torch.sigmoid(self.norm(self.first(x))), 2)
        h = F.gelu(self.second(h)).mean((2, 3))
        logits = self.classes(h)
        return torch.softmax(logits, 1), F.cross_entropy(logits, labels)


class Attention(nn.Module):
    """A block of a transformer that reads from left to right."""
    def __init__(self, words=11, width=8, heads=2, length=6):
        super().__init__()
        self.heads, self.embedding = heads, nn.Embedding(words, width)
        self.position = nn.Parameter(torch.randn(length, width) * 0.3)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.next = nn.Linear(width, words)
        self.register_buffer("mask", torch.triu(torch.full((length, length), -1e4), 1))

    def forward(self, words, labels):
        x = self.embedding(words) + self.position
        n, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).reshape(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.softmax(q @ k.transpose(2, 3) / (width / self.heads) ** 0.5 + self.mask, -1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(n, length, width))
        x = x + self.narrow(F.gelu(self.wide(self.after(x))))
        logits = self.next(x)
        return torch.softmax(logits, -1), F.cross_entropy(logits.flatten(0, 1), labels.flatten())


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.line = kind(4, 5, bidirectional=True), nn.Linear(10, 1)

    def forward(self, x, target):
        y = self.line(self.cell(x)[0])
        return y, ((y - target) ** 2).mean()


def write(name, model, weight, *feeds):
    file, inputs = f"{sys.argv[1]}/{name}", ["a", "b"]
    torch.onnx.export(model.eval(), feeds, file + ".onnx", input_names=inputs, output_names=["y", "loss"],
                      opset_version=14, do_constant_folding=False,
                      training=torch.onnx.TrainingMode.PRESERVE)
    vector = torch.randn(model.get_parameter(weight).shape)
    for word, value in zip(inputs + ["v"], [*feeds, vector]):
        numpy.save(f"{file}_{word}.npy", value.numpy())


warnings.simplefilter("ignore")
torch.manual_seed(1)
network = Convolutions()
network.norm.running_mean.normal_()
network.norm.running_var.uniform_(0.5, 2)
write("convolutions", network, "first.weight", torch.randn(2, 3, 10, 10), torch.tensor([1, 4]))
words = torch.randint(11, (2, 7))
write("attention", Attention(), "qkv.weight", words[:, :-1], words[:, 1:])
series, target = torch.randn(7, 2, 4), torch.randn(7, 2, 1)
write("lstm", Recurrent(nn.LSTM), "cell.weight_hh_l0", series, target)
write("gru", Recurrent(nn.GRU), "cell.weight_hh_l0", series, target)
