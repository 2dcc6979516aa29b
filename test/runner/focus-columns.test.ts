/** Rules and identity sources that name columns of a FOCUS bill, through whole runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { lineTagsSql } from "../../src/ingest/ecosystems/focus/declared-columns.js";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { reconciled, runContext, runOnce, runRows } from "./runs.js";

const usual: Record<string, string> = {
  BilledCost: "0",
  ContractedCost: "0",
  ListCost: "0",
  BillingCurrency: "USD",
  ChargePeriodStart: "2026-06-24T00:00:00Z",
  ChargePeriodEnd: "2026-06-25T00:00:00Z",
  ServiceName: "VM",
};

/** Creates a bill with any columns. Cells that a row leaves out are empty. */
function billOf(...rows: readonly Record<string, string>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys({ ...usual, ...row })))];
  const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
  const lines = rows.map((row) => names.map((name) => quoted({ ...usual, ...row }[name] ?? "")).join(","));
  return [names.join(","), ...lines, ""].join("\n");
}

/** Writes the bill of June. Returns the folder of the source. */
function folderWith(t: Test, bill: string): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "2026-06"));
  writeFileSync(join(folder, "2026-06", "bill.csv"), bill);
  return folder;
}

const tenant = (folder: string, allocation: string, columns = "[]") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    allocation: ${allocation}
    plugin_settings:
      columns: ${columns}
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

const charged = `
SELECT concat_ws(' ', resource_id, rule, identity_id, toString(sum(amount_hi + amount_lo))) AS row
FROM chargebacks GROUP BY resource_id, rule, identity_id ORDER BY row`;

t.test("rules name any column of the standard without a declaration", async (t) => {
  const folder = folderWith(
    t,
    billOf(
      { ResourceId: "account", EffectiveCost: "30", SubAccountId: "1", SubAccountName: "shop" },
      // Version 1.5 has the column, and the bill writes it in lower case.
      { ResourceId: "principal", EffectiveCost: "10", SubAccountName: "shop", principalid: "ann" },
      { ResourceId: "key", EffectiveCost: "6", principalid: "bob", CredentialId: "k1" },
      { ResourceId: "key-fee", EffectiveCost: "2", ServiceName: "Fee", CredentialId: "k1" },
      { ResourceId: "no-key-fee", EffectiveCost: "3", ServiceName: "Fee", CredentialId: "k2" },
      { ResourceId: "chat", EffectiveCost: "4", principalid: "ann", AllocatedServiceName: "chat" },
      { ResourceId: "chat-fee", EffectiveCost: "5", ServiceName: "Pool", AllocatedServiceName: "chat" },
      { ResourceId: "region", EffectiveCost: "7", RegionId: "eu-west-1" },
      { ResourceId: "json", EffectiveCost: "8", SkuPriceDetails: '{"GpuType":"T4"}' },
      { ResourceId: "time", EffectiveCost: "9", BillingPeriodStart: "2026-05-01" },
      { ResourceId: "dear", EffectiveCost: "100.01" },
      { ResourceId: "seller", EffectiveCost: "11", Provider: "Acme", PublisherName: "Books" },
    ),
  );
  const allocation = `
      identity: [{ column: PrincipalId }, { column: SubAccountName }]
      rules:
        - { name: key, where: { ServiceName: Fee }, split: [{ by: cost, of: direct, within: CredentialId }] }
        - { name: pool, where: { ServiceName: Pool }, split: [{ by: cost, within: AllocatedServiceName }] }
        - { name: europe, where: { RegionId: "eu-*" }, split: [{ by: fixed, shares: { eu: 1 } }] }
        - { name: gpu, where: { SkuPriceDetails: "*GpuType*" }, split: [{ by: fixed, shares: { ml: 1 } }] }
        - { name: late, where: { BillingPeriodStart: "2026-05-*" }, split: [{ by: fixed, shares: { may: 1 } }] }
        - { name: dear, where: { EffectiveCost: { above: 100 } }, split: [{ by: fixed, shares: { boss: 1 } }] }
        - name: former
          where: { ProviderName: Acme, PublisherName: Books }
          split: [{ by: fixed, shares: { books: 1 } }]`;
  const { config, stores } = await openTestStores(t, tenant(folder, allocation));
  const run = await runOnce(runContext(stores), config, "acme");
  t.strictSame([run.status, run.errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "acme")).off, []);
  t.strictSame(
    (await runRows<{ row: string }>(stores, "acme", charged)).map(({ row }) => row),
    [
      "account  shop 30",
      "chat  ann 4",
      "chat-fee pool ann 5",
      "dear dear boss 100.01",
      "json gpu ml 8",
      "key  bob 6",
      "key-fee key bob 2",
      "no-key-fee key UNALLOCATED 3",
      "principal  ann 10",
      "region europe eu 7",
      "seller former books 11",
      "time late may 9",
    ],
  );
});

const kept = `
SELECT concat_ws(' ', toString(day), resource_id, toJSONString(line_tags)) AS row FROM published_billing ORDER BY row`;

/** Rows of the day, without the day. */
const ofDay = (day: string, rows: readonly { readonly row: string }[]) =>
  rows.flatMap(({ row }) => (row.startsWith(`${day} `) ? [row.slice(day.length + 1)] : []));

t.test("declared columns are kept on lines and chargebacks, and work like tags of the bill", async (t) => {
  const long = "x".repeat(10_000);
  const earlier = { ChargePeriodStart: "2026-06-22T00:00:00Z", ChargePeriodEnd: "2026-06-23T00:00:00Z" };
  const details = (value: string) => ({ SkuPriceDetails: value });
  const folder = folderWith(
    t,
    billOf(
      { ...earlier, ResourceId: "old", EffectiveCost: "1", x_costcenter: "c1" },
      {
        ResourceId: "1",
        EffectiveCost: "8",
        x_costcenter: "another column",
        x_CostCenter: "c1",
        ...details('{"ModelId":"gpt-4","a.b":{"c":1.5}}'),
      },
      {
        ResourceId: "2",
        EffectiveCost: "4",
        x_costcenter: "c2",
        ...details('{"ModelId":"claude"}'),
        Tags: '{"team":"web","column:model":"gpt-4","column:other":"x"}',
      },
      { ResourceId: "3", EffectiveCost: "2", x_costcenter: "c1", ...details('{"ModelId":') },
      { ResourceId: "4", EffectiveCost: "1", x_costcenter: "NULL", ...details('{"ModelId":null}') },
      {
        ResourceId: "5",
        EffectiveCost: "0.5",
        x_costcenter: "two\nlines",
        ...details('{"ModelId":"a\\nb,\\u0000"}'),
      },
      { ResourceId: "6", EffectiveCost: "0.25", x_costcenter: long, ...details('["ModelId"]') },
      // Equal lines become one.
      ...Array<Record<string, string>>(2).fill({
        ResourceId: "7",
        EffectiveCost: "0.25",
        RegionName: "Paris",
        ...details('{"ModelId":{"id":true}}'),
      }),
      { ResourceId: "fee", EffectiveCost: "3", ServiceName: "Fee", x_costcenter: "c1" },
    ),
  );
  const columns = `[
        x_CostCenter, RegionName, x_Absent,
        { name: model, path: SkuPriceDetails.ModelId },
        { name: depth, path: [SkuPriceDetails, a.b, c] },
        { name: nowhere, path: SkuPriceDetails.a.b.c }]`;
  const allocation = `
      identity: [{ column: x_CostCenter }]
      rules:
        - { name: fees, where: { ServiceName: Fee }, split: [{ by: cost, within: x_CostCenter }] }
        - { name: models, where: { model: "gpt*" }, split: [{ by: fixed, shares: { ai: 1 } }] }`;
  const undeclared = await openTestStores(t, tenant(folder, "{}"));
  const { stores, folder: home } = undeclared;
  const first = await runOnce(runContext(stores), undeclared.config, "acme");
  t.strictSame([first.status, first.errors], ["completed", []]);
  const bare = await runRows<{ row: string }>(stores, "acme", kept);
  t.strictSame(ofDay("2026-06-22", bare), ["old {}"]);
  t.strictSame(ofDay("2026-06-24", bare).slice(0, 2), [
    "1 {}",
    '2 {"column:model":"gpt-4","column:other":"x","team":"web"}',
  ]);

  const config = testConfig(`data_dir: ${home}/data\n${tenant(folder, allocation, columns)}`, home);
  // Two days later, the first day of the bill is no longer gathered.
  const later = runContext(stores, { now: () => new Date("2026-07-02T12:00:00Z") });
  const second = await runOnce(later, config, "acme");
  t.strictSame([second.status, second.errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "acme")).off, []);
  const lines = await runRows<{ row: string }>(stores, "acme", kept);
  t.strictSame(ofDay("2026-06-22", lines), ["old {}"], "the day was read before the declaration");
  const expected = [
    '1 {"column:depth":"1.5","column:model":"gpt-4","column:x_CostCenter":"c1"}',
    '2 {"column:model":"claude","column:other":"x","column:x_CostCenter":"c2","team":"web"}',
    '3 {"column:x_CostCenter":"c1"}',
    "4 {}",
    '5 {"column:model":"a\\nb,\\u0000","column:x_CostCenter":"two\\nlines"}',
    `6 {"column:x_CostCenter":"${long}"}`,
    '7 {"column:RegionName":"Paris","column:model":"{\\"id\\":true}"}',
    'fee {"column:x_CostCenter":"c1"}',
  ];
  t.strictSame(ofDay("2026-06-24", lines), expected);
  const parts = kept.replace(
    "FROM published_billing",
    "FROM (SELECT DISTINCT day, resource_id, line_tags FROM chargebacks)",
  );
  t.strictSame(ofDay("2026-06-24", await runRows<{ row: string }>(stores, "acme", parts)), expected);
  const again = await runOnce(later, config, "acme");
  t.strictSame([again.status, again.dates_calculated], ["completed", 0]);

  await t.test("rules use them to choose lines, to name identities and to weigh costs", async (t) => {
    const rows = await runRows<{ row: string }>(stores, "acme", charged);
    t.strictSame(
      rows.map(({ row }) => row).filter((row) => !row.startsWith("old ")),
      [
        "1 models ai 8",
        "2  c2 4",
        "3  c1 2",
        "4  UNALLOCATED 1",
        "5  UNALLOCATED 0.5",
        "6  UNALLOCATED 0.25",
        "7  UNALLOCATED 0.5",
        "fee fees ai 2.4",
        "fee fees c1 0.6",
      ],
    );
  });

  const app = await startApi(t, { config, stores, now: new Date("2026-07-02T12:00:00Z") });
  const days = "start_date=2026-06-22&end_date=2026-06-24";
  const read = async (path: string) => {
    const { status, body } = await get(app, `/api/v1/tenants/acme/${path}`);
    t.equal(status, 200, JSON.stringify(body).slice(0, 300));
    return body;
  };
  const resources = async (filter: string) =>
    (await read(`chargebacks?${days}&${filter}`)).items
      .map(({ resource_id }: { resource_id: string }) => resource_id)
      .sort();

  await t.test("amounts are grouped and filtered by them", async (t) => {
    const { groups } = await read(`chargebacks/breakdown?${days}&group_by=column:model`);
    t.strictSame(
      groups.map((group: { dimensions: Record<string, string>; total_amount: string }) => [
        group.dimensions["column:model"],
        group.total_amount,
      ]),
      [
        ["gpt-4", "8"],
        ["UNTAGGED", "7.25"],
        ["claude", "4"],
        ["a\nb,\u0000", "0.5"],
        ['{"id":true}', "0.5"],
      ],
    );
    const { buckets } = await read(`chargebacks/aggregate?${days}&group_by=column:x_CostCenter`);
    t.strictSame(
      buckets
        .map(({ dimensions }: { dimensions: Record<string, string> }) => dimensions["column:x_CostCenter"])
        .sort(),
      // One for each of the two days.
      ["UNTAGGED", "UNTAGGED", "c1", "c2", "two\nlines", long],
    );
    t.strictSame(await resources("column:model=gpt-4"), ["1"]);
    t.strictSame(await resources("column:model=UNTAGGED"), ["3", "4", "6", "fee", "fee", "old"]);
    t.strictSame(await resources("not:column:model=UNTAGGED,claude"), ["1", "5", "7"]);
    t.strictSame(await resources("column:x_CostCenter=two%0Alines"), ["5"]);
    const { status, body } = await get(app, `/api/v1/tenants/acme/chargebacks?${days}&column:9=x`);
    t.equal(status, 400, JSON.stringify(body));
  });

  await t.test("keys of the tenant's tags are listed apart from its columns", async (t) => {
    t.strictSame(await read(`tag-keys?${days}`), {
      tag_keys: [],
      line_tag_keys: ["team"],
      columns: ["RegionName", "depth", "model", "other", "x_CostCenter"],
    });
  });

  await t.test("the worklist shows the values that name no identity", async (t) => {
    const { items } = await read(`worklist?${days}`);
    t.strictSame(
      items.map(
        ({
          example_resource_id,
          lacks: [lack],
        }: {
          example_resource_id: string;
          lacks: { value: string }[];
        }) => [example_resource_id, lack],
      ),
      [
        // Three lines, among them the one that was read before the declaration.
        ["old", "", "no_value"],
        ["5", "two\nlines", "no_identity"],
        ["6", long, "no_identity"],
      ].map(([id, value, reason]) => [id, { column: "x_CostCenter", reason, value }]),
    );
  });

  await t.test("exports have them", async (t) => {
    const download = async (query: string) => {
      const response = await app.inject({
        method: "GET",
        url: `/api/v1/tenants/acme/export?${days}&${query}`,
      });
      t.equal(response.statusCode, 200, response.body.slice(0, 300));
      return response.body;
    };
    t.equal(
      await download("columns=line_tags&column:model=gpt-4"),
      'line_tags\n"{""column:depth"":""1.5"",""column:model"":""gpt-4"",""column:x_CostCenter"":""c1""}"\n',
    );
    const [header = "", row = ""] = (await download("format=focus&column:model=claude")).split(/\r?\n/);
    t.ok(header.includes(",x_CostCenter,x_Costcenter2,"), header);
    t.ok(row.includes(',"{""team"":""web""}",'), "the tags are those of the bill alone");
  });

  await t.test("a run for an older day reads the columns from the stored bill", async (t) => {
    const window = { start: "2026-06-22", end: "2026-06-23" };
    const rerun = await runOnce(later, config, "acme", { window });
    t.strictSame([rerun.status, rerun.dates_calculated], ["completed", 1]);
    const rows = await runRows<{ row: string }>(stores, "acme", kept);
    t.strictSame(ofDay("2026-06-22", rows), ['old {"column:x_CostCenter":"c1"}']);
  });
});

t.test("a tenant without declarations stages lines by the same statement as before", async (t) => {
  t.equal(lineTagsSql([]), "Tags");
});
