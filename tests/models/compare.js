// compare.js -- runs a model in ONNX Runtime on the inputs of run_model.c and compares the outputs
// with those that it saved: node compare.js MODEL PREFIX NAME=TYPE[DIMENSIONS]:PATTERN ...
const fs = require("fs");
const ort = require("onnxruntime-web");
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";

const arrays = { float32: Float32Array, float64: Float64Array, int32: Int32Array };

function lineOfText(i) {
  const x = i % 320, y = Math.floor(i / 320) % 320, u = x % 16, v = y - 144;
  const inLetter = x >= 32 && x < 288 && v >= 0 && v < 24 && u < 11;
  const upper = Math.floor(x / 16) % 2 === 0;
  return inLetter && (u < 3 || (upper ? v < 4 : v > 19) || (u > 7 && v > 9)) ? -2 : 2;
}

function element(pattern, i) {
  if (pattern === "zeros") return 0;
  if (pattern === "noise") return Math.fround(((i * 7919) % 1000) / 1000 - 0.5);
  if (pattern === "bars")
    return Math.floor(i / 6) % 3 === 0 && Math.floor(i / 3200) % 2 === 0 ? -2 : 2;
  if (pattern === "line") return lineOfText(i);
  return Number(pattern);
}

function parse(text) {
  const [, name, type, list, pattern] = text.match(/^([^=]+)=(\w+)\[([\d,]*)\]:(.+)$/);
  const dims = list ? list.split(",").map(Number) : [];
  const numbers = Array.from({ length: dims.reduce((a, b) => a * b, 1) },
                             (_, i) => element(pattern, i));
  const data = type === "int64" ? BigInt64Array.from(numbers, BigInt) : arrays[type].from(numbers);
  return [name, new ort.Tensor(type, data, dims)];
}

// The elements of a float32 file.
function numbers(path) {
  const bytes = fs.readFileSync(path);
  const data = Buffer.from(bytes.subarray(10 + bytes.readUInt16LE(8)));
  return new Float32Array(data.buffer, data.byteOffset, data.length / 4);
}

async function main([model, prefix, ...inputs]) {
  const session = await ort.InferenceSession.create(fs.readFileSync(model), { logSeverityLevel: 3 });
  const results = await session.run(Object.fromEntries(inputs.map(parse)));
  let worst = 0, count = 0, most = 0;
  session.outputNames.forEach((name, k) => {
    const theirs = results[name].data, ours = numbers(`${prefix}_${k}.npy`);
    if (ours.length !== theirs.length) throw new Error(`${name}: ${ours.length}, not ${theirs.length}`);
    const largest = theirs.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
    const error = theirs.reduce((m, v, i) => Math.max(m, Math.abs(v - ours[i])), 0);
    worst = Math.max(worst, error / largest);
    most = Math.max(most, largest);
    count += theirs.length;
  });
  console.log(`${count} results, the largest ${most.toPrecision(2)}; ` +
              `largest difference ${worst.toExponential(1)} of it`);
  process.exit(worst < 1e-4 ? 0 : 1);
}
main(process.argv.slice(2)).catch((e) => { console.error(String(e).slice(0, 300)); process.exit(1); });
