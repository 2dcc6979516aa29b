/** An assignment moves the costs of a resource on its days, by the next run. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { assignResources, deleteAssignment, endAssignment } from "../../src/assignments/write.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { runContext, runOnce, runRows, shortTenants, tenantOf } from "./runs.js";
import { scriptedUpstream, usageRule } from "./scripted-upstream.js";

const reason = { reason: "they took it over", created_by: "ada" };

/** Opens a FOCUS tenant `acme` with these lines, a day each: resource and amount. */
async function openFocus(t: Test, lines: Readonly<Record<string, Record<string, string>>>, allocation = "") {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "bills", "2026-06"), { recursive: true });
  const rows = Object.entries(lines).flatMap(([day, costs]) => {
    const period = { ChargePeriodStart: `${day}T00:00:00Z`, ChargePeriodEnd: `${day}T23:59:59Z` };
    return Object.entries(costs).map(([ResourceId, EffectiveCost]) => ({
      ...period,
      ResourceId,
      EffectiveCost,
      Tags: JSON.stringify(ResourceId.startsWith("tagged") ? { team: "tagged-team" } : {}),
    }));
  });
  writeFileSync(join(folder, "bills", "2026-06", "bill.csv"), csv(rows));
  const yaml = `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 10
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    ${allocation}
    plugin_settings:
      sources: [{ name: cloud, location: ${join(folder, "bills")}, limits: { settle_seconds: 0 } }]`;
  const { stores, folder: home } = await openTestStores(t, yaml);
  const config = testConfig(`data_dir: ${home}/data\n${yaml}`, home);
  const writer = { postgres: stores.postgres, tenantName: "acme" };
  const run = async () => {
    const { status, dates_calculated } = await runOnce(runContext(stores), config, "acme");
    const charged = await runRows<{ charge: string }>(
      stores,
      "acme",
      `SELECT concat_ws(' ', toString(day), resource_id, identity_id, toString(amount_hi + amount_lo), toString(rule)) AS charge
       FROM chargebacks ORDER BY charge`,
    );
    return [status, dates_calculated, ...charged.map(({ charge }) => charge.slice(8).trim())];
  };
  return { stores, config, writer, run };
}

t.test("only the days of an assignment with a line of its resource are calculated again", async (t) => {
  const { writer, run } = await openFocus(t, {
    "2026-06-22": { "i-1": "1", "i-2": "5" },
    "2026-06-23": { "i-1": "2", "i-2": "5" },
    "2026-06-24": { "i-2": "5" },
    "2026-06-25": { "i-1": "4" },
    "2026-06-26": { "i-1": "8" },
  });
  const nobody = "UNALLOCATED";
  const others = [`22 i-2 ${nobody} 5`, `23 i-2 ${nobody} 5`, `24 i-2 ${nobody} 5`];
  const charges = (...payers: readonly string[]) =>
    [
      ...others,
      `22 i-1 ${payers[0]} 1`,
      `23 i-1 ${payers[1]} 2`,
      `25 i-1 ${payers[2]} 4`,
      `26 i-1 ${payers[3]} 8`,
    ].sort();
  t.strictSame(await run(), ["completed", 5, ...charges(nobody, nobody, nobody, nobody)]);
  const { items } = await assignResources(writer, {
    resource_ids: ["i-1"],
    identity_id: "web",
    valid_from: "2026-06-23",
    valid_to: "2026-06-25",
    ...reason,
  });
  const [assigned] = items;
  t.strictSame(
    await run(),
    ["completed", 2, ...charges(nobody, "web", "web", nobody)],
    "24 has no such line",
  );
  t.strictSame(await run(), ["completed", 0, ...charges(nobody, "web", "web", nobody)], "nothing changed");
  await endAssignment(writer, Number(assigned?.assignment_id), "2026-06-23");
  t.strictSame(await run(), ["completed", 1, ...charges(nobody, "web", nobody, nobody)]);
  await assignResources(writer, {
    resource_ids: ["i-1"],
    identity_id: "ops",
    valid_from: "2026-06-24",
    valid_to: null,
    ...reason,
  });
  t.strictSame(await run(), ["completed", 2, ...charges(nobody, "web", "ops", "ops")]);
  await deleteAssignment(writer, Number(assigned?.assignment_id));
  t.strictSame(await run(), ["completed", 1, ...charges(nobody, nobody, "ops", "ops")]);
});

t.test("an assignment outside of the gathered window changes nothing", async (t) => {
  const { writer, run, stores } = await openFocus(t, { "2026-06-22": { "i-1": "1" } });
  const before = await run();
  const far = { resource_ids: ["i-1"], identity_id: "web", ...reason };
  await assignResources(writer, { ...far, valid_from: "2026-01-01", valid_to: "2026-05-31" });
  await assignResources(writer, { ...far, valid_from: "2026-07-01", valid_to: null });
  t.strictSame(await run(), ["completed", 0, ...before.slice(2)]);
  const windows = await stores.postgres.query("SELECT count(*)::int AS n FROM gathered_windows");
  t.strictSame(windows.rows, [{ n: 1 }]);
});

t.test("the first source that finds an identity counts, and assigned is one of them", async (t) => {
  const sources = {
    "{ assigned: resource_id }, { tag: team }": "web",
    "{ tag: team }, { assigned: resource_id }": "tagged-team",
    "{ tag: team }": "tagged-team",
  };
  for (const [identity, payer] of Object.entries(sources)) {
    const allocation = `allocation: { identity: [${identity}] }`;
    const { writer, run } = await openFocus(t, { "2026-06-22": { "tagged-1": "1", "i-1": "2" } }, allocation);
    await run();
    const days = { valid_from: "2026-06-01", valid_to: null };
    await assignResources(writer, {
      resource_ids: ["tagged-1", "i-1"],
      identity_id: "web",
      ...days,
      ...reason,
    });
    const untagged = identity.includes("assigned") ? "web" : "UNALLOCATED";
    t.strictSame((await run()).slice(2), [`22 i-1 ${untagged} 2`, `22 tagged-1 ${payer} 1`], identity);
  }
});

t.test("a configured rule without by: line keeps its lines", async (t) => {
  const allocation = `allocation:
      rules: [{ name: shared, where: { resource_id: "i-1" }, split: [{ by: fixed, shares: { a: 1 } }] }]`;
  const { writer, run } = await openFocus(t, { "2026-06-22": { "i-1": "1", "i-2": "2" } }, allocation);
  await run();
  const days = { valid_from: "2026-06-01", valid_to: null };
  await assignResources(writer, { resource_ids: ["i-1", "i-2"], identity_id: "web", ...days, ...reason });
  t.strictSame(await run(), ["completed", 1, "22 i-1 a 1 shared", "22 i-2 web 2"]);
});

t.test("with an ecosystem's own rules, assigned lines are charged where the rule found nobody", async (t) => {
  const { upstream, ecosystems } = scriptedUpstream({
    rules: [
      usageRule,
      {
        product_type: "SHARED",
        components: [
          {
            ratio: "1",
            tiers: [{ kind: "owner", detail: "direct_owner_allocation" }, nobody("owner_unknown")],
          },
        ],
      },
    ],
  });
  const day = "2026-06-24";
  upstream.bill.set(day, { metered: "8", "metered-unknown": "4", connector: "2", other: "1" });
  upstream.bill.set("2026-06-25", { other: "1" });
  const yaml = shortTenants(["acme"]);
  const { stores, folder } = await openTestStores(t, yaml);
  const config = testConfig(`data_dir: ${folder}/data\n${yaml}`, folder);
  const context = runContext(stores, { ecosystems });
  const run = async () => {
    const { dates_calculated } = await runOnce(context, config, "acme");
    const rows = await runRows<{ charge: string }>(
      stores,
      "acme",
      `SELECT concat_ws(' ', resource_id, identity_id, toString(amount_hi + amount_lo), toString(allocation_detail), toString(rule)) AS charge
       FROM chargebacks WHERE day = '${day}' ORDER BY charge`,
    );
    return [dates_calculated, ...rows.map(({ charge }) => charge.trim())];
  };
  upstream.measuredResources = ["metered"];
  const measured = ["metered ann 2 usage_ratio_allocation", "metered bob 6 usage_ratio_allocation"];
  const unknown = "other UNALLOCATED 1 owner_unknown";
  t.strictSame(await run(), [
    2,
    "connector UNALLOCATED 2 owner_unknown",
    ...measured,
    "metered-unknown UNALLOCATED 4 no_metrics_located",
    unknown,
  ]);
  const writer = { postgres: stores.postgres, tenantName: tenantOf(config, "acme").tenant_name };
  await assignResources(writer, {
    resource_ids: ["connector", "metered", "metered-unknown"],
    identity_id: "platform",
    valid_from: day,
    valid_to: null,
    ...reason,
  });
  t.strictSame(await run(), [
    1,
    "connector platform 2 line_identity_allocation assigned/SHARED",
    ...measured.map((each) => `${each} assigned/METERED`),
    "metered-unknown platform 4 line_identity_allocation assigned/METERED",
    unknown,
  ]);
});

function nobody(detail: "owner_unknown") {
  return { kind: "terminal", detail } as const;
}
