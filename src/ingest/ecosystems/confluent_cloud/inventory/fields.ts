/** Fields of the vendor's JSON objects, whose shape nobody promises: what is not there, or of another kind, is null. */
import { midnightOf } from "../../../../time/days.js";

export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
    found = Object.hasOwn(found, key) ? Reflect.get(found, key) : undefined;
  }
  return found;
}

/** Null also for an empty text. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = fieldAt(value, ...path);
  return typeof found === "string" && found !== "" ? found : null;
}

/** Before it there was no Confluent Cloud: the vendor's "no time" is the year 1. */
const EARLIEST = midnightOf("2010-01-01").getTime();

/** A time as ISO 8601 in UTC; null when it is not one. */
export function timeAt(value: unknown, ...path: readonly string[]): string | null {
  const text = textAt(value, ...path);
  const at = text === null || !/^\d{4}-\d{2}-\d{2}T/.test(text) ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) || at < EARLIEST ? null : new Date(at).toISOString();
}

export function lowerCase(text: string | null): string | null {
  return text === null ? null : text.trim().toLowerCase();
}
