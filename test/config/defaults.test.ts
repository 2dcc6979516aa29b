import { readFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { metricsAuth } from "../../src/config/settings/metrics.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { holds } from "../holds.js";
import { configOf, oneTenant, problemsOf } from "./loading.js";

t.test("an empty file has every default", async (t) => {
  const { tenants, ...config } = configOf("");
  t.same(config, {
    data_dir: "/srv/data",
    logging: { format: "json", level: "info" },
    features: { enable_periodic_refresh: true, refresh_interval: 1800, max_parallel_tenants: 4 },
    api: {
      host: "127.0.0.1",
      port: 8080,
      auth: "none",
      insecure: false,
      public: ["docs"],
      roles: [],
      sessions: { idle_minutes: 60, max_hours: 12 },
      allowed_hosts: [],
      trusted_proxies: [],
      console: true,
      enable_cors: false,
      cors_origins: [],
      rate_limit: { max_per_minute: 6000, max_failed_sign_ons_per_minute: 30 },
      max_heavy_reads: 4,
      max_waiting_reads: 64,
      request_timeout_seconds: 30,
    },
    postgres: { kind: "embedded" },
    clickhouse: {},
    embedded: {
      sql_host: "127.0.0.1",
      sql_allowed_hosts: [],
      sql_users: {},
      sql_limits: {
        max_seconds: 300,
        max_result_rows: 10_000_000,
        max_result_mib: 1024,
        max_running: 3,
        max_per_minute: 1200,
      },
    },
  });
  t.equal(tenants.size, 0);
});

t.test("a tenant has every default", async (t) => {
  const tenant = configOf(oneTenant()).tenants.get("acme");
  t.same(tenant, {
    tenant_name: "acme",
    ecosystem: "generic_metrics_only",
    tenant_id: "acme",
    lookback_days: 200,
    cutoff_days: 5,
    retention_days: 250,
    allocation_retry_limit: 3,
    topic_attribution_retry_limit: 3,
    gather_failure_threshold: 5,
    zero_gather_deletion_threshold: -1,
    tenant_execution_timeout_seconds: 3600,
    metrics_prefetch_workers: 4,
    identity_to_team: {},
    allocation: { decimal_places: 4, identity: [{ assigned: "resource_id" }], rules: [], pass_on: [] },
    identity_maps: new Map(),
    line_columns: ruleColumns(),
    storage: { kind: "embedded", database: "acme" },
    plugin_settings: {
      metrics_step_seconds: 3600,
      min_refresh_gap_seconds: 1800,
      chargeback_granularity: "daily",
      emitters: [],
      cluster_id: "k",
      currency: "USD",
      cost_types: [
        {
          name: "A",
          product_category: "c",
          rate: "1",
          cost_quantity: { type: "fixed", count: 1 },
          allocation_strategy: "even_split",
        },
      ],
    },
  });
});

t.test("defaults are not shared between loads", async (t) => {
  configOf("").api.cors_origins.push("https://a.example");
  t.same(configOf("").api.cors_origins, []);
});

t.test("log levels are accepted in any case and by all their names", async (t) => {
  const names = {
    INFO: "info",
    Warning: "warn",
    warn: "warn",
    CRITICAL: "fatal",
    fatal: "fatal",
    Error: "error",
    debug: "debug",
  };
  for (const [written, level] of Object.entries(names)) {
    t.equal(configOf(`logging: {level: ${written}}`).logging.level, level, written);
  }
});

t.test("valid addresses of a Postgres server are accepted, and others are refused", async (t) => {
  for (const taken of [
    "postgres://u:p@h:5432/d",
    "postgresql://h/d",
    "postgres://u:p@[::1]:5432/d?sslmode=require",
    "postgres://u@/d?host=/var/run/postgresql",
  ]) {
    t.same(configOf(`postgres: {connection_string: "${taken}"}`).postgres, {
      kind: "server",
      connection_string: taken,
    });
  }
  for (const refused of [
    "mysql://h/d",
    "postgres://h",
    "postgres:///d",
    "h:5432/d",
    "postgres://h/",
    "sqlite:x",
  ]) {
    holds(
      t,
      problemsOf(`postgres: {connection_string: "${refused}"}`),
      [/must be `embedded`, or postgres:/],
      refused,
    );
  }
});

t.test("credentials of metrics are one value", async (t) => {
  const metrics = { type: "prometheus", url: "http://p" } as const;
  t.same(metricsAuth({ ...metrics, auth_type: "none" }), { kind: "none" });
  t.same(metricsAuth({ ...metrics, auth_type: "basic", username: "u", password: "p" }), {
    kind: "basic",
    username: "u",
    password: "p",
  });
  t.same(metricsAuth({ ...metrics, auth_type: "bearer", bearer_token: "t" }), { kind: "bearer", token: "t" });
  t.strictSame(metricsAuth({ ...metrics, auth_type: "bearer", bearer_token_file: "/run/token" }), {
    kind: "bearer_file",
    file: "/run/token",
  });
  t.throws(() => metricsAuth({ ...metrics, auth_type: "bearer" }), /not validated/);
});

t.test("the example is valid without any variables", async (t) => {
  const config = configOf(await readFile(join(projectRoot(), "examples/chargehouse.yaml"), "utf8"));
  t.same([...config.tenants.keys()], ["postgres-prod", "support"]);
  holds(t, config.tenants.get("postgres-prod")?.plugin_settings.metrics, { url: "http://127.0.0.1:9090" });
  t.equal(config.tenants.get("support")?.plugin_settings.metrics, undefined);
});
