/**
 * Prices a metered product on one day: a line priced from a fixed count or from the samples of a metric.
 *
 * Several series of a query are first added up per point in time, so that the mean of storage is that of the whole. A
 * day without any sample has no price: it is not free, it is unknown. A day with gaps between its samples is priced by
 * the existing ones; the line's metadata states how many.
 */
import {
  decimalText,
  type Exact,
  parseExact,
  roundedQuotient,
  sumOf,
  times,
} from "../../common/exact-decimal.js";
import type { BillingLine } from "../ecosystem.js";

/** A kind of cost without a vendor's bill: its quantity is counted or measured, and its price is configured. */
export interface MeteredProduct {
  /** The product type of its lines. */
  readonly name: string;
  readonly category: string;
  /** Price of one unit, as a decimal in text. */
  readonly rate: string;
  readonly quantity: MeteredQuantity;
}

export type MeteredQuantity =
  /** A fixed number of units for every hour of the day. */
  | { readonly type: "fixed"; readonly count: number }
  /** The day's mean of a query that returns bytes, in GiB, for every hour of the day, or of its measured part. */
  | { readonly type: "storage_gib"; readonly query: string }
  /** The day's mean of a query that returns a number of units, for every hour of the day, or of its measured part. */
  | { readonly type: "unit_hours"; readonly query: string }
  /** The day's sum of a query that returns the bytes of each step, in GiB. */
  | { readonly type: "network_gib"; readonly query: string };

/** The result of a product's query for one day: the sum of its series at each point. */
export type DaySums = ReadonlyMap<number, Exact>;

export interface PricedDay {
  readonly resourceId: string;
  readonly currency: string;
  readonly day: string;
  readonly product: MeteredProduct;
  /** Empty for a fixed count. */
  readonly sums: DaySums;
  readonly expectedSamples: number;
  /**
   * Whether only the time with samples is priced, because it is unknown whether anything was used before the first
   * sample.
   */
  readonly onlyMeasured: boolean;
}

const HOURS = 24;
const GIB = 2n ** 30n;
/** Decimal places of quantities and costs in the store. */
const PLACES = 12;

/** Returns the line of a day, or undefined if it has no samples. */
export function priceDay({
  resourceId,
  currency,
  day,
  product,
  sums,
  expectedSamples,
  onlyMeasured,
}: PricedDay): BillingLine | undefined {
  const quantity = quantityOf(product, sums, onlyMeasured ? expectedSamples : sums.size);
  if (quantity === undefined) return undefined;
  const { value, divisor } = quantity;
  return {
    timestamp: `${day}T00:00:00Z`,
    env_id: "",
    resource_id: resourceId,
    product_category: product.category,
    product_type: product.name,
    quantity: decimalText(roundedQuotient(value, divisor, PLACES), PLACES),
    unit_price: product.rate,
    // Use the exact quantity, not the rounded one: an amount is rounded only once, in the last step.
    total_cost: decimalText(roundedQuotient(times(value, rateOf(product)), divisor, PLACES), PLACES),
    currency,
    granularity: "daily",
    metadata:
      product.quantity.type === "fixed" ? {} : { samples: sums.size, expected_samples: expectedSamples },
  };
}

interface Quotient {
  readonly value: Exact;
  readonly divisor: bigint;
}

/** `parts`: number of equal parts of the day, each with one of the sums, or with nothing if there are fewer sums. */
function quantityOf({ quantity }: MeteredProduct, sums: DaySums, parts: number): Quotient | undefined {
  if (quantity.type === "fixed") {
    return { value: { units: BigInt(quantity.count * HOURS), scale: 0 }, divisor: 1n };
  }
  if (sums.size === 0) return undefined;
  const total = sumOf([...sums.values()]);
  if (quantity.type === "network_gib") return { value: total, divisor: GIB };
  const hours: Exact = { units: BigInt(HOURS), scale: 0 };
  const unit = quantity.type === "storage_gib" ? GIB : 1n;
  return { value: times(total, hours), divisor: unit * BigInt(parts) };
}

function rateOf({ name, rate }: MeteredProduct): Exact {
  const exact = parseExact(rate);
  if (exact === undefined) throw new Error(`the rate of ${name} was not checked`);
  return exact;
}
