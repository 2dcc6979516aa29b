/** Totals include all buckets, also those beyond the limit. Currencies are never added together. */
import t from "tap";
import {
  aggregateOf,
  type CurrencyTotals,
  type StoredBucket,
  sumByCurrency,
} from "../../src/query/chargebacks/aggregate-result.js";

const shape = { columns: ["identity_id"], named: [], bucketLimit: 2 } as const;
const bucket = (who: string, amount: string, totals: CurrencyTotals | readonly [] = []): StoredBucket => [
  ...(["2026-03-01", "USD", amount, amount, "0", 1, 0] as const),
  totals,
  who,
];

t.test("buckets beyond the limit count in the totals only", async (t) => {
  const rows = [bucket("a", "1"), bucket("b", "2"), bucket("c", "4", ["USD", "7", "7", "0", "3", "3"])];
  const found = aggregateOf(shape, rows);
  t.strictSame(
    found.buckets.map(({ dimensions, total_amount }) => [dimensions.identity_id, total_amount]),
    [
      ["a", "1"],
      ["b", "2"],
    ],
  );
  t.strictSame(
    [found.total_amount, found.usage_amount, found.shared_amount, found.total_rows, found.total_buckets],
    ["7", "7", "0", 3, 3],
  );
  t.equal(found.truncated, true);
  t.equal(
    aggregateOf({ ...shape, bucketLimit: 3 }, rows).truncated,
    false,
    "exactly as many buckets as the limit",
  );
});

t.test("several currencies have separate totals and no common one", async (t) => {
  const totals: CurrencyTotals[] = [
    ["EUR", "1.5", "1", "0.5", "2", "1"],
    ["USD", "7", "7", "0", "3", "2"],
  ];
  const found = aggregateOf(shape, [], totals);
  t.strictSame(
    [found.currency, found.total_amount, found.usage_amount, found.shared_amount],
    [null, null, null, null],
  );
  t.strictSame(
    found.totals.map((each) => [each.currency, each.total_amount, each.row_count]),
    [
      ["EUR", "1.5", 2],
      ["USD", "7", 3],
    ],
  );
  t.strictSame([found.total_rows, found.total_buckets, found.truncated], [5, 3, true]);
  const none = aggregateOf(shape, [], []);
  t.strictSame([none.currency, none.total_amount, none.total_rows], [null, "0", 0]);
});

t.test("partial sums are added up by currency, to the last decimal place", async (t) => {
  t.strictSame(
    sumByCurrency([
      ["USD", "0.000000000001", "0", "0.000000000001", 1, 1],
      ["EUR", "-2", "-2", "0", 2, 1],
      ["USD", "99999999999999999999", "99999999999999999999", "0", 4, 3],
    ]),
    [
      ["EUR", "-2", "-2", "0", "2", "1"],
      ["USD", "99999999999999999999.000000000001", "99999999999999999999", "0.000000000001", "5", "4"],
    ],
  );
});
