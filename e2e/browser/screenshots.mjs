// Takes the pictures of placer/docs/dashboard.md.
//
// usage: node screenshots.mjs BASE_URL FOLDER
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { start } from "./chromium.mjs";

const [base, folder] = process.argv.slice(2);
const MOST_BYTES = 300 * 1024;
const job = "job/default/cache/redis";

// Each picture: its file, the page, the height shown, and what is done first.
const shots = [
  ["jobs", "", 760],
  ["heat-map", "heat?sort=tightest", 880, (page) => page.locator(".grid-row[data-at='3'] > :nth-child(5)").hover()],
  ["heat-map-dark", "heat?sort=llc_cap&measure=pressure", 880, (page) => page.locator(".grid-row[data-at='3'] > :nth-child(7)").hover(), "dark"],
  ["targets", "targets", 760],
  ["decisions", "log", 620],
  ["policies", "policies", 460],
  ["profiles", "profiles", 520],
  ["profile", "profile/3f2a9c", 1500],
  ["job", job, 1900],
  ["what-if", job + "?whatif=1&policy=quasar", 620, (page) => page.locator("#what-if").scrollIntoViewIfNeeded(), "light", "#what-if"],
  ["node", "node/a1b2c3d4-0000-0000-0000-000000000002", 900],
];

mkdirSync(folder, { recursive: true });
const browser = await start();
let tooLarge = 0;
try {
  for (const [name, path, height, before, scheme, part] of shots) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: scheme || "light", reducedMotion: "reduce" });
    await page.goto(base + path, { waitUntil: "networkidle" });
    if (before) await before(page);
    const file = join(folder, name + ".png");
    if (part) await page.locator(part).screenshot({ path: file });
    else await page.screenshot({ path: file });
    await page.close();
    const bytes = statSync(file).size;
    if (bytes > MOST_BYTES) tooLarge++;
    console.log(`${file}\t${Math.ceil(bytes / 1024)} KiB${bytes > MOST_BYTES ? "\ttoo large" : ""}`);
  }
} finally {
  await browser.close();
}
process.exit(tooLarge ? 1 : 0);
