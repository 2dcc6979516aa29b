import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import { fingerprintSql, plainDimensionIdSql } from "../../src/domain/dimension-id.js";
import { timeZones } from "../../src/query/time/zone.js";
import { startService } from "../http/service.js";
import { sumUp } from "../sum-up.js";
import { until } from "../until.js";
import { reads } from "./reads.js";

t.test("reads run on the engine", async (t) => {
  const { stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  await client.command({
    query: `INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type,
        allocation_method, allocation_detail, component_ratio, amount_hi)
      SELECT toDateTime('2026-03-01 00:00:00', 'UTC') + INTERVAL number % 5 DAY, 'e', 'acme', '', concat('r-', toString(number % 100)), 'c',
        concat('p-', toString(number % 7)), concat('sa-', toString(number % 50)), 'usage', 'usage_ratio', 'usage_ratio_allocation', '1', 0.01
      FROM numbers(100000)`,
  });
  await sumUp(client);

  await client.command({
    query: `INSERT INTO billing (timestamp, resource_id, product_type)
      SELECT toDateTime('2026-03-01 00:00:00', 'UTC') + INTERVAL number % 5 DAY, concat('r-', toString(number % 100)), 'STORAGE' FROM numbers(1000)`,
  });

  await t.test("the engine accepts every statement", async (t) => {
    for (const [name, { query, params }] of Object.entries(reads)) {
      const bare = query.replace(/FORMAT CustomSeparated\s*$/, "");
      const rows = await readRows(client, { query: bare, params });
      t.ok(Array.isArray(rows), name);
    }
  });

  await t.test("aggregates and counts read the smallest table of sums that has their columns", async (t) => {
    for (const [name, table] of [
      ["aggregate-by-identity", "sums_by_identity"],
      ["aggregate-by-hour-in-zone", "sums_by_identity"],
      ["extent-by-identity", "sums_by_identity"],
      ["aggregate-by-team", "sums_by_identity"],
      ["extent-by-team", "sums_by_identity"],
      ["breakdown-by-identity", "sums_by_identity"],
      ["breakdown-over-time", "sums_by_identity"],
      ["extent-by-resource-columns-in-zone", "sums_by_resource"],
      ["aggregate-by-resource-columns", "sums_by_resource"],
      ["aggregate-by-week", "sums_by_reason"],
      ["breakdown-by-reason", "sums_by_reason"],
      ["chargeback-days-of-identity", "sums_by_identity"],
      ["chargeback-days-unfiltered", "_minmax_count_projection"],
    ] as const) {
      const read = reads[name];
      if (read === undefined) throw new Error(`no read ${name}`);
      const plan = await readRows<{ explain: string }>(client, { ...read, query: `EXPLAIN ${read.query}` });
      const explained = plan.map(({ explain }) => explain).join("\n");
      t.ok(explained.includes(table), `${name}: ${explained}`);
    }
  });

  await t.test("a page is read in the order of the key, not sorted", async (t) => {
    for (const name of [
      "chargeback-page",
      "chargeback-page-by-cursor",
      "billing-page",
      "billing-page-by-cursor",
    ]) {
      const read = reads[name];
      if (read === undefined) throw new Error("no such read");
      const plan = await readRows<{ explain: string }>(client, { ...read, query: `EXPLAIN ${read.query}` });
      t.match(plan.map(({ explain }) => explain).join("\n"), /Read type: InOrder/, name);
    }
  });

  await t.test("the id of a dimension does not depend on how its columns are stored", async (t) => {
    const fields =
      "'generic_metrics_only' AS ecosystem, 'acme' AS tenant_id, 'env-1' AS env_id, 'r-1' AS resource_id, 'KAFKA' AS product_category, 'STORAGE' AS product_type, 'sa-1' AS identity_id, 'usage' AS cost_type";
    const low = fields.replace(/('[^']*')/g, "toLowCardinality($1)");
    for (const source of [fields, low]) {
      const rows = await readRows<{ id: number; fingerprint: string }>(client, {
        query: `SELECT ${fingerprintSql()} AS fingerprint, ${plainDimensionIdSql("fingerprint")} AS id FROM (SELECT ${source})`,
        params: {},
      });
      t.same(rows, [{ fingerprint: "71957300650561618300621930857375297804", id: 7622627646861580 }]);
    }
  });

  await t.test("the engine knows every time zone that a request may use", async (t) => {
    const rows = await readRows<{ time_zone: string }>(client, {
      query: "SELECT time_zone FROM system.time_zones",
      params: {},
    });
    const known = new Set(rows.map(({ time_zone }) => time_zone));
    t.same(
      timeZones().filter((zone) => !known.has(zone)),
      [],
    );
  });

  await t.test("an aborted read is cancelled in the store", async (t) => {
    const slow = {
      query:
        "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(cityHash64(number)) AND 'cancelled read' != ''",
      params: {},
    };
    const running = async () => {
      const rows = await readRows(client, {
        query:
          "SELECT 1 FROM system.processes WHERE query LIKE '%cancelled read%' AND query NOT LIKE '%system.processes%'",
        params: {},
      });
      return rows.length;
    };
    const reached = (count: number) => until(`${count} running`, async () => (await running()) === count, 20);
    const stop = new AbortController();
    const reading = readRows(client, slow, stop.signal);
    reading.catch(() => undefined);
    await reached(1);
    stop.abort(new Error("enough"));
    await t.rejects(reading, /enough/);
    await reached(0);
  });
});
