"""Makes fine_tune.safetensors, which examples/fine_tune.c loads, with PyTorch: the weights of a small
transformer that was trained for a few steps, the batches of 20 more, its logits of the first batch
before them, and its losses in them.

    python3 data/fine_tune.py
"""
import os

import numpy
import torch

from safetensors_file import save

SYMBOLS, WINDOW, UNITS, HEADS, HIDDEN, BLOCKS, BATCH, BEFORE, STEPS = 24, 12, 32, 4, 64, 2, 8, 30, 20


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(SYMBOLS, UNITS)
        self.positions = torch.nn.Embedding(WINDOW, UNITS)
        layer = torch.nn.TransformerEncoderLayer(UNITS, HEADS, HIDDEN, dropout=0, batch_first=True,
                                                 norm_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, BLOCKS, torch.nn.LayerNorm(UNITS))
        self.head = torch.nn.Linear(UNITS, SYMBOLS)

    def forward(self, ids):
        hidden = self.embed(ids) + self.positions(torch.arange(WINDOW))
        mask = torch.full((WINDOW, WINDOW), float("-inf")).triu(1)
        return self.head(self.encoder(hidden, mask))


def batches(count):
    """Sequences in which each symbol is the sum of the two before it, modulo SYMBOLS."""
    ids = numpy.zeros((count, BATCH, WINDOW + 1), numpy.int64)
    ids[:, :, :2] = numpy.random.default_rng(1).integers(0, SYMBOLS, (count, BATCH, 2))
    for i in range(2, WINDOW + 1):
        ids[:, :, i] = (ids[:, :, i - 1] + ids[:, :, i - 2]) % SYMBOLS
    return ids


def loss_of(model, ids):
    ids = torch.from_numpy(ids)
    logits = model(ids[:, :-1])
    return torch.nn.functional.cross_entropy(logits.reshape(-1, SYMBOLS), ids[:, 1:].reshape(-1))


def train(model, ids):
    adam = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    losses = []
    for batch in ids:
        adam.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses


torch.manual_seed(1)
torch.set_num_threads(1)
model = Model()
with torch.no_grad():                    # so that no parameter is a constant
    for value in model.parameters():
        if value.dim() == 1:
            value += 0.1 * torch.randn_like(value)
data = batches(BEFORE + STEPS)
train(model, data[:BEFORE])
arrays = {name: value.numpy().copy() for name, value in model.state_dict().items()}
arrays["batches"] = data[BEFORE:].astype(numpy.uint8)
arrays["logits"] = model(torch.from_numpy(data[BEFORE, :, :-1])).detach().numpy()
arrays["losses"] = numpy.array(train(model, data[BEFORE:]))
save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "fine_tune.safetensors"), arrays,
     {"format": "pt"})
