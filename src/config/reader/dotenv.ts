/**
 * Parser for `.env` files: lines of `NAME=value`.
 *
 * It does not use Node's `util.parseEnv`, which silently skips lines that it does not understand; here they are
 * problems. Comments start with `#`, at the start of a line or after a
 * space. A leading `export ` is ignored. `'…'` is literal. `"…"` supports `\n`, `\r`, `\t`, `\"`, `\\` and `\$`, and
 * may span lines. Variables in values are not expanded.
 */
import type { ConfigProblem } from "./problem.js";

export interface DotEnv {
  values: Record<string, string>;
  problems: ConfigProblem[];
}

const ASSIGNMENT = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/;
const SINGLE_QUOTED = /^'([^']*)'[ \t]*(?:#.*)?$/m;
const DOUBLE_QUOTED = /^"((?:[^"\\]|\\[\s\S])*)"[ \t]*(?:#.*)?$/m;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unquoted(value: string): string {
  return value.replace(/(^|[ \t])#.*$/, "").trim();
}

/**
 * Parses a quoted value at the start of `rest`. `length` is the number of characters up to the end of its last line.
 */
function quoted(rest: string): { value: string; length: number } | undefined {
  const single = rest.startsWith("'") ? SINGLE_QUOTED.exec(rest) : null;
  if (single !== null && single.index === 0) return { value: single[1] ?? "", length: single[0].length };
  const double = rest.startsWith('"') ? DOUBLE_QUOTED.exec(rest) : null;
  if (double === null || double.index !== 0) return undefined;
  const value = (double[1] ?? "").replace(/\\([\s\S])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
  return { value, length: double[0].length };
}

export function parseDotEnv(source: string, file: string): DotEnv {
  const result: DotEnv = { values: {}, problems: [] };
  const values = new Map<string, string>();
  let rest = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  let line = 1;
  const problem = (message: string) => result.problems.push({ file, line, path: "", message });
  while (rest !== "") {
    const end = rest.includes("\n") ? rest.indexOf("\n") : rest.length;
    const current = rest.slice(0, end).trim();
    const indent = rest.length - rest.trimStart().length;
    const assignment = ASSIGNMENT.exec(current);
    let consumed = end;
    if (assignment !== null) {
      const start = Math.min(indent, end) + assignment[0].length;
      const value = rest.slice(start);
      if (/^['"]/.test(value)) {
        const found = quoted(value);
        if (found === undefined)
          problem("the quotes around this value are not closed, or something follows them");
        else {
          values.set(assignment[1] ?? "", found.value);
          consumed = start + found.length;
        }
      } else values.set(assignment[1] ?? "", unquoted(rest.slice(start, end)));
    } else if (current !== "" && !current.startsWith("#")) problem("is not of the form NAME=value");
    line += rest.slice(0, consumed + 1).split("\n").length - 1;
    rest = rest.slice(consumed + 1);
  }
  result.values = Object.fromEntries(values);
  return result;
}
