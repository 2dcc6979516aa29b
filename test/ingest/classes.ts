/** What kinds of examples a property has met: one that never met some kind says nothing about it. */
export class Classes<Name extends string> {
  readonly #counts = new Map<Name, number>();

  met(name: Name): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Those that were met fewer times than this. */
  missing(names: readonly Name[], times: number): string[] {
    return names
      .filter((name) => (this.#counts.get(name) ?? 0) < times)
      .map((name) => `${name}: ${this.#counts.get(name) ?? 0}`);
  }
}
