/** Resources and identities of a bill, through whole runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { runContext, runOnce } from "./runs.js";

const tenant = (folder: string, team = "Shop") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    identity_to_team: { web: ${team} }
    allocation:
      identity: [{ tag: team }]
      rules:
        - name: shared
          where: { ResourceId: shared }
          split: [{ by: fixed, shares: { ops: 1, web: 1 } }]
    plugin_settings:
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

const on = (day: number) => ({
  ChargePeriodStart: `2026-06-${day}T00:00:00Z`,
  ChargePeriodEnd: `2026-06-${day + 1}T00:00:00Z`,
  SubAccountId: "111",
  SubAccountName: "production",
  BillingAccountId: "9",
  EffectiveCost: "1",
});
const vm = {
  EffectiveCost: "0.1",
  ResourceId: "vm",
  ResourceType: "Virtual Machine",
  Tags: '{"team":"web"}',
};
/** Most of the bill, so that changes of other lines never shrink it much. */
const rest = [22, 24, 25, 26, 27].map((day) => ({ ...on(day), ResourceId: "", Tags: "" }));
const shared = { ResourceId: "shared", ResourceType: "", ResourceName: "cluster", Tags: "" };

t.test("resources and identities of a bill have the days of their costs", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "2026-06"));
  const write = (rows: Parameters<typeof csv>[0]) =>
    writeFileSync(join(folder, "2026-06", "bill.csv"), csv(rows));
  const { config, stores } = await openTestStores(t, tenant(folder));
  const run = async (configured = config) => {
    const { status, errors } = await runOnce(runContext(stores), configured, "acme");
    t.strictSame([status, errors], ["completed", []]);
  };
  const app = await startApi(t, { config, stores, now: new Date("2026-06-30T12:00:00Z") });
  const listed = async (kind: "resources" | "identities", columns: readonly string[]) => {
    const { status, body } = await get(app, `/api/v1/tenants/acme/${kind}`);
    t.equal(status, 200);
    return body.items.map((item: Record<string, unknown>) =>
      columns
        .map((column) => (column === "metadata" ? JSON.stringify(item[column]) : (item[column] ?? "-")))
        .join(" "),
    );
  };
  const resources = () =>
    listed("resources", [
      "resource_id",
      "resource_type",
      "display_name",
      "parent_id",
      "created_at",
      "last_seen_at",
    ]);
  const identities = () => listed("identities", ["identity_id", "identity_type", "created_at", "metadata"]);
  const versions = async () =>
    (
      await stores.postgres.query(
        `SELECT (SELECT count(*) FROM resource_versions)::int AS resources, (SELECT count(*) FROM identity_versions)::int AS identities`,
      )
    ).rows[0];

  write([
    ...rest,
    { ...on(24), ...vm, ResourceName: "old name" },
    { ...on(26), ...vm, ResourceName: "name" },
    // A line without the name does not remove it.
    { ...on(27), ...vm, ResourceName: "" },
    { ...on(25), ...shared },
    { ...on(26), EffectiveCost: "0.1", ResourceId: "", Tags: '{"team":" data "}' },
  ]);
  await run();
  const accounts = [
    `111 sub_account production 9 2026-06-22T00:00:00Z 2026-06-27T00:00:00Z`,
    `9 billing_account - - 2026-06-22T00:00:00Z 2026-06-27T00:00:00Z`,
  ];
  const cluster = "shared resource cluster 111 2026-06-25T00:00:00Z 2026-06-25T00:00:00Z";
  t.strictSame(await resources(), [
    ...accounts,
    cluster,
    "vm Virtual Machine name 111 2026-06-24T00:00:00Z 2026-06-27T00:00:00Z",
  ]);
  t.strictSame(await identities(), [
    "UNALLOCATED system - {}",
    // If the identity is the value of a tag, its team is that value. Shares of a rule have no team.
    'data charged 2026-06-26T00:00:00Z {"team":"data"}',
    "ops charged 2026-06-25T00:00:00Z {}",
    'web charged 2026-06-24T00:00:00Z {"team":"Shop"}',
  ]);
  const before = await versions();

  await t.test("an unchanged bill writes nothing to the inventory", async (t) => {
    await run();
    t.strictSame(await versions(), before);
  });

  await t.test("earlier costs move the start of an entity back, and its end stays", async (t) => {
    write([
      ...rest,
      { ...on(22), ...vm, ResourceName: "older still" },
      { ...on(23), ...vm, ResourceName: "name" },
      { ...on(25), ...shared },
    ]);
    await run();
    t.strictSame(await resources(), [
      ...accounts,
      cluster,
      "vm Virtual Machine name 111 2026-06-22T00:00:00Z 2026-06-23T00:00:00Z",
    ]);
    t.equal((await identities()).at(-1), 'web charged 2026-06-22T00:00:00Z {"team":"Shop"}');
  });

  await t.test("the start of an entity stays when its first costs are gone", async (t) => {
    write([...rest, { ...on(23), ...vm, ResourceName: "name" }]);
    await run();
    t.equal(
      (await resources()).at(-1),
      "vm Virtual Machine name 111 2026-06-22T00:00:00Z 2026-06-23T00:00:00Z",
    );
    t.equal((await identities()).at(-1), 'web charged 2026-06-22T00:00:00Z {"team":"Shop"}');
  });

  await t.test("an identity that an upstream lists is not changed by the bill", async (t) => {
    await stores.postgres.query(
      "UPDATE identities SET identity_type = 'user', created_at = '2020-01-01Z' WHERE identity_id = 'web'",
    );
    write([...rest, { ...on(23), ...vm, EffectiveCost: "0.2" }]);
    await run();
    t.equal((await identities()).at(-1), 'web user 2020-01-01T00:00:00Z {"team":"Shop"}');
  });
});
