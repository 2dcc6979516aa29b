/** Fields of a billed row. Absent and `null` are the same. Other invalid values make the row malformed. */
import { isDay } from "../../../../common/days.js";
import { type Exact, parseExact } from "../../../../common/exact-decimal.js";
import { isJsonObject } from "../api/envelope.js";

/** The row cannot be read. The message is part of a sentence and never quotes the row. */
export class UnreadableRowError extends Error {
  override readonly name = "UnreadableRowError";
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Control characters break logs and exports, and a lone surrogate is not valid text. The staging tables refuse both.
 */
const UNFIT = /[\p{Cc}\p{Surrogate}]/u;
const LONGEST_NAME = 200;

/** Undefined if the text is absent or empty. */
export function costText(of: Fields, key: string, longest = LONGEST_NAME): string | undefined {
  const value = of[key] ?? "";
  if (typeof value !== "string") throw new UnreadableRowError(`${key} is not text`);
  if (value.length > longest) throw new UnreadableRowError(`${key} is longer than ${longest} characters`);
  if (UNFIT.test(value)) throw new UnreadableRowError(`${key} has control characters`);
  return value === "" ? undefined : value;
}

export function objectAt(of: Fields, key: string): Fields | undefined {
  const value = of[key] ?? undefined;
  if (value !== undefined && !isJsonObject(value)) throw new UnreadableRowError(`${key} is not an object`);
  return value;
}

/** Numbers are text (`quoteNumbers`), whether or not the vendor quoted them. */
export function decimalAt(of: Fields, key: string): Exact | undefined {
  const value = of[key] ?? "";
  const text = typeof value === "string" ? value.trim() : undefined;
  if (text === "") return undefined;
  const exact = text === undefined ? undefined : parseExact(text);
  if (exact === undefined) throw new UnreadableRowError(`${key} is not a number`);
  return exact;
}

const LARGEST = 10n ** 26n;

/** Throws if the number has more digits before the point than the store. */
export function storableAmount(exact: Exact, name: string): Exact {
  const magnitude = exact.units < 0n ? -exact.units : exact.units;
  if (magnitude >= LARGEST * 10n ** BigInt(exact.scale)) throw new UnreadableRowError(`${name} is too large`);
  return exact;
}

/** Reads `YYYY-MM-DD`, or the midnight at the start of the day. */
export function dayAt(of: Fields, key: string): string | undefined {
  const text = costText(of, key);
  if (text === undefined) return undefined;
  const [, day = ""] = /^(\d{4}-\d{2}-\d{2})(?:T00:00:00(?:\.0+)?(?:Z|\+00:00))?$/.exec(text) ?? [];
  if (!isDay(day)) throw new UnreadableRowError(`${key} is not a date`);
  return day;
}
