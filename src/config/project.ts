/**
 * Where this package lies on disk, and which version it is.
 *
 * The same code runs from `src/` (tests, development), from `dist/` (a clone after the build) and from
 * `node_modules/chargehouse/dist` (an installed package); what lies beside it, such as `migrations/`, is
 * therefore looked up from the nearest `package.json` that is ours, never by a fixed number of `..`.
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

/** The folder that holds our `package.json`: the nearest one upward from this file whose name is `chargehouse`. */
export function projectRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = dirname(folder)) {
    if (manifestOf(folder)?.name === "chargehouse") return folder;
    if (folder === dirname(folder)) throw new Error(`No package.json of chargehouse at or above ${start}`);
  }
}

/** The version that `/health` reports: that of the package where it was built, else `0.0.0-dev`. */
export function packageVersion(): string {
  const root = projectRoot();
  const isBuilt = relative(root, fileURLToPath(import.meta.url)).startsWith(`dist${sep}`);
  return (isBuilt ? manifestOf(root)?.version : undefined) ?? "0.0.0-dev";
}
