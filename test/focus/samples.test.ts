/**
 * Files of real shapes, from a folder beside the checkout. Where it is not there, no file is checked, and the assertion says so.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/config/project.js";
import { checkFile } from "../../src/focus/check/check-file.js";
import { costs, type FocusReport } from "../../src/focus/check/report.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { UnreadableFile } from "../../src/focus/format.js";
import { testLogger } from "../stores.js";

const samples = join(projectRoot(), "../shared/data/focus");
const shapes = join(samples, "shapes");
const isThere = existsSync(shapes);

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(csv|csv\.gz|parquet)$/.test(file))
    .map((file) => join(folder, file))
    .sort();
}

/** Adds decimals as whole numbers of 30 places. */
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

type Totals = Partial<Record<(typeof costs)[number], string>>;
type Expected = Totals & { readonly rows: number; readonly total?: Totals };

/** The list was made with sums of 28 digits; these are the same with all digits of the file's values. */
const exact: Readonly<Record<string, Totals>> = {
  "traps/money_20_digits.csv": { BilledCost: "123456789012.12345678901234568091" },
};

const folders: Readonly<Record<string, string>> = {
  "azure-1.0r2-csvgz/run1":
    "azure-1.0r2-csvgz/exports/focuscost/20260501-20260531/11111111-aaaa-4aaa-8aaa-000000000001",
  "azure-1.0r2-csvgz/run2":
    "azure-1.0r2-csvgz/exports/focuscost/20260501-20260531/22222222-bbbb-4bbb-8bbb-000000000002",
};

t.test("rows and totals of provider-shaped files are those that they were made with", async (t) => {
  const engine = isThere ? await openScratchEngine(testLogger) : undefined;
  t.teardown(() => engine?.close());
  const expected: Record<string, Expected> = isThere
    ? JSON.parse(readFileSync(join(shapes, "expected.json"), "utf8"))
    : {};
  let checked = 0;
  for (const [name, facts] of Object.entries(expected)) {
    if (engine === undefined) break;
    const place = join(shapes, folders[name] ?? name);
    const reports: FocusReport[] = [];
    for (const file of name.startsWith("traps/") ? [place] : filesIn(place))
      reports.push(await checkFile(engine, file));
    checked += reports.length;
    const totals = facts.total ?? { ...facts, ...exact[name] };
    const told = Object.fromEntries(
      costs
        .filter((cost) => totals[cost] !== undefined)
        .map((cost) => [cost, sum(reports.flatMap(({ totals }) => totals.map((each) => each[cost] ?? "0")))]),
    );
    const wanted = Object.fromEntries(
      costs.flatMap((cost) => (totals[cost] === undefined ? [] : [[cost, sum([totals[cost]])]])),
    );
    t.strictSame([reports.reduce((all, { rows }) => all + rows, 0), told], [facts.rows, wanted], name);
  }
  t.equal(checked, isThere ? 34 : 0, `${checked} files of known totals were checked`);
});

/** Versions, and the ids of what is wrong with each file; files that are no FOCUS files of Cost and Usage have none. */
const known: Readonly<Record<string, readonly string[]>> = {
  "official-1.0/focus_sample.csv": [
    "1.0",
    "column-unknown",
    "value-null",
    "null-text",
    "date-format",
    "number-negative",
    "value-list",
    "effective-cost",
    "pair-null",
    "sku-price-null",
    "usage-not-null",
    "consumed-null",
    "service-category",
    "unit-format",
    "cost-product",
  ],
  "fdt-golden/aws_1_2_cost_and_usage_rows100_seed42.csv": ["1.2"],
  "fdt-golden/aws_1_2_cost_and_usage_rows25_seed7.csv": ["1.2"],
  "fdt-golden/aws_1_2_cost_and_usage_rows25_seed7_credits.csv": ["1.2"],
  "fdt-golden/aws_1_3_contract_commitment_rows100_seed42.csv": ["not of Cost and Usage"],
  "fdt-golden/aws_1_3_cost_and_usage_rows100_seed42.csv": ["1.3", "split-tags"],
  "fdt-golden/aws_1_3_cost_and_usage_rows25_seed7.csv": ["1.3", "split-tags"],
  "fdt-golden/aws_1_3_cost_and_usage_rows25_seed7_credits.csv": ["1.3", "split-tags"],
  "fdt-golden/azure_1_2_cost_and_usage_rows100_seed42.csv": ["1.2"],
  "fdt-golden/azure_1_2_cost_and_usage_rows25_seed7.csv": ["1.2"],
  "fdt-golden/azure_1_2_cost_and_usage_rows25_seed7_credits.csv": ["1.2"],
  "fdt-golden/azure_1_3_contract_commitment_rows100_seed42.csv": ["not of Cost and Usage"],
  "fdt-golden/azure_1_3_cost_and_usage_rows100_seed42.csv": ["1.3", "split-tags"],
  "fdt-golden/azure_1_3_cost_and_usage_rows25_seed7.csv": ["1.3", "split-tags"],
  "fdt-golden/azure_1_3_cost_and_usage_rows25_seed7_credits.csv": ["1.3", "split-tags"],
  "fdt-golden/gcp_1_2_cost_and_usage_rows100_seed42.csv": ["1.2"],
  "fdt-golden/gcp_1_2_cost_and_usage_rows25_seed7.csv": ["1.2"],
  "fdt-golden/gcp_1_2_cost_and_usage_rows25_seed7_credits.csv": ["1.2"],
  "fdt-golden/gcp_1_3_contract_commitment_rows100_seed42.csv": ["not of Cost and Usage"],
  "fdt-golden/gcp_1_3_cost_and_usage_rows100_seed42.csv": ["1.3", "split-tags"],
  "fdt-golden/gcp_1_3_cost_and_usage_rows25_seed7.csv": ["1.3", "split-tags"],
  "fdt-golden/gcp_1_3_cost_and_usage_rows25_seed7_credits.csv": ["1.3", "split-tags"],
  "fdt-golden/scenarios_correction_set.csv": ["1.2", "column-missing", "column-recommended"],
  "fdt-golden/scenarios_sca_equal.csv": ["1.3", "column-missing", "column-split", "column-recommended"],
  "fdt-golden/scenarios_sca_negative.csv": ["1.3", "column-missing", "column-split", "column-recommended"],
  "fdt-golden/scenarios_sca_weighted.csv": ["1.3", "column-missing", "column-split", "column-recommended"],
  "validator-samples/all_pass_0.5.csv": [
    "0.5",
    "column-case",
    "column-unknown",
    "null-text",
    "period-order",
    "service-category",
    "column-newer",
  ],
  "validator-samples/sample.parquet": ["not of Cost and Usage"],
  "openchargeback/aws_2025-01.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/aws_2025-12.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/azure_2025-01.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/azure_2025-12.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/hpc_2025-01.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/hpc_2025-12.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/it_storage_2025-01.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/it_storage_2025-12.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/journal_output_2025-01.csv": ["not of Cost and Usage"],
  "openchargeback/storage_2025-01.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
  "openchargeback/storage_2025-12.csv": ["1.0", "column-missing", "date-format", "column-recommended"],
};

t.test("the other files have the findings that are known", async (t) => {
  const engine = isThere ? await openScratchEngine(testLogger) : undefined;
  t.teardown(() => engine?.close());
  const others = ["official-1.0", "fdt-golden", "validator-samples", "openchargeback"];
  const files = isThere ? others.flatMap((each) => filesIn(join(samples, each))) : [];
  const told: Record<string, readonly string[]> = {};
  for (const file of files) {
    if (engine === undefined) break;
    told[relative(samples, file)] = await checkFile(engine, file).then(
      ({ focus_version, findings }) => [focus_version, ...new Set(findings.map(({ id }) => id))],
      (error) => {
        if (error instanceof UnreadableFile) return ["not of Cost and Usage"];
        throw error;
      },
    );
  }
  t.strictSame(told, isThere ? known : {}, `${files.length} files were checked`);
});
