/** Gathers environments and their direct contents: Kafka clusters, schema registries, ksqlDB clusters. */
import { allOrStop } from "../../../../common/all-or-stop.js";
import type { ResourceRecord } from "../../../ecosystem.js";
import { fieldAt, inventoryText, lowerCase, timeAt } from "./fields.js";
import { forEach, type Listing, listResources } from "./listing.js";

/** Throws if the list fails, because everything else of an organisation depends on its environments. */
export async function gatherEnvironments(listing: Listing): Promise<ResourceRecord[]> {
  return await listResources(listing, "environments", { path: "org/v2/environments" }, (item) => {
    const id = inventoryText(item, "id");
    if (id === null) return undefined;
    return {
      resource_id: id,
      resource_type: "environment",
      display_name: inventoryText(item, "display_name"),
      parent_id: null,
      owner_id: null,
      created_at: timeAt(item, "metadata", "created_at"),
      metadata: { crn: inventoryText(item, "metadata", "resource_name") },
    };
  });
}

/** Throws if the list of any environment fails, for the same reason. */
export async function gatherClusters(
  listing: Listing,
  environments: readonly ResourceRecord[],
): Promise<ResourceRecord[]> {
  const lists = await allOrStop(
    listing.stop,
    environments.map(({ resource_id: environment }) =>
      listing.limit(() =>
        listResources(listing, "clusters", { path: "cmk/v2/clusters", query: { environment } }, (item) =>
          inEnvironment(item, environment, "kafka_cluster", {
            bootstrap_url: inventoryText(item, "spec", "kafka_bootstrap_endpoint"),
            ...cloudAndRegion(item),
            provider_cloud: inventoryText(item, "spec", "cloud"),
            provider_region: inventoryText(item, "spec", "region"),
          }),
        ),
      ),
    ),
  );
  return lists.flat();
}

export async function gatherSchemaRegistries(listing: Listing, environments: readonly ResourceRecord[]) {
  await forEach(listing, "schema registries", environments, ({ resource_id: environment }) =>
    listResources(
      listing,
      "schema registries",
      { path: "srcm/v3/clusters", query: { environment }, pageSize: 50 },
      (item) =>
        inEnvironment(item, environment, "schema_registry", {
          http_endpoint: inventoryText(item, "spec", "http_endpoint"),
          ...cloudAndRegion(item),
        }),
    ),
  );
}

export async function gatherKsqlClusters(listing: Listing, environments: readonly ResourceRecord[]) {
  await forEach(listing, "ksqlDB clusters", environments, ({ resource_id: environment }) =>
    listResources(
      listing,
      "ksqlDB clusters",
      { path: "ksqldbcm/v2/clusters", query: { environment } },
      (item) => {
        const cluster = inEnvironment(item, environment, "ksqldb_cluster", {
          kafka_cluster_id: inventoryText(item, "spec", "kafka_cluster", "id"),
          csu_count: fieldAt(item, "spec", "csu") ?? null,
        });
        return cluster && { ...cluster, owner_id: inventoryText(item, "spec", "credential_identity", "id") };
      },
    ),
  );
}

/** A resource in the format that most lists share. Undefined without an id. */
export function inEnvironment(
  item: unknown,
  environment: string,
  type: string,
  metadata: Readonly<Record<string, unknown>>,
): ResourceRecord | undefined {
  const id = inventoryText(item, "id");
  if (id === null) return undefined;
  return {
    resource_id: id,
    resource_type: type,
    display_name: inventoryText(item, "spec", "display_name"),
    parent_id: inventoryText(item, "spec", "environment", "id") ?? environment,
    owner_id: null,
    created_at: timeAt(item, "metadata", "created_at"),
    metadata: { ...metadata, crn: inventoryText(item, "metadata", "resource_name") },
  };
}

/** Cloud and region in lower case, because endpoints spell regions differently. */
export function cloudAndRegion(item: unknown): { cloud: string | null; region: string | null } {
  return {
    cloud: lowerCase(inventoryText(item, "spec", "cloud")),
    region: lowerCase(inventoryText(item, "spec", "region")),
  };
}
