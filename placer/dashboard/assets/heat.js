// Draws the heat map of all nodes in place of the table that is served in
// parts: a grid whose rows exist only while they are in view, a small map of the
// whole cluster beside it, and filters that act at once. Without it the table,
// its form and its links do the same.
import { el, raster } from "./chart.js";

const ROW = 26;        // height of a row, pixels; as in style.css
const HEAD = 38;       // height of the line of the sources
const SPARE = 6;       // rows kept above and below the ones in view
const LEVELS = 5;      // steps of the scale
const place = document.getElementById("heat-map");
const form = document.getElementById("heat-form");

let data = null;     // as served by /v1/heat
let order = [];      // indices of data.nodes, filtered and sorted
let active = { row: 0, column: 0 }; // the cell the keyboard is at; column 0 is the name
const pool = new Map(); // position in order -> element of a row in view
let free = [];
const parts = {};

function choice(name) { return form.elements[name].value; }

// room is what a newcomer has left by the measure, or null.
function room(node, i, measure) {
  const h = node.headroom[i], p = node.pressure[i];
  if (measure === "headroom") return h;
  if (p === null) return null;
  if (measure === "pressure") return 100 - p;
  return h === null ? null : Math.min(h, 100 - p);
}

function level(value) { return LEVELS - 1 - Math.min(LEVELS - 1, Math.floor(value * LEVELS / 100)); }

function show(v) { return v === null ? "?" : String(Math.round(v)); }

function say(v) { return v === null ? "unknown" : v + " points"; }

function cellText(node, i) {
  return data.sources[i].title + ": headroom " + say(node.headroom[i]) + ", pressure " + say(node.pressure[i]);
}

function nodeText(node) {
  return node.name + ", class " + (node.class || "none") + ", configuration " + (node.configuration || "unknown") + ", " +
    node.residents + (node.residents === 1 ? " resident" : " residents") +
    (node.assumed ? ", scores assumed for " + node.assumed : "") + (node.ready ? "" : ", not ready");
}

function arrange() {
  const query = choice("q").trim().toLowerCase(), group = choice("class");
  const key = choice("sort"), measure = choice("measure");
  order = [];
  data.nodes.forEach((n, i) => {
    if (group && group !== n.class && !(group === "(none)" && !n.class)) return;
    if (query && ![n.name, n.id, n.configuration].some((s) => s.toLowerCase().includes(query))) return;
    order.push(i);
  });
  const column = data.sources.findIndex((s) => s.source === key);
  if (column < 0 && key !== "tightest") return;
  const rank = data.nodes.map((n) => {
    if (column >= 0) { const v = room(n, column, measure); return v === null ? Infinity : v; }
    return data.sources.reduce((least, _, i) => {
      const v = room(n, i, measure);
      return v !== null && v < least ? v : least;
    }, Infinity);
  });
  order.sort((a, b) => rank[a] - rank[b] || a - b);
}

// build makes everything that does not depend on what is shown.
function build() {
  parts.heads = data.sources.map((s, i) => el("div", { class: "grid-cell", role: "columnheader", "aria-colindex": i + 2 },
    el("button", { type: "button", tabindex: -1, "data-sort": s.source, title: "sort by " + s.title }, s.source.replace("_", " "))));
  parts.space = el("div", { class: "grid-space", role: "rowgroup" });
  parts.scroller = el("div", { class: "grid-scroll", on: { scroll: later(draw) } },
    el("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": 1 },
      el("div", { class: "grid-name", role: "columnheader", "aria-colindex": 1 }, "Node"), parts.heads),
    parts.space);
  parts.grid = el("div", {
    class: "grid", role: "grid", "aria-label": "Nodes and sources of interference", "aria-describedby": "heat-keys",
    on: { pointerover: hover, keydown: key, click, focusin: focused },
  }, parts.scroller);
  parts.grid.style.setProperty("--columns", String(data.sources.length));
  parts.mini = el("canvas", {
    width: data.sources.length * 5, height: 560,
    on: { pointerdown: (e) => { parts.mini.setPointerCapture(e.pointerId); jump(e); }, pointermove: (e) => { if (e.buttons) jump(e); } },
  });
  parts.window = el("div", { class: "minimap-window" });
  parts.count = el("p", { class: "muted", role: "status" });
  parts.detail = el("p", { class: "map-detail", "aria-hidden": "true" });
  place.replaceChildren(parts.count,
    el("div", { class: "map" }, parts.grid, el("div", { class: "minimap", "aria-hidden": "true" }, parts.mini, parts.window)),
    parts.detail,
    el("p", { class: "muted", id: "heat-keys" },
      "Arrow keys, Page Up, Page Down, Home and End move between cells; Enter opens the node, or sorts by the source in the first line."));
}

function focused(e) {
  const at = positionOf(e.target);
  if (!at) return;
  active = at;
  markActive();
  describe(at);
}

// later runs f once before the next frame, however often it is called.
function later(f) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; f(); });
  };
}

function newRow() {
  const row = el("div", { class: "grid-row", role: "row" },
    el("div", { class: "grid-name", role: "rowheader", "aria-colindex": 1, tabindex: -1 }, el("a", { tabindex: -1 })),
    data.sources.map((_, i) => el("div", { role: "gridcell", "aria-colindex": i + 2, tabindex: -1 }, "")));
  parts.space.append(row);
  return row;
}

function fill(row, at, measure) {
  const node = data.nodes[order[at]];
  row.style.transform = "translateY(" + at * ROW + "px)";
  row.setAttribute("aria-rowindex", String(at + 2));
  row.dataset.at = String(at);
  const link = row.firstChild.firstChild;
  link.textContent = node.name + (node.assumed ? " *" : "") + (node.ready ? "" : " (not ready)");
  link.href = place.dataset.node + encodeURIComponent(node.id);
  for (let i = 0; i < data.sources.length; i++) {
    const cell = row.children[i + 1], v = room(node, i, measure);
    const kind = "grid-cell cell " + (v === null ? "unknown" : "heat-" + level(v)) + (node.assumed ? " assumed" : "");
    if (cell.className !== kind) cell.className = kind;
    cell.firstChild.data = show(node.headroom[i]) + "/" + show(node.pressure[i]);
  }
}

// draw puts the rows in view on the page; all says that their content changed.
function draw(all) {
  const top = parts.scroller.scrollTop, measure = choice("measure");
  const from = Math.max(0, Math.floor(top / ROW) - SPARE);
  const to = Math.min(order.length, Math.ceil((top + parts.scroller.clientHeight) / ROW) + SPARE);
  pool.forEach((row, at) => {
    // The row that has the focus stays, or the focus would be lost.
    if ((at < from || at >= to || at >= order.length) && !(row.contains(document.activeElement) && at < order.length)) {
      pool.delete(at);
      free.push(row);
    }
  });
  for (let at = from; at < to; at++) {
    const isNew = !pool.has(at);
    let row = pool.get(at);
    if (isNew) { row = free.pop() || newRow(); row.hidden = false; pool.set(at, row); }
    if (isNew || all === true) fill(row, at, measure);
  }
  free.forEach((row) => { row.hidden = true; });
  markActive();
  frameMini();
}

// markActive makes the active cell the one that Tab reaches, and gives it its
// whole sentence: numbers alone say little to who hears them.
function markActive() {
  const old = parts.tabbed, now = cellAt(active);
  if (old && old !== now) {
    old.tabIndex = -1;
    old.removeAttribute("aria-label");
  }
  parts.tabbed = now;
  if (!now) return;
  now.tabIndex = 0;
  if (active.row >= 0 && active.column > 0) {
    now.setAttribute("aria-label", now.textContent + ", " + cellText(data.nodes[order[active.row]], active.column - 1));
  }
}

// cellAt is the element of a position; row -1 is the line of the sources.
function cellAt(at) {
  if (at.row < 0) return at.column > 0 ? parts.heads[at.column - 1].firstChild : null;
  const row = pool.get(at.row);
  return row ? row.children[at.column] : null;
}

function positionOf(e) {
  const cell = e.closest ? e.closest('[role="gridcell"], [role="rowheader"], [role="columnheader"]') : null;
  if (!cell || !parts.grid.contains(cell)) return null;
  const row = cell.parentElement, column = Number(cell.getAttribute("aria-colindex")) - 1;
  return { row: row.dataset.at === undefined ? -1 : Number(row.dataset.at), column: column };
}

function describe(at) {
  if (at.row < 0 || at.row >= order.length) return;
  const node = data.nodes[order[at.row]];
  parts.detail.textContent = nodeText(node) + (at.column > 0 ? " – " + cellText(node, at.column - 1) : "");
}

function hover(e) {
  const at = positionOf(e.target);
  if (at) describe(at);
}

function click(e) {
  const sort = e.target.closest("[data-sort]");
  if (sort) sortBy(sort.dataset.sort);
}

function sortBy(source) {
  form.elements.sort.value = choice("sort") === source ? "name" : source;
  changed();
}

function key(e) {
  const at = positionOf(e.target);
  if (!at || e.altKey || e.metaKey) return;
  const page = Math.max(1, Math.floor(parts.scroller.clientHeight / ROW) - 2), last = data.sources.length;
  let row = at.row, column = at.column;
  switch (e.key) {
    case "ArrowUp": row--; break;
    case "ArrowDown": row++; break;
    case "ArrowLeft": column--; break;
    case "ArrowRight": column++; break;
    case "PageUp": row = Math.max(0, row - page); break;
    case "PageDown": row += page; break;
    case "Home": column = 0; if (e.ctrlKey) row = 0; break;
    case "End": column = last; if (e.ctrlKey) row = order.length - 1; break;
    case "Enter": case " ":
      if (at.row < 0) return; // the button acts by itself
      e.preventDefault();
      pool.get(at.row).querySelector("a").click();
      return;
    default: return;
  }
  e.preventDefault();
  move(Math.min(order.length - 1, Math.max(-1, row)), Math.min(last, Math.max(row < 0 ? 1 : 0, column)));
}

// move brings a cell into view and focuses it.
function move(row, column) {
  active = { row: row, column: column };
  if (row >= 0) {
    const s = parts.scroller, top = row * ROW;
    if (top < s.scrollTop) s.scrollTop = top;
    if (top + ROW + HEAD > s.scrollTop + s.clientHeight) s.scrollTop = top + ROW + HEAD - s.clientHeight;
    draw();
  }
  const cell = cellAt(active);
  markActive();
  if (cell) cell.focus({ preventScroll: row >= 0 && column === 0 });
}

// The small map: one column per source, all nodes from top to bottom, the
// least room of the nodes that share a line.
function drawMini() {
  const measure = choice("measure");
  const shade = (row, column) => {
    const v = room(data.nodes[order[row]], column, measure);
    return v === null ? -1 : level(v);
  };
  raster(parts.mini, order.length, data.sources.length, shade, colours());
  frameMini();
}

// colours are those of the cells, as the page shows them now.
function colours() {
  return Array.from({ length: LEVELS }, (_, k) => {
    const cell = el("span", { class: "heat-" + k, hidden: true });
    place.append(cell);
    const colour = getComputedStyle(cell).backgroundColor;
    cell.remove();
    return colour;
  });
}

// frameMini marks on the small map what is in view.
function frameMini() {
  const s = parts.scroller, total = Math.max(1, order.length * ROW), height = parts.mini.clientHeight;
  parts.window.style.height = Math.max(6, Math.min(1, (s.clientHeight - HEAD) / total) * height) + "px";
  parts.window.style.transform = "translateY(" + s.scrollTop / total * height + "px)";
}

function jump(e) {
  const box = parts.mini.getBoundingClientRect(), s = parts.scroller;
  s.scrollTop = (e.clientY - box.top) / box.height * order.length * ROW - s.clientHeight / 2;
}

// render draws everything anew from data and form.
function render() {
  arrange();
  parts.count.textContent = order.length + " of " + data.nodes.length + " nodes";
  parts.grid.setAttribute("aria-rowcount", String(order.length + 1));
  parts.grid.setAttribute("aria-colcount", String(data.sources.length + 1));
  parts.space.style.height = order.length * ROW + "px";
  active.row = Math.min(active.row, order.length - 1);
  if (active.row < 0 && !parts.grid.contains(document.activeElement)) active = { row: 0, column: 0 };
  const key = choice("sort");
  parts.heads.forEach((h, i) => {
    const sorted = data.sources[i].source === key;
    h.setAttribute("aria-sort", sorted ? "ascending" : "none");
    h.firstChild.textContent = data.sources[i].source.replace("_", " ") + (sorted ? " ▲" : "");
  });
  draw(true);
  drawMini();
}

function changed() {
  render();
  const query = new URLSearchParams(new FormData(form));
  history.replaceState(null, "", "?" + query);
}

function sameSources(next) {
  return data && next.sources.map((s) => s.source).join() === data.sources.map((s) => s.source).join();
}

async function read() {
  const answer = await fetch(place.dataset.source, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error("the placer answers " + answer.status);
  const next = await answer.json(), rebuild = !sameSources(next);
  data = next;
  if (rebuild) { pool.clear(); free = []; build(); }
  place.hidden = false;
  document.getElementById("heat-table").hidden = true;
  form.querySelector("button[type=submit]").hidden = true;
  render();
}

async function start() {
  await read();
  document.body.dataset.live = "own"; // refresh.js leaves this page to us
  form.addEventListener("input", later(changed));
  form.addEventListener("submit", (e) => { e.preventDefault(); changed(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later(drawMini));
  addEventListener("resize", later(draw));
  const seconds = Number(document.body.dataset.refresh), live = document.querySelector(".live");
  if (!(seconds > 0)) return;
  setInterval(() => {
    if (document.hidden) return;
    read().then(() => { live.textContent = ""; }, () => { live.textContent = "The placer does not answer; this map may be old."; });
  }, seconds * 1000);
}
if (place && form) start().catch(() => { place.hidden = true; }); // the table stays
