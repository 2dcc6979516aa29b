/** Gathers Flink compute pools of every environment, and the statements of pools in regions with a key. */
import type { ResourceRecord } from "../../../ecosystem.js";
import type { ConfluentApi } from "../api/client.js";
import { crnValue, parseCrn } from "../crn.js";
import { principalId } from "../owners.js";
import { segment } from "./connectors.js";
import { cloudAndRegion, inEnvironment } from "./environments.js";
import { inventoryText, timeAt } from "./fields.js";
import { forEach, type Listing, listResources } from "./listing.js";

/** Returns the API of a region, or undefined if there is no key for it. */
export type FlinkRegions = (region: string, cloud: string) => ConfluentApi | undefined;

export async function gatherFlink(
  listing: Listing,
  regions: FlinkRegions,
  environments: readonly ResourceRecord[],
): Promise<{ readonly poolsWithoutKey: readonly string[] }> {
  const { tally } = listing;
  const lists = await forEach(listing, "compute pools", environments, ({ resource_id: environment }) =>
    listResources(
      listing,
      "compute pools",
      { path: "fcpm/v2/compute-pools", query: { environment }, pageSize: 50 },
      (item) =>
        inEnvironment(item, environment, "flink_compute_pool", {
          ...cloudAndRegion(item),
          is_allocatable: regionApi(item, regions) !== undefined,
        }),
    ),
  );
  const pools = lists.flat().map((pool) => ({ pool, api: regionApi({ spec: pool.metadata }, regions) }));
  const accessible = pools.flatMap(({ pool, api }) => (api === undefined ? [] : [{ pool, api }]));
  // If a list of pools is missing, or no pool may be queried, statements that are not returned may still exist.
  if (lists.length < environments.length || accessible.length === 0) tally.leaveOut("statements");
  await forEach(listing, "statements", accessible, ({ pool, api }) => gatherStatements(listing, pool, api));
  return {
    poolsWithoutKey: pools.filter(({ api }) => api === undefined).map(({ pool }) => pool.resource_id),
  };
}

function regionApi(item: unknown, regions: FlinkRegions): ConfluentApi | undefined {
  const { cloud, region } = cloudAndRegion(item);
  return cloud === null || region === null ? undefined : regions(region, cloud);
}

async function gatherStatements(listing: Listing, pool: ResourceRecord, api: ConfluentApi): Promise<void> {
  const organization = crnValue(parseCrn(String(pool.metadata.crn)), "organization");
  if (organization === undefined) {
    listing.tally.fail("statements", `the compute pool ${pool.resource_id} does not name its organisation`);
    return;
  }
  const environment = pool.parent_id ?? "";
  const path = `sql/v1/organizations/${segment(organization)}/environments/${segment(environment)}/statements`;
  const query = { "spec.compute_pool_id": pool.resource_id };
  await listResources(listing, "statements", { api, path, query, pageSize: 50 }, (item) =>
    statementRecord(item, environment),
  );
}

const STOPPED_PHASES: ReadonlySet<string> = new Set(["COMPLETED", "FAILED", "STOPPED"]);

/**
 * A statement belongs to the pool that it names itself, whichever pool was queried. The vendor does not state when it
 * stopped. The last change of a stopped statement is used instead, so that earlier days still find it running.
 */
function statementRecord(item: unknown, environment: string): ResourceRecord | undefined {
  const name = inventoryText(item, "name");
  const created = timeAt(item, "metadata", "created_at");
  const id = inventoryText(item, "metadata", "uid") ?? (name && statementKey(environment, name, created));
  if (id === null) return undefined;
  const phase = inventoryText(item, "status", "phase")?.toUpperCase() ?? null;
  const stopped = phase !== null && STOPPED_PHASES.has(phase);
  return {
    resource_id: id,
    resource_type: "flink_statement",
    display_name: name,
    parent_id: environment,
    owner_id: principalId(inventoryText(item, "spec", "principal")),
    created_at: created,
    metadata: {
      statement_name: name,
      compute_pool_id: inventoryText(item, "spec", "compute_pool_id"),
      phase,
      is_stopped: stopped,
      stopped_at: stopped ? timeAt(item, "metadata", "updated_at") : null,
    },
  };
}

/** A name is unique in its environment, but may be reused once its statement is gone. */
function statementKey(environment: string, name: string, created: string | null): string {
  return created === null ? `${environment}/${name}` : `${environment}/${name}@${created}`;
}
