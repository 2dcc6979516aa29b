/** A self-managed cluster whose Prometheus refuses the credentials. */
import t from "tap";
import { openTestStores } from "../stores.js";
import { responses, upstream } from "../upstream/upstream-server.js";
import { runContext, runOnce } from "./runs.js";

t.test("metrics that respond with 401 suspend the tenant after the threshold of gathers", async (t) => {
  const { url } = await upstream(t, responses(401, "no"));
  const { config, stores } = await openTestStores(
    t,
    `tenants:
  kafka:
    ecosystem: self_managed_kafka
    tenant_id: kafka
    lookback_days: 3
    cutoff_days: 1
    gather_failure_threshold: 2
    storage: { connection_string: "embedded:kafka" }
    plugin_settings:
      cluster_id: orders
      broker_count: 3
      metrics: { type: prometheus, url: "${url}" }
      cost_model:
        compute_hourly_rate: 0.10
        storage_per_gib_hourly: 0.0001
        network_ingress_per_gib: 0.01
        network_egress_per_gib: 0.02`,
  );
  const run = () => runOnce(runContext(stores), config, "kafka");
  const state = async () => {
    const { rows } = await stores.postgres.query(
      "SELECT gather_failures, suspended_at IS NOT NULL AS suspended, suspension_reason AS reason FROM tenants",
    );
    return rows[0];
  };
  const { errors } = await run();
  t.match(errors.map(({ message }) => message).join(" "), /returned 401: no/);
  t.strictSame(await state(), { gather_failures: 1, suspended: false, reason: null });
  await run();
  const { gather_failures, suspended, reason } = await state();
  t.strictSame({ gather_failures, suspended }, { gather_failures: 2, suspended: true });
  t.match(reason, /^2 consecutive gather failures, the last one: .*returned 401: no$/);
  await t.rejects(run(), { name: "TenantSuspendedError" });
});
