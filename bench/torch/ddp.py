"""The models of bench/ranks in PyTorch, with DistributedDataParallel over gloo.

    ddp.py NAME [--steps N] [--ranks R]

Starts the ranks, each with one thread, and prints the median of the milliseconds of a step.
"""
import argparse
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

LENGTH, LETTERS, WIDTH, BLOCKS, HEADS = 64, 65, 128, 4, 4
WARM_UP = 5


def mlp(ranks):
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                        nn.Linear(512, 10))
    return net, [torch.rand(256 // ranks, 784), torch.randint(10, (256 // ranks,))]


def lenet(ranks):
    net = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 49, 256), nn.ReLU(), nn.Linear(256, 10))
    return net, [torch.rand(128 // ranks, 1, 28, 28), torch.randint(10, (128 // ranks,))]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("hidden", torch.full((LENGTH, LENGTH), float("-inf")).triu(1))

    def forward(self, x):
        batch = x.shape[0]
        q, k, v = self.qkv(self.norm1(x)).view(batch, LENGTH, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5 + self.hidden
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, LENGTH, WIDTH)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.norm, self.scores = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS)

    def forward(self, ids):
        x = self.blocks(self.letters(ids) + self.places)
        return self.scores(self.norm(x)).flatten(0, 1)


def transformer(ranks):
    ids = torch.randint(LETTERS, (16 // ranks, LENGTH))
    return Transformer(), [ids, torch.randint(LETTERS, (16 // ranks * LENGTH,))]


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(1000000, 64, sparse=True)

    def forward(self, ids):
        rows = self.table(ids)
        return (rows[:, :1] * rows[:, 1:]).sum(-1)


def words(ranks):
    signs = torch.tensor([-1.0, 1, 1, 1, 1, 1])
    return Words(), [torch.randint(1000000, (1024 // ranks, 7)), signs]


MODELS = {"mlp": mlp, "lenet": lenet, "transformer": transformer, "words": words}


def train(rank, name, steps, ranks, meeting):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=ranks)
    net, (x, y) = MODELS[name](ranks)
    net = DistributedDataParallel(net)
    if name == "words":
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    else:
        optimizer = torch.optim.Adam(net.parameters(), foreach=True)
    times = []
    for _ in range(WARM_UP + steps):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        z = net(x)
        loss = F.softplus(z * y).mean() if name == "words" else F.cross_entropy(z, y)
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(1e3 * (time.perf_counter() - begin))
    if rank == 0:
        print(f"{statistics.median(times[WARM_UP:]):.4f}", flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=MODELS)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(train, (options.name, options.steps, options.ranks, folder + "/meeting"),
                        options.ranks)


if __name__ == "__main__":
    main()
