/** Describes what a schema allows, for error messages. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { EARLIEST_YEAR, LATEST_YEAR } from "../../query/time/date-window.js";
import { instantExpected } from "../../query/time/instant.js";

export function expected(schema: TSchema): string {
  if (typeof schema["x-expected"] === "string") return schema["x-expected"];
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(", ")}`;
  if (KindGuard.IsInteger(schema)) return `an integer from ${schema.minimum} to ${schema.maximum}`;
  if (KindGuard.IsBoolean(schema)) return "true or false";
  if (KindGuard.IsArray(schema))
    return `a list of at most ${schema.maxItems} values, each ${expected(schema.items)}`;
  if (KindGuard.IsObject(schema))
    return `an object with the fields ${Object.keys(schema.properties).join(", ") || "none"}`;
  if (schema.format === "date") return `a date YYYY-MM-DD in the years ${EARLIEST_YEAR} to ${LATEST_YEAR}`;
  if (schema.format === "date-time") return instantExpected;
  return schema.minLength === undefined
    ? `text of at most ${schema.maxLength} characters`
    : `text of ${schema.minLength} to ${schema.maxLength} characters`;
}
