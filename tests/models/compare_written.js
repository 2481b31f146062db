// compare_written.js -- runs the models of write_models.c in ONNX Runtime and compares the outputs:
// node compare_written.js FOLDER [LIMIT [LEVEL]], where LEVEL is of ONNX Runtime's optimizations
const fs = require("fs");
const path = require("path");
const ort = require("onnxruntime-node");

const limit = Number(process.argv[3] || 1e-4);
const arrays = {
  float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, bool: Uint8Array,
};

function elements(bytes, entry) {
  const part = new Uint8Array(bytes.subarray(entry.at, entry.at + entry.bytes));
  const kind = arrays[entry.type];
  return kind && new kind(part.buffer, 0, entry.bytes / kind.BYTES_PER_ELEMENT);
}

// How far b is from a, relative to 1 + |a|; NaN where only one of them is.
function distance(a, b) {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return 0;
  return Math.abs(a - b) / (1 + Math.abs(a));
}

async function compare(base) {
  const about = JSON.parse(fs.readFileSync(base + ".json"));
  const bytes = fs.readFileSync(base + ".bin");
  let session;
  try {
    session = await ort.InferenceSession.create(base + ".onnx",
      { logSeverityLevel: 4, graphOptimizationLevel: process.argv[4] || "all", intraOpNumThreads: 1 });
  } catch (e) {
    return [/NOT_IMPLEMENTED|Could not find an implementation/.test(String(e)) ? "no kernel" : "rejected",
            String(e).slice(0, 300)];
  }
  let worst = 0, where = "", results = {};
  try {
    for (const [k, step] of about.steps.entries()) {
      const feeds = {};
      for (const x of k === 0 ? [...about.variables, ...step.inputs] : step.inputs)
        if (session.inputNames.includes(x.name))
          feeds[x.name] = new ort.Tensor(x.type, elements(bytes, x), x.dims);
      for (const name of session.inputNames)          // variables go on from their last values
        if (results[name + ":next"]) feeds[name] = results[name + ":next"];
      results = await session.run(feeds);
      for (const y of step.outputs) {
        const got = results[y.name];
        if (!got || !arrays[y.type]) continue;
        if (got.dims.join() !== y.dims.join())
          return ["wrong", `step ${k}: ${y.name} is [${got.dims}], not [${y.dims}]`];
        const want = elements(bytes, y);
        for (let i = 0; i < want.length; i++) {
          const d = distance(Number(want[i]), Number(got.data[i]));
          if (!(d <= worst)) {
            worst = d;
            where = `step ${k}: ${y.name}[${i}] is ${got.data[i]}, not ${want[i]}`;
          }
        }
      }
    }
  } catch (e) {
    return ["failed", String(e).slice(0, 300)];
  } finally {
    await session.release?.();
  }
  return [worst <= limit ? "agrees" : "wrong", where, worst];
}

async function main(folder) {
  const counts = {};
  let largest = 0;
  for (const file of fs.readdirSync(folder).sort()) {
    if (!file.endsWith(".json")) continue;
    const base = path.join(folder, file.slice(0, -5));
    const [result, text, worst] = await compare(base);
    counts[result] = (counts[result] || 0) + 1;
    if (result === "agrees") largest = Math.max(largest, worst);
    else console.log(`${result}: ${path.basename(base)} ${JSON.parse(fs.readFileSync(base + ".json")).title}: ${text}`);
  }
  console.log(counts, "largest difference of those that agree:", largest.toExponential(1));
  process.exit(counts.wrong || counts.rejected || counts.failed ? 1 : 0);
}
main(process.argv[2]);
