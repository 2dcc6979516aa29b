// Builds the console into `dist/console`, or another folder: `node scripts/build-console.mjs [FOLDER]`.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bundleOptions, pageWith, source } from "./console-bundle.mjs";

const target = process.argv[2] ?? fileURLToPath(new URL("../dist/console", import.meta.url));
const assets = join(target, "assets");

rmSync(target, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });

const { metafile } = await build({
  ...bundleOptions,
  outdir: assets,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  minify: true,
  metafile: true,
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

const names = { main: built("main.tsx"), style: built("style.css"), icon: iconName };
writeFileSync(join(target, "index.html"), pageWith({ ...names, head: preloads.join("\n    ") }));
