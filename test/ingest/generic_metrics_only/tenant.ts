/**
 * Settings of a `generic_metrics_only` tenant as the configuration returns them, for tests without a configuration
 * file.
 */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import pino from "pino";
import { addDays, dayOf } from "../../../src/common/days.js";
import { commonPluginProperties, type PluginSettings } from "../../../src/config/settings/plugin-settings.js";
import type { Gatherer } from "../../../src/ingest/ecosystem.js";
import { genericMetricsOnly } from "../../../src/ingest/ecosystems/generic_metrics_only/index.js";
import { genericMetricsOnlySettings } from "../../../src/ingest/ecosystems/generic_metrics_only/settings.js";
import type { WindowReport } from "../../../src/ingest/reports.js";

const schema = Type.Object({ ...commonPluginProperties, ...genericMetricsOnlySettings.settings.properties });

/** Fills in the defaults, and fails if the configuration would not allow the result. */
export function pluginSettings(written: Readonly<Record<string, unknown>>): PluginSettings {
  const filled: unknown = Value.Default(schema, structuredClone(written));
  if (!Value.Check(schema, filled)) {
    const [problem] = [...Value.Errors(schema, filled)];
    throw new Error(`the settings of the test are wrong: ${problem?.path} ${problem?.message}`);
  }
  return filled;
}

export const silent = pino({ level: "silent" });

export function connectGeneric(written: Readonly<Record<string, unknown>>): Gatherer {
  return genericMetricsOnly.connect(pluginSettings(written), {
    tenantName: "acme",
    tenantId: "acme-id",
    logger: silent,
    known: async () => ({ resources: [], identities: [] }),
  });
}

/** `YYYY-MM-DD`, this many days before today. */
export function daysAgo(days: number, now = Date.now()): string {
  return addDays(dayOf(new Date(now)), -days);
}

export const forever = new AbortController().signal;

/** Removes the control totals of a report, for tests of other things. */
export function withoutControl({ control: _, billed: __, ...report }: WindowReport) {
  return report;
}
