// SPDX-License-Identifier: Apache-2.0
// page_test.mjs TOOL SAMPLE PLAYWRIGHT CHROMIUM: the page that TOOL makes of SAMPLE's document, in a real browser with no
// network: charts drawn, no error, links, filters, keyboard, both colour schemes, and bounds on what 100000 points draw.
// Exit 77 when Playwright or Chromium is missing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
const axe = join(dirname(playwright), "../axe-core/axe.min.js");
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
  execFileSync(tool, ["report", file, "-o", page], { stdio: "pipe" });
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
    for (const summary of await tab.locator("#single-op summary").all()) await summary.click();
    assert.match(await tab.locator("#single-op .side.paper .who").first().textContent(), /the paper/);
    assert.match(await tab.locator("#single-op").textContent(), /P-IB 0\.700, P-GB200 0\.770/);
    assert.match(await tab.locator("#waived").textContent(), /no GPU here; --lane host runs on CPU threads/);
    assert.match(await tab.locator("#single-op .shapes").textContent(), /cannot be said here/);
  },
  async "no name is cut, and charts beside each other have one scale"() {
    const long = "a value with a name that no chart has room for in one line of its own, so that it must have several";
    const { tab, problems } = await opened(made("names", (d) => { d.records.push({ ...d.records[0], axes: { ...d.records[0].axes, payload: long } }); }));
    await drawAll(tab);
    const texts = await tab.locator("#single-op .chart svg text").allTextContents();
    assert.ok(texts.join(" ").includes("in one line"));
    assert.ok(texts.every((text) => !text.includes("…")), texts.filter((text) => text.includes("…")).join("; "));
    const outside = await tab.evaluate(() => [...document.querySelectorAll(".chart svg")].flatMap((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().right > frame.right + 1).map((text) => text.textContent);
    }));
    assert.deepEqual(outside, []);
    const ends = await tab.evaluate(() => [...document.querySelectorAll(".pair")].filter((pair) => pair.querySelectorAll(".chart").length === 2)
      .map((pair) => [...pair.querySelectorAll(".chart")].map((chart) => JSON.stringify(chart.view.scale("x").domain()))));
    assert.ok(ends.length >= 1);
    for (const [mine, theirs] of ends) assert.equal(mine, theirs);
    assert.deepEqual(problems, []);
  },
  async "axe finds nothing that keeps people out, in dark and light"() {
    for (const colorScheme of ["dark", "light"]) {
      const { tab } = await opened(made(`axe-${colorScheme}`), { colorScheme });
      await drawAll(tab);
      for (const summary of await tab.locator("summary").all()) await summary.click();
      await tab.addScriptTag({ path: axe });
      const { violations, passes } = await tab.evaluate(() => globalThis.axe.run());
      assert.ok(passes.length > 20);
      assert.deepEqual(violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 5).join(", ")}`), []);
    }
  },
  async "every link leads somewhere on the page"() {
    const { tab } = await opened(made("links"));
    const missing = await tab.evaluate(() => [...document.querySelectorAll("a")].map((a) => a.getAttribute("href")).filter((to) => !to.startsWith("#") || !document.getElementById(to.slice(1))));
    assert.deepEqual(missing, []);
    assert.ok(await tab.locator("nav a").count() >= 33);
  },
  async "a link leads to its section, though charts above it are drawn on the way"() {
    const { tab } = await opened(made("jumps", (d) => { d.records.push({ ...d.records[0], experiment: "timer-check" }); }));
    await tab.emulateMedia({ reducedMotion: "reduce" });
    await tab.click('nav a[href="#timer-check"]');
    await tab.waitForTimeout(1000);
    const top = await tab.evaluate(() => document.getElementById("timer-check").getBoundingClientRect().top);
    assert.ok(top > -60 && top < 400, `${top} px`);
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
  async "100000 samples open and draw in seconds, on a busy machine too"() {
    const page = made("many", (d) => {
      const metric = d.records[0].metrics[0];
      metric.samples = Array.from({ length: 100000 }, (_, i) => 0.1 + ((i * 7919) % 100000) / 1e5);
      metric.n = metric.samples.length;
    });
    const { tab, problems } = await opened(page);
    const ready = await tab.evaluate(() => globalThis.marrow.ready);
    assert.ok(ready < 10000, `ready after ${ready} ms`);
    const from = Date.now();
    await drawAll(tab);
    assert.ok(Date.now() - from < 20000, `drawn after ${Date.now() - from} ms`);
    assert.match(await tab.locator("#single-op").textContent(), /every sample/);
    assert.deepEqual(problems, []);
  },
  async "100000 metrics of one experiment open and draw in seconds, and what is drawn is bounded"() {
    const page = made("rows", (d) => {
      const [metric] = d.records[0].metrics;
      const metrics = Array.from({ length: 200 }, (_, i) => ({ ...metric, name: `round trip, batch ${i}`, kind: "cx7-sim", paper: [] }));
      d.records = Array.from({ length: 500 }, (_, i) => ({ ...d.records[0], experiment: "batch-under-load", axes: { bytes: i + 1 },
        metrics: metrics.map((m) => ({ ...m, p50: 1 + ((i * 7919) % 500) / 100 })) }));
    });
    const { tab, problems } = await opened(page);
    const ready = await tab.evaluate(() => globalThis.marrow.ready);
    assert.ok(ready < 30000, `ready after ${ready} ms`);
    await drawAll(tab);
    const marks = await tab.locator("#batch-under-load .chart svg path").count();
    assert.ok(marks > 100 && marks < 10000, `${marks} marks`);
    await tab.locator("#batch-under-load summary", { hasText: "100000 metrics" }).click();
    assert.equal(await tab.locator("#batch-under-load tbody tr").count(), 300);
    await tab.locator("#batch-under-load button.more").first().click();
    assert.equal(await tab.locator("#batch-under-load tbody tr").count(), 600);
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
