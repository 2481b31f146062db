"""Writes the .npy and .npz files of tests/input/fixtures with NumPy, and prints what the test expects:

    python3 tests/input/make_fixtures.py

The element i of each array is i * 3 - 5, as far as its type has it."""
import io, os, sys, zipfile
import numpy as np

folder = os.path.join(os.path.dirname(__file__), 'fixtures')
os.makedirs(folder, exist_ok=True)


def values(dtype, shape):
    n = int(np.prod(shape))
    a = np.arange(n) * 3 - 5
    if np.dtype(dtype).kind in 'ub':
        a = np.abs(a) if np.dtype(dtype).kind == 'u' else a > 0
    if np.dtype(dtype).kind == 'c':
        a = a + 1j * (a + 1)
    return a.astype(dtype).reshape(shape)


arrays = {}
for code in ['f2', 'f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'c8', 'c16']:
    for order in '<>':
        arrays['%s_%s' % (code, 'little' if order == '<' else 'big')] = values(order + code, (2, 3))
arrays['b1'] = values('?', (2, 3))
arrays['fortran'] = np.asfortranarray(values('>i2', (2, 3)))
arrays['scalar'] = np.array(7, '>f8')
arrays['empty'] = np.zeros((0, 3), '<f4')
np.savez(os.path.join(folder, 'stored.npz'), **arrays)
np.savez_compressed(os.path.join(folder, 'deflated.npz'), **arrays)
with zipfile.ZipFile(os.path.join(folder, 'versions.npz'), 'w', zipfile.ZIP_DEFLATED) as z:
    for version in [(1, 0), (2, 0), (3, 0)]:
        out = io.BytesIO()
        np.lib.format.write_array(out, arrays['i2_big'], version=version)
        z.writestr('v%d.npy' % version[0], out.getvalue())
print('NumPy', np.__version__, file=sys.stderr)
