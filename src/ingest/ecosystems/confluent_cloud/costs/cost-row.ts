/**
 * Reads one row of the vendor's bill. Optional fields may be absent or `null`; amounts are text, exact to the last
 * digit.
 *
 * A row that cannot be read is not dropped: it becomes a malformed part, which is charged to UNALLOCATED and states the
 * reason.
 */
import { addDays } from "../../../../common/days.js";
import { minus, zero } from "../../../../common/exact-decimal.js";
import { LONGEST_ID } from "../../../../domain/text-limits.js";
import { isJsonObject } from "../api/envelope.js";
import type { CostPart } from "./cost-part.js";
import { costText, dayAt, decimalAt, objectAt, storableAmount, UnreadableRowError } from "./fields.js";
import { malformedPart } from "./malformed-row.js";
import { productTypeOf } from "./product-types.js";

export interface ReadRow {
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
function readAmounts(row: Readonly<Record<string, unknown>>): Amounts {
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

function noteAt(of: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = of[key];
  if (typeof value !== "string" || value === "") return undefined;
  return value.length > LONGEST_NOTE ? `${value.slice(0, LONGEST_NOTE)}…` : value;
}

function notesOf(
  row: Readonly<Record<string, unknown>>,
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

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
