/**
 * Checks small bills in the formats of large providers: rows and totals as their author calculated them, and findings.
 */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import t from "tap";
import { checkFile } from "../../src/focus/check/check-file.js";
import { costs, type FocusReport } from "../../src/focus/check/report.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { expectedTotals, layOutSamples, SAMPLES, samplesOf, traps } from "../focus-samples.js";
import { testLogger } from "../stores.js";

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(csv|csv\.gz|parquet)$/.test(file))
    .map((file) => join(folder, file))
    .sort();
}

/** Adds decimals as integers with 30 decimal places. */
function sum(amounts: readonly string[]): string {
  const PLACES = 30;
  const total = amounts.reduce((whole, amount) => {
    const [, sign = "", units = "", decimals = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
    return whole + BigInt(`${sign}${units}${decimals.padEnd(PLACES, "0")}`);
  }, 0n);
  const digits = String(total < 0n ? -total : total).padStart(PLACES + 1, "0");
  const text = `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, "");
  return total < 0n ? `-${text}` : text;
}

const sumsOf = (totals: readonly { readonly [cost in (typeof costs)[number]]?: string | null }[]) =>
  Object.fromEntries(
    costs
      .filter((cost) => totals.some((each) => typeof each[cost] === "string"))
      .map((cost) => [cost, sum(totals.map((each) => each[cost] ?? "0"))]),
  );

/** Version and ids of the findings of each file. */
const known: Readonly<Record<string, readonly string[]>> = {
  "aws-1.2-2026-05.csv": ["1.2"],
  "aws-1.2-2026-06.csv": ["1.2"],
  "azure-1.0.csv": ["1.0", "date-format"],
  "azure-1.0r2-first.csv": ["1.0", "date-format"],
  "azure-1.0r2-second.csv": ["1.0", "date-format"],
  "gcp-1.2-2026-05.csv": ["1.2"],
  "oci-preview-1.csv": ["1.0", "column-missing", "column-renamed", "value-list", "date-fraction"],
  "oci-preview-2.csv": ["1.0", "column-missing", "column-renamed", "value-list", "date-fraction"],
  "traps/bom-crlf.csv": ["1.0"],
  "traps/case-and-order.csv": ["1.0", "column-case"],
  "traps/dates.csv": ["1.0", "value-null", "date-format"],
  "traps/header-only.csv": ["1.0"],
  "traps/identical-rows.csv": ["1.0"],
  "traps/literal-null.csv": ["1.0", "null-text", "pair-null"],
  "traps/many-digits.csv": ["1.0", "cost-product"],
  "traps/negative-and-zero.csv": ["1.0", "cost-product"],
  "traps/texts.csv": ["1.0", "json-object"],
  "traps/two-currencies.csv": ["1.0"],
};

t.test("bills in the formats of the providers are read correctly", async (t) => {
  const root = await layOutSamples(t);
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());

  for (const set of [
    "aws-1.2-csvgz",
    "aws-1.2-parquet",
    "azure-1.0r2-csvgz",
    "azure-1.0-csv",
    "gcp-1.2-parquet",
    "oci-preview-csvgz",
  ])
    await t.test(`rows and totals of ${set} match those of their author`, async (t) => {
      const reports: FocusReport[] = [];
      for (const file of filesIn(join(root, set))) reports.push(await checkFile(engine, file));
      const wanted = samplesOf(set).map((sample) => expectedTotals[sample]);
      t.strictSame(
        [reports.reduce((all, { rows }) => all + rows, 0), sumsOf(reports.flatMap(({ totals }) => totals))],
        [
          wanted.reduce((all, each) => all + (each?.rows ?? 0), 0),
          sumsOf(wanted.map((each) => each?.total ?? {})),
        ],
      );
    });

  await t.test("rows and totals of difficult files match those of their author", async (t) => {
    t.equal(traps.length, 10);
    for (const trap of traps) {
      const { rows, totals } = await checkFile(engine, join(root, "traps", trap));
      const wanted = expectedTotals[`traps/${trap}`];
      t.strictSame(
        [rows, sumsOf(totals)],
        [wanted?.rows, rows === 0 ? {} : sumsOf([wanted?.total ?? {}])],
        trap,
      );
    }
  });

  await t.test("each sample has the known findings", async (t) => {
    const found: Record<string, readonly string[]> = {};
    for (const file of filesIn(SAMPLES)) {
      const { focus_version, findings } = await checkFile(engine, file);
      found[relative(SAMPLES, file)] = [focus_version, ...new Set(findings.map(({ id }) => id))];
    }
    t.strictSame(found, known);
  });
});
