/** Settings that cause a window to be gathered again, found by changing each setting in the definitions. */
import { KindGuard, type TSchema, Type } from "@sinclair/typebox";
import t from "tap";
import { notesOf } from "../../src/config/reader/setting.js";
import { pluginDefinition } from "../../src/config/settings/ecosystem-settings.js";
import type { PluginSettings } from "../../src/config/settings/plugin-settings.js";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import { confluentCloud } from "../../src/ingest/ecosystems/confluent_cloud/index.js";
import { genericMetricsOnly } from "../../src/ingest/ecosystems/generic_metrics_only/index.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { selfManagedKafka } from "../../src/ingest/ecosystems/self_managed_kafka/index.js";
import { settingsDigest } from "../../src/ingest/settings-digest.js";

/** A setting, and two whole values that differ only in it. */
interface Change {
  readonly name: string;
  /** The note of the definition, or of a definition that contains it. */
  readonly counts: boolean;
  readonly value: (of: "before" | "after") => unknown;
}

function changesOf(definition: TSchema, name = "", within = true): Change[] {
  const { secret, inert, discriminator, unsupported } = notesOf(definition);
  const counts = within && !secret && !inert;
  const wrapped = (changes: readonly Change[], wrap: (part: unknown) => unknown) =>
    changes.map((change) => ({ ...change, value: (of: "before" | "after") => wrap(change.value(of)) }));
  if (unsupported) return [];
  if (KindGuard.IsObject(definition)) {
    const parts = Object.entries(definition.properties);
    const whole = Object.fromEntries(parts.map(([key, part]) => [key, changesOf(part)[0]?.value("before")]));
    return parts.flatMap(([key, part]) =>
      wrapped(changesOf(part, `${name}.${key}`, counts), (value) => ({ ...whole, [key]: value })),
    );
  }
  if (KindGuard.IsRecord(definition)) {
    const [part = Type.String()] = Object.values(definition.patternProperties);
    return wrapped(changesOf(part, `${name}.*`, counts), (value) => ({ key: value }));
  }
  if (KindGuard.IsArray(definition))
    return wrapped(changesOf(definition.items, `${name}[]`, counts), (value) => [value]);
  if (discriminator !== undefined && KindGuard.IsUnion(definition))
    return definition.anyOf.flatMap((form) => changesOf(form, name, counts));
  const written = definition.const ?? "before";
  return [{ name: name.slice(1), counts, value: (of) => (of === "before" ? written : "after") }];
}

/** Names of the settings that may change without gathering a window again. */
function withoutEffect(ecosystem: AnyEcosystem): { found: string[]; declared: string[]; all: number } {
  const changes = changesOf(pluginDefinition(ecosystem));
  const digest = (value: unknown) => settingsDigest(ecosystem, value as PluginSettings);
  const found = changes.filter(({ value }) => digest(value("before")) === digest(value("after")));
  const declared = changes.filter(({ counts }) => !counts);
  const [left = [], right = []] = [found, declared].map((each) => each.map(({ name }) => name));
  return { found: left, declared: right, all: changes.length };
}

for (const [name, ecosystem] of ecosystems) {
  t.test(`${name}: every setting counts except secrets and those that are marked as inert`, async (t) => {
    const { found, declared, all } = withoutEffect(ecosystem);
    t.ok(all > 20, `${all} settings are found`);
    t.strictSame(found, declared);
  });
}

t.test("inert settings are credentials, the pace and what happens to results", async (t) => {
  const common = [
    "metrics.auth_type",
    "metrics.bearer_token",
    "metrics.bearer_token_file",
    "metrics.headers.*",
    "metrics.password",
    "metrics.username",
  ];
  const expected = [
    [confluentCloud, ["ccloud_api.key", "ccloud_api.secret", "flink[].key", "flink[].secret"]],
    [genericMetricsOnly, []],
    [selfManagedKafka, ["resource_source.sasl_password", "resource_source.sasl_username"]],
  ] as const;
  for (const [ecosystem, own] of expected) {
    const names = withoutEffect(ecosystem).found.filter((name) => !name.startsWith("emitters[]."));
    t.strictSame(names.sort(), [...own, ...common, "min_refresh_gap_seconds"].sort(), ecosystem.name);
  }
});

t.test("a setting that is left out, an additional entry and an entry with another name count", async (t) => {
  const digest = (settings: Record<string, unknown>) =>
    settingsDigest(genericMetricsOnly, settings as unknown as PluginSettings);
  const settings = [
    {},
    { display_name: "k" },
    { cost_types: [] },
    { cost_types: [{ name: "A" }] },
    { cost_types: [{ name: "A" }, { name: "A" }] },
    { identity_source: { principal_to_team: { a: "t" } } },
    { identity_source: { principal_to_team: { b: "t" } } },
    { metrics: {} },
  ];
  t.equal(new Set(settings.map(digest)).size, settings.length);
  t.equal(digest({ metrics: { password: "a" } }), digest({ metrics: {} }));
});
