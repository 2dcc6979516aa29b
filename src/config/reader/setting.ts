/**
 * Functions that define the keys of the configuration.
 *
 * A key is a TypeBox schema with a description, plus whatever the reader (`read.ts`), the JSON Schema
 * (`json-schema.ts`) and the reference page (`reference-page.ts`) need to know about it. With one definition, the four
 * cannot disagree.
 */
import {
  KindGuard,
  type Static,
  type TLiteral,
  type TObject,
  type TProperties,
  type TRecord,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from "@sinclair/typebox";
import type { Path } from "./problem.js";

/** The parsed text (`value`), or why it is refused (`problem`, a sentence that never quotes the text). */
export type Parsed = { value: string } | { problem: string };

/** A rule between keys of one mapping. Keys that could not be read are missing from `value`. */
export interface Rule<Value> {
  /** One sentence for the reference page. */
  rule: string;
  check(value: Partial<Value>, report: (path: Path, message: string) => void): void;
}

/** Keys that the user chooses. The reference page calls them `name`. */
export interface KeyNotes {
  name: string;
  pattern: string;
  expected: string;
}

/** Properties of a setting beyond the JSON Schema keywords. */
export interface Notes {
  description: string;
  /** `seconds`, `days`, `hours`, … */
  unit?: string;
  /**
   * Never shown in problems, by `check-config` or in logs. A function returns the secret parts of the text, such as the
   * password in a URL.
   */
  secret?: boolean | ((value: string) => string[]);
  /**
   * True if neither the setting nor anything below it can change what is gathered, such as callers and intervals. A
   * change of any other setting, except secrets, makes the windows be gathered again.
   */
  inert?: boolean;
  /** Allowed values in words, if the JSON Schema keywords cannot describe them well. */
  expected?: string;
  /** Accepted alternatives, such as aliases of a word. With synonyms, words are accepted in any case. */
  synonyms?: Readonly<Record<string, string>>;
  /** A number that keeps every digit: it is read from its text, never through a float. */
  decimal?: boolean;
  /** Validates and normalizes a text. */
  parse?: (text: string) => Parsed;
  rules?: readonly Rule<Record<string, unknown>>[];
  /**
   * The key whose values must be unique among the entries of a list. Entries that have days (`valid_from`, `valid_to`)
   * may have the same value on different days, unless `isUniqueForever`.
   */
  uniqueBy?: string;
  isUniqueForever?: true;
  /** At most one entry of the list counts on each day. */
  isOneAtATime?: true;
  /** The key is the first or last day on which its mapping counts. */
  isValidity?: true;
  /** The key that selects the form of a mapping, and the keys that all forms share. */
  discriminator?: { key: string; shared: TObject };
  /** Syntax of the keys of a mapping whose keys the user chooses. */
  keys?: KeyNotes;
  /** Accepts several kinds of values (single value, list, mapping). The kind selects the form. */
  byKind?: boolean;
  /** A key of the specification that this release refuses. */
  unsupported?: boolean;
}

export function notesOf(schema: TSchema): Partial<Notes> {
  return schema;
}

type Options<Value> = Omit<Notes, "rules"> & { default?: Value };

export function text(
  options: Options<string> & { minLength?: number; maxLength?: number; pattern?: string },
): TString {
  return Type.String({ minLength: 1, maxLength: 200, ...options });
}

export function integer(
  options: Options<number> & { minimum: number; maximum?: number; multipleOf?: number },
) {
  return Type.Integer({ ...options });
}

export function flag(options: Options<boolean>) {
  return Type.Boolean({ ...options });
}

/** One word of a fixed list. */
export function choice<const Word extends string>(
  words: readonly Word[],
  options: Options<NoInfer<Word>>,
): TUnion<TLiteral<Word>[]> {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    { ...options },
  );
}

/** A mapping with a fixed set of keys. */
export function mapping<Properties extends TProperties>(
  properties: Properties,
  options: Omit<Notes, "rules"> & { rules?: readonly Rule<Static<TObject<Properties>>>[] },
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** A mapping that may be left out: all its keys have defaults or are optional. */
export function section<Properties extends TProperties>(
  properties: Properties,
  options: Omit<Notes, "rules"> & { rules?: readonly Rule<Static<TObject<Properties>>>[] },
): TObject<Properties> {
  return mapping(properties, { default: {}, ...options } as typeof options);
}

/** A mapping whose keys the user chooses. */
export function mapOf<Value extends TSchema>(
  keys: KeyNotes,
  value: Value,
  options: Options<Record<string, never>> & { maxProperties: number },
): TRecord<TString, Value> {
  return Type.Record(Type.String({ pattern: keys.pattern }), value, {
    additionalProperties: false,
    keys,
    ...options,
  });
}

/** A mapping with fixed keys and with keys that the user chooses, whose values have one schema. */
export function openMapping<Properties extends TProperties>(
  properties: Properties,
  { keys, value, ...options }: Omit<Notes, "rules" | "keys"> & { keys: KeyNotes; value: TSchema },
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: value, keys, ...options });
}

/** A value with several forms, each of another kind: a single value, a list, a mapping. */
export function eitherKind(forms: readonly TSchema[], options: Omit<Notes, "rules">) {
  return Type.Union([...forms], { byKind: true, ...options });
}

/** Returns the form for values of this kind. */
export function formOfKind(schema: TSchema, kind: "scalar" | "list" | "mapping"): TSchema | undefined {
  const forms = KindGuard.IsUnion(schema) ? schema.anyOf : [schema];
  return forms.find((form) => {
    if (KindGuard.IsArray(form)) return kind === "list";
    return kind === (KindGuard.IsObject(form) || KindGuard.IsRecord(form) ? "mapping" : "scalar");
  });
}

/** Returns the schema of the user's keys in a mapping that also has fixed keys. */
export function openValue(schema: TObject): TSchema | undefined {
  return KindGuard.IsSchema(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

/** A mapping with several forms, selected by the value of `key`. Each form has a `Type.Literal` there. */
export function oneOf<Form extends TObject>(
  key: string,
  shared: TObject,
  forms: Form[],
  options: Omit<Notes, "rules">,
) {
  return Type.Union(forms, { discriminator: { key, shared }, ...options });
}

export function list<Item extends TSchema>(
  item: Item,
  options: Options<Static<Item>[]> & { minItems?: number; maxItems: number },
) {
  return Type.Array(item, { ...options });
}

/**
 * A key of the specification that this release does not support. Using it is a problem, because a key without effect
 * would be worse. An empty value is allowed.
 */
export function unsupported(description: string) {
  return Type.Optional(Type.Never({ unsupported: true, description }));
}
