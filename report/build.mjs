// SPDX-License-Identifier: Apache-2.0
// node build.mjs OUT: bundles src/, specs/ and Vega into OUT, one HTML file that loads nothing. `marrow report` replaces
// the mark inside the element #marrow-data by the page's data.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const out = process.argv[2];
if (!out) {
  console.error("error: build.mjs needs the name of the page\ntry: node build.mjs dist/page.html");
  process.exit(2);
}

const bundle = await build({
  entryPoints: ["src/main.js"],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  loader: { ".json": "json" },
});
// The text stands inside <script>: it must not end that element.
const script = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = readFileSync("src/style.css", "utf8");
const page = readFileSync("src/page.html", "utf8")
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
