/** Setting `usage` of a `focus` tenant: the metrics that rules with `by: usage` can use. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, flag, integer, list, mapping, section, text } from "../../../../config/reader/setting.js";
import { LABEL, promql } from "../../../metered/identity-source.js";
import type { UploadLimits } from "../../../usage-uploads/load.js";
import { kubernetesMetrics, kubernetesQueries } from "./kubernetes/queries.js";
import { kubernetesSettings } from "./kubernetes/settings.js";

/** Weights that are derived from the bill are called `cost…`, and other derived weights have a colon. */
const METRIC = {
  pattern: "^(?!cost$)[A-Za-z_][A-Za-z0-9_.-]{0,99}$",
  expected:
    "a name such as cpu_hours: letters, digits, `_`, `.` and `-`, at most 100 characters, other than cost",
};

const usageQuery = mapping(
  {
    metric: text({ ...METRIC, description: "The metric's name, for `by: usage` in rules." }),
    query: promql("The usage in each step, one series for each resource and identity."),
    identity_label: text({ ...LABEL, description: "The label with the identity." }),
    resource_label: Type.Optional(
      text({
        ...LABEL,
        description: "The label with the `resource_id` of the lines that are split.",
      }),
    ),
    resource_id: Type.Optional(
      text({
        description: "The `resource_id` of the lines that are split, if the query is for one resource.",
        maxLength: 1000,
      }),
    ),
    ignore_case: Type.Optional(
      flag({
        description:
          "If true, the value of `resource_label` also matches a `resource_id` of the bill that differs only in case. " +
          "Default: false.",
      }),
    ),
  },
  {
    description: "A metric that is read from Prometheus.",
    rules: [
      {
        rule: "Either `resource_label` or `resource_id` is given.",
        check({ resource_label: label, resource_id: id }, report) {
          if (label === undefined && id === undefined) report([], "needs resource_label or resource_id");
          if (label !== undefined && id !== undefined)
            report(["resource_id"], "excludes resource_label: give one of the two");
        },
      },
      {
        rule: "`ignore_case` goes with `resource_label`.",
        check({ resource_label: label, ignore_case }, report) {
          if (ignore_case === true && label === undefined) report(["ignore_case"], "needs resource_label");
        },
      },
    ],
  },
);

const uploadSettings = section(
  {
    metrics: list(text({ ...METRIC, description: "A metric's name, for `by: usage` in rules." }), {
      description: "Metrics that are uploaded. Without any, uploads are refused.",
      expected: "a list of at most 100 names, none of them twice",
      maxItems: 100,
      default: [],
    }),
    folder: Type.Optional(
      text({
        description:
          "A folder whose CSV files are uploads as well, each new or changed file once. Relative to the folder the service is started in.",
        expected: "a folder",
        maxLength: 2000,
      }),
    ),
    settle_seconds: integer({
      description:
        "A file of the folder waits until it has not changed for this long: it may still be incomplete.",
      unit: "seconds",
      minimum: 0,
      maximum: 86_400,
      default: 60,
      inert: true,
    }),
    max_mib: integer({
      description: "Larger uploads are refused.",
      unit: "MiB",
      minimum: 1,
      maximum: 10_240,
      default: 256,
      inert: true,
    }),
  },
  {
    description: "Usage that users upload as CSV.",
    rules: [
      {
        rule: "`metrics` names no metric twice, and at least one with `folder`.",
        check({ metrics, folder }, report) {
          if (metrics === undefined) return;
          const twice = metrics.findIndex((each, index) => metrics.indexOf(each) !== index);
          if (twice >= 0) report(["metrics", twice], "is named twice");
          if (folder !== undefined && metrics.length === 0)
            report(["metrics"], "is required with folder: which metrics do the files have?");
        },
      },
    ],
  },
);

export const usageSettings = section(
  {
    uploads: uploadSettings,
    queries: list(usageQuery, {
      description: "Metrics that are read from Prometheus. They need `metrics`.",
      expected: "a list of at most 100 queries",
      maxItems: 100,
      uniqueBy: "metric",
      default: [],
    }),
    preset: Type.Optional(
      choice(["kubernetes"], {
        description:
          "Queries that come with the product, in addition to `queries`. `chargehouse rules --preset NAME` prints them.",
      }),
    ),
    kubernetes: Type.Optional(kubernetesSettings),
  },
  {
    description: "The usage for rules `by: usage`.",
    rules: [
      {
        rule: "`kubernetes` goes with `preset: kubernetes`.",
        check({ preset, kubernetes }, report) {
          if (kubernetes !== undefined && preset === undefined)
            report(["kubernetes"], "has no effect without preset: kubernetes");
        },
      },
      {
        rule: "The metrics of a preset are not configured again.",
        check({ preset, queries = [], uploads }, report) {
          if (preset === undefined) return;
          const isOfPreset = (metric: string | undefined) =>
            kubernetesMetrics.some((each) => each === metric);
          const message = `is a metric of the preset ${preset} too: give it another name`;
          for (const [index, query] of queries.entries())
            if (isOfPreset(query?.metric)) report(["queries", index, "metric"], message);
          for (const [index, metric] of (uploads?.metrics ?? []).entries())
            if (isOfPreset(metric)) report(["uploads", "metrics", index], message);
        },
      },
      {
        rule: "A metric is read from Prometheus or uploaded, not both.",
        check({ queries = [], uploads }, report) {
          const queried = new Set(queries.map((query) => query?.metric));
          for (const [index, metric] of (uploads?.metrics ?? []).entries())
            if (queried.has(metric))
              report(["uploads", "metrics", index], "is read by a query too: give one of them another name");
        },
      },
    ],
  },
);

export type UsageSettings = Static<typeof usageSettings>;

/** Replaces the preset by its queries. */
export function withoutPreset({ preset, kubernetes, ...usage }: UsageSettings): UsageSettings {
  if (preset === undefined) return usage;
  return { ...usage, queries: [...usage.queries, ...kubernetesQueries(kubernetes)] };
}

/** Names of all metrics of the tenant's usage. */
export function metricsOf(usage: UsageSettings): string[] {
  const { queries, uploads } = withoutPreset(usage);
  return [...queries.map(({ metric }) => metric), ...uploads.metrics];
}

const MIB = 1_048_576;

export function uploadLimits({ uploads: { metrics, max_mib } }: UsageSettings): UploadLimits {
  return { metrics, maxBytes: max_mib * MIB };
}
