/** Inserts resources and identities with the statements of the pipeline, at times that the test chooses. */
import type { IdentityRecord, ResourceRecord } from "../../src/ingest/ecosystem.js";
import { createInventorySink } from "../../src/ingest/inventory/inventory-sink.js";
import { MARK_IDENTITIES_DELETED } from "../../src/ingest/inventory/sql/mark-identities-deleted.js";
import { MARK_RESOURCES_DELETED } from "../../src/ingest/inventory/sql/mark-resources-deleted.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";

type ResourceInput = Partial<ResourceRecord> & { resource_id: string };
type IdentityInput = Partial<IdentityRecord> & { identity_id: string };

export interface GatheringInput {
  readonly at: string;
  /** The complete list of each type. */
  readonly resources: readonly ResourceInput[];
  readonly identities: readonly IdentityInput[];
  /** The tenant's `identity_to_team`. */
  readonly teams?: Readonly<Record<string, string>>;
}

export async function gatherInto(
  stores: OpenedStores,
  tenantName: string,
  { at, resources, identities, teams = {} }: GatheringInput,
): Promise<void> {
  const { postgres } = stores;
  const owner = { tenantName, tenantId: tenantName, ecosystem: "generic_metrics_only", teams };
  await postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $1, 'generic_metrics_only') ON CONFLICT DO NOTHING",
    [tenantName],
  );
  const { sink } = createInventorySink({
    postgres,
    client: (await stores.tenant(tenantName)).client,
    owner,
    seenAt: at,
    signal: new AbortController().signal,
  });
  const common = { display_name: null, created_at: null, metadata: {} };
  await sink.resources(
    resources.map((each) => ({
      resource_type: "cluster",
      parent_id: null,
      owner_id: null,
      ...common,
      ...each,
    })),
  );
  await sink.identities(identities.map((each) => ({ identity_type: "principal", ...common, ...each })));
  await sink.flush();
  for (const [statement, type] of [
    [MARK_RESOURCES_DELETED, "cluster"],
    [MARK_IDENTITIES_DELETED, "principal"],
  ] as const) {
    await postgres.query(statement, [tenantName, at, [type], [0]]);
  }
}
