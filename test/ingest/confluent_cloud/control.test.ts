/**
 * Control totals of Confluent Cloud's bill: each row of a response is in exactly one class, and the classes add up to
 * the response.
 */
import t from "tap";
import { decimalText, parseExact, plus, sumText, zero } from "../../../src/common/exact-decimal.js";
import { collectLines } from "../../../src/ingest/ecosystems/confluent_cloud/costs/billing-lines.js";
import { createControlCounter } from "../../../src/ingest/ecosystems/confluent_cloud/costs/control.js";
import { readCostRow } from "../../../src/ingest/ecosystems/confluent_cloud/costs/cost-row.js";
import fc from "../../property.js";

const [START, END] = ["2026-05-01", "2026-05-04"];
const days = ["2026-04-30", "2026-05-01", "2026-05-02", "2026-05-03", "2026-05-04"];

const row = fc.record({
  id: fc.constantFrom("a", "b", undefined),
  start_date: fc.constantFrom(...days, "soon"),
  amount: fc.constantFrom("0", "1.5", "-2.25", "0.000000000001", "1000000", "much"),
  line_type: fc.constantFrom("KAFKA_NUM_CKUS", "SUPPORT"),
});

t.test("rows of a response equal the sums of their classes, and charged rows equal the staged lines", (t) => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
      const counter = createControlCounter();
      const lines = collectLines((part) => counter.repeated(part));
      for (const each of rows) {
        const { part } = readCostRow({ ...each, product: "KAFKA" }, START);
        if (part.day < START || part.day >= END) counter.notRequested(START, part.cost);
        else {
          counter.charged(part);
          lines.add(part);
        }
      }
      const staged = new Map(
        ["2026-05-01", "2026-05-02", "2026-05-03"].map((day) => [
          day,
          sumText(lines.takeLinesOf(day).map(({ total_cost }) => total_cost)),
        ]),
      );
      const totals = counter.totals();
      t.ok(
        totals.every((each) => each.rows > 0),
        "classes without rows are left out",
      );
      for (const each of totals) seen.add(`${each.class} ${each.reason}`.trim());
      const of = (wanted: (name: string) => boolean) => {
        const chosen = totals.filter((each) => wanted(each.class));
        return [chosen.reduce((sum, each) => sum + each.rows, 0), sumText(chosen.map(({ cost }) => cost))];
      };
      const costs = rows.map(({ amount }) => parseExact(amount) ?? zero).reduce(plus, zero);
      const delivered = [rows.length, decimalText(costs.units, costs.scale)];
      t.strictSame(
        of((name) => name === "delivered"),
        delivered,
      );
      t.strictSame(
        of((name) => name !== "delivered"),
        delivered,
      );
      for (const { day, amount } of counter.billed()) t.equal(amount, staged.get(day));
    }),
    { numRuns: 300 },
  );
  t.strictSame([...seen].sort(), [
    "charged",
    "charged malformed",
    "delivered",
    "duplicate",
    "outside_window not_requested",
    "zero",
    "zero malformed",
  ]);
  t.end();
});
