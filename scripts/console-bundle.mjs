// Options and the page of the console, for its build and for `npm run dev`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const source = fileURLToPath(new URL("../src/console", import.meta.url));

/** Options of esbuild. */
export const bundleOptions = {
  entryPoints: [join(source, "main.tsx"), join(source, "style.css")],
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

/** Returns the page with the names of its files in `/assets`, and elements for its head. */
export function pageWith({ main, style, icon, head }) {
  return readFileSync(join(source, "index.html"), "utf8")
    .replace("MAIN", main)
    .replace("STYLE", style)
    .replace("ICON", icon)
    .replace("<!-- PRELOADS -->", head);
}
