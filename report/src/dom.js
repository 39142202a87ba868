// SPDX-License-Identifier: Apache-2.0
// Elements without a framework. Text goes in as text: nothing from a document is ever read as HTML.

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

/** A table with a caption, row headers and numbers to the right. columns: [{title, text(row), number?, header?}] */
export function table(caption, columns, rows) {
  const cell = (column, row) => {
    const text = column.text(row);
    if (column.header) return h("th", { scope: "row" }, text);
    return h("td", { class: column.number ? "number" : null }, text);
  };
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col", class: c.number ? "number" : null }, c.title)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((c) => cell(c, row)))))));
}
