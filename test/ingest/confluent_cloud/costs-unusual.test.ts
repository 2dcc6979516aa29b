/** Rows of the bill of Confluent Cloud by their line type, including unknown and unreadable ones. */
import { pino } from "pino";
import t from "tap";
import {
  familyOf,
  productTypeOf,
  vendorLineTypes,
} from "../../../src/ingest/ecosystems/confluent_cloud/costs/product-types.js";
import { holds } from "../../holds.js";
import { testCostRow } from "./bill.js";
import { billed, billedLines, lineOf } from "./billed.js";

t.test("every line type of the vendor has a family, and a credit has that of its product", async (t) => {
  t.equal(vendorLineTypes.length, 29);
  for (const type of vendorLineTypes) t.ok(familyOf(type), type);
  t.same(["KAFKA_NUM_CKU", "KSQL_NUM_CSU", "FLINK_NUM_CFU", "CUSTOM_CONNECT_PLUGIN"].map(familyOf), [
    "kafka_cku",
    "ksqldb",
    "flink",
    "connector_capacity",
  ]);
  t.same(["SOMETHING_NEW", "constructor", ""].map(familyOf), [undefined, undefined, undefined]);
  const credits: [string, boolean, string, string][] = [
    ["KAFKA", true, "PROMO_CREDIT_KAFKA", "kafka_base"],
    ["CONNECT", true, "PROMO_CREDIT_CONNECT", "connector_tasks"],
    ["FLINK", true, "PROMO_CREDIT_FLINK", "flink"],
    ["STREAM_GOVERNANCE", true, "PROMO_CREDIT_STREAM_GOVERNANCE", "schema_registry"],
    ["SUPPORT_CLOUD_BASIC", true, "PROMO_CREDIT", "org_wide"],
    ["KAFKA", false, "PROMO_CREDIT", "org_wide"],
  ];
  for (const [product, hasResource, type, family] of credits) {
    t.equal(productTypeOf("PROMO_CREDIT", product, hasResource), type);
    t.equal(familyOf(type), family);
  }
  const credit = await lineOf(t, { line_type: "PROMO_CREDIT", amount: -1 });
  holds(t, credit, {
    product_type: "PROMO_CREDIT_KAFKA",
    resource_id: "lkc-aa11",
    metadata: { line_type: "PROMO_CREDIT" },
  });
});

t.test("an unknown line type is billed, with one warning", async (t) => {
  const logged: { product_type?: string }[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => void logged.push(JSON.parse(line)) });
  const rows = ["2026-03-04", "2026-03-05"].map((day) => testCostRow(day, { line_type: "KAFKA_TELEPATHY" }));
  const { gather } = await billed(t, rows, { context: { logger, tenantName: "warned" } });
  await gather();
  const { lines } = await gather();
  t.same(
    lines.map((line) => line.product_type),
    ["KAFKA_TELEPATHY", "KAFKA_TELEPATHY"],
  );
  t.same(
    logged.map((entry) => entry.product_type).filter((type) => type !== undefined),
    ["KAFKA_TELEPATHY"],
  );
});

t.test("an unreadable row is kept with its reason, and charged as far as it can be read", async (t) => {
  const own = "malformed_billing:c-0001";
  const cases: [string, Readonly<Record<string, unknown>>, RegExp, string?, string?][] = [
    ["a resource that is a list", { resource: [{ id: "lkc-1" }] }, /resource is not an object/, "2", own],
    ["a resource that is text", { resource: "lkc-1" }, /resource is not an object/, "2", own],
    [
      "an environment that is text",
      { resource: { id: "l", environment: "env-1" } },
      /environment is not an object/,
      "2",
      "l",
    ],
    ["an id that is a list", { resource: { id: ["l"] } }, /id is not text/, "2", own],
    [
      "an id that is too long",
      { resource: { id: "x".repeat(1001) } },
      /id is longer than 1000 characters/,
      "2",
      own,
    ],
    ["an id with a line end", { resource: { id: "lkc\n1" } }, /id has control characters/, "2", own],
    ["a line type that is an object", { line_type: {} }, /line_type is not text/],
    ["a date that there is not", { start_date: "2026-02-30" }, /start_date is not a date/],
    ["a date in words", { start_date: "yesterday" }, /start_date is not a date/],
    ["no start", { start_date: undefined }, /start_date is missing/],
    ["no amount at all", { amount: null, original_amount: null }, /no amount/, "0"],
    [
      "an amount in words",
      { amount: "two", original_amount: 3, discount_amount: 1 },
      /amount is not a number/,
      "2",
    ],
    ["an amount that no store takes", { amount: "1e40", original_amount: null }, /amount is too large/, "0"],
    ["an amount that is no number", { amount: "NaN", original_amount: null }, /amount is not a number/, "0"],
  ];
  for (const [name, changes, why, cost = "2", resource = "lkc-aa11"] of cases) {
    const [line] = await billedLines(t, [
      { ...testCostRow("2026-03-04", changes), hidden_day: "2026-03-04" },
    ]);
    holds(
      t,
      line,
      {
        timestamp: "2026-03-04T00:00:00Z",
        resource_id: resource,
        product_type: "MALFORMED",
        product_category: "KAFKA",
        total_cost: cost,
        metadata: { malformed: true, parse_error: why, raw: String },
      },
      name,
    );
    holds(t, JSON.parse(String(line?.metadata.raw)), { id: "c-0001", granularity: "DAILY" });
  }
  const broken = { start_date: undefined, amount: "?", original_amount: 3, discount_amount: "0.5" };
  const [whole] = await billedLines(t, [{ ...testCostRow("2026-03-04", broken), hidden_day: "2026-03-04" }]);
  const { raw: _raw, ...metadata } = whole?.metadata ?? {};
  t.strictSame(
    { ...whole, metadata },
    {
      timestamp: "2026-03-04T00:00:00Z",
      env_id: "env-77",
      resource_id: "lkc-aa11",
      product_category: "KAFKA",
      product_type: "MALFORMED",
      quantity: "40",
      unit_price: "0.05",
      total_cost: "2.5",
      currency: "USD",
      granularity: "daily",
      metadata: {
        resource_name: "orders",
        line_type: "KAFKA_STORAGE",
        malformed: true,
        parse_error: "start_date is missing",
        original_amount: "3",
        discount_amount: "0.5",
        vendor_ids: ["c-0001"],
      },
    },
    "the line has every column that could be read",
  );
  const { gather } = await billed(t, [null, "text", 7, 7]);
  const { lines: strange } = await gather({ start: "2026-03-01", end: "2026-03-16" });
  t.equal(strange.length, 3, "equal rows are one line");
  t.ok(strange.every(({ resource_id }) => /^malformed_billing:[0-9a-f]{16}$/.test(resource_id)));
});
