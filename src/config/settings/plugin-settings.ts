/**
 * `tenants.T.plugin_settings`: keys that every ecosystem has. Each ecosystem adds its own (`ecosystem-settings.ts`).
 */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { DAY_SECONDS } from "../../common/days.js";
import { choice, integer, type Rule, unsupported } from "../reader/setting.js";
import { emitterRules } from "./emitter-rules.js";
import { emittersSetting } from "./emitters.js";
import { metricsSettings } from "./metrics.js";

export const commonPluginProperties = {
  metrics: Type.Optional(metricsSettings),
  metrics_step_seconds: integer({
    description:
      "The step of metric queries: one sample for each step of a UTC day, which it must divide evenly.",
    unit: "seconds",
    expected: "an integer from 1 to 86400 that divides 86400",
    minimum: 1,
    maximum: DAY_SECONDS,
    default: 3600,
  }),
  min_refresh_gap_seconds: integer({
    description:
      "A scheduled run gathers only if the last gathering is at least this old, if the last run failed, or if the " +
      "tenant's settings have changed. A triggered run always gathers.",
    unit: "seconds",
    minimum: 0,
    default: 1800,
    inert: true,
  }),
  chargeback_granularity: choice(["daily"], {
    description: "The span of one chargeback row. This release allocates days.",
    default: "daily",
  }),
  allocator_params: unsupported("this ecosystem's allocation has no parameters. Leave it empty."),
  allocator_overrides: unsupported("allocation rules cannot be replaced by code. Leave it empty."),
  identity_resolution_overrides: unsupported(
    "identity resolution cannot be replaced by code. Leave it empty.",
  ),
  granularity_durations: unsupported("the spans of lines cannot be changed. Leave it empty."),
  topic_attribution: unsupported("this ecosystem has no topics to attribute costs to. Leave it empty."),
  emitters: emittersSetting,
};

export type PluginSettings = Static<TObject<typeof commonPluginProperties>>;

export const commonPluginRules: Rule<PluginSettings>[] = [
  {
    rule: "`metrics_step_seconds` must divide 86400.",
    check(value, report) {
      const { metrics_step_seconds: step } = value;
      if (step !== undefined && DAY_SECONDS % step !== 0) {
        report(["metrics_step_seconds"], `must divide 86400 (a day) evenly, which ${step} does not`);
      }
    },
  },
  ...emitterRules,
];
