/** Amounts by step, added up in whatever order they come. */
import t from "tap";
import type { MicroUnits } from "../../src/ingest/micro-units.js";
import { addAmount, factsOf, noAmounts } from "../../src/ingest/usage-series.js";
import fc from "../property.js";
import { Classes } from "./classes.js";

const classes = ["in order", "out of order", "a step again"] as const;

t.test("each step has the sum of its amounts, and steps ascend", async (t) => {
  const met = new Classes<(typeof classes)[number]>();
  const added = fc.array(fc.tuple(fc.nat(20), fc.nat(1000)), { maxLength: 30 });
  fc.assert(
    fc.property(added, (list) => {
      const amounts = noAmounts();
      const wanted = new Map<number, MicroUnits>();
      for (const [start, amount] of list) {
        const last = amounts.starts.at(-1);
        met.met(wanted.has(start) ? "a step again" : start > (last ?? -1) ? "in order" : "out of order");
        addAmount(amounts, start, amount);
        wanted.set(start, Number(wanted.get(start) ?? 0) + amount);
      }
      const ascending = [...wanted].sort(([a], [b]) => a - b);
      t.strictSame(
        amounts.starts.map((start, at) => [start, amounts.microUnits[at]]),
        ascending,
      );
    }),
    { numRuns: 300 },
  );
  t.same(met.missing(classes, 10), []);
});

t.test("facts of series", async (t) => {
  const whose = { metric: "m", resource_id: "c", identity_id: "i" };
  const starts = [1_767_225_600, 1_767_229_200];
  t.strictSame(factsOf([{ ...whose, starts, microUnits: [5, 2n ** 64n] }]), [
    { ...whose, timestamp: "2026-01-01T00:00:00Z", micro_units: "5" },
    { ...whose, timestamp: "2026-01-01T01:00:00Z", micro_units: "18446744073709551616" },
  ]);
});
