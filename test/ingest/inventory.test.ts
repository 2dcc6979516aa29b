/** Resources and identities in Postgres: added, updated, marked as deleted, reactivated. */
import t from "tap";
import type { Gatherer, IdentityRecord, ResourceRecord } from "../../src/ingest/ecosystem.js";
import { gatherInventory } from "../../src/ingest/inventory/gather-inventory.js";
import { MARK_IDENTITIES_DELETED } from "../../src/ingest/inventory/sql/mark-identities-deleted.js";
import type { InventoryReport } from "../../src/ingest/reports.js";
import { holds } from "../holds.js";
import { openGatheringStores } from "./gathering-stores.js";
import { forever, silent } from "./generic_metrics_only/tenant.js";

const resource = (resource_id: string, changes: Partial<ResourceRecord> = {}): ResourceRecord => ({
  resource_id,
  resource_type: "cluster",
  display_name: resource_id.toUpperCase(),
  parent_id: null,
  owner_id: null,
  created_at: null,
  metadata: {},
  ...changes,
});

const identity = (identity_id: string, changes: Partial<IdentityRecord> = {}): IdentityRecord => ({
  identity_id,
  identity_type: "principal",
  display_name: null,
  created_at: null,
  metadata: { team: "red" },
  ...changes,
});

interface Script {
  readonly resources?: readonly ResourceRecord[];
  readonly identities?: readonly IdentityRecord[];
  readonly report?: Partial<InventoryReport>;
}

const scripted = ({ resources = [], identities = [], report }: Script): Gatherer => ({
  daysPerWindow: 31,
  async gatherInventory(sink) {
    await sink.resources(resources);
    await sink.identities(identities);
    return {
      completeResourceTypes: ["cluster"],
      completeIdentityTypes: ["principal"],
      errors: [],
      ...report,
    };
  },
  gatherWindow: async () => ({ completeDays: [], dropped: {}, errors: [] }),
  close: async () => undefined,
});

t.test("the inventory is gathered", async (t) => {
  const { postgres, store } = await openGatheringStores(t);
  const { tenantName, tenantId, ecosystem } = store;
  const gather = (script: Script, threshold = -1) =>
    gatherInventory({
      postgres,
      client: store.client,
      owner: { tenantName, tenantId, ecosystem },
      gatherer: scripted(script),
      zeroGatherDeletionThreshold: threshold,
      signal: forever,
      logger: silent,
    });
  const all = async (table: "resources" | "identities") =>
    (await postgres.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 2`)).rows;
  const active = async (table: "resources" | "identities") =>
    (await all(table))
      .filter((row) => row.deleted_at === null)
      .map((row) => row.resource_id ?? row.identity_id);
  t.beforeEach(async () => {
    await postgres.query("DELETE FROM resources");
    await postgres.query("DELETE FROM identities");
    await postgres.query("UPDATE tenants SET zero_gathers = '{}'");
  });

  await t.test("new entities are added, together with the identity of unallocated costs", async (t) => {
    const created = "2026-01-01T02:00:00+02:00";
    const result = await gather({
      resources: [resource("c1", { created_at: created, metadata: { a: [1, "ü"] } })],
      identities: [identity("u1")],
    });
    holds(t, result, {
      resources: 1,
      identities: 1,
      deletedResources: 0,
      deletedIdentities: 0,
      lacks: [],
    });
    const [row] = await all("resources");
    holds(t, row, {
      resource_id: "c1",
      tenant_id: tenantId,
      ecosystem,
      display_name: "C1",
      status: "active",
      deleted_at: null,
    });
    t.same(row?.metadata, { a: [1, "ü"] });
    t.same(row?.created_at, new Date("2026-01-01T00:00:00Z"));
    t.ok(row?.last_seen_at);
    holds(t, await all("identities"), [
      { identity_id: "UNALLOCATED", identity_type: "system" },
      { identity_id: "u1", identity_type: "principal", metadata: { team: "red" } },
    ]);
  });

  await t.test("known entities are updated, and keep their time of creation", async (t) => {
    await gather({ resources: [resource("c1", { created_at: "2026-01-01T00:00:00Z", owner_id: "u1" })] });
    await gather({ resources: [resource("c1", { display_name: "new" })] });
    holds(t, await all("resources"), [
      { display_name: "new", owner_id: null, created_at: new Date("2026-01-01T00:00:00Z") },
    ]);
  });

  await t.test(
    "entities missing from a complete gathering are deleted, and reactivated if they come back",
    async (t) => {
      await gather({
        resources: [resource("c1"), resource("c2")],
        identities: [identity("u1"), identity("u2")],
      });
      const gone = await gather({ resources: [resource("c1")], identities: [identity("u2")] });
      holds(t, gone, { deletedResources: 1, deletedIdentities: 1 });
      t.same([await active("resources"), await active("identities")], [["c1"], ["UNALLOCATED", "u2"]]);
      holds(t, (await all("resources"))[1], { resource_id: "c2", status: "deleted", deleted_at: Date });
      holds(
        t,
        await gather({ resources: [resource("c1")], identities: [identity("u2")] }),
        { deletedResources: 0 },
        "each deletion is counted once",
      );
      await gather({
        resources: [resource("c1"), resource("c2")],
        identities: [identity("u1"), identity("u2")],
      });
      t.same(await active("resources"), ["c1", "c2"]);
      holds(t, (await all("resources"))[1], { status: "active", deleted_at: null });
    },
  );

  await t.test("an incomplete gathering deletes nothing of its type", async (t) => {
    await gather({
      resources: [resource("c1"), resource("c2")],
      identities: [identity("u1"), identity("u2")],
    });
    const report = { completeIdentityTypes: [], errors: ["discovery failed"] };
    const result = await gather({ resources: [resource("c1")], identities: [identity("u1")], report });
    holds(t, result, {
      lacks: ["discovery failed"],
      deletedResources: 1,
      deletedIdentities: 0,
      errors: ["discovery failed"],
    });
    t.same(await active("identities"), ["UNALLOCATED", "u1", "u2"]);
  });

  await t.test("a type that is seen only while active may be absent for its grace period", async (t) => {
    const report = { absenceGraceSeconds: { principal: 3600 } };
    await gather({ identities: [identity("u1"), identity("u2")], report });
    holds(t, await gather({ identities: [identity("u1")], report }), { deletedIdentities: 0 });
    await postgres.query(
      "UPDATE identities SET last_seen_at = last_seen_at - interval '61 minutes' WHERE identity_id = 'u2'",
    );
    holds(t, await gather({ identities: [identity("u1")], report }), { deletedIdentities: 1 });
    t.same(await active("identities"), ["UNALLOCATED", "u1"]);
  });

  await t.test("UNALLOCATED is never deleted, whatever type a source has given it", async (t) => {
    await gather({ identities: [identity("u1"), identity("u2")] });
    // A gathering writes the type again before it deletes, so the statement is run alone.
    await postgres.query(
      "UPDATE identities SET identity_type = 'principal' WHERE identity_id = 'UNALLOCATED'",
    );
    const later = new Date(Date.now() + 60_000);
    await postgres.query(MARK_IDENTITIES_DELETED, [tenantName, later, ["principal"], [0]]);
    t.same(await active("identities"), ["UNALLOCATED"]);
    await postgres.query("UPDATE identities SET identity_type = 'system' WHERE identity_id = 'UNALLOCATED'");
  });

  await t.test("a source that suddenly returns nothing deletes nothing", async (t) => {
    await gather({ resources: [resource("c1")], identities: [identity("u1")] });
    for (let again = 0; again < 3; again += 1)
      holds(t, await gather({}), { deletedResources: 0, deletedIdentities: 0 });
    t.same(await active("resources"), ["c1"]);
    const { rows } = await postgres.query("SELECT zero_gathers FROM tenants");
    t.same(
      rows,
      [{ zero_gathers: { "resource:cluster": 3, "identity:principal": 3 } }],
      "the count survives restarts",
    );
  });

  await t.test("a source that returns nothing as often as the threshold deletes its entities", async (t) => {
    await gather({ resources: [resource("c1")] }, 2);
    holds(t, await gather({}, 2), { deletedResources: 0 });
    holds(
      t,
      await gather({ resources: [resource("c1")] }, 2),
      { deletedResources: 0 },
      "the count starts again",
    );
    holds(t, await gather({}, 2), { deletedResources: 0 });
    holds(t, await gather({}, 2), { deletedResources: 1 });
    holds(t, await gather({}, 2), { deletedResources: 0 });
    const { rows } = await postgres.query("SELECT zero_gathers FROM tenants");
    t.same(rows, [{ zero_gathers: {} }]);
    await gather({ resources: [resource("c1")] }, 0);
    holds(t, await gather({}, 0), { deletedResources: 1 }, "a threshold of 0 counts as 1");
  });

  await t.test("UNALLOCATED is never deleted, and a repeated id counts once", async (t) => {
    const identities = [identity("u1", { display_name: "old" }), identity("u1", { display_name: "new" })];
    const report = { completeIdentityTypes: ["principal", "system"] };
    holds(t, await gather({ identities, report }), { identities: 1 });
    await gather({ identities: [identity("u2")], report }, 1);
    t.same(await active("identities"), ["UNALLOCATED", "u2"]);
    holds(t, (await all("identities"))[1], { identity_id: "u1", display_name: "new" });
  });

  await t.test("an entity that cannot be stored is an error, and its type deletes nothing", async (t) => {
    await gather({ resources: [resource("c1"), resource("c2")] });
    const result = await gather({ resources: [resource("c1"), resource("bad\u0000id")] });
    holds(t, result, {
      lacks: [/resource "bad\?id" cannot be stored/],
      deletedResources: 0,
      errors: [/resource "bad\?id" cannot be stored/],
    });
    const odd = await gather({
      resources: [
        resource("c1", { display_name: "a\u0000b\ud800", metadata: { x: "\u0000" } }),
        resource("c2"),
      ],
    });
    holds(t, odd, { lacks: [] });
    holds(t, (await all("resources"))[0], { display_name: "a\uFFFDb\uFFFD", metadata: { x: "\uFFFD" } });
  });

  await t.test("thousands of entities are written in batches", async (t) => {
    const identities = Array.from({ length: 12_000 }, (_, index) => identity(`u${index}`));
    holds(t, await gather({ identities }), { identities: 12_000 });
    t.equal((await all("identities")).length, 12_001);
  });
});
