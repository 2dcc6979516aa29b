/** How the bill itself calculates a line: quantities at their prices, less discounts and credits. */
import {
  compare,
  type Exact,
  exact,
  exactText,
  minus,
  parseExact,
  plus,
  sumOf,
  times,
  zero,
} from "../../../common/exact-decimal.js";

/** The fields of a line of the bill that its price depends on. Empty if the bill leaves a field out. */
export type BilledLine = Readonly<
  Record<(typeof pricedFields)[number] | (typeof notedFields)[number], string>
>;

/** Columns of a billing line. */
export const pricedFields = ["quantity", "unit_price", "total_cost", "list_cost"] as const;
/** Texts in the metadata of a line of Confluent Cloud, and columns of a FOCUS bill. `tiers` is JSON. */
export const notedFields = [
  "unit",
  "original_amount",
  "discount_amount",
  "tiers",
  "tiers_left_out",
  "PricingQuantity",
  "PricingUnit",
  "ConsumedUnit",
  "ListUnitPrice",
  "ContractedUnitPrice",
  "ContractedCost",
  "CommitmentDiscountId",
] as const;

/** A line of more lines or prices than this is not shown as a product. */
export const MOST_PRICES = 20;

export const reductionKinds = ["discount", "commitment", "credit", "rounding"] as const;

export interface PricedLine {
  readonly products: Product[];
  /** The cost of the line is the sum of the products minus these. */
  readonly reductions: Reduction[];
}

interface Product {
  readonly quantity: string;
  readonly unit: string | null;
  readonly unit_price: string;
  /** Quantity × unit price. */
  readonly amount: string;
}

interface Reduction {
  readonly kind: (typeof reductionKinds)[number];
  readonly amount: string;
}

/** Returns null unless every line of the bill multiplies out. */
export function pricedLine(lines: readonly BilledLine[], billLines: number): PricedLine | null {
  if (lines.length === 0 || lines.length !== billLines) return null;
  const products: Priced[] = [];
  const reductions: Reduced[] = [];
  for (const line of lines) {
    const found = calculations(line).find(isOf(exact(line.total_cost)));
    if (found === undefined) return null;
    products.push(...found.products);
    reductions.push(...found.reductions, { kind: "rounding", amount: rest(found, exact(line.total_cost)) });
  }
  const merged = mergedProducts(products);
  return merged.length > MOST_PRICES
    ? null
    : { products: merged.map(shownProduct), reductions: mergedReductions(reductions) };
}

interface Priced {
  readonly quantity: Exact;
  readonly unit: string;
  readonly price: Exact;
}

interface Reduced {
  readonly kind: Reduction["kind"];
  readonly amount: Exact;
}

interface Calculation {
  readonly products: readonly Priced[];
  readonly reductions: readonly Reduced[];
}

/** The ways in which a bill may state how it calculates a line, the most detailed first. */
function calculations(line: BilledLine): Calculation[] {
  const found = line.tiers === "" ? [ofList(line), ofContract(line), ofPrice(line)] : [ofTiers(line)];
  return found.filter((each) => each !== undefined);
}

/** A FOCUS bill: list price, less the negotiated discount, less what a commitment covers. */
function ofList(line: BilledLine): Calculation | undefined {
  const product = pricing(line, line.ListUnitPrice);
  const contracted = parseExact(line.ContractedCost);
  if (product === undefined || contracted === undefined) return undefined;
  const list = exact(line.list_cost);
  if (!isRoundingOf(minus(amountOf(product), list), [product])) return undefined;
  return {
    products: [product],
    reductions: [{ kind: "discount", amount: minus(list, contracted) }, ofCommitment(line, contracted)],
  };
}

/** A FOCUS bill: contracted price, less what a commitment covers. */
function ofContract(line: BilledLine): Calculation | undefined {
  const product = pricing(line, line.ContractedUnitPrice);
  const contracted = parseExact(line.ContractedCost);
  if (product === undefined || contracted === undefined) return undefined;
  if (!isRoundingOf(minus(amountOf(product), contracted), [product])) return undefined;
  return { products: [product], reductions: [ofCommitment(line, contracted)] };
}

function pricing({ PricingQuantity, PricingUnit }: BilledLine, unitPrice: string): Priced | undefined {
  const quantity = parseExact(PricingQuantity);
  const price = parseExact(unitPrice);
  return quantity && price && { quantity, unit: PricingUnit, price };
}

function ofCommitment({ CommitmentDiscountId, total_cost }: BilledLine, contracted: Exact): Reduced {
  const kind = CommitmentDiscountId === "" ? "discount" : "commitment";
  return { kind, amount: minus(contracted, exact(total_cost)) };
}

/** Quantity and price of the line, less its discount: what it states, or else the difference to its list price. */
function ofPrice(line: BilledLine): Calculation {
  const { quantity, unit, ConsumedUnit, PricingUnit, unit_price, original_amount, discount_amount } = line;
  const product = {
    quantity: exact(quantity),
    unit: unit || ConsumedUnit || PricingUnit,
    price: exact(unit_price),
  };
  const original = parseExact(original_amount);
  const isListed = original !== undefined && isRoundingOf(minus(amountOf(product), original), [product]);
  const difference = isListed ? minus(original, exact(line.total_cost)) : zero;
  return {
    products: [product],
    reductions: [{ kind: "discount", amount: parseExact(discount_amount) ?? difference }],
  };
}

interface Tier {
  readonly quantity: string;
  readonly price: string;
  readonly cost: string;
  readonly unit?: string;
}

/** Several rows of the bill are one line: its tiers at their prices, and credits, which have no quantity. */
function ofTiers(line: BilledLine): Calculation | undefined {
  if (line.tiers_left_out !== "") return undefined;
  const tiers = JSON.parse(line.tiers) as Tier[];
  const isCredit = ({ quantity, cost }: Tier) => exact(quantity).units === 0n && exact(cost).units < 0n;
  const credits = tiers.filter(isCredit).map(({ cost }) => exact(cost));
  return {
    products: tiers
      .filter((tier) => !isCredit(tier))
      .map(({ quantity, price, unit = line.unit }) => ({
        quantity: exact(quantity),
        unit,
        price: exact(price),
      })),
    reductions: [
      { kind: "discount", amount: parseExact(line.discount_amount) ?? zero },
      { kind: "credit", amount: minus(zero, sumOf(credits)) },
    ],
  };
}

const amountOf = ({ quantity, price }: Priced): Exact => times(quantity, price);

const grossOf = (products: readonly Priced[]): Exact => sumOf(products.map(amountOf));

/** The difference between a calculation and the cost of its line. */
function rest({ products, reductions }: Calculation, cost: Exact): Exact {
  return minus(minus(grossOf(products), sumOf(reductions.map(({ amount }) => amount))), cost);
}

/**
 * Selects calculations of a line. They have a quantity, no discount has the other sign of what it is deducted from, and
 * only the rounding of the store may be left.
 */
function isOf(cost: Exact) {
  return (calculation: Calculation): boolean => {
    const { products, reductions } = calculation;
    const { units } = grossOf(products);
    const isDiscount = ({ kind, amount }: Reduced) =>
      kind === "credit" || amount.units === 0n || amount.units > 0n === units > 0n;
    return (
      products.some(({ quantity }) => quantity.units !== 0n) &&
      reductions.every(isDiscount) &&
      isRoundingOf(rest(calculation, cost), products)
    );
  };
}

/** The store cuts quantities and costs to 12 decimal places. */
const place: Exact = { units: 1n, scale: 12 };
const one: Exact = { units: 1n, scale: 0 };

function isRoundingOf(difference: Exact, products: readonly Priced[]): boolean {
  const most = times(place, plus(one, sumOf(products.map(({ price }) => absolute(price)))));
  return compare(absolute(difference), most) <= 0;
}

const absolute = ({ units, scale }: Exact): Exact => ({ units: units < 0n ? -units : units, scale });

/** Products at the same price become one. */
function mergedProducts(products: readonly Priced[]): Priced[] {
  const merged = new Map<string, Priced>();
  for (const product of products) {
    const key = JSON.stringify([product.unit, exactText(product.price)]);
    const before = merged.get(key)?.quantity ?? zero;
    merged.set(key, { ...product, quantity: plus(before, product.quantity) });
  }
  return [...merged.values()];
}

function shownProduct(product: Priced): Product {
  return {
    quantity: exactText(product.quantity),
    unit: product.unit || null,
    unit_price: exactText(product.price),
    amount: exactText(amountOf(product)),
  };
}

function mergedReductions(reductions: readonly Reduced[]): Reduction[] {
  return reductionKinds
    .map((kind) => {
      const amounts = reductions.filter((each) => each.kind === kind).map(({ amount }) => amount);
      return { kind, amount: exactText(sumOf(amounts)) };
    })
    .filter(({ amount }) => amount !== "0");
}
