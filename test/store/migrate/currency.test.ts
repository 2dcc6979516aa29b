/** A store of the version before currencies: its rows are in USD from then on, and its sums stay what they were. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import t from "tap";
import { projectRoot } from "../../../src/config/project.js";
import { reconcileDays } from "../../../src/query/state/reconcile.js";
import { migrateClickHouse } from "../../../src/store/clickhouse/migrate.js";
import { claimStaging } from "../../../src/store/clickhouse/staging.js";
import { sumTables } from "../../../src/store/sum-tables.js";
import { quietClient, startEngine } from "../clickhouse/engine-under-test.js";
import { logger, temporaryPool } from "../postgres/temporary.js";
import { migrationFolder } from "./migration-folder.js";

const dir = join(projectRoot(), "migrations/clickhouse");
const day = "2026-03-01";

t.test("a store with rows from before currencies", async (t) => {
  const pool = await temporaryPool(t);
  const { endpoint } = await startEngine(t);
  const options = { database: "old", lock: pool, logger };
  const before = readdirSync(dir).filter((name) => name < "0010");
  const oldFiles = Object.fromEntries(before.map((name) => [name, readFileSync(join(dir, name), "utf8")]));
  await migrateClickHouse(quietClient(t, endpoint), { ...options, dir: migrationFolder(t, oldFiles) });
  const client = quietClient(t, endpoint, "old");
  for (const query of oldRows) await client.command({ query });
  await client.command({ query: "CREATE TABLE staged_chargebacks_e1 AS chargebacks" });
  await client.command({ query: "INSERT INTO staged_chargebacks_e1 SELECT * FROM chargebacks" });
  await client.command({ query: "CREATE TABLE staged_billing_e1 AS billing" });
  await client.command({ query: "INSERT INTO staged_billing_e1 SELECT * FROM billing" });
  const rows = async (query: string) => await rowsOf(client, query);
  const sums = "toString(total_amount) AS total, toString(row_count) AS n";
  const views = {
    daily_cost_by_identity: `date, identity_id, ${sums}`,
    daily_cost_by_team: `date, team, ${sums}`,
    daily_cost_by_resource: `date, resource_id, ${sums}`,
    daily_cost_by_tag: `date, display_name, ${sums}`,
    daily_cost_by_topic: `date, topic_name, ${sums}`,
    chargeback_details: "date, identity_id, toString(amount) AS amount",
    topic_attribution_details: "date, topic_name, toString(amount) AS amount",
    daily_reconciliation: "date, toString(billing) AS billing, toString(difference) AS difference",
  };
  const shown = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(views).map(
          async ([view, columns]) =>
            [view, await rows(`SELECT ${columns} FROM ${view} ORDER BY ALL`)] as const,
        ),
      ),
    );
  const shownBefore = await shown();
  t.same(
    Object.values(shownBefore).map((found) => found.length),
    [9, 3, 6, 3, 6, 120, 6, 3],
  );

  const { applied } = await migrateClickHouse(client, { ...options, dir });
  t.equal(applied[0], "0010_currency");

  await t.test("every row is in USD, and all sums are what they were", async (t) => {
    for (const table of ["chargebacks", "topic_attributions", "billing"])
      t.same(await rows(`SELECT DISTINCT currency FROM ${table}`), [{ currency: "USD" }], table);
    t.strictSame(await shown(), shownBefore);
    for (const view of Object.keys(views))
      t.same(await rows(`SELECT DISTINCT currency FROM ${view}`), [{ currency: "USD" }], view);
    const { days, totals } = await reconcileDays(client, new AbortController().signal);
    t.equal(days.length, 3);
    t.strictSame(totals, [
      {
        ...{ day: "", currency: "USD", lines: "6", rows: "120", billing: "60", chargebacks: "60" },
        ...{ difference: "0", lines_off: "0" },
      },
    ]);
  });

  await t.test("sums are made of stored rows, and the projections before them are gone", async (t) => {
    t.same(
      await rows(
        "SELECT toString(day) AS day, identity_id, currency, toString(amount_hi) AS hi, row_count AS n FROM sums_by_identity ORDER BY ALL",
      ),
      [0, 1, 2].flatMap((after) =>
        [0, 1, 2].map((who) => ({
          ...{ day: `2026-03-0${1 + after}`, identity_id: `sa-${who}`, currency: "USD" },
          ...{ hi: who < 2 ? "7" : "6", n: who < 2 ? "14" : "12" },
        })),
      ),
    );
    for (const table of sumTables)
      t.same(
        await rows(
          `SELECT toString(sum(amount_hi + amount_lo)) AS amount, sum(row_count) AS n FROM ${table}`,
        ),
        [{ amount: "60", n: "120" }],
      );
    t.same(
      await rows("SELECT name FROM system.projections WHERE database = 'old' AND table = 'chargebacks'"),
      [],
    );
  });

  await t.test("run again after a crash in its middle, the migration changes nothing", async (t) => {
    await client.command({
      query: "ALTER TABLE schema_migrations DELETE WHERE revision >= '0010' SETTINGS mutations_sync = 1",
    });
    t.same((await migrateClickHouse(client, { ...options, dir })).applied, applied);
    t.strictSame(await shown(), shownBefore);
  });

  await t.test("what was staged in the old form is dropped, and days can be swapped in again", async (t) => {
    await claimStaging(client, 2);
    t.same(await rows("SELECT count() AS n FROM staged_chargebacks_e2"), [{ n: "0" }]);
    t.same(
      await rows("SELECT count() AS n FROM staged_billing_e2"),
      [{ n: "0" }],
      "lines have more columns since: they are gathered again",
    );
    await client.command({
      query: `INSERT INTO staged_chargebacks_e2 (timestamp, resource_id, identity_id, cost_type, currency, amount_hi)
        VALUES ('${day} 00:00:00', 'r', 'eve', 'usage', 'EUR', 3)`,
    });
    await client.command({
      query: `ALTER TABLE chargebacks REPLACE PARTITION '${day}' FROM staged_chargebacks_e2`,
    });
    t.same(
      await rows(
        `SELECT identity_id, currency, toString(amount) AS total FROM chargeback_details WHERE date = '${day}'`,
      ),
      [{ identity_id: "eve", currency: "EUR", total: "3" }],
    );
  });
});

async function rowsOf(client: ClickHouseClient, query: string): Promise<Record<string, unknown>[]> {
  return await (await client.query({ query, format: "JSONEachRow" })).json();
}

const line = `ecosystem, tenant_id, env_id, resource_id, product_category, product_type`;
const lineValues = (index: string) => `'e', 't', '', concat('r-', toString(${index} % 2)), 'C', 'P'`;
const timestamp = (index: string) => `toDateTime('${day} 00:00:00', 'UTC') + INTERVAL ${index} DAY`;

/** Three days of two lines of 10, which twenty rows each of three identities add up to; one dimension has a tag. */
const oldRows = [
  `INSERT INTO billing (timestamp, ${line}, quantity, unit_price, total_cost, currency, granularity, metadata)
   SELECT ${timestamp("intDiv(number, 2)")}, ${lineValues("number")}, 1, 10, 10, 'USD', 'daily', '{}' FROM numbers(6)`,
  `INSERT INTO chargebacks (timestamp, ${line}, identity_id, cost_type, allocation_method, allocation_detail, component, component_ratio, tier, metric, amount_hi, amount_lo)
   SELECT ${timestamp("intDiv(number, 40)")}, ${lineValues("number")}, concat('sa-', toString(intDiv(number % 40, 2) % 3)), 'usage', 'usage_ratio', 'usage_ratio_allocation',
     number % 40, '1', 0, '', 0.5, 0 FROM numbers(120)`,
  `INSERT INTO topic_attributions (timestamp, ecosystem, tenant_id, env_id, cluster_resource_id, product_category, product_type, topic_name, attribution_method, attribution_detail, metric, amount_hi, amount_lo)
   SELECT ${timestamp("intDiv(number, 2)")}, ${lineValues("number")}, 'orders', 'bytes_ratio', 'usage_ratio_allocation', '', 5, 5 FROM numbers(6)`,
  `INSERT INTO dimensions (dimension_id, fingerprint, ${line}, identity_id, cost_type) VALUES (1, 1, 'e', 't', '', 'r-0', 'C', 'P', 'sa-0', 'usage')`,
  "INSERT INTO dimension_tags (dimension_id, tag_id, tag_key, display_name, is_deleted, version) VALUES (1, 1, 'team', 'red', 0, 1)",
];
