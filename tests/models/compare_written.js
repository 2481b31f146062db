// compare_written.js -- runs the models of write_models.c in ONNX Runtime and compares the outputs:
// node compare_written.js FOLDER [LIMIT [LEVEL]], where LEVEL is of ONNX Runtime's optimizations
const { execFileSync } = require("child_process");
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

// The results of each step. A wide model computes float32 in float64.
async function run(session, about, bytes, wide) {
  const all = [];
  for (const [k, step] of about.steps.entries()) {
    const feeds = {}, last = all[k - 1] || {};
    for (const x of k === 0 ? [...about.variables, ...step.inputs] : step.inputs)
      if (session.inputNames.includes(x.name))
        feeds[x.name] = wide && x.type === "float32"
          ? new ort.Tensor("float64", Float64Array.from(elements(bytes, x)), x.dims)
          : new ort.Tensor(x.type, elements(bytes, x), x.dims);
    for (const name of session.inputNames)          // variables go on from their last values
      if (last[name + ":next"]) feeds[name] = last[name + ":next"];
    all.push(await session.run(feeds));
  }
  return all;
}

// The largest difference and its place. want(step, output) are the elements that are expected.
function difference(about, results, want) {
  let worst = 0, where = "";
  for (const [k, step] of about.steps.entries())
    for (const y of step.outputs) {
      const got = results[k][y.name];
      if (!got || !arrays[y.type]) continue;
      if (got.dims.join() !== y.dims.join())
        return { worst: NaN, where: `step ${k}: ${y.name} is [${got.dims}], not [${y.dims}]` };
      const expected = want(k, y);
      for (let i = 0; i < expected.length; i++) {
        const d = distance(Number(expected[i]), Number(got.data[i]));
        if (d <= worst) continue;
        worst = d;
        where = `step ${k}: ${y.name}[${i}] is ${got.data[i]}, not ${expected[i]}`;
        if (Number.isNaN(d)) return { worst, where };
      }
    }
  return { worst, where };
}

function open(model) {
  return ort.InferenceSession.create(model,
    { logSeverityLevel: 4, graphOptimizationLevel: process.argv[4] || "all", intraOpNumThreads: 1 });
}

// Whether the results of float64 are at least as near to those of Eddy as to those of ONNX Runtime.
async function isRounding(base, about, bytes, results) {
  const model = base + ".double.onnx";
  const python = process.env.PYTHON;        // with the package onnx
  if (!python) return false;
  execFileSync(python, [path.join(__dirname, "to_double.py"), base + ".onnx", model]);
  const exact = await run(await open(model), about, bytes, true);
  fs.rmSync(model);
  const ours = difference(about, exact, (k, y) => elements(bytes, y)).worst;
  return ours <= difference(about, exact, (k, y) => results[k][y.name].data).worst;
}

async function compare(base) {
  const about = JSON.parse(fs.readFileSync(base + ".json"));
  const bytes = fs.readFileSync(base + ".bin");
  let session;
  try {
    session = await open(base + ".onnx");
  } catch (e) {
    return [/NOT_IMPLEMENTED|Could not find an implementation/.test(String(e)) ? "no kernel" : "rejected",
            String(e).slice(0, 300)];
  }
  try {
    const results = await run(session, about, bytes);
    const { worst, where } = difference(about, results, (k, y) => elements(bytes, y));
    if (worst <= limit) return ["agrees", where, worst];
    return [await isRounding(base, about, bytes, results) ? "rounding" : "wrong", where];
  } catch (e) {
    return ["failed", String(e).slice(0, 300)];
  } finally {
    await session.release?.();
  }
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
