// SPDX-License-Identifier: Apache-2.0
// Charts by Vega from the specs in specs/. A chart is drawn when it comes near the window, and again when the colours
// change. Measured values and the paper's are two charts side by side: they are of different machines.
import * as vega from "vega";
import { compile } from "vega-lite";
import curves from "../specs/curves.json";
import dots from "../specs/dots.json";
import figures from "../specs/figures.json";
import lines from "../specs/lines.json";
import { h } from "./dom.js";
import { curve, figurePoints, paperPoints, seriesOf } from "./model.js";

const SPECS = { dots, lines, curves };
const COLOURS = {
  light: ["#1f5fa8", "#b4530a", "#0f766e", "#8b3fa0", "#a3122f", "#5b6472"],
  dark: ["#7db7f5", "#f5a35c", "#4fd1c0", "#d79bea", "#ff8a9b", "#b8c0cc"],
};
const quiet = vega.logger(vega.Error); // Vega-Lite warns of each chart that it does not stretch upwards
const drawn = new Set(); // charts that are on the page, for a change of colours

export function figuresOf(id) {
  return figures[id] ?? figures.default;
}

function theme() {
  const style = getComputedStyle(document.documentElement);
  const text = style.getPropertyValue("--text").trim();
  const line = style.getPropertyValue("--line").trim();
  const range = COLOURS[style.getPropertyValue("--scheme").trim() || "light"];
  const axis = { labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12 };
  return { background: "transparent", font: "system-ui, sans-serif", axis, legend: { labelColor: text, titleColor: text, labelFontSize: 12 }, range: { category: range }, view: { stroke: line } };
}

function logarithmic(encoding, channel, values) {
  if (!encoding[channel]) return;
  const all = values.every((v) => v.low > 0 && v.p50 > 0);
  if (all) encoding[channel].scale = { type: "log" };
}

/** The Vega-Lite spec of one figure with its data and titles. */
export function specOf({ figure, values, unit, width }) {
  const spec = structuredClone(SPECS[figure.spec]);
  spec.width = width;
  spec.data = { values };
  spec.config = theme();
  const parts = spec.layer ?? [spec];
  for (const { encoding } of parts) {
    if (figure.log) logarithmic(encoding, "x", values);
    if (figure.log_y) logarithmic(encoding, "y", values);
    for (const channel of ["x", "y"]) {
      if (encoding[channel]?.title === "p50") encoding[channel].title = `p50 (${unit})`;
    }
  }
  const half = Math.round(width * 0.45);
  const encoding = spec.encoding;
  encoding.color.legend = new Set(values.map((v) => (figure.spec === "dots" ? v.name : v.series))).size > 1 ? { ...encoding.color.legend, labelLimit: figure.spec === "dots" ? half : width - 60 } : null;
  const shape = parts.at(-1).encoding.shape; // in its own layer: Vega-Lite draws points on every mark that has a shape
  if (shape) shape.legend = encoding.color.legend;
  if (figure.spec === "dots") encoding.y.axis.labelLimit = half;
  if (figure.spec === "lines") spec.encoding.x.title = figure.x_title;
  if (figure.spec === "curves") spec.encoding.x.title = unit;
  return spec;
}

async function draw(place) {
  const { figure, values, unit, label } = place.chart;
  place.view?.finalize();
  const width = Math.max(300, place.clientWidth);
  const parsed = vega.parse(compile(specOf({ figure, values, unit, width }), { logger: quiet }).spec);
  place.view = new vega.View(parsed, { renderer: "svg", container: place, hover: true, description: label });
  await place.view.runAsync();
  place.querySelector("svg")?.setAttribute("aria-label", label);
  place.dataset.drawn = "yes";
}

const seen = "IntersectionObserver" in globalThis && new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    drawn.add(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "300px" });

export function redraw() {
  for (const place of drawn) draw(place);
}

/** Draws all, for printing and for tests. */
export async function drawAll() {
  for (const place of document.querySelectorAll(".chart")) {
    drawn.add(place);
    await draw(place);
  }
}

function chart(figure, values, unit, label) {
  const place = h("div", { class: "chart", role: "img", "aria-label": label });
  place.chart = { figure, values, unit, label };
  if (seen) seen.observe(place);
  return place;
}

function prepared(figure, list) {
  return list.map((p) => ({ row: p.row, name: p.platform ? `${p.name}, ${p.platform}` : p.name, p50: p.p50, low: p.low, high: p.high,
    abscissa: figure.x ? p[figure.x] : undefined,
    series: [p.platform, figure.x ? seriesOf(p, figure.x) : p.row, figure.metrics.length > 1 && !figure.x_from_metric ? p.name : ""].filter(Boolean).join(" ") }));
}

/** One figure for one kind of time: the measured chart and, where the paper has values, its own. Null without data. */
export function figureFor(figure, list, kind) {
  const mine = figurePoints(figure, list.filter((p) => p.kind === kind.name));
  if (mine.length === 0) return null;
  const theirs = figurePoints(figure, paperPoints(list.filter((p) => p.kind === kind.name)));
  // A line through one place says nothing: there the paper's values are dots.
  const places = new Set(theirs.map((p) => p[figure.x]));
  const dotted = figure.spec === "lines" && places.size < 2 ? { ...figure, spec: "dots", log: figure.log_y } : figure;
  const unit = mine[0].unit;
  const says = (who, count) => `${figure.title}: ${who}, ${count} values in ${unit}. The table below holds the numbers.`;
  return h("figure", {},
    h("figcaption", {}, h("strong", {}, figure.title), ` (${kind.title})`),
    h("div", { class: "pair" },
      h("div", { class: "side" }, h("p", { class: "who" }, `measured, ${kind.title}`), chart(figure, prepared(figure, mine), unit, says("measured", mine.length))),
      theirs.length === 0 ? null : h("div", { class: "side paper" },
        h("p", { class: "who" }, "the paper: a GPU submits to a ConnectX-7"),
        chart(dotted, prepared(figure, theirs), theirs[0].unit, says("the paper's values", theirs.length)))),
    h("p", { class: "read" }, "How to read it: ", figure.read));
}

/** How all samples of one metric lie, where the document holds them. */
export function curvesFor(list, kind) {
  const mine = list.filter((p) => p.kind === kind.name && p.metric.samples);
  const names = [...new Set(mine.map((p) => p.name))];
  return names.map((name) => {
    const of = mine.filter((p) => p.name === name);
    const values = of.flatMap((p) => curve(p.metric.samples).filter((c) => c.value > 0).map((c) => ({ ...c, series: p.row, low: c.value, p50: c.value })));
    const count = of.reduce((sum, p) => sum + p.metric.samples.length, 0);
    const label = `${name}: how ${count} samples lie, in ${of[0].unit}`;
    return h("figure", {}, h("figcaption", {}, h("strong", {}, name), `: every sample (${kind.title})`),
      chart({ spec: "curves" }, values, of[0].unit, label),
      h("p", { class: "read" }, "How to read it: at the height of 50 % lies the median; a long tail to the right is what p99 and max are about."));
  });
}
