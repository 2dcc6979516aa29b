/** State of the walk over a configuration: the environment, the line of each path, and the problems so far. */
import { type ConfigProblem, type Path, pathText } from "./problem.js";
import type { Environment } from "./substitute.js";

export type Report = (path: Path, message: string, allowed?: string) => void;

export interface ReadingContext {
  readonly env: Environment;
  readonly problems: readonly ConfigProblem[];
  /** Enclosing mappings with fixed keys, the outermost first. */
  readonly around: readonly { readonly path: Path; readonly keys: readonly string[] }[];
  /** Passwords and tokens found so far. */
  readonly secrets: string[];
  /** Records the line of a path. */
  setLine(path: Path, line: number): void;
  report: Report;
  /** True if neither the value at the path nor anything in it has a problem. */
  isReadable(path: Path): boolean;
  /** Checks a rule of the mapping at `path`. A path that already has a problem does not get a second one. */
  checkRule(path: Path, rule: (report: Report) => void): void;
}

export function readingContext(file: string, env: Environment): ReadingContext {
  const lines = new Map<string, number>();
  const problems: ConfigProblem[] = [];
  const reported = new Set<string>();
  /** Paths with a problem, and the paths of all values that contain them. */
  const unreadable = new Set<string>();

  /** The line of the path, or of the nearest enclosing mapping. */
  function lineOf(path: Path): number {
    for (let length = path.length; length > 0; length--) {
      const line = lines.get(pathText(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  }

  function report(path: Path, message: string, allowed?: string): void {
    const text = pathText(path);
    reported.add(text);
    for (let length = path.length; length > 0; length--) unreadable.add(pathText(path.slice(0, length)));
    problems.push({
      file,
      line: lineOf(path),
      path: text,
      message,
      ...(allowed === undefined ? {} : { allowed }),
    });
  }

  return {
    env,
    problems,
    around: [],
    secrets: [],
    setLine: (path, line) => void lines.set(pathText(path), line),
    report,
    isReadable: (path) => !unreadable.has(pathText(path)),
    checkRule(path, rule) {
      rule((relative, message, allowed) => {
        const fullPath = [...path, ...relative];
        if (!reported.has(pathText(fullPath))) report(fullPath, message, allowed);
      });
    },
  };
}
