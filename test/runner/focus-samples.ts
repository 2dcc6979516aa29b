/**
 * Real and provider-shaped bills through whole runs: what is published of them is what DuckDB adds up of the same files, it leaves as FOCUS
 * datasets in which `focus-check` finds nothing that the bills did not bring along, and another tenant that reads these has the same costs. They
 * lie beside the checkout, where they are at hand.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Config } from "../../src/config/config.js";
import { projectRoot } from "../../src/config/project.js";
import type { OpenedStores } from "../../src/store/open-stores.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { openDuckDb, sumsByDuckDb } from "./focus-duckdb.js";
import { errorsIn, readingTenant, sameCostsAgain } from "./read-again.js";
import { reconciled, rowsOf, runContext, runOnce } from "./runs.js";

const folder = join(projectRoot(), "../shared/data/focus");
const skip = existsSync(folder) ? false : "the sample bills are not at hand";

interface Sample {
  /** Below the folder of all samples. */
  readonly place: string;
  /** Whether the place is one source; else each file of it is one. */
  readonly whole: boolean;
  /** Files that are the bill; the others count for nothing. */
  readonly bill: RegExp;
  readonly currency?: string;
  /** The run is at noon of this day, and reaches back so many days. */
  readonly today: string;
  readonly lookback?: number;
  /** What the run is to say, a part of each error. */
  readonly errors: readonly string[];
  /** Groups of currency, category and day; lines of the bills, and those of them that have each finding. */
  readonly found: {
    readonly groups: number;
    readonly lines: number;
    readonly findings: Readonly<Record<string, number>>;
  };
}

const summer = { today: "2026-07-15", errors: [] };
/** Errors that bills bring along into what is exported of them: rule and column, and how many rows. What a bill does not say is not invented. */
const broughtAlong: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "azure-1.0r2-csvgz": {
    "sku-price-null ListUnitPrice": 9,
    "sku-price-null ContractedUnitPrice": 9,
    "sku-price-null PricingCurrencyListUnitPrice": 9,
    "sku-price-null PricingCurrencyContractedUnitPrice": 9,
    "usage-not-null SkuId": 231,
    "usage-not-null SkuPriceId": 231,
    "usage-not-null PricingQuantity": 231,
    "usage-not-null PricingCategory": 231,
    "usage-not-null ListUnitPrice": 222,
    "usage-not-null ContractedUnitPrice": 222,
    "usage-not-null PricingCurrencyListUnitPrice": 222,
    "usage-not-null PricingCurrencyContractedUnitPrice": 222,
    "commitment-quantity CommitmentDiscountQuantity": 1090,
  },
  "azure-1.0-csv": {
    "sku-price-null ListUnitPrice": 2,
    "sku-price-null ContractedUnitPrice": 2,
    "sku-price-null PricingCurrencyListUnitPrice": 2,
    "sku-price-null PricingCurrencyContractedUnitPrice": 2,
    "usage-not-null SkuId": 57,
    "usage-not-null SkuPriceId": 57,
    "usage-not-null PricingQuantity": 57,
    "usage-not-null PricingCategory": 57,
    "usage-not-null ListUnitPrice": 55,
    "usage-not-null ContractedUnitPrice": 55,
    "usage-not-null PricingCurrencyListUnitPrice": 55,
    "usage-not-null PricingCurrencyContractedUnitPrice": 55,
    "commitment-quantity CommitmentDiscountQuantity": 281,
  },
  "gcp-1.2-parquet": { "consumed-not-null ConsumedQuantity": 284 },
  "oci-preview-csvgz": {
    "value-list ChargeFrequency": 1468,
    "pair-null RegionName": 1468,
    "usage-not-null PricingCategory": 1468,
    "usage-not-null ContractedUnitPrice": 1468,
    "usage-not-null PricingCurrencyContractedUnitPrice": 1468,
    "consumed-not-null ConsumedQuantity": 283,
  },
  traps: { "pair-null RegionName": 1, "pair-null SubAccountType": 1, "consumed-null ConsumedQuantity": 3 },
  "fdt-golden": { "sku-price-sku SkuId": 4 },
  "official-1.0": {
    "number-negative ContractedUnitPrice": 1,
    "number-negative PricingCurrencyContractedUnitPrice": 1,
    "value-list ChargeFrequency": 7,
    "effective-cost EffectiveCost": 1,
    "pair-null RegionName": 7,
    "pair-null ResourceType": 36,
    "sku-price-null PricingQuantity": 8,
    "sku-price-null PricingCategory": 1,
    "sku-price-null ListUnitPrice": 7,
    "sku-price-null ContractedUnitPrice": 1,
    "sku-price-null PricingCurrencyListUnitPrice": 7,
    "sku-price-null PricingCurrencyContractedUnitPrice": 1,
    "sku-price-null ConsumedQuantity": 7,
    "usage-not-null SkuPriceId": 5,
    "usage-not-null PricingCategory": 5,
    "usage-not-null ContractedUnitPrice": 5,
    "usage-not-null PricingCurrencyContractedUnitPrice": 5,
    "consumed-null ConsumedQuantity": 2,
    "commitment-quantity CommitmentDiscountQuantity": 4,
    "service-category ServiceCategory": 1,
  },
  openchargeback: {
    "usage-not-null SkuId": 121,
    "usage-not-null SkuPriceId": 121,
    "usage-not-null PricingQuantity": 121,
    "usage-not-null PricingCategory": 121,
    "usage-not-null ListUnitPrice": 121,
    "usage-not-null ContractedUnitPrice": 121,
    "usage-not-null PricingCurrencyListUnitPrice": 121,
    "usage-not-null PricingCurrencyContractedUnitPrice": 121,
  },
  "validator-samples": {
    "period-order BillingPeriodEnd": 2,
    "pair-null RegionName": 2,
    "usage-not-null SkuId": 1,
    "usage-not-null SkuPriceId": 1,
    "usage-not-null PricingQuantity": 1,
    "usage-not-null PricingCategory": 1,
    "usage-not-null ListUnitPrice": 1,
    "usage-not-null ContractedUnitPrice": 1,
    "usage-not-null PricingCurrencyListUnitPrice": 1,
    "usage-not-null PricingCurrencyContractedUnitPrice": 1,
    "service-category ServiceCategory": 1,
  },
};

const shape = (name: string, found: Sample["found"], bill = /\.(csv|csv\.gz|parquet)$/): Sample => ({
  ...{ ...summer, place: `shapes/${name}`, whole: true, bill, found },
});
const noBill = (name: string) =>
  `${name}: "${name}" has no column ChargePeriodStart, so it is no bill of FOCUS`;

/** As the large providers lay out and fill their bills. */
const providers: readonly Sample[] = [
  shape("aws-1.2-parquet", { groups: 166, lines: 3000, findings: { rounded_cost: 460 } }),
  shape("aws-1.2-csvgz", { groups: 166, lines: 3000, findings: { rounded_cost: 460 } }),
  shape(
    "azure-1.0r2-csvgz",
    {
      groups: 56,
      lines: 1497,
      findings: {
        commitment_purchase_costs: 5,
        contracted_cost_below_effective: 15,
        cost_not_price_times_quantity: 72,
        no_list_cost: 74,
        no_quantity: 77,
        priced_without_sku_price: 3,
        rounded_cost: 149,
        unpriced_charge: 77,
      },
    },
    /22222222-bbbb-4bbb-8bbb-000000000002\/.*\.csv\.gz$/,
  ),
  shape("azure-1.0-csv", {
    groups: 51,
    lines: 400,
    findings: {
      cost_not_price_times_quantity: 18,
      no_list_cost: 19,
      no_quantity: 24,
      priced_without_sku_price: 1,
      rounded_cost: 38,
      unpriced_charge: 24,
    },
  }),
  shape("gcp-1.2-parquet", { groups: 82, lines: 1500, findings: { cost_not_price_times_quantity: 21 } }),
  shape("oci-preview-csvgz", {
    groups: 56,
    lines: 1468,
    findings: { rounded_cost: 217, unpriced_charge: 1468 },
  }),
  shape("aws-1.3-csv", { groups: 80, lines: 1500, findings: { rounded_cost: 497 } }),
  shape("aws-1.4-csv", { groups: 80, lines: 1500, findings: { rounded_cost: 497 } }),
  shape("gcp-1.3-csv", { groups: 82, lines: 1500, findings: { rounded_cost: 463 } }),
  shape("gcp-1.4-csv", { groups: 82, lines: 1500, findings: { rounded_cost: 463 } }),
];

export const aws = providers.filter(({ place }) => place.includes("/aws-"));
export const otherProviders = providers.filter((sample) => !aws.includes(sample));

/** Bills of other makers, and one that is full of traps. */
export const others: readonly Sample[] = [
  {
    ...{
      ...shape("traps", {
        groups: 4,
        lines: 28,
        findings: {
          blank_tag_key: 1,
          effective_cost_not_billed: 8,
          half_pair: 1,
          no_charge_date: 1,
          repeated_tag_key: 1,
          rounded_cost: 28,
          unreadable_date: 1,
          unreadable_tags: 1,
        },
      }),
      whole: false,
    },
    errors: ["source-2: 1 line has no readable date, currency or EffectiveCost, and is not charged"],
  },
  {
    ...{ place: "fdt-golden", whole: false, bill: /_cost_and_usage_/, today: "2026-07-15" },
    errors: [
      "aws_1_3_contract_commitment_rows100_seed42.csv",
      "azure_1_3_contract_commitment_rows100_seed42.csv",
      "gcp_1_3_contract_commitment_rows100_seed42.csv",
      "scenarios_correction_set.csv",
      "scenarios_sca_equal.csv",
      "scenarios_sca_negative.csv",
      "scenarios_sca_weighted.csv",
    ].map(noBill),
    found: { groups: 59, lines: 900, findings: { rounded_cost: 236 } },
  },
  {
    ...{ place: "official-1.0", whole: false, bill: /./, today: "2024-10-15", errors: [] },
    found: {
      groups: 33,
      lines: 1000,
      findings: {
        blank_tag_key: 23,
        contracted_cost_below_effective: 25,
        cost_not_price_times_quantity: 42,
        effective_cost_not_billed: 10,
        half_pair: 795,
        list_cost_below_contracted: 8,
        negative_unit_price: 1,
        priced_without_sku_price: 8,
        repeated_tag_key: 21,
        several_service_categories: 554,
        unpriced_charge: 5,
      },
    },
  },
  {
    ...{ place: "openchargeback", whole: false, bill: /^(?!journal)/, currency: "USD", today: "2025-12-31" },
    lookback: 364,
    errors: [
      '2025-01: "journal_output_2025-01.csv" has no column ChargePeriodStart, so it is no bill of FOCUS',
    ],
    found: { groups: 2, lines: 121, findings: {} },
  },
  {
    ...{ place: "validator-samples", whole: false, bill: /\.csv$/, today: "2023-07-01" },
    errors: [noBill("sample.parquet")],
    found: {
      groups: 2,
      lines: 2,
      findings: {
        effective_cost_not_billed: 1,
        no_list_cost: 1,
        no_quantity: 1,
        several_service_categories: 2,
      },
    },
  },
];

const tenantName = ({ place }: Sample) => place.replace(/^shapes\//, "").replaceAll(/[^a-z0-9]/g, "_");

const again = (sample: Sample) => `${tenantName(sample)}_again`;

function filesOf({ place }: Sample): string[] {
  return readdirSync(join(folder, place), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(csv|csv\.gz|parquet)$/.test(file))
    .sort();
}

/** Lines go to whom their tags or accounts name; what nobody uses directly is shared by cost. */
function tenantYaml(sample: Sample, out: string): string {
  const { place, whole, currency, lookback = 90 } = sample;
  const format = place.length % 2 === 0 ? "parquet" : "csv.gz";
  const emitters = [{ type: "focus", params: { location: out, format } }];
  const locations = whole ? [""] : filesOf(sample);
  const sources = locations.map((file, index) => ({
    ...{ name: `source-${index}`, location: join(folder, place, file), limits: { settle_seconds: 0 } },
  }));
  return `
  ${tenantName(sample)}:
    ecosystem: focus
    tenant_id: ${tenantName(sample)}
    lookback_days: ${lookback}
    retention_days: 400
    cutoff_days: 1
    storage: { connection_string: "embedded:${tenantName(sample)}" }
    allocation:
      identity: [{ tag: CostCenter }, { tag: cost-center }, { tag: pi_email }, { column: SubAccountName }]
      rules:
        - { name: shared, where: { ChargeCategory: [Tax, Credit, Purchase] }, split: [{ by: cost }] }
    plugin_settings: ${JSON.stringify({ sources, emitters, ...(currency !== undefined && { currency }) })}${readingTenant(again(sample), join(out, tenantName(sample)), lookback)}`;
}

const groups = (from: string, costs: readonly string[]) =>
  `SELECT concat_ws('|', currency, charge_category, toString(day), ${costs.map((cost) => `toDecimalString(sum(${cost}), 12)`).join(", ")}) AS line
  FROM ${from} GROUP BY currency, charge_category, day ORDER BY currency, charge_category, day`;

async function compare(
  t: Test,
  { config, stores }: { config: Config; stores: OpenedStores },
  sample: Sample,
) {
  const name = tenantName(sample);
  const lines = async (query: string) =>
    (await rowsOf<{ line: string }>(stores, name, query)).map(({ line }) => line);
  const now = () => new Date(`${sample.today}T12:00:00Z`);
  const run = await runOnce(runContext(stores, { now }), config, name);
  t.equal(run.status, sample.errors.length === 0 ? "completed" : "completed_with_errors");
  const said = run.errors.map(({ message }) => message.replace(/^source-\d+ (?=\S)/, ""));
  t.strictSame(said, sample.errors);
  t.strictSame((await reconciled(stores, name)).off, []);

  const files = filesOf(sample)
    .filter((file) => sample.bill.test(file))
    .map((file) => join(folder, sample.place, file));
  const wanted = await sumsByDuckDb(await openDuckDb(t), { files, currency: sample.currency });
  const billed = await lines(groups("billing", ["total_cost", "billed_cost", "list_cost"]));
  t.equal(billed.join("\n"), wanted.join("\n"));
  const charged = await lines(groups("chargebacks", ["amount_hi + amount_lo"]));
  t.equal(charged.join("\n"), wanted.map((line) => line.split("|").slice(0, 4).join("|")).join("\n"));

  const { rows } = await stores.postgres.query(
    `SELECT found.id, sum(found.lines)::int AS lines FROM deliveries, LATERAL (
        SELECT '' AS id, deliveries.lines UNION ALL
        SELECT each ->> 'id', (each ->> 'lines')::int FROM jsonb_array_elements(findings) AS each) AS found
      WHERE tenant_name = $1 AND state = 'current' GROUP BY found.id ORDER BY found.id`,
    [name],
  );
  const { "": all, ...findings } = Object.fromEntries(rows.map(({ id, lines: n }) => [id, n]));
  t.strictSame({ groups: billed.length, lines: all, findings }, sample.found);
}

/** A subtest for each sample. */
export function samplesTest(title: string, samples: readonly Sample[]): void {
  t.test(title, { skip }, async (t) => {
    const out = temporaryFolder(t);
    const yaml = `tenants:${samples.map((sample) => tenantYaml(sample, out)).join("")}`;
    const opened = await openTestStores(t, yaml);
    for (const sample of samples) {
      await t.test(sample.place, async (t) => await compare(t, opened, sample));
      await t.test(`${sample.place} as it leaves`, async (t) => {
        const written = join(out, tenantName(sample));
        t.strictSame(
          await errorsIn(t, written),
          broughtAlong[sample.place.replace(/^shapes\//, "")] ?? {},
          "focus-check",
        );
        const now = () => new Date(`${sample.today}T12:00:00Z`);
        const [first, second] = [tenantName(sample), again(sample)];
        await sameCostsAgain(t, { ...opened, first, second, now });
      });
    }
  });
}
