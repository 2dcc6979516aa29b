/** The history of resources and identities: written as they are gathered, read as of any past instant. */
import t from "tap";
import type { Gatherer, IdentityRecord, ResourceRecord } from "../../src/ingest/ecosystem.js";
import { gatherInventory } from "../../src/ingest/inventory/gather-inventory.js";
import type { InventoryReport } from "../../src/ingest/reports.js";
import { type InventoryListInput, readInventoryPage } from "../../src/query/inventory/list.js";
import { readInventorySummary } from "../../src/query/inventory/summary.js";
import { applyRetention } from "../../src/runner/retention.js";
import { holds } from "../holds.js";
import { openGatheringStores } from "./gathering-stores.js";
import { forever, silent } from "./generic_metrics_only/tenant.js";

const resource = (resource_id: string, changes: Partial<ResourceRecord> = {}): ResourceRecord => ({
  resource_id,
  resource_type: "cluster",
  display_name: resource_id,
  parent_id: null,
  owner_id: null,
  created_at: null,
  metadata: { region: "eu" },
  ...changes,
});

const identity = (identity_id: string, changes: Partial<IdentityRecord> = {}): IdentityRecord => ({
  identity_id,
  identity_type: "principal",
  display_name: identity_id,
  created_at: null,
  metadata: {},
  ...changes,
});

interface Script {
  /** Batches of one gathering. */
  readonly resources?: readonly (readonly ResourceRecord[])[];
  readonly identities?: readonly IdentityRecord[];
}

const complete: InventoryReport = {
  completeResourceTypes: ["cluster"],
  completeIdentityTypes: ["principal"],
  errors: [],
};

const scripted = ({ resources = [], identities = [] }: Script): Gatherer => ({
  daysPerWindow: 31,
  async gatherInventory(sink) {
    for (const batch of resources) await sink.resources(batch);
    await sink.identities(identities);
    return complete;
  },
  gatherWindow: async () => ({ completeDays: [], dropped: {}, errors: [] }),
  close: async () => undefined,
});

t.test("the inventory has a history", async (t) => {
  const { postgres, store } = await openGatheringStores(t);
  const { tenantName, tenantId, ecosystem } = store;
  /** Gathers, and returns an instant after it, by the database's clock. */
  const gather = async (script: Script): Promise<string> => {
    await gatherInventory({
      postgres,
      client: store.client,
      owner: { tenantName, tenantId, ecosystem },
      gatherer: scripted(script),
      zeroGatherDeletionThreshold: 1,
      signal: forever,
      logger: silent,
    });
    return now();
  };
  const now = async (): Promise<string> => {
    const { rows } = await postgres.query<{ now: string }>(
      `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS now`,
    );
    return rows[0]?.now ?? "";
  };
  const page = { page: 1, page_size: 100, order: "asc" } as const;
  const resources = async (moment: Partial<InventoryListInput> = {}) =>
    (await readInventoryPage(postgres, "resources", tenantName, { ...page, sort: "resource_id", ...moment }))
      .items;
  const identities = async (moment: Partial<InventoryListInput> = {}) =>
    (await readInventoryPage(postgres, "identities", tenantName, { ...page, sort: "identity_id", ...moment }))
      .items;
  const names = async (moment: Partial<InventoryListInput>) =>
    (await resources(moment)).map((each) => each.display_name);
  const versions = async (table = "resource_versions") =>
    (await postgres.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 2, valid_from`)).rows;
  t.beforeEach(async () => {
    await postgres.query("DELETE FROM resources");
    await postgres.query("DELETE FROM identities");
    await postgres.query("UPDATE tenants SET zero_gathers = '{}'");
  });

  await t.test("a gathering without changes writes no version", async (t) => {
    const known = { resources: [[resource("c1"), resource("c2")]], identities: [identity("u1")] };
    await gather(known);
    const before = [await versions(), await versions("identity_versions")];
    t.same(
      before.map(({ length }) => length),
      [2, 2],
      "each entity has one version, including UNALLOCATED",
    );
    for (let again = 0; again < 3; again += 1) await gather(known);
    t.same([await versions(), await versions("identity_versions")], before);
  });

  await t.test("a change of any column writes a version, and closes the one before", async (t) => {
    const changes: Partial<ResourceRecord>[] = [
      { display_name: "new" },
      { display_name: null },
      { parent_id: "env-1" },
      { owner_id: "u1" },
      { created_at: "2026-01-01T00:00:00Z" },
      { metadata: { region: "us" } },
      { resource_type: "other" },
    ];
    let state: Partial<ResourceRecord> = {};
    await gather({ resources: [[resource("c1"), resource("c2")]] });
    for (const change of changes) {
      state = { ...state, ...change };
      await gather({ resources: [[resource("c1", state), resource("c2")]] });
    }
    const rows = (await versions()).filter((row) => row.resource_id === "c1");
    t.equal(rows.length, 8);
    t.equal((await versions()).length, 9, "the versions of c2 do not change");
    t.same(rows[0]?.valid_from, -Infinity);
    t.same(rows[7]?.valid_to, Infinity);
    t.same(
      rows.slice(1).map((row) => row.valid_from),
      rows.slice(0, -1).map((row) => row.valid_to),
      "the versions have no gap between them",
    );
    t.ok(
      rows.slice(0, -1).every((row) => row.last_seen_at instanceof Date),
      "each version has the last gathering that saw it",
    );
    const identityStates = [
      identity("u1"),
      identity("u1", { display_name: "A" }),
      identity("u1", { display_name: "A", metadata: { team: "red" } }),
    ];
    for (const each of identityStates) await gather({ identities: [each] });
    const ofIdentity = (await versions("identity_versions")).filter((row) => row.identity_id === "u1");
    t.equal(ofIdentity.length, 3);
  });

  await t.test("a renamed resource is found under the name it had at that time", async (t) => {
    const before = await now();
    const first = await gather({
      resources: [
        [resource("c1", { display_name: "old", owner_id: "u1", created_at: "2020-01-01T00:00:00Z" })],
      ],
    });
    const second = await gather({
      resources: [[resource("c1", { display_name: "new", created_at: "2020-01-01T00:00:00Z" })]],
    });
    holds(t, await resources({ active_at: first }), [
      { display_name: "old", owner_id: "u1", status: "active" },
    ]);
    holds(t, await resources({ active_at: second }), [{ display_name: "new", owner_id: null }]);
    t.same(await names({}), ["new"]);
    t.same(
      await names({ active_at: before }),
      ["old"],
      "the first version also applies before its gathering",
    );
    t.same(
      await names({ active_at: "2020-01-01T00:00:00Z" }),
      ["old"],
      "a resource exists from its creation on",
    );
    t.same(
      await names({ active_at: "2019-12-31T23:59:59Z" }),
      [],
      "a resource does not exist before its creation",
    );
    t.same(await names({ active_at: "2299-01-01T00:00:00Z" }), ["new"]);
    t.same(await names({ active_at: first, search: "new" }), [], "a search uses the names of that time");
    t.same(await names({ active_at: first, search: "OLD" }), ["old"]);
    t.same(await names({ period_start: before, period_end: first }), ["old"]);
    t.same(
      await names({ period_start: before, period_end: second }),
      ["new"],
      "the list shows the last version in the period",
    );
    t.same(await names({ period_start: first, period_end: first }), ["old"], "an empty period is an instant");
    t.same(
      await names({ period_start: "2019-01-01T00:00:00Z", period_end: "2020-01-01T00:00:00Z" }),
      [],
      "a resource that is created when the period ends is not in it",
    );
  });

  await t.test("a resource that was deleted and came back has a lifetime with a gap", async (t) => {
    const all = {
      resources: [[resource("c1"), resource("c2")]],
      identities: [identity("u1"), identity("u2")],
    };
    const one = { resources: [[resource("c1")]], identities: [identity("u1")] };
    const first = await gather(all);
    const gap = await gather(one);
    const late = await gather(one);
    const back = await gather(all);
    t.same(await names({ active_at: first }), ["c1", "c2"]);
    t.same(await names({ active_at: gap }), ["c1"]);
    t.same(await names({ active_at: late }), ["c1"]);
    t.same(await names({ active_at: back }), ["c1", "c2"]);
    const [, deleted] = (await versions()).filter((row) => row.resource_id === "c2");
    const { rows } = await postgres.query<{ at: string }>(
      `SELECT to_char(valid_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at FROM resource_versions WHERE status = 'deleted'`,
    );
    holds(t, deleted, { status: "deleted", deleted_at: deleted?.valid_from });
    const at = rows[0]?.at ?? "";
    t.same(await names({ active_at: at }), ["c1"], "a resource is not active at the instant of its deletion");
    t.same(await names({ period_start: gap, period_end: late }), ["c1"], "the period is inside the gap");
    t.same(
      await names({ period_start: at, period_end: late }),
      ["c1"],
      "a resource that is deleted when the period begins is not in it",
    );
    t.same(await names({ period_start: gap, period_end: back }), ["c1", "c2"]);
    holds(
      t,
      await resources({ period_start: first, period_end: gap }),
      [{ resource_id: "c1" }, { resource_id: "c2", status: "deleted", deleted_at: at }],
      "a resource that is active in the period is shown as deleted if it is at the end",
    );
    t.same(await names({ period_start: first, period_end: gap, status: "active" }), ["c1"]);
    const people = async (moment: Partial<InventoryListInput>) =>
      (await identities(moment)).map((each) => each.identity_id);
    t.same(await people({ active_at: gap }), ["UNALLOCATED", "u1"]);
    t.same(await people({ active_at: back }), ["UNALLOCATED", "u1", "u2"]);
    t.same(
      await people({ active_at: "1999-01-01T00:00:00Z" }),
      ["UNALLOCATED", "u1", "u2"],
      "an unknown creation does not limit the period",
    );
    const counts = { cluster: { total: 2, active: 1, deleted: 1 } };
    const atGap = await readInventorySummary(postgres, tenantName, gap);
    t.same(atGap.resource_counts, counts);
    t.same(atGap.identity_counts, {
      principal: { total: 2, active: 1, deleted: 1 },
      system: { total: 1, active: 1, deleted: 0 },
    });
    t.same((await readInventorySummary(postgres, tenantName, undefined)).resource_counts, {
      cluster: { total: 2, active: 2, deleted: 0 },
    });
  });

  await t.test("a resource that is created again under the same id has two lifetimes", async (t) => {
    const first = await gather({
      resources: [[resource("c1", { created_at: "2020-01-01T00:00:00Z" }), resource("c2")]],
    });
    await gather({ resources: [[resource("c2")]] });
    const again = await now();
    const back = await gather({ resources: [[resource("c1", { created_at: again }), resource("c2")]] });
    holds(t, await resources({ active_at: first, search: "c1" }), [{ created_at: "2020-01-01T00:00:00Z" }]);
    holds(t, await resources({ active_at: back, search: "c1" }), [{ created_at: again }]);
    t.same(
      await names({ active_at: again, search: "c1" }),
      [],
      "the resource was known as deleted at that time",
    );
  });

  await t.test("UNALLOCATED has one version forever", async (t) => {
    for (let round = 0; round < 3; round += 1) await gather({ identities: [identity(`u${round}`)] });
    const rows = (await versions("identity_versions")).filter((row) => row.identity_id === "UNALLOCATED");
    holds(t, rows, [{ valid_from: -Infinity, valid_to: Infinity, deleted_at: null }]);
  });

  await t.test("of an id that one gathering returns twice, the last record counts", async (t) => {
    const first = await gather({
      resources: [[resource("c1", { display_name: "a" })], [resource("c1", { display_name: "b" })]],
    });
    holds(t, await versions(), [{ display_name: "b", valid_from: -Infinity, valid_to: Infinity }]);
    await gather({
      resources: [[resource("c1", { display_name: "c" })], [resource("c1", { display_name: "d" })]],
    });
    holds(t, await versions(), [{ display_name: "b" }, { display_name: "d" }]);
    t.same(await names({ active_at: first }), ["b"]);
  });

  await t.test(
    "states before the retention are dropped, and the oldest remaining one has no beginning",
    async (t) => {
      await gather({ resources: [[resource("c1", { display_name: "a" }), resource("c2")]] });
      await gather({ resources: [[resource("c1", { display_name: "b" }), resource("c2")]] });
      await gather({ resources: [[resource("c1", { display_name: "c" }), resource("c2")]] });
      const [, middle] = await versions();
      // Make the first two gatherings look old.
      await postgres.query(
        `UPDATE resource_versions SET valid_to = '2020-01-01T00:00:00Z' WHERE display_name = 'a'`,
      );
      await postgres.query(
        `UPDATE resource_versions SET valid_from = '2020-01-01T00:00:00Z' WHERE display_name = 'b'`,
      );
      const keepFrom = "2020-06-01";
      await applyRetention({
        epoch: 1,
        client: store.client,
        postgres,
        tenantName,
        keepFrom,
        keepAttributionsFrom: keepFrom,
        gatheredFrom: keepFrom,
      });
      holds(t, await versions(), [
        { display_name: "b", valid_from: -Infinity, valid_to: middle?.valid_to },
        { display_name: "c", valid_from: middle?.valid_to },
        { display_name: "c2", valid_from: -Infinity },
      ]);
      t.same(await names({ active_at: "2019-01-01T00:00:00Z" }), ["b", "c2"]);
      await postgres.query("DELETE FROM resources WHERE resource_id = 'c1'");
      t.equal((await versions()).length, 1, "the history of an entity is dropped with it");
    },
  );

  await t.test(
    "thousands of records are written in batches: new, unchanged, changed and deleted ones",
    async (t) => {
      const many = (state: Partial<ResourceRecord> = {}) => ({
        resources: [Array.from({ length: 5_500 }, (_, index) => resource(`c${index}`, state))],
      });
      const counted = async () => (await postgres.query("SELECT FROM resource_versions")).rowCount;
      await gather(many());
      t.equal(await counted(), 5_500);
      await gather(many());
      t.equal(await counted(), 5_500);
      await gather(many({ owner_id: "u1" }));
      t.equal(await counted(), 11_000);
      const end = await gather({});
      t.equal(await counted(), 16_500);
      t.same((await readInventorySummary(postgres, tenantName, end)).resource_counts, {
        cluster: { total: 5_500, active: 0, deleted: 5_500 },
      });
    },
  );
});
