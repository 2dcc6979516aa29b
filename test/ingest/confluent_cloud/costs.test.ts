/** The bill of Confluent Cloud: rows of the vendor to billing lines, through the gatherer and a real HTTP server. */
import t from "tap";
import { decimalText, minus, parseExact, plus, zero } from "../../../src/common/exact-decimal.js";
import { holds } from "../../holds.js";
import fc from "../../property.js";
import { resource, testCostRow } from "./bill.js";
import { billed, billedLines, lineOf } from "./billed.js";

/** Rows from the vendor's documentation: a normal row, two tiers, a credit without a resource. */
const documented = [
  testCostRow("2026-03-04", {
    line_type: "KAFKA_NETWORK_WRITE",
    network_access_type: "INTERNET",
    unit: "GB",
    quantity: 41.5,
    original_amount: 2.075,
    discount_amount: 0.075,
    amount: 2.0,
  }),
  ...[
    {
      id: "c-0002",
      price: 0,
      quantity: 10,
      original_amount: 0,
      amount: 0,
      tier_dimensions: { tier_start: "0", tier_end: "10" },
    },
    {
      id: "c-0003",
      price: "0.004",
      quantity: "25",
      original_amount: "0.10",
      amount: "0.10",
      tier_dimensions: { tier_start: "10", tier_end: "50" },
    },
  ].map((tier) =>
    testCostRow("2026-03-04", {
      product: "STREAM_GOVERNANCE",
      line_type: "NUM_RULES",
      unit: "Rule",
      resource: resource("lsrc-b2", "sr"),
      ...tier,
    }),
  ),
  {
    id: "c-0004",
    start_date: "2026-03-04",
    end_date: "2026-03-05",
    granularity: "DAILY",
    product: "KAFKA",
    line_type: "PROMO_CREDIT",
    original_amount: -15.0,
    amount: -15.0,
    description: "welcome credit",
  },
];

t.test("the vendor's rows become the expected lines, on one page and on several", async (t) => {
  for (const pageSize of [1000, 1]) {
    const lines = await billedLines(t, documented, { pageSize });
    const usual = { timestamp: "2026-03-04T00:00:00Z", currency: "USD", granularity: "daily" };
    t.same(lines, [
      {
        ...usual,
        env_id: "env-77",
        resource_id: "lkc-aa11",
        product_category: "KAFKA",
        product_type: "KAFKA_NETWORK_WRITE",
        quantity: "41.5",
        unit_price: "0.05",
        total_cost: "2",
        metadata: {
          resource_name: "orders",
          unit: "GB",
          network_access_type: "INTERNET",
          original_amount: "2.075",
          discount_amount: "0.075",
          vendor_ids: ["c-0001"],
        },
      },
      {
        ...usual,
        env_id: "env-77",
        resource_id: "lsrc-b2",
        product_category: "STREAM_GOVERNANCE",
        product_type: "NUM_RULES",
        quantity: "35",
        unit_price: "0",
        total_cost: "0.1",
        metadata: {
          resource_name: "sr",
          unit: "Rule",
          original_amount: "0.1",
          discount_amount: "0",
          vendor_ids: ["c-0002", "c-0003"],
          tiers: [
            { price: "0", quantity: "10", cost: "0", tier_dimensions: { tier_end: "10", tier_start: "0" } },
            {
              price: "0.004",
              quantity: "25",
              cost: "0.1",
              tier_dimensions: { tier_end: "50", tier_start: "10" },
            },
          ],
        },
      },
      {
        ...usual,
        env_id: "",
        resource_id: "no_resource:KAFKA:PROMO_CREDIT",
        product_category: "KAFKA",
        product_type: "PROMO_CREDIT",
        quantity: "0",
        unit_price: "0",
        total_cost: "-15",
        metadata: { description: "welcome credit", original_amount: "-15", vendor_ids: ["c-0004"] },
      },
    ]);
  }
});

t.test("the net amount is charged, with the digits of the response", async (t) => {
  const big = "12345678901234567890.123456789012";
  const amounts: [string, Readonly<Record<string, unknown>>, string][] = [
    ["text", { amount: big }, big],
    ["a float would be 0.30000000000000004", { amount: "0.3" }, "0.3"],
    ["an exponent", { amount: 1.5e-7 }, "0.00000015"],
    ["a refund", { amount: -2.5, original_amount: -3, discount_amount: -0.5 }, "-2.5"],
    ["nothing", { amount: 0 }, "0"],
    [
      "not given: list price less discount",
      { amount: undefined, original_amount: 2.075, discount_amount: 0.075 },
      "2",
    ],
    ["null is not given", { amount: null, original_amount: "3", discount_amount: null }, "3"],
    ["rounded once, to what the store has", { amount: "0.1234567890125" }, "0.123456789013"],
  ];
  for (const [name, changes, wanted] of amounts) t.equal((await lineOf(t, changes)).total_cost, wanted, name);
  const many = await lineOf(t, { quantity: "0.12345678901234567", amount: "1.0000000000004" });
  holds(t, many, { quantity: "0.123456789012", total_cost: "1" });
  t.same(many.metadata.exact, { quantity: "0.12345678901234567", total_cost: "1.0000000000004" });
  const thirds = [1, 2, 3].map((id) =>
    testCostRow("2026-03-04", { id: `c-${id}`, amount: "0.0000000000004" }),
  );
  t.equal(
    (await billedLines(t, thirds))[0]?.total_cost,
    "0.000000000001",
    "amounts are merged before they are rounded",
  );
});

t.test("numbers of the vendor's JSON keep more digits than a float has", async (t) => {
  const { bill, gather } = await billed(t);
  bill.setInstead((query, _request, response) => {
    const row = JSON.stringify(testCostRow("2026-03-04", { amount: "AMOUNT" })).replace(
      '"AMOUNT"',
      "98765432109876543.21",
    );
    response.end(`{"metadata":{},"data":[${query.get("start_date") === "2026-03-01" ? row : ""}]}`);
    return true;
  });
  t.equal((await gather()).lines[0]?.total_cost, "98765432109876543.21");
});

t.test("absent and null fields are the same", async (t) => {
  const all = {
    resource: null,
    price: null,
    quantity: null,
    discount_amount: null,
    description: null,
    product: null,
  };
  const absent = Object.fromEntries(Object.keys(all).map((key) => [key, undefined]));
  const [ofNull, ofAbsent] = [await lineOf(t, all), await lineOf(t, absent)];
  t.same(ofNull, ofAbsent);
  holds(t, ofNull, {
    resource_id: "no_resource::KAFKA_STORAGE",
    env_id: "",
    product_category: "",
    quantity: "0",
  });
  holds(t, await lineOf(t, { resource: { id: "lkc-1", environment: null } }), {
    resource_id: "lkc-1",
    env_id: "",
  });
  holds(t, await lineOf(t, { resource: {} }), { resource_id: "no_resource:KAFKA:KAFKA_STORAGE" });
  holds(t, await lineOf(t, { line_type: undefined }), { product_type: "UNNAMED", resource_id: "lkc-aa11" });
});

t.test("a charge and its refund are one line, with both in its metadata", async (t) => {
  const [line, ...others] = await billedLines(t, [
    testCostRow("2026-03-04"),
    testCostRow("2026-03-04", {
      id: "c-2",
      amount: -0.5,
      original_amount: -0.5,
      price: 0,
      quantity: 0,
      description: "sorry",
    }),
  ]);
  t.same(others, []);
  holds(t, line, {
    total_cost: "1.5",
    unit_price: "0",
    metadata: { vendor_ids: ["c-0001", "c-2"], resource_name: "orders" },
  });
  t.same(line?.metadata.tiers, [
    { price: "0", quantity: "0", cost: "-0.5", description: "sorry" },
    { price: "0.05", quantity: "40", cost: "2" },
  ]);
});

t.test(
  "a row that repeats on the next page counts once, and a row that only resembles it counts as well",
  async (t) => {
    const row = testCostRow("2026-03-04");
    const later = { ...row, id: "c-2" };
    const revised = { ...row, amount: 3 };
    const { gather } = await billed(t, [row, later, row, revised, later], { pageSize: 2 });
    const { lines, report } = await gather();
    t.strictSame(
      lines.map(({ total_cost, metadata }) => [total_cost, metadata.vendor_ids]),
      [["7", ["c-0001", "c-2"]]],
    );
    t.strictSame(report.dropped, { repeated: 2 });
  },
);

t.test("a line of very many rows keeps its sum, and as many of its parts as fit", async (t) => {
  const description = "x".repeat(490);
  const rows = Array.from({ length: 4000 }, (_, index) =>
    testCostRow("2026-03-04", { id: `c-${index}`, amount: "0.01", description: `${description}${index}` }),
  );
  const [line, ...others] = await billedLines(t, rows);
  t.same(others, []);
  t.equal(line?.total_cost, "40");
  t.ok(JSON.stringify(line?.metadata).length < 500_000);
  t.ok(Number(line?.metadata.tiers_left_out) > 0);
});

t.test("the order of any rows makes no difference, and no amount is lost", async (t) => {
  const cents = fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n });
  const row = fc.record({
    id: fc.option(fc.constantFrom("a", "b", "c"), { nil: null }),
    line_type: fc.constantFrom("KAFKA_STORAGE", "SUPPORT", "PROMO_CREDIT"),
    amount: cents.map((units) => decimalText(units, 8)),
    price: fc.constantFrom(0, "0.1", null),
    resource: fc.constantFrom(null, resource("lkc-1"), resource("lkc-2", "two"), ["lkc-3"], "x"),
    description: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
    tier_dimensions: fc.constantFrom(undefined, { tier_start: "9" }, { tier_start: "10", tier_end: "20" }),
  });
  const { bill, gather } = await billed(t);
  const short = { start: "2026-03-04", end: "2026-03-05" };
  const shuffles = fc
    .array(row, { maxLength: 12 })
    .chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })));
  await fc.assert(
    fc.asyncProperty(shuffles, async ([rows, shuffled]) => {
      const linesIn = async (order: readonly Readonly<Record<string, unknown>>[]) => {
        bill.setRows(order.map((changes) => testCostRow("2026-03-04", changes)));
        return (await gather(short)).lines;
      };
      const lines = await linesIn(rows);
      t.same(await linesIn(shuffled), lines);
      const sum = (amounts: readonly string[]) =>
        amounts.reduce((total, amount) => plus(total, parseExact(amount) ?? zero), zero);
      const { units } = minus(
        sum(lines.map((line) => line.total_cost)),
        sum(rows.map(({ amount }) => amount)),
      );
      t.equal(units, 0n);
    }),
    { numRuns: 60 },
  );
});
