// Drives Nomad's own web UI through the proxy and prints what a person would
// find on the placement tab, as JSON.
//
// usage: node tab.mjs '{"base": URL, "direct": URL, "job": ID, "hostile": ID, "node": ID, "token": SECRET, "shots": FOLDER}'
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const options = JSON.parse(process.argv[2]);
const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const profile = mkdtempSync(join(tmpdir(), "placer-browser-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: flags, viewport: { width: 1400, height: 1000 },
});
const out = { checks: {}, errors: [], directErrors: [], failure: "", text: "", clientText: "", firstContentMs: null };
const check = (name, ok, detail) => { out.checks[name] = ok ? "" : String(detail ?? "failed"); };
const within = { timeout: 30000 };

// watched is a page whose errors are kept: of the console, of scripts, and of the
// content security policy.
async function watched(errors) {
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && errors.push(m.text() + " @ " + new URL(m.location().url || "about:blank").pathname));
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.addInitScript((token) => {
    if (token && location.protocol.startsWith("http")) localStorage.setItem("nomadTokenSecret", token); // where Nomad's UI keeps it
    document.addEventListener("securitypolicyviolation", (e) => console.error("policy: " + e.violatedDirective + " " + e.blockedURI));
  }, options.token);
  return page;
}

const jobPath = (id, rest = "") => "/ui/jobs/" + encodeURIComponent(id + "@default") + rest;
const tab = (page) => page.locator(".tabs.is-subnav [data-placer-tab] a");
const ready = (page) => page.locator("#placer-panel [data-ready]").waitFor(within);
const texts = (page) => page.locator(".tabs.is-subnav li").allInnerTexts();

try {
  // What Nomad's UI says by itself is not ours.
  const direct = await watched(out.directErrors);
  for (const path of [jobPath(options.job), jobPath(options.job, "/definition"), "/ui/clients/" + options.node, "/ui/jobs"]) {
    await direct.goto(options.direct + path, { waitUntil: "domcontentloaded" });
    await direct.waitForTimeout(2500);
  }
  await direct.close();

  const page = await watched(out.errors);
  await page.goto(options.base + jobPath(options.job), { waitUntil: "domcontentloaded" });
  await tab(page).waitFor(within);
  check("tab beside Nomad's own", (await texts(page)).includes("Placement") && (await texts(page)).includes("Definition"), await texts(page));
  check("closed at first", (await page.locator("#placer-panel").count()) === 0);

  // A click, timed by the page itself.
  await page.evaluate(() => document.querySelector("[data-placer-tab] a").addEventListener("click", () => performance.mark("placer-click"), { capture: true, once: true }));
  await tab(page).click();
  await ready(page);
  out.firstContentMs = await page.evaluate(() => performance.getEntriesByName("placer-first-content")[0].startTime - performance.getEntriesByName("placer-click")[0].startTime);
  await page.waitForTimeout(1000);
  out.text = await page.locator("#placer-panel").innerText();
  check("deep link in the address", page.url().endsWith("#placement"), page.url());
  check("Nomad's part is hidden", (await page.locator("section.section:not(.placer-panel)").first().isVisible()) === false);
  check("said to be current", (await tab(page).getAttribute("aria-current")) === "page");
  check("charts are drawn", (await page.locator("#placer-panel svg.chart-svg").count()) > 0);
  check("what production has taught", (await page.locator("#placer-panel section[aria-label='In production']").count()) === 1);
  check("bars for every source", (await page.locator("#placer-panel section[aria-label^='Sensitivity'] tbody tr").count()) === 17);
  check("every chart has a name", (await page.locator("#placer-panel svg.chart-svg:not([aria-label]):not([aria-hidden])").count()) === 0);
  check("no rights are asked for in vain", (await page.locator("#placer-panel [role=alert]").count()) === 0);
  if (options.shots) await page.screenshot({ path: join(options.shots, "tab-job.png"), fullPage: true });

  // Nomad's own tabs, and back.
  await page.locator(".tabs.is-subnav a", { hasText: "Definition" }).click();
  await page.waitForURL(/\/definition/, within);
  await tab(page).waitFor(within);
  check("another tab closes it", (await page.locator("#placer-panel").count()) === 0);
  check("one tab only", (await page.locator("[data-placer-tab]").count()) === 1);
  check("another tab is visible", await page.locator("section.section").first().isVisible());
  await page.goBack();
  await ready(page);
  check("back opens it again", await page.locator("#placer-panel").isVisible());
  await page.locator(".tabs.is-subnav a", { hasText: "Overview" }).click();
  await page.waitForTimeout(500);
  check("the tab shown before closes it", (await page.locator("#placer-panel").count()) === 0 && await page.locator("section.section").first().isVisible());
  check("and takes the deep link away", !page.url().includes("#placement"), page.url());

  // By keyboard, and dark.
  await page.evaluate(() => { document.body.style.backgroundColor = "#111"; });
  await tab(page).focus();
  await page.keyboard.press("Enter");
  await ready(page);
  check("by keyboard", await page.locator("#placer-panel").isVisible());
  check("follows a dark page", (await page.locator("#placer-panel").getAttribute("data-theme")) === "dark");
  await page.evaluate(() => { document.body.style.backgroundColor = ""; });

  // Deep links.
  for (const link of [jobPath(options.job) + "#placement", jobPath(options.job) + "?placement", jobPath(options.job, "/versions") + "#placement"]) {
    await page.goto("about:blank");
    await page.goto(options.base + link, { waitUntil: "domcontentloaded" });
    await ready(page);
    check("deep link " + link.replace(options.job, "JOB"), page.url().endsWith("#placement"), page.url());
  }

  // A client.
  await page.goto("about:blank");
  await page.goto(options.base + "/ui/clients/" + options.node + "#placement", { waitUntil: "domcontentloaded" });
  await ready(page);
  await page.waitForTimeout(500);
  out.clientText = await page.locator("#placer-panel").innerText();
  check("bars of a client", (await page.locator("#placer-panel section[aria-label^='Pressure'] tbody tr").count()) === 17);
  if (options.shots) await page.screenshot({ path: join(options.shots, "tab-client.png"), fullPage: true });

  // Pages without tabs get none.
  await page.locator("a[href='/ui/jobs']").first().click();
  await page.waitForURL(/\/ui\/jobs(\?.*)?$/, within);
  await page.waitForTimeout(1000);
  check("none elsewhere", (await page.locator("[data-placer-tab], #placer-panel, [data-placer-open]").count()) === 0);

  // Names that would be markup are text.
  await page.goto(options.base + jobPath(options.hostile) + "#placement", { waitUntil: "domcontentloaded" });
  await ready(page);
  await page.waitForTimeout(1000);
  const label = await page.locator("#placer-panel").getAttribute("aria-label");
  check("a hostile name is text", label.includes(options.hostile) && (await page.evaluate(() => window.ran)) === undefined
    && (await page.locator("#placer-panel img").count()) === 0, label);
  check("a hostile group is text", (await page.locator("#placer-panel h2").first().innerText()).includes("<img"), await page.locator("#placer-panel h2").first().innerText());
  await page.close();

  // Where ours fails, Nomad's page stays as it was.
  const quiet = await watched([]);
  await quiet.route("**/placer-tab/job/**", (route) => route.fulfill({ status: 500, body: "broken" }));
  await quiet.goto(options.base + jobPath(options.job) + "#placement", { waitUntil: "domcontentloaded" });
  await quiet.locator("#placer-panel [role=alert]").waitFor(within);
  check("an error is told", (await quiet.locator("#placer-panel").innerText()).includes("broken"));
  await quiet.locator(".tabs.is-subnav a", { hasText: "Overview" }).click();
  check("and left behind", await quiet.locator("section.section").first().isVisible());
  await quiet.unroute("**/placer-tab/job/**");
  await quiet.route("**/placer-tab/job/**", (route) => route.fulfill({ status: 200, contentType: "application/json", body: '{"groups": 7}' }));
  await tab(quiet).click();
  await quiet.locator("#placer-panel [role=alert]").waitFor(within);
  check("nonsense is told", await quiet.locator("#placer-panel [role=alert]").isVisible());
  await quiet.unroute("**/placer-tab/job/**");
  await quiet.route("**/placer-tab/tab.js", (route) => route.abort());
  await quiet.goto("about:blank");
  await quiet.goto(options.base + jobPath(options.job), { waitUntil: "domcontentloaded" });
  await quiet.locator(".tabs.is-subnav").waitFor(within);
  check("without our script it is Nomad's page", await quiet.locator("section.section").first().isVisible() && (await quiet.locator("[data-placer-tab]").count()) === 0);
  await quiet.close();
} catch (e) {
  out.failure = String(e.stack || e);
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
process.stdout.write(JSON.stringify(out));
