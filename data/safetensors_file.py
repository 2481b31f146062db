"""Writes arrays as a safetensors file: the length of the header, the header, the elements."""
import json
import struct

import numpy

CODES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32",
         "int16": "I16", "uint8": "U8", "bool": "BOOL"}


def save(path, arrays, metadata=None):
    header, at, parts = {}, 0, []
    if metadata:
        header["__metadata__"] = metadata
    for name, array in arrays.items():
        array = numpy.ascontiguousarray(array)
        header[name] = {"dtype": CODES[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
        parts.append(array.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
