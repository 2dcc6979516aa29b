/** What gatherers are told of the inventory: everything that the service remembers, with lifetimes. */
import t from "tap";
import { gatherInventory } from "../../src/ingest/inventory/gather-inventory.js";
import { createKnownInventory } from "../../src/ingest/inventory/known-inventory.js";
import { small, startOrganisation } from "./confluent-organisation.js";
import { connectConfluentTenant } from "./confluent-tenant.js";
import { openGatheringStores } from "./gathering-stores.js";
import { forever, silent } from "./generic-tenant.js";

t.test("the deleted are known too, and the system's own identity is not", async (t) => {
  const { postgres, store } = await openGatheringStores(t);
  const { tenantName, tenantId, ecosystem } = store;
  const organisation = await startOrganisation(t, small);
  const gather = () =>
    gatherInventory({
      postgres,
      owner: { tenantName, tenantId, ecosystem },
      gatherer: connectConfluentTenant(t, organisation.url),
      zeroGatherDeletionThreshold: -1,
      signal: forever,
      logger: silent,
    });
  await gather();
  const known = createKnownInventory(postgres, tenantName);
  const before = await known.read(forever);
  t.match(
    before.identities.find(({ identity_id }) => identity_id === "KEY0001"),
    {
      identity_type: "api_key",
      metadata: { owner_id: "sa-10", resource_id: "lkc-aa11" },
      created_at: Date.parse("2026-01-06T09:00:00Z"),
      deleted_at: null,
    },
  );
  t.match(
    before.resources.find(({ resource_id }) => resource_id === "lksqlc-1"),
    { resource_type: "ksqldb_cluster", owner_id: "sa-10", parent_id: "env-77" },
  );
  t.notOk(before.identities.some(({ identity_id }) => identity_id === "UNALLOCATED"));

  organisation.lists.set("/iam/v2/api-keys", small["/iam/v2/api-keys"].slice(1));
  const gathering = Date.now();
  await gather();
  t.equal(await known.read(forever), before, "one picture for all windows of a run");
  known.renew();
  const after = await known.read(forever);
  const key = after.identities.find(({ identity_id }) => identity_id === "KEY0001");
  t.ok(key?.deleted_at !== null && Math.abs((key?.deleted_at ?? 0) - gathering) < 3_600_000);
  t.equal(after.identities.length, before.identities.length);

  const other = createKnownInventory(postgres, "somebody-else");
  t.same(await other.read(forever), { resources: [], identities: [] });
  await t.rejects(known.read(AbortSignal.abort(new Error("given up"))), { message: "given up" });
});
