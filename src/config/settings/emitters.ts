/**
 * `emitters`: where a tenant's results go, in addition to the API. Rules between emitters are in `emitter-rules.ts`.
 */
import { type Static, Type } from "@sinclair/typebox";
import { exportVersions } from "../../domain/export-versions.js";
import {
  choice,
  flag,
  integer,
  list,
  mapping,
  oneOf,
  type Parsed,
  section,
  text,
} from "../reader/setting.js";
import { filePeriods, parseTemplate, TEMPLATE_EXPECTED } from "./emitted-file.js";
import { s3Problem, s3Settings } from "./s3.js";

/** Results that an emitter can emit. */
export const pipelines = ["chargeback", "billing", "resource", "identity", "topic_attribution"] as const;
export type Pipeline = (typeof pipelines)[number];

/** Results that can be written to files. */
export const filePipelines = ["chargeback", "topic_attribution"] as const;
export type FilePipeline = (typeof filePipelines)[number];

const common = {
  name: Type.Optional(
    text({
      description: "Identifies the emitter in records and messages. Default: its type.",
      expected: "1 to 50 letters, digits, `.`, `_` and `-`, starting with a letter or a digit",
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$",
    }),
  ),
  lookback_days: Type.Optional(
    integer({
      description: "Days older than this are not emitted. Default: every day within `retention_days`.",
      unit: "days",
      minimum: 1,
      maximum: 730,
    }),
  ),
};

const aggregation = (description: string) =>
  Type.Optional(choice(["hourly", "daily", "monthly"], { description }));

const provisional = (description: string) => choice(["mark", "wait"], { description, default: "mark" });

const emitted = <const Name extends Pipeline>(names: readonly Name[], standard: NoInfer<Name>[]) =>
  list(choice(names, { description: "A pipeline." }), {
    description: `What is emitted: ${names.join(", ")}; each once.`,
    expected: `a list of 1 to ${names.length} of ${names.join(", ")}`,
    minItems: 1,
    maxItems: names.length,
    default: standard,
  });

export const csvEmitterSettings = mapping(
  {
    type: Type.Literal("csv", { description: "The kind of destination." }),
    ...common,
    aggregation: aggregation(
      "`daily`: a file for each day, with sums. `monthly`: a file for each month, with sums. Default: a file for " +
        "each day, with the unchanged rows.",
    ),
    pipelines: emitted(filePipelines, ["chargeback"]),
    params: mapping(
      {
        output_dir: text({
          description:
            "The folder of the files. It is created if it does not exist. Relative to the folder in which the service is " +
            "started.",
          expected:
            "a path without control characters, and no URL: only emitters of type focus write to s3://",
          pattern: "^(?![A-Za-z][A-Za-z0-9+.-]*://)[^\\u0000-\\u001f\\u007f-\\u009f]+$",
          maxLength: 3000,
        }),
        filename_template: text({
          description:
            "Name of a file. Characters of the values that are not letters, digits, `.`, `_` or `-` are percent-encoded.",
          expected: TEMPLATE_EXPECTED,
          parse: parseTemplate,
          default: "{tenant_id}_{date}.csv",
        }),
        raw: flag({
          description:
            "`false`: cells that a spreadsheet would run as a formula get an apostrophe in front. `true`: cells are " +
            "unchanged.",
          default: false,
        }),
        provisional: provisional(
          "What to do with days whose costs may still change because of missing data. `mark`: the names of their files " +
            "have `.provisional` before the ending until the days are final. `wait`: they get a new file only when they " +
            "are final.",
        ),
      },
      { description: "Files of an emitter of type `csv`." },
    ),
  },
  {
    description: "Destinations of results in addition to the API.",
    rules: [
      {
        rule: "`filename_template` names the period: `{date}`, or `{month}` for a `monthly` emitter.",
        check({ params, aggregation: span }, report) {
          const named = filePeriods(params?.filename_template ?? "");
          if (params?.filename_template === undefined || named.date) return;
          if (span === "monthly" && named.month) return;
          const needed = span === "monthly" ? "{date} or {month}" : "{date}";
          report(["params", "filename_template"], `must hold ${needed}: else files overwrite each other`);
        },
      },
    ],
  },
);

export const focusFileFormats = ["parquet", "csv", "csv.gz"] as const;
export type FocusFileFormat = (typeof focusFileFormats)[number];

export const focusEmitterSettings = mapping(
  {
    type: Type.Literal("focus", { description: "The kind of destination." }),
    ...common,
    params: mapping(
      {
        location: text({
          description:
            "The destination of the files: a folder or `s3://bucket/prefix`. A folder is created if it does not exist. It " +
            "is relative to the folder in which the service is started.",
          expected: "a folder or s3://bucket/prefix",
          maxLength: 2000,
          parse: parseOutLocation,
        }),
        format: choice(focusFileFormats, { description: "Format of the files.", default: "parquet" }),
        focus_version: choice(exportVersions, {
          description: "The FOCUS version of the files.",
          default: "1.4",
        }),
        provisional: provisional(
          "What to do with months that have days whose costs may still change because of missing data. `mark`: their " +
            "manifest states it. `wait`: they are written only when these days are final.",
        ),
        s3: Type.Optional(s3Settings),
      },
      {
        description: "Files of an emitter of type `focus`.",
        rules: [
          {
            rule: "`s3` goes with a location `s3://…`.",
            check({ location, s3 }, report) {
              if (s3 !== undefined && location !== undefined && !isS3(location))
                report(["s3"], "is used with a location s3://… alone: remove it");
            },
          },
        ],
      },
    ),
  },
  { description: "Destinations of results in addition to the API." },
);

/** Parses the location of a folder, or of a prefix in a bucket. */
function parseOutLocation(location: string): Parsed {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location) ?? [];
  let problem: string | undefined;
  if (scheme === "s3") problem = s3Problem(location);
  else if (scheme !== undefined) problem = "must be a folder or s3://bucket/prefix";
  else if (/\p{Cc}/u.test(location)) problem = "must not contain control characters";
  return problem === undefined ? { value: location } : { problem };
}

export function isS3(location: string): boolean {
  return location.startsWith("s3://");
}

const prometheusEmitter = mapping(
  {
    type: Type.Literal("prometheus", { description: "The kind of destination." }),
    ...common,
    aggregation: aggregation("Only `daily`, which is the default, because the page shows days."),
    pipelines: emitted(pipelines, ["chargeback", "billing", "resource", "identity"]),
    params: section(
      {
        days: integer({
          description:
            "How many of the latest days with costs the page shows. If it is more than 1, amounts have their day as label " +
            "`date`.",
          unit: "days",
          minimum: 1,
          maximum: 31,
          default: 1,
        }),
        provisional: provisional(
          "What to do with days whose costs may still change because of missing data. `mark`: they are shown, and " +
            "counted by `chargehouse_shown_provisional_dates`. `wait`: they are left out until they are final.",
        ),
      },
      { description: "The page of an emitter of type `prometheus`." },
    ),
  },
  {
    description: "Destinations of results in addition to the API.",
    rules: [
      {
        rule: "`aggregation` of an emitter of type `prometheus` is `daily` or left out.",
        check({ aggregation: span }, report) {
          if (span !== "monthly") return;
          report(["aggregation"], "must be daily or left out: a page for Prometheus shows days");
        },
      },
    ],
  },
);

const shared = Type.Object({ ...common });

export const emittersSetting = list(
  oneOf("type", shared, [csvEmitterSettings, focusEmitterSettings, prometheusEmitter], {
    description: "Destinations of results in addition to the API.",
  }),
  {
    description:
      "Destinations of results in addition to the API: CSV files, FOCUS datasets, or a page for Prometheus. See " +
      "`docs/how-to/emit-results.md`.",
    maxItems: 20,
    default: [],
    inert: true,
  },
);

export type Emitter = Static<typeof emittersSetting>[number];
export type CsvEmitter = Static<typeof csvEmitterSettings>;
export type FocusEmitter = Static<typeof focusEmitterSettings>;
export type FileEmitter = CsvEmitter | FocusEmitter;
export type PrometheusEmitter = Static<typeof prometheusEmitter>;

export function emitterName({
  name,
  type,
}: {
  readonly name?: string | undefined;
  readonly type: Emitter["type"];
}): string {
  return name ?? type;
}

export function fileEmitters(emitters: readonly Emitter[]): FileEmitter[] {
  return emitters.filter((emitter) => emitter.type !== "prometheus");
}

/** Returns the results that the emitter writes to files. */
export function filePipelinesOf(emitter: FileEmitter): readonly FilePipeline[] {
  return emitter.type === "csv" ? emitter.pipelines : ["chargeback"];
}

/** The settings of the tenant's Prometheus page; undefined if it has none. */
export function prometheusEmitterOf(emitters: readonly Emitter[]): PrometheusEmitter | undefined {
  return emitters.find((emitter) => emitter.type === "prometheus");
}
