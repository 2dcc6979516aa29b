/** Texts of the error messages for invalid input. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { nearest } from "../../common/nearest.js";
import { EARLIEST_YEAR, LATEST_YEAR } from "../../query/time/date-window.js";
import { instantExpected } from "../../query/time/instant.js";
import { NOT } from "../../query/value-filters.js";

/** Describes what a schema allows. */
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

/** Returns the message for an unknown name. It suggests the nearest known one. Long input is cut. */
export function unknownName(
  kind: "parameter" | "field" | "column",
  name: string,
  known: readonly string[],
): string {
  const shown = name.length > 64 ? `${name.slice(0, 61)}…` : name;
  const guess = nearest(name, known);
  const allowed = known.length === 0 ? `No ${kind}s are allowed here.` : `Allowed: ${inWords(known)}.`;
  return `Unknown ${kind} \`${shown}\`${guess === undefined ? "" : `, did you mean \`${guess}\``}. ${allowed}`;
}

/** Leaves out the names with `not:`, since each filter has one, and mentions the prefix instead. */
function inWords(names: readonly string[]): string {
  const plain = names.filter((name) => !name.startsWith(NOT)).join(", ");
  return names.some((name) => name.startsWith(NOT))
    ? `${plain}; filters also with \`${NOT}\` before them`
    : plain;
}
