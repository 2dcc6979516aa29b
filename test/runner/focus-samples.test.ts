/**
 * Small bills in the formats of large providers through whole runs: the published sums equal DuckDB's sums of the same
 * files, `focus-check` finds no new errors in the exports, and another tenant that reads them has the same costs.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Config } from "../../src/config/config.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { layOutSamples } from "../focus-samples.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { openDuckDb, sumsByDuckDb } from "./focus-duckdb.js";
import { errorsIn, readingTenant, sameCostsAgain } from "./read-again.js";
import { reconciled, runContext, runOnce, runRows } from "./runs.js";

const today = "2026-07-15";

interface Sample {
  /** Folder below the folder of all samples. */
  readonly place: string;
  /** If true, each file is a source of its own; otherwise the folder is one source. */
  readonly single?: true;
  /** The same lines as an earlier sample in another file format. Their export would be the same. */
  readonly isTwin?: true;
  /** Matches files of the bill. The others are ignored. */
  readonly bill: RegExp;
  /** Expected errors of the run, each as a part of the message. */
  readonly errors: readonly string[];
  /** Number of groups of currency, category and day, of lines, and of lines with each finding. */
  readonly found: {
    readonly groups: number;
    readonly lines: number;
    readonly findings: Readonly<Record<string, number>>;
  };
  /** Errors of the bill that its export keeps: rule and column, and the number of rows. */
  readonly broughtAlong: Readonly<Record<string, number>>;
}

const anyFile = /\.(csv|csv\.gz|parquet)$/;
const samples: readonly Sample[] = [
  {
    place: "aws-1.2-parquet",
    bill: anyFile,
    errors: [],
    found: { groups: 14, lines: 18, findings: {} },
    broughtAlong: {},
  },
  {
    place: "aws-1.2-csvgz",
    isTwin: true,
    bill: anyFile,
    errors: [],
    found: { groups: 14, lines: 18, findings: {} },
    broughtAlong: {},
  },
  {
    place: "azure-1.0r2-csvgz",
    bill: /22222222-.*\.csv\.gz$/,
    errors: [],
    found: { groups: 7, lines: 9, findings: {} },
    broughtAlong: { "commitment-quantity CommitmentDiscountQuantity": 2 },
  },
  {
    place: "azure-1.0-csv",
    isTwin: true,
    bill: anyFile,
    errors: [],
    found: { groups: 7, lines: 9, findings: {} },
    broughtAlong: { "commitment-quantity CommitmentDiscountQuantity": 2 },
  },
  {
    place: "gcp-1.2-parquet",
    bill: anyFile,
    errors: [],
    found: { groups: 7, lines: 9, findings: {} },
    broughtAlong: {},
  },
  {
    place: "oci-preview-csvgz",
    bill: anyFile,
    errors: [],
    found: { groups: 7, lines: 9, findings: {} },
    broughtAlong: {
      "value-list PricingCategory": 6,
      "usage-not-null ContractedUnitPrice": 6,
      "usage-not-null PricingCurrencyContractedUnitPrice": 6,
      "commitment-quantity CommitmentDiscountQuantity": 2,
    },
  },
  {
    place: "traps",
    single: true,
    bill: anyFile,
    errors: ["source-2: 1 line has no readable date, currency or EffectiveCost, and is not charged"],
    found: {
      groups: 5,
      lines: 21,
      findings: {
        blank_tag_key: 1,
        cost_not_price_times_quantity: 3,
        half_pair: 1,
        no_charge_date: 1,
        repeated_tag_key: 1,
        rounded_cost: 2,
        unreadable_tags: 1,
      },
    },
    broughtAlong: { "pair-null ResourceType": 1 },
  },
];

const tenantName = ({ place }: Sample) => place.replaceAll(/[^a-z0-9]/g, "_");

const again = (sample: Sample) => `${tenantName(sample)}_again`;

function filesOf(folder: string, { place }: Sample): string[] {
  return readdirSync(join(folder, place), { recursive: true, encoding: "utf8" })
    .filter((file) => anyFile.test(file))
    .sort();
}

/** Lines are charged by their tags or accounts. Costs that nobody uses directly are shared by cost. */
function tenantYaml(folder: string, sample: Sample, out: string): string {
  const { place, single, isTwin } = sample;
  const format = place.length % 2 === 0 ? "parquet" : "csv.gz";
  const emitters = [{ type: "focus", params: { location: out, format } }];
  const locations = single ? filesOf(folder, sample) : [""];
  // Samples of a kind are bills of one account, which would otherwise be kept back as overlapping.
  const sources = locations.map((file, index) => ({
    name: `source-${index}`,
    location: join(folder, place, file),
    limits: { settle_seconds: 0 },
    ...(single && { overlap: "add" }),
  }));
  return `
  ${tenantName(sample)}:
    ecosystem: focus
    tenant_id: ${tenantName(sample)}
    lookback_days: 90
    retention_days: 400
    cutoff_days: 1
    storage: { connection_string: "embedded:${tenantName(sample)}" }
    allocation:
      identity: [{ tag: team }, { column: SubAccountName }]
      rules:
        - { name: shared, where: { ChargeCategory: [Tax, Credit, Purchase] }, split: [{ by: cost }] }
    plugin_settings: ${JSON.stringify({ sources, ...(!isTwin && { emitters }) })}${isTwin ? "" : readingTenant(again(sample), join(out, tenantName(sample)), 90)}`;
}

const groups = (from: string, costs: readonly string[]) =>
  `SELECT concat_ws('|', currency, charge_category, toString(day), ${costs.map((cost) => `toDecimalString(sum(${cost}), 12)`).join(", ")}) AS line
  FROM ${from} GROUP BY currency, charge_category, day ORDER BY currency, charge_category, day`;

async function compare(
  t: Test,
  { config, stores }: { config: Config; stores: OpenedStores },
  folder: string,
  sample: Sample,
) {
  const name = tenantName(sample);
  const lines = async (query: string) =>
    (await runRows<{ line: string }>(stores, name, query)).map(({ line }) => line);
  const now = () => new Date(`${today}T12:00:00Z`);
  const run = await runOnce(runContext(stores, { now }), config, name);
  t.equal(run.status, sample.errors.length === 0 ? "completed" : "completed_with_errors");
  const said = run.errors.map(({ message }) => message.replace(/^source-\d+ (?=\S)/, ""));
  t.strictSame(said, sample.errors);
  t.strictSame((await reconciled(stores, name)).off, []);

  const files = filesOf(folder, sample)
    .filter((file) => sample.bill.test(file))
    .map((file) => join(folder, sample.place, file));
  const wanted = await sumsByDuckDb(await openDuckDb(t), { files, currency: undefined });
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

t.test("bills in the providers' formats can be read, exported and read again", async (t) => {
  const folder = await layOutSamples(t);
  const out = temporaryFolder(t);
  const yaml = `tenants:${samples.map((sample) => tenantYaml(folder, sample, out)).join("")}`;
  const opened = await openTestStores(t, yaml);
  for (const sample of samples) {
    await t.test(sample.place, async (t) => await compare(t, opened, folder, sample));
    if (sample.isTwin) continue;
    await t.test(`${sample.place} as it leaves`, async (t) => {
      t.strictSame(
        await errorsIn(t, join(out, tenantName(sample))),
        sample.broughtAlong,
        "the export has only the errors of the bill",
      );
      const now = () => new Date(`${today}T12:00:00Z`);
      const [first, second] = [tenantName(sample), again(sample)];
      await sameCostsAgain(t, { ...opened, first, second, now });
    });
  }
});
