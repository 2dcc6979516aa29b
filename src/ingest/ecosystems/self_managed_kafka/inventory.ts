/** The cluster, its brokers and topics, and the principals that use it, as they are now. */
import type { Logger } from "pino";
import { DAY_SECONDS } from "../../../time/days.js";
import { UpstreamError } from "../../../upstream-http/upstream-error.js";
import type { InventorySink } from "../../ecosystem.js";
import {
  labelValues,
  namedIdentities,
  PRINCIPAL,
  PRINCIPAL_GRACE_SECONDS,
  principalRecord,
} from "../../metered/identities.js";
import { discovers, type IdentitySource } from "../../metered/identity-source.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import type { InventoryReport } from "../../reports.js";
import { describeCluster } from "./kafka/describe-cluster.js";
import type { KafkaCluster } from "./kafka/metadata-request.js";
import { discoveryQuery } from "./queries.js";
import { clusterRecord, describedResources, type Seen, seenResources } from "./records.js";
import type { SelfManagedKafkaSettings } from "./settings.js";

const RESOURCE_TYPES = ["cluster", "broker", "topic"] as const;
/** Seen in metrics only while it works; in the cluster's own answer a broker is missing while it restarts. */
const SEEN_IN_METRICS_GRACE_SECONDS = 8 * DAY_SECONDS;
const RESTARTING_GRACE_SECONDS = DAY_SECONDS;

export interface InventoryConnection {
  readonly source: PrometheusSource;
  readonly stepSeconds: number;
  readonly logger: Logger;
}

export async function gatherInventory(
  settings: SelfManagedKafkaSettings,
  connection: InventoryConnection,
  sink: InventorySink,
  signal: AbortSignal,
): Promise<InventoryReport> {
  const { identity_source: identitySource, resource_source: resourceSource } = settings;
  const asksCluster = resourceSource.source === "admin_api";
  const asksMetrics = !asksCluster || discovers(identitySource);
  const errors: string[] = [];
  const attempt = async <Found>(asked: boolean, what: string, ask: () => Promise<Found>) => {
    try {
      return asked ? await ask() : undefined;
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      errors.push(`${what} failed: ${error.message}`);
      return undefined;
    }
  };
  const [seen, described] = await Promise.all([
    attempt(asksMetrics, "discovery in metrics", () => discover(settings, connection, signal)),
    attempt(asksCluster, "the Kafka admin API", () => describeCluster(resourceSource, signal)),
  ]);
  if (described !== undefined) noteBrokerCount(settings, described, connection.logger);
  if (seen !== undefined) notePrincipals(identitySource, seen, connection.logger);

  const parts = asksCluster
    ? described && describedResources(settings, described)
    : seen && seenResources(settings, seen);
  await sink.resources([clusterRecord(settings, described), ...(parts ?? [])]);
  return {
    completeResourceTypes: parts === undefined ? ["cluster"] : RESOURCE_TYPES,
    completeIdentityTypes: await sendIdentities(identitySource, seen?.principals, sink),
    absenceGraceSeconds: {
      [PRINCIPAL]: PRINCIPAL_GRACE_SECONDS,
      broker: asksCluster ? RESTARTING_GRACE_SECONDS : SEEN_IN_METRICS_GRACE_SECONDS,
      ...(asksCluster ? {} : { topic: SEEN_IN_METRICS_GRACE_SECONDS }),
    },
    errors,
    // Who pays for a day is said by that day's metrics, and by the configuration.
    daysNeedIt: false,
  };
}

/** Named identities, and those that were seen: undefined when nobody could look. Returns the types that are complete. */
async function sendIdentities(
  source: IdentitySource,
  seen: readonly string[] | undefined,
  sink: InventorySink,
): Promise<string[]> {
  const named = namedIdentities(source);
  const types = new Set(named.map(({ identity_type }) => identity_type));
  await sink.identities(named);
  if (!discovers(source)) return [...types];
  if (seen === undefined) types.delete(PRINCIPAL);
  else {
    const known = new Set(named.map(({ identity_id }) => identity_id));
    await sink.identities(seen.filter((id) => !known.has(id)).map((id) => principalRecord(source, id)));
    types.add(PRINCIPAL);
  }
  return [...types];
}

async function discover(
  settings: SelfManagedKafkaSettings,
  { source, stepSeconds }: InventoryConnection,
  signal: AbortSignal,
): Promise<Seen> {
  const series = await source.labelsNow(discoveryQuery(settings), stepSeconds, signal);
  return {
    brokers: labelValues(series, "broker"),
    topics: labelValues(series, "topic"),
    principals: labelValues(series, settings.identity_source.label),
  };
}

function noteBrokerCount(
  { cluster_id, broker_count }: SelfManagedKafkaSettings,
  cluster: KafkaCluster,
  logger: Logger,
) {
  if (cluster.brokers.length === broker_count) return;
  logger.warn(
    { cluster_id, brokers: cluster.brokers.length, broker_count },
    "the cluster has another number of brokers than broker_count, which is what is billed",
  );
}

function notePrincipals(source: IdentitySource, { principals }: Seen, logger: Logger): void {
  if (!discovers(source) || principals.length > 0) return;
  logger.warn(
    { label: source.label },
    "no series of the discovery query has the label of identities: costs cannot be divided among principals",
  );
}
