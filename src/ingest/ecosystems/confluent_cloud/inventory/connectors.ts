/**
 * Gathers connectors, cluster by cluster. Their list is not paged: it is an object with an entry for each connector, by
 * name.
 *
 * Of a connector's configuration only the payer is stored, because the rest may contain credentials of other systems.
 */
import type { ResourceRecord } from "../../../ecosystem.js";
import { isJsonObject } from "../api/read-response.js";
import type { Owners } from "../owners.js";
import { fieldAt, inventoryText } from "./fields.js";
import { forEach, type Listing } from "./listing.js";

/** How a connector authenticates to its Kafka cluster. Other values are kept as they are. */
const SERVICE_ACCOUNT = "SERVICE_ACCOUNT";
const KAFKA_API_KEY = "KAFKA_API_KEY";
const UNKNOWN = "UNKNOWN";

/** `owners` also finds the payers, so the displayed owner is the one that pays. */
export async function gatherConnectors(
  listing: Listing,
  clusters: readonly ResourceRecord[],
  owners: Pick<Owners, "ofResource">,
): Promise<void> {
  const { cloud, sink, tally, signal } = listing;
  await forEach(listing, "connectors", clusters, async ({ resource_id: cluster, parent_id: environment }) => {
    const path = `connect/v1/environments/${segment(environment)}/clusters/${segment(cluster)}/connectors`;
    // A cluster that never had a connector may return 404.
    const options = { signal, notFound: "empty" } as const;
    const found = await cloud.get(path, { expand: "info,status,id" }, options);
    const entries = Object.entries(asObject(found));
    const connectors = entries
      .filter(([, item]) => isJsonObject(item))
      .map(([name, item]) => connectorRecord(name, item, cluster, environment))
      .map((record) => ({ ...record, owner_id: owners.ofResource(record) ?? null }));
    if (connectors.length < entries.length)
      tally.fail("connectors", "the response is not an object with an entry for each connector");
    if (connectors.length > 0) await sink.resources(connectors);
  });
}

function connectorRecord(
  name: string,
  item: unknown,
  cluster: string,
  environment: string | null,
): ResourceRecord {
  const config = fieldAt(item, "info", "config");
  const serviceAccount = inventoryText(config, "kafka.service.account.id");
  const apiKey = inventoryText(config, "kafka.api.key");
  const mode = authMode(inventoryText(config, "kafka.auth.mode"), serviceAccount, apiKey);
  return {
    resource_id: inventoryText(item, "id", "id") ?? name,
    resource_type: "connector",
    display_name: inventoryText(config, "name") ?? name,
    parent_id: cluster,
    owner_id: null,
    created_at: null, // the vendor does not say
    metadata: {
      kafka_auth_mode: mode,
      connector_class: inventoryText(config, "connector.class"),
      env_id: environment,
      ...(mode === SERVICE_ACCOUNT ? { kafka_service_account_id: serviceAccount } : {}),
      ...(mode === KAFKA_API_KEY ? { kafka_api_key: apiKey } : {}),
    },
  };
}

/** Derives the mode of older connectors, which do not name it. */
function authMode(written: string | null, serviceAccount: string | null, apiKey: string | null): string {
  if (written !== null) return written.trim().toUpperCase();
  if (apiKey !== null) return KAFKA_API_KEY;
  return serviceAccount === null ? UNKNOWN : SERVICE_ACCOUNT;
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** Encodes an id of the upstream for a path. */
export function segment(id: string | null): string {
  return encodeURIComponent(id ?? "");
}
