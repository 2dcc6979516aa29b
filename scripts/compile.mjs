// Compiles the service into `dist`, or another folder: `node scripts/compile.mjs [FOLDER]`. It does not check types, which
// takes twenty times as long: `npm run typecheck` does.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const source = fileURLToPath(new URL("../src", import.meta.url));
const target = process.argv[2] ?? fileURLToPath(new URL("../dist", import.meta.url));
const files = readdirSync(source, { recursive: true }).filter((file) => file.endsWith(".ts"));
// The console is compiled for browsers.
const entryPoints = files.filter((file) => !file.startsWith("console")).map((file) => join(source, file));

rmSync(target, { recursive: true, force: true });
await build({
  entryPoints,
  outdir: target,
  outbase: source,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
});
