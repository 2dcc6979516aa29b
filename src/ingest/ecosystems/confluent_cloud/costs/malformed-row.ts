/**
 * A row of the bill that cannot be read, as a line of its own: what it costs is charged, as far as that can be told, with the
 * reason and the row itself beside it. It keeps what can be read of it. Without a resource its id is the vendor's, or made of its
 * content: the same row has it again tomorrow.
 */
import { createHash } from "node:crypto";
import { type Exact, minus, zero } from "../../../../numbers/exact.js";
import { LONGEST_ID } from "../../../../store/text-limits.js";
import { isRecord } from "../api/envelope.js";
import type { CostPart } from "./cost-part.js";
import { amountAt, objectAt, storable, textAt } from "./fields.js";
import { MALFORMED } from "./product-types.js";

const LONGEST_RAW = 20_000;

export function malformedPart(row: unknown, day: string, reason: string): CostPart {
  const raw = JSON.stringify(inOrder(row));
  const fields = isRecord(row) ? row : {};
  const vendorId = attempt(() => textAt(fields, "id"));
  const resource = attempt(() => objectAt(fields, "resource")) ?? {};
  const environment = attempt(() => objectAt(resource, "environment")) ?? {};
  const ownId = `malformed_billing:${vendorId ?? createHash("sha256").update(raw).digest("hex").slice(0, 16)}`;
  return {
    day,
    env_id: attempt(() => textAt(environment, "id", LONGEST_ID)) ?? "",
    resource_id: attempt(() => textAt(resource, "id", LONGEST_ID)) ?? ownId,
    product_category: attempt(() => textAt(fields, "product")) ?? "",
    product_type: MALFORMED,
    quantity: amount(fields, "quantity") ?? zero,
    price: amount(fields, "price") ?? zero,
    cost: amount(fields, "amount") ?? difference(fields) ?? zero,
    original: amount(fields, "original_amount"),
    discount: amount(fields, "discount_amount"),
    vendorId,
    notes: {
      ...notesOf(
        fields,
        attempt(() => textAt(fields, "line_type")),
      ),
      malformed: true,
      parse_error: reason,
      raw: raw.length > LONGEST_RAW ? `${raw.slice(0, LONGEST_RAW)}…` : raw,
    },
  };
}

function notesOf(fields: Readonly<Record<string, unknown>>, lineType: string | undefined) {
  const name = attempt(() => textAt(attempt(() => objectAt(fields, "resource")) ?? {}, "display_name"));
  const notes = { resource_name: name, line_type: lineType };
  return Object.fromEntries(Object.entries(notes).filter(([, note]) => note !== undefined));
}

function difference(fields: Readonly<Record<string, unknown>>): Exact | undefined {
  const original = amount(fields, "original_amount");
  if (original === undefined) return undefined;
  return minus(original, amount(fields, "discount_amount") ?? zero);
}

function amount(fields: Readonly<Record<string, unknown>>, key: string): Exact | undefined {
  return attempt(() => {
    const exact = amountAt(fields, key);
    return exact === undefined ? undefined : storable(exact, key);
  });
}

/** What the row says of one thing, whatever is wrong with the others. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The same value with all keys in order, so that equal rows have equal texts. Deeper than any row: cut off. */
function inOrder(value: unknown, depth = 0): unknown {
  if (depth > 10) return null;
  if (Array.isArray(value)) return value.map((item) => inOrder(item, depth + 1));
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key], depth + 1)]));
}
