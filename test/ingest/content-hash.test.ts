import t from "tap";
import { claimStaging, stagedTable } from "../../src/clickhouse/staging.js";
import { factTables } from "../../src/domain/fact-tables.js";
import { ledgerNames } from "../../src/domain/ledger.js";
import { attributionContents, dayContents } from "../../src/ingest/staging/content-hash.js";
import { type StagedInput, stagedColumns } from "../../src/ingest/staging/staged-row.js";
import { openTestStores } from "../stores.js";

const day = "2026-03-01";
const signal = new AbortController().signal;

/** The reason of a gap, which changes from one failed attempt to the next. */
const WORDS = "reason";

t.test("the hash of a day's input changes with every column of it", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await claimStaging(client, 1);
  const settings = { days: [day], rulesHash: "rules", decimalPlaces: 4, lacks: new Map() };
  const hashes = async (changes: Partial<typeof settings> = {}) => {
    const inputs = { ...settings, ...changes };
    const [content] = await dayContents(client, 1, inputs, signal);
    const [attribution] = await attributionContents(
      client,
      1,
      { ...inputs, productTypes: ["one", "two"] },
      signal,
    );
    return [content?.hash, attribution?.hash];
  };
  /** A row whose columns are normal except one. */
  const valuesOf = (table: StagedInput, changed?: string) =>
    stagedColumns(table).map((column) => {
      if (column === "day") return [column, day];
      if (column === "timestamp") return [column, `${day} 0${changed === column ? 1 : 0}:00:00`];
      if (column === "metadata") return [column, changed === column ? '{"a":"1"}' : "{}"];
      if (column === "granularity") return [column, changed === column ? "hourly" : "daily"];
      if (["quantity", "unit_price", "total_cost", "micro_units", "scale"].includes(column))
        return [column, changed === column ? "2" : "1"];
      return [column, changed === column ? "two" : "one"];
    });
  const put = async (table: StagedInput, changed?: string) => {
    await client.command({ query: `TRUNCATE TABLE ${stagedTable(table, 1)}` });
    await client.insert({
      table: stagedTable(table, 1),
      values: [Object.fromEntries(valuesOf(table, changed))],
      format: "JSONEachRow",
    });
  };
  const calculated: readonly string[] = ledgerNames;
  const tables = factTables.filter((table): table is StagedInput => !calculated.includes(table));
  t.equal(tables.length, 6);
  for (const table of tables) await put(table);
  const before = await hashes();
  t.strictSame(await hashes(), before, "the same input has the same hash");

  for (const table of tables) {
    const counts = [!table.startsWith("topic"), table === "billing" || table.startsWith("topic")];
    for (const column of stagedColumns(table).filter((each) => each !== "day")) {
      await put(table, column);
      const now = await hashes();
      const changed = now.map((hash, i) => hash !== before[i]);
      t.strictSame(changed, column === WORDS ? [false, false] : counts, `${table}.${column}`);
    }
    await put(table);
  }
  t.strictSame(await hashes(), before);
  for (const changes of [{ rulesHash: "others" }, { decimalPlaces: 5 }]) {
    const now = await hashes(changes);
    t.strictSame(
      now.map((hash, i) => hash !== before[i]),
      [true, true],
      JSON.stringify(changes),
    );
  }

  await t.test("equal rows do not cancel each other out, and their order does not matter", async (t) => {
    await client.command({
      query: `INSERT INTO ${stagedTable("billing", 1)} SELECT * FROM ${stagedTable("billing", 1)}`,
    });
    const twice = await hashes();
    t.not(twice[0], before[0]);
    await client.command({
      query: `INSERT INTO ${stagedTable("billing", 1)} SELECT * FROM ${stagedTable("billing", 1)}`,
    });
    t.not((await hashes())[0], twice[0]);
  });
});
