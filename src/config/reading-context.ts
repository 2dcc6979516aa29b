/**
 * What the walk over a configuration carries along: the environment, where each path stands, and the problems so far.
 */
import { type ConfigProblem, type Path, pathText } from "./problem.js";
import type { Environment } from "./substitute.js";

export type Report = (path: Path, message: string, allowed?: string) => void;

export interface ReadingContext {
  readonly env: Environment;
  readonly problems: readonly ConfigProblem[];
  /** Passwords and tokens that were read. */
  readonly secrets: string[];
  /** Remembers the line of a path. */
  place(path: Path, line: number): void;
  report: Report;
  /** Runs a rule of the mapping at `path`; a key that already has a problem does not get a second one for it. */
  hold(path: Path, rule: (report: Report) => void): void;
}

export function readingContext(file: string, env: Environment): ReadingContext {
  const lines = new Map<string, number>();
  const problems: ConfigProblem[] = [];
  const reported = new Set<string>();

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
    secrets: [],
    place: (path, line) => void lines.set(pathText(path), line),
    report,
    hold(path, rule) {
      rule((relative, message, allowed) => {
        const whole = [...path, ...relative];
        if (!reported.has(pathText(whole))) report(whole, message, allowed);
      });
    },
  };
}
