/** Gathers the cluster, its brokers and topics, and the principals or owners of topics that use it, as they are now. */
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
  TOPIC_OWNER,
  topicOwnerRecord,
} from "../../metered/identities.js";
import { discovers, type MeteredIdentitySource } from "../../metered/identity-source.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import type { InventoryReport } from "../../reports.js";
import { describeCluster } from "./kafka/describe-cluster.js";
import type { BrokerMetadata } from "./kafka/metadata-request.js";
import { discoveryQuery, TOPIC_LABEL } from "./queries.js";
import {
  clusterRecord,
  type DiscoveredNames,
  describedResources,
  discoveredResources,
  ownerlessTopics,
} from "./records.js";
import type { SelfManagedKafkaSettings } from "./settings.js";
import type { OwnerOf } from "./topic-owners.js";

const RESOURCE_TYPES = ["cluster", "broker", "topic"] as const;
/**
 * Metrics show an entity only while it is active. In the cluster's own response, a broker is missing while it restarts.
 */
const SEEN_IN_METRICS_GRACE_SECONDS = 8 * DAY_SECONDS;
const RESTARTING_GRACE_SECONDS = DAY_SECONDS;

export interface InventoryConnection {
  readonly source: PrometheusSource;
  readonly stepSeconds: number;
  readonly ownerOf: OwnerOf;
  readonly logger: Logger;
}

export async function gatherKafkaInventory(
  settings: SelfManagedKafkaSettings,
  connection: InventoryConnection,
  sink: InventorySink,
  signal: AbortSignal,
): Promise<InventoryReport> {
  const { identity_source: identitySource, resource_source: resourceSource } = settings;
  const { ownerOf } = connection;
  const identityType = settings.usage_by === "topic" ? TOPIC_OWNER : PRINCIPAL;
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
  if (discovered !== undefined) notePrincipals(settings, discovered, connection.logger);

  const parts = usesAdminApi
    ? described && describedResources(settings, described, ownerOf)
    : discovered && discoveredResources(settings, discovered, ownerOf);
  await sink.resources([clusterRecord(settings, described), ...(parts ?? [])]);
  const ownerless = ownerlessTopics(settings, parts ?? []);
  return {
    ...(ownerless !== undefined && { notes: [ownerless] }),
    completeResourceTypes: parts === undefined ? ["cluster"] : RESOURCE_TYPES,
    completeIdentityTypes: await sendIdentities(identitySource, identityType, discovered?.principals, sink),
    absenceGraceSeconds: {
      [identityType]: PRINCIPAL_GRACE_SECONDS,
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
  discoveredType: typeof PRINCIPAL | typeof TOPIC_OWNER,
  discovered: readonly string[] | undefined,
  sink: InventorySink,
): Promise<string[]> {
  const recordOf = discoveredType === PRINCIPAL ? principalRecord : topicOwnerRecord;
  const named = namedIdentities(source);
  const types = new Set(named.map(({ identity_type }) => identity_type));
  await sink.identities(named);
  if (!discovers(source)) return [...types];
  if (discovered === undefined) types.delete(discoveredType);
  else {
    const known = new Set(named.map(({ identity_id }) => identity_id));
    await sink.identities(discovered.filter((id) => !known.has(id)).map((id) => recordOf(source, id)));
    types.add(discoveredType);
  }
  return [...types];
}

async function discover(
  settings: SelfManagedKafkaSettings,
  { source, stepSeconds, ownerOf }: InventoryConnection,
  signal: AbortSignal,
): Promise<DiscoveredNames> {
  const series = await source.labelsNow(discoveryQuery(settings), stepSeconds, signal);
  const topics = labelValues(series, TOPIC_LABEL);
  return {
    brokers: labelValues(series, "broker"),
    topics,
    principals:
      settings.usage_by === "topic"
        ? [...new Set(topics.flatMap((topic) => ownerOf(topic) ?? []))].sort()
        : labelValues(series, settings.identity_source.label),
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
  { identity_source: source, usage_by }: SelfManagedKafkaSettings,
  { principals }: DiscoveredNames,
  logger: Logger,
): void {
  if (!discovers(source) || principals.length > 0) return;
  if (usage_by === "topic")
    logger.warn("no topic of the discovery query has an owner: costs cannot be divided among owners");
  else
    logger.warn(
      { label: source.label },
      "no series of the discovery query has the label of identities: costs cannot be divided among principals",
    );
}
