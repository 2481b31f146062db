"""Elementwise functions of float64 and complex128: see bench/ops/bench_ops.h."""
import torch
import torch.nn.functional as F

ROWS = {
    "float64 exp": torch.exp,
    "float64 log": torch.log,
    "float64 sin": torch.sin,
    "float64 cos": torch.cos,
    "float64 tanh": torch.tanh,
    "float64 expm1": torch.expm1,
    "float64 log1p": torch.log1p,
    "float64 softplus": F.softplus,
    "float64 sigmoid": torch.sigmoid,
    "float64 atan": torch.atan,
    "float64 pow": torch.pow,
    "float64 erf": torch.erf,
    "float64 erfc": torch.erfc,
    "float64 gelu": F.gelu,
    "float64 lgamma": torch.lgamma,
    "float64 digamma": torch.digamma,
    "complex128 exp": torch.exp,
    "complex128 log": torch.log,
}
