/** Texts of why a sum changed. */
import { compare, decimalText, type Exact, exact, roundedQuotient } from "../../common/exact-decimal.js";
import { groupDigits, moneyText, quantityScale, shareText } from "../../common/figures.js";
import { isOfNoResource, productName } from "../../common/product-name.js";
import type { Cause, ChangeGroup, ChangeSums, Reason, Reasons } from "../api/change.js";
import { absolute } from "../money/amount-text.js";

export const changeTexts = {
  title: "Why did it change?",
  open: "Why?",
  openOf: (name: string) => `Why ${name} changed`,
  before: "Before",
  now: "Now",
  change: "Change",
  because: "Because",
  parts: "From the amount before to the amount now",
  group: "By",
  productRule: "the product's rule",
  groups: {
    line: "product and resource",
    product_type: "product",
    resource_id: "resource",
    rule: "rule",
    identity_id: "identity",
  },
  causes: {
    quantity: "Quantity",
    price: "Price",
    share: "Share",
    new: "New",
    gone: "Gone",
    other: "Other",
  } satisfies Record<Cause, string>,
  hints: {
    quantity: "the bill has another quantity",
    price: "each unit costs more or less, discounts included",
    share: "another part of the bill's cost is charged here",
    new: "the bill did not have it before",
    gone: "the bill no longer has it",
    other: "the bill has no quantity that can be compared",
  } satisfies Record<Cause, string>,
  others: (count: number) => `The ${count.toLocaleString("en")} with the smallest change`,
  nobody: "What nobody pays for",
  nothingBefore: ({ who, verb }: Payer, amount: string, first: string) =>
    `${who} ${verb} ${amount}. The first day with costs is ${first}, so there is nothing to compare with.`,
  sentence: sentenceOf,
  reason: reasonText,
} as const;

/** Who pays, and for what if it is not all that they pay for. */
export interface Payer {
  readonly who: string;
  readonly verb: "pays" | "pay" | "costs";
  readonly what: string;
}

interface Sentence {
  readonly payer: Payer;
  readonly sums: Pick<ChangeSums, "currency" | "amount" | "change">;
  /** The previous period, `in September 2026`. */
  readonly before: string;
  readonly reasons: Reasons;
}

/** `gateway pays 120.00 USD more than in September 2026: 80.00 because …, 40.00 because …, and 1.20 for other reasons.` */
function sentenceOf({ payer, sums, before, reasons: { largest, rest } }: Sentence): string {
  const { currency } = sums;
  const change = exact(sums.change);
  const amount = moneyText(exact(sums.amount), currency);
  const pays = `${payer.who} ${payer.verb}`;
  const what = payer.what === "" ? "" : ` for ${payer.what}`;
  if (change.units === 0n && largest.length === 0)
    return `${pays} as much${what} as ${before}: ${amount} ${currency}.`;
  const isLess = change.units < 0n;
  const size = (value: Exact) => moneyText(absolute(value), currency).replace("<", "less than");
  const part = (value: Exact) =>
    size(value) + (value.units < 0n === isLess || value.units === 0n ? "" : isLess ? " more" : " less");
  const parts = [
    ...largest.map((reason) => `${part(reason.amount)} because ${reasonText(reason)}`),
    ...(rest.units === 0n ? [] : [`${part(rest)} for other reasons`]),
  ];
  const list = parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`;
  const difference =
    change.units === 0n
      ? `as much${what} as`
      : `${size(change)} ${currency} ${isLess ? "less" : "more"}${what} than`;
  return `${pays} ${difference} ${before}: ${list}.`;
}

/** What happened, in a clause that follows `because`. */
function reasonText({ cause, amount, group }: Reason): string {
  const isMore = amount.units > 0n;
  const what = subject(group);
  const facts = factsOf(cause, group);
  const detail = facts === undefined ? "" : ` (${facts})`;
  const several = group.dimensions.resource_id === undefined ? "resources with " : "";
  switch (cause) {
    case "quantity":
      return `${isMore ? "more" : "less"} was used of ${what}${detail}`;
    case "price":
      return `the price of ${what} ${isMore ? "rose" : "fell"}${detail}`;
    case "share":
      return `the share in ${what} ${isMore ? "grew" : "shrank"}${detail}`;
    case "new":
      return `${several}${what} appeared on the bill`;
    case "gone":
      return `${several}${what} disappeared from the bill`;
    case "other":
      return `the cost of ${what} ${isMore ? "rose" : "fell"}`;
  }
}

/** `Kafka CKUs of payments-3`. */
function subject({ dimensions, display_names: names }: ChangeGroup): string {
  const { product_type: product, resource_id: resource, ...more } = dimensions;
  const parts = [
    ...(product === undefined ? [] : [productName(product)]),
    ...(resource === undefined || isOfNoResource(resource) ? [] : [names.resource_id ?? resource]),
  ];
  return parts.length > 0 ? parts.join(" of ") : Object.values(more).filter(Boolean).join(", ") || "it";
}

/** Figures of the bill, the old one last: `720 instead of 600 CKU-hours`. Undefined if the group has none of its own. */
export function factsOf(cause: Cause, { bill, amount, previous_amount }: ChangeGroup): string | undefined {
  if (bill === null) return undefined;
  const unit = bill.unit ?? "";
  const [quantity, before] = [exact(bill.quantity), exact(bill.previous_quantity)];
  switch (cause) {
    case "quantity": {
      const scale = quantityScale(compare(quantity, before) > 0 ? quantity : before, false);
      return `${scale.text(quantity)} instead of ${scale.text(before)} ${scale.unit} ${unit}`
        .trim()
        .replace("  ", " ");
    }
    case "price": {
      const [price, old] = [priceText(bill.cost, quantity), priceText(bill.previous_cost, before)];
      return `${price} instead of ${old} for each ${unit || "unit"}`;
    }
    case "share":
      return `${partOf(amount, bill.cost)} instead of ${partOf(previous_amount, bill.previous_cost)}`;
    default:
      return undefined;
  }
}

const PRICE_PLACES = 6;

function priceText(cost: string, quantity: Exact): string {
  const price = quotient(exact(cost), quantity, PRICE_PLACES);
  return groupDigits(decimalText(price.units, price.scale));
}

function partOf(amount: string, cost: string): string {
  return shareText(quotient(exact(amount), exact(cost), 9));
}

/** Rounded to `scale` decimal places; 0 if the divisor is. */
function quotient(value: Exact, { units, scale: places }: Exact, scale: number): Exact {
  if (units === 0n) return { units, scale };
  const scaled = { units: value.units * 10n ** BigInt(places) * (units < 0n ? -1n : 1n), scale: value.scale };
  return { units: roundedQuotient(scaled, units < 0n ? -units : units, scale), scale };
}
