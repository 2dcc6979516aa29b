/**
 * Runs of a `self_managed_kafka` tenant with `usage_by: topic` on the real stores and a real Prometheus with the series
 * of a JMX exporter: who pays, what a changed owner changes, and the attribution to topics.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { startApi } from "../http/start-api.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { exporters, exposition } from "../ingest/self_managed_kafka/exporters.js";
import { needs } from "../programs.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { daysBefore, reconciled, runContext, runDay, runOnce, runRows } from "./runs.js";
import { attributedOn } from "./topic-upstream.js";

const day = daysBefore(2);

/** Rates at which the amounts of topics have at most four decimals. */
const tenant = (url: string, owners: readonly string[]) => `
tenants:
  acme:
    ecosystem: self_managed_kafka
    tenant_id: acme
    lookback_days: 2
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      cluster_id: orders
      broker_count: 3
      usage_by: topic
      metrics_preset: jmx
      metric_selector: cluster="orders"
      topic_owners:
${owners.map((owner) => `        - ${owner}`).join("\n")}
      topic_attribution:
        enabled: true
        exclude_topic_patterns: []
        cost_mapping_overrides: { SELF_KAFKA_COMPUTE: even_split }
      cost_model:
        compute_hourly_rate: 0.10
        storage_per_gib_hourly: 0.1
        network_ingress_per_gib: 1.024
        network_egress_per_gib: 2.048
        partition_hourly_rate: 0.01
      metrics: { url: "${url}", auth_type: basic, username: me, password: ${PASSWORD} }`;

t.test("a cluster is charged to the owners of its topics", needs("prometheus", "promtool"), async (t) => {
  const { url } = await startRealPrometheus(t, exposition(day, exporters.jmx.families));
  const folder = temporaryFolder(t);
  const map = join(folder, "owners.csv");
  const own = (...entries: readonly string[]) =>
    writeFileSync(map, ["value,identity", ...entries, ""].join("\n"));
  const sources = [`{ map: ${map} }`, "{ pattern: '^(?<identity>[a-z]+)\\.' }"];
  own("payments.orders,billing");
  const { stores, folder: home } = await openTestStores(t, tenant(url, sources));
  const run = async (owners: readonly string[]) => {
    const config = testConfig(`data_dir: ${home}/data\n${tenant(url, owners)}`, home);
    const { status, dates_calculated, errors } = await runOnce(runContext(stores), config, "acme");
    t.same([status, errors], ["completed", []]);
    t.same((await reconciled(stores, "acme")).off, []);
    return dates_calculated;
  };
  const rows = async () => {
    const found = await runRows<Record<string, string>>(
      stores,
      "acme",
      `SELECT product_type, identity_id, allocation_method AS how, cost_type, allocation_detail, toString(sum(amount)) AS amount
       FROM chargebacks WHERE toDate(timestamp) = '${day}' GROUP BY ALL ORDER BY ALL`,
    );
    return found.map((row) => Object.values(row).join(" ").replaceAll("SELF_KAFKA_", ""));
  };
  const usage = "usage_ratio usage usage_ratio_allocation";
  const charged = (orders: string, offsets: string) =>
    [
      `COMPUTE ${orders} even_split shared even_split_allocation 3.6`,
      "COMPUTE search even_split shared even_split_allocation 3.6",
      `NETWORK_EGRESS ${orders} ${usage} 11.52`,
      `NETWORK_INGRESS ${orders} ${usage} 4.32`,
      `NETWORK_INGRESS search ${usage} 2.76`,
      `NETWORK_INGRESS ${offsets} 1.44`,
      `PARTITIONS ${orders} ${usage} 0.48`,
      `PARTITIONS search ${usage} 0.12`,
      `PARTITIONS ${offsets} 0.24`,
      `STORAGE ${orders} ${usage} 72`,
      `STORAGE search ${usage} 9.6`,
      `STORAGE ${offsets} 4.8`,
    ].sort();
  const nobody = "UNALLOCATED usage_ratio usage owner_unknown";

  await t.test("topics without an owner keep their own part, and the first source counts", async (t) => {
    t.equal(await run(sources), 1);
    t.same(await rows(), charged("billing", nobody));
    t.same(
      await attributedOn(stores, "acme", day),
      [
        ...["__consumer_offsets", "payments.orders", "search.clicks"].map((topic) => `${topic}: 2.4`),
        "payments.orders: 11.52",
        "__consumer_offsets: 1.44",
        "payments.orders: 4.32",
        "search.clicks: 2.76",
        ...["__consumer_offsets", "payments.orders", "search.clicks"].map((topic) => `${topic}: 0.28`),
        "__consumer_offsets: 4.8",
        "payments.orders: 72",
        "search.clicks: 9.6",
      ].sort(),
    );
    t.equal(await run(sources), 0, "nothing new is calculated");
  });

  await t.test("the API shows the attribution to topics", async (t) => {
    const config = testConfig(`data_dir: ${home}/data\n${tenant(url, sources)}`, home);
    const app = await startApi(t, { config, stores, now: new Date(`${runDay}T12:00:00Z`), mode: "both" });
    const get = async (path: string) => (await app.inject(`/api/v1/tenants${path}`)).json();
    const tenants = await get("");
    t.same(
      tenants.map((each: { topic_attribution: string }) => each.topic_attribution),
      ["enabled"],
    );
    const dates = `start_date=${day}&end_date=${day}`;
    const found = await get(`/acme/topic-attributions/aggregate?group_by=topic_name&${dates}`);
    t.same(
      found.buckets?.map((bucket: { dimensions: { topic_name: string }; total_amount: string }) => [
        bucket.dimensions.topic_name,
        bucket.total_amount,
      ]),
      [
        ["__consumer_offsets", "8.92"],
        ["payments.orders", "90.52"],
        ["search.clicks", "15.04"],
      ],
    );
  });

  await t.test("a changed map and a source for internal topics move the charges", async (t) => {
    own("payments.orders,checkout");
    t.equal(await run(sources), 1);
    t.same(await rows(), charged("checkout", nobody));
    t.equal(await run([...sources, '{ prefix: "__", identity: search }']), 1);
    const together = await rows();
    t.same(
      together.filter((row) => row.includes("UNALLOCATED")),
      [],
    );
    t.same(
      together.filter((row) => row.startsWith("STORAGE")),
      [`STORAGE checkout ${usage} 72`, `STORAGE search ${usage} 14.4`],
    );
  });
});
