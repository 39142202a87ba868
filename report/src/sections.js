// SPDX-License-Identifier: Apache-2.0
// One experiment as a section: question, shapes, charts by kind of time, the numbers, what was waived.
import { folded, h, table } from "./dom.js";
import { curvesFor, figureFor, figuresOf } from "./figures.js";
import { interval, number, paper } from "./format.js";
import { countStatus, kindsOf, labels, points, sharedWords, statusOf, waivers } from "./model.js";

const COLUMNS = [
  { title: "row", text: (p) => p.row, header: true },
  { title: "metric", text: (p) => p.name },
  { title: "p50", text: (p) => number(p.p50), number: true },
  { title: "95 % of p50", text: (p) => interval(p.metric), number: true },
  { title: "p99", text: (p) => number(p.p99), number: true },
  { title: "max", text: (p) => number(p.metric.max), number: true },
  { title: "iqr", text: (p) => number(p.metric.spread.iqr), number: true },
  { title: "outliers", text: (p) => number(p.metric.spread.outliers), number: true },
  { title: "n", text: (p) => String(p.metric.n), number: true },
  { title: "runs", text: (p) => String(p.metric.runs.length), number: true },
  { title: "unit", text: (p) => p.unit },
  { title: "paper's p50", text: (p) => paper(p.metric.paper) },
];

export const badge = (status) => h("span", { class: `badge ${status}` }, status);

function shapes(entry) {
  if (!entry.shapes?.length) return null;
  return h("div", { class: "shapes" }, h("h3", {}, "Does the shape agree with the paper?"),
    h("ul", {}, entry.shapes.map((s) => h("li", {},
      h("span", { class: `badge ${s.agreement.replace(/ .*/, "")}` }, s.agreement), ` ${s.text} `, h("span", { class: "told" }, s.told)))));
}

function kindPart(entry, list, kind) {
  const mine = list.filter((p) => p.kind === kind.name);
  const figures = figuresOf(entry.id).map((figure) => figureFor(figure, mine, kind)).filter(Boolean);
  return h("div", { class: "kind", "data-kind": kind.name },
    h("h3", {}, kind.title), h("p", { class: "says" }, kind.says),
    figures, curvesFor(mine, kind),
    folded(`The numbers: ${mine.length} metrics`, figures.length === 0, () => table(`${entry.id}, ${kind.title}`, COLUMNS, mine)));
}

function countsPart(entry) {
  const counted = entry.records.filter((r) => r.operations > 0 && Object.keys(r.counts).length);
  if (counted.length === 0) return null;
  const names = [...new Set(counted.flatMap((r) => Object.keys(r.counts)))];
  return folded("Counts per operation: exact, and the same on every machine", false, () => {
    const label = new Map(labels(entry.records).map((text, i) => [entry.records[i], text]));
    const columns = [{ title: "row", text: (r) => label.get(r), header: true },
      ...names.map((name) => ({ title: name, number: true, text: (r) => (name in r.counts ? String(Number(r.counts[name].toPrecision(4))) : "-") }))];
    return table(`${entry.id}: counts per operation`, columns, counted);
  });
}

function notesPart(entry) {
  const label = labels(entry.records);
  const lines = entry.records.flatMap((r, i) => [
    ...(r.status === "failed" ? [["failed", `${label[i]}: ${r.reason}`]] : []),
    ...r.expect.map((e) => [e.held ? "held" : "failed", `${label[i]}: ${e.text}`]),
    ...r.warnings.map((w) => ["warning", `${label[i]}: ${w}`])]);
  if (lines.length === 0) return null;
  const failed = lines.some(([what]) => what === "failed");
  return folded(`Checks and warnings: ${lines.length}`, failed, () => table(`${entry.id}: checks and warnings`,
    [{ title: "what", text: ([what]) => badge(what), header: true }, { title: "of which row", text: ([, text]) => text }], lines));
}

function waivedPart(entry) {
  const list = waivers(entry.records);
  if (list.length === 0) return null;
  return h("ul", { class: "waived" }, list.map(({ reason, rows }) => h("li", {}, badge("waived"), ` ${rows} row${rows === 1 ? "" : "s"}: ${reason}`)));
}

export function section(entry) {
  const measured = entry.records.length > 0;
  const list = points(entry.records);
  const count = countStatus(entry.records);
  const from = [...(entry.sources ?? []), entry.section ? `section ${entry.section}` : ""].filter(Boolean).join(", ");
  return h("section", { id: entry.id, class: "experiment", "data-status": measured ? statusOf(entry.records) : "absent", "aria-labelledby": `${entry.id}-title` },
    h("h2", { id: `${entry.id}-title` }, entry.id, " ", measured ? badge(statusOf(entry.records)) : h("span", { class: "badge absent" }, "not in these documents")),
    h("p", { class: "question" }, entry.question, from && !entry.own ? h("span", { class: "from" }, ` Paper: ${from}.`) : null),
    entry.setup ? h("p", { class: "from" }, `The paper's set-up: ${entry.setup}.`) : null,
    measured ? h("p", { class: "counts" }, `${count.passed} rows passed, ${count.failed} failed, ${count.waived} waived`,
      entry.records.length > 1 && sharedWords(entry.records).length ? `; every row: ${sharedWords(entry.records).join(" ")}` : "") : null,
    waivedPart(entry), shapes(entry),
    kindsOf(list).map((kind) => kindPart(entry, list, kind)),
    countsPart(entry), notesPart(entry));
}
