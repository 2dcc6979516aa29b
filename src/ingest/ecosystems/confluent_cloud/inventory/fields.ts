/**
 * Reads fields of the vendor's JSON objects, whose shape is not guaranteed. A missing field, or one of another type, is
 * null.
 */
import { midnightOf } from "../../../../common/days.js";

export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
    found = Object.hasOwn(found, key) ? Reflect.get(found, key) : undefined;
  }
  return found;
}

/** Also null for an empty text. */
export function inventoryText(value: unknown, ...path: readonly string[]): string | null {
  const found = fieldAt(value, ...path);
  return typeof found === "string" && found !== "" ? found : null;
}

/** Earlier than any object of Confluent Cloud: the vendor's "no time" is the year 1. */
const EARLIEST = midnightOf("2010-01-01").getTime();

/** Returns a time as ISO 8601 in UTC, or null if it is not a time. */
export function timeAt(value: unknown, ...path: readonly string[]): string | null {
  const text = inventoryText(value, ...path);
  const at = text === null || !/^\d{4}-\d{2}-\d{2}T/.test(text) ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) || at < EARLIEST ? null : new Date(at).toISOString();
}

export function lowerCase(text: string | null): string | null {
  return text === null ? null : text.trim().toLowerCase();
}
