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
      description: "Days older than this are left alone. Left out, every day that is kept counts.",
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
    type: Type.Literal("csv", { description: "What receives the results." }),
    ...common,
    aggregation: aggregation(
      "Left out: a file a day, of the rows as they are. `daily`: a file a day, of sums. `monthly`: a file a month, of sums.",
    ),
    pipelines: emitted(filePipelines, ["chargeback"]),
    params: mapping(
      {
        output_dir: text({
          description:
            "Where the files go. It is made when it is missing. Relative to the folder the service is started in.",
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
            "`false`: cells that a spreadsheet would run as a formula get an apostrophe in front. `true`: cells as they are.",
          default: false,
        }),
        provisional: provisional(
          "Days whose costs may still change, because something is missing. `mark`: names of their files have `.provisional` before the " +
            "ending, until they are settled. `wait`: they get no new file before.",
        ),
      },
      { description: "Files of an emitter of type `csv`." },
    ),
  },
  {
    description: "Where results go in addition to the API.",
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
    type: Type.Literal("focus", { description: "What receives the results." }),
    ...common,
    params: mapping(
      {
        location: text({
          description:
            "Where the files go: a folder, which is made when it is missing and is relative to the one the service is started in, or `s3://bucket/prefix`.",
          expected: "a folder or s3://bucket/prefix",
          maxLength: 2000,
          parse: parseOutLocation,
        }),
        format: choice(focusFileFormats, { description: "Format of the files.", default: "parquet" }),
        focus_version: choice(exportVersions, {
          description: "Version of FOCUS that the files have.",
          default: "1.4",
        }),
        provisional: provisional(
          "Months with days whose costs may still change, because something is missing. `mark`: their manifest says so. `wait`: they are not written before these days are settled.",
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
  { description: "Where results go in addition to the API." },
);

/** Parses the location of a folder, or of a prefix in a bucket. */
function parseOutLocation(location: string): Parsed {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location) ?? [];
  let problem: string | undefined;
  if (scheme === "s3") problem = s3Problem(location);
  else if (scheme !== undefined) problem = "must be a folder or s3://bucket/prefix";
  else if (/\p{Cc}/u.test(location)) problem = "must not hold control characters";
  return problem === undefined ? { value: location } : { problem };
}

export function isS3(location: string): boolean {
  return location.startsWith("s3://");
}

const prometheusEmitter = mapping(
  {
    type: Type.Literal("prometheus", { description: "What receives the results." }),
    ...common,
    aggregation: aggregation("`daily`, which is also what it is when left out: the page shows days."),
    pipelines: emitted(pipelines, ["chargeback", "billing", "resource", "identity"]),
    params: section(
      {
        days: integer({
          description:
            "How many of the latest days with costs the page shows. More than 1: amounts carry their day as label `date`.",
          unit: "days",
          minimum: 1,
          maximum: 31,
          default: 1,
        }),
        provisional: provisional(
          "Days whose costs may still change, because something is missing. `mark`: they are shown, and counted by " +
            "`chargehouse_shown_provisional_dates`. `wait`: they are left out until they are settled.",
        ),
      },
      { description: "The page of an emitter of type `prometheus`." },
    ),
  },
  {
    description: "Where results go in addition to the API.",
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
    description: "Where results go in addition to the API.",
  }),
  {
    description:
      "Where results go beside the API: CSV files, FOCUS datasets, or a page for Prometheus. See `docs/how-to/emit-results.md`.",
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
