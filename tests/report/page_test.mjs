// SPDX-License-Identifier: Apache-2.0
// page_test.mjs TOOL SAMPLE PLAYWRIGHT CHROMIUM: the page that TOOL makes of SAMPLE's document, in a real browser with no
// network: charts drawn, no error, links, filters, keyboard, both colour schemes, 100000 samples in time.
// Exit 77 when Playwright or Chromium is missing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [tool, sample, playwright, chromium] = process.argv.slice(2);
if (!existsSync(playwright ?? "")) {
  console.log("waived: playwright-core is not installed; npm ci in report/ brings it");
  process.exit(77);
}
if (!existsSync(chromium ?? "")) {
  console.log("waived: there is no Chromium here; the chromium package brings it");
  process.exit(77);
}
const { chromium: engine } = await import(pathToFileURL(playwright).href);
const folder = mkdtempSync(join(tmpdir(), "marrow-page-"));
let browser;

/** The page of a document, changed by `change`. */
function made(name, change = () => {}) {
  const document = JSON.parse(execFileSync(sample));
  change(document);
  const file = join(folder, `${name}.json`);
  const page = join(folder, `${name}.html`);
  writeFileSync(file, JSON.stringify(document));
  execFileSync(tool, ["report", file, "-o", page]);
  return page;
}

async function opened(page, options = {}) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1300, height: 900 }, ...options });
  const tab = await context.newPage();
  const problems = [];
  tab.on("console", (message) => { if (message.type() !== "log") problems.push(message.text()); });
  tab.on("pageerror", (problem) => problems.push(problem.message));
  tab.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) problems.push(`asked the network for ${request.url()}`); });
  await tab.goto(pathToFileURL(page).href);
  return { tab, problems, context };
}

const drawAll = (tab) => tab.evaluate(() => globalThis.marrow.drawAll());

const tests = {
  async "what a document says is text, never markup"() {
    const evil = "</script><img src=x onerror=\"document.title='owned'\"><b>bold</b>";
    const { tab, problems } = await opened(made("evil", (d) => { d.records[1].reason = evil; d.records[0].warnings.push(evil); d.environments[0].cpu_model = evil; }));
    assert.match(await tab.title(), /^Marrow/);
    assert.equal(await tab.locator("main img, main b").count(), 0);
    assert.ok((await tab.locator("#environment").textContent()).includes(evil));
    assert.deepEqual(problems, []);
  },
  async "charts are drawn, each of one kind of time, and nothing complains"() {
    const { tab, problems } = await opened(made("plain"));
    await drawAll(tab);
    const charts = await tab.locator(".chart").count();
    assert.ok(charts >= 4, `${charts} charts`);
    assert.equal(await tab.locator(".chart svg").count(), charts);
    assert.ok(await tab.locator(".chart svg path").count() > charts);
    for (const part of await tab.locator(".kind").all()) {
      const title = await part.locator("h3").textContent();
      for (const who of await part.locator(".side:not(.paper) .who").allTextContents()) assert.equal(who, `measured, ${title}`);
    }
    assert.deepEqual(problems, []);
  },
  async "the paper stands beside, with its platforms, and what was waived says why"() {
    const { tab } = await opened(made("beside"));
    assert.match(await tab.locator("#single-op .side.paper .who").first().textContent(), /the paper/);
    assert.match(await tab.locator("#single-op").textContent(), /P-IB 0\.700, P-GB200 0\.770/);
    assert.match(await tab.locator("#waived").textContent(), /no GPU here; --lane host runs on CPU threads/);
    assert.match(await tab.locator("#single-op .shapes").textContent(), /cannot be said here/);
  },
  async "every link leads somewhere on the page"() {
    const { tab } = await opened(made("links"));
    const missing = await tab.evaluate(() => [...document.querySelectorAll("a")].map((a) => a.getAttribute("href")).filter((to) => !to.startsWith("#") || !document.getElementById(to.slice(1))));
    assert.deepEqual(missing, []);
    assert.ok(await tab.locator("nav a").count() >= 33);
  },
  async "filters leave what fits and say how much"() {
    const { tab } = await opened(made("filters"));
    const shown = () => tab.locator("section.experiment:visible").count();
    await tab.fill("#filter", "single-op");
    assert.equal(await shown(), 1);
    assert.match(await tab.locator("#shown").textContent(), /^1 of \d+ experiments shown$/);
    await tab.fill("#filter", "nothing of the kind");
    assert.equal(await shown(), 0);
    await tab.fill("#filter", "");
    await tab.selectOption("#status", "passed");
    assert.equal(await shown(), 1);
    await tab.selectOption("#kind", "host-lane");
    assert.equal(await tab.locator("#single-op .kind:visible").count(), 1);
  },
  async "the keyboard reaches everything, and everything has a name"() {
    const { tab } = await opened(made("keys"));
    await tab.keyboard.press("Tab");
    assert.equal(await tab.evaluate(() => document.activeElement.className), "skip");
    await tab.keyboard.press("Enter");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "main");
    await drawAll(tab);
    const nameless = await tab.evaluate(() => [
      ...[...document.querySelectorAll(".chart, .scroll, nav, section")].filter((e) => !e.getAttribute("aria-label") && !document.getElementById(e.getAttribute("aria-labelledby"))),
      ...[...document.querySelectorAll("input, select")].filter((e) => !e.closest("label")),
      ...[...document.querySelectorAll("table")].filter((e) => !e.caption || !e.querySelector("th[scope=row]")),
    ].map((e) => e.outerHTML.slice(0, 80)));
    assert.deepEqual(nameless, []);
    assert.equal(await tab.locator("h1").count(), 1);
    assert.equal(await tab.evaluate(() => document.documentElement.lang), "en");
  },
  async "dark and light follow the system, and the button changes them"() {
    for (const scheme of ["dark", "light"]) {
      const { tab, problems } = await opened(made(scheme), { colorScheme: scheme });
      await drawAll(tab);
      const light = () => tab.evaluate(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number); return (r + g + b) / 3 > 128; });
      assert.equal(await light(), scheme === "light");
      await tab.click("#scheme");
      assert.equal(await light(), scheme === "dark");
      assert.equal(await tab.locator("#scheme").getAttribute("aria-pressed"), String(scheme === "light"));
      assert.deepEqual(problems, []);
    }
  },
  async "a narrow window scrolls no more than downwards"() {
    const { tab } = await opened(made("narrow"), { viewport: { width: 390, height: 800 } });
    await drawAll(tab);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1));
  },
  async "100000 samples open in under a second and draw in a few"() {
    const page = made("many", (d) => {
      d.records[0].metrics[0].samples = Array.from({ length: 100000 }, (_, i) => 0.1 + ((i * 7919) % 100000) / 1e5);
    });
    const { tab, problems } = await opened(page);
    const ready = await tab.evaluate(() => globalThis.marrow.ready);
    assert.ok(ready < 1000, `ready after ${ready} ms`);
    const from = Date.now();
    await drawAll(tab);
    assert.ok(Date.now() - from < 5000, `drawn after ${Date.now() - from} ms`);
    assert.match(await tab.locator("#single-op").textContent(), /every sample/);
    assert.deepEqual(problems, []);
  },
  async "data that is torn is said, not shown half"() {
    const page = made("torn");
    const text = readFileSync(page, "utf8");
    const at = text.indexOf('"paper":');
    writeFileSync(page, text.slice(0, at) + text.slice(at + 30));
    const { tab } = await opened(page);
    assert.match(await tab.locator("[role=alert]").textContent(), /cannot read its data/);
  },
};

let failed = 0;
try {
  browser = await engine.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
  for (const [name, run] of Object.entries(tests)) {
    try {
      await run();
      console.log(`ok      ${name}`);
    } catch (problem) {
      ++failed;
      console.log(`FAILED  ${name}\n${problem.stack}`);
    }
  }
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
