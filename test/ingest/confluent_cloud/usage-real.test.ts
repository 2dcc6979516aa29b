/** The usage queries of Confluent Cloud on a real Prometheus: they are valid, and nothing is lost. */
import t from "tap";
import { midnightSeconds } from "../../../src/common/days.js";
import { usageQuery } from "../../../src/ingest/ecosystems/confluent_cloud/usage/queries.js";
import { createPrometheusSource } from "../../../src/ingest/prometheus/source.js";
import { createUpstreamClient } from "../../../src/upstream/http/client.js";
import { needs } from "../../programs.js";
import { daysAgo, forever, silent } from "../generic_metrics_only/tenant.js";
import { PASSWORD, startRealPrometheus } from "../prometheus/real-prometheus.js";

const day = daysAgo(3);
const start = midnightSeconds(day);
const odd = "lkc-]){ü.*|x";
const minutes = (labels: string, count: number) =>
  Array.from(
    { length: count },
    (_, minute) =>
      `confluent_kafka_server_request_bytes{${labels}} ${minute + 1} ${start + 60 * (minute + 1)}`,
  );

t.test("a real Prometheus sums a day of minutes by the hour", needs("prometheus", "promtool"), async (t) => {
  const openMetrics = [
    "# TYPE confluent_kafka_server_request_bytes gauge",
    ...minutes('kafka_id="lkc-1",principal_id="sa-1",type="Produce"', 1440),
    ...minutes('kafka_id="lkc-1",principal_id="sa-1",type="Fetch"', 60),
    ...minutes(`kafka_id="${odd}",principal_id="sa-2"`, 60),
    ...minutes('kafka_id="lkc-12",principal_id="sa-9"', 60),
    "# EOF",
    "",
  ].join("\n");
  const { url } = await startRealPrometheus(t, openMetrics);
  const client = createUpstreamClient({
    baseUrl: url,
    auth: { kind: "basic", username: "me", password: PASSWORD },
    logger: silent,
    pace: { concurrency: 4, minIntervalMs: 0 },
  });
  t.teardown(() => client.close());
  const source = createPrometheusSource(client, silent);
  const sums = new Map<string, Map<number, bigint>>();
  const window = { start: day, end: daysAgo(2) };
  const query = { expression: usageQuery("bytes_in", ["lkc-1", odd], 3600), window, stepSeconds: 3600 };
  for await (const piece of source.range(query, (reason) => t.fail(reason), forever)) {
    if (piece.kind === "failed") t.fail(piece.reason);
    else
      piece.each((labels, from, value) => {
        const key = `${labels.kafka_id} ${labels.principal_id}`;
        const hours = sums.get(key) ?? new Map<number, bigint>();
        sums.set(key, hours.set((from - start) / 3600, value.units / 10n ** BigInt(value.scale)));
      });
  }
  t.same([...sums.keys()].sort(), ["lkc-1 sa-1", `${odd} sa-2`]);
  const hours = sums.get("lkc-1 sa-1");
  t.equal(hours?.size, 24);
  t.equal(hours?.get(0), 2n * 1830n, "both types of requests are summed");
  t.equal(
    [...(hours?.values() ?? [])].reduce((sum, value) => sum + value, 0n),
    BigInt((1440 * 1441) / 2 + 1830),
    "every minute is counted once",
  );
});
