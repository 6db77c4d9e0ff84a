// The "Placement" tab on Nomad's own job and client pages. It adds one item to
// their tabs and one section below, and takes both away again. It changes nothing
// of Nomad's: whatever fails here leaves the page as it was.
import { ask } from "./api.js";
import { el } from "./chart.js";
import { view as jobView } from "./job.js";
import { view as nodeView } from "./node.js";

const HASH = "#placement";
const REFRESH_MS = 5000;
const PANEL_ID = "placer-panel";

// pageOf says which of Nomad's pages an address is, or null. base is the path that
// its tabs begin with.
export function pageOf(pathname) {
  const parts = pathname.split("/");
  if (parts[1] !== "ui" || !parts[3]) return null;
  let name;
  try {
    name = decodeURIComponent(parts[3]);
  } catch {
    return null; // not an address of Nomad's
  }
  if (parts[2] === "clients") {
    return { kind: "client", title: name, base: parts.slice(0, 4).join("/"), path: "/placer-tab/node/" + encodeURIComponent(name), view: nodeView };
  }
  if (parts[2] !== "jobs" || name === "run") return null;
  const at = name.lastIndexOf("@");
  const job = at < 0 ? name : name.slice(0, at), namespace = at < 0 ? "default" : name.slice(at + 1);
  if (!job || !namespace) return null;
  return {
    kind: "job", title: job, base: parts.slice(0, 4).join("/"),
    path: "/placer-tab/job/" + encodeURIComponent(namespace) + "/" + encodeURIComponent(job), view: jobView,
  };
}

const asked = (place) => place.hash === HASH || new URLSearchParams(place.search).has("placement");

// samePath: Nomad's UI writes @ in links where an address may have %40.
function samePath(a, b) {
  try {
    return decodeURIComponent(a) === decodeURIComponent(b);
  } catch {
    return a === b;
  }
}

// A link to the tab may lose its hash while Nomad's UI starts.
let wanted = asked(location) ? (pageOf(location.pathname) || {}).base : null;
let panel = null; // {page, node, body, timer, shown}
let scheduled = false;

// tabsOf finds the tabs of the page shown. Pages below a job's, as those of a
// group, have tabs of their own.
function tabsOf(page) {
  for (const list of document.querySelectorAll(".tabs.is-subnav > ul")) {
    for (const link of list.querySelectorAll("li:not([data-placer-tab]) > a[href]")) {
      if (samePath(new URL(link.href, location.href).pathname, page.base)) return list;
    }
  }
  return null;
}

function sync() {
  scheduled = false;
  try {
    const page = pageOf(location.pathname);
    const list = page && tabsOf(page);
    if (!list) {
      remove();
      return;
    }
    if (wanted === page.base) {
      wanted = null;
      if (location.hash !== HASH) setOpen(true, "replaceState");
    }
    const item = itemIn(list, page);
    const open = asked(location);
    list.toggleAttribute("data-placer-open", open);
    const link = item.firstElementChild;
    link.classList.toggle("is-active", open);
    if (open) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (open) show(page, list);
    else hide();
  } catch (e) {
    fail(e);
  }
}

function schedule() {
  if (scheduled) return;
  scheduled = true;
  queueMicrotask(sync);
}

// itemIn returns our item of the tabs, made anew where Nomad's UI made the tabs
// anew.
function itemIn(list, page) {
  let item = list.querySelector(":scope > [data-placer-tab]");
  if (item && item.dataset.placerTab !== page.base) {
    item.remove();
    item = null;
  }
  if (!item) {
    // A whole address: Nomad's keyboard shortcuts read the tabs' links.
    const link = el("a", { href: page.base + HASH, class: "placer-tab" }, "Placement");
    item = el("li", { "data-placer-tab": page.base }, link);
    list.append(item);
    list.addEventListener("click", clicked);
  }
  return item;
}

// clicked: ours opens. The one that Nomad's UI shows already only closes ours;
// any other one changes the address, and with it what is shown.
function clicked(event) {
  const link = event.target.closest("a");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  try {
    if (link.closest("[data-placer-tab]")) {
      event.preventDefault();
      if (!asked(location)) setOpen(true, "pushState");
      if (panel) panel.node.focus();
    } else if (asked(location) && samePath(new URL(link.href, location.href).pathname, location.pathname)) {
      setOpen(false, "replaceState");
    }
  } catch (e) {
    fail(e);
  }
}

// setOpen changes only the end of the address, and keeps the state in which
// Nomad's UI remembers its own part.
function setOpen(open, how) {
  const query = new URLSearchParams(location.search);
  query.delete("placement");
  const search = query.toString();
  history[how](history.state, "", location.pathname + (search ? "?" + search : "") + (open ? HASH : ""));
  sync();
}

function show(page, list) {
  const tabs = list.parentElement, place = tabs.parentElement;
  if (panel && panel.page.base !== page.base) hide();
  if (!panel) {
    const body = el("div", { class: "placer-body", "aria-busy": "true" }, el("p", { class: "placer-muted" }, "Reading the placer's records …"));
    const node = el("section", { id: PANEL_ID, class: "placer-panel", tabindex: "-1", role: "region", "aria-label": "Placement of " + page.title },
      el("h1", { class: "title" }, "Placement"), body);
    panel = { page, node, body, shown: "", place };
    load(panel);
  }
  if (panel.node.previousSibling !== tabs) tabs.after(panel.node);
  place.setAttribute("data-placer-open", "");
  panel.place = place;
  theme(panel.node);
}

// theme follows the page behind: Nomad's UI has no switch that we could ask.
function theme(node) {
  const colour = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g) || [];
  const [r, g, b, a] = colour.map(Number);
  const dark = colour.length >= 3 && a !== 0 && 0.299 * r + 0.587 * g + 0.114 * b < 110;
  const name = dark ? "dark" : "light";
  if (node.dataset.theme !== name) node.dataset.theme = name;
}

function hide() {
  for (const place of document.querySelectorAll("[data-placer-open]:not(ul)")) place.removeAttribute("data-placer-open");
  if (!panel) return;
  clearTimeout(panel.timer);
  panel.node.remove();
  panel = null;
}

function remove() {
  hide();
  for (const item of document.querySelectorAll("[data-placer-tab]")) item.remove();
  for (const list of document.querySelectorAll("ul[data-placer-open]")) list.removeAttribute("data-placer-open");
}

// load reads the records again and again while they are looked at.
async function load(p) {
  try {
    if (!document.hidden || !p.shown) {
      const record = await ask(p.page.path);
      if (panel !== p) return;
      draw(p, record);
    }
  } catch (e) {
    if (panel !== p) return;
    p.shown = "";
    p.body.replaceChildren(el("p", { class: "placer-notice placer-warn", role: "alert" }, e.message));
  }
  p.body.setAttribute("aria-busy", "false");
  if (panel === p) p.timer = setTimeout(() => load(p), REFRESH_MS);
}

// draw shows a record, unless it is the one shown, or somebody fills in a form:
// what is open stays open.
function draw(p, record) {
  const text = JSON.stringify(record);
  const busy = p.body.contains(document.activeElement) && document.activeElement.matches("input, button");
  if (text === p.shown || (busy && p.shown)) return;
  const open = new Map([...p.body.querySelectorAll("details[data-key]")].map((d) => [d.dataset.key, d.open]));
  const focused = p.body.contains(document.activeElement) ? [...p.body.querySelectorAll("a, summary, [tabindex]")].indexOf(document.activeElement) : -1;
  const view = p.page.view(record, ask);
  p.body.replaceChildren(...[view].flat(Infinity).filter((n) => n instanceof Node));
  p.shown = text;
  for (const d of p.body.querySelectorAll("details[data-key]")) if (open.has(d.dataset.key)) d.open = open.get(d.dataset.key);
  if (focused >= 0) [...p.body.querySelectorAll("a, summary, [tabindex]")][focused]?.focus({ preventScroll: true });
  if (!p.body.dataset.ready) {
    p.body.dataset.ready = "true";
    performance.mark("placer-first-content");
  }
}

// fail takes everything of ours off the page and stays off it.
function fail(e) {
  observer.disconnect();
  window.removeEventListener("popstate", schedule);
  window.removeEventListener("hashchange", schedule);
  try {
    remove();
  } finally {
    console.debug("nomad-placer: the placement tab was taken off the page", e);
  }
}

const observer = new MutationObserver(schedule);
observer.observe(document.documentElement, { childList: true, subtree: true });
window.addEventListener("popstate", schedule);
window.addEventListener("hashchange", schedule);
// A change of address without a change of the page is seen where the browser
// tells of it.
window.navigation?.addEventListener("currententrychange", schedule);
schedule();
