// SPDX-License-Identifier: Apache-2.0
// From documents to what is drawn: pure functions, tested under Node without a browser.

/** The kinds of time, in the order in which they are shown. A chart or a table holds one of them. */
export const KINDS = [
  { name: "gpu", title: "GPU time", says: "measured by a GPU's clock around code that runs on the GPU" },
  { name: "nic", title: "real NIC time", says: "includes a real NIC and its path" },
  { name: "host-lane", title: "host-lane time", says: "a CPU thread running our own code; no NIC and no GPU is inside, so it cannot stand for a GPU's" },
  { name: "cx7-sim", title: "software NIC time", says: "through the software NIC: it shows that the mechanism works, not how long a ConnectX, a PCIe bus or a wire takes" },
];

const words = (record) => [record.path, record.policy, ...Object.entries(record.axes).map(([k, v]) => `${k}=${v}`)].filter(Boolean);

/** A record's label: the words that not all records of the experiment share. */
export function labels(records) {
  const all = records.map(words);
  const shared = (word) => records.length > 1 && all.every((list) => list.includes(word));
  return all.map((list) => list.filter((word) => !shared(word)).join(" ") || list.join(" "));
}

/** What every record of the experiment shares. */
export function sharedWords(records) {
  const all = records.map(words);
  return all[0].filter((word) => all.every((list) => list.includes(word)));
}

/** One entry a metric: what tables and charts are made of. */
export function points(records) {
  const label = labels(records);
  const setUp = (r) => `${r.lane} lane, ${r.nic}${r.engine && r.engine !== "auto" ? `, engine ${r.engine}` : ""}`;
  const setUps = new Set(records.map(setUp));
  return records.flatMap((record, i) => record.metrics.map((metric) => ({
    row: setUps.size > 1 ? `${label[i]} (${setUp(record)})` : label[i],
    record, metric, kind: metric.kind, name: metric.name, unit: metric.unit,
    p50: metric.p50, p99: metric.p99,
    low: metric.spread.median_ci95 ? metric.spread.median_ci95[0] : metric.p50,
    high: metric.spread.median_ci95 ? metric.spread.median_ci95[1] : metric.p50,
    ...record.axes, path: record.path, policy: record.policy,
  })));
}

/** The paper's values of the same metrics, one a platform; a range is its two ends. */
export function paperPoints(measured) {
  return measured.flatMap((point) => point.metric.paper.map((p) => ({
    ...point, metric: undefined, record: undefined, row: point.row, platform: p.platform, source: p.source,
    p50: p.value, low: p.value, high: p.to ?? p.value,
  })));
}

/** Kinds that occur, in order. */
export function kindsOf(list) {
  return KINDS.filter((kind) => list.some((point) => point.kind === kind.name));
}

/** The points that one figure draws. `x_from_metric` takes the abscissa from the metric's name. */
export function figurePoints(figure, list) {
  const starts = figure.metrics.map((name) => (metric) => metric === name || (name.endsWith("*") && metric.startsWith(name.slice(0, -1))));
  const chosen = list.filter((point) => starts.some((matches) => matches(point.name)));
  if (!figure.x_from_metric) return figure.x ? chosen.filter((p) => Number.isFinite(p[figure.x])) : chosen;
  const pattern = new RegExp(figure.x_from_metric);
  return chosen.flatMap((point) => {
    const found = pattern.exec(point.name);
    return found ? [{ ...point, x: Number(found[1]), name: point.name.slice(0, found.index) || point.name }] : [];
  });
}

/** The line that a point belongs to: every word of its row but the abscissa. */
export function seriesOf(point, x) {
  const without = point.row.split(" ").filter((word) => !word.startsWith(`${x}=`)).join(" ");
  return without || point.path;
}

/** Samples as a cumulative curve of at most `most` points. The least and the greatest sample are always in it. */
export function curve(samples, most = 400) {
  const sorted = Float64Array.from(samples).sort();
  const n = sorted.length;
  if (n === 0) return [];
  const count = Math.min(most, n);
  const out = [];
  for (let i = 0; i < count; ++i) {
    const at = count === 1 ? 0 : Math.round((i * (n - 1)) / (count - 1));
    out.push({ value: sorted[at], share: (at + 1) / n });
  }
  return out;
}

export function countStatus(records) {
  const count = { passed: 0, failed: 0, waived: 0 };
  for (const record of records) ++count[record.status];
  return count;
}

/** One word for an experiment: the worst that happened, or waived when nothing ran. */
export function statusOf(records) {
  const count = countStatus(records);
  if (count.failed) return "failed";
  return count.passed ? "passed" : "waived";
}

/** Waivers with the same reason as one. */
export function waivers(records) {
  const reasons = new Map();
  for (const record of records.filter((r) => r.status === "waived")) {
    reasons.set(record.reason, (reasons.get(record.reason) ?? 0) + 1);
  }
  return [...reasons].map(([reason, rows]) => ({ reason, rows }));
}

/** The experiments in the suite's order, then those that it does not name. */
export function experiments(data) {
  const by = new Map();
  for (const record of data.document.records) {
    if (!by.has(record.experiment)) by.set(record.experiment, []);
    by.get(record.experiment).push(record);
  }
  const known = data.suite.map((entry) => ({ ...entry, records: by.get(entry.id) ?? [] }));
  const others = [...by.keys()].filter((id) => !data.suite.some((entry) => entry.id === id));
  return [...known, ...others.map((id) => ({ id, sources: [], section: "", question: "", shapes: [], records: by.get(id) }))];
}
