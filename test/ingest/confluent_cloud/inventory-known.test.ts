/** The stored inventory that gatherers get: all entities, with lifetimes. */
import t from "tap";
import { addDays, dayOf } from "../../../src/common/days.js";
import { collectBilled } from "../../../src/ingest/ecosystems/confluent_cloud/billed.js";
import { writeIdentitySets } from "../../../src/ingest/ecosystems/confluent_cloud/identity-sets.js";
import { gatherInventory } from "../../../src/ingest/inventory/gather-inventory.js";
import { createKnownInventory } from "../../../src/ingest/inventory/known-inventory.js";
import type { KnownInventory } from "../../../src/ingest/known.js";
import { holds } from "../../holds.js";
import { openGatheringStores } from "../gathering-stores.js";
import { forever, silent } from "../generic_metrics_only/tenant.js";
import { recordingSink } from "../recording-sink.js";
import { cluster, small, startOrganisation } from "./organisation.js";
import { connectConfluentTenant } from "./tenant.js";

const handedOver = cluster("lksqlc-1", {
  credential_identity: { id: "sa-30" },
  kafka_cluster: { id: "lkc-b" },
  csu: 4,
});

/** Members of the `owner` set of the ksqlDB cluster. */
async function ownersOn(known: KnownInventory, day: string): Promise<string[]> {
  const collector = collectBilled();
  collector.add(day, "ksqldb", "lksqlc-1");
  const sink = recordingSink();
  const window = { start: day, end: addDays(day, 1) };
  await writeIdentitySets({ billed: collector.billed, window, known }, sink, forever);
  const { identitySets } = sink.recorded;
  return identitySets.filter(({ scope }) => scope === "owner").map(({ identity_id }) => identity_id);
}

t.test(
  "the known inventory includes deleted entities and earlier states, but not the system identity",
  async (t) => {
    const { postgres, store } = await openGatheringStores(t);
    const { tenantName, tenantId, ecosystem } = store;
    const organisation = await startOrganisation(t, small);
    const gather = () =>
      gatherInventory({
        postgres,
        client: store.client,
        owner: { tenantName, tenantId, ecosystem },
        gatherer: connectConfluentTenant(t, organisation.url),
        zeroGatherDeletionThreshold: -1,
        signal: forever,
        logger: silent,
      });
    await gather();
    const known = createKnownInventory(postgres, tenantName);
    const before = await known.read(forever);
    holds(
      t,
      before.identities.find(({ identity_id }) => identity_id === "KEY0001"),
      {
        identity_type: "api_key",
        metadata: { owner_id: "sa-10", resource_id: "lkc-aa11" },
        created_at: Date.parse("2026-01-06T09:00:00Z"),
        deleted_at: null,
      },
    );
    holds(
      t,
      before.resources.find(({ resource_id }) => resource_id === "lksqlc-1"),
      { resource_type: "ksqldb_cluster", owner_id: "sa-10", parent_id: "env-77" },
    );
    t.notOk(before.identities.some(({ identity_id }) => identity_id === "UNALLOCATED"));

    organisation.lists.set("/iam/v2/api-keys", small["/iam/v2/api-keys"].slice(1));
    const gathering = Date.now();
    await gather();
    t.equal(await known.read(forever), before, "all windows of a run share one inventory");
    known.renew();
    const after = await known.read(forever);
    const key = after.identities.find(({ identity_id }) => identity_id === "KEY0001");
    t.ok(gathering <= (key?.deleted_at ?? 0) && (key?.deleted_at ?? 0) <= Date.now());
    t.equal(after.identities.length, before.identities.length);

    organisation.lists.set("/ksqldbcm/v2/clusters?environment=env-77", [handedOver]);
    await gather();
    known.renew();
    const now = await known.read(forever);
    holds(
      t,
      now.resources.find(({ resource_id }) => resource_id === "lksqlc-1"),
      { owner_id: "sa-30", earlier: [{ owner_id: "sa-10", until: Number }] },
    );
    t.same(
      await ownersOn(now, "2026-01-07"),
      ["sa-10"],
      "the resource had its former owner on an earlier day",
    );
    t.same(await ownersOn(now, addDays(dayOf(new Date(gathering)), 1)), ["sa-30"]);

    const other = createKnownInventory(postgres, "somebody-else");
    t.same(await other.read(forever), { resources: [], identities: [] });
    await t.rejects(known.read(AbortSignal.abort(new Error("given up"))), { message: "given up" });
  },
);
