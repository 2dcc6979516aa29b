/** FOCUS files for tests: a small valid file of each version, and helpers to change it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { columnsOfVersion } from "../../src/focus/columns.js";
import type { FocusVersion } from "../../src/focus/version.js";

type Row = Record<string, string | null>;

/** Columns in order, with their names in the file, and rows by the names of the standard. */
export interface TestFile {
  columns: { name: string; from: string }[];
  rows: Row[];
}

const shared: Row = {
  BillingAccountId: "account-1",
  BillingAccountName: "Example",
  BillingAccountType: "Payer",
  BillingCurrency: "EUR",
  BillingPeriodStart: "2026-05-01T00:00:00Z",
  BillingPeriodEnd: "2026-06-01T00:00:00Z",
  ChargeDescription: "a charge",
  ChargePeriodStart: "2026-05-01T00:00:00Z",
  ChargePeriodEnd: "2026-05-02T00:00:00Z",
  HostProviderName: "Example Cloud",
  InvoiceDetailId: "line-1",
  InvoiceId: "invoice-1",
  InvoiceIssuer: "Example Cloud",
  InvoiceIssuerName: "Example Cloud",
  PricingCurrency: "EUR",
  Provider: "Example Cloud",
  ProviderName: "Example Cloud",
  Publisher: "Example Cloud",
  PublisherName: "Example Cloud",
  ServiceCategory: "Compute",
  ServiceName: "Machines",
  ServiceProviderName: "Example Cloud",
  ServiceSubcategory: "Virtual Machines",
  SubAccountId: "team-1",
  SubAccountName: "Team 1",
  SubAccountType: "Project",
};

/** All costs of a row, in every currency. */
const costing = (billed: string, effective = billed): Row => ({
  AmortizedCost: effective,
  BilledCost: billed,
  ContractedCost: billed,
  EffectiveCost: effective,
  ListCost: billed,
  PricingCurrencyEffectiveCost: effective,
});

const priced: Row = {
  ContractedUnitPrice: "0.5",
  ListUnitPrice: "0.5",
  PricingCategory: "Standard",
  PricingCurrencyContractedUnitPrice: "0.5",
  PricingCurrencyListUnitPrice: "0.5",
  PricingQuantity: "2",
  PricingUnit: "Hours",
  SkuId: "sku-1",
  SkuMeter: "Machine Hours",
  SkuPriceDetails: '{"CoreCount":4,"x_Arch":"arm"}',
  SkuPriceId: "price-1",
};

const resource: Row = {
  AvailabilityZone: "eu-1a",
  Region: "eu-1",
  RegionId: "eu-1",
  RegionName: "Europe 1",
  ResourceId: "vm-1",
  ResourceName: "machine one",
  ResourceType: "Machine",
  Tags: '{"env":"prod","reviewed":true}',
};

const usage: Row = {
  ...shared,
  ...costing("1"),
  ...priced,
  ...resource,
  ChargeCategory: "Usage",
  ChargeFrequency: "Usage-Based",
  ChargeType: "Usage",
  ConsumedQuantity: "2",
  ConsumedUnit: "Hours",
  UsageQuantity: "2",
  UsageUnit: "Hours",
};

const commitment: Row = {
  CommitmentDiscountCategory: "Spend",
  CommitmentDiscountId: "plan-1",
  CommitmentDiscountName: "Plan 1",
  CommitmentDiscountQuantity: "1",
  CommitmentDiscountType: "Savings Plan",
  CommitmentDiscountUnit: "EUR",
  PricingCategory: "Committed",
};

const fee: Row = { ...shared, ChargeFrequency: "One-Time", PricingUnit: null };

/** A part of a charge of 10 EUR for 20 hours. */
const part = (recipient: string, ratio: string, hours: string, cost: string): Row => ({
  ...usage,
  ...costing(cost),
  AllocatedMethodDetails: `{"Elements":[{"AllocatedRatio":${ratio},"UsageUnit":"Hours","UsageQuantity":${hours},"x_Rule":"cpu"}]}`,
  AllocatedMethodId: "by-cpu",
  AllocatedResourceId: recipient,
  AllocatedResourceName: recipient,
  AllocatedTags: `{"tenant":"${recipient}"}`,
  ConsumedQuantity: hours,
  PricingQuantity: hours,
  UsageQuantity: hours,
  x_SplitOriginCost: "10",
  x_SplitOriginId: "origin-1",
});

/** Indexes of the rows by kind. */
export const at = {
  usage: 0,
  covered: 1,
  unused: 2,
  purchase: 3,
  tax: 4,
  credit: 5,
  correction: 6,
  parts: [7, 8, 9],
} as const;

function validRows(): Row[] {
  return [
    { ...usage, ContractApplied: contract, CommitmentProgramEligibilityDetails: programs },
    {
      ...usage,
      ...commitment,
      ...costing("0", "0.8"),
      CommitmentDiscountStatus: "Used",
      ListCost: "1",
      ContractedCost: "1",
    },
    {
      ...usage,
      ...commitment,
      ...costing("0", "0.2"),
      CommitmentDiscountStatus: "Unused",
      ListCost: "1",
      ContractedCost: "1",
      ResourceId: "plan-1",
      ResourceName: "Plan 1",
      ConsumedQuantity: null,
      ConsumedUnit: null,
    },
    {
      ...usage,
      ...commitment,
      ...costing("1", "0"),
      PricingCategory: "Standard",
      ResourceId: "plan-1",
      ChargeCategory: "Purchase",
      ChargeFrequency: "Recurring",
      ChargeType: "Purchase",
      ConsumedQuantity: null,
      ConsumedUnit: null,
    },
    { ...fee, ...costing("0.19"), ChargeCategory: "Tax", ChargeType: "Tax" },
    { ...fee, ...costing("-1.5E-1"), ChargeCategory: "Credit", ChargeType: "Credit" },
    { ...fee, ...costing("-0.5"), ChargeCategory: "Usage", ChargeClass: "Correction", ChargeType: "Usage" },
    part("tenant-a", "0.333333333333333333333", "6.67", "3.335"),
    part("tenant-b", "0.333333333333333333333", "6.67", "3.335"),
    {
      ...part("", "0.333333333333333333334", "6.66", "3.33"),
      AllocatedResourceId: null,
      AllocatedResourceName: null,
      AllocatedTags: null,
    },
  ];
}

const contract =
  '{"Elements":[{"ContractId":"c","ContractCommitmentId":"cc","ContractCommitmentAppliedCost":1}]}';
const programs = '{"CommitmentPrograms":[{"ProgramType":"Savings Plan"}]}';

const splitColumns = ["x_SplitOriginCost", "x_SplitOriginId"];

/** A valid file of the version. */
export function validFile(version: FocusVersion): TestFile {
  const names = columnsOfVersion(version)
    .map(({ name }) => name)
    .concat(version >= "1.3" ? splitColumns : []);
  const rows = validRows().map((row) =>
    version === "1.0-preview" && row.PricingCategory
      ? { ...row, PricingCategory: row.PricingCategory === "Standard" ? "On-Demand" : "Commitment-Based" }
      : row,
  );
  return { columns: names.map((name) => ({ name, from: name })), rows };
}

const quoted = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export function csvOf({ columns, rows }: TestFile, lineEnd = "\n"): string {
  const lines = [
    columns.map(({ name }) => quoted(name)),
    ...rows.map((row) => columns.map(({ from }) => quoted(row[from] ?? ""))),
  ];
  return lines.map((line) => `${line.join(",")}${lineEnd}`).join("");
}

let written = 0;

export function writeCsv(folder: string, content: string | Buffer, ending = "csv"): string {
  written += 1;
  const path = join(folder, `file-${written}.${ending}`);
  writeFileSync(path, content);
  return path;
}

/** The file as Parquet, with the types of real exports. `types` overrides some of them. */
export async function writeParquet(
  { client, folder }: ScratchEngine,
  file: TestFile,
  types: Readonly<Record<string, string>> = {},
): Promise<string> {
  const csv = writeCsv(folder, csvOf(file));
  const known = new Map(columnsOfVersion("1.4").map(({ name, type }) => [name, type])).set(
    "x_SplitOriginCost",
    "Decimal",
  );
  const usual = {
    String: "Nullable(String)",
    JSON: "Nullable(String)",
    Decimal: "Nullable(Decimal(38, 18))",
    "Date/Time": "Nullable(DateTime64(3, 'UTC'))",
  };
  const columns = file.columns.map(({ name }) => {
    const type = types[name] ?? usual[known.get(name) ?? "String"];
    if (type.startsWith("Map")) return `JSONExtract(ifNull(\`${name}\`, '{}'), '${type}') AS \`${name}\``;
    if (type.includes("Decimal")) return `toDecimal128OrNull(\`${name}\`, 18) AS \`${name}\``;
    if (type.includes("DateTime"))
      return `parseDateTime64BestEffortOrNull(\`${name}\`, 3, 'UTC') AS \`${name}\``;
    return `CAST(\`${name}\` AS ${type}) AS \`${name}\``;
  });
  const structure = file.columns.map(({ name }) => `\`${name}\` Nullable(String)`).join(", ");
  const path = csv.replace(/csv$/, "parquet");
  await client.command({
    query: `INSERT INTO FUNCTION file('${path}', 'Parquet') SELECT ${columns.join(", ")}
      FROM file('${csv}', 'CSVWithNames', '${structure.replaceAll("'", "\\'")}')
      SETTINGS max_threads = 1`,
  });
  return path;
}
