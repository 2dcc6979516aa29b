/**
 * Counts which kinds of examples a property test has produced, because it proves nothing about a kind that never
 * occurred.
 */
export class Classes<Name extends string> {
  readonly #counts = new Map<Name, number>();

  met(name: Name): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Returns the kinds that occurred fewer times than this. */
  missing(names: readonly Name[], times: number): string[] {
    return names
      .filter((name) => (this.#counts.get(name) ?? 0) < times)
      .map((name) => `${name}: ${this.#counts.get(name) ?? 0}`);
  }
}
