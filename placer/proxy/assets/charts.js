// Charts as SVG. Every chart has its numbers in words beside it or in its label.
import { svg } from "./dom.js";
import { known, number, quantity, span } from "./words.js";

// scale maps [low, high] to pixels; a range of nothing gets a width.
function scale(low, high, from, to) {
  const width = high - low || 1;
  return (v) => from + ((v - low) / width) * (to - from);
}

// ticks are about n round numbers in [0, high].
function ticks(high, n) {
  const raw = high / n;
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw) || power;
  const out = [];
  for (let v = 0; v <= high * 1.0001 && out.length < 12; v += step) out.push(v);
  return out;
}

// overTime draws values against time, with the target as a dashed line. points
// are {at, value} in the order of time, at in ms; a gap is a value that is not
// known. say prints a value.
export function overTime(points, target, unit, label) {
  const [w, h, left, right, top, bottom] = [640, 210, 64, 12, 12, 28];
  const values = points.map((p) => p.value).filter(known);
  const high = Math.max(...values, known(target) ? target : 0, 0) * 1.08 || 1;
  const first = points[0].at, last = points[points.length - 1].at;
  const x = scale(first, last, left, w - right), y = scale(0, high, h - bottom, top);
  const lines = [];
  let line = [];
  for (const p of points) {
    if (!known(p.value)) {
      if (line.length) lines.push(line);
      line = [];
      continue;
    }
    line.push(x(p.at).toFixed(1) + "," + y(p.value).toFixed(1));
  }
  if (line.length) lines.push(line);
  const time = (ms) => new Date(ms).toLocaleTimeString();
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label, class: "placer-chart" },
    ticks(high, 4).map((v) => [
      svg("line", { x1: left, x2: w - right, y1: y(v), y2: y(v), class: "placer-grid" }),
      svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end", class: "placer-tick" }, unit === "s" ? span(v * 1e9) : number(v)),
    ]),
    svg("text", { x: left, y: h - 8, class: "placer-tick" }, time(first)),
    last > first && svg("text", { x: w - right, y: h - 8, "text-anchor": "end", class: "placer-tick" }, time(last)),
    known(target) && [
      svg("line", { x1: left, x2: w - right, y1: y(target), y2: y(target), class: "placer-target" }),
      svg("text", { x: w - right, y: Math.max(y(target) - 5, 10), "text-anchor": "end", class: "placer-tick" }, "target " + quantity(target, unit)),
    ],
    lines.map((l) => (l.length > 1
      ? svg("polyline", { points: l.join(" "), class: "placer-line" })
      : svg("circle", { cx: l[0].split(",")[0], cy: l[0].split(",")[1], r: 3, class: "placer-dot" }))));
}

// speeds draws one bar with its interval for each row {name, value, low, high,
// note}, against an optional target. unit is that of all.
export function speeds(rows, target, unit, label) {
  const [w, rowHeight, left, right] = [640, 30, 170, 150];
  const h = rows.length * rowHeight + 12;
  const high = Math.max(...rows.map((r) => Math.max(r.high || 0, r.value || 0)), known(target) ? target : 0) * 1.05 || 1;
  const x = scale(0, high, left, w - right);
  const short = (s) => (s.length > 24 ? s.slice(0, 23) + "…" : s);
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label, class: "placer-chart" },
    rows.map((r, i) => {
      const y = i * rowHeight + 6;
      return [
        svg("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, short(r.name), svg("title", {}, r.name)),
        svg("rect", { x: left, y: y + 3, width: Math.max(0, x(r.value) - left), height: 16, rx: 2, class: "placer-bar " + (r.kind || "placer-predicted") }),
        r.high > r.low && whisker(x(r.low), x(r.high), y + 11),
        svg("text", { x: w - right + 8, y: y + 15 }, quantity(r.value, unit)),
      ];
    }),
    known(target) && svg("line", { x1: x(target), x2: x(target), y1: 2, y2: h - 4, class: "placer-target" }, svg("title", {}, "target " + quantity(target, unit))));
}

function whisker(from, to, y) {
  return svg("path", { d: `M${from} ${y}H${to}M${from} ${y - 4}V${y + 4}M${to} ${y - 4}V${y + 4}`, class: "placer-whisker" });
}

// curve draws points {x, value, low, high} of one line.
export function curve(points, unit, xTitle, label) {
  const [w, h, left, right, top, bottom] = [640, 200, 64, 16, 12, 34];
  const high = Math.max(...points.map((p) => Math.max(p.value, p.high || 0))) * 1.08 || 1;
  const most = Math.max(...points.map((p) => p.x));
  const x = scale(0, most, left, w - right), y = scale(0, high, h - bottom, top);
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label, class: "placer-chart" },
    ticks(high, 4).map((v) => [
      svg("line", { x1: left, x2: w - right, y1: y(v), y2: y(v), class: "placer-grid" }),
      svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end", class: "placer-tick" }, number(v)),
    ]),
    svg("polyline", { points: points.map((p) => x(p.x) + "," + y(p.value)).join(" "), class: "placer-line" }),
    points.map((p) => [
      p.high > p.low && svg("line", { x1: x(p.x), x2: x(p.x), y1: y(p.low), y2: y(p.high), class: "placer-whisker" }),
      svg("circle", { cx: x(p.x), cy: y(p.value), r: 3.5, class: "placer-dot" }),
      svg("text", { x: x(p.x), y: h - bottom + 15, "text-anchor": "middle", class: "placer-tick" }, number(p.x)),
    ]),
    svg("text", { x: (left + w - right) / 2, y: h - 4, "text-anchor": "middle", class: "placer-tick" }, xTitle));
}

// score draws one score of 0 to 100 with its interval. An unknown score is an
// empty dashed track.
export function score(estimate, kind) {
  const [w, h] = [180, 14];
  const e = estimate || {};
  if (!known(e.score)) {
    return svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "placer-score", "aria-hidden": "true" },
      svg("rect", { x: 0.5, y: 2.5, width: w - 1, height: h - 5, rx: 2, class: "placer-track placer-none" }));
  }
  const x = scale(0, 100, 0, w);
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "placer-score", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 2, width: w, height: h - 4, rx: 2, class: "placer-track" }),
    svg("rect", { x: 0, y: 2, width: x(e.score), height: h - 4, rx: 2, class: `placer-bar placer-${kind} placer-${e.origin || "plain"}` }),
    known(e.low) && known(e.high) && e.high > e.low && whisker(x(e.low), x(e.high), h / 2));
}
