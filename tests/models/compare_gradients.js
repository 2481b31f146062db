// compare_gradients.js -- runs an ONNX model of `eddy grad` in ONNX Runtime and compares with what
// `eddy run --json` prints: node compare_gradients.js MODEL.onnx RESULTS.json NAME=[VALUES] ...
// Feeds are lists of float32, nested as the input's axes are.
const fs = require("fs");
const ort = require("onnxruntime-node");

const limit = 1e-5;
const shape = (v) => (Array.isArray(v) ? [v.length, ...shape(v[0])] : []);

async function main([model, results, ...texts]) {
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 4 });
  const feeds = {};
  for (const text of texts) {
    const at = text.indexOf("="), value = JSON.parse(text.slice(at + 1));
    feeds[text.slice(0, at)] = new ort.Tensor("float32", Float32Array.from([value].flat(9)), shape(value));
  }
  const got = await session.run(feeds);
  let worst = 0;
  for (const want of JSON.parse(fs.readFileSync(results))) {
    const y = got[want.name];
    if (!y || y.dims.join() !== want.shape.join()) throw `${want.name} is [${y && y.dims}], not [${want.shape}]`;
    want.values.forEach((v, i) => {
      const d = Math.abs(v - Number(y.data[i])) / (1 + Math.abs(v));
      if (!(d <= worst)) worst = d;
    });
  }
  console.log(`${model}: largest difference ${worst.toExponential(1)}`);
  if (!(worst <= limit)) process.exit(1);
}
main(process.argv.slice(2)).catch((e) => { console.log(`${process.argv[2]}: ${e}`); process.exit(1); });
