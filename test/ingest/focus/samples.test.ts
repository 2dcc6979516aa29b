/** Real and provider-shaped bills, where they are at hand; the other tests make their own. */
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../../src/config/project.js";
import { deliveryOf, fileOf, load, openDeliveryStore, recorded } from "./bills.js";

const folder = join(projectRoot(), "../shared/data/focus");
const skip = existsSync(folder) ? false : "the sample bills are not at hand";

interface Sums {
  readonly BilledCost: string;
  readonly EffectiveCost: string;
  readonly ListCost: string;
  readonly ContractedCost: string;
}
interface Expected {
  readonly rows: number;
  readonly total: Sums;
  readonly byPeriodCurrency: Record<string, Sums>;
}

async function filesOf(set: string, pick: RegExp) {
  const root = join(folder, set);
  const names = (await readdir(root, { recursive: true })).filter((name) => pick.test(name)).sort();
  return names.map((name) => fileOf(name, readFileSync(join(root, name))));
}

/** Sums of 12 places differ from exact ones by half of the last place of each rounded line. */
function isNear(a: string, b: string, lines: number): boolean {
  const scaled = (text: string) => {
    const [, sign = "", whole = "", part = ""] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? [];
    return BigInt(`${sign}${whole}${part.padEnd(20, "0").slice(0, 20)}`);
  };
  const off = scaled(a) - scaled(b);
  return (off < 0n ? -off : off) <= BigInt(lines) * 50_000_000n;
}

t.test("sums of the provider-shaped sets are those of their rows", { skip }, async (t) => {
  const expected: Record<string, Expected> = JSON.parse(
    readFileSync(join(folder, "shapes/expected.json"), "utf8"),
  );
  t.comment(Object.keys(expected).join(" "));
  const sets: [set: string, key: string, pick: RegExp][] = [
    ["shapes/aws-1.2-parquet", "aws-1.2-parquet", /\.parquet$/],
    ["shapes/aws-1.2-csvgz", "aws-1.2-parquet", /\.csv\.gz$/],
    ["shapes/azure-1.0-csv", "azure-1.0-csv", /\.csv$/],
    ["shapes/gcp-1.2-parquet", "gcp-1.2-parquet", /\.parquet$/],
    ["shapes/oci-preview-csvgz", "oci-preview-csvgz", /\.csv\.gz$/],
    ["shapes/aws-1.3-csv", "aws-1.3-csv", /\.csv\.gz$/],
    ["shapes/aws-1.4-csv", "aws-1.4-csv", /\.csv\.gz$/],
    ["shapes/gcp-1.3-csv", "gcp-1.3-csv", /\.csv\.gz$/],
    ["shapes/gcp-1.4-csv", "gcp-1.4-csv", /\.csv\.gz$/],
  ];
  const store = await openDeliveryStore(t);
  for (const [set, key, pick] of sets) {
    await t.test(set, async (t) => {
      const outcome = await load(store, deliveryOf(await filesOf(set, pick), { source: set }));
      t.strictSame(outcome, { state: "current" });
      const { sums, lines, findings } = (await recorded(store)).at(-1) as {
        lines: number;
        sums: Record<string, string>[];
        findings: { id: string; lines: number }[];
      };
      t.comment(JSON.stringify(findings));
      const want = expected[key];
      if (want === undefined) return t.comment("no expectation");
      t.equal(lines, want.rows);
      for (const [column, name] of [
        ["BilledCost", "billed_cost"],
        ["EffectiveCost", "effective_cost"],
        ["ListCost", "list_cost"],
        ["ContractedCost", "contracted_cost"],
      ] as const) {
        if (want.total[column] === undefined) continue;
        t.ok(
          sums.length === 1 && isNear(sums[0]?.[name] ?? "", want.total[column], lines),
          `${name} ${sums[0]?.[name]} is ${want.total[column]}`,
        );
      }
    });
  }
});

t.test("every other sample loads, or says why it cannot", { skip }, async (t) => {
  const store = await openDeliveryStore(t);
  const files: [string, RegExp][] = [
    ["official-1.0", /\.csv$/],
    ["fdt-golden", /\.csv$/],
    ["openchargeback", /_2025-\d\d\.csv$/],
    ["validator-samples", /./],
    ["shapes/traps", /\.csv$/],
  ];
  for (const [set, pick] of files)
    for (const file of await filesOf(set, pick)) {
      const outcome = await load(store, deliveryOf([file], { source: `${set}/${file.name}` }), {
        currency: "USD",
      });
      const { findings, lines, sums } = (await recorded(store)).at(-1) ?? {};
      t.comment(
        `${set}/${file.name} ${JSON.stringify(outcome)} ${lines} ${JSON.stringify(sums)} ${JSON.stringify((findings as { id: string; lines: number; examples: string[] }[]).map(({ id, lines, examples }) => [id, lines, examples.join(" ")]))}`,
      );
      t.ok(["current", "refused"].includes(outcome.state));
    }
});
