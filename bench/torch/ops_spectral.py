"""Fourier transforms: see bench/ops/bench_ops.h."""
import torch


def power(y):
    return y.real.square() + y.imag.square()


def fft(a, b):
    return power(torch.fft.fft(torch.complex(a, b)))


def rfft(x):
    return power(torch.fft.rfft(x))


def turns(n, scale):
    """scale e^(-i pi k / (2 n))"""
    return torch.polar(torch.full((n,), scale), torch.arange(n) * (-torch.pi / 2 / n))


def dct(x):
    """By one transform of the same length: even places, then odd ones backwards."""
    n = x.shape[-1]
    v = torch.cat([x[..., ::2], x[..., 1::2].flip(-1)], -1)
    return (torch.fft.fft(v) * turns(n, 2.0)).real


def idct(y):
    n = y.shape[-1]
    z = torch.complex(y, torch.cat([torch.zeros_like(y[..., :1]), -y[..., 1:].flip(-1)], -1))
    v = torch.fft.irfft((z * turns(n, 1.0).conj())[..., :n // 2 + 1], n)
    x = torch.empty_like(v)
    x[..., ::2] = v[..., :(n + 1) // 2]
    x[..., 1::2] = v[..., (n + 1) // 2:].flip(-1)
    return x


def analytic(x):
    n = x.shape[-1]
    step = torch.zeros(n)
    step[0] = step[n // 2] = 1
    step[1:n // 2] = 2
    return power(torch.fft.ifft(torch.fft.fft(x) * step))


def back(x):
    w = torch.hann_window(512)
    y = torch.stft(x, 512, 128, window=w, center=False, return_complex=True)
    frames = torch.fft.irfft(y.transpose(1, 2), 512) * w
    size = (frames.shape[1] - 1) * 128 + 512
    return torch.nn.functional.fold(frames.transpose(1, 2), (1, size), (1, 512),
                                    stride=(1, 128))


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
    "ifft 1024": lambda a, b: power(torch.fft.ifft(torch.complex(a, b))),
    "ifft2d": lambda a, b: power(torch.fft.ifft2(torch.complex(a, b))),
    "irfft2d": lambda a, b: torch.fft.irfft2(torch.complex(a, b)),
    "fft3d": lambda a, b: power(torch.fft.fftn(torch.complex(a, b), dim=(-3, -2, -1))),
    "fft2d 81 x 75": lambda a, b: power(torch.fft.fft2(torch.complex(a, b))),
    "rfft 999": rfft,
    "fft2d, gradient": lambda a, b: power(torch.fft.fft2(torch.complex(a, b))),
    "dct 1024": dct,
    "dct 999": dct,
    "dct of images": lambda x: dct(dct(x).transpose(1, 2)).transpose(1, 2).contiguous(),
    "idct 1024": lambda x: idct(x) * 1024,
    "dct 1024, gradient": dct,
    "analytic_signal": analytic,
    "stft and back": back,
}
