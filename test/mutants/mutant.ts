/** A small change of the product that a test has to notice. */
export interface Mutant {
  /** Describes the mistake. */
  readonly name: string;
  readonly file: string;
  /** A text that occurs in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** Test files. One of them has to fail. */
  readonly tests: readonly string[];
}

/** Makes mutants of one file that the same tests have to notice. Each is a name, a text, and its replacement. */
export function mutantsOf(
  file: string,
  tests: readonly string[],
  changes: readonly (readonly [name: string, from: string, to: string])[],
): Mutant[] {
  return changes.map(([name, from, to]) => ({ name, file, from, to, tests }));
}

/** Text in which `@{` stands for the beginning of a template's expression, which the linter would report here. */
export function template(text: string): string {
  return text.replaceAll("@{", "${");
}
