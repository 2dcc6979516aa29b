/** Compiles sources and tests to JavaScript, so that test processes need not compile anything. */
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

/** Returns the files below a folder, sorted. */
export const filesBelow = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
    .sort();

/** Compiles folders of a project into a folder inside it, so that the output finds modules and the project. */
export async function compileProject(
  root: string,
  folders: readonly string[],
  outdir: string,
): Promise<void> {
  // The console is compiled for browsers. Only its amounts and its addresses are tested without one.
  const console = join(root, "src", "console");
  const tested = ["money", "state"].map((folder) => join(console, folder));
  const entryPoints = folders
    .flatMap((folder) => filesBelow(join(root, folder), ".ts"))
    .filter((file) => !file.startsWith(console) || tested.some((folder) => file.startsWith(folder)));
  await build({ ...compileOptions, entryPoints, outdir, outbase: root });
}
