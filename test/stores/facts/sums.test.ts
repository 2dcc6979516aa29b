/** The sums of chargebacks equal their chargebacks, in any order of publishes. */
import type { ClickHouseClient } from "@clickhouse/client";
import t from "tap";
import { replaceDays } from "../../../src/clickhouse/partitions.js";
import { claimStaging, stagedTable } from "../../../src/clickhouse/staging.js";
import { readTuples } from "../../../src/clickhouse/statement.js";
import { sumsOf, sumTables } from "../../../src/domain/sum-tables.js";
import { rebuildSums, repairSums } from "../../../src/stores/facts/sums.js";
import fc from "../../property.js";
import { openTestStores } from "../../stores.js";

const days = ["2025-12-30", "2025-12-31", "2026-01-01", "2026-01-02", "2026-02-28"];

interface Row {
  readonly hour: number;
  readonly identity: string;
  readonly product: string;
  readonly amount: string;
}

t.test("sums of chargebacks follow their chargebacks", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  const epoch = 1;
  await claimStaging(client, epoch);

  /** Replaces days of the chargebacks only. */
  const replace = async (rowsOf: Readonly<Record<string, readonly Row[]>>) => {
    const staged = stagedTable("chargebacks", epoch);
    await client.command({ query: `TRUNCATE TABLE ${staged} SYNC` });
    await client.insert({
      table: staged,
      format: "JSONEachRow",
      values: Object.entries(rowsOf).flatMap(([day, rows]) =>
        rows.map(({ hour, identity, product, amount }) => ({
          timestamp: `${day}T${String(hour).padStart(2, "0")}:00:00Z`,
          identity_id: identity,
          product_type: product,
          resource_id: "r",
          currency: "USD",
          cost_type: "usage",
          amount_hi: "1",
          amount_lo: amount,
          // Rows of other days come from bills with one cost.
          ...(day.startsWith("2026-01") && { billed_cost: amount, effective_cost: "3", list_cost: "-0.5" }),
        })),
      ),
    });
    await replaceDays(client, "chargebacks", staged, Object.keys(rowsOf));
  };
  const read = async (query: string) =>
    (await readTuples<unknown[]>(client, { query: `${query} ORDER BY ALL`, params: {} })).map((row) =>
      row.map(String).join(" "),
    );
  const held = async () => await Promise.all(sumTables.map((table) => read(`SELECT * FROM ${table}`)));
  const wanted = async () => await Promise.all(sumTables.map((table) => read(sumsOf(table, "1"))));

  const one = (amount: string): Row => ({ hour: 1, identity: "a", product: "P", amount });

  await t.test(
    "sums of given days are rebuilt, and those of the other days of their months stay",
    async (t) => {
      const classes = { "a month is emptied": 0, "a day goes": 0, "a day comes": 0, "a day changes": 0 };
      const row = fc.record({
        hour: fc.constantFrom(0, 7, 23),
        identity: fc.constantFrom("a", "b"),
        product: fc.constantFrom("P", "Q"),
        amount: fc.constantFrom("0", "-1.5", "0.000000000001", "12345678901234567890.123456789012"),
      });
      const changes = fc.uniqueArray(
        fc.record({ day: fc.constantFrom(...days), rows: fc.array(row, { maxLength: 6 }) }),
        { selector: ({ day }) => day, minLength: 1, maxLength: 4 },
      );
      let before = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(changes, async (changed) => {
          await replace(Object.fromEntries(changed.map(({ day, rows }) => [day, rows])));
          await rebuildSums(
            { client, epoch },
            changed.map(({ day }) => day),
          );
          t.strictSame(await held(), await wanted());
          const after = new Map(before);
          for (const { day, rows } of changed) {
            const [had, has] = [before.get(day) ?? 0, rows.length];
            if (had > 0 && has === 0) classes["a day goes"] += 1;
            if (had === 0 && has > 0) classes["a day comes"] += 1;
            if (had > 0 && has > 0) classes["a day changes"] += 1;
            after.set(day, has);
          }
          const months = (counts: ReadonlyMap<string, number>) =>
            new Set([...counts].flatMap(([day, n]) => (n > 0 ? [day.slice(0, 7)] : [])));
          if ([...months(before)].some((month) => !months(after).has(month)))
            classes["a month is emptied"] += 1;
          before = after;
        }),
        // A month with one day is added, changed and removed, whatever else is drawn.
        {
          numRuns: 40,
          examples: [[one("1"), one("2")], [one("1")], []].map((rows) => [[{ day: "2026-02-28", rows }]]),
        },
      );
      for (const [name, times] of Object.entries(classes)) t.ok(times > 0, name);
      t.strictSame(
        await read(
          "SELECT count() FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0 AND table LIKE 'staged_sums%'",
        ),
        ["0"],
        "the table where sums are built is empty",
      );
    },
  );

  await t.test("sums that differ from their chargebacks are not published", async (t) => {
    await replace({ "2026-01-01": [one("1"), one("2")] });
    await rebuildSums({ client, epoch }, days);
    const shown = await held();
    await replace({ "2026-01-01": [one("1"), one("2"), one("4")] });
    for (const [name, from, to] of [
      ["a row is counted twice", /, (count\(\)|sum\(row_count\)), /, ", $1 + 1, "],
      ["an amount is lost", "sum(amount_lo)", "toDecimal128(0, 12)"],
      ["a list cost is lost", "sum(list_cost)", "toDecimal128(0, 12)"],
    ] as const) {
      for (const table of sumTables) {
        const wrong: ClickHouseClient = Object.create(client);
        wrong.command = async (command) =>
          await client.command({
            ...command,
            query: command.query.startsWith(`\nINSERT INTO ${stagedTable(table, epoch)}`)
              ? command.query.replace(from, to)
              : command.query,
          });
        await t.rejects(
          rebuildSums({ client: wrong, epoch }, ["2026-01-01"]),
          { message: "the sums of 2026-01-01 are not those of their chargebacks" },
          `${name}: ${table}`,
        );
        t.strictSame(await held(), shown);
      }
    }
    await rebuildSums({ client, epoch }, ["2026-01-01"]);
    t.strictSame(await held(), await wanted());
  });

  await t.test("a day that was changed by hand is detected by its number of rows", async (t) => {
    const empty = Object.fromEntries(days.map((day) => [day, []]));
    await replace({ ...empty, "2026-01-01": [one("1"), one("2")], "2026-02-28": [one("3")] });
    await rebuildSums({ client, epoch }, days);
    t.strictSame(await repairSums({ client, epoch }), []);
    await client.command({ query: "ALTER TABLE chargebacks DROP PARTITION '2026-01-01'" });
    t.strictSame(await repairSums({ client, epoch }), ["2026-01-01"]);
    t.strictSame(await held(), await wanted());
    await replace({ "2025-12-31": [one("3")], "2026-02-28": [one("5"), one("6")] });
    await client.command({ query: "ALTER TABLE sums_by_reason DROP PARTITION 202602" });
    t.strictSame(await repairSums({ client, epoch }), ["2025-12-31", "2026-02-28"]);
    t.strictSame(await held(), await wanted());
  });

  await t.test("a process that has lost the lease changes no sums", async (t) => {
    const shown = await held();
    await replace({ "2025-12-31": [] });
    await claimStaging(client, epoch + 1);
    await t.rejects(rebuildSums({ client, epoch }, ["2025-12-31"]), { message: /does not exist/ });
    t.strictSame(await held(), shown);
  });
});
