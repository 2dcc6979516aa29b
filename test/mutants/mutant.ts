/** A small change of the product that a test has to notice. */
export interface Mutant {
  /** What is wrong with it. */
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** Test files of which one has to fail. */
  readonly tests: readonly string[];
}

/** Mutants of one file that the same tests are to notice: name, from, to. */
export function mutantsOf(
  file: string,
  tests: readonly string[],
  changes: readonly (readonly [name: string, from: string, to: string])[],
): Mutant[] {
  return changes.map(([name, from, to]) => ({ name, file, from, to, tests }));
}
