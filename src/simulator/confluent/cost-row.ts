/** Rows of the costs API: the amounts of a charge, and their JSON with every digit. */
import { decimalText } from "../../common/exact-decimal.js";
import type { Charge } from "./charges.js";
import { lineTypes } from "./line-types.js";

/** Amounts in trillionths of a dollar. */
export interface CostRow {
  /** The vendor's opaque id. */
  readonly id: string;
  readonly day: string;
  readonly charge: Charge;
  readonly product: string;
  readonly original: bigint;
  readonly discount: bigint;
  readonly amount: bigint;
}

/** Products with a contract discount of one twentieth. */
const DISCOUNTED: ReadonlySet<string> = new Set(["KAFKA", "CONNECT"]);

export function costRow(charge: Charge, day: string, id: string): CostRow {
  const facts = lineTypes[charge.lineType];
  const price = charge.tier?.free === true ? 0n : facts.price;
  const original = charge.amount ?? BigInt(charge.quantity ?? 0) * price;
  const product = charge.product ?? facts.product;
  const discount = original > 0n && DISCOUNTED.has(product) ? original / 20n : 0n;
  return { id, day, charge, product, original, discount, amount: original - discount };
}

/** `quoted` writes numbers as text, as the vendor sometimes does. */
export function costRowText(row: CostRow, nextDay: string, quoted: boolean): string {
  const { charge, original, discount, amount } = row;
  const { resource, tier, access, description, quantity } = charge;
  const { unit, price } = lineTypes[charge.lineType];
  const number = (units: bigint, places: number) =>
    quoted ? `"${decimalText(units, places)}"` : decimalText(units, places);
  const fields = [
    `"api_version":"billing/v1","kind":"Cost","id":"${row.id}","start_date":"${row.day}","end_date":"${nextDay}"`,
    `"granularity":"DAILY","product":"${row.product}","line_type":"${charge.lineType}"`,
    `"original_amount":${number(original, 12)},"amount":${number(amount, 12)}`,
  ];
  if (quantity !== undefined) {
    const unitPrice = tier?.free === true ? 0n : price;
    fields.push(`"price":${number(unitPrice, 9)},"quantity":${number(BigInt(quantity), 3)},"unit":"${unit}"`);
    fields.push(`"discount_amount":${number(discount, 12)}`);
  }
  if (access !== undefined) fields.push(`"network_access_type":"${access}"`);
  if (description !== undefined) fields.push(`"description":"${description}"`);
  if (tier !== undefined)
    fields.push(`"tier_dimensions":{"tier_start":"${tier.start}","tier_end":"${tier.end}"}`);
  if (resource === null) fields.push('"resource":null');
  else if (resource !== undefined) {
    const environment = `"environment":{"id":"${resource.environment.id}"}`;
    fields.push(`"resource":{"id":"${resource.id}","display_name":"${resource.name}",${environment}}`);
  }
  return `{${fields.join(",")}}`;
}
