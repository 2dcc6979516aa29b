/**
 * Runs of a `self_managed_kafka` tenant on the real stores: who pays on a usual day, and the effect of an outage of the
 * metrics on published and unpublished days.
 */
import t from "tap";
import { DAY_SECONDS } from "../../src/common/days.js";
import { holds } from "../holds.js";
import {
  type PrometheusScript,
  type ScriptedSeries,
  startScriptedPrometheus,
} from "../ingest/prometheus/scripted-prometheus.js";
import { openTestStores } from "../stores.js";
import { daysBefore, reconciled, runContext, runOnce, runRows, trackingDate } from "./runs.js";

const GIB = 2 ** 30;

const constant = (value: number, labels: Readonly<Record<string, string>> = {}): ScriptedSeries => ({
  labels,
  at: () => value,
});

/** As in the example of the documentation: 8.32 a day. alice writes 18 of 20 GiB and bob the rest, bob alone reads. */
const usual: PrometheusScript = (query) => {
  const principal = (name: string, gib: number) => constant((gib * GIB) / 24, { principal: `User:${name}` });
  if (/group by/.test(query)) return [principal("alice", 24), principal("bob", 24)];
  if (/log_size/.test(query)) return [constant(50 * GIB)];
  const bytesIn = /bytesin/.test(query);
  if (!/by \(principal\)/.test(query)) return [{ at: (point) => hourly(point, bytesIn ? 20 : 40) }];
  return bytesIn
    ? [principal("alice", 18), principal("bob", 3)]
    : [principal("alice", 0), principal("bob", 36)];
};

/** This many GiB a day, in whole bytes per hour that add up exactly. */
function hourly(point: number, gib: number): number {
  const each = Math.floor((gib * GIB) / 24);
  return point % DAY_SECONDS === 0 ? gib * GIB - 23 * each : each;
}

const tenant = (name: string, url: string) => `
  ${name}:
    ecosystem: self_managed_kafka
    tenant_id: ${name}
    lookback_days: 3
    cutoff_days: 1
    allocation_retry_limit: 2
    storage: { connection_string: "embedded:${name}" }
    plugin_settings:
      cluster_id: orders
      broker_count: 3
      cost_model:
        compute_hourly_rate: 0.10
        storage_per_gib_hourly: 0.0001
        network_ingress_per_gib: 0.01
        network_egress_per_gib: 0.02
      metrics: { url: "${url}" }`;

t.test("a self-managed cluster is billed by its metrics", async (t) => {
  const prometheus = await startScriptedPrometheus(t, usual);
  const { stores, config } = await openTestStores(
    t,
    `tenants:${tenant("acme", prometheus.url)}${tenant("late", prometheus.url)}`,
  );
  const context = runContext(stores);
  const day = daysBefore(3);
  const run = (name: string) => runOnce(context, config, name);
  const rows = async (name: string) => {
    const found = await runRows<Record<string, string>>(
      stores,
      name,
      `SELECT product_type, identity_id, allocation_method AS how, cost_type, allocation_detail, toString(sum(amount)) AS amount
       FROM chargebacks WHERE toDate(timestamp) = '${day}' GROUP BY ALL ORDER BY ALL`,
    );
    return found.map((row) => Object.values(row).join(" ").replaceAll("SELF_KAFKA_", ""));
  };
  const healthy = [
    "COMPUTE User:alice even_split shared even_split_allocation 3.6",
    "COMPUTE User:bob even_split shared even_split_allocation 3.6",
    "NETWORK_EGRESS User:bob usage_ratio usage usage_ratio_allocation 0.8",
    "NETWORK_INGRESS User:alice usage_ratio usage usage_ratio_allocation 0.1714",
    "NETWORK_INGRESS User:bob usage_ratio usage usage_ratio_allocation 0.0286",
    "STORAGE User:alice even_split shared even_split_allocation 0.06",
    "STORAGE User:bob even_split shared even_split_allocation 0.06",
  ];

  await t.test(
    "compute and storage are divided evenly among active identities, and the network by bytes",
    async (t) => {
      const result = await run("acme");
      holds(t, result, { status: "completed", errors: [] });
      t.same(await rows("acme"), healthy);
      t.same((await reconciled(stores, "acme")).off, []);
    },
  );

  await t.test("an outage of the metrics does not reduce a published day", async (t) => {
    for (const outage of [() => 401, () => []] as const satisfies readonly PrometheusScript[]) {
      prometheus.script = outage;
      const result = await run("acme");
      t.ok(result.errors.some(({ message }) => /the bill that is published stays/.test(message)));
      t.same(await rows("acme"), healthy);
      holds(t, await trackingDate(stores, "acme", day), { chargeback_calculated: true, staged_hash: null });
    }
  });

  await t.test("a day that has no bill yet is billed for compute alone, and provisional", async (t) => {
    prometheus.script = () => 401;
    const alone = ["COMPUTE UNALLOCATED terminal shared metrics_fetch_failed 7.2"];
    const first = await run("late");
    t.match(
      first.errors.map(({ message }) => message).join("\n"),
      /are provisional: .*SELF_KAFKA_STORAGE, .* of orders could not be fetched/,
    );
    t.same(await rows("late"), alone, "the first of two attempts");
    holds(t, await trackingDate(stores, "late", day), { provisional: true });
    const second = await run("late");
    t.ok(second.errors.some(({ message }) => /final without it .*SELF_KAFKA_STORAGE/.test(message)));
    holds(t, await trackingDate(stores, "late", day), { provisional: false });
    await run("late");
    t.same(await rows("late"), alone, "and stays so while the outage lasts");
    t.same((await reconciled(stores, "late")).off, []);
  });

  await t.test("the day is billed and divided again when the metrics are back", async (t) => {
    prometheus.script = usual;
    await run("late");
    t.same(await rows("late"), healthy);
    t.same((await reconciled(stores, "late")).off, []);
    const before = await runRows(stores, "acme", "SELECT * FROM billing ORDER BY ALL");
    await run("acme");
    t.same(
      await runRows(stores, "acme", "SELECT * FROM billing ORDER BY ALL"),
      before,
      "nothing is new to acme",
    );
  });
});
