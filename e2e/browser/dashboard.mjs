// Walks the placer's own pages as a person would and prints what it found as
// JSON: errors of the console, violations of the content security policy,
// findings of axe-core in light and dark, what the heat map does under keys,
// pointer, filters and scrolling, and how long its frames took by the browser's
// own tracing.
//
// usage: node dashboard.mjs BASE_URL JOB_PATH PROFILE_PATH NODE_PATH
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { start } from "./chromium.mjs";

const [base, job, profile, node] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const paths = ["", "heat", "heat?sort=mem_bw&class=fast", "targets", "log", "policies", "profiles", profile, node, job,
  job + "?whatif=1&policy=quasar&target=25000", job + "?whatif=1&target=much", "nowhere"];

const browser = await start();
const report = { pages: [], plain: {}, heat: {}, frames: {}, failure: "" };

// watch collects what a page complains of.
async function watch(page, errors) {
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => console.error("policy: " + e.violatedDirective + " " + e.blockedURI));
  });
}

async function check(path, colorScheme) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage(), errors = [];
  await watch(page, errors);
  await page.goto(base + path, { waitUntil: "networkidle" });
  await page.evaluate(axe); // not subject to the page's policy
  const result = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const findings = result.violations.map((v) => ({
    id: v.id, impact: v.impact, help: v.help, count: v.nodes.length,
    where: v.nodes.slice(0, 3).map((n) => n.target.join(" ") + ": " + (n.any[0]?.message || n.all[0]?.message || "")),
  }));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  report.pages.push({ path, colorScheme, errors, findings, sideways: Math.max(0, wide), images: await brokenImages(page) });
  await context.close();
}

const brokenImages = (page) => page.evaluate(() => [...document.images].filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.src));

// withoutScripts reads the heat map as a browser without scripts shows it.
async function withoutScripts() {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(base + "heat");
  report.plain.rows = await page.locator("#heat-table tbody tr").count();
  await page.locator("#heat-form input[name=q]").fill("fast-0000");
  await page.locator("#heat-form button").click();
  report.plain.found = await page.locator("#heat-table tbody th").allInnerTexts();
  await context.close();
}

const focused = (page) => page.evaluate(() => {
  const e = document.activeElement;
  return { role: e.getAttribute("role"), label: e.getAttribute("aria-label"), column: e.getAttribute("aria-colindex"),
    row: e.parentElement.getAttribute("aria-rowindex"), text: e.innerText };
});

async function heatMap() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } }), errors = [];
  await watch(page, errors);
  await page.goto(base + "heat", { waitUntil: "networkidle" });
  const h = report.heat;
  h.counted = await page.locator("#heat-map [role=status]").innerText();
  h.rowCount = await page.locator("[role=grid]").getAttribute("aria-rowcount");
  h.columnCount = await page.locator("[role=grid]").getAttribute("aria-colcount");
  h.rowsInView = await page.locator(".grid-space .grid-row:visible").count();
  h.tableHidden = await page.locator("#heat-table").isHidden();

  const name = page.locator(".grid-row[data-at='0'] [role=rowheader]");
  await name.focus();
  for (const key of ["ArrowRight", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  h.afterArrows = await focused(page);
  await page.keyboard.press("Control+End");
  h.afterEnd = await focused(page);
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("PageDown");
  h.afterPage = await focused(page);

  await page.locator(".grid-row[data-at='15'] > :nth-child(4)").hover();
  h.hovered = await page.locator(".map-detail").innerText();

  await page.locator("select[name=sort]").selectOption("llc_cap");
  h.sorted = await page.evaluate(() => [...document.querySelectorAll(".grid-space .grid-row:not([hidden])")]
    .sort((a, b) => a.dataset.at - b.dataset.at).slice(0, 8).map((r) => r.children[6].innerText));
  h.sortedHead = await page.locator("[aria-sort=ascending]").innerText();
  await page.locator("#heat-form input[name=q]").fill("slow-");
  await page.waitForFunction(() => location.search.includes("q=slow-"));
  h.filtered = await page.locator("#heat-map [role=status]").innerText();
  h.address = page.url();
  await page.reload({ waitUntil: "networkidle" });
  h.afterReload = await page.locator("#heat-map [role=status]").innerText();
  await page.locator("#heat-form input[name=q]").fill("");
  await page.locator(".grid-row[data-at='0'] [role=rowheader]").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/node\//);
  h.opened = await page.locator("h1").innerText();
  h.errors = errors;
  await page.close();
}

// measureFrames moves the pointer over the map and scrolls it while the browser
// traces itself.
async function measureFrames() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  await page.goto(base + "heat?sort=tightest", { waitUntil: "networkidle" });
  const box = await page.locator(".grid-scroll").boundingBox();
  await browser.startTracing(page, { categories: ["devtools.timeline", "toplevel", "input", "benchmark", "latencyInfo", "disabled-by-default-devtools.timeline"] });
  for (let i = 0; i < 120; i++) {
    await page.mouse.move(box.x + 150 + (i * 37) % (box.width - 180), box.y + 50 + (i * 53) % (box.height - 90));
  }
  for (let i = 0; i < 120; i++) await page.mouse.wheel(0, i < 80 ? 120 : -120); // a notch
  for (let i = 0; i < 20; i++) { // jumps: every row in view changes
    await page.evaluate((i) => { const s = document.querySelector(".grid-scroll"); s.scrollTop = (i * 7919 % 97) / 97 * s.scrollHeight; }, i);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await page.waitForTimeout(200);
  const trace = JSON.parse((await browser.stopTracing()).toString());
  report.frames = summary(trace.traceEvents || trace);
  report.frames.scrolled = await page.evaluate(() => document.querySelectorAll(".grid-space .grid-row:not([hidden])").length);
  await page.close();
}

// summary reads a trace: tasks of the page's main thread, and the time from an
// input to the frame that shows its effect.
function summary(events) {
  const main = new Set(events.filter((e) => e.ph === "M" && e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => e.pid + "/" + e.tid));
  const busiest = new Map();
  for (const e of events) {
    const thread = e.pid + "/" + e.tid;
    if (e.ph === "X" && e.name === "RunTask" && main.has(thread)) {
      if (!busiest.has(thread)) busiest.set(thread, []);
      busiest.get(thread).push(e.dur / 1000);
    }
  }
  const tasks = [...busiest.values()].sort((a, b) => b.length - a.length)[0] || [];
  const latency = {}, open = new Map();
  for (const e of events.filter((e) => e.name === "EventLatency" && (e.ph === "b" || e.ph === "e")).sort((a, b) => a.ts - b.ts)) {
    const id = e.pid + "/" + (e.id || JSON.stringify(e.id2));
    if (e.ph === "b") open.set(id, e);
    else if (open.has(id)) {
      const begin = open.get(id), kind = begin.args?.event_latency?.event_type || e.args?.event_latency?.event_type || "other";
      (latency[kind] ||= []).push((e.ts - begin.ts) / 1000);
      open.delete(id);
    }
  }
  const out = { mainThreadTaskMs: quantiles(tasks), inputToFrameMs: {} };
  for (const kind of Object.keys(latency)) out.inputToFrameMs[kind] = quantiles(latency[kind]);
  return out;
}

function quantiles(v) {
  v.sort((a, b) => a - b);
  const at = (q) => (v.length ? Number(v[Math.min(v.length - 1, Math.floor(q * v.length))].toFixed(1)) : null);
  return { count: v.length, median: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

try {
  for (const path of paths) for (const scheme of ["light", "dark"]) await check(path, scheme);
  await withoutScripts();
  await heatMap();
  await measureFrames();
} catch (e) {
  report.failure = String(e.stack || e);
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(report));
