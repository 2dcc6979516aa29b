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

/** Text with `@{` where the file has the beginning of a template's expression, which would look like a mistake here. */
export function template(text: string): string {
  return text.replaceAll("@{", "${");
}
