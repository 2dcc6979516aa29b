/**
 * The vocabulary in which every key of the configuration is defined.
 *
 * A key is a TypeBox schema with a description, and whatever else the reader (`read.ts`), the JSON Schema
 * (`json-schema.ts`) and the reference page (`reference-page.ts`) need to know about it. One definition, so
 * the four cannot disagree.
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

/** What a text becomes (`value`), or why it is refused (`problem`, a sentence that never quotes the text). */
export type Parsed = { value: string } | { problem: string };

/** A refusal that concerns several keys of one mapping. Keys that could not be read are missing from `value`. */
export interface Rule<Value> {
  /** For the reference page: one sentence. */
  rule: string;
  check(value: Partial<Value>, report: (path: Path, message: string) => void): void;
}

/** Keys that the user chooses: `name` stands for them in the reference page. */
export interface KeyNotes {
  name: string;
  pattern: string;
  expected: string;
}

/** What a setting says about itself, beside the JSON Schema keywords. */
export interface Notes {
  description: string;
  /** `seconds`, `days`, `hours`, … */
  unit?: string;
  /** Never shown: not in problems, not by `check-config`, not in logs. Of a text whose parts alone are secret: which they are. */
  secret?: boolean | ((value: string) => string[]);
  /**
   * Cannot change what is gathered, with all below it: who asks and how often. Every other setting makes windows be gathered again when
   * it changes, except secrets.
   */
  inert?: boolean;
  /** What is allowed, in words, where the JSON Schema keywords cannot say it well. */
  expected?: string;
  /** Words in any case are taken, and these stand for others. */
  synonyms?: Readonly<Record<string, string>>;
  /** A number that must keep every digit: read from its text, never through a float. */
  decimal?: boolean;
  /** Checks and normalises a text. */
  parse?: (text: string) => Parsed;
  rules?: readonly Rule<Record<string, unknown>>[];
  /** Entries of a list: no two have the same value of this key. */
  uniqueBy?: string;
  /** Which key tells the forms of a mapping apart, and the keys that all forms have. */
  discriminator?: { key: string; shared: TObject };
  /** Of a mapping whose keys the user chooses: what a key must look like. */
  keys?: KeyNotes;
  /** Takes a single value, a list or a mapping: the form of what is written is that of its kind. */
  byKind?: boolean;
  /** A key that this release knows and refuses. */
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

/** A mapping with some fixed keys, beside keys that the user chooses, all with values of one schema. */
export function openMapping<Properties extends TProperties>(
  properties: Properties,
  { keys, value, ...options }: Omit<Notes, "rules" | "keys"> & { keys: KeyNotes; value: TSchema },
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: value, keys, ...options });
}

/** A value of several forms, no two of one kind: a single value, a list, a mapping. */
export function eitherKind(forms: readonly TSchema[], options: Omit<Notes, "rules">) {
  return Type.Union([...forms], { byKind: true, ...options });
}

/** The form that takes what has this kind. */
export function formOfKind(schema: TSchema, kind: "scalar" | "list" | "mapping"): TSchema | undefined {
  const forms = KindGuard.IsUnion(schema) ? schema.anyOf : [schema];
  return forms.find((form) => {
    if (KindGuard.IsArray(form)) return kind === "list";
    return kind === (KindGuard.IsObject(form) || KindGuard.IsRecord(form) ? "mapping" : "scalar");
  });
}

/** What the keys of the user's choice take, of a mapping that has fixed keys as well. */
export function openValue(schema: TObject): TSchema | undefined {
  return KindGuard.IsSchema(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

/** A mapping of several forms, told apart by the value of `key`; each form has a `Type.Literal` there. */
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
 * A key that the specification has and this release does not: writing it is a problem that says so, because a
 * key that is taken and does nothing is worse. An empty value is taken, as it asks for nothing.
 */
export function unsupported(description: string) {
  return Type.Optional(Type.Never({ unsupported: true, description }));
}
