/**
 * Small bills in the formats of large providers. Names and amounts are made up; `expected.json` has the sums of each
 * file, calculated independently.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Test } from "tap";
import { projectRoot } from "../src/common/project.js";
import { openDuckDb } from "./runner/focus-duckdb.js";
import { temporaryFolder } from "./stores.js";

export const SAMPLES = join(projectRoot(), "test", "samples", "focus");
export const traps = readdirSync(join(SAMPLES, "traps")).sort();

type Cost = "BilledCost" | "EffectiveCost" | "ListCost" | "ContractedCost";
export interface ExpectedSums {
  readonly rows: number;
  /** Sums of the columns that the sample has. */
  readonly total: { readonly [cost in Cost]?: string };
}
export const expectedTotals: Readonly<Record<string, ExpectedSums>> = JSON.parse(
  readFileSync(join(SAMPLES, "expected.json"), "utf8"),
);

const textOf = (sample: string) => readFileSync(join(SAMPLES, sample), "utf8");

const AWS_MONTHS = ["2026-05", "2026-06"] as const;
export const AZURE_RUNS = {
  first: "exports/focuscost/20260501-20260531/11111111-0000-4000-8000-000000000001",
  second: "exports/focuscost/20260501-20260531/22222222-0000-4000-8000-000000000002",
} as const;

/** Files of each set by sample. A sample is split into as many parts as files. */
const sets: readonly (readonly [sample: string, files: readonly string[]])[] = [
  ...AWS_MONTHS.flatMap((month) =>
    (["csv.gz", "snappy.parquet"] as const).map(
      (ending) =>
        [
          `aws-1.2-${month}.csv`,
          [1, 2].map(
            (part) =>
              `aws-1.2-${ending.replace(/\W|snappy/g, "")}/acct/focus-export/data/BILLING_PERIOD=${month}/focus-export-0000${part}.${ending}`,
          ),
        ] as const,
    ),
  ),
  ...(["first", "second"] as const).map(
    (run) =>
      [
        `azure-1.0r2-${run}.csv`,
        [0, 1].map((part) => `azure-1.0r2-csvgz/${AZURE_RUNS[run]}/part_${part}_0001.csv.gz`),
      ] as const,
  ),
  ["azure-1.0.csv", ["azure-1.0-csv/part_0_0001.csv"]],
  ["gcp-1.2-2026-05.csv", ["gcp-1.2-parquet/2026-05/focus-000000000000.parquet"]],
  ["oci-preview-1.csv", ["oci-preview-csvgz/FOCUS Reports/2026/05/10/000100000000.csv.gz"]],
  ["oci-preview-2.csv", ["oci-preview-csvgz/FOCUS Reports/2026/05/11/000100000001.csv.gz"]],
  ...traps.map((trap) => [`traps/${trap}`, [`traps/${trap}`]] as const),
];

/** Returns the samples of a set. */
export const samplesOf = (set: string) =>
  sets.filter(([, files]) => files[0]?.startsWith(`${set}/`)).map(([sample]) => sample);

/** Writes all sets as the providers deliver them, each in a folder of its name. Returns their parent folder. */
export async function layOutSamples(t: Test): Promise<string> {
  const root = temporaryFolder(t);
  const duckDb = await openDuckDb(t);
  for (const [sample, files] of sets)
    for (const [part, file] of files.entries()) {
      const csv = partOf(textOf(sample), part, files.length);
      const path = join(root, file);
      mkdirSync(dirname(path), { recursive: true });
      if (file.endsWith(".parquet")) await writeParquet(duckDb, path, csv);
      else writeFileSync(path, file.endsWith(".gz") ? gzipSync(csv) : csv);
    }
  for (const [file, manifest] of manifests()) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), JSON.stringify(manifest));
  }
  return root;
}

/** Returns a part of the CSV with its header. */
function partOf(csv: string, part: number, parts: number): string {
  if (parts === 1) return csv;
  const [header, ...lines] = csv.split(/(?<=\n)/);
  const size = Math.ceil(lines.length / parts);
  return [header, ...lines.slice(part * size, (part + 1) * size)].join("");
}

function* manifests(): Generator<[file: string, manifest: unknown]> {
  for (const set of ["aws-1.2-csvgz", "aws-1.2-parquet"])
    for (const month of AWS_MONTHS) {
      const dataFiles = sets
        .flatMap(([, files]) => files)
        .filter((file) => file.startsWith(`${set}/`) && file.includes(month))
        .map((file) => file.replace(set, "s3://acme-billing"));
      const manifest = { exportName: "focus-export", billingPeriod: month, dataFiles };
      yield [
        `${set}/acct/focus-export/metadata/BILLING_PERIOD=${month}/focus-export-Manifest.json`,
        manifest,
      ];
    }
  for (const [run, submittedTime] of [
    ["first", "2026-05-31T04:00:00Z"],
    ["second", "2026-06-05T04:00:00Z"],
  ] as const) {
    const blobs = [0, 1].map((part) => ({ blobName: `${AZURE_RUNS[run]}/part_${part}_0001.csv.gz` }));
    const manifest = {
      manifestVersion: "2024-04-01",
      blobCount: blobs.length,
      blobs,
      exportConfig: { exportName: "focuscost", type: "FocusCost", dataVersion: "1.0r2", timeFrame: "Custom" },
      runInfo: {
        executionType: "Scheduled",
        submittedTime,
        runId: basename(AZURE_RUNS[run]),
        startDate: "2026-05-01T00:00:00",
        endDate: "2026-05-31T00:00:00",
      },
    };
    yield [`azure-1.0r2-csvgz/${AZURE_RUNS[run]}/manifest.json`, manifest];
  }
}

/** Writes Parquet with the types of the providers' exports. */
async function writeParquet(duckDb: DuckDBConnection, path: string, csv: string): Promise<void> {
  const from = `${path}.csv`;
  writeFileSync(from, csv);
  const columns = (csv.split("\n", 1)[0] ?? "").split(",").map((name) => {
    if (name === "Tags") return `CAST(CAST(Tags AS JSON) AS MAP(VARCHAR, VARCHAR)) AS Tags`;
    if (/Period(Start|End)$/.test(name))
      return `CAST(CAST("${name}" AS TIMESTAMPTZ) AS TIMESTAMP) AS "${name}"`;
    if (/(Cost|Price|Quantity)$/.test(name)) return `CAST("${name}" AS DECIMAL(38, 12)) AS "${name}"`;
    return `"${name}"`;
  });
  await duckDb.run(`COPY (SELECT ${columns.join(", ")} FROM read_csv('${from}', header = true, all_varchar = true))
    TO '${path}' (FORMAT parquet, COMPRESSION snappy)`);
  rmSync(from);
}
