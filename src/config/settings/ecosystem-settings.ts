/**
 * How an ecosystem declares its own settings, and reads them back.
 *
 * The configuration does not depend on ecosystems, so `loadConfig` receives their schemas. Their keys are in
 * `plugin_settings`, beside the common ones. If both declare a key, the ecosystem's counts.
 */
import type { Static, TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { IdentityScope } from "../../domain/allocation-rule.js";
import type { RuleColumns } from "../../domain/rule-columns.js";
import type { Path } from "../reader/problem.js";
import { mapping, type Rule } from "../reader/setting.js";
import { commonPluginProperties, commonPluginRules, type PluginSettings } from "./plugin-settings.js";

export interface EcosystemSettings<Own extends TObject = TObject> {
  /** The kind of upstream, for the reference page. */
  description: string;
  /** The ecosystem's own keys, built with `mapping`. */
  settings: Own;
  /** Rules between its keys, and between them and the common ones. Each has a sentence and a check. */
  refusals?: readonly Rule<OwnAndCommon<Own>>[];
  /** Limits of `cutoff_days`, if they differ from the usual ones. */
  cutoff?: Cutoff;
  /** Columns that configured rules can name, in addition to those that every ecosystem has. */
  lineColumns?(settings: Partial<PluginSettings>): RuleColumns;
  /** Replaces presets by the settings that they stand for. */
  withoutPresets?(settings: PluginSettings): PluginSettings;
  /** Usage metrics that configured rules can name; undefined allows any name. */
  usageMetrics?(settings: PluginSettings): readonly string[];
  /** CSV files of identities that the settings name, with their paths in the settings. */
  maps?(settings: PluginSettings): readonly NamedMap[];
  /** Identity sets that configured rules can divide among; undefined allows any. */
  identitySets?(settings: PluginSettings): readonly IdentityScope[];
}

export interface NamedMap {
  readonly path: Path;
  readonly file: string;
}

/** Days before today that are left out. */
export interface Cutoff {
  readonly minimum: number;
  readonly default: number;
}

/** The common settings and the ecosystem's own. If both have a key, it is the ecosystem's. */
export type OwnAndCommon<Own extends TObject> = Omit<PluginSettings, keyof Static<Own>> & Static<Own>;

/** By the name in `tenants.T.ecosystem`. */
export type EcosystemSettingsMap = ReadonlyMap<string, EcosystemSettings>;

/** The schema of `plugin_settings` for a tenant of this ecosystem. */
export function pluginDefinition({ description, settings, refusals = [] }: EcosystemSettings) {
  return mapping(
    { ...commonPluginProperties, ...settings.properties },
    { description, rules: [...commonPluginRules, ...refusals] },
  );
}

/** Returns the settings of a tenant, typed for its ecosystem. Throws if the tenant has another ecosystem. */
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
