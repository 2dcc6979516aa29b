/** What `npm run bench -- …` was asked for. */
import { parseArgs } from "node:util";

export const benchmarkNames = [
  "allocate",
  "mix",
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
] as const;
export type BenchmarkName = (typeof benchmarkNames)[number];

/** Only when they are asked for: runs of minutes, and one that needs a browser. */
const askedFor: readonly string[] = ["backfill", "console", "focus", "tenants"];
const usualNames = benchmarkNames.filter((name) => !askedFor.includes(name));

export interface BenchArguments {
  /** All of them, as typed, but for where the data and the report go. */
  readonly command: string;
  /** About how many chargeback rows the data has. */
  readonly rows: number;
  readonly only: readonly BenchmarkName[];
  /** Each figure is the median of so many runs. */
  readonly repeat: number;
  /** How long each load of the HTTP API lasts. */
  readonly seconds: number;
  /** Where the JSON goes; none is written when undefined. */
  readonly json: string | undefined;
  /** A folder that keeps the data between runs; a temporary one when undefined. */
  readonly data: string | undefined;
  /** Days of the backfill. */
  readonly days: number;
  /** So many on one service. */
  readonly tenants: number;
}

export const usage = `npm run bench -- [--rows 1M|10M|100M] [--only ${benchmarkNames.join(",")}] [--repeat 5] [--seconds 5] [--json FILE] [--data DIR] [--days 200] [--tenants 300]`;

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
  if (name === undefined) throw new RangeError(`no benchmark ${text}; ${usage}`);
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
