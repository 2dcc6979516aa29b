/**
 * One row of the vendor's bill, read. What may be absent may also be `null`; amounts are text, exact to the last digit.
 *
 * A row that cannot be understood is not thrown away: it is a malformed part, charged to nobody, which says why.
 */

import { minus, zero } from "../../../../numbers/exact.js";
import { LONGEST_ID } from "../../../../store/text-limits.js";
import { addDays } from "../../../../time/days.js";
import { isRecord } from "../api/envelope.js";
import type { CostPart } from "./cost-part.js";
import { amountAt, objectAt, readDay, storable, textAt, Unreadable } from "./fields.js";
import { malformedPart } from "./malformed-row.js";
import { productTypeOf } from "./product-types.js";

export interface ReadRow {
  readonly part: CostPart;
  readonly malformed: boolean;
  /** It does not say which day it is of. */
  readonly undated: boolean;
}

/**
 * `anchor`: the day for rows that do not say theirs, and do not even say where they end. It is the first day of the query's
 * span by the calendar, so that such a row stays where it is when the window moves on.
 */
export function readCostRow(row: unknown, anchor: string): ReadRow {
  try {
    return { part: readPart(row), malformed: false, undated: false };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const day = dayAtAnyCost(row);
    const part = malformedPart(row, day ?? anchor, error.message);
    return { part, malformed: true, undated: day === undefined };
  }
}

function readPart(row: unknown): CostPart {
  if (!isRecord(row)) throw new Unreadable("the row is not an object");
  const day = readDay(row, "start_date");
  if (day === undefined) throw new Unreadable("start_date is missing");
  const resource = objectAt(row, "resource") ?? {};
  const environment = objectAt(resource, "environment") ?? {};
  const product = textAt(row, "product") ?? "";
  const lineType = textAt(row, "line_type") ?? "";
  const resourceId = textAt(resource, "id", LONGEST_ID);
  const productType = productTypeOf(lineType, product, resourceId !== undefined);
  const amounts = readAmounts(row);
  return {
    day,
    env_id: textAt(environment, "id", LONGEST_ID) ?? "",
    // Never a row's position, which is another one tomorrow: what has no resource is one line for each product and type.
    resource_id: resourceId ?? `no_resource:${product}:${productType}`,
    product_category: product,
    product_type: productType,
    ...amounts,
    vendorId: noteAt(row, "id"),
    notes: notesOf(row, { resource_name: noteAt(resource, "display_name"), lineType, productType }),
  };
}

type Amounts = Pick<CostPart, "quantity" | "price" | "cost" | "original" | "discount">;

/** The net amount is what is charged. Where only the list price and the discount are given, it is their difference. */
function readAmounts(row: Readonly<Record<string, unknown>>): Amounts {
  const original = amountAt(row, "original_amount");
  const discount = amountAt(row, "discount_amount");
  const net = amountAt(row, "amount");
  if (net === undefined && original === undefined) throw new Unreadable("the row has no amount");
  const cost = net ?? minus(original ?? zero, discount ?? zero);
  return {
    cost: storable(cost, "amount"),
    quantity: storable(amountAt(row, "quantity") ?? zero, "quantity"),
    price: storable(amountAt(row, "price") ?? zero, "price"),
    original,
    discount,
  };
}

/** Longer than any text of the vendor's own; people write descriptions of refunds. */
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
  const tierTexts = isRecord(tier)
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

/** The day of a row that something else is wrong with: its start, or the day before its end. */
function dayAtAnyCost(row: unknown): string | undefined {
  if (!isRecord(row)) return undefined;
  const start = quietly(() => readDay(row, "start_date"));
  if (start !== undefined) return start;
  const end = quietly(() => readDay(row, "end_date"));
  return end === undefined ? undefined : addDays(end, -1);
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
