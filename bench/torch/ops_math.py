"""Elementwise operations: see bench/ops/bench_ops.h."""
import torch

ROWS = {
    "exp": torch.exp,
    "tanh, gradient": torch.tanh,
    "pow": torch.pow,
}
