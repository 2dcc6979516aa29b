/** Settings of `self_managed_kafka`: valid values, defaults and refusals. */
import t from "tap";
import { describeConfig } from "../../src/config/describe.js";
import { loadConfig } from "../../src/config/load.js";
import { formatProblem } from "../../src/config/reader/problem.js";
import { settingsOf } from "../../src/config/settings/ecosystem-settings.js";
import { productsOf } from "../../src/ingest/ecosystems/self_managed_kafka/products.js";
import { selfManagedKafkaSettings } from "../../src/ingest/ecosystems/self_managed_kafka/settings.js";
import { holds } from "../holds.js";

const ecosystems = new Map([["self_managed_kafka", selfManagedKafkaSettings]]);

const least = {
  cluster_id: "cluster_id: orders",
  broker_count: "broker_count: 3",
  cost_model:
    "cost_model: {compute_hourly_rate: 0.10, storage_per_gib_hourly: 0.0001, network_ingress_per_gib: 0.01, network_egress_per_gib: 0.02}",
  metrics: "metrics: {url: http://p}",
};

function load(changes: Readonly<Record<string, string | undefined>> = {}) {
  const lines = Object.values({ ...least, ...changes }).filter((line) => line !== undefined && line !== "");
  const text = [
    "tenants:",
    "  acme:",
    "    ecosystem: self_managed_kafka",
    "    tenant_id: acme",
    '    storage: {connection_string: "embedded:acme"}',
    "    plugin_settings:",
    ...lines.map((line) => `      ${line}`),
    "",
  ].join("\n");
  return loadConfig(text, { file: "c.yaml", env: {}, ecosystems, folder: "/srv" });
}

function settings(changes: Readonly<Record<string, string | undefined>> = {}) {
  const loaded = load(changes);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join("\n"));
  const tenant = loaded.config.tenants.get("acme");
  if (tenant === undefined) throw new Error("no tenant");
  return { config: loaded.config, own: settingsOf(selfManagedKafkaSettings, tenant.plugin_settings) };
}

/** Returns the problems without file, line and the common path. */
function problems(changes: Readonly<Record<string, string | undefined>>): string[] {
  const loaded = load(changes);
  const prefix = /^c\.yaml:\d+: tenants\.acme\.plugin_settings\.?/;
  return loaded.ok ? [] : loaded.problems.map((problem) => formatProblem(problem).replace(prefix, ""));
}

t.test("a minimal configuration has all defaults", async (t) => {
  const { own } = settings();
  holds(t, own, {
    cluster_id: "orders",
    broker_count: 3,
    discovery_window_hours: 1,
    identity_source: { source: "prometheus", label: "principal", default_team: "UNASSIGNED" },
    resource_source: { source: "prometheus" },
    queries: {},
  });
  t.equal(own.region, undefined);
  t.equal(own.metric_selector, undefined);
});

const rates = (own: Parameters<typeof productsOf>[0]) => productsOf(own).map(({ rate }) => rate);
const overridden =
  "cost_model: {compute_hourly_rate: 0.10, storage_per_gib_hourly: 0.0001, network_ingress_per_gib: 0.01, network_egress_per_gib: 0.02, region_overrides: {eu-west-1: {network_egress_per_gib: 0.05}, us-east-1: {compute_hourly_rate: 0, storage_per_gib_hourly: }}}";

t.test("overriding one rate of a region keeps the other three", async (t) => {
  const base = ["0.1", "0.0001", "0.01", "0.02"];
  const cases: [string, string[]][] = [
    ["region: eu-west-1", ["0.1", "0.0001", "0.01", "0.05"]],
    ["region: us-east-1", ["0", ...base.slice(1)]],
    ["region: ap-south-1", base],
    ["region: toString", base],
  ];
  for (const [region, expected] of cases) {
    t.same(rates(settings({ cost_model: overridden, region }).own), expected, region);
  }
});

t.test("selectors and servers are normalized, and passwords are masked", async (t) => {
  const { own, config } = settings({
    metric_selector: `metric_selector: ' cluster = "a,b}", env=~''x|y'', '`,
    resource_source:
      'resource_source: {source: admin_api, bootstrap_servers: " k1 , [::1]:9093", security_protocol: SASL_SSL, sasl_mechanism: SCRAM-SHA-512, sasl_username: u, sasl_password: hunter2, ssl_ca_file: /etc/ca.pem}',
  });
  t.equal(own.metric_selector, `cluster="a,b}",env=~'x|y'`);
  t.equal(own.resource_source.bootstrap_servers, "k1:9092,[::1]:9093");
  const shown = JSON.stringify(describeConfig(config, ecosystems));
  t.notMatch(shown, /hunter2/);
  t.match(shown, /"sasl_password":"\*+"/);
});

const accepted: [string, Record<string, string>][] = [
  ["static identities", { i: "identity_source: {source: static, static_identities: [{identity_id: a}]}" }],
  [
    "a discovery query with static identities: brokers and topics come from it",
    {
      i: "identity_source: {source: static, discovery_query: q, static_identities: [{identity_id: a}]}",
    },
  ],
  ["both sources without names", { i: "identity_source: {source: both}" }],
  ["a plain admin API", { r: "resource_source: {source: admin_api, bootstrap_servers: 'k:9092'}" }],
  [
    "queries with their selector",
    { s: 'metric_selector: a="b"', q: "queries: {cluster_storage_bytes: 'sum(m{$selector})'}" },
  ],
  ["another currency", { cost_model: (least.cost_model ?? "").replace("{", "{currency: EUR, ") }],
  ["free rates", { cost_model: (least.cost_model ?? "").replace("0.10", "0") }],
];
for (const [name, changes] of accepted) {
  t.test(`accepted: ${name}`, async (t) => t.same(problems(changes), []));
}

const admin = (rest: string) => `resource_source: {source: admin_api, bootstrap_servers: 'k:9092'${rest}}`;
const refused: [string, Record<string, string | undefined>, string[]][] = [
  [
    "nothing of what is required",
    {
      cluster_id: undefined,
      broker_count: undefined,
      cost_model: undefined,
      metrics: undefined,
      r: "region: x",
    },
    [
      "cluster_id: is required: text of 1 to 200 characters",
      "broker_count: is required: an integer from 1 to 100000",
      "cost_model: is required: a mapping",
      "metrics: is required: a mapping",
    ],
  ],
  [
    "no broker",
    { broker_count: "broker_count: 0" },
    ["broker_count: must be an integer from 1 to 100000, not 0"],
  ],
  [
    "a currency that is no code",
    { cost_model: (least.cost_model ?? "").replace("{", "{currency: eur, ") },
    ['cost_model.currency: must be three capital letters such as EUR, not "eur"'],
  ],
  [
    "rates of regions without a region",
    { cost_model: overridden },
    ["cost_model.region_overrides: is not used without region: set it, or remove the overrides"],
  ],
  [
    "rates that are none",
    {
      region: "region: eu",
      cost_model:
        "cost_model: {compute_hourly_rate: -1, storage_per_gib_hourly: 1e-3, network_ingress_per_gib: free, region_overrides: {eu: {network_egress_per_gib: -0.1, compute_rate: 1}}}",
    },
    [
      "cost_model.compute_hourly_rate: must not be negative, not -1",
      "cost_model.storage_per_gib_hourly: must be a plain decimal number such as 0.25 (no exponent, no separators), not 1e-3",
      'cost_model.network_ingress_per_gib: must be a plain decimal number such as 0.25 (no exponent, no separators), not "free"',
      "cost_model.network_egress_per_gib: is required: a decimal of at least 0, with at most 12 decimals",
      "cost_model.region_overrides.eu.compute_rate: unknown key; known here: compute_hourly_rate, storage_per_gib_hourly, network_ingress_per_gib, network_egress_per_gib, partition_hourly_rate",
      "cost_model.region_overrides.eu.network_egress_per_gib: must not be negative, not -0.1",
    ],
  ],
  [
    "static without names",
    { i: "identity_source: {source: static}" },
    ["identity_source.static_identities: are required with source static: else nobody could be charged"],
  ],
  [
    "names that are not used",
    { i: "identity_source: {static_identities: [{identity_id: a}]}" },
    ["identity_source.static_identities: are not used with source prometheus: use source both"],
  ],
  [
    "the window at its old place",
    { i: "identity_source: {discovery_window_hours: 2}" },
    [
      "identity_source.discovery_window_hours: unknown key; `discovery_window_hours` is a key of `tenants.acme.plugin_settings`",
    ],
  ],
  [
    "an admin API without servers",
    { r: "resource_source: {source: admin_api}" },
    ["resource_source.bootstrap_servers: is required with source admin_api"],
  ],
  [
    "servers that are none",
    { r: "resource_source: {source: admin_api, bootstrap_servers: 'kafka://k:9092'}" },
    ["resource_source.bootstrap_servers: must be host:port, several separated by commas"],
  ],
  [
    "SASL without user and password",
    { r: admin(", security_protocol: SASL_SSL, sasl_mechanism: PLAIN") },
    [
      "resource_source.sasl_username: is required with security_protocol SASL_SSL",
      "resource_source.sasl_password: is required with security_protocol SASL_SSL",
    ],
  ],
  [
    "SASL without a mechanism",
    { r: admin(", security_protocol: SASL_PLAINTEXT, sasl_username: u, sasl_password: hunter2") },
    ["resource_source.sasl_mechanism: is required with security_protocol SASL_PLAINTEXT"],
  ],
  [
    "a mechanism without SASL",
    { r: admin(", security_protocol: SSL, sasl_mechanism: PLAIN") },
    ["resource_source.sasl_mechanism: is not used with security_protocol SSL: remove it"],
  ],
  [
    "certificates without TLS, and half of a pair",
    { r: admin(", ssl_ca_file: /ca.pem") },
    ["resource_source.ssl_ca_file: is not used with security_protocol PLAINTEXT: remove it"],
  ],
  [
    "a certificate without its key",
    { r: admin(", security_protocol: SSL, ssl_certificate_file: /c.pem") },
    ["resource_source.ssl_key_file: is required with ssl_certificate_file"],
  ],
  [
    "an admin API's keys without it",
    { r: "resource_source: {bootstrap_servers: 'k:9092'}" },
    ["resource_source.bootstrap_servers: is not used with source prometheus: remove it"],
  ],
  [
    "a selector that is none",
    { s: "metric_selector: 'cluster=\"a\"} or vector(1) #'" },
    [
      'metric_selector: must be label matchers such as cluster="orders",env=~"prod|stage", not "cluster=\\"a\\"} or vector(1) #"',
    ],
  ],
  [
    "queries that the selector would not narrow",
    {
      s: 'metric_selector: a="b"',
      q: "queries: {cluster_bytes_in: q}",
      i: "identity_source: {discovery_query: q}",
    },
    [
      "queries.cluster_bytes_in: has no $selector, so metric_selector would not narrow it: write metric{$selector}",
      "identity_source.discovery_query: has no $selector, so metric_selector would not narrow it: write metric{$selector}",
    ],
  ],
  [
    "bytes of principals that are not queried",
    {
      q: "queries: {bytes_in_per_principal: q}",
      i: "identity_source: {source: static, static_identities: [{identity_id: a}]}",
    },
    ["queries.bytes_in_per_principal: is not used with identity_source.source static: remove it"],
  ],
];
for (const [name, changes, expected] of refused) {
  t.test(`refused: ${name}`, async (t) => {
    const found = problems(changes);
    t.same(new Set(found), new Set(expected));
    t.notMatch(found.join(), /hunter2/);
  });
}
