// SPDX-License-Identifier: Apache-2.0
// What is drawn follows from documents alone: kinds apart, nothing lost, extremes kept.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { interval, number, paper } from "../../report/src/format.js";
import * as model from "../../report/src/model.js";

const metric = (name, kind, p50, more = {}) => ({ name, kind, unit: "us", n: 9, p50, p99: p50 * 2, max: p50 * 3,
  spread: { iqr: 0.1, mad: 0.1, outliers: 0, median_ci95: [p50 - 0.1, p50 + 0.1], ci95_by: "order statistics" }, runs: [{ n: 9, p50 }], paper: [], ...more });
const record = (axes, metrics, more = {}) => ({ experiment: "e", path: "mini-gda", policy: "gpu-fence", axes, lane: "host", nic: "cx7-sim",
  status: "passed", reason: "", metrics, ...more });

test("a figure holds one kind of time, and only the metrics that it names", () => {
  const list = model.points([record({ bytes: 8 }, [metric("issue", "host-lane", 1), metric("issue, other", "host-lane", 2), metric("put", "cx7-sim", 3)])]);
  assert.deepEqual(model.kindsOf(list).map((k) => k.name), ["host-lane", "cx7-sim"]);
  assert.deepEqual(model.figurePoints({ metrics: ["issue"] }, list).map((p) => p.name), ["issue"]);
  assert.deepEqual(model.figurePoints({ metrics: ["issue*"] }, list).length, 2);
});

test("an axis that a row does not have leaves the row out of a line chart", () => {
  const list = model.points([record({ bytes: 8 }, [metric("issue", "gpu", 1)]), record({ bytes: "all" }, [metric("issue", "gpu", 1)])]);
  assert.equal(model.figurePoints({ metrics: ["issue"], x: "bytes" }, list).length, 1);
});

test("an abscissa in a metric's name becomes a number", () => {
  const list = model.points([record({}, [metric("goodput, 8 B", "cx7-sim", 1), metric("goodput, 512 B", "cx7-sim", 2), metric("goodput", "cx7-sim", 3)])]);
  const found = model.figurePoints({ metrics: ["goodput*"], x_from_metric: "[, ]+(\\d+) B$" }, list);
  assert.deepEqual(found.map((p) => p.x), [8, 512]);
});

test("a label is what rows do not share, and tells lanes apart where both are there", () => {
  const a = record({ payload: "inline", bytes: 8 }, [metric("issue", "gpu", 1)]);
  const b = record({ payload: "pointer", bytes: 8 }, [metric("issue", "gpu", 1)]);
  assert.deepEqual(model.labels([a, b]), ["payload=inline", "payload=pointer"]);
  assert.deepEqual(model.sharedWords([a, b]), ["mini-gda", "gpu-fence", "bytes=8"]);
  assert.match(model.points([a, { ...a, lane: "gpu" }])[1].row, /gpu lane/);
});

test("the paper's value is a point of its own, a range has two ends", () => {
  const m = metric("issue", "gpu", 1, { paper: [{ value: 0.7, unit: "us", platform: "P-IB", source: "x" }, { value: 2, to: 4, unit: "us", platform: "P-GB200", source: "x" }] });
  const theirs = model.paperPoints(model.points([record({}, [m])]));
  assert.deepEqual(theirs.map((p) => [p.platform, p.low, p.p50, p.high]), [["P-IB", 0.7, 0.7, 0.7], ["P-GB200", 2, 2, 4]]);
});

test("a curve of 100000 samples is short and keeps the least and the greatest", () => {
  const samples = Array.from({ length: 100000 }, (_, i) => ((i * 7919) % 100000) + 1);
  const curve = model.curve(samples);
  assert.equal(curve.length, 400);
  assert.deepEqual(curve[0], { value: 1, share: 0.00001 });
  assert.deepEqual(curve.at(-1), { value: 100000, share: 1 });
  assert.deepEqual(model.curve([]), []);
  assert.deepEqual(model.curve([5]), [{ value: 5, share: 1 }]);
});

test("two charts of one quantity have one scale, logarithmic where values lie far apart", () => {
  const at = (p50) => ({ p50, low: p50, high: p50 });
  assert.deepEqual(model.lookOf([at(2), at(5)]), { domain: [0, 5], log: false, places: undefined });
  assert.equal(model.lookOf([at(1), at(31)]).log, true);
  assert.equal(model.lookOf([at(0), at(31)]).log, false, "zero has no logarithm");
  assert.equal(model.lookOf([at(2), at(5)], { log: true }).log, true);
  assert.deepEqual(model.lookOf([{ ...at(2), x: 8 }, { ...at(3), x: 64 }], { x: "x" }).places, [8, 64]);
});

test("what is drawn is bounded, and keeps the least and the greatest", () => {
  const list = Array.from({ length: 100000 }, (_, i) => ({ row: `r${i}`, series: `s${i % 100}`, p50: (i * 7919) % 100000 }));
  for (const spec of ["dots", "lines"]) {
    const { values, of } = model.drawable(spec, list);
    assert.equal(of, 100000);
    assert.ok(values.length <= model.BOUNDS.points, `${values.length}`);
    assert.ok(values.some((p) => p.p50 === 99999), spec);
  }
  assert.ok(model.thinned(list, 100).some((p) => p.p50 === 0));
  assert.deepEqual(model.thinned([1, 2], 5), [1, 2]);
});

test("a long label has several lines, a long word one of its own", () => {
  assert.deepEqual(model.wrapped("one two three", 7), ["one two", "three"]);
  assert.deepEqual(model.wrapped("incomprehensibilities are", 5), ["incomprehensibilities", "are"]);
});

test("a kind of time that the page does not know is apart, under its own name", () => {
  const list = model.points([record({ bytes: 8 }, [metric("issue", "sundial", 1), metric("put", "cx7-sim", 3)])]);
  assert.deepEqual(model.kindsOf(list).map((k) => k.title), ["software NIC time", "sundial"]);
});

test("a failed row makes the experiment failed; nothing but waivers makes it waived, each reason once", () => {
  const waived = record({}, [], { status: "waived", reason: "no GPU" });
  assert.equal(model.statusOf([record({}, []), waived]), "passed");
  assert.equal(model.statusOf([record({}, []), record({}, [], { status: "failed" })]), "failed");
  assert.equal(model.statusOf([waived, waived]), "waived");
  assert.deepEqual(model.waivers([waived, waived]), [{ reason: "no GPU", rows: 2 }]);
});

test("experiments follow the suite, then what it does not name", () => {
  const data = { suite: [{ id: "a" }, { id: "e" }], document: { records: [record({}, []), { ...record({}, []), experiment: "z" }] } };
  assert.deepEqual(model.experiments(data).map((e) => [e.id, e.records.length]), [["a", 0], ["e", 1], ["z", 1]]);
});

test("numbers are those of the terminal", () => {
  assert.deepEqual([0.0456, 3.456, 34.567, 345.67, 3456.7, 5].map(number), ["0.046", "3.456", "34.57", "345.7", "3457", "5"]);
  assert.equal(number(null), "-");
  assert.equal(interval(metric("issue", "gpu", 1)), "0.900 to 1.100");
  assert.equal(paper([{ platform: "P-IB", value: 12, to: 16 }]), "P-IB 12-16");
});

test("every figure names a spec that is there, metrics, a title and how to read it", () => {
  const figures = JSON.parse(readFileSync(new URL("../../report/specs/figures.json", import.meta.url)));
  for (const [id, list] of Object.entries(figures)) {
    for (const figure of list) {
      assert.ok(readFileSync(new URL(`../../report/specs/${figure.spec}.json`, import.meta.url)).length > 0, id);
      assert.ok(figure.metrics.length > 0 && figure.title && figure.read, id);
      if (figure.spec === "lines") assert.ok(figure.x && figure.x_title, id);
    }
  }
});
