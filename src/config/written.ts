/**
 * The configuration as it was written: mappings, lists and scalars with their lines, free of YAML's machinery.
 *
 * Scalars keep the text of the source, so that `0.10` can be read as an exact decimal.
 */

export type WrittenScalar = {
  kind: "scalar";
  line: number;
  text: string;
  /** What YAML takes the scalar for. A quoted `"8080"` is text, a bare 8080 a number. */
  looks: "text" | "number" | "boolean";
};

export interface WrittenMapping {
  kind: "mapping";
  line: number;
  entries: ReadonlyMap<string, WrittenEntry>;
}

export interface WrittenEntry {
  /** The line of the key, which is where a person looks. */
  line: number;
  value: Written;
}

export interface WrittenList {
  kind: "list";
  line: number;
  items: readonly Written[];
}

/** A key without a value counts as not written, so that a section whose keys are all commented out is no problem. */
export interface WrittenNothing {
  kind: "nothing";
  line: number;
}

export type Written = WrittenScalar | WrittenMapping | WrittenList | WrittenNothing;

export const KIND_IN_WORDS = {
  scalar: "a single value",
  mapping: "a mapping",
  list: "a list",
  nothing: "empty",
};
