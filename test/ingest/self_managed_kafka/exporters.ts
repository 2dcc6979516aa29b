/**
 * A day of a small cluster as four exporters show it, in the form that each of them writes and Prometheus stores:
 * the exporter's own labels, and those that scraping adds. All of them show the same topics:
 *
 * - `payments.orders` has two partitions on two brokers. 3 MiB a minute are written and 4 MiB read. Broker 1, which
 *   leads the first partition, is restarted in the middle of an hour. 10 GiB and 5 GiB are stored, twice.
 * - `search.clicks` appears at 12:30 with one partition on broker 2: 4 MiB a minute are written, and 8 GiB stored.
 * - `__consumer_offsets` has one partition on both brokers: 1 MiB a minute is written, and 1 GiB stored, twice.
 *
 * A second cluster is monitored by the same Prometheus. Its series must not count.
 */
import { midnightSeconds } from "../../../src/common/days.js";

export const MIB = 2 ** 20;
export const GIB = 2 ** 30;
const MINUTE = 60;
const DAY_MINUTES = 1440;
/** Samples begin an hour before the day. */
const BEFORE = 60;
const RESTART = BEFORE + 10 * 60 + 23;
const APPEARS = BEFORE + 12 * 60 + 30;

type Labels = Readonly<Record<string, string>>;
type ValueAt = (minute: number) => number;

/** The series of one metric. */
interface Family {
  readonly type: "counter" | "gauge";
  readonly name: string;
  readonly series: readonly (readonly [Labels, ValueAt, from?: number])[];
}

/** Returns the text that `promtool` turns into blocks. */
export function exposition(day: string, families: readonly Family[]): string {
  const start = midnightSeconds(day) - BEFORE * MINUTE;
  const minutes = Array.from({ length: BEFORE + DAY_MINUTES + 1 }, (_, minute) => minute);
  const lines = families.flatMap(({ type, name, series }) => [
    `# TYPE ${type === "counter" ? name.replace(/_total$/, "") : name} ${type}`,
    ...series.flatMap(([labels, valueAt, from = 0]) =>
      minutes
        .filter((minute) => minute >= from)
        .map((minute) => `${name}${labelText(labels)} ${valueAt(minute)} ${start + minute * MINUTE}`),
    ),
  ]);
  return [...lines, "# EOF", ""].join("\n");
}

function labelText(labels: Labels): string {
  const escaped = (value: string) =>
    value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `{${Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)}}`;
}

const always =
  (value: number): ValueAt =>
  () =>
    value;
const growing =
  (mib: number): ValueAt =>
  (minute) =>
    mib * MIB * (minute + 7);
const restarted =
  (mib: number): ValueAt =>
  (minute) =>
    mib * MIB * (minute >= RESTART ? minute - RESTART + 1 : minute + 7);
const fromZero =
  (mib: number): ValueAt =>
  (minute) =>
    mib * MIB * (minute - APPEARS);

const ORDERS = { topic: "payments.orders" };
const CLICKS = { topic: "search.clicks" };
const OFFSETS = { topic: "__consumer_offsets" };

/** Labels that scraping adds: for a broker of the cluster, and for one of the other cluster. */
interface Scraped {
  broker(number: number): Labels;
  readonly other: Labels;
}

/** The stock rules of the JMX exporter: topics, and beside them a series of each broker for the sum of its topics. */
function jmxFamilies({ broker, other }: Scraped): Family[] {
  const [one, two] = [broker(1), broker(2)];
  const log = (topic: Labels, partition: string) => ({ partition, ...topic });
  return [
    {
      type: "counter",
      name: "kafka_server_brokertopicmetrics_bytesin_total",
      series: [
        [{ ...ORDERS, ...one }, restarted(2)],
        [{ ...ORDERS, ...two }, growing(1)],
        [{ ...CLICKS, ...two }, fromZero(4), APPEARS],
        [{ ...OFFSETS, ...one }, restarted(1)],
        [one, restarted(3)],
        [two, growing(5)],
        [{ ...ORDERS, ...other }, growing(50)],
      ],
    },
    {
      type: "counter",
      name: "kafka_server_brokertopicmetrics_bytesout_total",
      series: [
        [{ ...ORDERS, ...one }, restarted(4)],
        [{ ...ORDERS, ...two }, growing(0)],
        [one, restarted(4)],
        [{ ...ORDERS, ...other }, growing(50)],
      ],
    },
    {
      type: "counter",
      name: "kafka_server_brokertopicmetrics_replicationbytesin_total",
      series: [
        [one, restarted(1)],
        [two, growing(3)],
      ],
    },
    {
      type: "gauge",
      name: "kafka_log_log_size",
      series: logSizes(log, { one, two, other }),
    },
  ];
}

/** The sizes of the logs of two brokers, and of one of another cluster. */
function logSizes(
  log: (topic: { readonly topic: string }, partition: string) => Labels,
  { one, two, other }: Readonly<Record<"one" | "two" | "other", Labels>>,
): Family["series"] {
  return [
    [{ ...log(ORDERS, "0"), ...one }, always(10 * GIB)],
    [{ ...log(ORDERS, "0"), ...two }, always(10 * GIB)],
    [{ ...log(ORDERS, "1"), ...one }, always(5 * GIB)],
    [{ ...log(ORDERS, "1"), ...two }, always(5 * GIB)],
    [{ ...log(CLICKS, "0"), ...two }, always(8 * GIB), APPEARS],
    [{ ...log(OFFSETS, "0"), ...one }, always(GIB)],
    [{ ...log(OFFSETS, "0"), ...two }, always(GIB)],
    [{ ...log(ORDERS, "7"), ...other }, always(900 * GIB)],
  ];
}

/** Redpanda: public metrics, and those of `/metrics`, which have other names of labels. */
function redpandaFamilies(): Family[] {
  const scraped = (number: number) => ({ instance: `redpanda-${number}:9644`, cluster: "orders" });
  const [one, two] = [scraped(1), scraped(2)];
  const other = { instance: "redpanda-9:9644", cluster: "other" };
  const named = ({ topic }: { readonly topic: string }) => ({
    redpanda_namespace: "kafka",
    redpanda_topic: topic,
  });
  const requests = (topic: { readonly topic: string }, redpanda_request: string) => ({
    ...named(topic),
    redpanda_request,
  });
  const log = (topic: Labels, partition: string) => ({ namespace: "kafka", partition, ...topic });
  return [
    {
      type: "counter",
      name: "redpanda_kafka_request_bytes_total",
      series: [
        [{ ...requests(ORDERS, "produce"), ...one }, restarted(2)],
        [{ ...requests(ORDERS, "produce"), ...two }, growing(1)],
        [{ ...requests(ORDERS, "consume"), ...one }, restarted(3)],
        [{ ...requests(ORDERS, "consume"), ...two }, growing(1)],
        // Reads from the follower on broker 2, which are part of its reads.
        [{ ...requests(ORDERS, "follower_consume"), ...two }, growing(1)],
        [{ ...requests(CLICKS, "produce"), ...two }, fromZero(4), APPEARS],
        [{ ...requests(OFFSETS, "produce"), ...one }, restarted(1)],
        [{ ...requests(ORDERS, "produce"), ...other }, growing(50)],
      ],
    },
    {
      type: "gauge",
      name: "redpanda_kafka_partitions",
      series: [
        ...[one, two].flatMap((broker) => [
          [{ ...named(ORDERS), ...broker }, always(2)] as const,
          [{ ...named(CLICKS), ...broker }, always(1), APPEARS] as const,
          [{ ...named(OFFSETS), ...broker }, always(1)] as const,
        ]),
        [{ ...named(ORDERS), ...other }, always(70)],
      ],
    },
    {
      type: "gauge",
      name: "vectorized_storage_log_partition_size",
      series: logSizes(log, { one, two, other }),
    },
  ];
}

/** kafka_exporter: no bytes and no brokers, but partitions and offsets. Two copies of it run. */
function kafkaExporterFamilies(): Family[] {
  const copies = ["a", "b"].map((name) => ({ instance: `exporter-${name}:9308`, cluster: "orders" }));
  const other = { instance: "exporter-z:9308", cluster: "other" };
  const messages =
    (perMinute: number): ValueAt =>
    (minute) =>
      perMinute * (minute + 7);
  return [
    {
      type: "gauge",
      name: "kafka_broker_info",
      series: [
        [{ address: "kafka-1:9092", id: "1", ...copies[0] }, always(1)],
        [{ address: "kafka-2:9092", id: "2", ...copies[0] }, always(1)],
        [{ address: "kafka-9:9092", id: "9", ...other }, always(1)],
      ],
    },
    {
      type: "gauge",
      name: "kafka_topic_partitions",
      series: [
        ...copies.flatMap((copy) => [
          [{ ...ORDERS, ...copy }, always(2)] as const,
          [{ ...CLICKS, ...copy }, always(1), APPEARS] as const,
          [{ ...OFFSETS, ...copy }, always(1)] as const,
        ]),
        [{ ...ORDERS, ...other }, always(70)],
      ],
    },
    {
      type: "gauge",
      name: "kafka_topic_partition_current_offset",
      series: [
        ...copies.flatMap((copy) => [
          [{ partition: "0", ...ORDERS, ...copy }, messages(100)] as const,
          [{ partition: "1", ...ORDERS, ...copy }, messages(50)] as const,
          [
            { partition: "0", ...CLICKS, ...copy },
            (minute: number) => 10 * (minute - APPEARS),
            APPEARS,
          ] as const,
          [{ partition: "0", ...OFFSETS, ...copy }, messages(5)] as const,
        ]),
        [{ partition: "0", ...ORDERS, ...other }, messages(999)],
      ],
    },
  ];
}

/** By preset: the series of the exporter, and the selector of the cluster. */
export const exporters = {
  jmx: {
    families: jmxFamilies({
      broker: (number) => ({ instance: `kafka-${number}:7071`, cluster: "orders" }),
      other: { instance: "kafka-9:7071", cluster: "other" },
    }),
    selector: 'cluster="orders"',
    brokers: ["kafka-1:7071", "kafka-2:7071"],
  },
  strimzi: {
    families: jmxFamilies({
      broker: (number) => ({
        instance: `10.0.0.${number}:9404`,
        kubernetes_pod_name: `orders-broker-${number}`,
        namespace: "kafka",
        strimzi_io_cluster: "orders",
        strimzi_io_kind: "Kafka",
      }),
      // A cluster that Strimzi does not run, in the same Prometheus.
      other: { instance: "kafka-9:7071" },
    }),
    selector: undefined,
    brokers: ["orders-broker-1", "orders-broker-2"],
  },
  redpanda: {
    families: redpandaFamilies(),
    selector: 'cluster="orders"',
    brokers: ["redpanda-1:9644", "redpanda-2:9644"],
  },
  kafka_exporter: {
    families: kafkaExporterFamilies(),
    selector: 'cluster="orders"',
    brokers: ["1", "2"],
  },
} as const;
