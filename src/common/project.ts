/**
 * Locates this package on disk and reads its version.
 *
 * The same code runs from `src/` (tests, development), from `dist/` (a clone after the build) and from
 * `node_modules/chargehouse/dist` (an installed package). Folders beside it, such as `migrations/`, are therefore found
 * from the nearest `package.json` of this package, never by a fixed number of `..`.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

interface Manifest {
  name?: string;
  version?: string;
}

function manifestOf(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

/** Returns the folder of our `package.json`: the nearest one above this file whose name is `chargehouse`. */
export function projectRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = dirname(folder)) {
    if (manifestOf(folder)?.name === "chargehouse") return folder;
    if (folder === dirname(folder)) throw new Error(`No package.json of chargehouse at or above ${start}`);
  }
}

/** The version that `/health` reports: that of the built package, otherwise `0.0.0-dev`. */
export function packageVersion(): string {
  const root = projectRoot();
  const isBuilt = relative(root, fileURLToPath(import.meta.url)).startsWith(`dist${sep}`);
  return (isBuilt ? manifestOf(root)?.version : undefined) ?? "0.0.0-dev";
}
