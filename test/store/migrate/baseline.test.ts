/** A new database is made from the baseline: it is to be the one that all migrations make in turn, however far it got before. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import t, { type Test } from "tap";
import { clickHouseMigrationStatus, migrateClickHouse } from "../../../src/store/clickhouse/migrate.js";
import { readRows } from "../../../src/store/clickhouse/statement.js";
import { readBaseline, readRevisions } from "../../../src/store/migrate/revisions.js";
import { splitStatements } from "../../../src/store/migrate/statements.js";
import { migrationFolders } from "../../../src/store/open-stores.js";
import { quietClient, startEngine } from "../clickhouse/engine-under-test.js";
import { logger, temporaryPool } from "../postgres/temporary.js";
import { migrationFolder } from "./migration-folder.js";

const dir = migrationFolders.clickhouse;
const texts = Object.fromEntries(
  readdirSync(dir)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => [file, readFileSync(join(dir, file), "utf8")]),
);

/** All that the engine knows of a database's tables, columns and projections, without the database's name. */
async function schema(client: ClickHouseClient, database: string) {
  const read = async (query: string) =>
    JSON.parse(
      JSON.stringify(await readRows(client, { query, params: { database } })).replaceAll(`${database}.`, ""),
    );
  const tables: { create_table_query: string }[] = await read(`
    SELECT name, engine, create_table_query, as_select, partition_key, sorting_key, primary_key, comment
    FROM system.tables WHERE database = {database:String} ORDER BY name`);
  return {
    tables,
    columns: await read(`
      SELECT table, position, name, type, default_kind, default_expression, comment, compression_codec
      FROM system.columns WHERE database = {database:String} ORDER BY table, position`),
  };
}

/** The order of a table's projections says when each was made, and nothing else. */
function withSortedProjections({ tables, columns }: Awaited<ReturnType<typeof schema>>) {
  const sorted = tables.map(({ create_table_query, ...table }) => {
    const parts = create_table_query.split(/(?=, PROJECTION )|(?=\) ENGINE = )/);
    return { ...table, create_table_query: [parts[0], ...parts.slice(1, -1).sort(), parts.at(-1)] };
  });
  return { tables: sorted, columns };
}

const ledger = async (client: ClickHouseClient, database: string) =>
  (await clickHouseMigrationStatus(client, { dir, database })).map(
    ({ revision, name, state }) => `${revision}_${name} ${state}`,
  );

t.test("the baseline", async (t: Test) => {
  const { endpoint } = await startEngine(t);
  const client = quietClient(t, endpoint);
  const lock = await temporaryPool(t);
  const known = await readRevisions(dir);
  const baseline = await readBaseline(dir, known);
  if (baseline === undefined) throw new Error("there is no baseline: npm run schema:baseline");
  const migrate = async (database: string, folder: string) =>
    (await migrateClickHouse(client, { dir: folder, database, lock, logger })).applied;

  const all = await migrate("in_turn", migrationFolder(t, texts));
  const wanted = await schema(client, "in_turn");
  t.ok(wanted.tables.length > 40);

  await t.test("makes what all migrations make in turn, and is recorded as all of them", async (t) => {
    t.equal(
      baseline.last.revision,
      known.at(-1)?.revision,
      "it is that of the last migration: npm run schema:baseline",
    );
    t.strictSame(await migrate("at_once", dir), all);
    t.strictSame(await schema(client, "at_once"), wanted);
    t.strictSame(
      await ledger(client, "at_once"),
      known.map(({ revision, name }) => `${revision}_${name} applied`),
    );
    t.strictSame(await migrate("at_once", dir), []);
    const [inserts] = await readRows<{ parts: number }>(client, {
      query:
        "SELECT toUInt32(uniqExact(applied_at)) AS parts FROM at_once.schema_migrations HAVING count() = {count:UInt32}",
      params: { count: known.length },
    });
    t.strictSame({ ...inserts }, { parts: 1 }, "they are recorded in one step, so it was the baseline");
  });

  // FC_BASELINE_CUTS=all stops it behind each of its statements.
  const statements = splitStatements(baseline.sql);
  const everywhere = process.env.FC_BASELINE_CUTS === "all";
  const cuts = everywhere
    ? [...statements.keys()]
    : [1, Math.floor(statements.length / 2), statements.length];
  for (const cut of cuts) {
    await t.test(`left half made behind statement ${cut}, the migrations in turn complete it`, async (t) => {
      const database = `cut_${cut}`;
      await client.command({ query: `CREATE DATABASE ${database}` });
      for (const query of statements.slice(0, cut))
        await client.command({ query, clickhouse_settings: { database } as Record<string, string> });
      t.strictSame(await migrate(database, dir), all);
      t.strictSame(withSortedProjections(await schema(client, database)), withSortedProjections(wanted));
    });
  }

  await t.test("leaves a database alone that had migrations, and is followed by later ones", async (t) => {
    const [file = ""] = Object.keys(texts).sort();
    const folder = migrationFolder(t, { [file]: texts[file] ?? "" });
    await migrate("older", folder);
    t.strictSame(await migrate("older", dir), all.slice(1));
    t.strictSame(await schema(client, "older"), wanted);
  });
});
