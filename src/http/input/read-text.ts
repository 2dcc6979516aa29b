/** Reads values of a query string strictly by their schemas: nothing is rounded, trimmed or guessed. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { fitsText } from "./read-json.js";

export type QueryValue = { readonly value: unknown } | undefined;

/** Undefined if the text does not fit the schema. */
export function readText(schema: TSchema, text: string): QueryValue {
  if (KindGuard.IsInteger(schema)) {
    if (!/^-?(0|[1-9]\d{0,19})$/.test(text)) return undefined;
    const value = Number(text);
    const fits =
      Number.isSafeInteger(value) && value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value);
    return fits ? { value } : undefined;
  }
  if (KindGuard.IsBoolean(schema)) {
    return text === "true" || text === "false" ? { value: text === "true" } : undefined;
  }
  return fitsText(schema, text) ? { value: text } : undefined;
}
