import t from "tap";
import { recordDimensions } from "../../src/allocate/dimensions.js";
import { claimStaging, dropStagedDays } from "../../src/clickhouse/staging.js";
import { daysBefore, runContext, runOnce, runRows, shortTenants } from "../runner/runs.js";
import { scriptedUpstream } from "../runner/scripted-upstream.js";
import { openTestStores } from "../stores.js";

const day = "2026-03-01";
const signal = new AbortController().signal;

t.test("dimension ids are stable and unique", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme", "narrow", "half"]));
  type Stores = typeof stores;
  const idsOf = async (stores: Stores, tenant: string) =>
    new Map(
      (
        await runRows<{ who: string; id: string }>(
          stores,
          tenant,
          "SELECT concat(resource_id, ' ', identity_id) AS who, toString(dimension_id) AS id FROM dimensions FINAL ORDER BY who, id",
        )
      ).map((row) => [row.who, row.id]),
    );
  /** Stages one chargeback row for each identity. */
  const stage = async (tenant: string, identities: readonly string[]) => {
    const { client } = await stores.tenant(tenant);
    await claimStaging(client, 1);
    await dropStagedDays(client, 1, [day]);
    await client.insert({
      table: "staged_chargebacks_e1",
      columns: ["timestamp", "identity_id"],
      values: identities.map((identity_id) => ({ timestamp: `${day} 00:00:00`, identity_id })),
      format: "JSONEachRow",
    });
    return { client, epoch: 1, signal };
  };
  const count = async (tenant: string, table: string) =>
    Number((await runRows<{ n: string }>(stores, tenant, `SELECT count() AS n FROM ${table}`))[0]?.n);

  await t.test(
    "dimension ids are safe integers, and stay the same after a recalculation and in a rebuilt store",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream();
      upstream.bill.set(daysBefore(3), { "r-1": "10", "metered-1": "8" });
      const context = runContext(stores, { ecosystems });
      await runOnce(context, config, "acme");
      const first = await idsOf(stores, "acme");
      t.equal(first.size, 4);
      for (const id of first.values()) t.ok(Number.isSafeInteger(Number(id)) && Number(id) > 0);
      upstream.bill.set(daysBefore(3), { "r-1": "11", "metered-1": "8" });
      await runOnce(context, config, "acme", { force: true });
      t.same(await idsOf(stores, "acme"), first);
      t.equal(await count("acme", "dimensions"), 4, "nothing is written twice");

      const again = await openTestStores(t, shortTenants(["acme"]));
      await runOnce(runContext(again.stores, { ecosystems }), again.config, "acme");
      t.same(await idsOf(again.stores, "acme"), first);
    },
  );

  await t.test(
    "dimension ids are never shared: a collision is resolved, and no id changes afterwards",
    async (t) => {
      const mask = 63n; // 64 ids for up to 48 dimensions: collisions are certain
      const known = new Map<string, string>();
      for (const size of [16, 32, 48]) {
        const people = Array.from({ length: size }, (_, i) => `user-${i}`);
        await recordDimensions(await stage("narrow", people), [day], mask);
        const ids = await idsOf(stores, "narrow");
        t.equal(ids.size, size);
        t.equal(new Set(ids.values()).size, size, "all different");
        t.equal(
          await count("narrow", "(SELECT DISTINCT dimension_id, fingerprint FROM dimensions)"),
          size,
          "one id each",
        );
        for (const [who, id] of known) t.equal(ids.get(who), id, `${who} keeps its id`);
        for (const [who, id] of ids) known.set(who, id);
      }
      const resolved = await runRows<{ n: string }>(
        stores,
        "narrow",
        `SELECT count() AS n FROM dimension_collisions AS c
       INNER JOIN dimensions AS d ON d.fingerprint = c.fingerprint AND d.dimension_id = c.dimension_id`,
      );
      t.equal(
        Number(resolved[0]?.n),
        await count("narrow", "dimension_collisions"),
        "readers find them by their fingerprint",
      );
      t.ok(Number(resolved[0]?.n) > 0);
    },
  );

  await t.test("a collision that a crash left half resolved keeps the recorded ids", async (t) => {
    const mask = 3n;
    const scope = await stage("half", ["a", "b", "c"]);
    await recordDimensions(scope, [day], mask);
    const before = await idsOf(stores, "half");
    const [moved] = await runRows<{ f: string; who: string; plain: string }>(
      stores,
      "half",
      `SELECT toString(fingerprint) AS f, identity_id AS who, toString(bitAnd(reinterpretAsUInt64(fingerprint), 3)) AS plain
       FROM dimensions WHERE fingerprint IN (SELECT fingerprint FROM dimension_collisions) LIMIT 1`,
    );
    t.ok(moved, "three dimensions and four ids collide for these names");
    // The state when the new id was recorded, but the dimension was not moved to it yet.
    await scope.client.command({
      query: `INSERT INTO dimensions SELECT {plain:UInt64}, * EXCEPT dimension_id FROM dimensions WHERE fingerprint = {f:UInt128}`,
      query_params: { plain: moved?.plain, f: moved?.f },
    });
    await scope.client.command({
      query:
        "ALTER TABLE dimensions DELETE WHERE fingerprint = {f:UInt128} AND dimension_id != {plain:UInt64}",
      query_params: { plain: moved?.plain, f: moved?.f },
      clickhouse_settings: { mutations_sync: "1" },
    });
    await recordDimensions(await stage("half", ["d"]), [day], mask);
    const after = await idsOf(stores, "half");
    for (const [who, id] of before) t.equal(after.get(who), id);
    t.equal(new Set(after.values()).size, 4);
  });
});
