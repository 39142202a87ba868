// SPDX-License-Identifier: Apache-2.0
// Charts by Vega from the specs in specs/. A chart is drawn when it comes near the window, and again when the colours
// change. Its legend is HTML, so that no name is cut; what it draws is bounded (drawable() in model.js).
import * as vega from "vega";
import { compile } from "vega-lite";
import curves from "../specs/curves.json";
import dots from "../specs/dots.json";
import lines from "../specs/lines.json";
import { h, legend } from "./dom.js";
import { BOUNDS, lookOf, wrapped } from "./model.js";

const SPECS = { dots, lines, curves };
const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross"]; // dom.js draws the same
const LABEL = { letter: 6.7, line: 15, below: 17 }; // of a row's label at 12 px, and the room for its dots
const quiet = vega.logger(vega.Error); // Vega-Lite warns of each chart that it does not stretch upwards
const drawn = new Set(); // charts that are on the page, for a change of colours

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { text: of("--text"), line: of("--line"), series: [0, 1, 2, 3, 4, 5].map((i) => of(`--series-${i}`)) };
}

function config({ text, line }) {
  const axis = { labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12 };
  return { background: "transparent", font: "system-ui, sans-serif", axis, text: { color: text }, rule: { color: line }, view: { stroke: line } };
}

/** The same series has the same colour and shape in all layers; six colours and five shapes tell thirty apart. */
function seriesScales(parts, names, colour) {
  for (const { encoding } of parts) {
    if (encoding?.color) encoding.color.scale = { domain: names, range: names.map((_, i) => colour.series[i % colour.series.length]) };
    if (encoding?.shape) encoding.shape.scale = { domain: names, range: names.map((_, i) => SHAPES[i % SHAPES.length]) };
  }
}

function rowLabels(spec, values, width) {
  const rows = [...new Set(values.rows ?? values.map((v) => v.row))];
  const labels = rows.map((row) => ({ row, label: wrapped(row, Math.floor(width / LABEL.letter)).join("\n") }));
  const most = Math.max(...labels.map(({ label }) => label.split("\n").length));
  const step = most * LABEL.line + LABEL.below;
  spec.height = { step };
  spec.encoding.y.scale.domain = rows;
  spec.encoding.y.bandPosition = 1 - 8 / step;
  for (const part of spec.layer.filter(({ name }) => name === "guides" || name === "labels")) part.data = { values: labels };
}

/** The Vega-Lite spec of one chart with its data, scales and titles. */
export function specOf({ figure, values, scale, unit, width }) {
  const spec = structuredClone(SPECS[figure.spec]);
  const parts = [spec, ...(spec.layer ?? [])];
  const colour = colours();
  spec.width = width;
  spec.data = { values };
  spec.config = config(colour);
  seriesScales(parts, [...new Set(values.map((v) => v.series))], colour);
  const value = figure.spec === "lines" ? "y" : "x"; // the channel of what was measured
  for (const { encoding } of parts) {
    if (["p50", "low"].includes(encoding?.[value]?.field)) encoding[value].scale = { domain: scale.domain, type: scale.log ? "log" : "linear", nice: true, zero: !scale.log };
    if (encoding?.[value]?.title === "p50") encoding[value].title = figure.spec === "curves" ? unit : `p50 (${unit})`;
  }
  if (figure.spec === "dots") rowLabels(spec, values, width);
  if (figure.spec === "lines") {
    spec.encoding.x.title = figure.x_title;
    spec.encoding.x.scale.domain = scale.places;
  }
  return spec;
}

async function draw(place) {
  const { figure, scale, unit, label } = place.chart;
  place.chart.values ??= place.chart.make();
  const { values } = place.chart;
  place.view?.finalize();
  const width = Math.max(280, place.clientWidth);
  const parsed = vega.parse(compile(specOf({ figure, values, scale, unit, width }), { logger: quiet }).spec);
  place.view = new vega.View(parsed, { renderer: "svg", container: place, hover: true });
  await place.view.runAsync();
  place.removeAttribute("aria-roledescription"); // Vega's own words for readers of screens: ours say more
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", label);
  place.querySelector("svg").setAttribute("aria-hidden", "true");
  if (!place.dataset.drawn) place.after(legend([...new Set(values.map((v) => v.series))]));
  place.style.minHeight = "";
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
    seen?.unobserve(place);
    drawn.add(place);
    await draw(place);
  }
}

/** chart: {figure, scale, unit, label, make()}: the values are made when it is drawn. */
export function chart(what) {
  const place = h("div", { class: "chart", role: "img", "aria-label": what.label });
  const rows = Math.min(what.rows?.length ?? 1, BOUNDS.rows); // room before it is drawn, so that links lead where they say
  place.style.minHeight = `${what.figure.spec === "dots" ? rows * (LABEL.line + LABEL.below) + 45 : 310}px`;
  place.chart = { scale: what.scale ?? lookOf([]), ...what };
  if (seen) seen.observe(place);
  return place;
}
