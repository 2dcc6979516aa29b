/** A line keeps each field of its bill that has no column of its own, as it is written, in a JSON object. */
import t from "tap";
import { readRows } from "../../../src/clickhouse/statement.js";
import { billingLines } from "../../../src/ingest/ecosystems/focus/lines/billing-lines.js";
import fc from "../../property.js";
import { Classes } from "../classes.js";
import { deliveryOf, fileOf, loadBills, openDeliveryStore } from "./bills.js";

/** Longer than any spelling of null, or empty. */
const text = fc
  .array(fc.constantFrom('"', "\\", "/", ",", ":", "{", "}", "\n", "\t", "\u0001", "é", "😀", "'", "x"), {
    maxLength: 8,
  })
  .map((parts) => (parts.length === 0 ? "" : `text ${parts.join("")}`));
const line = fc.record({
  ChargeDescription: text,
  ResourceName: text,
  RegionName: text,
  SkuPriceDetails: fc.constantFrom("", '{"a":"b \\"c\\""}'),
  "x_first column": text,
  x_second: text,
  PricingQuantity: fc.constantFrom("", "0", "1.5", "-0.000000000001"),
  ListUnitPrice: fc.constantFrom("", "12.25"),
  times: fc.constantFrom(1, 1, 2),
});
const blank = {
  ChargeDescription: "",
  ResourceName: "",
  RegionName: "",
  SkuPriceDetails: "",
  "x_first column": "",
  x_second: "",
  PricingQuantity: "",
  ListUnitPrice: "",
  times: 1,
};
const anyLine = fc.oneof({ weight: 6, arbitrary: line }, { weight: 1, arbitrary: fc.constant(blank) });
/** Quantities of two equal lines. */
const doubled: Readonly<Record<string, string>> = {
  "0": "0",
  "1.5": "3",
  "-0.000000000001": "-0.000000000002",
};

/** Quotes every field. */
function csv(rows: readonly Readonly<Record<string, string>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const quoted = (value = "") => `"${value.replaceAll('"', '""')}"`;
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))];
  return lines.map((values) => `${values.map(quoted).join(",")}\n`).join("");
}

type Class = "no field" | "own columns" | "no own columns" | "quotes" | "several equal";

t.test("metadata of any lines", async (t) => {
  const store = await openDeliveryStore(t);
  const classes = new Classes<Class>();
  let bill = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyLine, { minLength: 1, maxLength: 6 }), async (lines) => {
      const source = `bill-${bill++}`;
      const rows = lines.flatMap(({ times, ...fields }, at) =>
        Array.from({ length: times }, () => ({
          ...fields,
          SubAccountId: `line-${at}`,
          EffectiveCost: "1",
          BillingCurrency: "USD",
          ChargePeriodStart: "2026-05-01T00:00:00Z",
        })),
      );
      await loadBills(store, deliveryOf([fileOf("bill.csv", csv(rows))], { source }));
      const { rows: loaded } = await store.postgres.query<{ id: number }>(
        "SELECT delivery_id::int AS id FROM deliveries WHERE source = $1",
        [source],
      );
      const { query, params } = billingLines({
        window: { start: "2026-05-01", end: "2026-05-02" },
        deliveries: loaded.map(({ id }) => id),
        counted: "true",
        cost: "EffectiveCost",
        spread: "none",
        columns: [],
      });
      const found = await readRows<Record<"env_id" | "metadata", string>>(store.client, {
        query: `SELECT env_id, metadata FROM (${query}) ORDER BY env_id`,
        params,
      });
      const expected = lines.map(({ times, PricingQuantity, ...fields }, at) => {
        const ofLine = {
          ...fields,
          PricingQuantity: times === 1 ? PricingQuantity : (doubled[PricingQuantity] ?? ""),
        };
        const given = Object.entries(ofLine).filter(([, value]) => value !== "");
        classes.met(fields["x_first column"] + fields.x_second === "" ? "no own columns" : "own columns");
        if (given.length === 0) classes.met("no field");
        if (fields.ChargeDescription.includes('"')) classes.met("quotes");
        if (times > 1) classes.met("several equal");
        return [
          `line-${at}`,
          {
            ChargePeriodStart: "2026-05-01T00:00:00Z",
            EffectiveCost: String(times),
            ...Object.fromEntries(given),
          },
        ];
      });
      t.strictSame(
        found.map(({ env_id, metadata }) => [env_id, JSON.parse(metadata)]),
        expected,
      );
    }),
    { numRuns: 30 },
  );
  t.strictSame(
    classes.missing(["no field", "own columns", "no own columns", "quotes", "several equal"], 1),
    [],
  );
});
