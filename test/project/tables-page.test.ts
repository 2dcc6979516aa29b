/** `docs/reference/tables.md` names every table, view and column of the stores, and no others. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { runContext, runOnce, shortTenants } from "../runner/runs.js";
import { openTestStores } from "../stores.js";

const page = readFileSync(join(projectRoot(), "docs/reference/tables.md"), "utf8");

/** Returns the rows of the tables in a section: the names of the first cell, and all names of the others. */
function rowsOf(title: string): { names: string[]; mentioned: string[] }[] {
  const [, section = ""] = page.split(new RegExp(`^## ${title}$`, "m"));
  const [own = ""] = section.split(/^## /m);
  const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  return own
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const [, first = "", ...rest] = line.split("|");
      return { names: namesIn(first), mentioned: namesIn(rest.join("|")) };
    });
}

t.test("the page of tables and views matches the schemas", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  await runOnce(runContext(stores), config, "acme");
  const { client } = await stores.tenant("acme");
  const found = await client.query({
    query: `SELECT table AS "table", engine, groupArray(columns.name) AS columns FROM system.columns
      INNER JOIN system.tables ON tables.database = columns.database AND tables.name = columns.table
      WHERE columns.database = currentDatabase() GROUP BY ALL`,
    format: "JSONEachRow",
  });
  const tables = await found.json<{ table: string; engine: string; columns: string[] }>();
  const columns = new Map(tables.map(({ table, columns }) => [table, columns]));
  const named = (title: string) =>
    rowsOf(title)
      .flatMap(({ names }) => names)
      .sort();
  const isView = ({ engine }: { engine: string }) => engine === "View";

  await t.test("the page names every view of a tenant's database", async (t) => {
    t.same(
      named("Views for BI"),
      tables
        .filter(isView)
        .map(({ table }) => table)
        .sort(),
    );
  });

  await t.test("the page names every table of a tenant's database", async (t) => {
    const own = tables
      .filter((each) => !isView(each))
      .map(({ table }) => table.replace(/^staged_.*/, "staged_*_e<epoch>"));
    t.same(named("Tables"), [...new Set(own)].sort());
  });

  await t.test("the page mentions only existing columns and tables", async (t) => {
    for (const title of ["Views for BI", "Tables"]) {
      for (const {
        names: [table = ""],
        mentioned,
      } of rowsOf(title)) {
        for (const name of mentioned.filter((each) => /^[a-z_]+$/.test(each)))
          t.ok(columns.get(table)?.includes(name) || columns.has(name), `${table}: ${name}`);
      }
    }
  });

  await t.test("the page names only existing tables of Postgres", async (t) => {
    const { rows } = await stores.postgres.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    const known = rows.map(({ name }) => name);
    const inventory = named("Inventory, in Postgres");
    t.equal(inventory.length, 4);
    t.same(
      inventory.filter((name) => !known.includes(name)),
      [],
    );
  });
});
