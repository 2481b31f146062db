// compare_gradients.js -- runs an ONNX model of `eddy grad` in ONNX Runtime and compares with what
// `eddy run --json` prints: node compare_gradients.js MODEL.onnx RESULTS.json NAME=[VALUES] ...
// Feeds are lists of float32, nested as the input's axes are, or .npy files of float32 or int64.
// Differences are in relation to the largest value of their result.
const fs = require("fs");
const ort = require("onnxruntime-node");

const limit = 1e-5;
const shape = (v) => (Array.isArray(v) ? [v.length, ...shape(v[0])] : []);

function npy(path) {
  const file = fs.readFileSync(path), start = 10 + file.readUInt16LE(8);
  const header = file.toString("latin1", 10, start), long = header.includes("'<i8'");
  const data = file.buffer.slice(file.byteOffset + start, file.byteOffset + file.length);
  const dims = header.match(/\(([^)]*)\)/)[1].split(",").map((d) => d.trim()).filter((d) => d).map(Number);
  return new ort.Tensor(long ? "int64" : "float32", new (long ? BigInt64Array : Float32Array)(data), dims);
}

function feed(text) {
  if (text.endsWith(".npy")) return npy(text);
  const value = JSON.parse(text);
  return new ort.Tensor("float32", Float32Array.from([value].flat(9)), shape(value));
}

async function main([model, results, ...texts]) {
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 4 });
  const feeds = {};
  for (const text of texts) {
    const at = text.indexOf("=");
    feeds[text.slice(0, at)] = feed(text.slice(at + 1));
  }
  const got = await session.run(feeds);
  let worst = 0, count = 0;
  for (const want of JSON.parse(fs.readFileSync(results))) {
    const y = got[want.name];
    if (!y || y.dims.join() !== want.shape.join()) throw `${want.name} is [${y && y.dims}], not [${want.shape}]`;
    const most = want.values.reduce((a, v) => Math.max(a, Math.abs(v)), 0) || 1;
    want.values.forEach((v, i) => {
      const d = Math.abs(v - Number(y.data[i])) / most;
      if (!(d <= worst)) worst = d;
    });
    count += want.values.length;
  }
  console.log(`${model}: ${count} values differ by at most ${worst.toExponential(1)}`);
  if (!(worst <= limit)) process.exit(1);
}
main(process.argv.slice(2)).catch((e) => { console.log(`${process.argv[2]}: ${e}`); process.exit(1); });
