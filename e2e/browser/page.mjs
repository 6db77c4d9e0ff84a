// Opens one page in headless Chromium and prints what a person would read on
// it, with the errors of its console, as JSON.
//
// usage: node page.mjs URL OUT.png WAIT_FOR_TEXT [TOKEN]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [url, png, waitFor, token] = process.argv.slice(2);
const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const profile = mkdtempSync(join(tmpdir(), "placer-browser-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath, headless: true, args: flags, viewport: { width: 1280, height: 1100 },
});
let failure = "";
const errors = [];
let text = "", brokenImages = [];
try {
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("pageerror", (e) => errors.push(String(e)));
  if (token) {
    // The Nomad UI keeps its token in local storage.
    await page.addInitScript((t) => localStorage.setItem("nomadTokenSecret", t), token);
  }
  await page.goto(url, { waitUntil: "domcontentloaded", timeout: 30000 });
  const login = page.locator("form[action$=login] input[name=token]"); // of the placer's own pages
  if (token && (await login.count()) > 0) {
    errors.length = 0; // the page that asks for a login is an answer 401
    await login.fill(token);
    await login.press("Enter");
  }
  await page.getByText(waitFor).first().waitFor({ timeout: 30000 });
  await page.waitForTimeout(1500); // images and charts load after the text
  text = await page.locator("body").innerText();
  brokenImages = await page.evaluate(() =>
    [...document.images].filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.src));
  await page.screenshot({ path: png, fullPage: true });
} catch (e) {
  failure = String(e);
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
process.stdout.write(JSON.stringify({ text, errors, brokenImages, failure }));
