/** Sources and tests as JavaScript, so that each test file is a process that need not compile anything. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";

export const compileOptions = {
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: "inline",
  sourcesContent: false,
  logLevel: "warning",
} as const satisfies BuildOptions;

/** Files below a folder, sorted. */
export const filesBelow = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
    .sort();

/** Compiles these folders of a project into a folder within it, where modules and the project are found. */
export async function compileProject(
  root: string,
  folders: readonly string[],
  outdir: string,
): Promise<void> {
  // The console is compiled for browsers; its amounts alone are tested without one.
  const console = join(root, "src", "console");
  const money = join(console, "money");
  const entryPoints = folders
    .flatMap((folder) => filesBelow(join(root, folder), ".ts"))
    .filter((file) => !file.startsWith(console) || file.startsWith(money));
  await build({ ...compileOptions, entryPoints, outdir, outbase: root });
}
