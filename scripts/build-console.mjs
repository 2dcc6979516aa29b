// Builds the console into `dist/console`, or another folder: `node scripts/build-console.mjs [FOLDER]`.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "src/console");
const target = process.argv[2] ?? join(root, "dist/console");
const assets = join(target, "assets");

rmSync(target, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });

const { metafile } = await build({
  entryPoints: [join(source, "main.tsx"), join(source, "style.css")],
  outdir: assets,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  minify: true,
  metafile: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});

const outputOf = (entry) => {
  const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry));
  if (found === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  return found;
};
const built = (entry) => basename(outputOf(entry)[0]);

/** Files that every page needs. The page names them at once, so that they need not wait for the main module. */
const [, main] = outputOf("main.tsx");
const preloads = main.imports
  .filter(({ kind }) => kind === "import-statement")
  .map(({ path }) => `<link rel="modulepreload" href="/assets/${basename(path)}" />`);

const icon = readFileSync(join(source, "icon.svg"));
const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
writeFileSync(join(assets, iconName), icon);

for (const name of readdirSync(assets)) {
  const bytes = readFileSync(join(assets, name));
  writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes));
}

const page = readFileSync(join(source, "index.html"), "utf8")
  .replace("MAIN", built("main.tsx"))
  .replace("STYLE", built("style.css"))
  .replace("ICON", iconName)
  .replace("<!-- PRELOADS -->", preloads.join("\n    "));
writeFileSync(join(target, "index.html"), page);
