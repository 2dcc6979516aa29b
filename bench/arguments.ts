/** Arguments of `npm run bench -- …`. */
import { parseArgs } from "node:util";

export const benchmarkNames = [
  "allocate",
  "mix",
  "stages",
  "aggregate",
  "export",
  "list",
  "http",
  "disk",
  "start",
  "tags",
  "gather",
  "explain",
  "console",
  "backfill",
  "focus",
  "tenants",
  "arrival",
] as const;
export type BenchmarkName = (typeof benchmarkNames)[number];

/** Benchmarks that only run if they are named: some take minutes, and one needs a browser. */
const askedFor: readonly string[] = ["arrival", "backfill", "console", "focus", "tenants"];
const usualNames = benchmarkNames.filter((name) => !askedFor.includes(name));

export interface BenchArguments {
  /** The arguments as typed, without the paths of the data and the report. */
  readonly command: string;
  /** The approximate number of chargeback rows of the data. */
  readonly rows: number;
  readonly only: readonly BenchmarkName[];
  /** Number of runs per figure, which is their median. */
  readonly repeat: number;
  /** Seconds of each load on the HTTP API. */
  readonly seconds: number;
  /** Path of the JSON report; undefined writes none. */
  readonly json: string | undefined;
  /** A folder that keeps the data between runs; undefined for a temporary one. */
  readonly data: string | undefined;
  /** Days of the backfill. */
  readonly days: number;
  /** Number of tenants on one service. */
  readonly tenants: number;
}

export const usageText = `npm run bench -- [--rows 1M|10M|100M] [--only ${benchmarkNames.join(",")}] [--repeat 5] [--seconds 5] [--json FILE] [--data DIR] [--days 200] [--tenants 300]`;

export function readArguments(argv: readonly string[]): BenchArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rows: { type: "string", default: "1M" },
      only: { type: "string", default: usualNames.join(",") },
      repeat: { type: "string", default: "5" },
      seconds: { type: "string", default: "5" },
      json: { type: "string" },
      data: { type: "string" },
      days: { type: "string", default: "200" },
      tenants: { type: "string", default: "300" },
    },
  });
  const { json: _, data: __, ...typed } = values;
  return {
    command: Object.entries(typed)
      .filter(([name]) => argv.some((each) => each === `--${name}` || each.startsWith(`--${name}=`)))
      .map(([name, value]) => `--${name} ${value}`)
      .join(" "),
    rows: rowCount(values.rows),
    only: values.only.split(",").map(benchmarkName),
    repeat: wholeNumber("--repeat", values.repeat),
    seconds: wholeNumber("--seconds", values.seconds),
    json: values.json,
    data: values.data,
    days: wholeNumber("--days", values.days),
    tenants: wholeNumber("--tenants", values.tenants),
  };
}

function benchmarkName(text: string): BenchmarkName {
  const name = benchmarkNames.find((each) => each === text);
  if (name === undefined) throw new RangeError(`no benchmark ${text}; ${usageText}`);
  return name;
}

function rowCount(text: string): number {
  const [, digits, unit] = /^(\d+)([kM]?)$/.exec(text) ?? [];
  if (digits === undefined) throw new RangeError(`--rows must be like 500k, 10M or 2000000, not ${text}`);
  return Number(digits) * (unit === "M" ? 1_000_000 : unit === "k" ? 1_000 : 1);
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} must be a whole number from 1`);
  return value;
}
