/** Gathers the cluster, its brokers and topics, and the principals that use it, as they are now. */
import type { Logger } from "pino";
import { DAY_SECONDS } from "../../../common/days.js";
import { UpstreamError } from "../../../upstream/http/upstream-error.js";
import type { InventorySink } from "../../ecosystem.js";
import {
  labelValues,
  namedIdentities,
  PRINCIPAL,
  PRINCIPAL_GRACE_SECONDS,
  principalRecord,
} from "../../metered/identities.js";
import { discovers, type MeteredIdentitySource } from "../../metered/identity-source.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import type { InventoryReport } from "../../reports.js";
import { describeCluster } from "./kafka/describe-cluster.js";
import type { BrokerMetadata } from "./kafka/metadata-request.js";
import { discoveryQuery } from "./queries.js";
import { clusterRecord, type DiscoveredNames, describedResources, discoveredResources } from "./records.js";
import type { SelfManagedKafkaSettings } from "./settings.js";

const RESOURCE_TYPES = ["cluster", "broker", "topic"] as const;
/**
 * Metrics show an entity only while it is active. In the cluster's own response, a broker is missing while it restarts.
 */
const SEEN_IN_METRICS_GRACE_SECONDS = 8 * DAY_SECONDS;
const RESTARTING_GRACE_SECONDS = DAY_SECONDS;

export interface InventoryConnection {
  readonly source: PrometheusSource;
  readonly stepSeconds: number;
  readonly logger: Logger;
}

export async function gatherKafkaInventory(
  settings: SelfManagedKafkaSettings,
  connection: InventoryConnection,
  sink: InventorySink,
  signal: AbortSignal,
): Promise<InventoryReport> {
  const { identity_source: identitySource, resource_source: resourceSource } = settings;
  const usesAdminApi = resourceSource.source === "admin_api";
  const usesMetrics = !usesAdminApi || discovers(identitySource);
  const errors: string[] = [];
  const attempt = async <Found>(isNeeded: boolean, what: string, request: () => Promise<Found>) => {
    try {
      return isNeeded ? await request() : undefined;
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      errors.push(`${what} failed: ${error.message}`);
      return undefined;
    }
  };
  const [discovered, described] = await Promise.all([
    attempt(usesMetrics, "discovery in metrics", () => discover(settings, connection, signal)),
    attempt(usesAdminApi, "the Kafka admin API", () => describeCluster(resourceSource, signal)),
  ]);
  if (described !== undefined) noteBrokerCount(settings, described, connection.logger);
  if (discovered !== undefined) notePrincipals(identitySource, discovered, connection.logger);

  const parts = usesAdminApi
    ? described && describedResources(settings, described)
    : discovered && discoveredResources(settings, discovered);
  await sink.resources([clusterRecord(settings, described), ...(parts ?? [])]);
  return {
    completeResourceTypes: parts === undefined ? ["cluster"] : RESOURCE_TYPES,
    completeIdentityTypes: await sendIdentities(identitySource, discovered?.principals, sink),
    absenceGraceSeconds: {
      [PRINCIPAL]: PRINCIPAL_GRACE_SECONDS,
      broker: usesAdminApi ? RESTARTING_GRACE_SECONDS : SEEN_IN_METRICS_GRACE_SECONDS,
      ...(usesAdminApi ? {} : { topic: SEEN_IN_METRICS_GRACE_SECONDS }),
    },
    errors,
    // A day's payers come from that day's metrics and from the configuration.
    requiredForDays: false,
  };
}

/**
 * Sends named identities, and those that were discovered, which are undefined if discovery failed. Returns the complete
 * types.
 */
async function sendIdentities(
  source: MeteredIdentitySource,
  discovered: readonly string[] | undefined,
  sink: InventorySink,
): Promise<string[]> {
  const named = namedIdentities(source);
  const types = new Set(named.map(({ identity_type }) => identity_type));
  await sink.identities(named);
  if (!discovers(source)) return [...types];
  if (discovered === undefined) types.delete(PRINCIPAL);
  else {
    const known = new Set(named.map(({ identity_id }) => identity_id));
    await sink.identities(discovered.filter((id) => !known.has(id)).map((id) => principalRecord(source, id)));
    types.add(PRINCIPAL);
  }
  return [...types];
}

async function discover(
  settings: SelfManagedKafkaSettings,
  { source, stepSeconds }: InventoryConnection,
  signal: AbortSignal,
): Promise<DiscoveredNames> {
  const series = await source.labelsNow(discoveryQuery(settings), stepSeconds, signal);
  return {
    brokers: labelValues(series, "broker"),
    topics: labelValues(series, "topic"),
    principals: labelValues(series, settings.identity_source.label),
  };
}

function noteBrokerCount(
  { cluster_id, broker_count }: SelfManagedKafkaSettings,
  cluster: BrokerMetadata,
  logger: Logger,
) {
  if (cluster.brokers.length === broker_count) return;
  logger.warn(
    { cluster_id, brokers: cluster.brokers.length, broker_count },
    "the cluster's number of brokers differs from broker_count, which is billed",
  );
}

function notePrincipals(
  source: MeteredIdentitySource,
  { principals }: DiscoveredNames,
  logger: Logger,
): void {
  if (!discovers(source) || principals.length > 0) return;
  logger.warn(
    { label: source.label },
    "no series of the discovery query has the label of identities: costs cannot be divided among principals",
  );
}
