/**
 * How an ecosystem declares its own settings, and reads them back.
 *
 * The configuration lies below all ecosystems and knows none of them, so their schemas are handed to `loadConfig`. Their
 * keys stand in `plugin_settings` beside the common ones; a key that both declare is the ecosystem's.
 */
import type { Static, TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { LineColumns } from "./allocation/line-columns.js";
import type { IdentityScope } from "./allocation-rule.js";
import { commonPluginProperties, commonPluginRules, type PluginSettings } from "./plugin-settings.js";
import { mapping, type Rule } from "./setting.js";

export interface EcosystemSettings<Own extends TObject = TObject> {
  /** For the reference page: what kind of upstream it is. */
  description: string;
  /** The ecosystem's own keys; build it with `mapping`. */
  settings: Own;
  /** What is refused between its keys, and between them and the common ones: each one sentence and a check. */
  refusals?: readonly Rule<OwnAndCommon<Own>>[];
  /** Columns that rules by configuration can name, beside those that the lines of all ecosystems have. */
  lineColumns?: LineColumns;
  /** Metrics that its usage is measured by, which rules by configuration can name; left out, any name is taken. */
  usageMetrics?(settings: PluginSettings): readonly string[];
  /** Identity sets that it gathers, which rules by configuration can divide among; left out, any are taken. */
  identitySets?(settings: PluginSettings): readonly IdentityScope[];
}

/** The common settings beside the ecosystem's own; where both have a key, it is the ecosystem's. */
export type OwnAndCommon<Own extends TObject> = Omit<PluginSettings, keyof Static<Own>> & Static<Own>;

/** All known ecosystems, by the name that `tenants.T.ecosystem` takes. */
export type EcosystemSettingsMap = ReadonlyMap<string, EcosystemSettings>;

/** All that `plugin_settings` takes for a tenant of this ecosystem. */
export function pluginDefinition({ description, settings, refusals = [] }: EcosystemSettings) {
  return mapping(
    { ...commonPluginProperties, ...settings.properties },
    { description, rules: [...commonPluginRules, ...refusals] },
  );
}

/** The settings of a tenant with the type of its ecosystem. Throws when the tenant is of another one. */
export function settingsOf<Own extends TObject>(
  ecosystem: EcosystemSettings<Own>,
  pluginSettings: PluginSettings,
): OwnAndCommon<Own> {
  const own = Object.keys(ecosystem.settings.properties).map((key) => [
    key,
    Reflect.get(pluginSettings, key),
  ]);
  const part: unknown = Object.fromEntries(own.filter(([, value]) => value !== undefined));
  if (!Value.Check(ecosystem.settings, part)) throw new Error("the settings are not those of this ecosystem");
  return { ...pluginSettings, ...part };
}
