/** Rules that split by what earlier stages allocated, through whole runs. */
import t, { type Test } from "tap";
import { readRulesReport } from "../../src/query/rules/report.js";
import { usualLimits } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import { soundness } from "../http/explained.js";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { openTestStores } from "../stores.js";
import { chargedOn, runContext, runOnce, runRows, tenantOf, trackingDate } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const tenant = (rules: string, more = "") => `tenants:
  acme:
    ecosystem: generic_metrics_only
    tenant_id: acme
    lookback_days: 25
    cutoff_days: 1
${more}    allocation:
      identity: [{ column: resource_id, pattern: "^(?<identity>marketing)$" }]
      rules:
${rules.replace(/^/gm, "        ")}
        - name: buckets
          where: { resource_id: marketing }
          split: [{ by: line }]
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      cluster_id: c
      cost_types:
        - { name: COMPUTE, product_category: compute, rate: 0.10, cost_quantity: { type: fixed, count: 3 }, allocation_strategy: even_split }`;

const byCost = (name: string, tier: string, stage = "") =>
  `- { name: ${name}, where: { resource_id: ${name} }, split: [{ by: cost${tier} }]${stage} }`;

const day = "2026-05-20";
const now = () => new Date("2026-05-31T12:00:00Z");

/** Three nodes that are split by usage, a bucket that names its owner, a fee, and support. */
const bill = { "metered-nodes": "38.40", marketing: "1", fee: "2.40", support: "4" };
const members = { shop: 16, data: 11.6, "kube-system": 5.8, idle: 5 };

async function chargedAs(t: Test, rules: string) {
  const { config, stores } = await openTestStores(t, tenant(rules));
  const { upstream, ecosystems } = scriptedUpstream({ members });
  upstream.bill.set(day, bill);
  const { status, errors } = await runOnce(runContext(stores, { ecosystems, now }), config, "acme");
  t.strictSame([status, errors], ["completed", []]);
  const rows = await runRows<{ line: string; who: string; amount: string }>(
    stores,
    "acme",
    "SELECT resource_id AS line, identity_id AS who, toString(sum(amount_hi + amount_lo)) AS amount FROM chargebacks GROUP BY line, who ORDER BY line, who",
  );
  const window = { from: Date.UTC(2026, 4) / 1000, to: Date.UTC(2026, 5) / 1000 };
  const { allocation } = tenantOf(config, "acme");
  const { rules: reports } = await readRulesReport((await stores.tenant("acme")).client, {
    window,
    ...allocation,
    steps: allocation.pass_on,
  });
  const charged: Record<string, [line: string, who: string, amount: string][]> = {};
  for (const { line, who, amount } of rows) {
    charged[line] ??= [];
    charged[line].push([line, who, amount]);
  }
  return {
    charged,
    narrow: reports.flatMap(({ name, narrow_weights }) => narrow_weights.map((each) => ({ name, ...each }))),
  };
}

t.test("a fee is split in proportion to all costs, whether measured or named by the line", async (t) => {
  const { charged, narrow } = await chargedAs(t, [byCost("fee", ""), byCost("support", "")].join("\n"));
  // 39.4 are allocated: shop 16, data 11.6, kube-system 5.8, idle 5, marketing 1.
  t.strictSame(charged.fee, [
    ["fee", "data", "0.7066"],
    ["fee", "idle", "0.3045"],
    ["fee", "kube-system", "0.3533"],
    ["fee", "marketing", "0.0609"],
    ["fee", "shop", "0.9747"],
  ]);
  t.strictSame(charged.support, [
    ["support", "data", "1.1777"],
    ["support", "idle", "0.5076"],
    ["support", "kube-system", "0.5888"],
    ["support", "marketing", "0.1016"],
    ["support", "shop", "1.6243"],
  ]);
  t.strictSame(narrow, []);
});

t.test("a row of a later stage is explained by the costs of the earlier ones", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(byCost("fee", "")));
  const { upstream, ecosystems } = scriptedUpstream({ members });
  upstream.bill.set(day, bill);
  await runOnce(runContext(stores, { ecosystems, now }), config, "acme");
  const app = await startApi(t, { config, stores, now: now() });
  const onDay = `start_date=${day}&end_date=${day}&identity_id=shop&resource_id=fee`;
  const { body } = await get(app, `/api/v1/tenants/acme/chargebacks?${onDay}`);
  const path = `/api/v1/tenants/acme/chargebacks/${body.items[0].dimension_id}/explain?date=${day}`;
  const { response, everybody, faults } = await soundness(app, path);
  t.strictSame(faults, [], "the amount can be calculated again from the explanation");
  // The ecosystem splits support evenly: 1 to each of the four that have usage.
  t.strictSame([response.split?.total_weight, response.weights_kept], ["43.4", true]);
  t.strictSame(
    everybody.map(({ identity_id, weight }) => [identity_id, weight]),
    [
      ["shop", "17"],
      ["data", "12.6"],
      ["kube-system", "6.8"],
      ["idle", "6"],
      ["marketing", "1"],
    ],
  );
});

t.test("with `of: direct`, only who is named by a line pays", async (t) => {
  const { charged, narrow } = await chargedAs(t, byCost("fee", ", of: direct"));
  t.strictSame(charged.fee, [["fee", "marketing", "2.4"]]);
  t.strictSame(
    narrow,
    [{ name: "fee", currency: "USD", amount: "2.4", covered: "0.0218" }],
    "the report warns, because marketing has 1 of 45.8",
  );
});

t.test("identities in `exclude` get no part", async (t) => {
  const { charged, narrow } = await chargedAs(t, byCost("fee", ", exclude: [idle, 'kube-*', nobody-yet]"));
  t.strictSame(
    charged.fee?.map(([, who]) => who),
    ["data", "marketing", "shop"],
  );
  t.strictSame(narrow, []);
});

t.test("a later stage weighs by what the earlier stages allocated as well", async (t) => {
  const first = byCost("fee", ", exclude: [shop, data, kube-system, idle]");
  const { charged, narrow } = await chargedAs(t, [first, byCost("support", "", ", stage: 3")].join("\n"));
  t.strictSame(charged.fee, [["fee", "marketing", "2.4"]]);
  // 41.8 are allocated then, 3.4 of them to marketing, which pays the fee.
  t.strictSame(charged.support?.find(([, who]) => who === "marketing")?.[2], "0.3253");
  t.strictSame(
    narrow.map(({ name }) => name),
    ["fee"],
  );
});

const overMonth = byCost("fee", ", over: month");
const split = (shop: string, other: string) => [
  `marketing: ${other} cost_ratio_allocation`,
  `shop: ${shop} cost_ratio_allocation`,
];

t.test("a day that weighs by costs of the month follows its earlier days", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(overMonth));
  const { upstream, ecosystems } = scriptedUpstream({ members: { shop: 1 } });
  const context = runContext(stores, { ecosystems, now });
  upstream.bill.set("2026-05-10", { "metered-1": "75" });
  upstream.bill.set("2026-05-11", { marketing: "25" });
  upstream.bill.set("2026-05-12", { fee: "10" });
  upstream.bill.set("2026-05-13", { "metered-1": "1" });
  await runOnce(context, config, "acme");
  t.same(await chargedOn(stores, "acme", "2026-05-12"), split("7.5", "2.5"));
  t.equal((await runOnce(context, config, "acme")).dates_calculated, 0, "the next run calculates nothing");

  upstream.bill.set("2026-05-10", { "metered-1": "225" });
  t.equal(
    (await runOnce(context, config, "acme")).dates_calculated,
    2,
    "the revised day and the one that weighs by it",
  );
  t.same(await chargedOn(stores, "acme", "2026-05-12"), split("9", "1"));

  const later = { ...context, now: () => new Date("2026-06-05T12:00:00Z") };
  t.equal(
    (await runOnce(later, config, "acme")).dates_calculated,
    0,
    "an earlier day that is no longer gathered still counts",
  );
  upstream.bill.set("2026-05-12", { fee: "20" });
  await runOnce(later, config, "acme");
  t.same(await chargedOn(stores, "acme", "2026-05-12"), split("18", "2"), "it counts as it is published");
});

t.test("published results of a rule's own stage are no weights of its later days", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(overMonth));
  const { upstream, ecosystems } = scriptedUpstream({ members: { shop: 1 } });
  const context = runContext(stores, { ecosystems, now });
  upstream.bill.set("2026-05-10", { "metered-1": "75" });
  upstream.bill.set("2026-05-11", { fee: "20" });
  upstream.bill.set("2026-05-12", { marketing: "25" });
  upstream.bill.set("2026-05-13", { fee: "10" });
  await runOnce(context, config, "acme");
  t.same(await chargedOn(stores, "acme", "2026-05-11"), ["shop: 20 cost_ratio_allocation"]);
  t.same(await chargedOn(stores, "acme", "2026-05-13"), split("7.5", "2.5"));
  upstream.bill.set("2026-05-13", { fee: "20" });
  t.equal((await runOnce(context, config, "acme")).dates_calculated, 1);
  t.same(await chargedOn(stores, "acme", "2026-05-13"), split("15", "5"));
});

t.test("a day that weighs by a provisional day is provisional", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(overMonth));
  const { upstream, ecosystems } = scriptedUpstream({ members: { shop: 1 } });
  const context = runContext(stores, { ecosystems, now });
  upstream.bill.set("2026-05-10", { "metered-1": "75" });
  upstream.bill.set("2026-05-11", { marketing: "25" });
  upstream.bill.set("2026-05-12", { fee: "10" });
  upstream.gaps.add("2026-05-10");
  await runOnce(context, config, "acme");
  const provisional = async () =>
    await Promise.all(
      ["2026-05-10", "2026-05-11", "2026-05-12"].map(
        async (each) => (await trackingDate(stores, "acme", each)).provisional,
      ),
    );
  t.strictSame(await provisional(), [true, false, true]);
  t.same(await chargedOn(stores, "acme", "2026-05-12"), ["marketing: 10 cost_ratio_allocation"]);

  upstream.gaps.delete("2026-05-10");
  await runOnce(context, config, "acme");
  t.strictSame(await provisional(), [false, false, false]);
  t.same(await chargedOn(stores, "acme", "2026-05-12"), split("7.5", "2.5"));
});

t.test("a day that weighs by a day that fails waits for it", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(overMonth, "    allocation_retry_limit: 2\n"));
  const { upstream, ecosystems } = scriptedUpstream({ members: { shop: 1 } });
  const context = runContext(stores, { ecosystems, now });
  upstream.bill.set("2026-05-10", { "metered-1": "75" });
  upstream.bill.set("2026-05-11", { marketing: "25" });
  upstream.bill.set("2026-05-12", { fee: "10" });
  await runOnce(context, config, "acme");

  // A line that 200,000 identities share, and memory for lines that a few share.
  upstream.bill.set("2026-05-10", { "metered-1": "75.333333333333" });
  upstream.crowd = 200_000;
  const tight = { ...context, limits: { ...usualLimits, maxMemoryBytes: 30e6 } };
  const first = await runOnce(tight, config, "acme");
  t.same(
    first.errors.map(({ date }) => date),
    ["2026-05-10"],
  );
  t.same(await chargedOn(stores, "acme", "2026-05-12"), split("7.5", "2.5"), "what was published stays");
  holds(t, await trackingDate(stores, "acme", "2026-05-12"), { allocation_attempts: 0 });

  const second = await runOnce(tight, config, "acme");
  t.equal(second.dates_calculated, 2);
  t.same(
    await chargedOn(stores, "acme", "2026-05-12"),
    ["marketing: 10 cost_ratio_allocation"],
    "the failed day went to UNALLOCATED",
  );
});
