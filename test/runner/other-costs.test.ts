/** The other costs of a FOCUS bill, from the file to the breakdown, the view and the FOCUS export. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import t from "tap";
import { sumText } from "../../src/common/exact-decimal.js";
import { csvOf, type TestFile, validFile } from "../focus/files.js";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { reconciled, runContext, runOnce, runRows } from "./runs.js";

const tenants = (folder: string) => `tenants:
  cloud:
    ecosystem: focus
    tenant_id: cloud
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:cloud" }
    allocation:
      identity: [{ tag: owner }]
      rules:
        - name: shared
          where: { tag.env: prod }
          components:
            - { ratio: 0.6, split: [{ by: fixed, shares: { web: 1, data: 1, idle: 1 } }] }
            - { ratio: 0.4, split: [{ by: even, among: [web, data] }] }
        - { name: fee, where: { tag.env: fee }, split: [{ by: cost }] }
      pass_on:
        - { name: idle, from: [idle], split: [{ by: cost }] }
    plugin_settings:
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

type Costs = Readonly<Record<"BilledCost" | "EffectiveCost" | "ListCost", string>>;

/** Lines by day of June 2026, environment and owner. */
const lines: readonly (Costs & { readonly day: number; readonly env?: string; readonly owner?: string })[] = [
  { day: 24, env: "prod", BilledCost: "0", EffectiveCost: "10.000000000001", ListCost: "31.7" },
  { day: 24, env: "prod", BilledCost: "0.00005", EffectiveCost: "0.00007", ListCost: "12" },
  { day: 24, owner: "web", BilledCost: "3", EffectiveCost: "3", ListCost: "5.5" },
  { day: 24, owner: "data", BilledCost: "120", EffectiveCost: "0", ListCost: "120" },
  { day: 24, env: "fee", BilledCost: "1", EffectiveCost: "0.7", ListCost: "1" },
  { day: 25, env: "prod", BilledCost: "-2", EffectiveCost: "-1.3", ListCost: "0" },
  { day: 25, env: "prod", BilledCost: "5", EffectiveCost: "-3.3333", ListCost: "7" },
  { day: 25, BilledCost: "1", EffectiveCost: "1", ListCost: "1.25" },
];

function bill(): TestFile {
  const { columns, rows } = validFile("1.4");
  const [usage] = rows;
  return {
    columns,
    rows: lines.map(({ day, env, owner, ...costs }, index) => ({
      ...usage,
      ...costs,
      ContractedCost: costs.ListCost,
      BillingPeriodStart: "2026-06-01T00:00:00Z",
      BillingPeriodEnd: "2026-07-01T00:00:00Z",
      ChargePeriodStart: `2026-06-${day}T00:00:00Z`,
      ChargePeriodEnd: `2026-06-${day + 1}T00:00:00Z`,
      ResourceId: `vm-${index}`,
      Tags: JSON.stringify({ ...(env && { env }), ...(owner && { owner }) }),
    })),
  };
}

const columns = { billed: "BilledCost", effective: "EffectiveCost", list: "ListCost" } as const;
const choices = Object.keys(columns) as (keyof typeof columns)[];
const days = "start_date=2026-06-20&end_date=2026-06-29";

t.test("every cost of a FOCUS bill is split among the identities, to the last digit", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "2026-06"));
  writeFileSync(join(folder, "2026-06", "bill.csv"), csvOf(bill()));
  const { config, stores } = await openTestStores(t, tenants(folder));
  const now = new Date("2026-06-29T12:00:00Z");
  const context = runContext(stores, { now: () => now });
  const run = await runOnce(context, config, "cloud");
  t.strictSame([run.status, run.errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "cloud")).off, []);
  const app = await startApi(t, { config, stores, now });
  const base = "/api/v1/tenants/cloud/chargebacks/breakdown";
  const read = async (query: string) => {
    const { status, body } = await get(app, `${base}?${days}&${query}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };
  type Sums = { total_amount: string; dimensions: Record<string, string> };
  const amountsBy = async (column: string, cost: string): Promise<Record<string, string>> => {
    const { groups } = (await read(`group_by=${column}&cost=${cost}&limit=100`)) as { groups: Sums[] };
    return Object.fromEntries(
      groups.map(({ dimensions, total_amount: amount }) => [dimensions[column] ?? "", amount]),
    );
  };

  await t.test("all splits were met", async (t) => {
    const found = await runRows<{ found: string }>(
      stores,
      "cloud",
      "SELECT DISTINCT concat(allocation_method, ' ', cost_type) AS found FROM chargebacks ORDER BY found",
    );
    t.strictSame(
      found.map((row) => row.found),
      [
        "cost_ratio passed",
        "cost_ratio shared",
        "even_split shared",
        "fixed_ratio shared",
        "line_identity usage",
        "terminal passed",
        "terminal shared",
      ],
    );
  });

  for (const cost of choices) {
    const column = columns[cost];
    const whole = sumText(lines.map((line) => line[column]));

    await t.test(`the parts of ${column} add up to the bill, by resource and in total`, async (t) => {
      const byResource = Object.fromEntries(lines.map((line, index) => [`vm-${index}`, line[column]]));
      t.strictSame(
        sorted(await amountsBy("resource_id", cost)),
        Object.fromEntries(Object.entries(byResource).map(([name, value]) => [name, sumText([value])])),
      );
      const { groups, others, totals } = await read(
        `group_by=identity_id&cost=${cost}&limit=1&time_bucket=day&movers=2`,
      );
      t.equal(totals[0].total_amount, whole);
      t.equal(sumText([...groups, ...others].map((each: Sums) => each.total_amount)), whole);
      t.equal(sumText(totals[0].amounts), whole);
      t.equal(sumText(Object.values(totals[0].parts)), whole);
    });

    await t.test(`identities have the ${column} of the FOCUS export and of the view`, async (t) => {
      const found = await amountsBy("identity_id", cost);
      const file = await app.inject({ url: `/api/v1/tenants/cloud/export?format=focus&${days}` });
      const exported: Record<string, string> = {};
      for (const row of parse(file.body, { columns: true }) as Record<string, string>[]) {
        const name = row.AllocatedResourceId || "UNALLOCATED";
        exported[name] = sumText([exported[name] ?? "0", row[column] ?? ""]);
      }
      t.strictSame(sorted(found), sorted(exported));
      const sql = (await app.inject({ url: `${base}/sql?${days}&group_by=identity_id&cost=${cost}` })).body;
      const rows = await runRows<{ identity_id: string; total_amount: string }>(
        stores,
        "cloud",
        `SELECT identity_id, toString(total_amount) AS total_amount FROM (${sql})`,
      );
      t.strictSame(
        sorted(Object.fromEntries(rows.map((row) => [row.identity_id, sumText([row.total_amount])]))),
        sorted(found),
      );
    });
  }

  await t.test("a line of which most is shared has each cost in the same proportions", async (t) => {
    const rows = await runRows<{ row: string }>(
      stores,
      "cloud",
      `SELECT concat(identity_id, ' ', toString(amount), ' ', toString(list_cost)) AS row FROM chargebacks
       WHERE resource_id = 'vm-0' AND empty(passed_path) ORDER BY component, identity_id`,
    );
    t.strictSame(
      rows.map(({ row }) => row),
      ["data 2.000000000001 6.34", "web 2 6.34", "data 2 6.34", "web 2 6.34"],
    );
  });

  await t.test(
    "a day that an earlier version allocated is refused in either period, not between them",
    async (t) => {
      const { client } = await stores.tenant("cloud");
      await client.command({
        query: "ALTER TABLE sums_by_reason UPDATE list_cost = NULL WHERE day = '2026-06-24'",
        clickhouse_settings: { mutations_sync: "1" },
      });
      const { status, body } = await get(app, `${base}?${days}&group_by=team&cost=list`);
      t.strictSame(
        [status, body.errors],
        [
          400,
          [
            {
              in: "query",
              name: "cost",
              detail:
                "`cost` must be charged: the chargebacks of 2026-06-24 have no other cost. Only bills of the ecosystem focus have several, and days that an earlier version calculated get them by `chargehouse run --force`.",
              code: "invalid",
            },
          ],
        ],
      );
      const other = await get(
        app,
        `${base}?start_date=2026-06-25&end_date=2026-06-25&group_by=team&cost=list`,
      );
      t.equal(other.status, 200);
      const around = "start_date=2026-06-25&end_date=2026-06-25&group_by=team&cost=list";
      for (const [previous, status] of [
        ["2026-06-23", 200],
        ["2026-06-24", 400],
      ]) {
        const compared = `compare=previous&compare_start_date=${previous}&compare_end_date=${previous}`;
        t.equal(
          (await get(app, `${base}?${around}&${compared}`)).status,
          status,
          `compared with ${previous}`,
        );
      }
      const unknown = await get(app, `${base}?${days}&group_by=team&cost=net`);
      t.strictSame(
        [unknown.status, unknown.body.errors[0].detail],
        [400, "`cost` must be one of charged, billed, effective, list."],
      );
      const forced = await runOnce(context, config, "cloud", { force: true });
      t.strictSame([forced.status, forced.errors], ["completed", []]);
      await read("group_by=team&cost=list");
    },
  );
});

function sorted(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort());
}
