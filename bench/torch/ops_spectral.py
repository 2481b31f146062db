"""Fourier transforms: see bench/ops/bench_ops.h."""
import torch


def power(y):
    return y.real.square() + y.imag.square()


def fft(a, b):
    return power(torch.fft.fft(torch.complex(a, b)))


def rfft(x):
    return power(torch.fft.rfft(x))


ROWS = {
    "fft 64": fft,
    "fft 1024": fft,
    "fft 1000": fft,
    "fft 997": fft,
    "fft 2^18": fft,
    "fft2d": lambda a, b: power(torch.fft.fft2(torch.complex(a, b))),
    "rfft 64": rfft,
    "rfft 1024": rfft,
    "rfft2d": lambda x: power(torch.fft.rfft2(x)),
    "irfft 1024": lambda a, b: torch.fft.irfft(torch.complex(a, b)),
    "rfft and irfft": lambda x: torch.fft.irfft(torch.fft.rfft(x)),
    "rfft 1024, gradient": rfft,
    "fft 1024, gradient": fft,
}
