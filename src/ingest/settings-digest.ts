/**
 * Of a tenant's settings, those that decide what is gathered, as one digest: a window is gathered again when it differs. Every setting
 * counts unless its definition says otherwise, so a new one cannot be forgotten here.
 */
import type { TSchema } from "@sinclair/typebox";
import { digestOf } from "../config/digest.js";
import { type EcosystemSettings, pluginDefinition } from "../config/ecosystem-settings.js";
import { entriesOf, isRecord, itemDefinition } from "../config/parts.js";
import type { PluginSettings } from "../config/plugin-settings.js";
import { notesOf } from "../config/setting.js";

export function settingsDigest(ecosystem: EcosystemSettings, settings: PluginSettings): string {
  return digestOf(counting(pluginDefinition(ecosystem), settings));
}

/** Without secrets, so that nobody who reads the digest can try passwords on it. */
function counting(definition: TSchema | undefined, value: unknown): unknown {
  const { secret, inert } = definition === undefined ? {} : notesOf(definition);
  if (secret || inert) return undefined;
  if (definition === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => counting(itemDefinition(definition), item));
  if (!isRecord(value)) return value;
  const parts = entriesOf(definition, value);
  return Object.fromEntries(parts.map((each) => [each.key, counting(each.definition, each.part)]));
}
