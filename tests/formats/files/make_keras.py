"""Makes the files of Keras and HDF5 for test_keras.c, with h5py: the groups, names and
attributes are those that Keras 2 and Keras 3 give their files.

    python3 tests/formats/files/make_keras.py
"""
import io
import os
import zipfile

import h5py
import numpy

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def numbers(*shape):
    return numpy.arange(numpy.prod(shape), dtype="float32").reshape(shape)


# Model.save_weights of Keras 2: a group for each layer, in it the full names of its variables.
with h5py.File("keras2.h5", "w") as f:
    layers = {"dense": {"dense/kernel:0": numbers(3, 2), "dense/bias:0": -numbers(2)},
              "lstm": {"lstm/lstm_cell/kernel:0": numbers(3, 8),
                       "lstm/lstm_cell/recurrent_kernel:0": numbers(2, 8),
                       "lstm/lstm_cell/bias:0": numbers(8)}, "flatten": {}}
    f.attrs["layer_names"] = [name.encode() for name in layers]
    f.attrs["backend"] = b"tensorflow"
    for name, weights in layers.items():
        group = f.create_group(name)
        group.attrs["weight_names"] = [key.encode() for key in weights]
        for key, value in weights.items():
            group.create_dataset(key, data=value)

# Model.save of Keras 3: an archive, in it a file with the weights of each layer by number.
data = io.BytesIO()
with h5py.File(data, "w") as f:
    for layer in ("dense", "dense_1"):
        group = f.create_group("layers/" + layer + "/vars")
        group.create_dataset("0", data=numbers(2, 2) + len(layer))
        group.create_dataset("1", data=numbers(2))
    f.create_group("optimizer/vars").create_dataset("0", data=numpy.int64(7))
with zipfile.ZipFile("net.keras", "w") as z:
    for name, text in (("config.json", b"{}"), ("model.weights.h5", data.getvalue())):
        z.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), text)

# All types and layouts, in the newest version.
with h5py.File("types.h5", "w", libver="latest") as f:
    for code in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 >f4 >i2 c8 S3".split():
        value = numpy.arange(-3, 3) if code[-2:] in ("i1", "i2", "i4", "i8") else numpy.arange(6)
        f.create_dataset(("big/" if ">" in code else code[0] + "/") + code.strip(">"),
                         data=value.astype(code))
    f["more/bool"] = numpy.array([True, False])
    f["more/scalar"] = numpy.float64(2.5)
    f["more/none"] = h5py.Empty("f4")
    f["more/empty"] = numpy.zeros((0, 3), "f4")
    f["more/deep"] = numpy.zeros((1,) * 9, "f4")
    f["more/large"] = numpy.uint64(2**63)
    f.create_dataset("other/chunks", data=numbers(4), chunks=(2,))
    f.create_dataset("other/packed", data=numbers(100), compression="gzip")
    f.create_dataset("other/unwritten", (3,), "f4")
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(f["other"].id, b"compact", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((2,)),
                    compact).write(h5py.h5s.ALL, h5py.h5s.ALL, numbers(2))
    f.create_dataset("other/outside", (2,), "f4", external=[("/etc/passwd", 0, 8)])
    f["other/type"] = numpy.dtype("f4")
    f.create_dataset("other/typed", data=numbers(2), dtype=f["other/type"])

# Links of each kind, and a group that contains itself.
with h5py.File("links.h5", "w", track_order=True) as f:
    f["a"] = numbers(2)
    f["b"] = f["a"]
    f["soft"] = h5py.SoftLink("/a")
    f["outside"] = h5py.ExternalLink("/etc/passwd", "/a")
with h5py.File("old_links.h5", "w") as f:
    f["a"] = numbers(2)
    f["soft"] = h5py.SoftLink("/a")
with h5py.File("loop.h5", "w", libver="latest") as f:
    f["a"] = numbers(2)
    f.create_group("g")["again"] = f["/"]
with h5py.File("many.h5", "w", libver="latest") as f:
    for i in range(9):
        f["v%d" % i] = numpy.float32(i)
