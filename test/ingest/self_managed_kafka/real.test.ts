/**
 * A real Prometheus that has scraped two brokers every minute, one of which was restarted: the default queries of
 * `self_managed_kafka`, with amounts calculated by hand.
 */
import t from "tap";
import { midnightSeconds } from "../../../src/common/days.js";
import { holds } from "../../holds.js";
import { needs } from "../../programs.js";
import { daysAgo, forever } from "../generic_metrics_only/tenant.js";
import { PASSWORD, startRealPrometheus } from "../prometheus/real-prometheus.js";
import { recordingSink } from "../recording-sink.js";
import { connectKafka } from "./tenant.js";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const MINUTE = 60;
const [first, second, third] = [daysAgo(4), daysAgo(3), daysAgo(2)];
const from = midnightSeconds(first) - 3600;
const minutes = (midnightSeconds(third) - from) / MINUTE;
/** Broker 1 is restarted in the middle of an hour of the first day: its counters begin at 0 again. */
const restart = 60 + 10 * 60 + 23;

const each = (series: string, valueAt: (minute: number) => number) =>
  Array.from(
    { length: minutes + 1 },
    (_, minute) => `${series} ${valueAt(minute)} ${from + minute * MINUTE}`,
  );

/** A counter of so many MiB a minute. */
const counter = (series: string, mib: number, restarted = false) =>
  each(series, (minute) => mib * MIB * (restarted && minute >= restart ? minute - restart + 1 : minute + 7));

const labels = (broker: number, topic: string, principal: string, cluster = "orders") =>
  `{cluster="${cluster}",broker="${broker}",topic="${topic}",principal="${principal}"}`;

const IN = "kafka_server_brokertopicmetrics_bytesin";
const OUT = "kafka_server_brokertopicmetrics_bytesout";
const openMetrics = [
  `# TYPE ${IN} counter`,
  ...counter(`${IN}_total${labels(1, "events", "User:alice")}`, 2, true),
  ...counter(`${IN}_total${labels(2, "events", "User:bob")}`, 1),
  // The aggregate of all topics that some exporters add, and another cluster: both must not be counted.
  ...counter(`${IN}_total{cluster="orders",broker="1"}`, 3),
  ...counter(`${IN}_total${labels(1, "events", "User:eve", "other")}`, 50),
  `# TYPE ${OUT} counter`,
  ...counter(`${OUT}_total${labels(1, "events", "User:bob")}`, 4, true),
  ...counter(`${OUT}_total${labels(1, "events", "User:alice")}`, 0),
  "# TYPE kafka_log_log_size gauge",
  ...each('kafka_log_log_size{cluster="orders",broker="1",topic="events"}', () => 10 * GIB),
  ...each('kafka_log_log_size{cluster="orders",broker="2",topic="events"}', () => 15 * GIB),
  ...each('kafka_log_log_size{cluster="other",broker="1",topic="events"}', () => 900 * GIB),
  "# EOF",
  "",
].join("\n");

t.test("self-managed Kafka works on a real Prometheus", needs("prometheus", "promtool"), async (t) => {
  const { url } = await startRealPrometheus(t, openMetrics);
  const metrics = { url, auth_type: "basic", username: "me", password: PASSWORD };
  const gather = async (settings: Readonly<Record<string, unknown>>) => {
    const gatherer = connectKafka({ metrics, ...settings });
    const sink = recordingSink();
    const report = await gatherer.gatherWindow({ start: first, end: third }, sink, forever);
    const inventory = await gatherer.gatherInventory(sink, forever);
    await gatherer.close();
    return { report, inventory, recorded: sink.recorded };
  };
  const selected = { metric_selector: 'cluster="orders",topic!=""' };

  await t.test(
    "a restarted broker, a second cluster and an aggregate beside its topics do not change the bill",
    async (t) => {
      for (const step of [3600, 900]) {
        const { report, recorded } = await gather({ ...selected, metrics_step_seconds: step });
        const { billed, control, ...rest } = report;
        t.same(rest, { completeDays: [first, second], dropped: {}, errors: [] });
        const amount = "7.4146875";
        t.same(
          billed,
          [first, second].map((day) => ({ day, currency: "USD", amount })),
        );
        const steps = (4 * 24 * 3600) / step;
        t.same(
          control?.map(({ day, class: of, rows, cost }) => [day, of, rows, cost]),
          [first, second].flatMap((day) => [
            [day, "delivered", steps, amount],
            [day, "charged", steps, amount],
          ]),
        );
        // A day has 1440 minutes: 3 MiB in and 4 MiB out in each of them, and 25 GiB stored.
        const wanted = (day: string) => [
          [day, "SELF_KAFKA_COMPUTE", "72", "7.2"],
          [day, "SELF_KAFKA_STORAGE", "600", "0.06"],
          [day, "SELF_KAFKA_NETWORK_INGRESS", "4.21875", "0.0421875"],
          [day, "SELF_KAFKA_NETWORK_EGRESS", "5.625", "0.1125"],
        ];
        const costs = recorded.billing.map((line) => [
          line.timestamp.slice(0, 10),
          line.product_type,
          line.quantity,
          line.total_cost,
        ]);
        t.same(costs, [...wanted(first), ...wanted(second)], `a step of ${step} s`);

        const used = new Map<string, bigint>();
        for (const { metric, timestamp, identity_id, micro_units } of recorded.usage) {
          const key = `${timestamp.slice(0, 10)} ${metric} ${identity_id}`;
          used.set(key, (used.get(key) ?? 0n) + BigInt(micro_units));
        }
        const day = (mibAMinute: number) => BigInt(mibAMinute * MIB * 1440) * 1_000_000n;
        for (const date of [first, second]) {
          t.equal(used.get(`${date} bytes_in_per_principal User:alice`), day(2));
          t.equal(used.get(`${date} bytes_in_per_principal User:bob`), day(1));
          t.equal(used.get(`${date} bytes_out_per_principal User:bob`), day(4));
          t.equal(
            used.get(`${date} bytes_out_per_principal User:alice`),
            0n,
            "a principal who reads nothing has usage of 0",
          );
        }
        t.equal(used.size, 8);
      }
    },
  );

  await t.test("the discovery query finds series within its window", async (t) => {
    const hours = 24 * 3;
    const { inventory, recorded } = await gather({ ...selected, discovery_window_hours: hours });
    t.same(inventory.errors, []);
    t.same(
      recorded.resources.map(({ resource_id }) => resource_id),
      ["orders", "orders:broker:1", "orders:broker:2", "orders:topic:events"],
    );
    t.same(
      recorded.identities.map(({ identity_id }) => identity_id),
      ["User:alice", "User:bob"],
    );
    const now = await gather(selected);
    t.same(now.recorded.identities, [], "the last hour has no series");
    t.same(now.inventory.errors, []);
  });

  await t.test("a configured query replaces the default", async (t) => {
    const queries = { cluster_storage_bytes: 'sum(kafka_log_log_size{broker="2",$selector})' };
    const { recorded } = await gather({ ...selected, queries });
    holds(t, recorded.billing[1], { quantity: "360", metadata: { samples: 24 } });
    const wrong = await gather({ ...selected, queries: { cluster_storage_bytes: "sum({$selector" } });
    t.same(wrong.report.partialDays, [first, second]);
    t.same(wrong.report.errors, []);
  });
});
