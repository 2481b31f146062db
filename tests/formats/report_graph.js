// Opens the page of a report with just enough of a document to run its script, and checks that the
// graph unfolds scope by scope, is searched, and shows what a node is connected to.
//   node tests/formats/report_graph.js PAGE
'use strict';
const fs = require('fs');
const vm = require('vm');
const page = fs.readFileSync(process.argv[2], 'utf8');
const part = (begin, end) => page.slice(page.indexOf(begin) + begin.length).split(end)[0];
const parsed = JSON.parse(part('<script type="application/json" id="data">', '</script>'));
// With a node that has more users than are shown, and more nodes than a search shows.
const nodes = parsed.runs.find(r => r.graph).graph, given = nodes.length;
nodes.push(['hub', 'Const', ''], ...Array.from({ length: 301 }, (_, i) => [`hub_user/a${i}`, 'Neg', '', 'hub:0']));
const data = JSON.stringify(parsed);
const script = part("<script>\n", '</script>');

class Element {
  constructor(tag) { Object.assign(this, { tag, children: [], attributes: {}, listeners: {}, own: '', value: '', open: false }); }
  get classList() {
    const list = () => (this.attributes.class || '').split(' ').filter(Boolean);
    const put = names => { this.attributes.class = names.join(' '); };
    return { add: c => put([...list(), c]), remove: c => put(list().filter(x => x !== c)),
             toggle: c => put(list().includes(c) ? list().filter(x => x !== c) : [...list(), c]), contains: c => list().includes(c) };
  }
  get style() { return new Proxy({}, { set: () => true, get: () => () => {} }); }
  get textContent() { return this.own + this.children.map(c => typeof c === 'string' ? c : c.textContent).join(''); }
  set textContent(t) { this.children = []; this.own = String(t); }
  addEventListener(name, f) { (this.listeners[name] = this.listeners[name] || []).push(f); }
  setAttribute(name, value) { this.attributes[name] = String(value); if (name === 'value') this.value = String(value); }
  append(...c) { this.children.push(...c.map(x => x instanceof Element ? x : String(x))); }
  replaceChildren(...c) { this.own = ''; this.children = []; this.append(...c); }
  getBoundingClientRect() { return { left: 0, top: 0, width: 600, height: 200 }; }
  fire(name) { for (const f of this.listeners[name] || []) f({ target: this, clientX: 0, clientY: 0 }); }
  all(test) { return this.children.filter(c => c instanceof Element).flatMap(c => [...(test(c) ? [c] : []), ...c.all(test)]); }
}

const byId = new Map();
const document = {
  getElementById: id => { if (!byId.has(id)) byId.set(id, new Element('div')); return byId.get(id); },
  createElement: tag => new Element(tag), createElementNS: (space, tag) => new Element(tag), addEventListener() {},
  documentElement: new Element('html'), body: new Element('body')
};
document.getElementById('data').textContent = data;
const window = { addEventListener() {}, devicePixelRatio: 1, matchMedia: () => ({ matches: false, addEventListener() {} }) };
vm.runInNewContext(script, { document, window, console, matchMedia: window.matchMedia, addEventListener() {}, setTimeout, URL });

let bad = 0;
const check = (fine, what) => { if (!fine) { console.error(`report graph: ${what}`); bad = 1; } };
const graph = byId.get('main').all(e => /^graph/.test(e.attributes.id || ''))[0];
check(graph, 'the page has no graph');
const one = (name, within = graph) => within.all(e => (e.attributes.class || '').split(' ').includes(name))[0];
const tree = one('tree'), about = one('about');
const rows = () => tree.all(e => (e.attributes.class || '').split(' ').includes('node'));
const scopes = () => tree.all(e => e.tag === 'details');

// Folded, it has only nodes without a scope; unfolded, each node once.
check(rows().length === nodes.filter(n => !n[0].includes('/')).length, 'nodes of scopes are shown before they are unfolded');
for (let open; (open = scopes().filter(d => !d.open)).length > 0;)
  for (const d of open) { d.open = true; d.fire('toggle'); }
check(rows().length === nodes.length, `${rows().length} of ${nodes.length} nodes are shown when all scopes are unfolded`);
const before = rows().length;
scopes().forEach(d => d.fire('toggle'));
check(rows().length === before, 'a scope that is unfolded again has its nodes twice');

// A search finds names and operations in letters of any case; without a text, the graph is folded.
const search = graph.all(e => e.attributes.type === 'search')[0];
const find = text => { search.value = text; search.fire('input'); return rows(); };
const [name, operation] = nodes[given - 1];
check(find(name.toUpperCase()).some(r => r.textContent.startsWith(name + ' ')), `the search does not find '${name}'`);
check(find(operation).length === Math.min(300, nodes.filter(n => (n[0] + ' ' + n[1]).toLowerCase().includes(operation.toLowerCase())).length),
      `the search finds another number of '${operation}'`);
check(find('no such node').length === 0 && tree.textContent === `0 of ${nodes.length} nodes`, 'a search without a result does not say so');
const most = nodes.filter(n => (n[0] + ' ' + n[1]).toLowerCase().includes('a')).length;
check(find('a').length === Math.min(300, most), 'the search shows another number of nodes');
check(most > 300 && tree.children[0].textContent.endsWith(', the first 300'), 'a search does not say that it shows a part of what it found');
check(find('').length === nodes.filter(n => !n[0].includes('/')).length, 'the graph is not folded after the search');

// A node that is chosen shows its inputs and users, and each leads on.
const user = nodes.find(n => n.length > 3), input = user[3].replace(/^\^/, '').replace(/:\d+$/, '');
find(user[0]).find(r => r.textContent.startsWith(user[0] + ' ')).fire('click');
check(about.textContent.startsWith(user[0]), `'${user[0]}' is not shown when it is chosen`);
about.all(e => e.tag === 'a').find(a => a.textContent === user[3]).fire('click');
check(about.textContent.startsWith(input) && about.all(e => e.tag === 'a').some(a => a.textContent === user[0]),
      `the input '${input}' does not lead back to '${user[0]}'`);
find('hub').find(r => r.textContent.startsWith('hub ')).fire('click');
check(about.textContent.endsWith('and 201 others'), 'a node does not say that it has more users');
if (!bad) console.log(`report graph: ${given} nodes ok`);
process.exit(bad);
