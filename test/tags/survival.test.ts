import t from "tap";
import { addDays } from "../../src/common/days.js";
import { migrateClickHouse } from "../../src/stores/migrate-clickhouse.js";
import { migrationFolders } from "../../src/stores/open-stores.js";
import { copyNewDimensions } from "../../src/tags/copy-new-dimensions.js";
import { addTag } from "../../src/tags/write.js";
import { holds } from "../holds.js";
import { daysBefore, runContext, runDay, runOnce, runRows, shortTenants } from "../runner/runs.js";
import { evenRule, scriptedUpstream, usageRule } from "../runner/scripted-upstream.js";
import { openTestStores, testLogger } from "../stores.js";
import { mirrored, miscounted, tag, writtenTags } from "./tagging.js";

interface Named {
  readonly dimension_id: string;
  readonly resource_id: string;
}

t.test("tags survive recalculation and are dropped with their dimensions", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["retention_days: 8"]));
  const { postgres } = stores;
  const { upstream, ecosystems } = scriptedUpstream();
  for (let age = 2; age <= 8; age += 1) upstream.bill.set(daysBefore(age), { "metered-1": "8" });
  upstream.bill.set(daysBefore(8), { "metered-1": "8", "metered-old": "3" });
  const run = async (changes: { now?: string; force?: boolean } = {}) => {
    const now = () => new Date(`${changes.now ?? runDay}T12:00:00Z`);
    const context = runContext(stores, { ecosystems, now });
    return await runOnce(context, config, "acme", { force: changes.force ?? false });
  };
  const dimensions = () =>
    runRows<Named>(
      stores,
      "acme",
      "SELECT DISTINCT dimension_id, resource_id FROM dimensions ORDER BY resource_id, dimension_id",
    );
  const copied = async () =>
    (
      await postgres.query(
        "SELECT dimension_id::text, resource_id FROM dimensions WHERE tenant_name = 'acme' ORDER BY resource_id, dimension_id",
      )
    ).rows;
  const on = (dimensionId: string) => ({ postgres, tenantName: "acme", dimensionId: Number(dimensionId) });

  holds(t, await run(), { status: "completed" });
  const before = await dimensions();
  t.ok(before.length >= 2);
  t.same(await copied(), before, "a run copies all dimensions");
  for (const { dimension_id, resource_id } of before) {
    const made = await addTag(on(dimension_id), tag("resource", resource_id));
    t.equal(made.dimension_id, Number(dimension_id));
  }
  const tags = await writtenTags(stores, "acme");

  await t.test("a day that is recalculated keeps its tags", async (t) => {
    holds(t, await run({ force: true }), { status: "completed", dates_calculated: 7 });
    t.same(await dimensions(), before);
    t.same(await writtenTags(stores, "acme"), tags);
    t.same(await mirrored(stores, "acme"), tags, "a run without any API mirrors them");
  });

  await t.test("a day whose allocation detail changes keeps its tags", async (t) => {
    const { rules } = upstream;
    const reason = { kind: "usage", metrics: ["work"], detail: "no_usage_for_active_identities" } as const;
    const nobody = { kind: "terminal", detail: "no_metrics_located" } as const;
    upstream.rules = [evenRule, { ...usageRule, components: [{ ratio: "1", tiers: [reason, nobody] }] }];
    holds(t, await run(), { status: "completed", dates_calculated: 7 });
    const details = await runRows(
      stores,
      "acme",
      "SELECT DISTINCT allocation_detail AS why FROM chargebacks",
    );
    t.same(details, [{ why: reason.detail }]);
    t.same(await dimensions(), before);
    t.same(await mirrored(stores, "acme"), tags);
    upstream.rules = rules;
    holds(t, await run(), { dates_calculated: 7 });
  });

  await t.test("a store that is lost and recalculated has its tags", async (t) => {
    const server = await stores.serverClient("acme");
    await server.command({ query: "DROP DATABASE acme SYNC" });
    await migrateClickHouse(server, {
      dir: migrationFolders.clickhouse,
      database: "acme",
      postgres: postgres,
      logger: testLogger,
    });
    t.same(await mirrored(stores, "acme"), []);
    holds(t, await run({ force: true }), { status: "completed", dates_calculated: 7 });
    t.same(await dimensions(), before, "the same dimensions have the same ids");
    t.same(await writtenTags(stores, "acme"), tags);
    t.same(await mirrored(stores, "acme"), tags);
    const shown = await runRows<{ n: string }>(
      stores,
      "acme",
      "SELECT count() AS n FROM tags WHERE resource_id = display_name",
    );
    t.same(shown, [{ n: String(before.length) }], "the view for BI tools shows each on its resource");
  });

  await t.test("a view shows BI tools what each tag costs per day", async (t) => {
    const costs = (from: string, name: string, amount: string) =>
      runRows<{ name: string; cost: string }>(
        stores,
        "acme",
        `SELECT date, ${name} AS name, toString(sum(${amount})) AS cost FROM ${from} GROUP BY date, name ORDER BY date, name`,
      );
    const byTag = await costs("daily_cost_by_tag", "display_name", "total_amount");
    t.same(byTag, await costs("chargeback_details", "resource_id", "amount"));
    t.equal(byTag.length, 8);
  });

  await t.test("dimensions that expire are dropped with their tags; others stay", async (t) => {
    const later = addDays(runDay, 1);
    holds(t, await run({ now: later }), { status: "completed" });
    const left = before.filter(({ resource_id }) => resource_id !== "metered-old");
    t.ok(left.length < before.length);
    t.same(await dimensions(), left);
    t.same(await copied(), left);
    const remainingTags = tags.filter((each) => !each.endsWith("=metered-old"));
    t.same(await writtenTags(stores, "acme"), remainingTags);
    t.same(await mirrored(stores, "acme"), remainingTags);
    t.same(await miscounted(stores), []);
  });

  await t.test("a dimension that returns after it was dropped has its old id and no tags", async (t) => {
    upstream.bill.set(daysBefore(3), { "metered-1": "8", "metered-old": "3" });
    const later = addDays(runDay, 1);
    holds(t, await run({ now: later }), { status: "completed" });
    t.same(await dimensions(), before);
    t.same(await copied(), before);
    t.equal(
      (await writtenTags(stores, "acme")).some((each) => each.endsWith("=metered-old")),
      false,
    );
    const { client } = await stores.tenant("acme");
    t.equal(await copyNewDimensions({ client, postgres, tenantName: "acme" }), 0, "nothing is copied twice");
  });

  await t.test("a dimension that a calculation removes keeps its tags until it expires", async (t) => {
    const at = (days: number) => addDays(runDay, days);
    const { client } = await stores.tenant("acme");
    const recorded = async (day: string) =>
      void (await client.command({
        query: `ALTER TABLE dimensions UPDATE recorded_at = '${day} 12:00:00' WHERE 1`,
        clickhouse_settings: { mutations_sync: "1" },
      }));
    const bill = (costs: Record<string, string>) => upstream.bill.set(daysBefore(2), costs);
    const oldest = () => runRows(stores, "acme", "SELECT min(day) AS day FROM chargebacks");
    const remainingTags = async () =>
      (await writtenTags(stores, "acme")).filter((each) => each.endsWith("=metered-new"));

    bill({ "metered-1": "8", "metered-new": "5" });
    await run({ now: at(1) });
    await recorded(at(1));
    const fresh = (await dimensions()).filter(({ resource_id }) => resource_id === "metered-new");
    for (const { dimension_id } of fresh) await addTag(on(dimension_id), tag("resource", "metered-new"));
    const tags = await remainingTags();
    t.equal(tags.length, 2);

    bill({ "metered-1": "8" });
    const before = await oldest();
    holds(t, await run({ now: at(2) }), { status: "completed", dates_calculated: 1 });
    t.not(await oldest(), before, "a day has expired meanwhile");
    t.same(await remainingTags(), tags);
    bill({ "metered-1": "8", "metered-new": "5" });
    await run({ now: at(2) });
    t.same(
      (await dimensions()).filter(({ resource_id }) => resource_id === "metered-new"),
      fresh,
    );
    t.same(await remainingTags(), tags);
    t.same(await mirrored(stores, "acme"), await writtenTags(stores, "acme"));

    bill({ "metered-1": "8" });
    await recorded(daysBefore(30));
    await run({ now: at(3) });
    t.same(await remainingTags(), [], "the tags are dropped in the end");
    t.same(await mirrored(stores, "acme"), await writtenTags(stores, "acme"));
    t.same(await miscounted(stores), []);
  });
});
