# make_expanded.py -- writes expanded.pt without PyTorch: what torch.save writes for
# {"small": torch.ones(1).expand(2, 3), "large": torch.ones(1).expand(2 ** 15, 2 ** 15)}.
import struct
import zipfile


def text(s):
    return b"X" + struct.pack("<i", len(s)) + s.encode()


def number(n):
    return b"J" + struct.pack("<i", n)


def tensor(*size):
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + number(1) + b"tQ"
    shape = b"(" + b"".join(map(number, size)) + b"t"
    strides = b"(" + number(0) * len(size) + b"t"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(0) + shape + strides + b"\x89"
            + b"ccollections\nOrderedDict\n)R" + b"tR")


pickle = b"\x80\x02}(" + text("small") + tensor(2, 3) + text("large") + tensor(2 ** 15, 2 ** 15) + b"u."
with zipfile.ZipFile("expanded.pt", "w") as z:
    for name, data in (("data.pkl", pickle), ("data/0", struct.pack("<f", 1)), ("version", b"3\n")):
        z.writestr(zipfile.ZipInfo("expanded/" + name), data)
