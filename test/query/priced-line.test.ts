/** How a line of the bill is shown as quantities at their prices, less discounts. */
import t from "tap";
import {
  type Exact,
  exact,
  exactText,
  minus,
  plus,
  sumOf,
  times,
  zero,
} from "../../src/common/exact-decimal.js";
import {
  type BilledLine,
  MOST_PRICES,
  notedFields,
  pricedFields,
  pricedLine,
} from "../../src/query/chargebacks/explain/priced.js";
import fc from "../property.js";

const empty = Object.fromEntries([...pricedFields, ...notedFields].map((name) => [name, ""])) as BilledLine;
const line = (fields: Partial<BilledLine>): BilledLine => ({
  ...empty,
  quantity: "0",
  unit_price: "0",
  list_cost: "0",
  ...fields,
});
const shown = (...lines: readonly BilledLine[]) => pricedLine(lines, lines.length);
const tier = (quantity: string, price: string, cost: string) => ({ quantity, price, cost });

t.test("a line with a discount is its quantity at the price, less the discount", async (t) => {
  const fields = { quantity: "24", unit_price: "1.375", unit: "CKU-hour", total_cost: "31.35" };
  const product = { quantity: "24", unit: "CKU-hour", unit_price: "1.375", amount: "33" };
  const priced = { products: [product], reductions: [{ kind: "discount", amount: "1.65" }] };
  t.strictSame(shown(line({ ...fields, original_amount: "33", discount_amount: "1.65" })), priced);
  t.strictSame(shown(line({ ...fields, original_amount: "33" })), priced, "the list price alone is enough");
  t.equal(shown(line(fields)), null, "the difference of 1.65 is not explained");
  t.equal(shown(line({ ...fields, discount_amount: "1.64" })), null, "another discount does not add up");
  t.equal(shown(line({ ...fields, total_cost: "34.65", discount_amount: "-1.65" })), null);
});

t.test("a line of a FOCUS bill begins with the list price, if that multiplies out", async (t) => {
  const focus = line({
    quantity: "16",
    unit_price: "0.1728",
    list_cost: "3.072",
    total_cost: "1.8432",
    PricingQuantity: "16",
    PricingUnit: "Hours",
    ListUnitPrice: "0.192",
    ContractedUnitPrice: "0.1728",
    ContractedCost: "2.7648",
    CommitmentDiscountId: "plan-1",
  });
  const product = { quantity: "16", unit: "Hours" };
  const commitment = { kind: "commitment", amount: "0.9216" };
  t.strictSame(shown(focus), {
    products: [{ ...product, unit_price: "0.192", amount: "3.072" }],
    reductions: [{ kind: "discount", amount: "0.3072" }, commitment],
  });
  const contracted = { products: [{ ...product, unit_price: "0.1728", amount: "2.7648" }] };
  t.strictSame(shown({ ...focus, list_cost: "3" }), { ...contracted, reductions: [commitment] });
  t.strictSame(shown({ ...focus, ListUnitPrice: "", CommitmentDiscountId: "" }), {
    ...contracted,
    reductions: [{ ...commitment, kind: "discount" }],
  });
  t.equal(shown({ ...focus, ListUnitPrice: "", ContractedCost: "2.7" }), null);
  t.equal(
    shown({ ...focus, total_cost: "4", ContractedUnitPrice: "", unit_price: "0" }),
    null,
    "an amount above the contracted cost is no discount",
  );
});

t.test("a line without a quantity, or that costs more than its free units, shows no product", async (t) => {
  t.equal(shown(line({ total_cost: "14.2" })), null, "a tax");
  t.equal(shown(line({ total_cost: "-5" })), null, "a credit");
  t.equal(shown(line({ total_cost: "0" })), null);
  t.equal(shown(line({ quantity: "6", total_cost: "1.8432" })), null, "an unused commitment");
  t.strictSame(shown(line({ quantity: "6", total_cost: "0" })), {
    products: [{ quantity: "6", unit: null, unit_price: "0", amount: "0" }],
    reductions: [],
  });
  t.equal(
    pricedLine([line({ quantity: "1", unit_price: "1", total_cost: "1" })], 2),
    null,
    "a line is missing",
  );
  const prices = Array.from({ length: MOST_PRICES + 1 }, (_, index) =>
    tier("1", String(index + 1), String(index + 1)),
  );
  const total_cost = String(prices.reduce((sum, { cost }) => sum + Number(cost), 0));
  t.equal(shown(line({ total_cost, tiers: JSON.stringify(prices) })), null, "too many prices");
});

t.test("tiers are products of their own, and credits are deducted", async (t) => {
  const tiers = JSON.stringify([tier("10", "0", "0"), tier("25", "0.004", "0.1"), tier("0", "0", "-0.03")]);
  const fields = { unit: "Rule", total_cost: "0.07", tiers, discount_amount: "0" };
  t.strictSame(shown(line(fields)), {
    products: [
      { quantity: "10", unit: "Rule", unit_price: "0", amount: "0" },
      { quantity: "25", unit: "Rule", unit_price: "0.004", amount: "0.1" },
    ],
    reductions: [{ kind: "credit", amount: "0.03" }],
  });
  t.equal(shown(line({ ...fields, tiers_left_out: "3" })), null);
});

/** How a bill may state a line, and whether it multiplies out. */
const kinds = [
  "plain",
  "stated discount",
  "list amount",
  "tiers",
  "list price",
  "contracted price",
  "rounded",
  "wrong",
  "no quantity",
] as const;
const most = 10n ** 9n;
const positive = fc.bigInt({ min: 1n, max: most }).map((units): Exact => ({ units, scale: 6 }));
const drawn = fc.record({
  kind: fc.constantFrom(...kinds),
  quantity: positive,
  price: positive,
  percent: fc.integer({ min: 1, max: 99 }),
  isRefund: fc.boolean(),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;

function billed({ kind, quantity: size, price, percent, isRefund }: Drawn): BilledLine {
  const quantity = isRefund ? { ...size, units: -size.units } : size;
  const gross = times(quantity, price);
  const discount = times(gross, { units: BigInt(percent), scale: 2 });
  const net = exactText(minus(gross, discount));
  const single = { quantity: exactText(quantity), unit_price: exactText(price) };
  const pricingOf = { PricingQuantity: single.quantity, ListUnitPrice: single.unit_price };
  switch (kind) {
    case "plain":
      return line({ ...single, total_cost: exactText(gross) });
    case "stated discount":
      return line({ ...single, total_cost: net, discount_amount: exactText(discount) });
    case "list amount":
      return line({ ...single, total_cost: net, original_amount: exactText(gross) });
    case "tiers": {
      const tiers = [
        tier(single.quantity, single.unit_price, exactText(gross)),
        tier("0", "0", exactText(minus(zero, times(size, price)))),
        tier("7", "0.5", "3.5"),
      ];
      const total = sumOf(tiers.map(({ cost }) => exact(cost)));
      return line({ total_cost: exactText(total), tiers: JSON.stringify(tiers) });
    }
    case "list price":
      return line({ ...pricingOf, list_cost: exactText(gross), ContractedCost: net, total_cost: net });
    case "contracted price": {
      const contracted = { ContractedUnitPrice: single.unit_price, ContractedCost: exactText(gross) };
      return line({ PricingQuantity: single.quantity, ...contracted, total_cost: net });
    }
    case "rounded":
      return line({ ...single, total_cost: exactText(plus(gross, { units: 1n, scale: 12 })) });
    case "wrong":
      return line({ ...single, total_cost: exactText(plus(gross, { units: 1n, scale: 2 })) });
    case "no quantity":
      return line({ unit_price: single.unit_price, total_cost: net });
  }
}

t.test("products minus reductions are the cost of any line, or no product is shown", async (t) => {
  const counted: Record<string, number> = {};
  const lines = fc.array(drawn, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(lines, (all) => {
      const found = shown(...all.map(billed));
      const isExplained = all.every(({ kind }) => kind !== "wrong" && kind !== "no quantity");
      const [first] = all;
      const name = all.length > 1 ? "several lines" : first?.isRefund ? "refund" : (first?.kind ?? "");
      counted[name] = (counted[name] ?? 0) + 1;
      if (found === null) return !isExplained;
      const products = found.products.map(({ quantity, unit_price, amount }) => {
        const product = times(exact(quantity), exact(unit_price));
        return exactText(product) === amount ? product : undefined;
      });
      if (products.includes(undefined)) return false;
      const gross = sumOf(products.filter((each) => each !== undefined));
      const reduced = sumOf(found.reductions.map(({ amount }) => exact(amount)));
      const cost = sumOf(all.map((each) => exact(billed(each).total_cost)));
      return isExplained && exactText(minus(gross, reduced)) === exactText(cost);
    }),
    { numRuns: 1_000 },
  );
  const missing = [...kinds, "several lines", "refund"].filter((kind) => (counted[kind] ?? 0) < 5);
  t.strictSame(missing, [], "every kind of line occurred");
});
