/**
 * What the walk over a configuration carries along: the environment, where each path stands, and the problems so far.
 */
import { type ConfigProblem, type Path, pathText } from "./problem.js";
import type { Environment } from "./substitute.js";

export type Report = (path: Path, message: string, allowed?: string) => void;

export interface ReadingContext {
  readonly env: Environment;
  readonly problems: readonly ConfigProblem[];
  /** The mappings with fixed keys around the value that is read, the outermost first. */
  readonly around: readonly { readonly path: Path; readonly keys: readonly string[] }[];
  /** Passwords and tokens that were read. */
  readonly secrets: string[];
  /** Remembers the line of a path. */
  place(path: Path, line: number): void;
  report: Report;
  /** Whether there is no problem with the value at the path, nor with anything in it. */
  isReadable(path: Path): boolean;
  /** Runs a rule of the mapping at `path`; a key that already has a problem does not get a second one for it. */
  hold(path: Path, rule: (report: Report) => void): void;
}

export function readingContext(file: string, env: Environment): ReadingContext {
  const lines = new Map<string, number>();
  const problems: ConfigProblem[] = [];
  const reported = new Set<string>();
  /** Paths with a problem, and all paths around them. */
  const unreadable = new Set<string>();

  /** The line of the path, or of the nearest mapping around it. */
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
    place: (path, line) => void lines.set(pathText(path), line),
    report,
    isReadable: (path) => !unreadable.has(pathText(path)),
    hold(path, rule) {
      rule((relative, message, allowed) => {
        const whole = [...path, ...relative];
        if (!reported.has(pathText(whole))) report(whole, message, allowed);
      });
    },
  };
}
