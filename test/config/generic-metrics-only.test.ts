import t from "tap";
import { settingsOf } from "../../src/config/settings/ecosystem-settings.js";
import { genericMetricsOnlySettings } from "../../src/ingest/ecosystems/generic_metrics_only/settings.js";
import { configOf, oneTenant, problemsOf } from "./loading.js";

const P = "tenants.acme.plugin_settings";

const fixed = (more = "") =>
  `{name: A, product_category: c, rate: 1, cost_quantity: {type: fixed, count: 1}, allocation_strategy: even_split${more}}`;
const measured =
  "{name: M, product_category: c, rate: 1, cost_quantity: {type: storage_gib, query: q}, allocation_strategy: even_split}";
const usage =
  "{name: U, product_category: c, rate: 1, cost_quantity: {type: fixed, count: 1}, allocation_strategy: usage_ratio, allocation_query: q, allocation_label: l}";
const prometheus = "metrics: {url: http://p}";
const discovered = "identity_source: {discovery_query: q}";
const named = "identity_source: {source: static, static_identities: [{identity_id: a}]}";

const valid: [name: string, costTypes: string, settings: string[]][] = [
  ["only fixed types need neither metrics nor identities", `[${fixed()}]`, []],
  ["only fixed types with named identities need no metrics", `[${fixed()}]`, [named]],
  ["measured types with discovery", `[${fixed()}, ${measured}]`, [prometheus, discovered]],
  [
    "usage with both sources",
    `[${usage}]`,
    [prometheus, "identity_source: {source: both, discovery_query: q}"],
  ],
  [
    "measured types without discovery, stated explicitly",
    `[${measured}]`,
    [prometheus, "identity_source: {source: static}"],
  ],
];

for (const [name, costTypes, settings] of valid) {
  t.test(name, async (t) => t.same(problemsOf(oneTenant({ costTypes, settings })), []));
}

const refused: [name: string, costTypes: string, settings: string[], problems: string[]][] = [
  ...["euro", "eur", "EU", "€", "EURO", "E1R"].map((text): [string, string, string[], string[]] => [
    `the currency ${text}`,
    `[${fixed()}]`,
    [`currency: ${text}`],
    [`9: ${P}.currency: must be three capital letters such as EUR, not "${text}"`],
  ]),
  ["no cost types", "[]", [], [`8: ${P}.cost_types: must be a list of 1 to 500 cost types, not 0`]],
  [
    "a measured type without metrics",
    `[${fixed()}, ${measured}]`,
    [named],
    [`6: ${P}.metrics: is required: cost_types[1] queries Prometheus`],
  ],
  [
    "usage without metrics",
    `[${usage}]`,
    [named],
    [`6: ${P}.metrics: is required: cost_types[0] queries Prometheus`],
  ],
  [
    "discovery without metrics",
    `[${fixed()}]`,
    [discovered],
    [`6: ${P}.metrics: is required: identity_source has source prometheus`],
  ],
  [
    "a measured type without identities",
    `[${measured}]`,
    [prometheus],
    [
      `6: ${P}.identity_source: is required: cost_types[0] queries Prometheus (source: static needs no discovery)`,
    ],
  ],
  [
    "a prometheus source without its query",
    `[${fixed()}]`,
    [prometheus, "identity_source: {}"],
    [`10: ${P}.identity_source.discovery_query: is required with source prometheus`],
  ],
  [
    "a source both without its query",
    `[${fixed()}]`,
    [prometheus, "identity_source: {source: both}"],
    [`10: ${P}.identity_source.discovery_query: is required with source both`],
  ],
  [
    "a static source with a query",
    `[${fixed()}]`,
    ["identity_source: {source: static, discovery_query: q}"],
    [
      `9: ${P}.identity_source.discovery_query: is not used with source static: remove it, or use source both`,
    ],
  ],
  [
    "named identities that are not used",
    `[${fixed()}]`,
    [prometheus, "identity_source: {discovery_query: q, static_identities: [{identity_id: a}]}"],
    [`10: ${P}.identity_source.static_identities: are not used with source prometheus: use source both`],
  ],
  [
    "an identity twice",
    `[${fixed()}]`,
    ["identity_source: {source: static, static_identities: [{identity_id: a}, {identity_id: a}]}"],
    [
      `9: ${P}.identity_source.static_identities[1].identity_id: is the same as that of entry [0]; it must be unique`,
    ],
  ],
  [
    "a name twice",
    `[${fixed()}, ${fixed()}]`,
    [],
    [
      `8: ${P}.cost_types[1].name: is the same as that of entry [0], and both count on some day; it must be unique on each day`,
    ],
  ],
  [
    "a name in lower case",
    `[${fixed().replace("name: A", "name: pg")}]`,
    [],
    [
      `8: ${P}.cost_types[0].name: must be a name such as PG_COMPUTE: capital letters, digits and \`_\`, at most 100 characters, not "pg"`,
    ],
  ],
  [
    "usage without query and label",
    "[{name: U, product_category: c, rate: 1, cost_quantity: {type: fixed, count: 1}, allocation_strategy: usage_ratio}]",
    [prometheus, discovered],
    [
      `8: ${P}.cost_types[0].allocation_query: is required with allocation_strategy usage_ratio`,
      `8: ${P}.cost_types[0].allocation_label: is required with allocation_strategy usage_ratio`,
    ],
  ],
  [
    "an even split with a query",
    `[${fixed(", allocation_query: q")}]`,
    [],
    [`8: ${P}.cost_types[0].allocation_query: is not used with allocation_strategy even_split: remove it`],
  ],
  [
    "counts that are none",
    `[${fixed().replace("count: 1", "count: 0")}, ${fixed().replace("count: 1", "count: 1.5").replace("A", "B")}]`,
    [],
    [
      `8: ${P}.cost_types[0].cost_quantity.count: must be an integer from 1 to 1000000000, not 0`,
      `8: ${P}.cost_types[1].cost_quantity.count: must be an integer from 1 to 1000000000, not 1.5`,
    ],
  ],
  [
    "a quantity of no known kind, and one with the key of another",
    `[${fixed().replace("fixed", "fixd")}, ${measured.replace("query: q", "count: 1")}]`,
    [prometheus, discovered],
    [
      `8: ${P}.cost_types[0].cost_quantity.type: must be one of fixed, storage_gib, network_gib, not "fixd"`,
      `8: ${P}.cost_types[1].cost_quantity.count: unknown key; known here: type, query`,
      `8: ${P}.cost_types[1].cost_quantity.query: is required: a PromQL expression`,
    ],
  ],
  [
    "a label that Prometheus does not know",
    `[${usage.replace("label: l", "label: 1-l")}]`,
    [prometheus, discovered],
    [`8: ${P}.cost_types[0].allocation_label: must be a Prometheus label name such as principal, not "1-l"`],
  ],
];

for (const [name, costTypes, settings, problems] of refused) {
  t.test(name, async (t) => t.same(problemsOf(oneTenant({ costTypes, settings })), problems));
}

t.test("settings are typed for their ecosystem, and refused for others", async (t) => {
  const tenant = configOf(oneTenant({ settings: [named] })).tenants.get("acme");
  t.ok(tenant);
  if (tenant === undefined) return;
  const settings = settingsOf(genericMetricsOnlySettings, tenant.plugin_settings);
  t.equal(settings.cluster_id, "k");
  t.equal(settings.min_refresh_gap_seconds, 1800);
  t.same(settings.identity_source?.static_identities, [{ identity_id: "a", identity_type: "principal" }]);
  const { cluster_id: _, ...others } = settings;
  t.throws(() => settingsOf(genericMetricsOnlySettings, others), /not those of this ecosystem/);
});
