/**
 * A digest of the settings of a tenant that decide what is gathered. A window is gathered again if it differs. Every
 * setting counts unless its definition says otherwise, so a new setting cannot be forgotten here.
 */
import type { TSchema } from "@sinclair/typebox";
import { digestOf } from "../common/digest.js";
import { entriesOf, isRecord, itemDefinition } from "../config/reader/parts.js";
import { notesOf } from "../config/reader/setting.js";
import { type EcosystemSettings, pluginDefinition } from "../config/settings/ecosystem-settings.js";
import type { PluginSettings } from "../config/settings/plugin-settings.js";

export function settingsDigest(ecosystem: EcosystemSettings, settings: PluginSettings): string {
  return digestOf(counting(pluginDefinition(ecosystem), settings));
}

/** Returns the settings that count, without secrets, so that nobody can try passwords against the digest. */
function counting(definition: TSchema | undefined, value: unknown): unknown {
  const { secret, inert } = definition === undefined ? {} : notesOf(definition);
  if (secret || inert) return undefined;
  if (definition === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => counting(itemDefinition(definition), item));
  if (!isRecord(value)) return value;
  const parts = entriesOf(definition, value);
  return Object.fromEntries(parts.map((each) => [each.key, counting(each.definition, each.part)]));
}
