/**
 * Control totals of metered costs as runs store them: for days that are charged, that wait, and that keep published
 * data.
 */
import t from "tap";
import { dayOf } from "../../src/common/days.js";
import { isAccountedFor, readControlTotals } from "../../src/query/state/control-totals.js";
import { startScriptedPrometheus } from "../ingest/prometheus/scripted-prometheus.js";
import { openTestStores, testConfig } from "../stores.js";
import { daysBefore, runContext, runOnce, runRows } from "./runs.js";

const GIB = 2 ** 30;
const [whole, failing] = [daysBefore(3), daysBefore(2)];

t.test("hours without a response show until their day is charged, and then stay charged", async (t) => {
  let broken: string | undefined = failing;
  let dropped = 0;
  const prometheus = await startScriptedPrometheus(t, () => [
    {
      at: (point) => {
        const day = dayOf(new Date((point - 1) * 1000));
        if (day < whole || day === broken) return undefined;
        const hour = Math.floor(((point - 1) % 86_400) / 3600);
        if (day === whole && hour < dropped) return undefined;
        return GIB;
      },
    },
  ]);
  const { config, stores } = await openTestStores(
    t,
    `tenants: ${JSON.stringify({
      acme: {
        ecosystem: "generic_metrics_only",
        tenant_id: "acme",
        lookback_days: 4,
        cutoff_days: 1,
        storage: { connection_string: "embedded:acme" },
        plugin_settings: {
          cluster_id: "db",
          metrics: { url: prometheus.url },
          identity_source: { source: "static", static_identities: [{ identity_id: "a" }] },
          cost_types: [
            {
              name: "S",
              product_category: "c",
              rate: 1,
              allocation_strategy: "even_split",
              cost_quantity: { type: "storage_gib", query: "size" },
            },
            {
              name: "F",
              product_category: "c",
              rate: 0.1,
              allocation_strategy: "even_split",
              cost_quantity: { type: "fixed", count: 1 },
            },
          ],
        },
      },
    })}`,
  );
  const context = runContext(stores);
  const totals = async () => {
    const { rows } = await stores.postgres.query<{ text: string }>(
      `SELECT concat_ws(' ', day, class, nullif(reason, ''), rows, cost) AS text FROM control_totals ORDER BY day, class, reason`,
    );
    return rows.map(({ text }) => text);
  };
  const run = async () => {
    const { dates_calculated } = await runOnce(context, config, "acme");
    const [control] = await readControlTotals(stores.postgres, "acme");
    t.ok(control !== undefined && isAccountedFor(control), "each hour is in one class");
    const [billed] = await runRows<{ cost: string }>(
      stores,
      "acme",
      "SELECT toString(sum(total_cost)) AS cost FROM billing",
    );
    const charged = control?.classes.find((each) => each.class === "charged");
    t.equal(charged?.cost, billed?.cost, "what is charged is what is published");
    return dates_calculated;
  };
  const before = `${daysBefore(4)} delivered 48 0`;
  const absent = [before, `${daysBefore(4)} outside_window before_first_sample 48 0`];
  const charged = (day: string) => [`${day} charged 48 26.4`, `${day} delivered 48 26.4`];

  t.equal(await run(), 1);
  t.strictSame(await totals(), [
    ...absent,
    ...charged(whole),
    `${failing} delivered 48 2.4`,
    `${failing} left_out day_waits 24 2.4`,
    `${failing} left_out not_measured 24 0`,
  ]);

  const recordedAt = async () =>
    (await stores.postgres.query("SELECT control_report ->> 'recorded_at' AS at FROM tenants")).rows;
  const recorded = await recordedAt();
  t.equal(await run(), 0);
  t.strictSame(await recordedAt(), recorded, "the same totals are not written again");

  prometheus.script = (
    (response) => (query) =>
      broken === undefined ? response(query) : 503
  )(prometheus.script);
  t.equal(await run(), 0, "an outage");
  t.strictSame(
    (await totals()).filter((text) => !text.startsWith(daysBefore(4))),
    [
      ...charged(whole),
      `${failing} delivered 48 2.4`,
      `${failing} left_out day_waits 24 2.4`,
      `${failing} left_out failed 24 0`,
    ],
    "a charged day keeps its totals",
  );

  broken = undefined;
  t.equal(await run(), 1);
  t.strictSame(await totals(), [...absent, ...charged(whole), ...charged(failing)]);

  dropped = 12;
  t.equal(await run(), 0, "the upstream drops its old samples");
  t.strictSame(await totals(), [...absent, ...charged(whole), ...charged(failing)]);
});

t.test(
  "hours of a Prometheus that cannot be reached are left out, and published days keep theirs",
  async (t) => {
    const prometheus = await startScriptedPrometheus(t, () => [
      { at: (point) => (dayOf(new Date((point - 1) * 1000)) === failing ? undefined : GIB) },
    ]);
    const closed = "http://127.0.0.1:9";
    const metered = (url: string, lookback: number) => `    lookback_days: ${lookback}
    cutoff_days: 1
    plugin_settings:
      cluster_id: db
      metrics: { url: "${url}" }
      identity_source: { source: static, static_identities: [{ identity_id: a }] }
      cost_types:
        - { name: S, product_category: c, rate: 1, allocation_strategy: even_split, cost_quantity: { type: storage_gib, query: size } }
        - { name: F, product_category: c, rate: 0.1, allocation_strategy: even_split, cost_quantity: { type: fixed, count: 1 } }`;
    const yaml = (url: string, lookback = 3) => `tenants:
  acme:
    ecosystem: generic_metrics_only
    tenant_id: acme
    storage: { connection_string: "embedded:acme" }
${metered(url, lookback)}`;
    const { stores, folder, config } = await openTestStores(t, yaml(prometheus.url));
    const run = async (url: string, lookback?: number) => {
      const changed = testConfig(`data_dir: ${config.data_dir}\n${yaml(url, lookback)}`, folder);
      const { errors, dates_calculated } = await runOnce(runContext(stores), changed, "acme");
      return { errors: errors.map(({ message }) => message), calculated: dates_calculated };
    };
    const control = async () => {
      const [each] = await readControlTotals(stores.postgres, "acme");
      t.ok(each !== undefined && isAccountedFor(each), "each hour is in one class");
      return each?.classes.map(({ class: of, reason, rows, cost }) => [of, reason, rows, cost].join(" "));
    };

    const never = await run(closed, 2);
    t.strictSame([never.calculated, never.errors.length], [0, 1]);
    t.match(never.errors[0], /^gather failed: .*ECONNREFUSED/);
    t.strictSame(await control(), ["left_out day_waits 24 2.4", "left_out failed 24 0"]);

    t.strictSame((await run(prometheus.url)).calculated, 1);
    const published = ["charged  48 26.4", "left_out day_waits 24 2.4"];
    t.strictSame(await control(), [...published, "left_out not_measured 24 0"]);

    t.strictSame((await run(closed)).calculated, 0);
    t.strictSame(await control(), [...published, "left_out failed 24 0"]);
    const { rows } = await stores.postgres.query("SELECT outcome FROM gathered_days ORDER BY tracking_date");
    t.strictSame(rows, [{ outcome: "failed" }, { outcome: "failed" }], "the days are recorded as before");

    prometheus.script = () => 401;
    const refused = await run(prometheus.url);
    t.equal(refused.errors.length, 1);
    t.match(refused.errors[0], /^gather failed: .*401/);
    t.strictSame(await control(), [...published, "left_out failed 24 0"], "refused credentials do the same");

    prometheus.script = () => [{ at: () => GIB }];
    t.strictSame((await run(prometheus.url)).calculated, 1);
    t.strictSame(await control(), ["charged  96 52.8"]);
  },
);

t.test(
  "a self-managed cluster charges its brokers while Prometheus is away, and leaves the rest out",
  async (t) => {
    const { config, stores } = await openTestStores(
      t,
      `tenants: ${JSON.stringify({
        acme: {
          ecosystem: "self_managed_kafka",
          tenant_id: "acme",
          lookback_days: 2,
          cutoff_days: 1,
          storage: { connection_string: "embedded:acme" },
          plugin_settings: {
            cluster_id: "k",
            broker_count: 3,
            metrics: { url: "http://127.0.0.1:9" },
            cost_model: {
              compute_hourly_rate: "0.10",
              storage_per_gib_hourly: "0.0001",
              network_ingress_per_gib: "0.01",
              network_egress_per_gib: "0.02",
            },
            identity_source: { source: "static", static_identities: [{ identity_id: "a" }] },
          },
        },
      })}`,
    );
    t.equal((await runOnce(runContext(stores), config, "acme")).dates_calculated, 1);
    const [control] = await readControlTotals(stores.postgres, "acme");
    t.ok(control !== undefined && isAccountedFor(control), "each hour is in one class");
    t.strictSame(
      control?.classes.map(({ class: of, reason, rows, cost }) => [of, reason, rows, cost].join(" ")),
      ["charged  24 7.2", "left_out failed 72 0"],
    );
  },
);
