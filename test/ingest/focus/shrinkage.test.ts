/** Deliveries with so much less than the bill that they would replace that a person has to look. */
import t from "tap";
import type { RecordedDelivery } from "../../../src/ingest/ecosystems/focus/deliveries/records.js";
import { type Replacement, shrinkage } from "../../../src/ingest/ecosystems/focus/deliveries/shrinkage.js";

type Sums = Replacement["loaded"]["sums"];
const sums = (effective: string, billed = effective, currency = "USD") =>
  ({
    currency,
    effective_cost: effective,
    billed_cost: billed,
    list_cost: "0",
    contracted_cost: "0",
  }) as Sums[number];
const bill = (lines: number, of: Sums, more: Partial<RecordedDelivery> = {}) =>
  ({
    billing_period: "2026-05",
    last_day: "2026-05-31",
    lines,
    sums: of,
    ...more,
  }) as unknown as RecordedDelivery;

const judged = (old: RecordedDelivery, lines: number, now: Sums, changes: Partial<Replacement> = {}) =>
  shrinkage({ old, loaded: { lines, sums: now }, limit: 0.5, today: "2026-06-15", ...changes });

t.test("a bill that keeps half of its lines and costs replaces the former one", async (t) => {
  const old = bill(10, [sums("100")]);
  t.equal(judged(old, 5, [sums("50")]), undefined, "exactly half is not too little");
  t.equal(judged(old, 20, [sums("300")]), undefined);
  t.equal(judged(bill(10, [sums("-100")]), 10, [sums("-50")]), undefined, "refunds have the same limit");
});

t.test("a bill that loses more than the limit waits, and reports what is missing", async (t) => {
  const old = bill(10, [sums("100", "80"), sums("40", "40", "EUR")]);
  const kept = [sums("100", "80"), sums("40", "40", "EUR")];
  t.equal(judged(old, 4, kept), "it has 60 % fewer lines than the bill it would replace (4 instead of 10)");
  t.equal(
    judged(old, 10, [sums("49.99", "80"), sums("40", "40", "EUR")]),
    "its effective_cost in USD is 50 % less than that of the bill it would replace",
  );
  t.equal(
    judged(old, 10, [sums("100", "8"), sums("40", "40", "EUR")]),
    "its billed_cost in USD is 90 % less than that of the bill it would replace",
  );
  t.equal(
    judged(old, 10, [sums("100", "80")]),
    "its billed_cost in EUR is 100 % less than that of the bill it would replace",
    "each currency has the limit",
  );
  t.match(judged(bill(10, [sums("-100")]), 10, [sums("-10")]), /^its billed_cost in USD is 90 % less/);
});

t.test("the limit is that of the setting", async (t) => {
  const old = bill(10, [sums("100")]);
  t.match(judged(old, 8, [sums("100")], { limit: 0.1 }), /^it has 20 % fewer lines/);
  t.equal(judged(old, 9, [sums("90")], { limit: 0.1 }), undefined);
  t.equal(judged(old, 0, [], { limit: 1 }), undefined, "with a limit of 1, everything may be lost");
});

t.test("only bills of past months are held", async (t) => {
  const old = bill(10, [sums("100")]);
  t.equal(judged(old, 1, [sums("1")], { today: "2026-05-31" }), undefined);
  t.type(judged(old, 1, [sums("1")], { today: "2026-06-01" }), "string");
  const unnamed = (last_day: string | null) => bill(10, [sums("100")], { billing_period: null, last_day });
  t.type(
    judged(unnamed("2026-05-31"), 1, [sums("1")]),
    "string",
    "a bill without a month has its last day as its month",
  );
  t.equal(judged(unnamed("2026-06-02"), 1, [sums("1")]), undefined);
  t.equal(judged(unnamed(null), 1, [sums("1")]), undefined);
});
