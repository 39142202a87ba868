// SPDX-License-Identifier: Apache-2.0
// The page: reads its data, draws overview, environment, filters and sections.
import { drawAll, redraw } from "./charts.js";
import { h, table } from "./dom.js";
import { KINDS, countStatus, experiments, statusOf, waivers } from "./model.js";
import { badge, section } from "./sections.js";

const FACTS = [["cpu_model", "processor"], ["cores", "cores"], ["kernel", "kernel"], ["governor", "governor"], ["cpu_clock", "clock"],
  ["rdma_core", "libraries"], ["marrow", "marrow"], ["commit", "commit"], ["compiler", "compiler"], ["build_type", "build"], ["date", "measured"]];
const PATH = [["nic", "NIC"], ["link_layer", "link layer"], ["doorbell_mapping", "doorbell"], ["registration", "registration"],
  ["lane", "lane"], ["clock", "lane's clock"], ["gpu", "GPU"], ["gpu_limits", "GPU limits"], ["gpu_uuid", "GPU UUID"], ["engine", "engine"],
  ["place", "place"], ["nic_firmware", "NIC firmware"], ["nic_pci", "NIC on PCIe"], ["gid", "GID"]];

function schemes() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = (name) => { root.dataset.scheme = name; };
  apply(dark.matches ? "dark" : "light");
  const button = h("button", { type: "button", id: "scheme", "aria-pressed": String(dark.matches), onclick: () => {
    apply(root.dataset.scheme === "dark" ? "light" : "dark");
    button.setAttribute("aria-pressed", String(root.dataset.scheme === "dark"));
    redraw();
  } }, "Dark");
  return button;
}

function overview(data, list) {
  const count = countStatus(data.document.records);
  const shapes = list.flatMap((e) => e.shapes ?? []);
  const agree = (word) => shapes.filter((s) => s.agreement === word).length;
  const tile = (value, text) => h("li", {}, h("strong", {}, String(value)), ` ${text}`);
  return [h("div", { class: "bar" }, h("h1", {}, "Marrow: measured beside the paper"), schemes()),
    h("p", {}, `Each experiment of ${data.paper} with what was measured for it. The paper's values were measured on GPUs and ConnectX-7 NICs between nodes: they stand beside for size and order, not as a score. Kinds of time never share a table or a chart.`),
    h("ul", { class: "tiles" }, tile(list.filter((e) => e.records.length && statusOf(e.records) === "passed").length, "experiments passed"),
      ...["passed", "failed", "waived"].map((word) => tile(count[word], `${count[word] === 1 ? "row" : "rows"} ${word}`)),
      tile(agree("agrees"), "shapes agree"), tile(agree("differs"), "shapes differ"), tile(agree("cannot be said here"), "shapes cannot be said here"))];
}

function environments(data) {
  const columns = [{ title: "what", text: ([, , title]) => title, header: true },
    ...data.document.environments.map((e, i) => ({ title: data.document.environments.length === 1 ? "value" : `environment ${i + 1}`,
      text: ([where, key]) => String((where === "path" ? e.path?.[key] : e[key]) ?? "-") + (key === "commit" && e.dirty ? ", with changes" : "") }))];
  const rows = [...FACTS.map(([k, t]) => ["", k, t]), ...PATH.map(([k, t]) => ["path", k, t])];
  return h("section", { id: "environment", "aria-labelledby": "environment-title" },
    h("h2", { id: "environment-title" }, "Where it was measured"), table("environment", columns, rows));
}

function kindsKey() {
  return h("details", { class: "key" }, h("summary", {}, "Kinds of time"), h("dl", {}, KINDS.flatMap((k) => [h("dt", {}, k.title), h("dd", {}, k.says)])));
}

function waivedOverview(list) {
  const rows = list.flatMap((e) => waivers(e.records).map((w) => ({ ...w, id: e.id })));
  if (rows.length === 0) return null;
  return h("section", { id: "waived", "aria-labelledby": "waived-title" }, h("h2", { id: "waived-title" }, "What was waived, and why"),
    table("waived", [{ title: "experiment", text: (r) => h("a", { href: `#${r.id}` }, r.id), header: true },
      { title: "rows", text: (r) => String(r.rows), number: true }, { title: "reason, and what would let it run", text: (r) => r.reason }], rows));
}

function filters(list) {
  const told = h("p", { role: "status", id: "shown" });
  const text = h("input", { type: "search", id: "filter", placeholder: "name or question", oninput: () => apply() });
  const status = h("select", { id: "status", onchange: () => apply() }, ["all", "passed", "failed", "waived", "absent"].map((s) => h("option", { value: s }, s)));
  const kind = h("select", { id: "kind", onchange: () => apply() }, h("option", { value: "all" }, "all"), KINDS.map((k) => h("option", { value: k.name }, k.title)));
  function apply() {
    let shown = 0;
    for (const part of document.querySelectorAll("section.experiment")) {
      const words = `${part.id} ${part.querySelector(".question").textContent}`.toLowerCase();
      const kinds = [...part.querySelectorAll(".kind")];
      for (const k of kinds) k.hidden = kind.value !== "all" && k.dataset.kind !== kind.value;
      const fits = words.includes(text.value.toLowerCase()) && (status.value === "all" || part.dataset.status === status.value) &&
        (kind.value === "all" || kinds.some((k) => !k.hidden));
      part.hidden = !fits;
      document.querySelector(`#nav a[href="#${CSS.escape(part.id)}"]`).parentElement.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    told.textContent = `${shown} of ${list.length} experiments shown`;
  }
  queueMicrotask(apply);
  return h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    h("label", {}, "Find ", text), h("label", {}, "Status ", status), h("label", {}, "Kind of time ", kind), told);
}

function start() {
  const data = JSON.parse(document.getElementById("marrow-data").textContent);
  const list = experiments(data);
  document.getElementById("top").append(...overview(data, list));
  document.getElementById("nav").append(h("h2", {}, "Experiments"), h("ul", {}, list.map((e) => h("li", {},
    h("a", { href: `#${e.id}` }, e.id), " ", e.records.length ? badge(statusOf(e.records)) : null))));
  document.getElementById("loading").remove();
  document.getElementById("main").append(...[kindsKey(), filters(list), ...list.map(section), waivedOverview(list), environments(data)].filter(Boolean));
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  globalThis.marrow = { drawAll, ready: performance.now() };
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.folded")) part.fill();
    drawAll();
  });
}

try {
  start();
} catch (problem) {
  document.getElementById("main").replaceChildren(h("p", { role: "alert" }, `This page cannot read its data: ${problem.message}`));
  throw problem;
}
