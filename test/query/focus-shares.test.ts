/** Whatever a line costs and however it is split, the parts of each metric add up, and so do the ratios. */
import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import { decimalText } from "../../src/common/exact-decimal.js";
import { ratio, sharedRows, shareOf } from "../../src/export/focus/shares.js";
import { Classes } from "../ingest/classes.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";

const PLACES = 12;
/** Converts a decimal's text to units of its last decimal place. */
function unitsOf(text: string, places: number): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(`${whole}${fraction.padEnd(places, "0")}`);
}

/** Amounts and metrics are multiples of 10^-12. */
interface Line {
  readonly amounts: readonly bigint[];
  readonly metric: bigint | null;
}

const ticks = (digits: number) =>
  fc.tuple(fc.integer({ min: 0, max: digits }), fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) })).map(
    // Small numbers, which are hard to split, are drawn often, because the number of digits is drawn first.
    ([cut, value]) => value % 10n ** BigInt(cut === 0 ? digits : cut),
  );
const amounts = fc.oneof(
  fc.array(ticks(20), { minLength: 1, maxLength: 9 }),
  fc.array(ticks(20), { minLength: 1, maxLength: 9 }).map((credit) => credit.map((value) => -value)),
  fc.array(ticks(6), { minLength: 100, maxLength: 300 }),
  fc.integer({ min: 1, max: 7 }).map((parts) => Array.from({ length: parts }, () => 0n)),
);
const line: fc.Arbitrary<Line> = fc.record({
  amounts,
  metric: fc.option(
    fc.tuple(ticks(25), fc.boolean()).map(([value, negative]) => (negative ? -value : value)),
    { freq: 8 },
  ),
});

t.test("the parts of metrics and the ratios of any line add up", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  const classes = new Classes<"without cost" | "credit" | "one" | "many" | "no metric" | "indivisible">();
  const signal = new AbortController().signal;

  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), async (lines) => {
      await client.command({ query: "TRUNCATE TABLE chargebacks" });
      const decimal = (value: bigint) => decimalText(value, PLACES);
      await client.insert({
        table: "chargebacks",
        format: "JSONEachRow",
        values: lines.flatMap(({ amounts }, at) =>
          amounts.map((amount, place) => ({
            day: "2026-05-01",
            timestamp: "2026-05-01 00:00:00",
            resource_id: `r-${at}`,
            identity_id: `i-${place}`,
            // As stored: whole ten-thousandths, and the rest.
            amount_hi: decimal(amount - (amount % 10n ** 8n)),
            amount_lo: decimal(amount % 10n ** 8n),
          })),
        ),
      });
      const query = `
WITH {names:Array(String)} AS names, arrayMap(metric -> toDecimal128OrNull(metric, 12), {metrics:Array(String)}) AS metrics
SELECT resource_id, identity_id, ${ratio} AS ratio, toString(${shareOf("metrics[indexOf(names, resource_id)]")}) AS part
FROM (${sharedRows("1")})`;
      const params = {
        names: lines.map((_, at) => `r-${at}`),
        metrics: lines.map(({ metric }) => (metric === null ? "" : decimal(metric))),
      };
      type Row = { resource_id: string; identity_id: string; ratio: string; part: string | null };
      const rows = await readRows<Row>(client, { query, params }, signal);
      for (const [at, { amounts, metric }] of lines.entries()) {
        const parts = rows.filter((row) => row.resource_id === `r-${at}`);
        const whole = amounts.reduce((sum, amount) => sum + amount, 0n);
        const fail = (what: string) => {
          throw new Error(`${what}: ${JSON.stringify(parts)}`);
        };
        if (parts.length !== amounts.length) fail(`${amounts.length} parts expected`);
        const ratios = parts.map((part) => unitsOf(part.ratio, 18));
        if (ratios.reduce((sum, each) => sum + each, 0n) !== 10n ** 18n) fail("ratios do not add up");
        if (ratios.some((each) => each < 0n)) fail("a ratio is negative");
        if (whole === 0n) classes.met("without cost");
        if (whole < 0n) classes.met("credit");
        if (amounts.length === 1) classes.met("one");
        if (amounts.length >= 100) classes.met("many");
        if (metric === null) {
          classes.met("no metric");
          if (parts.some(({ part }) => part !== null)) fail("parts of no metric");
          continue;
        }
        const cut = parts.map(({ part }) => unitsOf(part ?? "", PLACES));
        if (cut.reduce((sum, each) => sum + each, 0n) !== metric) fail("parts do not add up");
        for (const { identity_id, part } of parts) {
          const amount = amounts[Number(identity_id.slice(2))] ?? 0n;
          const [share, of] = whole === 0n ? [1n, BigInt(amounts.length)] : [amount, whole];
          // The difference to the exact share is less than one unit of the last place.
          const off = unitsOf(part ?? "", PLACES) * of - metric * share;
          if (off !== 0n) classes.met("indivisible");
          if ((off < 0n ? -off : off) >= (of < 0n ? -of : of)) fail(`${identity_id} is off its share`);
        }
      }
    }),
    { numRuns: 40 },
  );
  const names = ["without cost", "credit", "one", "many", "no metric", "indivisible"] as const;
  t.strictSame(classes.missing(names, 5), []);
});
