/** Draws values for parameters and fields: valid ones by their description, and hostile ones. */
import type { Schema } from "../../../src/http/description/openapi-types.js";
import fc from "../../property.js";
import {
  boundaryDates,
  boundaryInstants,
  boundaryNumbers,
  boundaryNumberTexts,
  hostileTexts,
} from "./hostile.js";

/**
 * Values that the service knows, by the names of parameters and fields. They change during the test, so a request takes
 * the value at a position.
 */
export type Known = Readonly<Record<string, readonly unknown[]>>;

/** A value, or a position in the list of known values. */
export type Drawn = { readonly value: unknown } | { readonly known: string; readonly place: number };

export type Mood = "right" | "mixed" | "hostile";

const place = (known: string): fc.Arbitrary<Drawn> => fc.nat().map((at) => ({ known, place: at }));
export const value = (values: fc.Arbitrary<unknown>): fc.Arbitrary<Drawn> =>
  values.map((each) => ({ value: each }));

function rightValue(name: string, schema: Schema, known: Known): fc.Arbitrary<Drawn> {
  if ((known[name]?.length ?? 0) > 0) return place(name);
  if (schema.enum !== undefined) return value(fc.constantFrom(...schema.enum));
  if (schema.anyOf !== undefined)
    return fc.oneof(...schema.anyOf.map((each) => rightValue(name, each, known)));
  const examples = schema.examples ?? [];
  switch (schema.type) {
    case "integer": {
      const least = schema.minimum ?? 0;
      return value(fc.integer({ min: least, max: Math.min(schema.maximum ?? 1000, least + 20) }));
    }
    case "boolean":
      return value(fc.boolean());
    default:
      return value(
        examples.length > 0 ? fc.constantFrom(...examples) : fc.string({ minLength: 1, maxLength: 20 }),
      );
  }
}

export function hostileValue(schema: Schema): fc.Arbitrary<Drawn> {
  const most = schema.maxLength ?? 100;
  const lengths = [most - 1, most, most + 1].flatMap((length) => ["x".repeat(length), "😀".repeat(length)]);
  const ofFormat =
    schema.format === "date" ? boundaryDates : schema.format === "date-time" ? boundaryInstants : [];
  return value(
    fc.oneof(
      fc.constantFrom(...hostileTexts, ...lengths),
      fc.constantFrom(...hostileTexts, ...ofFormat, ...ofFormat, ...boundaryNumberTexts),
      fc.string({ unit: "binary", maxLength: 50 }),
      fc.string({ unit: "grapheme", maxLength: 50 }),
    ),
  );
}

/** Any JSON value except text. */
export const anything = value(
  fc.oneof(
    fc.constantFrom(...boundaryNumbers, null, true, [], {}, [[]], [null], { a: { b: {} } }),
    fc.jsonValue({ maxDepth: 3 }),
  ),
);

export const isWrong = (mood: Mood): fc.Arbitrary<boolean> =>
  mood === "right"
    ? fc.constant(false)
    : fc.integer({ min: 0, max: 9 }).map((dice) => dice < (mood === "mixed" ? 2 : 7));

export function drawn(name: string, schema: Schema, mood: Mood, known: Known): fc.Arbitrary<Drawn> {
  return isWrong(mood).chain((wrong) => (wrong ? hostileValue(schema) : rightValue(name, schema, known)));
}

export function taken(draw: Drawn, known: Known): unknown {
  if ("value" in draw) return draw.value;
  const values = known[draw.known] ?? [];
  return values[draw.place % Math.max(values.length, 1)];
}

/**
 * Percent-encodes every byte except letters, digits and a few signs. Half of a surrogate pair becomes U+FFFD, as in any
 * client.
 */
export function percentEncoded(text: unknown): string {
  return [...Buffer.from(String(text))]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9._~:,-]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

/** Is true once in so many draws. */
export function seldom<Value>(times: number, values: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });
}
