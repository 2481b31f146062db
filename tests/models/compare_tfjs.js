// compare_tfjs.js -- runs a graph model in TensorFlow.js on the inputs that run_tensorflow.c has
// saved and compares the outputs with those that it saved: node compare_tfjs.js MODEL PREFIX
const fs = require("fs");
const path = require("path");
const tf = require("@tensorflow/tfjs-core");
require("@tensorflow/tfjs-backend-cpu");
const { loadGraphModel } = require("@tensorflow/tfjs-converter");

// The shape and the elements of a float32 file.
function load(file) {
  const bytes = fs.readFileSync(file), length = bytes.readUInt16LE(8);
  const header = bytes.subarray(10, 10 + length).toString();
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((s) => s.trim()).map(Number);
  const data = Buffer.from(bytes.subarray(10 + length));
  return { shape, data: new Float32Array(data.buffer, data.byteOffset, data.length / 4) };
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
  let worst = 0, count = 0, most = 0;
  for (let k = 0; k < outputs.length; k++) {
    const theirs = await results[k].data(), ours = load(`${prefix}_out_${k}.npy`).data;
    if (ours.length !== theirs.length) throw new Error(`${outputs[k]}: ${ours.length}, not ${theirs.length}`);
    const largest = theirs.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
    const error = theirs.reduce((m, v, i) => Math.max(m, Math.abs(v - ours[i])), 0);
    worst = Math.max(worst, error / (largest || 1));
    most = Math.max(most, largest);
    count += theirs.length;
  }
  console.log(`${count} results, the largest ${most.toPrecision(2)}; ` +
              `largest difference ${worst.toExponential(1)} of it`);
  process.exit(worst < 1e-3 ? 0 : 1);
}
main(process.argv.slice(2)).catch((e) => { console.error(String(e).slice(0, 300)); process.exit(1); });
