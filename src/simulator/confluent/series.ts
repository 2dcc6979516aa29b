/** Series that a Prometheus would scrape from the vendor's metrics export. */
import { chance, hash } from "../hash.js";
import type { Listed } from "../selector.js";
import type { RawSeries, SeriesOf } from "../series.js";
import type { ComputePool } from "./flink.js";
import { hasKey } from "./keys.js";
import { existsAt } from "./lifetime.js";
import type { ConfluentOrganisation } from "./organisation.js";
import type { SimulatedCluster } from "./places.js";

const REQUEST_BYTES = "confluent_kafka_server_request_bytes";
const RESPONSE_BYTES = "confluent_kafka_server_response_bytes";
const RECEIVED_BYTES = "confluent_kafka_server_received_bytes";
const SENT_BYTES = "confluent_kafka_server_sent_bytes";
const RETAINED_BYTES = "confluent_kafka_server_retained_bytes";
const NUM_CFU = "confluent_flink_num_cfu";
const CFU_MINUTES = "confluent_flink_statement_utilization_cfu_minutes_consumed";

const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;

/** Series are created once for each metric and cluster (or pool), and indexed by the label that every query has. */
export function confluentSeries(organisation: ConfluentOrganisation): SeriesOf {
  const { clusters, pools } = organisation;
  const ofClusters = (make: (cluster: SimulatedCluster) => RawSeries[]) =>
    indexed(
      "kafka_id",
      clusters.map((cluster) => [cluster.id, () => make(cluster)]),
    );
  const ofPools = (metric: ComputePool["metric"]) =>
    indexed(
      "compute_pool_id",
      pools
        .filter((pool) => pool.metric === metric || metric === "cfu_minutes")
        .map((pool) => [pool.id, () => cfus(organisation, pool, metric)]),
    );
  const families: Readonly<Record<string, Lookup>> = {
    [REQUEST_BYTES]: ofClusters((cluster) => principals(organisation, cluster, "Produce")),
    [RESPONSE_BYTES]: ofClusters((cluster) => principals(organisation, cluster, "Fetch")),
    [RECEIVED_BYTES]: ofClusters((cluster) => topics(organisation, cluster, 111)),
    [SENT_BYTES]: ofClusters((cluster) => topics(organisation, cluster, 112)),
    [RETAINED_BYTES]: ofClusters((cluster) => retained(organisation, cluster)),
    [NUM_CFU]: ofPools("num_cfu"),
    [CFU_MINUTES]: ofPools("cfu_minutes"),
  };
  return (metric, listed) => families[metric]?.(listed) ?? [];
}

type Lookup = (listed: Listed) => readonly RawSeries[];

function indexed(label: string, entries: readonly (readonly [string, () => RawSeries[]])[]): Lookup {
  const makers = new Map(entries);
  const cache = new Map<string, RawSeries[]>();
  const seriesOf = (id: string) => {
    const known = cache.get(id) ?? makers.get(id)?.() ?? [];
    cache.set(id, known);
    return known;
  };
  return (listed) => (listed[label] ?? [...makers.keys()]).flatMap(seriesOf);
}

/**
 * A tenth of the identities work around the clock, four tenths in office hours, and the others for two hours at night.
 * The exporter has no samples of hours without traffic. So an identity has samples of six hours a day on average.
 */
function worksAt(kind: number, hourOfDay: number): boolean {
  if (kind < 0.1) return true;
  return kind < 0.5 ? hourOfDay >= 8 && hourOfDay < 16 : hourOfDay === 2 || hourOfDay === 3;
}

/** Caches the value of the latest day, because the hours of a day are evaluated one after another. */
function cachedByDay<T>(work: (day: number) => T): (day: number) => T {
  let last: { day: number; value: T } | undefined;
  return (day) => {
    if (last?.day !== day) last = { day, value: work(day) };
    return last.value;
  };
}

function principals(
  organisation: ConfluentOrganisation,
  cluster: SimulatedCluster,
  type: string,
): RawSeries[] {
  const { seed } = organisation;
  const side = type === "Produce" ? 101 : 102;
  return cluster.principals.flatMap((principal, rank) => {
    const kind = chance(seed, 103, cluster.index, rank);
    const restsOn = cachedByDay((day) => chance(seed, 104, cluster.index, rank, day) < 0.1);
    const bytes = (hour: number): number | undefined => {
      const at = hour * HOUR_MS;
      if (!worksAt(kind, hour % 24) || restsOn(Math.floor(hour / 24))) return undefined;
      if (!existsAt(cluster, at) || !existsAt(principal, at)) return undefined;
      return Math.floor((600 * MIB * (0.5 + chance(seed, side, cluster.index, rank, hour))) / (rank + 1));
    };
    const labels = { kafka_id: cluster.id, principal_id: labelOf(organisation, cluster, rank), type };
    const own: RawSeries = { labels, inHour: bytes, perMinute: "delta" };
    if (rank % 5 !== 4) return [own];
    // Some also request metadata all the time, which is another series of the same principal.
    const metadata = (hour: number) => (bytes(hour) === undefined ? undefined : 60 * 1024);
    return [own, { labels: { ...labels, type: "Metadata" }, inHour: metadata, perMinute: "delta" }];
  });
}

/** Most principals have their own id as label, some an API key, which may have been deleted. */
function labelOf(organisation: ConfluentOrganisation, cluster: SimulatedCluster, rank: number): string {
  const principal = cluster.principals[rank]?.id ?? "";
  if (rank % 6 !== 3 || !hasKey(organisation, cluster, rank)) return principal;
  return (
    organisation.keysOfClusters.get(cluster.id)?.find(({ owner }) => owner?.id === principal)?.id ?? principal
  );
}

function topics({ seed }: ConfluentOrganisation, cluster: SimulatedCluster, side: number): RawSeries[] {
  return cluster.topics.map((topic, rank) => ({
    labels: { kafka_id: cluster.id, topic },
    perMinute: "delta",
    inHour: (hour) => {
      if (!existsAt(cluster, hour * HOUR_MS) || hash(seed, side, cluster.index, rank) % 9 === 8)
        return undefined;
      return Math.floor((400 * MIB * (0.5 + chance(seed, side, cluster.index, rank, hour))) / (rank + 1));
    },
  }));
}

function retained({ seed }: ConfluentOrganisation, cluster: SimulatedCluster): RawSeries[] {
  return cluster.topics.map((topic, rank) => ({
    labels: { kafka_id: cluster.id, topic },
    perMinute: "level",
    inHour: (hour) => {
      if (!existsAt(cluster, hour * HOUR_MS)) return undefined;
      const growth = 1 + (hour % 8760) / 8760 + 0.01 * chance(seed, 113, cluster.index, rank, hour);
      return Math.floor((40_000 * MIB * growth) / (rank + 1));
    },
  }));
}

/** `num_cfu` is the number of CFUs at each minute. `cfu_minutes` is what was used within the minute. */
function cfus(
  { seed }: ConfluentOrganisation,
  pool: ComputePool,
  metric: ComputePool["metric"],
): RawSeries[] {
  return pool.statements.map((statement, index) => ({
    labels: {
      compute_pool_id: pool.id,
      flink_statement_name: statement.name,
      flink_statement_uid: statement.uid,
    },
    perMinute: metric === "num_cfu" ? "level" : "delta",
    inHour: (hour) => {
      const at = hour * HOUR_MS;
      if (!existsAt(pool, at) || !existsAt(statement, at)) return undefined;
      const cfu = 1 + (hash(seed, 121, pool.index, index, Math.floor(hour / 6)) % 4);
      return metric === "num_cfu" ? cfu : cfu * 60;
    },
  }));
}
