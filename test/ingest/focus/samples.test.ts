/**
 * Small bills in the formats of the large providers are loaded: sums are those of their rows, and each difficult file
 * has a known outcome.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { AZURE_RUNS, expectedTotals, layOutSamples, samplesOf, traps } from "../../focus-samples.js";
import { deliveryOf, fileOf, loadBills, openDeliveryStore, recorded } from "./bills.js";

function filesIn(folder: string) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(csv|csv\.gz|parquet)$/.test(name))
    .sort();
  return names.map((name) => fileOf(name, readFileSync(join(folder, name))));
}

/** Whole 10^-12. Further places, which the store rounds, are cut. */
function ticks(text: string): bigint {
  const [, sign = "", whole = "", part = ""] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? [];
  return BigInt(`${sign}${whole}${part.padEnd(12, "0").slice(0, 12)}`);
}

const columns = [
  ["BilledCost", "billed_cost"],
  ["EffectiveCost", "effective_cost"],
  ["ListCost", "list_cost"],
  ["ContractedCost", "contracted_cost"],
] as const;

/** The outcome of a difficult file, the lines that were read, and findings with the number of their lines. */
const outcomes: Readonly<Record<string, unknown>> = {
  "bom-crlf.csv": ["current", 2, {}],
  "case-and-order.csv": ["current", 2, {}],
  "dates.csv": ["current", 3, { no_charge_date: 1 }],
  "header-only.csv": ["current", 0, {}],
  "identical-rows.csv": ["current", 3, {}],
  "literal-null.csv": ["current", 2, { half_pair: 1 }],
  "many-digits.csv": ["current", 2, { rounded_cost: 2, cost_not_price_times_quantity: 2 }],
  "negative-and-zero.csv": ["current", 3, { cost_not_price_times_quantity: 1 }],
  "texts.csv": ["current", 2, { unreadable_tags: 1, repeated_tag_key: 1, blank_tag_key: 1 }],
  "two-currencies.csv": ["current", 2, {}],
};

t.test("bills in the formats of the providers are loaded", async (t) => {
  const root = await layOutSamples(t);
  const store = await openDeliveryStore(t);

  for (const [set, folder, samples] of [
    ["aws-1.2-csvgz", "aws-1.2-csvgz", samplesOf("aws-1.2-csvgz")],
    ["aws-1.2-parquet", "aws-1.2-parquet", samplesOf("aws-1.2-parquet")],
    ["azure-1.0r2-csvgz", `azure-1.0r2-csvgz/${AZURE_RUNS.second}`, ["azure-1.0r2-second.csv"]],
    ["azure-1.0-csv", "azure-1.0-csv", samplesOf("azure-1.0-csv")],
    ["gcp-1.2-parquet", "gcp-1.2-parquet", samplesOf("gcp-1.2-parquet")],
    ["oci-preview-csvgz", "oci-preview-csvgz", samplesOf("oci-preview-csvgz")],
  ] as const)
    await t.test(`sums of ${set} are those of its rows`, async (t) => {
      const { state } = await loadBills(store, deliveryOf(filesIn(join(root, folder)), { source: set }));
      t.equal(state, "current");
      const { lines, sums } = (await recorded(store)).at(-1) as {
        lines: number;
        sums: Record<string, string>[];
      };
      const wanted = samples.map((sample) => expectedTotals[sample]);
      t.equal(
        lines,
        wanted.reduce((all, each) => all + (each?.rows ?? 0), 0),
      );
      t.equal(sums.length, 1, "the set has one currency");
      for (const [column, name] of columns) {
        const total = wanted.reduce((all, each) => all + ticks(each?.total[column] ?? "0"), 0n);
        t.equal(ticks(sums[0]?.[name] ?? "0"), total, column);
      }
    });

  await t.test("each difficult file has its known outcome", async (t) => {
    const reported: Record<string, unknown> = {};
    for (const trap of traps) {
      const file = fileOf(trap, readFileSync(join(root, "traps", trap)));
      const { state } = await loadBills(store, deliveryOf([file], { source: trap }), { currency: "USD" });
      const { lines, findings } = (await recorded(store)).at(-1) as {
        lines: number;
        findings: { id: string; lines: number }[];
      };
      reported[trap] = [state, lines, Object.fromEntries(findings.map(({ id, lines: n }) => [id, n]))];
    }
    t.strictSame(reported, outcomes);
  });
});
