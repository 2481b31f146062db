"""Resizing, cropping and colors of images: see bench/ops/bench_ops.h."""
import torch
import torch.nn.functional as F


def planes(x):
    return x.permute(0, 3, 1, 2)


def last(y):
    return y.permute(0, 2, 3, 1)


def resize(mode, side, corners=None):
    return lambda x: last(F.interpolate(planes(x), (side, side), mode=mode, align_corners=corners))


def crop(x, boxes):
    owner = torch.arange(len(boxes)) % 4
    t = torch.linspace(0, 1, 14)
    y = 2 * (boxes[:, 0:1] + (boxes[:, 2:3] - boxes[:, 0:1]) * t) - 1
    v = 2 * (boxes[:, 1:2] + (boxes[:, 3:4] - boxes[:, 1:2]) * t) - 1
    shape = (len(boxes), 14, 14)
    grid = torch.stack([v[:, None, :].expand(shape), y[:, :, None].expand(shape)], -1)
    return last(F.grid_sample(planes(x)[owner], grid, align_corners=True))


GRAY = torch.tensor([[0.2989], [0.5870], [0.1140]])
YUV = torch.tensor([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
                    [0.114, 0.43601035, -0.10001026]])


def hsv(x):
    r, g, b = x.unbind(-1)
    v, least = x.amax(-1), x.amin(-1)
    d = v - least
    s = torch.where(v > 0, d / v, 0 * v)
    sixth = 1 / (6 * d)
    h = torch.where(r == v, sixth * (g - b),
                    torch.where(g == v, sixth * (b - r) + 2 / 6, sixth * (r - g) + 4 / 6))
    h = torch.where(d > 0, h, 0 * v)
    return torch.stack([torch.where(h < 0, h + 1, h), s, v], -1)


def rgb(x):
    h, s, v = x.unbind(-1)
    h = 6 * h
    parts = torch.stack([(h - 3).abs() - 1, 2 - (h - 2).abs(), 2 - (h - 4).abs()], -1).clamp(0, 1)
    return ((1 - s)[..., None] + s[..., None] * parts) * v[..., None]


def saturation(x):
    y = hsv(x)
    return rgb(torch.stack([y[..., 0], (y[..., 1] * 0.7).clamp(0, 1), y[..., 2]], -1))


def contrast(x):
    mean = x.mean((1, 2), keepdim=True)
    return (x - mean) * 0.7 + mean


def standard(x):
    mean, n = x.mean((1, 2, 3), keepdim=True), x[0].numel()
    return (x - mean) / x.std((1, 2, 3), unbiased=False, keepdim=True).clamp(min=n ** -0.5)


def variation(x):
    return ((x[:, 1:] - x[:, :-1]).abs().sum((1, 2, 3)) +
            (x[:, :, 1:] - x[:, :, :-1]).abs().sum((1, 2, 3)))


SOBEL = torch.tensor([[-1., -2, -1], [0, 0, 0], [1, 2, 1]])


def edges(x):
    w = torch.stack([SOBEL, SOBEL.T])[:, None].repeat(3, 1, 1, 1)
    y = F.conv2d(F.pad(planes(x), (1, 1, 1, 1), mode="reflect"), w, groups=3)
    return last(y).reshape(*x.shape, 2)


def psnr(a, b):
    return -10 * torch.log10(((a - b) ** 2).mean((1, 2, 3)))


def ssim(a, b):
    t = torch.arange(11.) - 5
    w = torch.softmax(-t * t / 4.5, 0)

    def blur(x):
        c = x.shape[1]
        x = F.conv2d(x, w.reshape(1, 1, 11, 1).expand(c, 1, 11, 1), groups=c)
        return F.conv2d(x, w.reshape(1, 1, 1, 11).expand(c, 1, 1, 11), groups=c)

    a, b = planes(a), planes(b)
    m, n = blur(a), blur(b)
    light = (2 * m * n + 1e-4) / (m * m + n * n + 1e-4)
    form = ((2 * blur(a * b) - 2 * m * n + 9e-4) /
            (blur(a * a + b * b) - m * m - n * n + 9e-4))
    return (light * form).mean((1, 2, 3))


BOTH = {
    "resize nearest": resize("nearest", 128),
    "resize nearest, 32": resize("nearest", 128),
    "resize bilinear": resize("bilinear", 128, False),
    "resize bilinear, 1": resize("bilinear", 128, False),
    "resize bilinear, 32": resize("bilinear", 128, False),
    "resize bilinear down": resize("bilinear", 24, False),
    "resize bilinear down, 32": resize("bilinear", 24, False),
    "resize bicubic": resize("bicubic", 128, True),
    "resize bicubic, 32": resize("bicubic", 128, True),
    "resize bicubic down": resize("bicubic", 24, True),
    "resize area": resize("area", 16),
    "resize area, 32": resize("area", 16),
    "crop_and_resize": crop,
}


def squared(f):
    return lambda *x: f(*x) ** 2


ROWS = {
    **BOTH, **{name + ", gradient": squared(f) for name, f in BOTH.items()},
    "ssim": ssim,
    "ssim, gradient": ssim,
    "flip_left_right": lambda x: torch.flip(x, (2,)),
    "rgb_to_grayscale": lambda x: x @ GRAY,
    "rgb_to_yuv": lambda x: x @ YUV,
    "rgb_to_hsv": hsv,
    "hsv_to_rgb": rgb,
    "adjust_saturation": saturation,
    "adjust_contrast": contrast,
    "per_image_standardization": standard,
    "total_variation": variation,
    "sobel_edges": edges,
    "psnr": psnr,
}
