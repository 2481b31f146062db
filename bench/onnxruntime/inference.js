// The models of bench/inference.c in ONNX Runtime, from the files that it has written:
//
//     node inference.js --folder FOLDER NAME [--threads N] [--slices] [--cpu]
//
// Calls the binding of onnxruntime-node 1.20 itself: the package's InferenceSession.run waits for
// the event loop in each call.
const fs = require("fs");
const path = require("path");
const readline = require("readline");

const root = path.join(path.dirname(require.resolve("onnxruntime-node")), "..");
const platform = path.join(root, "bin", "napi-v3", process.platform, process.arch);
const { InferenceSession } = require(path.join(platform, "onnxruntime_binding.node"));

function options() {
  const o = { threads: 1 };
  for (let i = 2; i < process.argv.length; i++) {
    const word = process.argv[i];
    if (word === "--slices" || word === "--cpu") o[word.slice(2)] = true;
    else if (word === "--folder") o.folder = process.argv[++i];
    else if (word === "--threads") o.threads = Number(process.argv[++i]);
    else o.name = word;
  }
  return o;
}

// A float32 array in NumPy's format, version 1.
function readArray(file) {
  const bytes = fs.readFileSync(file), at = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, at);
  const dims = header.match(/\(([^)]*)\)/)[1].split(",").filter(s => s.trim()).map(Number);
  const data = new Float32Array(Uint8Array.from(bytes.subarray(at)).buffer);
  return { type: "float32", dims, data, size: data.length, location: "cpu" };
}

function milliseconds(o) {
  if (!o.cpu) return Number(process.hrtime.bigint()) / 1e6;
  const used = process.cpuUsage();
  return (used.user + used.system) / 1e3;
}

// The largest difference, as a part of the largest element.
function difference(a, want) {
  let off = 0, largest = 0;
  for (let i = 0; i < want.length; i++) {
    off = Math.max(off, Math.abs(a[i] - want[i]));
    largest = Math.max(largest, Math.abs(want[i]));
  }
  return off / largest;
}

function begin(o) {
  const base = path.join(o.folder, o.name);
  const session = new InferenceSession();
  session.loadModel(base + ".onnx", {
    graphOptimizationLevel: "all", intraOpNumThreads: o.threads, interOpNumThreads: 1,
    executionMode: "sequential", logSeverityLevel: 3, executionProviders: ["cpu"],
  });
  const feeds = { [session.inputNames[0]]: readArray(base + ".x.npy") };
  const want = readArray(base + ".y.npy");
  const name = session.outputNames[0];
  const y = { ...want, data: new Float32Array(want.data.length) };
  return { run: () => session.run(feeds, { [name]: y }, {}), y: y.data, want: want.data };
}

async function main() {
  const o = options(), { run, y, want } = begin(o);
  const times = n => Array.from({ length: n }, () => {
    const start = milliseconds(o);
    run();
    return milliseconds(o) - start;
  });
  times(3);
  if (!o.slices) console.log(times(10).join(" "));
  else console.log("ready");
  if (o.slices)
    for await (const line of readline.createInterface({ input: process.stdin }))
      console.log(times(Number(line)).join(" "));
  const version = require(path.join(root, "package.json")).version;
  console.log(JSON.stringify({ version, difference: difference(y, want) }));
}
main();
