import t from "tap";
import { describeConfig } from "../../src/config/describe.js";
import { loadConfig } from "../../src/config/load.js";
import { formatProblem } from "../../src/config/reader/problem.js";
import { type EcosystemSettings, settingsOf } from "../../src/config/settings/ecosystem-settings.js";
import { confluentCloudSettings } from "../../src/ingest/ecosystems/confluent_cloud/settings.js";
import { holds } from "../holds.js";
import { testEcosystems as generic } from "./loading.js";

const P = "tenants.acme.plugin_settings";
const ecosystems = new Map<string, EcosystemSettings>([
  ...generic,
  ["confluent_cloud", confluentCloudSettings],
]);

/** The first line of `settings` is line 7. */
function load(settings: readonly string[], ccloud = "{key: K, secret: hunter2}") {
  const text = [
    "tenants:",
    "  acme:",
    "    ecosystem: confluent_cloud",
    "    tenant_id: acme",
    '    storage: {connection_string: "embedded:acme"}',
    `    plugin_settings: {ccloud_api: ${ccloud},`,
    ...settings.map((line) => `      ${line},`),
    "      }",
    "",
  ].join("\n");
  return loadConfig(text, { file: "c.yaml", env: { R: "EU-West-1" }, ecosystems, folder: "/srv" });
}

function problemsOf(settings: readonly string[], ccloud?: string): string[] {
  const loaded = load(settings, ccloud);
  return loaded.ok ? [] : loaded.problems.map((problem) => formatProblem(problem).replace("c.yaml:", ""));
}

function settingsOfTenant(settings: readonly string[], ccloud?: string) {
  const loaded = load(settings, ccloud);
  const tenant = loaded.ok ? loaded.config.tenants.get("acme") : undefined;
  if (tenant === undefined) throw new Error(problemsOf(settings, ccloud).join("\n"));
  return settingsOf(confluentCloudSettings, tenant.plugin_settings);
}

t.test("a key and its secret are enough; everything else has a default", async (t) => {
  holds(t, settingsOfTenant([]), {
    ccloud_api: { key: "K", secret: "hunter2", base_url: "https://api.confluent.cloud" },
    billing_api: { days_per_query: 15 },
    flink: [],
    allocator_params: { kafka_cku_usage_ratio: "0.7", kafka_cku_shared_ratio: "0.3" },
    topic_attribution: { enabled: false },
    metrics_step_seconds: 3600,
  });
  t.equal(settingsOfTenant([]).metrics, undefined);
});

t.test("every setting is read as intended", async (t) => {
  const settings = settingsOfTenant(
    [
      "billing_api: {days_per_query: 30}",
      `flink: [{region_id: " US-East-1 ", key: F, secret: s}, {region_id: "\${R}", key: G, secret: s, base_url: "http://gateway/flink/"}]`,
      "allocator_params: {kafka_cku_usage_ratio: 0.66666, kafka_cku_shared_ratio: '0.33334'}",
      "metrics: {url: http://prometheus}",
    ],
    '{key: K, secret: S, base_url: "http://gateway:8080/prefix/"}',
  );
  holds(t, settings, {
    ccloud_api: { base_url: "http://gateway:8080/prefix" },
    billing_api: { days_per_query: 30 },
    flink: [{ region_id: "us-east-1" }, { region_id: "eu-west-1", base_url: "http://gateway/flink" }],
    allocator_params: { kafka_cku_usage_ratio: "0.66666", kafka_cku_shared_ratio: "0.33334" },
  });
});

const ratios = (usage: string, shared: string) =>
  `allocator_params: {kafka_cku_usage_ratio: ${usage}, kafka_cku_shared_ratio: ${shared}}`;

t.test("ratios must sum to 1 within a ten-thousandth", async (t) => {
  for (const [usage, shared] of [
    ["1", "0"],
    ["0", "1"],
    ["0.5", "0.5"],
    ["0.7", "0.3001"],
    ["0.6999", "0.3"],
  ] as const) {
    t.same(problemsOf([ratios(usage, shared)]), [], `${usage} + ${shared}`);
  }
  for (const [usage, shared] of [
    ["0.7", "0.300101"],
    ["0.6998", "0.3"],
    ["1", "1"],
    ["0", "0"],
  ] as const) {
    t.same(problemsOf([ratios(usage, shared)]), [
      `7: ${P}.allocator_params.kafka_cku_usage_ratio: must sum to 1 with kafka_cku_shared_ratio (${shared}), which ${usage} does not`,
    ]);
  }
  holds(t, problemsOf(["allocator_params: {kafka_cku_usage_ratio: 0.5}"]), [
    /must sum to 1 with kafka_cku_shared_ratio \(0.3\)/,
  ]);
});

const RATIO = "must be a decimal from 0 to 1, with at most 6 decimals";
const REGION = "must be a region as the API names it, such as us-east-1, without the cloud in front";

const refused: [name: string, settings: string[], problems: string[], ccloud?: string][] = [
  [
    "no keys",
    [],
    [
      `6: ${P}.ccloud_api.key: is required: text of 1 to 1000 characters`,
      `6: ${P}.ccloud_api.secret: is required: text of 1 to 1000 characters`,
    ],
    "{}",
  ],
  [
    "an address with credentials",
    [],
    [`6: ${P}.ccloud_api.base_url: must not contain credentials; they have keys of their own`],
    "{key: K, secret: S, base_url: 'https://u:p@h'}",
  ],
  [
    "too few and too many days",
    ["billing_api: {days_per_query: 0}"],
    [`7: ${P}.billing_api.days_per_query: must be an integer from 1 to 30, not 0`],
  ],
  [
    "more days than a month",
    ["billing_api: {days_per_query: 31}"],
    [`7: ${P}.billing_api.days_per_query: must be an integer from 1 to 30, not 31`],
  ],
  [
    "a ratio in words",
    [ratios("most", "0.3")],
    [
      `7: ${P}.allocator_params.kafka_cku_usage_ratio: must be a plain decimal number such as 0.25 (no exponent, no separators), not "most"`,
    ],
  ],
  [
    "ratios out of range",
    [ratios("1.5", "-0.5")],
    [
      `7: ${P}.allocator_params.kafka_cku_usage_ratio: ${RATIO}, not 1.5`,
      `7: ${P}.allocator_params.kafka_cku_shared_ratio: must not be negative, not -0.5`,
    ],
  ],
  [
    "a parameter that there is not",
    ["allocator_params: {kafka_cku_usage_ration: 0.5}"],
    [`7: ${P}.allocator_params.kafka_cku_usage_ration: unknown key; did you mean \`kafka_cku_usage_ratio\`?`],
  ],
  [
    "a region with its cloud",
    ["flink: [{region_id: aws.us-east-1, key: F, secret: S}]"],
    [`7: ${P}.flink[0].region_id: ${REGION}, not "aws.us-east-1"`],
  ],
  [
    "a region twice, spelled otherwise",
    ['flink: [{region_id: eu, key: F, secret: S}, {region_id: " EU", key: F, secret: S}]'],
    [`7: ${P}.flink[1].region_id: is the same as that of entry [0]; it must be unique`],
  ],
  [
    "a region without a key",
    ["flink: [{region_id: eu}]"],
    [
      `7: ${P}.flink[0].key: is required: text of 1 to 1000 characters`,
      `7: ${P}.flink[0].secret: is required: text of 1 to 1000 characters`,
    ],
  ],
  [
    "topics without metrics",
    ["topic_attribution: {enabled: true}"],
    [`7: ${P}.topic_attribution.enabled: needs \`metrics\`: topics are weighed by what is measured`],
  ],
  [
    "the vendor's metrics in place of a Prometheus",
    ["metrics: {url: 'https://api.telemetry.confluent.cloud/v2/metrics'}"],
    [
      `7: ${P}.metrics.url: must be a Prometheus that scrapes the vendor's metrics; api.telemetry.confluent.cloud is where it scrapes them`,
    ],
  ],
];

for (const [name, settings, problems, ccloud] of refused) {
  t.test(`refused: ${name}`, async (t) => t.same(problemsOf(settings, ccloud), problems));
}

t.test("secrets are masked, and never part of a problem", async (t) => {
  const loaded = load(["flink: [{region_id: eu, key: F, secret: hunter2}]"]);
  t.ok(loaded.ok);
  if (!loaded.ok) return;
  const shown = JSON.stringify(describeConfig(loaded.config, ecosystems));
  t.notMatch(shown, /hunter2/);
  t.match(shown, /"secret":"\*{8}"/);
  const problems = problemsOf(
    ["flink: [{region_id: eu, key: F, secret: [hunter2]}]"],
    "{key: K, secret: {hunter2: 1}}",
  );
  t.equal(problems.length, 2);
  t.notMatch(problems.join(), /hunter2/);
});
