/**
 * A real Prometheus drops samples by retention, with tenants of all three ecosystems: published usage and its prices
 * stay. The vendor of the Confluent Cloud tenant is simulated; its metrics come from the Prometheus as well.
 */
import t from "tap";
import { midnightSeconds } from "../../src/common/days.js";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import { confluentCloud, connectGatherer } from "../../src/ingest/ecosystems/confluent_cloud/index.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { startConfluentCloud } from "../../src/simulator/confluent/cloud.js";
import { quick } from "../ingest/confluent_cloud/tenant.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { openTestStores } from "../stores.js";
import { daysBefore, reconciled, runContext, runDay, runOnce, runRows } from "./runs.js";

const DAYS = 7;
const HOUR = 3600;
const now = () => new Date(`${runDay}T12:00:00Z`);

/** A sample every half hour, from a day before the window until its end. */
const halfHours = (series: string, valueAt: (index: number) => number) => {
  const from = midnightSeconds(daysBefore(DAYS + 1));
  const count = ((midnightSeconds(daysBefore(1)) - from) / HOUR) * 2;
  return Array.from(
    { length: count + 1 },
    (_, index) => `${series} ${valueAt(index)} ${from + (index * HOUR) / 2}`,
  );
};

const impatient: AnyEcosystem = {
  ...confluentCloud,
  connect: (settings, context) => connectGatherer(settings, context, { ...quick, now }),
};

t.test("published usage stays when the retention of a Prometheus has passed", async (t) => {
  const cloud = await startConfluentCloud({ size: "tiny", days: DAYS, now: () => now().getTime() });
  t.teardown(() => cloud.close());
  const billed = Array.from({ length: DAYS - 1 }, (_, index) => daysBefore(index + 2)).flatMap((day) =>
    cloud.bill.rows(day),
  );
  const clusters = [...new Set(billed.flatMap(({ charge }) => charge.resource?.id ?? []))].filter((id) =>
    id.startsWith("lkc-"),
  );
  const vendors = ["request", "response"].flatMap((kind) => [
    `# TYPE confluent_kafka_server_${kind}_bytes gauge`,
    ...clusters.flatMap((id) =>
      ["sa-early", "sa-late"].flatMap((principal, of) =>
        // The largest user changes in the middle of each day.
        halfHours(
          `confluent_kafka_server_${kind}_bytes{kafka_id="${id}",principal_id="${principal}"}`,
          (index) => (index % 48 < 24 === (of === 0) ? 5000 + index : 7),
        ),
      ),
    ),
  ]);
  const counters = ["bytesin", "bytesout"].flatMap((kind) => [
    `# TYPE kafka_server_brokertopicmetrics_${kind} counter`,
    ...["User:alice", "User:bob"].flatMap((principal, of) =>
      halfHours(
        `kafka_server_brokertopicmetrics_${kind}_total{broker="1",topic="a",principal="${principal}"}`,
        (index) => index * 2 ** 30 * (of + 1) + (index % 48) * 2 ** 28,
      ),
    ),
  ]);
  const openMetrics = [
    ...vendors,
    ...counters,
    "# TYPE kafka_log_log_size gauge",
    ...halfHours('kafka_log_log_size{broker="1",topic="a"}', (index) => (10 + (index % 48)) * 2 ** 30),
    "# EOF",
    "",
  ].join("\n");
  const prometheus = await startRealPrometheus(t, openMetrics);
  const metrics = { url: prometheus.url, auth_type: "basic", username: "me", password: PASSWORD };
  const tenant = (name: string, ecosystem: string, plugin_settings: unknown) => ({
    [name]: {
      ecosystem,
      tenant_id: name,
      lookback_days: DAYS,
      cutoff_days: 1,
      storage: { connection_string: `embedded:${name}` },
      plugin_settings,
    },
  });
  const moved = (kind: string) => `increase(kafka_server_brokertopicmetrics_${kind}_total[$step])`;
  const tenants = {
    ...tenant("vendor", "confluent_cloud", {
      ccloud_api: { ...cloud.credentials, base_url: cloud.url },
      metrics,
    }),
    ...tenant("own", "self_managed_kafka", {
      cluster_id: "orders",
      broker_count: 1,
      metrics,
      cost_model: {
        compute_hourly_rate: 0.1,
        storage_per_gib_hourly: 0.01,
        network_ingress_per_gib: 0.01,
        network_egress_per_gib: 0.02,
      },
    }),
    ...tenant("metered", "generic_metrics_only", {
      cluster_id: "app",
      metrics,
      identity_source: { discovery_query: `sum by (principal) (${moved("bytesin")})` },
      cost_types: [
        {
          name: "MOVED",
          product_category: "app",
          rate: 0.01,
          cost_quantity: { type: "network_gib", query: `sum(${moved("bytesin")})` },
          allocation_strategy: "usage_ratio",
          allocation_query: `sum by (principal) (${moved("bytesin")})`,
          allocation_label: "principal",
        },
        {
          name: "BASE",
          product_category: "app",
          rate: 0.1,
          cost_quantity: { type: "fixed", count: 1 },
          allocation_strategy: "even_split",
        },
      ],
    }),
  };
  const { config, stores } = await openTestStores(t, `tenants: ${JSON.stringify(tenants)}`);
  const context = runContext(stores, {
    now,
    ecosystems: new Map([...ecosystems, [impatient.name, impatient]]),
  });
  const names = Object.keys(tenants);
  const charged = async (name: string) => {
    const rows = await runRows<{ text: string }>(
      stores,
      name,
      `SELECT concat(toString(day), ' ', product_type, ' ', resource_id, ' ', identity_id, ' ', allocation_detail, ' ', toString(sum(amount))) AS text
       FROM chargebacks GROUP BY day, product_type, resource_id, identity_id, allocation_detail ORDER BY text`,
    );
    return rows.map(({ text }) => text);
  };
  const before = new Map<string, string[]>();
  for (const name of names) {
    const first = await runOnce(context, config, name);
    t.equal(first.dates_calculated, DAYS - 1, `${name}: ${JSON.stringify(first.errors)}`);
    before.set(name, await charged(name));
    t.ok(
      before.get(name)?.some((row) => row.includes("usage_ratio_allocation")),
      `${name} is split by usage`,
    );
  }

  // Two and a half days are left: half of one day, and nothing before it.
  await prometheus.restart("60h");
  for (const name of names) {
    const again = await runOnce(context, config, name);
    t.equal(again.dates_calculated, 0, `${name}: no measured day is calculated again`);
    t.same(await charged(name), before.get(name), `${name}: who pays what stays`);
    t.same((await reconciled(stores, name)).off, []);
  }
  t.same((await runOnce(context, config, "vendor")).errors, [], "missing samples are not an error");

  // Changed rules still apply to the days, with the usage measured then.
  const own = config.tenants.get("own");
  if (own === undefined) throw new Error("no tenant");
  const finer = { ...own, allocation: { ...own.allocation, decimal_places: 6 } };
  const changed = { ...config, tenants: new Map([...config.tenants, ["own", finer]]) };
  const recalculated = await runOnce(context, changed, "own");
  t.ok(
    recalculated.dates_calculated >= 3,
    `${recalculated.dates_calculated} days are calculated by the new setting`,
  );
  const sums = (rows: readonly string[] | undefined) =>
    new Set(rows?.map((row) => row.split(" ").slice(0, 3).join(" ")));
  t.same(sums(await charged("own")), sums(before.get("own")));
});
