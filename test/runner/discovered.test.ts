/** Identities that a metered tenant discovers now do not affect earlier days. */
import t from "tap";
import { startScriptedPrometheus } from "../ingest/prometheus/scripted-prometheus.js";
import { openTestStores } from "../stores.js";
import { chargedOn, daysBefore, runContext, runOnce, trackingDate } from "./runs.js";

t.test("an identity that cannot be stored does not make days without it provisional", async (t) => {
  const now = Date.now() / 1000;
  const prometheus = await startScriptedPrometheus(t, () => [
    { labels: { datname: "orders" }, at: () => 1 },
    { labels: { datname: "a\u0001b" }, at: (point) => (point > now - 3600 ? 1 : undefined) },
  ]);
  const { config, stores } = await openTestStores(
    t,
    `tenants:
  acme:
    ecosystem: generic_metrics_only
    tenant_id: acme
    lookback_days: 3
    cutoff_days: 2
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      cluster_id: db
      metrics: { url: "${prometheus.url}" }
      identity_source: { label: datname, discovery_query: databases }
      cost_types:
        - { name: PG, product_category: db, rate: 1, cost_quantity: { type: fixed, count: 1 }, allocation_strategy: even_split }`,
  );
  const { status, errors } = await runOnce(runContext(stores), config, "acme");
  const message = 'the identity "a?b" cannot be stored: its id has control characters';
  t.strictSame([status, errors], ["completed_with_errors", [{ date: null, source: "gather", message }]]);
  t.strictSame(await chargedOn(stores, "acme", daysBefore(3)), ["orders: 24"]);
  const { provisional } = (await trackingDate(stores, "acme", daysBefore(3))) as { provisional: boolean };
  t.equal(provisional, false);
});
