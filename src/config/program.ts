/** Programs of ours that run as processes of their own. */
import { fileURLToPath } from "node:url";

/**
 * What node is given to run the program at `path`, relative to the file whose `import.meta.url` is `from`. Named by `.js`, as an import
 * is: sources are run by tsx, compiled files as they are.
 */
export function programArguments(path: string, from: string): string[] {
  const fromSources = from.endsWith(".ts");
  const file = fileURLToPath(new URL(fromSources ? path.replace(/\.js$/, ".ts") : path, from));
  return fromSources ? ["--import", import.meta.resolve("tsx"), file] : [file];
}
