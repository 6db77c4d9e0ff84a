// Draws the heat map of all nodes in place of the table that is served in
// parts: a grid whose rows exist only while they are in view, a small map of the
// whole cluster beside it, and filters that act at once. Without it the table,
// its form and its links do the same.
(function () {
  "use strict";
  var ROW = 26;        // height of a row, pixels; as in style.css
  var HEAD = 38;       // height of the line of the sources
  var SPARE = 6;       // rows kept above and below the ones in view
  var LEVELS = 5;      // steps of the scale
  var place = document.getElementById("heat-map");
  var form = document.getElementById("heat-form");
  if (!place || !form) return;

  var data = null;     // as served by /v1/heat
  var order = [];      // indices of data.nodes, filtered and sorted
  var active = { row: 0, column: 0 }; // the cell the keyboard is at; column 0 is the name
  var pool = new Map(); // position in order -> element of a row in view
  var free = [];
  var parts = {};

  function make(tag, attributes, parent) {
    var e = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (k) { e.setAttribute(k, attributes[k]); });
    if (parent) parent.append(e);
    return e;
  }

  function choice(name) { return form.elements[name].value; }

  // room is what a newcomer has left by the measure, or null.
  function room(node, i, measure) {
    var h = node.headroom[i], p = node.pressure[i];
    if (measure === "headroom") return h;
    if (p === null) return null;
    if (measure === "pressure") return 100 - p;
    return h === null ? null : Math.min(h, 100 - p);
  }

  function level(value) { return LEVELS - 1 - Math.min(LEVELS - 1, Math.floor(value * LEVELS / 100)); }

  function show(v) { return v === null ? "?" : String(Math.round(v)); }

  function say(v) { return v === null ? "unknown" : v + " percent"; }

  function cellText(node, i) {
    return data.sources[i].title + ": headroom " + say(node.headroom[i]) + ", pressure " + say(node.pressure[i]);
  }

  function nodeText(node) {
    return node.name + ", class " + (node.class || "none") + ", configuration " + (node.configuration || "unknown") + ", " +
      node.residents + (node.residents === 1 ? " resident" : " residents") +
      (node.assumed ? ", scores assumed for " + node.assumed : "") + (node.ready ? "" : ", not ready");
  }

  function arrange() {
    var query = choice("q").trim().toLowerCase(), group = choice("class");
    var key = choice("sort"), measure = choice("measure");
    order = [];
    data.nodes.forEach(function (n, i) {
      if (group && group !== n.class && !(group === "(none)" && !n.class)) return;
      if (query && ![n.name, n.id, n.configuration].some(function (s) { return s.toLowerCase().includes(query); })) return;
      order.push(i);
    });
    var column = data.sources.findIndex(function (s) { return s.source === key; });
    if (column < 0 && key !== "tightest") return;
    var rank = data.nodes.map(function (n) {
      if (column >= 0) { var v = room(n, column, measure); return v === null ? Infinity : v; }
      return data.sources.reduce(function (least, _, i) {
        var v = room(n, i, measure);
        return v !== null && v < least ? v : least;
      }, Infinity);
    });
    order.sort(function (a, b) { return rank[a] - rank[b] || a - b; });
  }

  // build makes everything that does not depend on what is shown.
  function build() {
    place.replaceChildren();
    parts.count = make("p", { class: "muted", role: "status" }, place);
    var frame = make("div", { class: "map" }, place);
    parts.grid = make("div", { class: "grid", role: "grid", "aria-label": "Nodes and sources of interference" }, frame);
    parts.grid.setAttribute("aria-describedby", "heat-keys");
    parts.scroller = make("div", { class: "grid-scroll" }, parts.grid);
    var head = make("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": "1" }, parts.scroller);
    make("div", { class: "grid-name", role: "columnheader", "aria-colindex": "1" }, head).textContent = "Node";
    parts.heads = data.sources.map(function (s, i) {
      var h = make("div", { class: "grid-cell", role: "columnheader", "aria-colindex": String(i + 2) }, head);
      var b = make("button", { type: "button", tabindex: "-1", "data-sort": s.source, title: "sort by " + s.title }, h);
      b.textContent = s.source.replace("_", " ");
      return h;
    });
    parts.space = make("div", { class: "grid-space", role: "rowgroup" }, parts.scroller);
    var mini = make("div", { class: "minimap", "aria-hidden": "true" }, frame);
    parts.mini = make("canvas", { width: String(data.sources.length * 5), height: "560" }, mini);
    parts.window = make("div", { class: "minimap-window" }, mini);
    parts.detail = make("p", { class: "map-detail", "aria-hidden": "true" }, place);
    make("p", { class: "muted", id: "heat-keys" }, place).textContent =
      "Arrow keys, Page Up, Page Down, Home and End move between cells; Enter opens the node, or sorts by the source in the first line.";
    parts.grid.style.setProperty("--columns", String(data.sources.length));
    parts.scroller.addEventListener("scroll", later(draw), { passive: true });
    parts.grid.addEventListener("pointerover", hover);
    parts.grid.addEventListener("keydown", key);
    parts.grid.addEventListener("click", click);
    parts.grid.addEventListener("focusin", function (e) {
      var at = positionOf(e.target);
      if (at) { active = at; markActive(); describe(at); }
    });
    parts.mini.addEventListener("pointerdown", function (e) { parts.mini.setPointerCapture(e.pointerId); jump(e); });
    parts.mini.addEventListener("pointermove", function (e) { if (e.buttons) jump(e); });
  }

  // later runs f once before the next frame, however often it is called.
  function later(f) {
    var asked = false;
    return function () {
      if (asked) return;
      asked = true;
      requestAnimationFrame(function () { asked = false; f(); });
    };
  }

  function newRow() {
    var row = make("div", { class: "grid-row", role: "row" }, parts.space);
    var name = make("div", { class: "grid-name", role: "rowheader", "aria-colindex": "1", tabindex: "-1" }, row);
    make("a", { tabindex: "-1" }, name);
    data.sources.forEach(function (_, i) {
      make("div", { role: "gridcell", "aria-colindex": String(i + 2), tabindex: "-1" }, row).append("");
    });
    return row;
  }

  function fill(row, at, measure) {
    var node = data.nodes[order[at]];
    row.style.transform = "translateY(" + at * ROW + "px)";
    row.setAttribute("aria-rowindex", String(at + 2));
    row.dataset.at = String(at);
    var link = row.firstChild.firstChild;
    link.textContent = node.name + (node.assumed ? " *" : "") + (node.ready ? "" : " (not ready)");
    link.href = place.dataset.node + encodeURIComponent(node.id);
    for (var i = 0; i < data.sources.length; i++) {
      var cell = row.children[i + 1], v = room(node, i, measure);
      var kind = "grid-cell cell " + (v === null ? "unknown" : "heat-" + level(v)) + (node.assumed ? " assumed" : "");
      if (cell.className !== kind) cell.className = kind;
      cell.firstChild.data = show(node.headroom[i]) + "/" + show(node.pressure[i]);
    }
  }

  // draw puts the rows in view on the page; all says that their content changed.
  function draw(all) {
    var top = parts.scroller.scrollTop, measure = choice("measure");
    var from = Math.max(0, Math.floor(top / ROW) - SPARE);
    var to = Math.min(order.length, Math.ceil((top + parts.scroller.clientHeight) / ROW) + SPARE);
    pool.forEach(function (row, at) {
      // The row that has the focus stays, or the focus would be lost.
      if ((at < from || at >= to || at >= order.length) && !(row.contains(document.activeElement) && at < order.length)) {
        pool.delete(at);
        free.push(row);
      }
    });
    for (var at = from; at < to; at++) {
      var row = pool.get(at), isNew = !row;
      if (isNew) { row = free.pop() || newRow(); row.hidden = false; pool.set(at, row); }
      if (isNew || all === true) fill(row, at, measure);
    }
    free.forEach(function (row) { row.hidden = true; });
    markActive();
    frameMini();
  }

  // markActive makes the active cell the one that Tab reaches, and gives it its
  // whole sentence: numbers alone say little to who hears them.
  function markActive() {
    var old = parts.tabbed, now = cellAt(active);
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
    var row = pool.get(at.row);
    return row ? row.children[at.column] : null;
  }

  function positionOf(e) {
    var cell = e.closest ? e.closest('[role="gridcell"], [role="rowheader"], [role="columnheader"]') : null;
    if (!cell || !parts.grid.contains(cell)) return null;
    var row = cell.parentElement, column = Number(cell.getAttribute("aria-colindex")) - 1;
    return { row: row.dataset.at === undefined ? -1 : Number(row.dataset.at), column: column };
  }

  function describe(at) {
    if (at.row < 0 || at.row >= order.length) return;
    var node = data.nodes[order[at.row]];
    parts.detail.textContent = nodeText(node) + (at.column > 0 ? " – " + cellText(node, at.column - 1) : "");
  }

  function hover(e) {
    var at = positionOf(e.target);
    if (at) describe(at);
  }

  function click(e) {
    var sort = e.target.closest("[data-sort]");
    if (sort) sortBy(sort.dataset.sort);
  }

  function sortBy(source) {
    form.elements.sort.value = choice("sort") === source ? "name" : source;
    changed();
  }

  function key(e) {
    var at = positionOf(e.target);
    if (!at || e.altKey || e.metaKey) return;
    var page = Math.max(1, Math.floor(parts.scroller.clientHeight / ROW) - 2), last = data.sources.length;
    var row = at.row, column = at.column;
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
      var s = parts.scroller, top = row * ROW;
      if (top < s.scrollTop) s.scrollTop = top;
      if (top + ROW + HEAD > s.scrollTop + s.clientHeight) s.scrollTop = top + ROW + HEAD - s.clientHeight;
      draw();
    }
    var cell = cellAt(active);
    markActive();
    if (cell) cell.focus({ preventScroll: row >= 0 && column === 0 });
  }

  // The small map: one column per source, all nodes from top to bottom, the
  // least room of the nodes that share a line.
  function drawMini() {
    var c = parts.mini, g = c.getContext("2d"), style = getComputedStyle(document.documentElement);
    var colors = [];
    for (var k = 0; k < LEVELS; k++) colors.push(style.getPropertyValue("--heat-" + k).trim());
    var measure = choice("measure"), width = c.width / data.sources.length;
    var lines = Math.min(order.length, c.height), height = lines ? c.height / lines : 0;
    var per = lines ? order.length / lines : 0;
    g.clearRect(0, 0, c.width, c.height);
    for (var line = 0; line < lines; line++) {
      for (var i = 0; i < data.sources.length; i++) {
        var least = null;
        for (var at = Math.floor(line * per); at < Math.max(Math.floor((line + 1) * per), Math.floor(line * per) + 1); at++) {
          var v = room(data.nodes[order[at]], i, measure);
          if (v !== null && (least === null || v < least)) least = v;
        }
        if (least === null) continue;
        g.fillStyle = colors[level(least)];
        g.fillRect(i * width, line * height, Math.ceil(width), Math.ceil(height));
      }
    }
    frameMini();
  }

  // frameMini marks on the small map what is in view.
  function frameMini() {
    var s = parts.scroller, total = Math.max(1, order.length * ROW), height = parts.mini.clientHeight;
    parts.window.style.height = Math.max(6, Math.min(1, (s.clientHeight - HEAD) / total) * height) + "px";
    parts.window.style.transform = "translateY(" + s.scrollTop / total * height + "px)";
  }

  function jump(e) {
    var box = parts.mini.getBoundingClientRect(), s = parts.scroller;
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
    var key = choice("sort");
    parts.heads.forEach(function (h, i) {
      var sorted = data.sources[i].source === key;
      h.setAttribute("aria-sort", sorted ? "ascending" : "none");
      h.firstChild.textContent = data.sources[i].source.replace("_", " ") + (sorted ? " ▲" : "");
    });
    draw(true);
    drawMini();
  }

  function changed() {
    render();
    var query = new URLSearchParams(new FormData(form));
    history.replaceState(null, "", "?" + query);
  }

  function sameSources(next) {
    return data && next.sources.map(function (s) { return s.source; }).join() === data.sources.map(function (s) { return s.source; }).join();
  }

  async function read() {
    var answer = await fetch(place.dataset.source, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error("the placer answers " + answer.status);
    var next = await answer.json(), rebuild = !sameSources(next);
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
    form.addEventListener("submit", function (e) { e.preventDefault(); changed(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later(drawMini));
    addEventListener("resize", later(draw));
    var seconds = Number(document.body.dataset.refresh), live = document.querySelector(".live");
    if (!(seconds > 0)) return;
    setInterval(function () {
      if (document.hidden) return;
      read().then(function () { live.textContent = ""; }, function () { live.textContent = "The placer does not answer; this map may be old."; });
    }, seconds * 1000);
  }
  start().catch(function () { place.hidden = true; }); // the table stays
})();
