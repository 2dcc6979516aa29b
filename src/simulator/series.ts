/** The raw series of an organisation by metric name, as a Prometheus that scrapes it would store them. */
import {
  BROKERS,
  bytesMoved,
  bytesStored,
  type Cluster,
  type Direction,
  isPresent,
  type Organisation,
} from "./organisation.js";
import type { Listed } from "./selector.js";

export const KAFKA_BYTES_IN = "kafka_server_brokertopicmetrics_bytesin_total";
export const KAFKA_BYTES_OUT = "kafka_server_brokertopicmetrics_bytesout_total";
export const LOG_SIZE = "kafka_log_log_size";

export interface RawSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** The increase of a counter in an hour, or the value of a gauge. Undefined if the series has no samples then. */
  readonly inHour: (hour: number) => number | undefined;
  /**
   * Set for series of Confluent's exporter, which are gauges with a sample every minute: `delta` is the increase within
   * the minute, so that the samples of an hour add up; `level` is the current value. Undefined: one sample an hour.
   */
  readonly perMinute?: "delta" | "level";
}

/** The data of a Prometheus. */
export interface SeriesHistory {
  readonly now: () => number;
  readonly days: number;
  /** Series of a metric. May leave out series whose labels are not listed. */
  readonly series: SeriesOf;
}

export type SeriesOf = (metric: string, listed: Listed) => readonly RawSeries[];

/** Leaves out series of clusters that are not listed. */
export function rawSeries(all: Organisation, metric: string, { cluster: ids }: Listed = {}): RawSeries[] {
  const clusters = all.clusters.filter(({ id }) => ids?.includes(id) ?? true);
  const organisation = { ...all, clusters };
  if (metric === KAFKA_BYTES_IN) return moved(organisation, "in");
  if (metric === KAFKA_BYTES_OUT) return moved(organisation, "out");
  if (metric === LOG_SIZE) return stored(organisation);
  return [];
}

function moved(organisation: Organisation, direction: Direction): RawSeries[] {
  const ofPrincipal = (cluster: Cluster, principal: string, rank: number): RawSeries => ({
    labels: { cluster: cluster.id, broker: String(rank % BROKERS), topic: topicOf(cluster, rank), principal },
    inHour: (hour) =>
      isPresent(organisation, cluster, rank, Math.floor(hour / 24))
        ? bytesMoved(organisation, cluster, { rank, direction, hour })
        : undefined,
  });
  return organisation.clusters.flatMap((cluster) =>
    cluster.principals.map((principal, rank) => ofPrincipal(cluster, principal, rank)),
  );
}

/** Some principals share a topic. */
function topicOf({ name, principals }: Cluster, rank: number): string {
  return `${name}.events-${(rank % Math.ceil(principals.length / 3)) + 1}`;
}

function stored(organisation: Organisation): RawSeries[] {
  return organisation.clusters.flatMap((cluster) =>
    Array.from({ length: BROKERS }, (_, broker) => ({
      labels: { cluster: cluster.id, broker: String(broker) },
      inHour: (hour: number) => bytesStored(organisation, cluster, broker, hour),
    })),
  );
}
