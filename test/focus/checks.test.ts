/** A valid file has no findings, and for each check there is a file that violates only this check. */
import t from "tap";
import { checks } from "../../src/focus/check/all-checks.js";
import { checkFile } from "../../src/focus/check/check-file.js";
import { clean } from "../../src/focus/check/clean.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { type FocusVersion, focusVersions } from "../../src/focus/version.js";
import { temporaryFolder, testLogger } from "../stores.js";
import { at, csvOf, type TestFile, validFile, writeCsv, writeParquet } from "./files.js";

const engine = await openScratchEngine(testLogger);
t.teardown(() => engine.close());
const folder = temporaryFolder(t);

interface Case {
  readonly id: string;
  /** Columns of the findings, if there are others besides the changed column. */
  readonly columns: readonly string[];
  change(file: TestFile): void;
  readonly example: readonly [row: number | null, value: string | null] | undefined;
  readonly count?: number;
  readonly version?: FocusVersion;
  readonly forced?: FocusVersion;
  readonly parquetTypes?: Readonly<Record<string, string>>;
  /** The only changed row, and its new values. */
  readonly only?: { readonly row: number; readonly changes: Readonly<Record<string, string | null>> };
}

/** A case that changes one value. */
function value(id: string, column: string, row: number, text: string | null, example = text): Case {
  return values(id, column, row, { [column]: text }, example);
}

/** A case that changes several values of a row. The finding names one column. */
function values(
  id: string,
  column: string,
  row: number,
  changes: Readonly<Record<string, string | null>>,
  example: string | null,
): Case {
  return {
    id,
    columns: [column],
    example: [row + 1, example],
    change: ({ rows }) => Object.assign(rows[row] ?? {}, changes),
    only: { row, changes },
  };
}

function parts(
  id: string,
  column: string,
  changes: readonly Readonly<Record<string, string | null>>[],
  [row, example]: readonly [number, string],
): Case {
  return {
    id,
    columns: [column],
    example: [row, example],
    change: ({ rows }) => {
      for (const [each, change] of changes.entries()) Object.assign(rows[at.parts[each] ?? 0] ?? {}, change);
    },
  };
}

const columnCase = (id: string, column: string, change: Case["change"], more: Partial<Case> = {}): Case => ({
  id,
  columns: [column],
  change,
  example: undefined,
  ...more,
});

const without = (name: string) => (file: TestFile) => {
  file.columns = file.columns.filter((column) => column.name !== name);
};
const renamed = (name: string, to: string) => (file: TestFile) => {
  file.columns = file.columns.map((column) => (column.name === name ? { ...column, name: to } : column));
};
const added = (name: string) => (file: TestFile) => {
  file.columns = [...file.columns, { name, from: "ChargeDescription" }];
};

const elements = (ratio: string, more = "") =>
  `{"Elements":[{"AllocatedRatio":${ratio},"UsageUnit":"Hours","UsageQuantity":6.66,"x_Rule":"cpu"${more}}]}`;
const third = "0.333333333333333333333";

const cases: readonly Case[] = [
  columnCase("column-missing", "BillingAccountName", without("BillingAccountName")),
  columnCase("column-recommended", "ServiceSubcategory", without("ServiceSubcategory")),
  columnCase("column-conditional", "SkuMeter", without("SkuMeter")),
  columnCase("column-split", "AllocatedTags", without("AllocatedTags")),
  columnCase("column-case", "billedCost", renamed("BilledCost", "billedCost"), {
    example: [null, "stands for BilledCost"],
  }),
  columnCase("column-renamed", "ProviderName", renamed("ServiceProviderName", "ProviderName"), {
    example: [null, "stands for ServiceProviderName"],
  }),
  columnCase("column-removed", "PublisherName", added("PublisherName")),
  columnCase("column-newer", "InvoiceDetailId", added("InvoiceDetailId"), { version: "1.3", forced: "1.3" }),
  columnCase("column-duplicate", "tags", added("tags")),
  columnCase("column-unknown", "oci_Number", added("oci_Number")),
  columnCase("column-custom-name", "x_cost", added("x_cost")),
  columnCase("column-type", "BilledCost", () => undefined, {
    parquetTypes: { BilledCost: "Nullable(String)" },
    example: [null, "Nullable(String)"],
  }),
  value("value-null", "BillingAccountId", at.usage, null),
  value("null-text", "AvailabilityZone", at.tax, "NULL"),
  value("null-text", "AvailabilityZone", at.tax, "\\N"),
  value("null-text", "AvailabilityZone", at.tax, "n/a"),
  value("text-blanks", "ChargeDescription", at.usage, "a charge "),
  value("date-format", "ChargePeriodStart", at.usage, "05/01/2026"),
  value("date-format", "ChargePeriodStart", at.usage, "2026-05-01T00:00Z"),
  value("date-format", "ChargePeriodStart", at.usage, "2026-02-30T00:00:00Z"),
  value("date-fraction", "ChargePeriodStart", at.usage, "2026-05-01T00:00:00.000Z"),
  value("number-format", "BilledCost", at.usage, "1,000.00"),
  value("number-format", "BilledCost", at.usage, "+1"),
  value("number-format", "BilledCost", at.usage, "NaN"),
  value("number-digits", "BilledCost", at.usage, "1E-39"),
  value("number-digits", "BilledCost", at.usage, "1E400"),
  value("number-digits", "BilledCost", at.usage, `1.${"1".repeat(39)}`),
  values("number-negative", "ListUnitPrice", at.usage, { ListUnitPrice: "-0.5", ListCost: "-1" }, "-0.5"),
  value("currency-code", "BillingCurrency", at.usage, "Eur"),
  value("value-list", "ChargeFrequency", at.usage, "Usage-based"),
  value("value-list", "ChargeClass", at.tax, "Correct"),
  value("unit-format", "ConsumedUnit", at.usage, "gigabytes per hour"),
  value("json-object", "Tags", at.usage, "[1]"),
  value("json-object", "Tags", at.usage, '{"a":'),
  value("json-keys", "Tags", at.usage, '{"a":1,"a":2}'),
  value("key-value", "Tags", at.usage, '{"a":{"b":1}}'),
  value(
    "period-order",
    "ChargePeriodEnd",
    at.usage,
    "2026-05-01T00:00:00Z",
    "2026-05-01T00:00:00Z to 2026-05-01T00:00:00Z",
  ),
  value("cost-product", "ListCost", at.usage, "1.00011", "1.00011 is not 0.5 × 2"),
  value("effective-cost", "EffectiveCost", at.tax, "0.2", "0.2 is not 0.19"),
  value("purchase-frequency", "ChargeFrequency", at.purchase, "Usage-Based"),
  value("service-subcategory", "ServiceSubcategory", at.usage, "Caching", "Caching in Compute"),
  value("pair-null", "RegionName", at.usage, null, "null beside RegionId eu-1"),
  value("pair-null", "PricingUnit", at.tax, "Hours", "Hours beside PricingQuantity null"),
  value("value-without-id", "ResourceName", at.tax, "a resource"),
  value("sku-price-null", "PricingCategory", at.credit, "Other"),
  value("tax-null", "SkuId", at.tax, "sku-1"),
  value("usage-not-null", "PricingCategory", at.usage, null),
  values(
    "consumed-null",
    "ConsumedQuantity",
    at.purchase,
    { ConsumedQuantity: "2", ConsumedUnit: "Hours" },
    "2",
  ),
  values(
    "consumed-null",
    "ConsumedQuantity",
    at.unused,
    { ConsumedQuantity: "2", ConsumedUnit: "Hours" },
    "2",
  ),
  values(
    "consumed-not-null",
    "ConsumedQuantity",
    at.usage,
    { ConsumedQuantity: null, ConsumedUnit: null },
    null,
  ),
  value("commitment-status", "CommitmentDiscountStatus", at.covered, null),
  values(
    "commitment-quantity",
    "CommitmentDiscountQuantity",
    at.covered,
    { CommitmentDiscountQuantity: null, CommitmentDiscountUnit: null },
    null,
  ),
  value("commitment-resource", "ResourceId", at.unused, "vm-1"),
  values(
    "capacity-status",
    "CapacityReservationStatus",
    at.usage,
    { CapacityReservationId: "reservation-1" },
    null,
  ),
  values(
    "service-category",
    "ServiceCategory",
    0,
    { ServiceCategory: "Storage", ServiceSubcategory: "Block Storage" },
    "Machines: Compute and Storage",
  ),
  value("sku-price-sku", "SkuId", at.usage, "sku-2", "price-1: sku-1 and sku-2"),
  value("commitment-unit", "CommitmentDiscountUnit", at.covered, "Hours", "plan-1: EUR and Hours"),
  value("contract-applied", "ContractApplied", at.usage, '{"Elements":[{"ContractId":"c"}]}'),
  value("commitment-programs", "CommitmentProgramEligibilityDetails", at.usage, '{"CommitmentPrograms":[]}'),
  value("split-method", "AllocatedTags", at.usage, '{"a":"b"}'),
  value("split-resource-name", "AllocatedResourceName", at.parts[0], null),
  value("split-no-details", "AllocatedMethodDetails", at.parts[0], null),
  value("split-tags", "AllocatedTags", at.parts[0], '{"reviewed":true}'),
  values(
    "split-origin-row",
    "x_SplitOriginId",
    at.usage,
    { x_SplitOriginId: "origin-2", x_SplitOriginCost: "1" },
    "origin-2",
  ),
  values("split-origin", "x_SplitOriginId", at.parts[0], { x_SplitOriginCost: null }, "origin-1"),
  parts(
    "split-details",
    "AllocatedMethodDetails",
    [{ AllocatedMethodDetails: elements(third, ',"Rule":"cpu"') }],
    [8, elements(third, ',"Rule":"cpu"')],
  ),
  parts("split-origin-cost", "x_SplitOriginCost", [{ x_SplitOriginCost: "11" }], [8, "origin-1: 10 and 11"]),
  parts(
    "split-cost",
    "BilledCost",
    Array.from({ length: 3 }, () => ({ x_SplitOriginCost: "10.000000000000000001" })),
    [8, "origin-1: 10 of 10.000000000000000001"],
  ),
  parts(
    "split-ratio",
    "AllocatedMethodDetails",
    [{ AllocatedMethodDetails: elements("0.333333333333333333334") }],
    [8, "origin-1: 1.000000000000000000001"],
  ),
  {
    ...parts(
      "split-share",
      "EffectiveCost",
      [{ EffectiveCost: "3.31" }, { EffectiveCost: "3.36" }],
      [8, "origin-1: 3.31 of 10"],
    ),
    count: 2,
  },
  parts(
    "split-dimensions",
    "x_SplitOriginId",
    [{ SubAccountName: "Team 2", AvailabilityZone: null }],
    [8, "origin-1: AvailabilityZone, SubAccountName"],
  ),
];

for (const version of focusVersions)
  t.test(`a valid file of version ${version} has no findings`, async (t) => {
    const file = validFile(version);
    const report = await checkFile(engine, writeCsv(folder, csvOf(file)));
    t.strictSame(report.findings, []);
    t.strictSame(
      [report.focus_version, report.version_detected, report.rows, report.errors, report.warnings],
      [version, true, file.rows.length, 0, 0],
    );
  });

t.test("a Parquet file has the same report as CSV, with Tags as text and as a map", async (t) => {
  const csv = await checkFile(engine, writeCsv(folder, csvOf(validFile("1.4"))));
  for (const tags of ["Nullable(String)", "Map(String, Nullable(String))"]) {
    const path = await writeParquet(engine, validFile("1.4"), { Tags: tags });
    t.strictSame(await checkFile(engine, path), { ...csv, file: path, format: "Parquet" });
  }
});

/** These compare rows with each other, so a changed copy of a row is not a case of its own. */
const acrossRows = /^(service-category|sku-price-sku|commitment-unit|split-)/;

/**
 * Cases that share a file: each changes a copy of a row, and no two are found by the same check. A file takes half a
 * second, however many cases it has.
 */
const batches: Case[][] = [];
for (const each of cases) {
  if (each.only === undefined || acrossRows.test(each.id)) continue;
  const batch = batches.find((others) => others.every(({ id }) => id !== each.id));
  if (batch === undefined) batches.push([each]);
  else batch.push(each);
}
const batched = new Set(batches.flat());

const expected = (each: Case, row?: number) => {
  const check = checks.find(({ id }) => id === each.id);
  return each.columns.map((column) => ({
    id: each.id,
    level: check?.level,
    column,
    count: each.count ?? 1,
    what: check?.what,
    examples: examplesOf(each).map((example) => (row === undefined ? example : { ...example, row })),
  }));
};

for (const [index, batch] of batches.entries())
  t.test(`${batch.length} changed rows are found by one check each (${index + 1})`, async (t) => {
    const file = validFile("1.4");
    const valid = [...file.rows];
    file.rows.push(...batch.map(({ only }) => ({ ...valid[only?.row ?? 0], ...only?.changes })));
    const { findings } = await checkFile(engine, writeCsv(folder, csvOf(file)));
    const wanted = batch.flatMap((each, at) => expected(each, valid.length + at + 1));
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    t.strictSame([...findings].sort(byId), wanted.sort(byId));
  });

for (const each of cases.filter((one) => !batched.has(one)))
  t.test(
    `${each.id}: found in ${each.columns.join(", ")}, and nothing else (${each.example?.[1]})`,
    async (t) => {
      const file = validFile(each.version ?? "1.4");
      each.change(file);
      const path =
        each.parquetTypes === undefined
          ? writeCsv(folder, csvOf(file))
          : await writeParquet(engine, file, each.parquetTypes);
      const { findings, errors, warnings } = await checkFile(engine, path, { version: each.forced });
      t.strictSame(findings, expected(each));
      const isError = checks.find(({ id }) => id === each.id)?.level === "error";
      t.strictSame([errors, warnings], isError ? [each.columns.length, 0] : [0, 1]);
    },
  );

function examplesOf({ example, count = 1, id }: Case) {
  if (example === undefined) return [];
  const first = { row: example[0], value: example[1] === null ? null : clean(example[1]) };
  return id === "split-share" && count === 2 ? [first, { row: 9, value: "origin-1: 3.36 of 10" }] : [first];
}

t.test("each check has a case, and each case has a check", async (t) => {
  t.strictSame([...new Set(cases.map(({ id }) => id))].sort(), checks.map(({ id }) => id).sort());
  t.equal(new Set(checks.map(({ id }) => id)).size, checks.length, "ids are unique");
});
