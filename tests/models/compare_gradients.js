// compare_gradients.js -- runs an ONNX model of `eddy grad` in ONNX Runtime and compares with what
// `eddy run --json` prints: node compare_gradients.js MODEL.onnx RESULTS.json NAME=[VALUES] ...
// Feeds are lists of float32, nested as the input's axes are, or .npy files of write_noise.js. A
// difference is relative to the largest value of the result, or to 1.
const fs = require("fs");
const ort = require("onnxruntime-node");

const limit = 1e-5;
const read = (file) => {
  const b = fs.readFileSync(file), at = 10 + b.readUInt16LE(8), header = b.toString("latin1", 10, at);
  const dims = /\(([^)]*)\)/.exec(header)[1].split(",").filter((d) => d.trim()).map(Number);
  return new ort.Tensor("float32", new Float32Array(b.buffer.slice(b.byteOffset + at, b.byteOffset + b.length)), dims);
};
const shape = (v) => (Array.isArray(v) ? [v.length, ...shape(v[0])] : []);

async function main([model, results, ...texts]) {
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 4 });
  const feeds = {};
  for (const text of texts) {
    const at = text.indexOf("="), given = text.slice(at + 1);
    const value = given.endsWith(".npy") ? null : JSON.parse(given);
    feeds[text.slice(0, at)] = value === null ? read(given)
      : new ort.Tensor("float32", Float32Array.from([value].flat(9)), shape(value));
  }
  const got = await session.run(feeds);
  let worst = 0;
  for (const want of JSON.parse(fs.readFileSync(results))) {
    const y = got[want.name];
    if (!y || y.dims.join() !== want.shape.join()) throw `${want.name} is [${y && y.dims}], not [${want.shape}]`;
    const most = want.values.reduce((m, v) => Math.max(m, Math.abs(v)), 1);
    want.values.forEach((v, i) => {
      const d = Math.abs(v - Number(y.data[i])) / most;
      if (!(d <= worst)) worst = d;
    });
  }
  console.log(`${model}: largest difference ${worst.toExponential(1)}`);
  if (!(worst <= limit)) process.exit(1);
}
main(process.argv.slice(2)).catch((e) => { console.log(`${process.argv[2]}: ${e}`); process.exit(1); });
