import { spawnSync } from "node:child_process";
import pino from "pino";
import t, { type Test } from "tap";
import type { Config } from "../../src/config/config.js";
import type { PrometheusEmitter } from "../../src/config/settings/emitters.js";
import { buildApp } from "../../src/http/app.js";
import { prefersOpenMetrics } from "../../src/http/routes/tenant-metrics.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { withEmitters } from "../export/emitters/emitting.js";
import { holds } from "../holds.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { needs } from "../programs.js";
import { fixedTenant, openTestStores } from "../stores.js";
import { get, insertBilling, insertChargebacks, NOW } from "./service.js";

const URL = "/api/v1/tenants/acme/metrics";
const NASTY = 'a"b\\c\nd,e={}';

function prometheusEmitter(changes: Partial<PrometheusEmitter> = {}): PrometheusEmitter {
  return {
    type: "prometheus",
    pipelines: ["chargeback", "billing", "resource", "identity", "topic_attribution"],
    params: { days: 1, provisional: "mark" },
    ...changes,
  };
}

t.test("GET /api/v1/tenants/{tenant_name}/metrics", async (t) => {
  const { stores, config } = await openTestStores(
    t,
    `tenants:${fixedTenant("acme")}${fixedTenant("globex")}`,
  );
  const build = async (changed: Config) => {
    const logger = pino({ level: "silent" });
    const options = {
      config: changed,
      stores,
      control: undefined,
      logger,
      version: "1",
      mode: "both" as const,
    };
    const app = await buildApp({ ...options, clock: () => NOW });
    t.teardown(() => app.close());
    return app;
  };
  const page = async (emitter: PrometheusEmitter, headers = {}) => {
    const app = await build(withEmitters(config, "acme", [emitter]));
    return await app.inject({ url: URL, headers });
  };
  /** Returns the lines of one family. */
  const samples = async (emitter: PrometheusEmitter, name: string) =>
    (await page(emitter)).body.split("\n").filter((line) => line.startsWith(`chargehouse_${name}{`));

  await t.test("the page of a tenant without data only has its heads", async (t) => {
    const { statusCode, body } = await page(prometheusEmitter());
    t.equal(statusCode, 200);
    t.same(
      body.split("\n").filter((line) => !line.startsWith("#")),
      [""],
    );
  });

  await insertSome(stores);

  await t.test("a tenant without a prometheus emitter has no page of metrics", async (t) => {
    const app = await build(withEmitters(config, "acme", [prometheusEmitter()]));
    holds(t, await get(app, "/api/v1/tenants/globex/metrics"), {
      status: 404,
      body: { code: "emitter_not_found" },
    });
    holds(t, await get(app, "/api/v1/tenants/nobody/metrics"), {
      status: 404,
      body: { code: "tenant_not_found" },
    });
    holds(t, await get(app, `${URL}?days=3`), { status: 400 });
  });

  await t.test("the page has the latest day with costs, summed exactly by all labels", async (t) => {
    t.same(await samples(prometheusEmitter(), "chargeback_amount"), [
      'chargehouse_chargeback_amount{tenant_id="acme",ecosystem="generic_metrics_only",identity_id="a\\"b\\\\c\\nd,e={}",resource_id="r-1",product_type="STORAGE",cost_type="usage",allocation_method="usage_ratio",currency="USD"} -0.5',
      'chargehouse_chargeback_amount{tenant_id="acme",ecosystem="generic_metrics_only",identity_id="sa-1",resource_id="r-1",product_type="STORAGE",cost_type="usage",allocation_method="usage_ratio",currency="USD"} 30.000000000001',
    ]);
    t.same(await samples(prometheusEmitter(), "billing_amount"), [
      'chargehouse_billing_amount{tenant_id="acme",ecosystem="generic_metrics_only",resource_id="r-1",product_type="STORAGE",product_category="KAFKA",currency="USD"} 29.500000000001',
    ]);
    t.same(await samples(prometheusEmitter(), "newest_day_timestamp_seconds"), [
      `chargehouse_newest_day_timestamp_seconds{tenant_id="acme",ecosystem="generic_metrics_only",pipeline="chargeback"} ${Date.UTC(2026, 2, 3) / 1000}`,
      `chargehouse_newest_day_timestamp_seconds{tenant_id="acme",ecosystem="generic_metrics_only",pipeline="billing"} ${Date.UTC(2026, 2, 3) / 1000}`,
      `chargehouse_newest_day_timestamp_seconds{tenant_id="acme",ecosystem="generic_metrics_only",pipeline="topic_attribution"} ${Date.UTC(2026, 2, 2) / 1000}`,
    ]);
    t.same(await samples(prometheusEmitter(), "topic_attribution_amount"), [
      'chargehouse_topic_attribution_amount{tenant_id="acme",ecosystem="e",env_id="env-1",cluster_resource_id="lkc-1",topic_name="orders",product_category="KAFKA",product_type="BYTES",attribution_method="even_split",currency="USD"} 7',
    ]);
  });

  await t.test("provisional days are included or left out, as configured", async (t) => {
    const { client } = await stores.tenant("acme");
    const mark = async (marked: boolean) =>
      await client.command({
        query: `ALTER TABLE chargebacks UPDATE provisional = ${marked} WHERE day = '2026-03-03'`,
        clickhouse_settings: { mutations_sync: "1" },
      });
    const labels = (pipeline: string) =>
      `chargehouse_shown_provisional_dates{tenant_id="acme",ecosystem="generic_metrics_only",pipeline="${pipeline}"}`;
    const counts = async (emitter: PrometheusEmitter) => await samples(emitter, "shown_provisional_dates");
    await mark(true);
    t.same(await counts(prometheusEmitter({ params: { days: 2, provisional: "mark" } })), [
      `${labels("chargeback")} 1`,
      `${labels("billing")} 1`,
      `${labels("topic_attribution")} 0`,
    ]);
    const waiting = prometheusEmitter({ params: { days: 1, provisional: "wait" } });
    t.match(
      (await samples(waiting, "billing_amount")).join("\n"),
      /^[^\n]*\} 8$/,
      "the page shows the day before",
    );
    t.same((await counts(waiting)).at(0), `${labels("chargeback")} 0`);
    await mark(false);
    t.match((await samples(waiting, "billing_amount")).join("\n"), /^[^\n]*\} 29\.500000000001$/);
  });

  await t.test("several days have a label with their date, and none is too old", async (t) => {
    const dated = async (emitter: PrometheusEmitter) =>
      (await samples(emitter, "billing_amount")).map((line) =>
        /date="(.*)"\} (.*)$/.exec(line)?.slice(1).join(" "),
      );
    t.same(await dated(prometheusEmitter({ params: { days: 2, provisional: "mark" } })), [
      "2026-03-01 8",
      "2026-03-03 29.500000000001",
    ]);
    t.same((await dated(prometheusEmitter({ params: { days: 31, provisional: "mark" } }))).length, 3);
    t.same(await dated(prometheusEmitter({ params: { days: 31, provisional: "mark" }, lookback_days: 7 })), [
      "2026-03-03 29.500000000001",
    ]);
  });

  await t.test("the page shows current resources, and no deleted ones", async (t) => {
    t.same(await samples(prometheusEmitter(), "resource_active"), [
      'chargehouse_resource_active{tenant_id="acme",ecosystem="e",resource_id="r-1",resource_type="cluster"} 1',
    ]);
    const identities = await samples(prometheusEmitter(), "identity_active");
    t.equal(identities.length, 12_001);
    t.equal(new Set(identities).size, 12_001);
    t.equal(
      identities[0],
      'chargehouse_identity_active{tenant_id="acme",ecosystem="e",identity_id="a\\"b\\\\c\\nd,e={}",identity_type="user"} 1',
    );
  });

  await t.test("the page only shows what the emitter configures", async (t) => {
    const { body } = await page(prometheusEmitter({ pipelines: ["billing"] }));
    const families = [...body.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
    t.same(families, [
      "chargehouse_newest_day_timestamp_seconds",
      "chargehouse_shown_provisional_dates",
      "chargehouse_billing_amount",
    ]);
  });

  await t.test("the page has the format that the client prefers", async (t) => {
    const text = await page(prometheusEmitter());
    t.equal(text.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    t.notMatch(text.body, /EOF/);
    const open = await page(prometheusEmitter(), { accept: "application/openmetrics-text" });
    t.equal(open.headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    t.equal(open.body, `${text.body}# EOF\n`);
    t.notMatch(text.body, /\n\n/);
    for (const [accept, wanted] of [
      ["application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1", true],
      [
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;q=0.5,*/*;q=0.1",
        true,
      ],
      ["text/plain", false],
      ["*/*", false],
      ["application/openmetrics-text;q=0", false],
      ["application/openmetrics-text;q=0.2,text/plain;q=0.3", false],
    ] as const)
      t.equal(prefersOpenMetrics(accept), wanted, accept);
  });

  await t.test("promtool finds no problem in the page", needs("prometheus", "promtool"), async (t) => {
    const { body } = await page(prometheusEmitter({ params: { days: 3, provisional: "mark" } }));
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input: body,
      encoding: "utf8",
    });
    t.same({ status, stdout, stderr }, { status: 0, stdout: "", stderr: "" });
  });

  await t.test(
    "Prometheus scrapes the page and returns its values",
    needs("prometheus", "promtool"),
    async (t) => {
      const app = await build(withEmitters(config, "acme", [prometheusEmitter()]));
      await app.listen({ port: 0, host: "127.0.0.1" });
      const address = app.server.address();
      const port = address !== null && typeof address === "object" ? address.port : 0;
      const { url } = await startRealPrometheus(
        t,
        "",
        `global: {scrape_interval: 1s}\nscrape_configs: [{job_name: costs, metrics_path: ${URL}, static_configs: [{targets: ["127.0.0.1:${port}"]}]}]\n`,
      );
      holds(t, await received(t, url, "sum(chargehouse_chargeback_amount)"), [
        { value: [Number, "29.500000000001"] },
      ]);
      holds(t, await received(t, url, "chargehouse_chargeback_amount < 0"), [
        { metric: { identity_id: NASTY } },
      ]);
      holds(t, await received(t, url, "count(chargehouse_identity_active)"), [{ value: [Number, "12001"] }]);
      holds(t, await received(t, url, "up"), [{ value: [Number, "1"] }]);
    },
  );
});

/** Waits for the result of a query. */
async function received(t: Test, url: string, query: string): Promise<unknown> {
  const headers = { authorization: `Basic ${Buffer.from(`me:${PASSWORD}`).toString("base64")}` };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`, { headers });
    const { data } = (await response.json()) as { data: { result: unknown[] } };
    if (data.result.length > 0) return data.result;
    if (Date.now() > deadline) return t.fail(`no response to ${query}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function insertSome(stores: OpenedStores): Promise<void> {
  await insertBilling(stores, "acme", [
    { timestamp: "2026-02-01T00:00:00Z", total_cost: "1" },
    { timestamp: "2026-03-01T00:00:00Z", total_cost: "8" },
    { timestamp: "2026-03-03T00:00:00Z", total_cost: "29.5" },
    { timestamp: "2026-03-03T01:00:00Z", total_cost: "0.000000000001" },
  ]);
  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-02-01T00:00:00Z", amount: "1" },
    { timestamp: "2026-03-01T00:00:00Z", amount: "8" },
    { timestamp: "2026-03-03T00:00:00Z", amount: "10", env_id: "one" },
    { timestamp: "2026-03-03T00:00:00Z", amount: "20", env_id: "other" },
    { timestamp: "2026-03-03T01:00:00Z", amount: "0.000000000001", allocation_detail: "no_metrics_located" },
    { timestamp: "2026-03-03T00:00:00Z", amount: "-0.5", identity_id: NASTY },
  ]);
  const { client } = await stores.tenant("acme");
  const topic = {
    timestamp: "2026-03-02T00:00:00Z",
    ecosystem: "e",
    tenant_id: "acme",
    env_id: "env-1",
    cluster_resource_id: "lkc-1",
    topic_name: "orders",
    product_category: "KAFKA",
    product_type: "BYTES",
    attribution_method: "even_split",
    attribution_detail: "x",
    metric: "",
    amount_hi: "7",
    amount_lo: "0",
  };
  await client.insert({ table: "topic_attributions", format: "JSONEachRow", values: [topic] });
  const { postgres } = stores;
  await postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'e')",
  );
  await postgres.query(
    `INSERT INTO resources (tenant_name, resource_id, ecosystem, tenant_id, resource_type, status, deleted_at, last_seen_at)
     VALUES ('acme', 'r-1', 'e', 'acme', 'cluster', 'active', NULL, now()), ('acme', 'r-2', 'e', 'acme', 'cluster', 'deleted', now(), now())`,
  );
  await postgres.query(
    `INSERT INTO identities (tenant_name, identity_id, ecosystem, tenant_id, identity_type, last_seen_at)
     SELECT 'acme', id, 'e', 'acme', 'user', now() FROM (SELECT $1 AS id UNION ALL SELECT concat('user-', n) FROM generate_series(1, 12000) AS n) AS ids`,
    [NASTY],
  );
}
