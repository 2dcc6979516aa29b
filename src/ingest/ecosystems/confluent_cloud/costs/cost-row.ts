/**
 * Reads one row of the vendor's bill. Optional fields may be absent or `null`, which is the same; amounts are text,
 * exact to the last digit.
 *
 * A row with any other invalid value is not dropped: it becomes a malformed part, which is charged to UNALLOCATED and
 * states the reason.
 */
import { createHash } from "node:crypto";
import { addDays, isDay } from "../../../../common/days.js";
import { type Exact, minus, parseExact, zero } from "../../../../common/exact-decimal.js";
import { LONGEST_ID } from "../../../../domain/text-limits.js";
import { isJsonObject } from "../api/read-response.js";
import { MALFORMED_LINE_TYPE, productTypeOf } from "./product-types.js";

/** A row's contribution to a line. Rows of one key and day are one line. */
export interface CostPart {
  readonly day: string;
  readonly env_id: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  readonly quantity: Exact;
  readonly price: Exact;
  readonly cost: Exact;
  readonly original: Exact | undefined;
  readonly discount: Exact | undefined;
  readonly vendorId: string | undefined;
  /** Other fields of the row, for the line's metadata. Values are JSON, with sorted keys. */
  readonly notes: Fields;
}

interface ReadRow {
  readonly part: CostPart;
  readonly malformed: boolean;
  /** The row does not state its day. */
  readonly undated: boolean;
}

/**
 * `anchor`: the day of rows that state neither their start nor their end. It is the first day of the query's span by
 * the calendar, so that such a row stays on its day when the window moves on.
 */
export function readCostRow(row: unknown, anchor: string): ReadRow {
  try {
    return { part: readPart(row), malformed: false, undated: false };
  } catch (error) {
    if (!(error instanceof UnreadableRowError)) throw error;
    const day = dayOfMalformedRow(row);
    const part = malformedPart(row, day ?? anchor, error.message);
    return { part, malformed: true, undated: day === undefined };
  }
}

function readPart(row: unknown): CostPart {
  if (!isJsonObject(row)) throw new UnreadableRowError("the row is not an object");
  const day = dayAt(row, "start_date");
  if (day === undefined) throw new UnreadableRowError("start_date is missing");
  const resource = objectAt(row, "resource") ?? {};
  const environment = objectAt(resource, "environment") ?? {};
  const product = costText(row, "product") ?? "";
  const lineType = costText(row, "line_type") ?? "";
  const resourceId = costText(resource, "id", LONGEST_ID);
  const productType = productTypeOf(lineType, product, resourceId !== undefined);
  const amounts = readAmounts(row);
  return {
    day,
    env_id: costText(environment, "id", LONGEST_ID) ?? "",
    // Never use a row's position, which changes every day. Rows without a resource are one line for each product and
    // type.
    resource_id: resourceId ?? `no_resource:${product}:${productType}`,
    product_category: product,
    product_type: productType,
    ...amounts,
    vendorId: noteAt(row, "id"),
    notes: notesOf(row, { resource_name: noteAt(resource, "display_name"), lineType, productType }),
  };
}

type Amounts = Pick<CostPart, "quantity" | "price" | "cost" | "original" | "discount">;

/** The net amount is charged. If only the list price and the discount are given, it is their difference. */
function readAmounts(row: Fields): Amounts {
  const original = decimalAt(row, "original_amount");
  const discount = decimalAt(row, "discount_amount");
  const net = decimalAt(row, "amount");
  if (net === undefined && original === undefined) throw new UnreadableRowError("the row has no amount");
  const cost = net ?? minus(original ?? zero, discount ?? zero);
  return {
    cost: storableAmount(cost, "amount"),
    quantity: storableAmount(decimalAt(row, "quantity") ?? zero, "quantity"),
    price: storableAmount(decimalAt(row, "price") ?? zero, "price"),
    original,
    discount,
  };
}

/** Longer than the vendor's own texts. Descriptions of refunds are written by people. */
const LONGEST_NOTE = 500;

function noteAt(of: Fields, key: string): string | undefined {
  const value = of[key];
  if (typeof value !== "string" || value === "") return undefined;
  return value.length > LONGEST_NOTE ? `${value.slice(0, LONGEST_NOTE)}…` : value;
}

function notesOf(
  row: Fields,
  { resource_name, lineType, productType }: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> {
  const { tier_dimensions: tier, granularity } = row;
  const tierTexts = isJsonObject(tier)
    ? Object.keys(tier)
        .sort()
        .slice(0, MOST_TIER_DIMENSIONS)
        .flatMap((name) => {
          const text = noteAt(tier, name);
          return text === undefined ? [] : [[name.slice(0, LONGEST_NOTE), text]];
        })
    : [];
  const notes = {
    resource_name,
    unit: noteAt(row, "unit"),
    description: noteAt(row, "description"),
    network_access_type: noteAt(row, "network_access_type"),
    granularity: granularity === "DAILY" ? undefined : noteAt(row, "granularity"),
    line_type: lineType === productType || lineType === "" ? undefined : lineType,
    tier_dimensions: tierTexts.length === 0 ? undefined : Object.fromEntries(tierTexts),
  };
  return Object.fromEntries(Object.entries(notes).filter(([, note]) => note !== undefined));
}

const MOST_TIER_DIMENSIONS = 20;

/** Returns the day of a malformed row: its start, or the day before its end. */
function dayOfMalformedRow(row: unknown): string | undefined {
  if (!isJsonObject(row)) return undefined;
  const start = orUndefined(() => dayAt(row, "start_date"));
  if (start !== undefined) return start;
  const end = orUndefined(() => dayAt(row, "end_date"));
  return end === undefined ? undefined : addDays(end, -1);
}

const LONGEST_RAW = 20_000;

/**
 * Turns an unreadable row of the bill into a line of its own. Its cost is charged, as far as it can be read, and the
 * line keeps the reason, the readable fields and the row itself. Without a resource, its id is the vendor's or a hash
 * of its content, so that the same row has the same id tomorrow.
 */
function malformedPart(row: unknown, day: string, reason: string): CostPart {
  const raw = JSON.stringify(withSortedKeys(row));
  const fields = isJsonObject(row) ? row : {};
  const vendorId = orUndefined(() => costText(fields, "id"));
  const resource = orUndefined(() => objectAt(fields, "resource")) ?? {};
  const environment = orUndefined(() => objectAt(resource, "environment")) ?? {};
  const ownId = `malformed_billing:${vendorId ?? createHash("sha256").update(raw).digest("hex").slice(0, 16)}`;
  return {
    day,
    env_id: orUndefined(() => costText(environment, "id", LONGEST_ID)) ?? "",
    resource_id: orUndefined(() => costText(resource, "id", LONGEST_ID)) ?? ownId,
    product_category: orUndefined(() => costText(fields, "product")) ?? "",
    product_type: MALFORMED_LINE_TYPE,
    quantity: amount(fields, "quantity") ?? zero,
    price: amount(fields, "price") ?? zero,
    cost: amount(fields, "amount") ?? difference(fields) ?? zero,
    original: amount(fields, "original_amount"),
    discount: amount(fields, "discount_amount"),
    vendorId,
    notes: {
      ...malformedNotes(
        fields,
        orUndefined(() => costText(fields, "line_type")),
      ),
      malformed: true,
      parse_error: reason,
      raw: raw.length > LONGEST_RAW ? `${raw.slice(0, LONGEST_RAW)}…` : raw,
    },
  };
}

function malformedNotes(fields: Fields, lineType: string | undefined) {
  const name = orUndefined(() =>
    costText(orUndefined(() => objectAt(fields, "resource")) ?? {}, "display_name"),
  );
  const notes = { resource_name: name, line_type: lineType };
  return Object.fromEntries(Object.entries(notes).filter(([, note]) => note !== undefined));
}

function difference(fields: Fields): Exact | undefined {
  const original = amount(fields, "original_amount");
  if (original === undefined) return undefined;
  return minus(original, amount(fields, "discount_amount") ?? zero);
}

function amount(fields: Fields, key: string): Exact | undefined {
  return orUndefined(() => {
    const exact = decimalAt(fields, key);
    return exact === undefined ? undefined : storableAmount(exact, key);
  });
}

/** Reads one field, however broken the others are. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Sorts all keys, so that equal rows have equal texts. Values that are nested deeper than in any row are cut off. */
function withSortedKeys(value: unknown, depth = 0): unknown {
  if (depth > 10) return null;
  if (Array.isArray(value)) return value.map((item) => withSortedKeys(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key], depth + 1)]));
}

/** The row cannot be read. The message is part of a sentence and never quotes the row. */
class UnreadableRowError extends Error {
  override readonly name = "UnreadableRowError";
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Control characters break logs and exports, and a lone surrogate is not valid text. The staging tables refuse both.
 */
const UNFIT = /[\p{Cc}\p{Surrogate}]/u;
const LONGEST_NAME = 200;

/** Undefined if the text is absent or empty. */
function costText(of: Fields, key: string, longest = LONGEST_NAME): string | undefined {
  const value = of[key] ?? "";
  if (typeof value !== "string") throw new UnreadableRowError(`${key} is not text`);
  if (value.length > longest) throw new UnreadableRowError(`${key} is longer than ${longest} characters`);
  if (UNFIT.test(value)) throw new UnreadableRowError(`${key} has control characters`);
  return value === "" ? undefined : value;
}

function objectAt(of: Fields, key: string): Fields | undefined {
  const value = of[key] ?? undefined;
  if (value !== undefined && !isJsonObject(value)) throw new UnreadableRowError(`${key} is not an object`);
  return value;
}

/** Numbers are text (`quoteNumbers`), whether or not the vendor quoted them. */
function decimalAt(of: Fields, key: string): Exact | undefined {
  const value = of[key] ?? "";
  const text = typeof value === "string" ? value.trim() : undefined;
  if (text === "") return undefined;
  const exact = text === undefined ? undefined : parseExact(text);
  if (exact === undefined) throw new UnreadableRowError(`${key} is not a number`);
  return exact;
}

const LARGEST = 10n ** 26n;

/** Throws if the number has more digits before the point than the store. */
function storableAmount(exact: Exact, name: string): Exact {
  const magnitude = exact.units < 0n ? -exact.units : exact.units;
  if (magnitude >= LARGEST * 10n ** BigInt(exact.scale)) throw new UnreadableRowError(`${name} is too large`);
  return exact;
}

/** Reads `YYYY-MM-DD`, or the midnight at the start of the day. */
function dayAt(of: Fields, key: string): string | undefined {
  const text = costText(of, key);
  if (text === undefined) return undefined;
  const [, day = ""] = /^(\d{4}-\d{2}-\d{2})(?:T00:00:00(?:\.0+)?(?:Z|\+00:00))?$/.exec(text) ?? [];
  if (!isDay(day)) throw new UnreadableRowError(`${key} is not a date`);
  return day;
}
