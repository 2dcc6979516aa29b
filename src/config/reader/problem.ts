/**
 * Problems of a configuration and their text.
 *
 * A problem has the file, the line and the key path, so that a person finds the cause at once. It never contains a
 * value that may be secret; `scalar.ts` decides which values are shown.
 */

/** Path of a value: keys of mappings and indexes of lists, from the root of the file. */
export type Path = readonly (string | number)[];

export interface ConfigProblem {
  /** The file, as the caller named it. */
  file: string;
  /** Line in the file, from 1. A missing key has the line of the mapping where it is missing. */
  line: number;
  /** For example `tenants.acme.plugin_settings.cost_types[0].rate`; empty for the file as a whole. */
  path: string;
  /** One sentence, starting in lower case. */
  message: string;
  /** The accepted values in a few words, such as `an integer from 1 to 364`. Undefined if they need more. */
  allowed?: string;
}

/** The most problems that are printed. A file with more repeats one cause. */
const MOST_PRINTED = 200;

/** Returns the key, or undefined if printing it could reveal a pasted secret or break the line. */
export function printableKey(key: string): string | undefined {
  return /^[\w.~ -]{1,100}$/.test(key) ? key : undefined;
}

function step(part: string | number): string {
  if (typeof part === "number") return `[${part}]`;
  if (/^[\w-]+$/.test(part)) return `.${part}`;
  return `["${printableKey(part) ?? "…"}"]`;
}

/** Formats `["tenants", "a.b", "cost_types", 0]` as `tenants["a.b"].cost_types[0]`. */
export function pathText(path: Path): string {
  return path.map(step).join("").replace(/^\./, "");
}

/** For example `chargehouse.yaml:12: tenants.acme.lookback_days: must be an integer from 1 to 364, not "x"`. */
export function formatProblem(problem: ConfigProblem): string {
  const place = `${problem.file}:${problem.line}: `;
  return `${place}${problem.path === "" ? "" : `${problem.path}: `}${problem.message}`;
}

/** One line per problem, in the order given. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems.slice(0, MOST_PRINTED).map(formatProblem);
  const more = problems.length - lines.length;
  return [...lines, ...(more > 0 ? [`… and ${more} more problems`] : [])].join("\n");
}
