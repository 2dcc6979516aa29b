/** For any lines of a bill and any windows, each charge arrives completely, divided by the seconds of its days. */
import t from "tap";
import { readRows } from "../../../src/clickhouse/statement.js";
import { addDays } from "../../../src/common/days.js";
import { billingLines, linePieces } from "../../../src/ingest/ecosystems/focus/lines/billing-lines.js";
import type { Spread } from "../../../src/ingest/ecosystems/focus/lines/charge-days.js";
import fc from "../../property.js";
import { Classes } from "../classes.js";
import { csv, deliveryOf, fileOf, loadBills, openDeliveryStore } from "./bills.js";

const DAY = 86_400;
const first = Date.UTC(2026, 4, 1) / 1000;
const window = { start: "2026-05-01", end: "2026-06-10" };

/** Equal charges have the same id. */
interface Charge {
  readonly id: string;
  /** Whole 10^-12. */
  readonly cost: bigint;
  /** Seconds since the first day. */
  readonly start: number;
  readonly seconds: number;
  /** Number of its occurrences in each of two bills. */
  readonly times: readonly [number, number];
}

const charge = fc.record({
  cost: fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 20 }), fc.boolean()).map(
    // Small amounts, which are hard to divide, occur often.
    ([value, digits, isCredit]) => (isCredit ? -1n : 1n) * (value % 10n ** BigInt(digits)),
  ),
  start: fc.oneof(
    fc.integer({ min: 0, max: 19 }).map((day) => day * DAY),
    fc.integer({ min: 0, max: 20 * DAY - 1 }),
  ),
  seconds: fc.oneof(fc.constantFrom(3600, DAY, 2 * DAY, 7 * DAY), fc.integer({ min: 0, max: 20 * DAY })),
  times: fc.oneof(
    { weight: 2, arbitrary: fc.constant([1, 0] as const) },
    { weight: 1, arbitrary: fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 })) },
  ),
});
const charges = fc
  .array(charge, { minLength: 1, maxLength: 12 })
  .map((all) => all.map((each, at): Charge => ({ ...each, id: `r-${at}` })));

/** Days of the windows that a bill is read in. Short windows, which need many statements, are rare. */
const windowDays = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 9, arbitrary: fc.integer({ min: 5, max: 40 }) },
);

const decimal = (ticks: bigint) => {
  const digits = (ticks < 0n ? -ticks : ticks).toString().padStart(13, "0");
  return `${ticks < 0n ? "-" : ""}${digits.slice(0, -12)}.${digits.slice(-12)}`;
};
const isoOf = (seconds: number) => new Date((first + seconds) * 1000).toISOString();

/** The sum of the days from the first one on, cut to the last place. */
function partsOf({ cost, start, seconds }: Charge): bigint[] {
  const length = Math.max(seconds, 1);
  const days = Math.ceil(((start % DAY) + length) / DAY);
  const until = (day: number) =>
    (cost * BigInt(Math.max(0, Math.min(day * DAY - (start % DAY), length)))) / BigInt(length);
  return Array.from({ length: days }, (_, day) => until(day + 1) - until(day));
}

type Class =
  | "several equal"
  | "equal in two bills"
  | "several days"
  | "part of a day"
  | "credit"
  | "indivisible";

for (const spread of ["none", "daily"] as const satisfies readonly Spread[]) {
  t.test(
    `lines of any bill, ${spread === "daily" ? "spread over their days" : "on their first day"}`,
    async (t) => {
      const store = await openDeliveryStore(t);
      const classes = new Classes<Class>();
      let bill = 0;

      await fc.assert(
        fc.asyncProperty(charges, windowDays, async (all, days) => {
          const sources = [0, 1].map((at) => `${spread}-${bill++}-${at}`);
          for (const [at, source] of sources.entries()) {
            const rows = all.flatMap(({ id, cost, start, seconds, times }) =>
              Array.from({ length: times[at] ?? 0 }, () => ({
                ResourceId: id,
                EffectiveCost: decimal(cost),
                ChargePeriodStart: isoOf(start),
                ChargePeriodEnd: isoOf(start + seconds),
              })),
            );
            await loadBills(store, deliveryOf([fileOf("bill.csv", csv(rows))], { source }));
          }
          const { rows: current } = await store.postgres.query<{ id: number }>(
            "SELECT delivery_id::int AS id FROM deliveries WHERE source = ANY($1)",
            [sources],
          );
          const found: string[] = [];
          // Consecutive windows of this many days, each read independently.
          for (let start = window.start; start < window.end; start = addDays(start, days)) {
            const { query, params } = billingLines({
              window: { start, end: addDays(start, days) },
              deliveries: current.map(({ id }) => id),
              counted: "true",
              cost: "EffectiveCost",
              spread,
              columns: [],
            });
            const lines = await readRows<Record<"resource" | "day" | "cost", string>>(store.client, {
              query: `SELECT resource_id AS resource, toString(toDate(timestamp)) AS day, toString(total_cost) AS cost FROM (${query})`,
              params,
            });
            for (const { resource, day, cost } of lines)
              found.push(`${resource} ${day} ${Number(cost) === 0 ? "0" : cost}`);
          }
          const expected = all.flatMap((each) => {
            const [one, other] = each.times;
            const times = one + other;
            if (times === 0) return [];
            const parts = spread === "daily" ? partsOf(each) : [each.cost];
            if (one > 1) classes.met("several equal");
            if (one > 0 && other > 0) classes.met("equal in two bills");
            if (parts.length > 1) classes.met("several days");
            if (each.start % DAY > 0) classes.met("part of a day");
            if (each.cost < 0n) classes.met("credit");
            if (parts.some((part) => part !== parts[0])) classes.met("indivisible");
            return parts.map((part, at) => {
              const day = addDays(window.start, Math.floor(each.start / DAY) + at);
              return `${each.id} ${day} ${shortest(part * BigInt(times))}`;
            });
          });
          return JSON.stringify(found.sort()) === JSON.stringify(expected.sort());
        }),
        { numRuns: 20 },
      );
      const ofAll = ["several equal", "equal in two bills", "part of a day", "credit"] as const;
      const ofSpread = spread === "daily" ? (["several days", "indivisible"] as const) : [];
      t.strictSame(classes.missing([...ofAll, ...ofSpread], 3), []);
    },
  );
}

function shortest(ticks: bigint): string {
  return ticks === 0n ? "0" : decimal(ticks).replace(/\.?0+$/, "");
}

t.test("a statement reads about 100,000 lines, of days with charges", async (t) => {
  const may = { start: "2026-05-30", end: "2026-06-02" };
  const bill = (lines: number, first_day: string | null = "2026-04-01", last_day = "2026-07-01") => [
    { lines: String(lines), first_day, last_day: first_day && last_day },
  ];
  const days = [
    { start: "2026-05-30", end: "2026-05-31" },
    { start: "2026-05-31", end: "2026-06-01" },
    { start: "2026-06-01", end: "2026-06-02" },
  ];
  t.strictSame(linePieces(may, bill(100_000), "none"), [may]);
  t.strictSame(linePieces(may, bill(1_000_000), "daily"), [may]);
  t.strictSame(linePieces(may, bill(151_000), "none"), days);
  t.strictSame(linePieces(may, bill(90_000_000), "none"), days);
  t.strictSame(linePieces(may, bill(150_000), "none"), [{ ...may, end: "2026-06-01" }, ...days.slice(2)]);
  const [only] = days.slice(1);
  t.strictSame(linePieces(may, bill(5, "2026-05-31", "2026-05-31"), "none"), [only]);
  t.strictSame(linePieces(may, [...bill(5, "2026-05-31", "2026-05-31"), ...bill(0, null)], "daily"), [only]);
  const apart = [...bill(5, "2026-05-01", "2026-05-30"), ...bill(5, "2026-06-01")];
  t.strictSame(linePieces(may, apart, "none"), [may]);
  t.strictSame(linePieces(may, bill(5, "2026-06-02"), "none"), []);
  t.strictSame(linePieces(may, bill(5, "2026-05-01", "2026-05-29"), "daily"), []);
  t.strictSame(linePieces(may, bill(5, null), "none"), []);
  t.strictSame(linePieces(may, [], "none"), []);
});
