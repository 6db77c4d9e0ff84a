// What job and client pages share.
import { el, track } from "./chart.js";
import { known, number, UNKNOWN } from "./units.js";

// estimate is a score in words: "35 (30–41), measured".
function estimate(e) {
  if (!e || !known(e.score)) return UNKNOWN;
  let text = number(e.score);
  if (known(e.low) && known(e.high) && e.high > e.low) text += " (" + number(e.low) + "–" + number(e.high) + ")";
  return text;
}

function cell(e, kind) {
  return [
    track(e, kind),
    el("span", { class: known(e && e.score) ? "placer-value" : "placer-value placer-muted" }, estimate(e)),
    e && e.origin && known(e.score) && el("span", { class: "placer-origin" }, e.origin),
    e && e.note && el("span", { class: "placer-note" }, e.note),
  ];
}

// table is a table with a caption, column headings and rows of cells. The first
// cell of a row is its heading. Columns are {title, num}.
export function table(caption, columns, rows) {
  return el("div", { class: "placer-scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", {}, caption),
      el("thead", {}, el("tr", {}, columns.map((c) => el("th", { scope: "col", class: c.num && "placer-num" }, c.title)))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.class }, row.cells.map((cell, i) =>
        el(i === 0 ? "th" : "td", { scope: i === 0 && "row", class: columns[i].num && "placer-num" }, cell)))))));
}

// scores are two scores for every source there is: those that are not known stay
// visible as unknown. first and second are {title, kind, scores}.
export function scores(caption, sources, first, second) {
  const rows = sources.map((s) => ({
    cells: [
      [el("span", {}, s.Title), " ", el("code", {}, s.Source)],
      cell((first.scores || {})[s.Source], first.kind),
      cell((second.scores || {})[s.Source], second.kind),
    ],
  }));
  return table(caption, [{ title: "Source" }, { title: first.title }, { title: second.title }], rows);
}

export const badge = (text, kind) => el("span", { class: "placer-badge placer-" + kind }, text);

export const note = (text, kind) => el("p", { class: "placer-notice placer-" + (kind || "plain"), role: "note" }, text);

// cards are [title, value, more] each.
export function cards(list) {
  return el("dl", { class: "placer-cards" }, list.map(([title, value, more]) =>
    el("div", {}, el("dt", {}, title), el("dd", {}, value), more && el("dd", { class: "placer-muted" }, more))));
}

export function section(title, ...children) {
  return el("section", { class: "placer-section", "aria-label": title }, el("h3", {}, title), children);
}

// nodeLink leads to Nomad's own page of a client.
export const nodeLink = (id, name) => el("a", { href: "/ui/clients/" + encodeURIComponent(id) }, name || String(id).slice(0, 8));

export function jobLink(w) {
  return el("a", { href: "/ui/jobs/" + encodeURIComponent(w.job + "@" + w.namespace) + "#placement" }, w.namespace + "/" + w.job + "/" + w.group);
}
