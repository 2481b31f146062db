// write_noise.js -- writes an .npy file of float32 noise between -1/2 and 1/2, the same each time:
// node write_noise.js FILE DIMENSION ...
const fs = require("fs");

const [file, ...shape] = process.argv.slice(2);
let header = `{"descr": "<f4", "fortran_order": False, "shape": (${shape.join(", ")},), }`;
header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
const values = new Float32Array(shape.reduce((n, d) => n * d, 1));
for (let i = 0, state = 1; i < values.length; i++) {
  state = (state * 16807) % 2147483647;
  values[i] = state / 2147483647 - 0.5;
}
const start = Buffer.from("\x93NUMPY\x01\x00\x00\x00", "latin1");
start.writeUInt16LE(header.length, 8);
fs.writeFileSync(file, Buffer.concat([start, Buffer.from(header, "latin1"), Buffer.from(values.buffer)]));
