/**
 * Turns an unreadable row of the bill into a line of its own. Its cost is charged, as far as it can be read, and the
 * line keeps the reason, the readable fields and the row itself. Without a resource, its id is the vendor's or a hash
 * of its content, so that the same row has the same id tomorrow.
 */
import { createHash } from "node:crypto";
import { type Exact, minus, zero } from "../../../../common/exact-decimal.js";
import { LONGEST_ID } from "../../../../domain/text-limits.js";
import { isJsonObject } from "../api/envelope.js";
import type { CostPart } from "./cost-part.js";
import { costText, decimalAt, objectAt, storableAmount } from "./fields.js";
import { MALFORMED_LINE_TYPE } from "./product-types.js";

const LONGEST_RAW = 20_000;

export function malformedPart(row: unknown, day: string, reason: string): CostPart {
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
      ...notesOf(
        fields,
        orUndefined(() => costText(fields, "line_type")),
      ),
      malformed: true,
      parse_error: reason,
      raw: raw.length > LONGEST_RAW ? `${raw.slice(0, LONGEST_RAW)}…` : raw,
    },
  };
}

function notesOf(fields: Readonly<Record<string, unknown>>, lineType: string | undefined) {
  const name = orUndefined(() =>
    costText(orUndefined(() => objectAt(fields, "resource")) ?? {}, "display_name"),
  );
  const notes = { resource_name: name, line_type: lineType };
  return Object.fromEntries(Object.entries(notes).filter(([, note]) => note !== undefined));
}

function difference(fields: Readonly<Record<string, unknown>>): Exact | undefined {
  const original = amount(fields, "original_amount");
  if (original === undefined) return undefined;
  return minus(original, amount(fields, "discount_amount") ?? zero);
}

function amount(fields: Readonly<Record<string, unknown>>, key: string): Exact | undefined {
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
