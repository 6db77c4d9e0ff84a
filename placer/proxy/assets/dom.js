// Elements. Text only ever becomes a text node or an attribute value, so names
// that people chose cannot become markup.
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

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

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
