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

# Images of 9 by 7 pixels: PNG written here, JPEG by cjpeg (Debian: libjpeg-turbo-progs). NAME.raw has
# the pixels that the reader must give, up to the loss of JPEG.
import gzip, struct, subprocess, zlib

ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def rows(a, bits):
    """The rows of pixels with the filter 0, packed to bits."""
    out = b''
    for row in a.reshape(a.shape[0], -1):
        text = ''.join(format(int(v), '0%db' % bits) for v in row)
        text += '0' * (-len(text) % 8)
        out += b'\0' + bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
    return out


def png(name, a, want, color, bits=8, interlaced=False, more=b''):
    data = b''
    for x, y, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        part = a[y::dy, x::dx]
        data += rows(part, bits) if part.size else b''
    head = struct.pack('>IIBBBBB', a.shape[1], a.shape[0], bits, color, 0, 0, int(interlaced))
    with open(os.path.join(folder, name), 'wb') as f:
        f.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + more + chunk(b'IDAT', zlib.compress(data)) +
                chunk(b'IEND', b''))
    want.astype(np.uint8).tofile(os.path.join(folder, name + '.raw'))


y, x = np.mgrid[0:7, 0:9]
rgb = np.stack([x * 28, y * 40, 255 - x * 14 - y * 10], 2)
gray = x * 20 + y * 13
png('rgb.png', rgb, rgb, 2)
png('interlaced.png', rgb, rgb, 2, interlaced=True)
colors = np.array([[0, 0, 0], [255, 0, 9], [7, 200, 0], [1, 2, 250]])
png('palette.png', (x + y) % 4, colors[(x + y) % 4], 3, bits=2,
    more=chunk(b'PLTE', colors.astype(np.uint8).tobytes()))
png('gray.png', gray, gray, 0)
png('bits.png', (x + y) % 2, (x + y) % 2 * 255, 0, bits=1)
png('deep.png', gray * 257, gray, 0, bits=16)
rgba = np.concatenate([rgb, gray[:, :, None]], 2)
png('rgba.png', rgba, rgba, 6)

for name, a, options in [('rgb.jpg', rgb, []), ('gray.jpg', gray, ['-grayscale']),
                         ('progressive.jpg', rgb, ['-progressive'])]:
    kind = b'P5' if a.ndim == 2 else b'P6'
    out = subprocess.run(['cjpeg', '-quality', '100', '-sample', '1x1', *options], check=True,
                         input=kind + b' 9 7 255\n' + a.astype(np.uint8).tobytes(), stdout=subprocess.PIPE)
    with open(os.path.join(folder, name), 'wb') as f:
        f.write(out.stdout)
    a.astype(np.uint8).tofile(os.path.join(folder, name + '.raw'))

# Labels as gzip.
with open(os.path.join(folder, 'labels.idx.gz'), 'wb') as f:
    f.write(gzip.compress(struct.pack('>4BI', 0, 0, 8, 1, 300) + bytes(i % 10 for i in range(300)), mtime=0))

# Sound, by the module wave of Python and by hand, and a table.
import wave
with wave.open(os.path.join(folder, 'stereo.wav'), 'wb') as w:
    w.setnchannels(2), w.setsampwidth(2), w.setframerate(8000)
    w.writeframes(struct.pack('<8h', 0, 1, -1, 16384, -32768, 32767, 2, -2))
with open(os.path.join(folder, 'table.csv'), 'w', newline='') as f:
    f.write('id,size,"the, name",kind\r\n1,1.5,"a ""quoted""\nname",red\r\n2,,b,blue\r\n-3,NA,c,red\r\n')
