/** Describes in words what a setting accepts. Problems ("must be …") and the reference page use the same words. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { notesOf } from "./setting.js";

function range(low: number | undefined, high: number | undefined): string {
  if (low !== undefined && high !== undefined)
    return low === high ? ` of exactly ${low}` : ` from ${low} to ${high}`;
  if (low !== undefined) return ` of at least ${low}`;
  return high === undefined ? "" : ` of at most ${high}`;
}

/** Returns the words of a choice, or undefined if the schema is not a choice. */
export function wordsOf(schema: TSchema): string[] | undefined {
  const members = KindGuard.IsUnion(schema) ? schema.anyOf : [schema];
  const words = members.flatMap((member) =>
    KindGuard.IsLiteral(member) && typeof member.const === "string" ? [member.const] : [],
  );
  return words.length === members.length ? words : undefined;
}

export function expectation(schema: TSchema): string {
  const { expected, discriminator } = notesOf(schema);
  if (expected !== undefined) return expected;
  const words = wordsOf(schema);
  if (words !== undefined) return words.length === 1 ? `"${words[0]}"` : `one of ${words.join(", ")}`;
  if (discriminator !== undefined || KindGuard.IsObject(schema)) return "a mapping";
  if (KindGuard.IsRecord(schema)) return `a mapping of at most ${schema.maxProperties} keys`;
  if (KindGuard.IsInteger(schema)) {
    const step = schema.multipleOf === undefined ? "" : ` that is a multiple of ${schema.multipleOf}`;
    return `an integer${range(schema.minimum, schema.maximum)}${step}`;
  }
  if (KindGuard.IsBoolean(schema)) return "true or false";
  if (KindGuard.IsArray(schema)) {
    const count = range(schema.minItems, schema.maxItems);
    return count === "" ? "a list" : `a list${count} entries`;
  }
  if (KindGuard.IsString(schema))
    return `text of ${schema.minLength ?? 0} to ${schema.maxLength ?? "any"} characters`;
  return "a value";
}
