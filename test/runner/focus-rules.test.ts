/**
 * A FOCUS bill that configured rules allocate to teams, through a whole run: from files in a folder to published
 * chargebacks that can be explained.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { reconciled, runContext, runOnce, runRows } from "./runs.js";

const tenant = (folder: string, shares: string) => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    allocation:
      identity:
        - tag: team
        - column: SubAccountId
          map: ${join(folder, "accounts.csv")}
      rules:
        - name: support
          where: { ServiceName: "*Support*" }
          split: [{ by: cost, of: direct }]
        - name: shared-cluster
          where: { tag.cluster: { exists: true } }
          components:
            - ratio: 0.75
              split: [{ by: fixed, shares: ${shares} }]
            - ratio: 0.25
              split: [{ by: even, among: [web, data, ops] }]
        - name: network
          where: { ServiceCategory: Networking, BilledCost: { above: 0 } }
          split: [{ by: cost, of: direct, within: SubAccountId }]
    plugin_settings:
      sources:
        - name: cloud
          location: ${join(folder, "bills")}
          limits: { settle_seconds: 0 }`;

const day = { ChargePeriodStart: "2026-06-24T00:00:00Z", ChargePeriodEnd: "2026-06-25T00:00:00Z" };
const bill = [
  { ...day, EffectiveCost: "60", ResourceId: "i-web", Tags: '{"team":"web"}' },
  { ...day, EffectiveCost: "30", ResourceId: "i-data", Tags: '{"team":"data"}', SubAccountId: "222" },
  // The identity comes from the map, and the currency is another one.
  { ...day, EffectiveCost: "5", ResourceId: "i-ops", Tags: "", SubAccountId: "333", BillingCurrency: "EUR" },
  // A refund is direct, but is no weight.
  { ...day, EffectiveCost: "-8", ResourceId: "i-refund", Tags: '{"team":"ops"}' },
  { ...day, EffectiveCost: "10", ResourceId: "plan", ServiceName: "Premium Support", Tags: "" },
  {
    ...day,
    EffectiveCost: "3",
    ResourceId: "plan",
    ServiceName: "Premium Support",
    BillingCurrency: "EUR",
    Tags: "",
  },
  { ...day, EffectiveCost: "20", ResourceId: "eks", Tags: '{"cluster":"prod"}' },
  {
    ...day,
    EffectiveCost: "4",
    ResourceId: "nat",
    ServiceCategory: "Networking",
    SubAccountId: "222",
    Tags: "",
  },
  {
    ...day,
    EffectiveCost: "2",
    ResourceId: "vpn",
    ServiceCategory: "Networking",
    SubAccountId: "999",
    Tags: "",
  },
  { ...day, EffectiveCost: "1", ResourceId: "i-nobody", Tags: '{"Team":"web"}', SubAccountId: "999" },
];

const charged = `
SELECT resource_id, rule, identity_id, allocation_method, allocation_detail, currency, toString(sum(amount_hi + amount_lo)) AS amount
FROM chargebacks GROUP BY ALL ORDER BY currency, resource_id, identity_id, allocation_method`;

t.test("teams are charged for their own costs and their part of shared costs", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "bills", "2026-06"), { recursive: true });
  writeFileSync(join(folder, "accounts.csv"), "value,identity\n333,ops\n444,nobody-here\n");
  writeFileSync(join(folder, "bills", "2026-06", "bill.csv"), csv(bill));
  const { config, stores, folder: home } = await openTestStores(t, tenant(folder, "{ web: 3, data: 1 }"));
  const first = await runOnce(runContext(stores), config, "acme");
  t.strictSame([first.status, first.errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "acme")).off, []);
  const found = await runRows<Record<string, string>>(stores, "acme", charged);
  t.strictSame(
    found.map((row) => Object.values(row).join(" ").replaceAll("  ", " ")),
    [
      "i-ops ops line_identity line_identity_allocation EUR 5",
      "plan support ops cost_ratio cost_ratio_allocation EUR 3",
      // 15 of 20 by shares, 5 of 20 evenly. The line's offset decides where the odd ticks go.
      "eks shared-cluster data even_split even_split_allocation USD 1.6666",
      "eks shared-cluster data fixed_ratio fixed_ratio_allocation USD 3.75",
      "eks shared-cluster ops even_split even_split_allocation USD 1.6667",
      "eks shared-cluster web even_split even_split_allocation USD 1.6667",
      "eks shared-cluster web fixed_ratio fixed_ratio_allocation USD 11.25",
      "i-data data line_identity line_identity_allocation USD 30",
      "i-nobody UNALLOCATED terminal no_identity_on_line USD 1",
      "i-refund ops line_identity line_identity_allocation USD -8",
      "i-web web line_identity line_identity_allocation USD 60",
      "nat network data cost_ratio cost_ratio_allocation USD 4",
      "plan support data cost_ratio cost_ratio_allocation USD 3.3334",
      "plan support web cost_ratio cost_ratio_allocation USD 6.6666",
      "vpn network UNALLOCATED terminal no_identities_located USD 2",
    ],
  );

  const app = await startApi(t, { config, stores, now: new Date("2026-06-30T12:00:00Z") });
  const read = async (path: string) => {
    const { status, body } = await get(app, `/api/v1/tenants/acme/chargebacks${path}`);
    t.equal(status, 200, JSON.stringify(body).slice(0, 300));
    return body;
  };
  const onDay = "start_date=2026-06-24&end_date=2026-06-24";
  const explain = async (identity: string, resource: string, more = "") => {
    const [row] = (await read(`?${onDay}&identity_id=${identity}&resource_id=${resource}`)).items;
    return await read(`/${row.dimension_id}/explain?date=2026-06-24${more}`);
  };

  await t.test("sums can be grouped by rule and by a tag of the bill", async (t) => {
    const sums = async (column: string) =>
      (await read(`/breakdown?${onDay}&currency=USD&group_by=${column}`)).groups.map(
        (group: { dimensions: Record<string, string>; total_amount: string }) =>
          `${group.dimensions[column]} ${group.total_amount}`,
      );
    t.strictSame(await sums("rule"), [" 83", "shared-cluster 20", "support 10", "network 6"]);
    t.strictSame(await sums("line_tag:team"), ["web 60", "UNTAGGED 37", "data 30", "ops -8"]);
  });

  await t.test("each rule has its amounts, and unallocated costs have their reason", async (t) => {
    const report = (await get(app, `/api/v1/tenants/acme/rules?${onDay}`)).body;
    const sumsOf = (sums: Record<string, string>[]) => sums.map((each) => `${each.currency} ${each.amount}`);
    t.strictSame(
      report.rules.map(({ name, sums }: { name: string; sums: [] }) => [name, ...sumsOf(sums)]),
      [
        ["support", "EUR 3", "USD 10"],
        ["shared-cluster", "USD 20"],
        ["network", "USD 6"],
      ],
    );
    const total = report.product_rules
      .flatMap(({ sums }: { sums: { currency: string; amount: string }[] }) => sums)
      .filter(({ currency }: { currency: string }) => currency === "USD")
      .reduce((sum: number, { amount }: { amount: string }) => sum + Number(amount), 0);
    t.equal(total, 83);
    const { items } = (await get(app, `/api/v1/tenants/acme/worklist?${onDay}`)).body;
    t.strictSame(
      items.map(({ example_resource_id: id, amount, lacks }: Record<string, never>) => [id, amount, lacks]),
      (
        [
          ["vpn 2", {}],
          ["i-nobody 1", { similar_tag: "Team" }],
        ] as const
      ).map(([line, similar]) => [
        ...line.split(" "),
        [
          { tag: "team", reason: "no_tag", value: "", ...similar },
          { column: "SubAccountId", map: join(folder, "accounts.csv"), reason: "not_in_map", value: "999" },
        ],
      ]),
    );
  });

  await t.test("rows of configured rules can be explained", async (t) => {
    const fixed = await explain("web", "eks", "&component=0");
    t.strictSame(
      [fixed.rule.rule, fixed.rule.product_type, fixed.row.allocation_method, fixed.row.amount],
      ["shared-cluster", "", "fixed_ratio", "11.25"],
    );
    t.strictSame(
      fixed.recipients.items.map(({ identity_id, weight, amount }: Record<string, string>) => [
        identity_id,
        weight,
        amount,
      ]),
      [
        ["web", "3", "11.25"],
        ["data", "1", "3.75"],
      ],
    );
    const byCost = await explain("web", "plan");
    t.strictSame(
      [byCost.rule.rule, byCost.line.total_cost, byCost.split.total_weight, byCost.weights_kept],
      ["support", "10", "90", true],
    );
    t.strictSame(
      byCost.recipients.items.map(({ identity_id, weight, amount }: Record<string, string>) => [
        identity_id,
        weight,
        amount,
      ]),
      [
        ["web", "60", "6.6666"],
        ["data", "30", "3.3334"],
      ],
    );
    // By the costs of the line's account only, in its currency.
    const within = await explain("data", "nat");
    t.strictSame(
      [within.rule.rule, within.split.total_weight, within.weights_kept, within.recipients.total],
      ["network", "30", true, 1],
    );
    t.strictSame(
      within.recipients.items.map(({ identity_id, weight, amount }: Record<string, string>) => [
        identity_id,
        weight,
        amount,
      ]),
      [["data", "30", "4"]],
    );
    t.strictSame(within.tiers[0].set_of, "currency@SubAccountId");
    const named = await explain("web", "i-web");
    t.strictSame(
      [named.rule.rule, named.rule.product_type, named.row.allocation_method, named.this.amount],
      ["", "*", "line_identity", "60"],
    );
    const nobody = await explain("UNALLOCATED", "i-nobody");
    t.strictSame(
      nobody.tiers.map(({ kind, outcome }: Record<string, string>) => `${kind} ${outcome}`),
      ["line names_nobody", "terminal used"],
    );
  });

  await t.test("changed shares recalculate the open day from the same bill", async (t) => {
    const other = testConfig(`data_dir: ${home}/data\n${tenant(folder, "{ web: 1, data: 1 }")}`, home);
    const again = await runOnce(runContext(stores), config, "acme");
    t.strictSame(again.dates_calculated, 0);
    const changed = await runOnce(runContext(stores), other, "acme");
    t.strictSame([changed.status, changed.dates_calculated], ["completed", 1]);
    const fixed = `${charged.replace("FROM chargebacks", "FROM chargebacks WHERE allocation_method = 'fixed_ratio'")}`;
    t.strictSame(
      (await runRows<Record<string, string>>(stores, "acme", fixed)).map(
        ({ identity_id, amount }) => `${identity_id} ${amount}`,
      ),
      ["data 7.5", "web 7.5"],
    );
    t.strictSame((await reconciled(stores, "acme")).off, []);
  });
});
