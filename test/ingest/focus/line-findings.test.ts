/**
 * Findings about columns of a line and about lines compared with each other: they are counted, and every line is
 * charged.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../../src/common/project.js";
import { groupFindings, lineFindings } from "../../../src/ingest/ecosystems/focus/load/findings.js";
import { deliveryOf, fileOf, loadBills, loadedRows, openDeliveryStore, recorded } from "./bills.js";

const store = await openDeliveryStore(t);
let bills = 0;

/** Columns of plain usage without findings. */
const plain = {
  BillingCurrency: "USD",
  ChargePeriodStart: "2026-05-01T00:00:00Z",
  ChargeCategory: "Usage",
  ChargeClass: "",
  ServiceCategory: "Compute",
  ServiceSubcategory: "Virtual Machines",
  ServiceName: "EC2",
  SkuId: "sku",
  SkuPriceId: "sku-price",
  PricingCategory: "Standard",
  PricingQuantity: "4",
  PricingUnit: "Hours",
  ConsumedQuantity: "4",
  ConsumedUnit: "Hours",
  ListUnitPrice: "3",
  ContractedUnitPrice: "2.5",
  ListCost: "12",
  ContractedCost: "10",
  BilledCost: "10",
  EffectiveCost: "10",
  CommitmentDiscountId: "",
  CommitmentDiscountCategory: "",
  RegionId: "eu-west-1",
  RegionName: "Ireland",
  SkuPriceDetails: "",
} as const;
type Column = keyof typeof plain;
type Line = Partial<Record<Column, string>>;

const unpriced = {
  SkuId: "",
  SkuPriceId: "",
  PricingCategory: "",
  PricingQuantity: "",
  PricingUnit: "",
  ConsumedQuantity: "",
  ConsumedUnit: "",
  ListUnitPrice: "",
  ContractedUnitPrice: "",
} as const;
const tax = { ...unpriced, ChargeCategory: "Tax", ServiceName: "Tax", ServiceSubcategory: "" } as const;

/** Loads the lines, without some columns, and returns each finding with its rows. All lines must be stored. */
async function found(lines: readonly Line[], without: readonly Column[] = []): Promise<string[]> {
  const columns = (Object.keys(plain) as Column[]).filter((column) => !without.includes(column));
  const rows = lines.map((line) => columns.map((column) => ({ ...plain, ...line })[column]).join(","));
  const file = fileOf("b", [columns.join(","), ...rows, ""].join("\n"));
  bills += 1;
  const outcome = await loadBills(store, deliveryOf([file], { source: `bill-${bills}` }));
  if (outcome.state !== "current") throw new Error(outcome.problem);
  const kept =
    "SELECT toString(count()) AS n FROM focus_lines WHERE delivery = (SELECT max(delivery) FROM focus_lines)";
  t.equal((await loadedRows<{ n: string }>(store, kept))[0]?.n, String(lines.length));
  const { findings } = (await recorded(store)).at(-1) as {
    findings: readonly { id: string; lines: number; examples: readonly string[] }[];
  };
  return findings.map(({ id, lines: n, examples }) => `${id} ${n}: ${examples.join(" ")}`);
}

t.test("correct lines have no findings", async (t) => {
  const fine: Line[] = [
    {},
    // Within the tolerance of a product: 0.01 % of 10, and 0.000001 always.
    { ContractedCost: "10.001", ListCost: "12.0012" },
    {
      ListUnitPrice: "0.0000001",
      ListCost: "0.0000013",
      ContractedUnitPrice: "0",
      ContractedCost: "0",
      BilledCost: "0",
      EffectiveCost: "0",
    },
    // A refund.
    {
      PricingQuantity: "-4",
      ConsumedQuantity: "-4",
      ListCost: "-12",
      ContractedCost: "-10",
      BilledCost: "-10",
      EffectiveCost: "-10",
    },
    // Covered by a commitment, in whole and in part.
    {
      BilledCost: "0",
      EffectiveCost: "7",
      CommitmentDiscountId: "sp-1",
      CommitmentDiscountCategory: "Spend",
      PricingCategory: "Committed",
    },
    {
      BilledCost: "3",
      EffectiveCost: "7",
      CommitmentDiscountId: "sp-1",
      CommitmentDiscountCategory: "Spend",
    },
    // The purchase of a commitment, whose cost its usage has.
    {
      ChargeCategory: "Purchase",
      EffectiveCost: "0",
      CommitmentDiscountId: "sp-1",
      CommitmentDiscountCategory: "Spend",
    },
    { ...tax, ListCost: "0", ContractedCost: "2", BilledCost: "2", EffectiveCost: "2" },
    {
      ...tax,
      ChargeCategory: "Credit",
      ListCost: "",
      ContractedCost: "-2",
      BilledCost: "-2",
      EffectiveCost: "-2",
    },
    { ...unpriced, ChargeClass: "Correction", ListCost: "10" },
    { ServiceSubcategory: "of our own" },
    { ...unpriced, ChargeClass: "Correction", ListCost: "10", SkuPriceDetails: "{}" },
  ];
  t.strictSame(await found(fine), []);
});

const one: readonly (readonly [finding: string, line: Line])[] = [
  ["no_list_cost", { ListCost: "0", ListUnitPrice: "0" }],
  ["no_list_cost", { ListCost: "", BilledCost: "0" }],
  ["list_cost_below_contracted", { ListCost: "9.9", ListUnitPrice: "2.475" }],
  [
    "list_cost_below_contracted",
    {
      PricingQuantity: "-4",
      ListCost: "-8",
      ListUnitPrice: "2",
      ContractedCost: "-10",
      BilledCost: "-10",
      EffectiveCost: "-10",
    },
  ],
  ["contracted_cost_below_effective", { EffectiveCost: "10.01", BilledCost: "10.01" }],
  ["effective_cost_not_billed", { BilledCost: "9" }],
  ["effective_cost_not_billed", { ...tax, BilledCost: "2", EffectiveCost: "1.9", ContractedCost: "2" }],
  [
    "commitment_purchase_costs",
    { ChargeCategory: "Purchase", CommitmentDiscountId: "sp-1", CommitmentDiscountCategory: "Spend" },
  ],
  ["cost_not_price_times_quantity", { ContractedUnitPrice: "2.4" }],
  ["cost_not_price_times_quantity", { ListCost: "12.0013" }],
  ["negative_unit_price", { PricingQuantity: "-4", ListUnitPrice: "-3", ContractedUnitPrice: "-2.5" }],
  ["half_pair", { RegionName: "" }],
  ["half_pair", { ConsumedUnit: "" }],
  ["half_pair", { CommitmentDiscountCategory: "Spend" }],
  ["priced_tax", { ...tax, SkuId: "sku" }],
  ["foreign_subcategory", { ServiceSubcategory: "Object Storage" }],
];

t.test("each finding is found on its line, and on no other", async (t) => {
  for (const [finding, line] of one)
    t.strictSame(await found([{}, line, {}, line]), [`${finding} 2: b:2 b:4`], JSON.stringify(line));
});

t.test("missing prices are found", async (t) => {
  t.strictSame(await found([{}, { SkuPriceId: "" }]), [
    "priced_without_sku_price 1: b:2",
    "unpriced_charge 1: b:2",
  ]);
  t.strictSame(await found([{ ...unpriced, SkuPriceDetails: '"{""x_Size"":1}"' }]), [
    "no_quantity 1: b:1",
    "priced_without_sku_price 1: b:1",
    "unpriced_charge 1: b:1",
  ]);
  t.strictSame(await found([{ PricingQuantity: "", PricingUnit: "" }]), ["unpriced_charge 1: b:1"]);
});

t.test("one service has one category, and one price has one SKU", async (t) => {
  const other = { ServiceCategory: "Storage", ServiceSubcategory: "" };
  t.strictSame(await found([{}, { ...other, ServiceName: "S3" }, other, {}, { ServiceCategory: "" }]), [
    "several_service_categories 3: b:1 b:3 b:4",
  ]);
  t.strictSame(await found([{}, { SkuId: "another" }, { SkuId: "another", SkuPriceId: "p" }]), [
    "several_skus 2: b:1 b:2",
  ]);
});

t.test("a missing column is null in each line, and only complete pairs are compared", async (t) => {
  t.strictSame(
    await found([{}, { BilledCost: "0", EffectiveCost: "0", ContractedCost: "10" }], ["ListCost"]),
    ["no_list_cost 1: b:1"],
  );
  t.strictSame(
    await found([{}], ["RegionName", "ConsumedUnit", "ServiceCategory", "SkuPriceId", "ContractedUnitPrice"]),
    [],
  );
  t.strictSame(await found([{}], ["PricingQuantity", "PricingUnit", "ConsumedQuantity", "ConsumedUnit"]), [
    "no_quantity 1: b:1",
  ]);
});

t.test("examples of a finding are the first five lines", async (t) => {
  const lines = Array.from({ length: 9 }, (_, at) => (at < 2 ? {} : { RegionName: "" }));
  t.strictSame(await found(lines), ["half_pair 7: b:3 b:4 b:5 b:6 b:7"]);
});

t.test("the reference lists every finding, in the order of the code", async (t) => {
  const page = readFileSync(join(projectRoot(), "docs/reference/ecosystems/focus.md"), "utf8");
  const [, rows = ""] = /\n\| Finding \|.*\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const wanted = [...lineFindings, ...groupFindings].map(({ id, what }) => `| \`${id}\` | ${what} |\n`);
  t.equal(rows, wanted.join(""));
});
