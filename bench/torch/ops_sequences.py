"""Sequence losses, signals in frames: see bench/ops/bench_ops.h."""
import torch


def ctc(count):
    def loss(x):
        steps, batch, _ = x.shape
        labels = (torch.arange(1, count + 1) % 27 + 1).expand(batch, count)
        return torch.nn.functional.ctc_loss(
            torch.log_softmax(x, -1), labels, torch.full((batch,), steps),
            torch.full((batch,), count), reduction="none")
    return loss


def sequence(x, w):
    losses = torch.nn.functional.cross_entropy(x.flatten(0, 1), (w * 100).long().flatten(),
                                               reduction="none")
    return (losses * w.flatten()).sum() / w.sum()


def stft(length, step, size):
    def power(x):
        frames = x.unfold(-1, length, step) * torch.hann_window(length)
        y = torch.fft.rfft(frames, size)
        return y.real.square() + y.imag.square()
    return power


def stft_512(x):
    y = torch.stft(x, 512, 128, window=torch.hann_window(512), center=False, return_complex=True)
    return (y.real.square() + y.imag.square()).transpose(1, 2)


def overlap(x):
    return torch.nn.functional.fold(x.transpose(1, 2), (1, 97 * 160 + 400), (1, 400),
                                    stride=(1, 160))


def dct(x):
    n = x.shape[-1]
    k = torch.arange(n) * (torch.pi / 2 / n)
    y = torch.fft.rfft(x, 2 * n)[..., :n] * torch.polar(torch.full((n,), 2.0), -k)
    scale = torch.full((n,), (0.5 / n) ** 0.5)
    scale[0] = (0.25 / n) ** 0.5
    return y.real * scale


ROWS = {
    "ctc_loss": ctc(50),
    "ctc_loss, gradient": ctc(50),
    "ctc_loss, many classes": ctc(10),
    "ctc_loss, many classes, gradient": ctc(10),
    "sequence_loss": sequence,
    "frame": lambda x: x.unfold(-1, 400, 160).contiguous(),
    "overlap_and_add": overlap,
    "stft": stft(400, 160, 512),
    "stft, gradient": stft(400, 160, 512),
    "stft 512": stft_512,
    "stft 512, gradient": stft_512,
    "dct 40": dct,
}
