/** The declaration of the fact tables equals the tables that the migrations create. */
import t from "tap";
import { columnsOf, columnTypes, factTables } from "../../src/domain/fact-tables.js";
import { otherCosts } from "../../src/domain/other-costs.js";
import { sumKeys, sumTables } from "../../src/domain/sum-tables.js";
import { runRows } from "../runner/runs.js";
import { openTestStores } from "../stores.js";

t.test("each fact table has the columns that are declared, in their order", async (t) => {
  const { stores } = await openTestStores(t);
  for (const table of factTables) {
    const found = await runRows<{ name: string; type: string }>(
      stores,
      "acme",
      `SELECT name, type FROM system.columns
       WHERE database = currentDatabase() AND table = '${table}' AND default_kind != 'ALIAS' ORDER BY position`,
    );
    const declared = columnsOf(table).map(([name, { kind }]) => ({
      name: String(name),
      type: columnTypes[kind],
    }));
    t.strictSame(found, declared, table);
  }
});

t.test("the tables of the next bill and of the published bill have the columns of the bill", async (t) => {
  const { stores } = await openTestStores(t);
  const columns = async (table: string) =>
    await runRows<{ name: string; type: string }>(
      stores,
      "acme",
      `SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '${table}' ORDER BY position`,
    );
  const billing = await columns("billing");
  t.ok(billing.length > 20);
  for (const table of ["next_billing", "published_billing"])
    t.strictSame(await columns(table), billing, table);
});

t.test("each table of sums has the columns that are declared, and its published view the same", async (t) => {
  const { stores } = await openTestStores(t);
  for (const table of sumTables)
    for (const name of [table, `published_${table}`]) {
      const found = await runRows<{ name: string; type: string }>(
        stores,
        "acme",
        `SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '${name}' ORDER BY position`,
      );
      const types = new Map<string, string>(
        columnsOf("chargebacks").map(([column, { kind }]) => [column, columnTypes[kind]]),
      );
      const keys = ["day", ...sumKeys[table]].map((key) => ({ name: key, type: types.get(key) }));
      const sums = [
        { name: "amount_hi", type: "Decimal(38, 4)" },
        { name: "amount_lo", type: "Decimal(38, 12)" },
        { name: "row_count", type: "UInt64" },
        ...otherCosts.map((cost) => ({ name: cost, type: types.get(cost) })),
      ];
      t.strictSame(found, [...keys, ...sums], name);
    }
});

t.test(
  "the hash of a day covers everything except the reason of a gap, and what the metadata repeats",
  async (t) => {
    const left = factTables.flatMap((table) =>
      columnsOf(table).flatMap(([name, { hashed }]) => (hashed === false ? [`${table}.${name}`] : [])),
    );
    t.strictSame(left, ["billing.effective_cost", "usage_gaps.reason", "topic_usage_gaps.reason"]);
  },
);
