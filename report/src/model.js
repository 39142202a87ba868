// SPDX-License-Identifier: Apache-2.0
// From documents to what is drawn: pure functions, tested under Node without a browser.

/** The kinds of time, in the order in which they are shown. A chart or a table holds one of them. */
export const KINDS = [
  { name: "gpu", title: "GPU time", says: "measured by a GPU's clock around code that runs on the GPU" },
  { name: "nic", title: "real NIC time", says: "includes a real NIC and its path" },
  { name: "host-lane", title: "host-lane time", says: "a CPU thread running our own code; no NIC and no GPU is inside, so it cannot stand for a GPU's" },
  { name: "cx7-sim", title: "software NIC time", says: "through the software NIC: it shows that the mechanism works, not how long a ConnectX, a PCIe bus or a wire takes" },
  { name: "model", title: "a model's figures", says: "computed from a NIC's profile in simulated time: nothing was sent and nothing was timed" },
];

const words = (record) => [record.path, record.policy, ...Object.entries(record.axes).map(([k, v]) => `${k}=${v}`)].filter(Boolean);

/** The words that all of the lists hold. */
function common(lists) {
  const shared = new Set(lists[0]);
  for (const list of lists) {
    const mine = new Set(list);
    for (const word of shared) if (!mine.has(word)) shared.delete(word);
  }
  return shared;
}

/** A record's label: the words that not all records of the experiment share. */
export function labels(records) {
  const all = records.map(words);
  const shared = records.length > 1 ? common(all) : new Set();
  return all.map((list) => list.filter((word) => !shared.has(word)).join(" ") || list.join(" "));
}

/** What every record of the experiment shares. */
export function sharedWords(records) {
  return [...common(records.map(words))];
}

/** One entry a metric: what tables and charts are made of. */
export function points(records) {
  const label = labels(records);
  const setUp = (r) => r.nic.startsWith("model:") ? `the ${r.nic}` : `${r.lane} lane, ${r.nic}${r.engine && r.engine !== "auto" ? `, engine ${r.engine}` : ""}`;
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

/** Kinds that occur, in order; one that this page does not know comes last, under its own name. */
export function kindsOf(list) {
  const names = new Set(list.map((point) => point.kind));
  const known = KINDS.filter((kind) => names.delete(kind.name));
  return [...known, ...[...names].map((name) => ({ name, title: name, says: "" }))];
}

/**
 * How charts of one quantity are scaled, so that two beside each other can be compared: {domain, log, places}. The scale is
 * logarithmic where the figure asks for it or the values span a factor of more than 30, and nothing is at zero or below.
 */
export function lookOf(list, figure = {}) {
  let [low, high] = [Infinity, -Infinity];
  const places = list.map((p) => p[figure.x]).filter(Number.isFinite);
  for (const p of list) {
    low = Math.min(low, p.low, p.p50);
    high = Math.max(high, p.high, p.p50);
  }
  if (low > high) return { domain: [0, 1], log: false };
  const wide = Boolean(figure.log || figure.log_y) || high / low > 30;
  const log = low > 0 && wide && high > low;
  const ends = places.length ? [least(places), -least(places.map((x) => -x))] : undefined;
  if (log) return { domain: [low / 1.1, high * 1.1], log, places: ends };
  return { domain: [Math.min(0, low), Math.max(high, 0) || 1], log, places: ends };
}

const least = (numbers) => numbers.reduce((a, b) => Math.min(a, b), Infinity);

/** At most `most` of a list, evenly chosen, in its order; those of least and greatest p50 are always among them. */
export function thinned(list, most) {
  if (list.length <= most) return list;
  let [low, high] = [0, 0];
  list.forEach((p, i) => {
    if (p.p50 < list[low].p50) low = i;
    if (p.p50 > list[high].p50) high = i;
  });
  const keep = new Set([low, high]);
  for (let i = 0; i < most - 2; ++i) keep.add(Math.round((i * (list.length - 1)) / Math.max(1, most - 3)));
  return [...keep].sort((a, b) => a - b).map((i) => list[i]);
}

export const BOUNDS = { rows: 150, series: 30, points: 3000 };

const groups = (list, key) => {
  const by = new Map();
  for (const p of list) (by.get(p[key]) ?? by.set(p[key], []).get(p[key])).push(p);
  return [...by.values()];
};
const greatest = (list) => -least(list.map((p) => -p.p50));

/** What of a list a chart draws, within BOUNDS: {values, of}; `of` is how many there are. */
export function drawable(spec, list) {
  const chosen = (key, most) => thinned(groups(list, key).map((group) => ({ group, p50: greatest(group) })), most).map(({ group }) => group);
  if (spec === "dots") return { values: thinned(chosen("row", BOUNDS.rows).flat(), BOUNDS.points), of: list.length };
  const series = chosen("series", BOUNDS.series);
  const each = Math.floor(BOUNDS.points / Math.max(1, series.length));
  return { values: series.flatMap((group) => thinned(group, each)), of: list.length };
}

/** A label in lines of at most `most` letters; a longer word has a line of its own. */
export function wrapped(text, most) {
  const rows = [""];
  for (const word of text.split(" ")) {
    const last = rows.at(-1);
    if (last && last.length + 1 + word.length > most) rows.push(word);
    else rows[rows.length - 1] = last ? `${last} ${word}` : word;
  }
  return rows;
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
