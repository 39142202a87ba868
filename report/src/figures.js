// SPDX-License-Identifier: Apache-2.0
// Which charts an experiment has (specs/figures.json). Measured values and the paper's are two charts with one scale and
// the same rows: they are of different machines.
import figures from "../specs/figures.json";
import { chart } from "./charts.js";
import { h } from "./dom.js";
import { curve, drawable, figurePoints, lookOf, paperPoints, seriesOf } from "./model.js";

export function figuresOf(id) {
  return figures[id] ?? figures.default;
}

function nameOf(figure, p) {
  const parts = figure.spec === "dots" ? [p.name, p.platform]
    : [p.platform, seriesOf(p, figure.x), figure.metrics.length > 1 && !figure.x_from_metric ? p.name : ""];
  return parts.filter(Boolean).join(figure.spec === "dots" ? ", " : " ");
}

/** What Vega gets: small and flat. */
function prepared(figure, list) {
  return list.map((p) => ({ row: p.row, p50: p.p50, low: p.low, high: p.high, abscissa: figure.x ? p[figure.x] : undefined, series: nameOf(figure, p) }));
}

function side(who, figure, list, { scale, unit, rows }) {
  const named = prepared(figure, list);
  const { values, of } = drawable(figure.spec, named);
  const note = of === values.length ? "" : `; ${values.length} of ${of} values are drawn, the least and the greatest among them`;
  const make = () => Object.assign(values, { rows: rows && values.length === named.length ? rows : undefined });
  const label = `${figure.title}: ${who}, ${of} values in ${unit}. The table below holds the numbers.`;
  return [h("p", { class: "who" }, who, note), chart({ figure, scale, unit, label, make, rows: rows ?? [...new Set(list.map((p) => p.row))] })];
}

/** One figure for one kind of time: the measured chart and, where the paper has values, its own. Null without data. */
export function figureFor(figure, list, kind) {
  const mine = figurePoints(figure, list);
  if (mine.length === 0) return null;
  const theirs = figurePoints(figure, paperPoints(list));
  // A line through one place says nothing: there the paper's values are dots, with a scale of their own.
  const alone = figure.spec === "lines" && new Set(theirs.map((p) => p[figure.x])).size < 2;
  const scale = lookOf(alone ? mine : [...mine, ...theirs], figure);
  const dotted = alone ? { ...figure, spec: "dots", log: figure.log_y } : figure;
  const rows = [...new Set(mine.map((p) => p.row))];
  const unit = mine[0].unit;
  return h("figure", {},
    h("figcaption", {}, h("strong", {}, figure.title), ` (${kind.title})`),
    h("div", { class: "pair" },
      h("div", { class: "side" }, side(`measured, ${kind.title}`, figure, mine, { scale, unit, rows })),
      theirs.length === 0 ? null : h("div", { class: "side paper" },
        side("the paper: a GPU submits to a ConnectX-7", dotted, theirs,
          { scale: alone ? lookOf(theirs, dotted) : scale, unit: theirs[0].unit, rows: alone ? undefined : rows }))),
    h("p", { class: "read" }, "How to read it: ", figure.read, scale.log && !figure.log && !figure.log_y ? " The scale is logarithmic." : null));
}

/** How all samples of one metric lie, where the document holds them. */
export function curvesFor(list, kind) {
  const mine = list.filter((p) => p.metric.samples);
  const names = [...new Set(mine.map((p) => p.name))];
  return names.map((name) => {
    const of = mine.filter((p) => p.name === name);
    const count = of.reduce((sum, p) => sum + p.metric.samples.length, 0);
    const make = () => drawable("curves", of.flatMap((p) => curve(p.metric.samples).filter((c) => c.value > 0)
      .map((c) => ({ p50: c.value, share: c.share, series: p.row })))).values;
    const ends = of.map((p) => ({ p50: p.metric.max, low: p.metric.min, high: p.metric.max }));
    return h("figure", {}, h("figcaption", {}, h("strong", {}, name), `: every sample (${kind.title})`),
      chart({ figure: { spec: "curves" }, scale: lookOf(ends, { log: true }), unit: of[0].unit, make,
        label: `${name}: how ${count} samples lie, in ${of[0].unit}. The table below holds the percentiles.` }),
      h("p", { class: "read" }, "How to read it: at the height of 50 % lies the median; a long tail to the right is what p99 and max are about."));
  });
}
