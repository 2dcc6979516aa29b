/**
 * The configuration of the README and a self-managed Kafka cluster with a real Prometheus that has a few days of the
 * 200 requested ones. The days before have no samples, which is no failure.
 */
import t from "tap";
import { midnightSeconds } from "../../src/common/days.js";
import { daysAgo } from "../ingest/generic_metrics_only/tenant.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { needs } from "../programs.js";
import { openTestStores } from "../stores.js";
import { runContext, runOnce, runRecords, runRows } from "./runs.js";

const GIB = 2 ** 30;
const firstAge = 9;
const kept = [daysAgo(9), daysAgo(8), daysAgo(7), daysAgo(6)];
/** Samples start at nine in the morning of the first day. */
const from = Date.parse(`${daysAgo(firstAge)}T09:00:00Z`) / 1000;
const until = midnightSeconds(daysAgo(5));

const each = (series: string, value: (index: number) => number) =>
  Array.from(
    { length: (until - from) / 300 + 1 },
    (_, index) => `${series} ${value(index)} ${from + index * 300}`,
  );

const openMetrics = [
  "# TYPE pg_database_size_bytes gauge",
  ...each('pg_database_size_bytes{datname="orders"}', () => 3 * GIB),
  ...each('pg_database_size_bytes{datname="users"}', () => GIB),
  "# TYPE pg_stat_database_numbackends gauge",
  ...each('pg_stat_database_numbackends{datname="orders"}', () => 2),
  ...each('pg_stat_database_numbackends{datname="users"}', () => 1),
  "# TYPE kafka_server_brokertopicmetrics_bytesin counter",
  ...each('kafka_server_brokertopicmetrics_bytesin_total{principal="User:a"}', (index) => index * GIB),
  "# TYPE kafka_server_brokertopicmetrics_bytesout counter",
  ...each('kafka_server_brokertopicmetrics_bytesout_total{principal="User:a"}', (index) => index * GIB),
  "# TYPE kafka_log_log_size gauge",
  ...each("kafka_log_log_size", () => GIB),
  "# EOF",
  "",
].join("\n");

const metricsOf = (url: string) =>
  `metrics: { type: prometheus, url: "${url}", auth_type: basic, username: me, password: "${PASSWORD}" }`;

const postgresTenant = (name: string, url: string, costQuery: string, metric = "pg_database_size_bytes") => `
  ${name}:
    ecosystem: generic_metrics_only
    tenant_id: ${name}
    lookback_days: 200
    storage: { connection_string: "embedded:${name}" }
    plugin_settings:
      cluster_id: postgres-prod-cluster
      ${metricsOf(url)}
      identity_source: { source: prometheus, label: datname, discovery_query: pg_stat_database_numbackends }
      cost_types:
        - name: PG_COMPUTE
          product_category: postgres
          rate: 0.15
          cost_quantity: { type: fixed, count: 2 }
          allocation_strategy: even_split
        - name: PG_STORAGE
          product_category: postgres
          rate: 0.000137
          cost_quantity: { type: storage_gib, query: ${costQuery} }
          allocation_strategy: usage_ratio
          allocation_query: sum by (datname) (${metric})
          allocation_label: datname`;

const kafkaTenant = (url: string) => `
  kafka:
    ecosystem: self_managed_kafka
    tenant_id: kafka
    lookback_days: 200
    storage: { connection_string: "embedded:kafka" }
    plugin_settings:
      cluster_id: orders
      broker_count: 3
      ${metricsOf(url)}
      cost_model:
        compute_hourly_rate: 0.10
        storage_per_gib_hourly: 0.0001
        network_ingress_per_gib: 0.01
        network_egress_per_gib: 0.02`;

t.test("a Prometheus with samples of a few days is gathered", needs("prometheus", "promtool"), async (t) => {
  const { url } = await startRealPrometheus(t, openMetrics);
  const tenants = [
    postgresTenant("pg", url, "sum(pg_database_size_bytes)"),
    postgresTenant("mistyped", url, "sum(pg_database_sizes)"),
    postgresTenant("silent", url, "sum(pg_database_size_bytes)", "pg_databases_size_bytes"),
    kafkaTenant(url),
  ];
  const { config, stores } = await openTestStores(t, `tenants:${tenants.join("")}`);
  const context = runContext(stores, { now: () => new Date() });
  const days = (tenant: string) =>
    runRows<{ day: string }>(
      stores,
      tenant,
      "SELECT DISTINCT toString(day) AS day FROM chargebacks ORDER BY day",
    );
  const begins = `the upstream has samples from ${kept[0]} on; days before are not there, and are left out`;

  // A gauge has a sample at nine, so it has usage of the hour before. A counter grows from then on.
  const partly = (...products: readonly (readonly [name: string, hours: number])[]) =>
    products.map(
      ([name, hours]) =>
        `${kept[0]} is the first day with samples: ${name} is priced by the ${hours} of 24 hours that were measured`,
    );
  const priced = new Map([
    ["pg", partly(["PG_STORAGE", 16])],
    [
      "kafka",
      partly(
        ["SELF_KAFKA_STORAGE", 16],
        ["SELF_KAFKA_NETWORK_INGRESS", 15],
        ["SELF_KAFKA_NETWORK_EGRESS", 15],
      ),
    ],
  ]);

  for (const [tenant, measured] of priced) {
    await t.test(
      `${tenant}: days before the first sample are not there, and nothing has failed`,
      async (t) => {
        const { errors, notes, status, dates_calculated } = await runOnce(context, config, tenant);
        t.strictSame(
          { errors, notes, status, dates_calculated },
          { errors: [], notes: [begins, ...measured], status: "completed", dates_calculated: 4 },
        );
        t.strictSame(
          (await days(tenant)).map(({ day }) => day),
          kept,
        );
        t.equal((await runOnce(context, config, tenant)).status, "completed");
        t.strictSame(
          (await runRecords(stores, tenant)).map((run) => run.status),
          ["completed", "completed"],
        );
      },
    );
  }

  await t.test("a cost query without samples is reported", async (t) => {
    const { errors, status } = await runOnce(context, config, "mistyped");
    t.equal(status, "failed");
    for (const { message } of errors) t.match(message, /PG_STORAGE: the cost query has no samples/);
    t.strictSame(await days("mistyped"), []);
  });

  await t.test("a usage metric that does not exist is reported, and its lines are an issue", async (t) => {
    const { notes, status } = await runOnce(context, config, "silent");
    t.strictSame(
      { notes, status },
      {
        notes: [
          begins,
          "the query of usage alloc_PG_STORAGE has no sample at all, so nothing is divided by it: sum by (datname) (pg_databases_size_bytes)",
          ...partly(["PG_STORAGE", 16]),
        ],
        status: "completed",
      },
    );
    const details = await runRows<{ detail: string }>(
      stores,
      "silent",
      "SELECT DISTINCT allocation_detail AS detail FROM chargebacks WHERE product_type = 'PG_STORAGE'",
    );
    t.strictSame(details, [{ detail: "no_metrics_located" }]);
  });
});
