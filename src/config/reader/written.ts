/**
 * The configuration as written: mappings, lists and scalars with their lines, independent of the YAML library.
 *
 * Scalars keep the text of the source, so that `0.10` can be read as an exact decimal.
 */

export type WrittenScalar = {
  kind: "scalar";
  line: number;
  text: string;
  /** The type in YAML. A quoted `"8080"` is text, a bare 8080 is a number. */
  looks: "text" | "number" | "boolean";
};

export interface WrittenMapping {
  kind: "mapping";
  line: number;
  entries: ReadonlyMap<string, WrittenEntry>;
}

export interface WrittenEntry {
  /** The line of the key, where a person looks first. */
  line: number;
  value: Written;
}

export interface WrittenList {
  kind: "list";
  line: number;
  items: readonly Written[];
}

/** A key without a value counts as missing, so that a section with all its keys commented out is no problem. */
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
