/** The ecosystem `generic_metrics_only`: any metered system whose prices are in the configuration. */
import { settingsOf } from "../../../config/settings/ecosystem-settings.js";
import type { PluginSettings } from "../../../config/settings/plugin-settings.js";
import type { AnyEcosystem, GatherContext, Gatherer } from "../../ecosystem.js";
import { meteredSets } from "../../metered/identity-source.js";
import { probeMetered } from "../../metered/probe.js";
import { retentionCovers } from "../../metered/retention-covers.js";
import { gatherMeteredWindow, totalsOfFailedWindow } from "../../metered/window.js";
import { connectPrometheus } from "../../prometheus/connection.js";
import { usageMetricsOf } from "../../usage-metrics.js";
import { gatherGenericInventory } from "./inventory.js";
import { genericDerivingMetrics, genericRules } from "./rules.js";
import { type GenericMetricsOnlySettings, genericMetricsOnlySettings } from "./settings.js";
import { meteredTenant } from "./window.js";

type Settings = PluginSettings & GenericMetricsOnlySettings;

const own = (settings: PluginSettings): Settings => settingsOf(genericMetricsOnlySettings, settings);

export const genericMetricsOnly: AnyEcosystem = {
  ...genericMetricsOnlySettings,
  name: "generic_metrics_only",
  rules: (settings) => genericRules(own(settings)),
  derivingMetrics: (settings) => genericDerivingMetrics(own(settings)),
  usageMetrics: (settings) =>
    usageMetricsOf(genericRules(own(settings)), genericDerivingMetrics(own(settings))),
  identitySets: (settings) => meteredSets(own(settings).identity_source),
  connect: (settings, context) => connect(own(settings), context),
};

/** Responses are read in small pieces for any length of window. A month at a time keeps the reports of a run short. */
const DAYS_PER_WINDOW = 31;
function connect(settings: Settings, context: GatherContext): Gatherer {
  const { metrics, metrics_step_seconds: stepSeconds } = settings;
  const source = metrics === undefined ? undefined : connectPrometheus(metrics, context);
  const tenant = meteredTenant(settings, {
    source,
    stepSeconds,
    parallelQueries: context.parallelQueries ?? 4,
  });
  return {
    daysPerWindow: DAYS_PER_WINDOW,
    gatherInventory: (sink, signal) =>
      gatherGenericInventory(settings, { source, stepSeconds }, sink, signal),
    retentionCovers: (thinner, signal) => retentionCovers(tenant, thinner, signal),
    gatherWindow: (window, sink, signal) => gatherMeteredWindow(tenant, window, sink, signal),
    totalsOfFailedWindow: (window) => totalsOfFailedWindow(tenant, window),
    probe: (window, _resources, signal) => probeMetered(tenant, window, signal),
    close: async () => source?.close(),
  };
}
