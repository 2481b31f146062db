// read_trace.js -- reads traces of `eddy_session_trace` with the importer of speedscope, a viewer
// of Chrome's trace format, and compares what it finds with the events:
//   node read_trace.js TRACE...
// The importer is a function in the middle of speedscope's script, which is run without a browser.
const fs = require("fs"), vm = require("vm"), path = require("path");

const complaints = [];

function importer() {
  const root = path.dirname(require.resolve("speedscope/package.json"));
  const folder = path.join(root, "dist/release");
  const file = fs.readdirSync(folder).find((name) => /^speedscope-.*\.js$/.test(name));
  const code = fs.readFileSync(path.join(folder, file), "utf8");
  const name = /Importing as Trace Event Format profile"\),(\w+)\(/.exec(code)[1];
  const from = code.indexOf("(()=>{") + 6;
  const page = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => "" : key === "length" ? 0 : page),
    set: () => true, apply: () => page, construct: () => page });
  const complain = (...words) => complaints.push(words.join(" "));
  const context = vm.createContext({ window: page, document: page, navigator: page,
    localStorage: page, self: page, performance, TextDecoder,
    console: { log() {}, warn: complain, error: complain } });
  try {
    const hook = `globalThis.read=(t)=>${name}(t);`;
    vm.runInContext(code.slice(0, from) + hook + code.slice(from), context);
  } catch (e) {} // the page cannot be shown
  return context.read;
}

const need = (holds, what) => { if (!holds) throw what; };

function check(file, read) {
  const trace = JSON.parse(fs.readFileSync(file)), spans = new Map();
  let counters = 0;
  for (const e of trace.traceEvents) {
    need(["X", "C", "M"].includes(e.ph) && e.pid === 1 && e.name, JSON.stringify(e));
    need(e.ph === "M" ? e.args.name : e.ts >= 0, JSON.stringify(e));
    if (e.ph === "C") counters += Number.isInteger(e.args.bytes);
    if (e.ph !== "X") continue;
    need(Number.isInteger(e.tid) && e.dur >= 0, JSON.stringify(e));
    spans.set(e.tid, [...(spans.get(e.tid) || []), e]);
  }
  complaints.length = 0;
  const threads = read(trace).profiles;
  need(complaints.length === 0, `${complaints.length} complaints, first: ${complaints[0]}`);
  need(threads.length === spans.size, `${threads.length} threads, not ${spans.size}`);
  threads.forEach((thread, i) => {
    const events = spans.get(i + 1), begun = [];
    let calls = 0, length = 0;
    thread.forEachCall((_, at) => { calls++; begun.push(at); },
      (_, at) => { length += at - begun.pop(); });
    const want = events.reduce((sum, e) => sum + e.dur, 0);
    need(calls === events.length, `thread ${i + 1}: ${calls} events, not ${events.length}`);
    need(Math.abs(length - want) < 1e-6 * want + 1, `thread ${i + 1}: ${length} us, not ${want}`);
    console.log(`${file}: ${thread.getName()}: ${calls} events, ${want.toFixed(0)} us in all`);
  });
  need(counters > 0, "no memory");
  console.log(`${file}: ${counters} values of memory`);
}

const read = importer();
let status = 0;
for (const file of process.argv.slice(2)) {
  try {
    check(file, read);
  } catch (what) {
    console.log(`${file}: ${what}`);
    status = 1;
  }
}
process.exit(status); // before what the page does later
