/** Fields of a billed row. Absent and `null` are the same; anything else that does not fit makes the row malformed. */

import { type Exact, parseExact } from "../../../../numbers/exact.js";
import { isDay } from "../../../../time/days.js";
import { isRecord } from "../api/envelope.js";

/** Why a row cannot be read: a part of a sentence, without the row's own text. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

type Fields = Readonly<Record<string, unknown>>;

/** Control characters break logs and exports; a lone surrogate is no text at all. The staging tables refuse both. */
const UNFIT = /[\p{Cc}\p{Surrogate}]/u;
const LONGEST_NAME = 200;

/** Undefined for what is absent or empty. */
export function textAt(of: Fields, key: string, longest = LONGEST_NAME): string | undefined {
  const value = of[key] ?? "";
  if (typeof value !== "string") throw new Unreadable(`${key} is not text`);
  if (value.length > longest) throw new Unreadable(`${key} is longer than ${longest} characters`);
  if (UNFIT.test(value)) throw new Unreadable(`${key} has control characters`);
  return value === "" ? undefined : value;
}

export function objectAt(of: Fields, key: string): Fields | undefined {
  const value = of[key] ?? undefined;
  if (value !== undefined && !isRecord(value)) throw new Unreadable(`${key} is not an object`);
  return value;
}

/** Numbers come as text (`quoteNumbers`), whether or not the vendor wrote them so. */
export function amountAt(of: Fields, key: string): Exact | undefined {
  const value = of[key] ?? "";
  const text = typeof value === "string" ? value.trim() : undefined;
  if (text === "") return undefined;
  const exact = text === undefined ? undefined : parseExact(text);
  if (exact === undefined) throw new Unreadable(`${key} is not a number`);
  return exact;
}

const LARGEST = 10n ** 26n;

/** Throws for what has more digits before the point than the store. */
export function storable(exact: Exact, name: string): Exact {
  const magnitude = exact.units < 0n ? -exact.units : exact.units;
  if (magnitude >= LARGEST * 10n ** BigInt(exact.scale)) throw new Unreadable(`${name} is too large`);
  return exact;
}

/** `YYYY-MM-DD`, also as the midnight that it starts at. */
export function readDay(of: Fields, key: string): string | undefined {
  const text = textAt(of, key);
  if (text === undefined) return undefined;
  const [, day = ""] = /^(\d{4}-\d{2}-\d{2})(?:T00:00:00(?:\.0+)?(?:Z|\+00:00))?$/.exec(text) ?? [];
  if (!isDay(day)) throw new Unreadable(`${key} is not a date`);
  return day;
}
