// SPDX-License-Identifier: Apache-2.0
// Elements without a framework. Text goes in as text: nothing from a document is ever read as HTML.

const kAtOnce = 300;

/** h("p", {class: "x"}, "text", child, ...): an element. Null children are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** A table with a caption, row headers and numbers to the right. columns: [{title, text(row), number?, header?}]. Long ones
 * begin with their first rows; a button brings the next. */
export function table(caption, columns, rows) {
  const cell = (column, row) => {
    const text = column.text(row);
    if (column.header) return h("th", { scope: "row" }, text);
    return h("td", { class: column.number ? "number" : null }, text);
  };
  const line = (row) => h("tr", {}, columns.map((c) => cell(c, row)));
  const body = h("tbody", {}, rows.slice(0, kAtOnce).map(line));
  const button = rows.length <= kAtOnce ? null : h("button", { type: "button", class: "more", onclick: () => {
    const from = body.rows.length;
    body.append(...rows.slice(from, from + kAtOnce).map(line));
    tell();
  } });
  const tell = () => {
    if (!button) return;
    button.textContent = `${body.rows.length} of ${rows.length} rows are shown; show more`;
    button.hidden = body.rows.length === rows.length;
  };
  tell();
  return [h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col", class: c.number ? "number" : null }, c.title)))),
      body)), button];
}

/** A closed part whose content is made when it is first opened, or printed. */
export function folded(title, open, make) {
  const part = h("details", { class: "folded" }, h("summary", {}, title));
  part.fill = () => {
    part.append(...[make()].flat(Infinity).filter(Boolean));
    part.fill = () => {};
  };
  part.addEventListener("toggle", () => { if (part.open) part.fill(); });
  if (open) {
    part.open = true;
    part.fill();
  }
  return part;
}

const GLYPHS = ["M5,1a4,4 0 1,0 .01,0z", "M1.5,1.5h7v7h-7z", "M5,1l4.5,8h-9z", "M5,0l4,5l-4,5l-4,-5z", "M3.5,1h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z"];

/** Which colour and shape is which series; nothing where there is one. */
export function legend(names) {
  if (names.length < 2) return "";
  const glyph = (i) => {
    const make = (tag, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    const svg = make("svg", { viewBox: "0 0 10 10", width: "10", height: "10", "aria-hidden": "true" });
    svg.append(make("path", { d: GLYPHS[i % GLYPHS.length], class: `series-${i % 6}` }));
    return svg;
  };
  return h("ul", { class: "legend" }, names.map((name, i) => h("li", {}, glyph(i), ` ${name}`)));
}
