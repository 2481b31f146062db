// compare_tfjs.js -- runs a graph model in TensorFlow.js on the inputs that run_tensorflow.c has
// saved and compares the outputs with those that it saved: node compare_tfjs.js MODEL PREFIX
//
// Fails if an output differs by more than 1e-4 of its largest element. If run_tensorflow --float64
// has saved outputs, such an output is compared with float64 instead, both ours and theirs. The bar
// follows from the error that is left if each result is rounded to float32 once: a sum of n products
// in float32 rounds n times, and independent errors add up to sqrt(n) times one.
const fs = require("fs");
const path = require("path");
const tf = require("@tensorflow/tfjs-core");
require("@tensorflow/tfjs-backend-cpu");
const { loadGraphModel } = require("@tensorflow/tfjs-converter");
const BAR = 1e-4;

// The shape and the elements of a float32 file.
function load(file) {
  const bytes = fs.readFileSync(file), length = bytes.readUInt16LE(8);
  const header = bytes.subarray(10, 10 + length).toString();
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((s) => s.trim()).map(Number);
  const data = Buffer.from(bytes.subarray(10 + length));
  return { shape, data: new Float32Array(data.buffer, data.byteOffset, data.length / 4) };
}

// The largest difference, in units of the largest element of b.
function difference(a, b) {
  if (a.length !== b.length) throw new Error(`${a.length} elements, not ${b.length}`);
  const largest = b.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  return b.reduce((m, v, i) => Math.max(m, Math.abs(v - a[i])), 0) / (largest || 1);
}

// The number of products in a sum of a convolution or product of matrices, as a mean over these nodes.
function productsPerSum(nodes, specs) {
  const counts = nodes.filter((n) => /Conv2d|Conv2D|MatMul/.test(n.op)).map((n) => {
    const { shape } = specs.find((w) => w.name === n.input[1]);
    const used = shape.slice(0, /epthwise/.test(n.op) ? 2 : shape.length - 1);
    return used.reduce((a, b) => a * b, 1);
  });
  return counts.reduce((a, b) => a + b, 0) / counts.length;
}

async function main([model, prefix]) {
  const json = JSON.parse(fs.readFileSync(model));
  const specs = json.weightsManifest.flatMap((g) => g.weights);
  const bytes = json.weightsManifest.flatMap((g) => g.paths)
    .map((p) => fs.readFileSync(path.join(path.dirname(model), p)));
  const all = Buffer.concat(bytes);
  const net = await loadGraphModel({ load: async () => ({
    modelTopology: json.modelTopology, weightSpecs: specs, format: json.format,
    signature: json.signature, userDefinedMetadata: json.userDefinedMetadata,
    weightData: all.buffer.slice(all.byteOffset, all.byteOffset + all.length) }) });
  const signature = json.signature || (json.userDefinedMetadata || {}).signature;
  const names = (ports, or) => ports && Object.keys(ports).length
    ? Object.entries(ports).map(([k, v]) => v.name || k) : or;
  const inputs = {};
  names(signature && signature.inputs, net.inputNodes).forEach((name, i) => {
    const { shape, data } = load(`${prefix}_in_${i}.npy`);
    const node = name.replace(/:0$/, "");
    const dtype = net.inputs.find((t) => t.name.replace(/:0$/, "") === node).dtype;
    inputs[node] = tf.tensor(dtype === "float32" ? data : Int32Array.from(data), shape, dtype);
  });
  const outputs = names(signature && signature.outputs, net.outputNodes);
  const results = [].concat(await net.executeAsync(inputs, outputs));
  let worst = 0, count = 0, most = 0, missed = false, text = "";
  for (let k = 0; k < outputs.length; k++) {
    const theirs = await results[k].data(), ours = load(`${prefix}_out_${k}.npy`).data;
    const error = difference(ours, theirs);
    most = theirs.reduce((m, v) => Math.max(m, Math.abs(v)), most);
    worst = Math.max(worst, error);
    count += theirs.length;
    if (error <= BAR) continue;
    if (!fs.existsSync(`${prefix}_exact_${k}.npy`)) {
      missed = true;
      continue;
    }
    const exact = load(`${prefix}_exact_${k}.npy`).data;
    const rounded = difference(load(`${prefix}_rounded_${k}.npy`).data, exact);
    const bar = rounded * Math.sqrt(productsPerSum(json.modelTopology.node, specs));
    const errors = [difference(ours, exact), difference(theirs, exact)];
    missed = missed || Math.max(...errors) > Math.max(bar, BAR);
    text += `; from float64: Eddy ${errors[0].toExponential(1)}, TensorFlow.js ` +
            `${errors[1].toExponential(1)}, rounded results ${rounded.toExponential(1)}, ` +
            `bar ${bar.toExponential(1)}`;
  }
  console.log(`${count} results, the largest ${most.toPrecision(2)}; ` +
              `largest difference ${worst.toExponential(1)} of it${text}`);
  process.exit(missed ? 1 : 0);
}
main(process.argv.slice(2)).catch((e) => { console.error(String(e).slice(0, 300)); process.exit(1); });
