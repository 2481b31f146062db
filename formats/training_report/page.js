'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const colors = ['#2f7ed8', '#e06c00', '#1f9d61', '#c2458f', '#8a63d2', '#b08900', '#12939a', '#d0453f'];
const main = document.getElementById('main');
const color = run => colors[run % colors.length];
const runName = run => data.runs[run].name === '.' ? 'run' : data.runs[run].name;

// An element with attributes and children; text is never read as HTML.
function element(space, tag, attributes, children) {
  const e = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (value !== undefined) e.setAttribute(name, value);
  }
  for (const child of children) if (child !== null && child !== undefined) e.append(child);
  return e;
}
const html = (tag, attributes, ...children) => element(null, tag, attributes, children);
const svg = (tag, attributes, ...children) => element('http://www.w3.org/2000/svg', tag, attributes, children);

function section(id, title, ...children) {
  document.getElementById('contents').append(html('a', { href: '#' + id }, title));
  main.append(html('section', { id }, html('h2', {}, title), ...children));
}
const card = (title, ...children) => html('div', { class: 'card' }, title ? html('h3', {}, title) : null, ...children);
const key = run => html('span', { class: 'run' }, html('i', { class: 'key', style: 'background:' + color(run) }), runName(run));

// Numbers, durations and bytes.
function short(v) {
  if (v === null || v === undefined) return 'not finite';
  if (v === 0) return '0';
  const size = Math.abs(v);
  if (size >= 1e6 || size < 1e-4) return v.toExponential(2).replace('e+', 'e');
  return String(Number(v.toPrecision(4)));
}
function duration(s) {
  if (!(s >= 0)) return '';
  if (s < 60) return s.toFixed(1) + '\u00a0s';
  const minutes = Math.floor(s / 60), hours = Math.floor(s / 3600);
  if (s < 3600) return minutes + '\u00a0min ' + Math.floor(s % 60) + '\u00a0s';
  return hours + '\u00a0h ' + (minutes - 60 * hours) + '\u00a0min';
}
function bytes(n) {
  for (const unit of ['B', 'kB', 'MB']) { if (n < 1000) return Number(n.toPrecision(3)) + ' ' + unit; n /= 1000; }
  return Number(n.toPrecision(3)) + ' GB';
}

// About `least` round numbers between low and high, and up to 2.5 times as many; or powers of ten.
function ticks(low, high, least, log) {
  const list = [];
  if (log) {
    const step = Math.max(1, Math.ceil((high - low) / 5));
    for (let e = Math.ceil(low); e <= high; e += step) list.push(e);
    if (list.length > 1) return list;
    list.length = 0;
  }
  const most = (high - low) / least, power = Math.pow(10, Math.floor(Math.log10(most)));
  const step = [5, 2, 1].find(k => k * power <= most * (1 + 1e-9)) * power;
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) list.push(i * step);
  return list;
}

// --- curves: all series of a tag in one chart ---------------------------------
const view = { smooth: 0, time: false, log: false };
const width = 380, height = 200, left = 52, right = 12, top_ = 8, bottom = 24;

// An exponential average that starts without a bias; what is not finite is left out.
function smoothed(values, weight) {
  let sum = 0, mass = 0;
  return values.map(v => {
    if (v === null) return null;
    sum = weight * sum + (1 - weight) * v;
    mass = weight * mass + (1 - weight);
    return sum / mass;
  });
}

function curves(tag, list) {
  const box = card(tag), picture = html('div'), read = html('div', { class: 'read' });
  box.append(picture, read);
  const draw = () => {
    const lines = list.map(s => {
      const x = s.points.map(p => view.time ? p[1] - data.runs[s.run].begin : p[0]);
      const y = s.points.map(p => p[2]);
      return { run: s.run, x, y, mean: smoothed(y, view.smooth) };
    });
    const finite = lines.flatMap(l => l.y).filter(v => v !== null);
    const log = view.log && finite.some(v => v > 0);
    const up = v => log ? (v > 0 ? Math.log10(v) : null) : v;
    const ys = finite.map(up).filter(v => v !== null), xs = lines.flatMap(l => l.x);
    let low = ys.reduce((a, b) => Math.min(a, b), Infinity), high = ys.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(low <= high)) low = 0, high = 1;
    if (high - low < 1e-12 * Math.max(1, Math.abs(high))) low -= 0.5 * Math.max(Math.abs(low), 1e-6), high += 0.5 * Math.max(Math.abs(high), 1e-6);
    const x0 = xs.reduce((a, b) => Math.min(a, b), Infinity), x1 = Math.max(xs.reduce((a, b) => Math.max(a, b), -Infinity), x0 + 1e-9);
    const px = x => left + (x - x0) / (x1 - x0) * (width - left - right);
    const py = y => height - bottom - (y - low) / (high - low) * (height - top_ - bottom);
    const path = (x, y) => {
      let d = '', pen = false;
      y.forEach((v, i) => {
        const u = v === null ? null : up(v);
        if (u === null) { pen = false; return; }
        d += (pen ? 'L' : 'M') + px(x[i]).toFixed(1) + ' ' + py(u).toFixed(1);
        pen = true;
      });
      return d;
    };
    const plot = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': tag });
    for (const v of ticks(low, high, 3, log)) {
      plot.append(svg('line', { class: 'axis', x1: left, x2: width - right, y1: py(v), y2: py(v) }),
                  svg('text', { x: left - 6, y: py(v) + 4, 'text-anchor': 'end' }, short(log ? Math.pow(10, v) : v)));
    }
    for (const v of ticks(x0, x1, 2, false))
      plot.append(svg('text', { x: px(v), y: height - 8, 'text-anchor': 'middle' }, view.time ? duration(v) : short(v)));
    for (const l of lines) {
      if (view.smooth > 0) plot.append(svg('path', { d: path(l.x, l.y), fill: 'none', stroke: color(l.run), class: 'faint' }));
      plot.append(svg('path', { d: path(l.x, l.mean), fill: 'none', stroke: color(l.run), 'stroke-width': 1.7, 'stroke-linejoin': 'round' }));
      if (l.x.length === 1 && up(l.y[0]) !== null)
        plot.append(svg('circle', { cx: px(l.x[0]), cy: py(up(l.y[0])), r: 3, fill: color(l.run) }));
    }
    const cursor = svg('line', { class: 'axis', y1: top_, y2: height - bottom, visibility: 'hidden' });
    plot.append(cursor);
    const show = at => {
      read.replaceChildren();
      lines.forEach((l, k) => {
        let i = l.x.length - 1;
        if (at !== null) l.x.forEach((x, j) => { if (Math.abs(x - at) < Math.abs(l.x[i] - at)) i = j; });
        if (k > 0) read.append(' · ');
        read.append(data.runs.length > 1 ? key(l.run) : '', ` step ${list[k].points[i][0]}: ${short(l.y[i])}`);
      });
    };
    const move = e => {
      const r = plot.getBoundingClientRect(), x = (e.clientX - r.left) / r.width * width;
      const at = x0 + (x - left) / (width - left - right) * (x1 - x0);
      cursor.setAttribute('x1', x); cursor.setAttribute('x2', x); cursor.setAttribute('visibility', 'visible');
      show(at);
    };
    plot.addEventListener('pointermove', move);
    plot.addEventListener('pointerdown', move);
    plot.addEventListener('pointerleave', () => { cursor.setAttribute('visibility', 'hidden'); show(null); });
    show(null);
    picture.replaceChildren(plot);
  };
  draw();
  return { box, draw };
}

// --- histograms: one ridge a step, the oldest behind -----------------------------
function ridges(s) {
  const plot = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': s.tag });
  const n = s.points.length, low = s.points[0][1], high = s.points[0][2];
  const lift = n > 1 ? (height - top_ - bottom - 60) / (n - 1) : 0;
  const most = Math.max(1e-300, ...s.points.map(p => Math.max(...p[3]) / (p[3].reduce((a, b) => a + b, 0) || 1)));
  const base = i => height - bottom - (n - 1 - i) * lift;
  const px = k => 12 + k / 40 * (width - 12 - left);
  s.points.forEach((p, i) => {
    const sum = p[3].reduce((a, b) => a + b, 0) || 1;
    let d = `M${px(0)} ${base(i).toFixed(1)}`;
    p[3].forEach((v, k) => { d += `L${px(k + 0.5).toFixed(1)} ${(base(i) - v / sum / most * 58).toFixed(1)}`; });
    d += `L${px(40)} ${base(i).toFixed(1)}Z`;
    const age = n > 1 ? i / (n - 1) : 1;
    plot.append(svg('path', { d, fill: color(s.run), 'fill-opacity': 0.25 + 0.55 * age, stroke: 'var(--card)', 'stroke-width': 0.7 }));
    if (i === 0 || i === n - 1 || (n > 8 && i % Math.ceil(n / 5) === 0 && base(n - 1) - base(i) >= 12))
      plot.append(svg('text', { x: width - left + 6, y: base(i) + 3 }, short(p[0])));
  });
  for (const v of ticks(low, high, 2, false))
    plot.append(svg('text', { x: px((v - low) / (high - low) * 40), y: height - 8, 'text-anchor': 'middle' }, short(v)));
  return card(data.runs.length > 1 ? `${s.tag} (${runName(s.run)})` : s.tag, plot);
}

// --- texts; a table of Markdown is drawn as one, shaded by row ---------------------
function table(text) {
  const rows = text.trim().split('\n').map(l => l.replace(/^\||\|\s*$/g, '').split('|').map(c => c.trim()));
  const t = html('table', {}, html('tr', {}, ...rows[0].map(c => html('th', {}, c))));
  for (const row of rows.slice(2)) {
    const sum = row.slice(1).reduce((a, c) => a + Math.abs(Number(c) || 0), 0) || 1;
    t.append(html('tr', {}, ...row.map((c, k) => k === 0 ? html('th', {}, c)
      : html('td', { style: `background:color-mix(in srgb, var(--accent) ${Math.round(70 * Math.abs(Number(c) || 0) / sum)}%, transparent)` }, c))));
  }
  return html('div', { class: 'wide' }, t);
}
const isTable = text => /^\|.*\n\|[-:| ]+\n/.test(text);

// One of the points of a series, chosen by a slider.
function byStep(s, title, show) {
  const body = html('div'), label = html('span', {}, '');
  const slider = html('input', { type: 'range', min: 0, max: s.points.length - 1, value: s.points.length - 1, 'aria-label': 'step' });
  const put = () => { const p = s.points[slider.value]; label.textContent = 'step ' + p[0]; body.replaceChildren(show(p)); };
  slider.addEventListener('input', put);
  put();
  return card(title, s.points.length > 1 ? html('div', { class: 'controls' }, slider, label) : html('p', {}, label), body);
}
const titleOf = s => data.runs.length > 1 ? `${s.tag} (${runName(s.run)})` : s.tag;

// --- the graph: scopes that unfold, a search, and what a node is connected to -------
const FOUND = 300, LINKS = 100;     // at most so many are shown
function graph(nodes) {
  const byName = new Map(), users = new Map(), root = { scopes: new Map(), nodes: [], count: 0 };
  for (const n of nodes) {
    byName.set(n[0], n);
    let at = root;
    at.count++;
    for (const part of n[0].split('/').slice(0, -1)) {
      if (!at.scopes.has(part)) at.scopes.set(part, { scopes: new Map(), nodes: [], count: 0 });
      at = at.scopes.get(part);
      at.count++;
    }
    at.nodes.push(n);
    for (const input of n.slice(3)) {
      const from = input.replace(/^\^/, '').replace(/:\d+$/, '');
      if (!users.has(from)) users.set(from, []);
      users.get(from).push(n[0]);
    }
  }
  const about = html('div', { class: 'card about' }, html('p', {}, 'Choose a node to see its inputs and the nodes that use it.'));
  const tree = html('div', { class: 'card tree' });
  let chosen = null;
  const choose = (n, row) => {
    if (chosen) chosen.classList.remove('chosen');
    chosen = row;
    if (row) row.classList.add('chosen');
    const links = names => names.length === 0 ? html('p', {}, 'none') : html('ul', {}, ...names.slice(0, LINKS).map(name => {
      const plain = name.replace(/^\^/, '').replace(/:\d+$/, '');
      return html('li', {}, html('a', { onclick: () => byName.has(plain) && choose(byName.get(plain), null) }, name));
    }), names.length > LINKS ? html('li', {}, `and ${names.length - LINKS} others`) : null);
    about.replaceChildren(html('h3', {}, n[0]), html('p', {}, n[1] + ' ' + n[2]), html('small', {}, 'inputs'), links(n.slice(3)),
                          html('small', {}, 'used by'), links(users.get(n[0]) || []));
  };
  const line = (n, name) => {
    const row = html('div', { class: 'node', onclick: () => choose(n, row) }, name + ' ', html('small', {}, n[1] + ' ' + n[2]));
    return row;
  };
  const unfold = (scope, into) => {
    for (const [name, inner] of scope.scopes) {
      const d = html('details', {}, html('summary', {}, name + ' ', html('small', {}, inner.count + (inner.count === 1 ? ' node' : ' nodes'))));
      d.addEventListener('toggle', () => { if (d.open && d.children.length === 1) unfold(inner, d); });
      into.append(d);
    }
    for (const n of scope.nodes) into.append(line(n, n[0].split('/').pop()));
  };
  const fold = () => { tree.replaceChildren(); unfold(root, tree); };
  const search = html('input', { type: 'search', placeholder: 'search for a name or an operation', 'aria-label': 'search' });
  search.addEventListener('input', () => {
    const what = search.value.toLowerCase();
    if (!what) return fold();
    const found = nodes.filter(n => (n[0] + ' ' + n[1]).toLowerCase().includes(what));
    tree.replaceChildren(html('p', {}, `${found.length} of ${nodes.length} nodes${found.length > FOUND ? ', the first ' + FOUND : ''}`), ...found.slice(0, FOUND).map(n => line(n, n[0])));
  });
  fold();
  return html('div', {}, search, html('div', { class: 'two' }, tree, about));
}

// --- the page ----------------------------------------------------------------------
// A long name may be broken after its parts.
const breakable = name => typeof name === 'string' ? name.split(/(?<=[._/-])/).flatMap(part => [html('wbr'), part]) : [name];

// A table of the runs: a column for each, or a row if there are more of them than `rows`.
function comparison(rows) {
  const cells = [['', ...data.runs.map((r, i) => key(i))], ...rows.map(([name, value]) => [name, ...data.runs.map(value)])];
  const tall = rows.length >= data.runs.length;
  const lines = tall ? cells : cells[0].map((c, k) => cells.map(line => line[k]));
  return html('div', { class: 'wide' }, html('table', {}, ...lines.map((line, i) =>
    html('tr', {}, ...line.map((c, k) => html(i === 0 || (tall && k === 0) ? 'th' : 'td', {}, ...breakable(c)))))));
}

function overview() {
  const names = [...new Set(data.scalars.map(s => s.tag))].filter(tag => tag.split('/').length <= 2 && !/^(gradient_norm|update_ratio)\//.test(tag)).slice(0, 6);
  const last = (tag, run) => { const s = data.scalars.find(s => s.tag === tag && s.run === run); return s ? short(s.points[s.points.length - 1][2]) : ''; };
  const seconds = r => r.end - r.begin;
  const rows = [['steps', r => String(r.steps)], ['time', r => duration(seconds(r))],
                ['steps/s', r => seconds(r) > 0 ? short(r.steps / seconds(r)) : ''], ...names.map(n => [n, (r, i) => last(n, i)])];
  section('overview', 'Overview', ...data.notes.map(note => html('p', { class: 'note' }, note)), card(null, comparison(rows)));
}

function parameters() {
  const names = [...new Set(data.runs.flatMap(r => r.hparams.map(h => h[0])))];
  if (names.length === 0) return;
  section('parameters', 'Hyper-parameters', card(null, comparison(names.map(n => [n, r => {
    const pair = r.hparams.find(p => p[0] === n);
    return !pair ? '' : typeof pair[1] === 'number' ? short(pair[1]) : pair[1];
  }]))));
}

function allCurves() {
  const tags = [...new Set(data.scalars.map(s => s.tag))];
  if (tags.length === 0) return;
  const charts = tags.map(tag => curves(tag, data.scalars.filter(s => s.tag === tag)));
  const redraw = () => charts.forEach(c => c.draw());
  const slider = html('input', { type: 'range', min: 0, max: 0.99, step: 0.01, value: 0, oninput: () => { view.smooth = Number(slider.value); redraw(); } });
  const time = html('input', { type: 'checkbox', onchange: () => { view.time = time.checked; redraw(); } });
  const log = html('input', { type: 'checkbox', onchange: () => { view.log = log.checked; redraw(); } });
  const groups = new Map();
  tags.forEach((tag, i) => {
    const group = tag.includes('/') ? tag.replace(/\/.*/, '') : '';
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(charts[i].box);
  });
  // Those of single variables, which may be many, come last.
  const isDetail = name => name === 'gradient_norm' || name === 'update_ratio';
  const boxes = [...groups].sort((a, b) => isDetail(a[0]) - isDetail(b[0])).map(([name, list]) => name === '' ? html('div', { class: 'grid' }, ...list)
    : html('details', { open: '' }, html('summary', {}, html('b', {}, name)), html('div', { class: 'grid' }, ...list)));
  section('curves', 'Curves', html('div', { class: 'controls' }, html('label', {}, 'smoothing ', slider), html('label', {}, time, ' over time'),
    html('label', {}, log, ' logarithmic'), data.runs.length > 1 ? html('span', {}, ...data.runs.flatMap((r, i) => [key(i), ' '])) : null),
    ...boxes);
}

// Images whose tags agree up to the last slash are shown together.
function images() {
  const groups = new Map();
  for (const s of data.images.filter(s => s.points.length > 0)) {
    const [, tag, number] = /^(.*?)(?:\/image(?:\/(\d+))?)?$/.exec(s.tag);
    const name = titleOf({ tag: tag.replace(/\/[^/]*$/, ''), run: s.run });
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push({ points: s.points, caption: (tag.includes('/') ? tag.replace(/^.*\//, '') : '') + (number ? ' ' + number : '') });
  }
  if (groups.size === 0) return;
  section('images', 'Images', ...[...groups].map(([name, list]) => {
    const longest = list.reduce((a, b) => b.points.length > a.points.length ? b : a);
    const show = k => html('div', { class: 'images' }, ...list.map(s => html('figure', {},
      html('img', { src: 'data:image/png;base64,' + s.points[Math.min(k, s.points.length - 1)][1], alt: s.caption }),
      html('figcaption', {}, s.caption))));
    return html('div', {}, byStep({ points: longest.points.map((p, k) => [p[0], k]) }, name, p => show(p[1])), html('p'));
  }));
}

function profiles() {
  if (data.profiles.length === 0) return;
  section('time', 'Time of nodes', ...data.profiles.map(s => {
    const [all, ...rows] = s.points[0];
    const t = html('table', {}, html('tr', {}, ...['node', 'operation', 'results', 'µs', '%', ''].map(c => html('th', {}, c))));
    for (const [name, op, micros, size] of rows)
      t.append(html('tr', {}, html('td', {}, ...breakable(name)), ...[op, size ? bytes(size) : '', short(micros), (100 * micros / (all || 1)).toFixed(1)].map(c => html('td', {}, c)),
        html('td', { class: 'bar' }, html('i', { style: `width:${100 * micros / (rows[0][2] || 1)}%` }))));
    return card(`${titleOf(s)}: ${short(all)} µs a run`, html('div', { class: 'wide' }, t));
  }));
}

document.title = data.title;
document.getElementById('title').textContent = data.title;
const begin = Math.min(...data.runs.map(r => r.begin).filter(t => t > 0));
document.getElementById('facts').textContent = (data.runs.length === 1 ? '1 run' : data.runs.length + ' runs')
  + (isFinite(begin) ? ', begun ' + new Date(begin * 1000).toLocaleString() : '');
overview();
allCurves();
const tables = data.texts.filter(s => isTable(s.points[s.points.length - 1][1]));
const texts = data.texts.filter(s => !tables.includes(s));
if (tables.length > 0) section('tables', 'Tables', html('div', {}, ...tables.map(s => byStep(s, titleOf(s), p => table(p[1])))));
images();
if (data.histograms.some(s => s.points.length > 0))
  section('histograms', 'Histograms', html('div', { class: 'grid' }, ...data.histograms.filter(s => s.points.length > 0).map(ridges)));
if (texts.length > 0) section('texts', 'Texts', ...texts.map(s => byStep(s, titleOf(s), p => html('pre', {}, p[1]))));
profiles();
parameters();
data.runs.forEach((r, i) => { if (r.graph) section('graph' + i, data.runs.length > 1 ? `Graph (${runName(i)})` : 'Graph', graph(r.graph)); });
