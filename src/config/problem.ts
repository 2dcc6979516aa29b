/**
 * What is wrong with a configuration, and how it is said.
 *
 * A problem names the file, the line and the key path, so that a person can go straight there. It never carries
 * a value that may be a secret: see `scalar.ts` for what is shown of a value at all.
 */

/** Where a value stands: keys of mappings and positions in lists, from the root of the file. */
export type Path = readonly (string | number)[];

export interface ConfigProblem {
  /** The file as the caller named it. */
  file: string;
  /** Line in that file, from 1. A missing key has the line of the mapping that lacks it. */
  line: number;
  /** For example `tenants.acme.plugin_settings.cost_types[0].rate`; empty for the file as a whole. */
  path: string;
  /** One sentence, starting in lower case. */
  message: string;
  /** What the key takes, where that can be said in a few words: `an integer from 1 to 364`. */
  allowed?: string;
}

/** The most problems that are printed; a file with more has one cause that is repeated. */
const MOST_PRINTED = 200;

/** A key as it may be printed: one that looks like a pasted secret or would break the line is not. */
export function printableKey(key: string): string | undefined {
  return /^[\w.~ -]{1,100}$/.test(key) ? key : undefined;
}

function step(part: string | number): string {
  if (typeof part === "number") return `[${part}]`;
  if (/^[\w-]+$/.test(part)) return `.${part}`;
  return `["${printableKey(part) ?? "…"}"]`;
}

/** `["tenants", "a.b", "cost_types", 0]` as `tenants["a.b"].cost_types[0]`. */
export function pathText(path: Path): string {
  return path.map(step).join("").replace(/^\./, "");
}

/** `chargehouse.yaml:12: tenants.acme.lookback_days: must be an integer from 1 to 364, not "x"` */
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
