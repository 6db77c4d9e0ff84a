// The charts of package chart for pages that draw them in the browser: the same
// classes (chart.css), ticks and margins. Text only ever becomes a text node or
// an attribute value, so names that people chose cannot become markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

// el and svg make an element of HTML or SVG.
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const known = Number.isFinite;
const drawing = (width, height, label, ...children) =>
  svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart-svg" }, children);
const text = (x, y, kind, anchor, ...children) => svg("text", { x, y, class: "chart-" + kind, "text-anchor": anchor }, children);
const note = (said) => said && svg("title", {}, said);
const textWidth = (said) => 7.2 * [...said].length;

// scale maps [low, high] to pixels; a range of nothing gets a width.
function scale(low, high, from, to) {
  const width = high - low || 1;
  return (v) => from + ((v - low) / width) * (to - from);
}

// ticks are about five round numbers from 0 to one that is not below high.
function ticks(high) {
  const raw = high / 5 || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw * (1 - 1e-9));
  return Array.from({ length: Math.ceil(high / step - 1e-9) + 1 }, (_, i) => i * step);
}

const highest = (list, target) => Math.max(0, ...list.flatMap((p) => [p.value, p.high]).filter(known), known(target) ? target : 0);

function whisker(from, to, y) {
  return svg("path", { d: `M${from} ${y}H${to}M${from} ${y - 4}V${y + 4}M${to} ${y - 4}V${y + 4}`, class: "chart-whisker" });
}

// A unit is {name, say, tick}: what is beside the axis, how a value is written,
// and how a tick is.

// plot draws points {at, value, low, high, note} in the order of at, against an
// optional target: {points, from, target, unit, label, title, marks}. A value
// that is not known is a gap; marks are {at, text, anchor} below.
function plot(p) {
  const [w, h, right, top] = [640, 210, 24, 10];
  const rows = ticks(highest(p.points, p.target));
  const left = 10 + Math.max(...rows.map((v) => textWidth(p.unit.tick(v)))) + (p.unit.name ? 18 : 0), bottom = h - (p.title ? 38 : 22);
  const x = scale(p.from, p.points.at(-1).at, left, w - right), y = scale(0, rows.at(-1), bottom, top);
  const newest = p.points.filter((q) => known(q.value)).at(-1)?.value; // the target is written on its other side
  const lines = [[]];
  for (const q of p.points) {
    if (known(q.value)) lines.at(-1).push(x(q.at).toFixed(1) + "," + y(q.value).toFixed(1));
    else lines.push([]);
  }
  return drawing(w, h, p.label,
    rows.map((v) => [svg("line", { x1: left, x2: w - right, y1: y(v), y2: y(v), class: "chart-grid" }), text(left - 6, y(v) + 4, "tick", "end", p.unit.tick(v))]),
    p.unit.name && svg("text", { transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, class: "chart-tick", "text-anchor": "middle" }, p.unit.name),
    svg("line", { x1: left, x2: w - right, y1: bottom, y2: bottom, class: "chart-axis" }),
    p.marks.map((m) => text(x(m.at), bottom + 15, "tick", m.anchor || "middle", m.text)),
    p.title && text((left + w - right) / 2, h - 6, "tick", "middle", p.title),
    lines.map((l) => l.length > 1 && svg("polyline", { points: l.join(" "), class: "chart-line chart-measured" })),
    p.points.filter((q) => known(q.value)).map((q) => [
      q.high > q.low && svg("line", { x1: x(q.at), x2: x(q.at), y1: y(q.low), y2: y(q.high), class: "chart-interval chart-measured" }),
      svg("circle", { cx: x(q.at), cy: y(q.value), r: 3, class: "chart-dot chart-measured" }, note(q.note)),
    ]),
    known(p.target) && [
      svg("line", { x1: left, x2: w - right, y1: y(p.target), y2: y(p.target), class: "chart-mark chart-target" }),
      text(w - right, y(p.target) + (newest >= p.target || y(p.target) < 20 ? 14 : -5), "tick", "end", "target " + p.unit.say(p.target)),
    ]);
}

// overTime draws points {at, value} against time, at in ms.
export function overTime(points, target, unit, label) {
  const time = (ms) => new Date(ms).toLocaleTimeString();
  const first = points[0].at, last = points.at(-1).at;
  return plot({
    points: points.map((p) => ({ ...p, note: time(p.at) + ": " + unit.say(p.value) })), from: first, target, unit, label,
    marks: [{ at: first, text: time(first), anchor: "start" }, last > first && { at: last, text: time(last), anchor: "end" }].filter(Boolean),
  });
}

// curve draws points {at, value, low, high} over a quantity from 0.
export function curve(points, unit, title, label) {
  return plot({
    points: points.map((p) => ({ ...p, note: p.at + " " + title + ": " + unit.say(p.value) })), from: 0, unit, label, title,
    marks: points.map((p) => ({ at: p.at, text: p.at })),
  });
}

// bars draws one bar with its interval for each row {name, value, low, high},
// against an optional target.
export function bars(rows, kind, target, unit, label) {
  const [w, rowHeight] = [640, 30];
  const short = (s) => (s.length > 24 ? s.slice(0, 23) + "…" : s);
  const left = 16 + Math.max(...rows.map((r) => textWidth(short(r.name)))), right = w - 24 - Math.max(...rows.map((r) => textWidth(unit.say(r.value))));
  const columns = ticks(highest(rows, target)), bottom = rows.length * rowHeight + 6;
  const x = scale(0, columns.at(-1), left, right);
  return drawing(w, bottom + 18, label,
    columns.map((v) => [svg("line", { x1: x(v), x2: x(v), y1: 4, y2: bottom, class: "chart-grid" }), text(x(v), bottom + 13, "tick", "middle", unit.tick(v))]),
    rows.map((r, i) => {
      const y = i * rowHeight + 8;
      return [
        text(left - 8, y + 13, "name", "end", short(r.name), note(r.name)),
        svg("rect", { x: left, y, width: Math.max(0, x(r.value) - left), height: 18, class: "chart-bar chart-" + kind }),
        r.high > r.low && whisker(x(r.low), x(r.high), y + 9),
        text(Math.max(x(r.value), x(r.high) || 0) + 8, y + 13, "value", "start", unit.say(r.value)),
      ];
    }),
    known(target) && svg("line", { x1: x(target), x2: x(target), y1: 2, y2: bottom, class: "chart-mark chart-target" }, note("target " + unit.say(target))));
}

// track draws one score {score, low, high, origin} of 0 to 100 for a cell of a
// table. An unknown score is an empty, dashed track.
export function track(estimate, kind) {
  const e = estimate || {}, [w, h] = [180, 16];
  const x = scale(0, 100, 1, w - 1), bar = (to, style) => svg("rect", { x: 1, y: 3, width: to - 1, height: 10, class: style });
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, class: "chart-svg chart-cell", "aria-hidden": "true" },
    bar(w - 1, known(e.score) ? "chart-track" : "chart-track chart-unknown"),
    known(e.score) && bar(x(e.score), `chart-bar chart-${kind}` + (e.origin === "predicted" || e.origin === "assumed" ? " chart-faint" : "")),
    known(e.score) && e.high > e.low && whisker(x(e.low), x(e.high), h / 2));
}

// raster draws shades of rows × columns on a canvas. Rows that share a line of
// pixels show the greatest of their shades; shade(row, column) is a number of
// colours, or -1 where nothing is known.
export function raster(canvas, rows, columns, shade, colours) {
  const g = canvas.getContext("2d"), width = canvas.width / columns;
  const lines = Math.min(rows, canvas.height), height = canvas.height / lines, per = rows / lines;
  g.clearRect(0, 0, canvas.width, canvas.height);
  for (let line = 0; line < lines; line++) {
    const from = Math.floor(line * per), to = Math.max(Math.floor((line + 1) * per), from + 1);
    for (let column = 0; column < columns; column++) {
      let most = -1;
      for (let row = from; row < to; row++) most = Math.max(most, shade(row, column));
      if (most < 0) continue;
      g.fillStyle = colours[most];
      g.fillRect(column * width, line * height, Math.ceil(width), Math.ceil(height));
    }
  }
}
