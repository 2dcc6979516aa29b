/** Starts programs of this package as processes of their own. */
import { fileURLToPath } from "node:url";

/**
 * Returns the arguments of `node` for the program at `path`, relative to the file whose `import.meta.url` is `from`.
 * The path ends in `.js`, as in an import: sources are run by tsx, compiled files as they are.
 */
export function programArguments(path: string, from: string): string[] {
  const fromSources = from.endsWith(".ts");
  const file = fileURLToPath(new URL(fromSources ? path.replace(/\.js$/, ".ts") : path, from));
  return fromSources ? ["--import", import.meta.resolve("tsx"), file] : [file];
}
