"""Common elementwise operations, bit operations, special functions: see bench/ops/bench_ops.h."""
import torch
import torch.nn.functional as F

S = torch.special


def bits(x):
    v = x.int()
    v = v - ((v >> 1) & 0x55555555)
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
    return ((((v + (v >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24).float()


def squares_apart(a, b):
    d = a - b
    return d * d


def clip(x):
    return x.clamp(-0.5, 0.5)


ROWS = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "div_no_nan": lambda a, b: torch.where(b == 0, torch.zeros(()), a / b),
    "floordiv": torch.floor_divide,
    "floormod": torch.remainder,
    "maximum": torch.maximum,
    "squared_difference": squares_apart,
    "xlogy": torch.xlogy,
    "lerp": torch.lerp,
    "addcmul": torch.addcmul,
    "add a row": torch.add,
    "add a column": torch.add,
    "add a row, gradient": torch.add,
    "less": lambda a, b: (a < b).float(),
    "is_close": lambda a, b: torch.isclose(a, b).float(),
    "where": lambda a, b, c: torch.where(a > 0, b, c),
    "clip_by_value": clip,
    "clip_by_value, gradient": clip,
    "copysign": torch.copysign,
    "nextafter": torch.nextafter,
    "neg": torch.neg,
    "abs": torch.abs,
    "sign": torch.sign,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "cbrt": lambda x: x.pow(1 / 3),
    "expm1": torch.expm1,
    "log": torch.log,
    "log1p": torch.log1p,
    "sin": torch.sin,
    "cos": torch.cos,
    "acos": torch.acos,
    "acosh": torch.acosh,
    "sinc": torch.sinc,
    "sigmoid": torch.sigmoid,
    "sigmoid, gradient": torch.sigmoid,
    "softplus": F.softplus,
    "erf": torch.erf,
    "gelu": F.gelu,
    "gelu, gradient": F.gelu,
    "gelu, approximate": lambda x: F.gelu(x, approximate="tanh"),
    "gelu, approximate, gradient": lambda x: F.gelu(x, approximate="tanh"),
    "relu": torch.relu,
    "relu, gradient": torch.relu,
    "celu": F.celu,
    "prelu": F.prelu,
    "prelu, gradient": F.prelu,
    "glu": F.glu,
    "hard_sigmoid": F.hardsigmoid,
    "hard_tanh": F.hardtanh,
    "hard_shrink": F.hardshrink,
    "tanh_shrink": F.tanhshrink,
    "floor": torch.floor,
    "round": torch.round,
    "trunc": torch.trunc,
    "frac": torch.frac,
    "is_finite": lambda x: torch.isfinite(x).float(),
    "nan_to_num": torch.nan_to_num,
    "logit": torch.logit,
    "entr": S.entr,
    "bitwise_and": lambda a, b: (a.int() & b.int()).float(),
    "left_shift": lambda a, b: (a.int() << b.int()).float(),
    "population_count": bits,
    "product of complex numbers": lambda a, b: (torch.complex(a, b) * torch.complex(b, a)).real,
    "abs of complex numbers": lambda a, b: torch.complex(a, b).abs(),
    "angle": lambda a, b: torch.complex(a, b).angle(),
    "ndtr": S.ndtr,
    "log_ndtr": S.log_ndtr,
    "ndtri": S.ndtri,
    "erfcx": S.erfcx,
    "erfcinv": lambda x: torch.erfinv(1 - x),
    "bessel_i0": torch.i0,
    "bessel_i1": S.i1,
    "bessel_i1e": S.i1e,
    "polygamma": lambda x: torch.polygamma(1, x),
    "zeta": S.zeta,
    "igammac": torch.igammac,
}
