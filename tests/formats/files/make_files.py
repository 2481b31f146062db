# make_files.py -- writes the files of PyTorch in this folder: python3 make_files.py
import torch

x = torch.arange(6.0).reshape(2, 3)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1), torch.nn.Linear(3, 2))
with torch.no_grad():
    net[2].weight.copy_(x)
    net[2].bias.copy_(torch.tensor([-2.0, -3.0]))
torch.save(net.state_dict(), "net.pt")
torch.save({
    "epoch": 3,
    "model": {
        "a": x, "t": x.t(), "v": x[:, 1::2], "h": x.half(), "b": x.bfloat16(), "d": x.double(),
        "i8": (x - 3).to(torch.int8), "i16": (x - 3).to(torch.int16), "i64": x.long() - 3,
        "u8": x.to(torch.uint8), "bool": x > 2, "c": torch.complex(x, -x), "s": torch.tensor(7),
        "e": torch.zeros(0, 3),
    },
    "opt": [x[0], (x[1], {5: x})],
    "p": torch.nn.Parameter(x),
}, "mixed.pt")
torch.save(torch.nn.Linear(1, 1), "module.pt")
torch.save(x, "old.pt", _use_new_zipfile_serialization=False)
