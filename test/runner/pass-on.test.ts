/** Steps that pass costs on, through whole runs. */
import t, { type Test } from "tap";
import { soundness } from "../http/explained.js";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { openTestStores } from "../stores.js";
import { chargedOn, runContext, runOnce, runRows, trackingDate } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const tenant = (steps: string) => `tenants:
  acme:
    ecosystem: generic_metrics_only
    tenant_id: acme
    lookback_days: 25
    cutoff_days: 1
    allocation:
      identity: [{ column: resource_id, pattern: "^(?<identity>marketing)$" }]
      rules:
        - { name: buckets, where: { resource_id: marketing }, split: [{ by: line }] }
      pass_on:
${steps.replace(/^/gm, "        ")}
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      cluster_id: c
      cost_types:
        - { name: COMPUTE, product_category: compute, rate: 0.10, cost_quantity: { type: fixed, count: 3 }, allocation_strategy: even_split }`;

const idleThenPlatform = `- name: idle-nodes
  from: [idle]
  where: { product_type: "METER*" }
  split: [{ by: cost, within: resource_id }, { by: cost }, { by: nobody }]
- name: platform
  from: ["kube-*"]
  split: [{ by: cost }]`;

const day = "2026-05-20";
const now = () => new Date("2026-05-31T12:00:00Z");
const members = { shop: 16, data: 11.6, "kube-system": 5.8, idle: 5 };

async function runWith(
  t: Test,
  steps: string,
  bill: Record<string, string>,
  of: Record<string, number> = members,
) {
  const { config, stores } = await openTestStores(t, tenant(steps));
  const { upstream, ecosystems } = scriptedUpstream({ members: of });
  upstream.bill.set(day, bill);
  const context = runContext(stores, { ecosystems, now });
  const { status, errors } = await runOnce(context, config, "acme");
  t.strictSame([status, errors], ["completed", []]);
  const app = await startApi(t, { config, stores, now: now() });
  return { config, stores, upstream, context, app };
}

const chargedWithPath = async (stores: Parameters<typeof runRows>[0]) =>
  (
    await runRows<{ row: string }>(
      stores,
      "acme",
      `SELECT concat(resource_id, ': ', identity_id, ' ', toString(amount_hi + amount_lo), ' ',
         arrayStringConcat(arrayMap(h -> concat(toString(h.step), ' from ', h.identity_id), passed_path), ', ')) AS row
       FROM chargebacks ORDER BY resource_id, identity_id, row`,
    )
  ).map(({ row }) => row.trim());

t.test("idle and the platform's costs are passed on to those who remain", async (t) => {
  const { stores } = await runWith(t, idleThenPlatform, { "metered-nodes": "38.40", marketing: "1" });
  t.strictSame(await chargedWithPath(stores), [
    "marketing: marketing 1",
    // 5 of idle, by 16, 11.6 and 5.8 of the same resource.
    // Then 5.8 of kube-system, and its 0.8682 of idle, by 18.3952, 13.3366 and 1.
    "metered-nodes: data 0.3537 1 from idle, 2 from kube-system",
    "metered-nodes: data 1.7366 1 from idle",
    "metered-nodes: data 11.6",
    "metered-nodes: data 2.3632 2 from kube-system",
    "metered-nodes: marketing 0.0266 1 from idle, 2 from kube-system",
    "metered-nodes: marketing 0.1772 2 from kube-system",
    "metered-nodes: shop 0.4879 1 from idle, 2 from kube-system",
    "metered-nodes: shop 16",
    "metered-nodes: shop 2.3952 1 from idle",
    "metered-nodes: shop 3.2596 2 from kube-system",
  ]);
});

function withoutPathId({ path_id: _, ...rest }: { readonly path_id?: number }) {
  return rest;
}

t.test("the API shows from whom a cost was passed on, and explains every giving", async (t) => {
  const { app } = await runWith(t, idleThenPlatform, { "metered-nodes": "38.40", marketing: "1" });
  const base = "/api/v1/tenants/acme/chargebacks";
  const onDay = `start_date=${day}&end_date=${day}`;
  const passed = await get(app, `${base}?${onDay}&passed_from=kube-system&identity_id=shop`);
  t.strictSame(
    passed.body.items.map(
      ({ amount, passed_from, metadata }: { amount: string; passed_from: string; metadata: object }) => [
        amount,
        passed_from,
        withoutPathId(metadata),
      ],
    ),
    [
      [
        "0.4879",
        "kube-system",
        {
          component: 0,
          component_ratio: "1",
          tier: 0,
          metric: "allocated/step-2",
          passed_path: [
            {
              step: 1,
              identity_id: "idle",
              tier: 0,
              allocation_method: "usage_ratio",
              allocation_detail: "usage_ratio_allocation",
              metric: "work",
            },
            {
              step: 2,
              identity_id: "kube-system",
              tier: 0,
              allocation_method: "cost_ratio",
              allocation_detail: "cost_ratio_allocation",
              metric: "allocated/step-1@resource_id",
            },
          ],
        },
      ],
      [
        "3.2596",
        "kube-system",
        {
          component: 0,
          component_ratio: "1",
          tier: 0,
          metric: "allocated/step-2",
          passed_path: [
            {
              step: 2,
              identity_id: "kube-system",
              tier: 0,
              allocation_method: "usage_ratio",
              allocation_detail: "usage_ratio_allocation",
              metric: "work",
            },
          ],
        },
      ],
    ],
  );
  const grouped = await get(app, `${base}/aggregate?${onDay}&group_by=passed_from&time_bucket=day`);
  t.strictSame(
    grouped.body.buckets.map((bucket: { dimensions: { passed_from: string }; total_amount: string }) => [
      bucket.dimensions.passed_from,
      bucket.total_amount,
    ]),
    [
      ["", "28.6"],
      ["idle", "4.1318"],
      ["kube-system", "6.6682"],
    ],
  );

  const [row] = passed.body.items;
  const path = `${base}/${row.dimension_id}/explain?date=${day}`;
  const { body: all } = await get(app, path);
  t.equal(all.total_rows, 3, "the cost types of what was passed on are one dimension");
  const twice = all.rows.find(({ amount }: { amount: string }) => amount === "0.4879");
  const givings = [];
  for (const giving of [0, 1, 2]) {
    const { response, faults } = await soundness(app, `${path}&path_id=${twice.path_id}&giving=${giving}`);
    t.strictSame(faults, [], `giving ${giving} can be calculated again`);
    givings.push([response.identity_id, response.row.amount, response.taken, response.rule?.rule]);
  }
  t.strictSame(givings, [
    ["idle", "5", null, ""],
    ["kube-system", "0.8682", "5", "pass_on/idle-nodes"],
    ["shop", "0.4879", "0.8682", "pass_on/platform"],
  ]);
  const beyond = await get(app, `${path}&path_id=${twice.path_id}&giving=3`);
  t.strictSame([beyond.status, beyond.body.code], [404, "row_not_found"]);
});

t.test("costs of nobody are passed on, and what finds nobody returns to UNALLOCATED", async (t) => {
  const steps = `- { name: rest, from: [UNALLOCATED], where: { resource_id: "orphan*" }, split: [{ by: cost, exclude: [shop] }] }`;
  const { stores } = await runWith(
    t,
    steps,
    { "orphan-1": "7", marketing: "1", "metered-1": "3", "stray-1": "2" },
    {},
  );
  t.strictSame(await chargedWithPath(stores), [
    "marketing: marketing 1",
    "metered-1: UNALLOCATED 3",
    "orphan-1: marketing 7 1 from UNALLOCATED",
    "stray-1: UNALLOCATED 2",
  ]);
});

t.test("a step may weigh by the month, as each earlier day stood before the step", async (t) => {
  const steps = `- { name: idle, from: [idle], split: [{ by: cost, over: month }] }
- { name: platform, from: [kube-system], split: [{ by: cost }] }`;
  const { config, stores, upstream, context } = await runWith(t, steps, {}, { "kube-system": 30 });
  upstream.bill.set("2026-05-10", { "metered-2": "30", marketing: "5" });
  await runOnce(context, config, "acme");
  t.strictSame(await chargedOn(stores, "acme", "2026-05-10"), [
    "marketing: 5 line_identity_allocation",
    "marketing: 30 cost_ratio_allocation",
  ]);
  // The earlier day is not gathered any more: it counts as it is published, before the second step.
  upstream.members = { idle: 5, shop: 5 };
  upstream.bill.set(day, { "metered-1": "10" });
  await runOnce({ ...context, now: () => new Date("2026-06-05T12:00:00Z") }, config, "acme");
  // 5 of idle, by 30 of kube-system, 5 of marketing and 5 of shop. Then 3.75 of kube-system, by what this day gave the
  // others: 5.625 and 0.625.
  t.strictSame(
    (await chargedWithPath(stores)).filter((row) => row.startsWith("metered-1")),
    [
      "metered-1: marketing 0.375 1 from idle, 2 from kube-system",
      "metered-1: marketing 0.625 1 from idle",
      "metered-1: shop 0.625 1 from idle",
      "metered-1: shop 3.375 1 from idle, 2 from kube-system",
      "metered-1: shop 5",
    ],
  );
});

t.test("what a step passes on of a provisional day is provisional", async (t) => {
  const { config, stores, upstream, context } = await runWith(t, idleThenPlatform, {
    "metered-nodes": "38.40",
    marketing: "1",
  });
  upstream.bill.set(day, { "metered-nodes": "38.40", "metered-more": "10", marketing: "1" });
  upstream.gaps.add(day);
  upstream.partly.add(day);
  await runOnce(context, config, "acme");
  t.equal((await trackingDate(stores, "acme", day)).provisional, true);
  const marks = await runRows<{ provisional: boolean; n: string }>(
    stores,
    "acme",
    "SELECT provisional, toString(count()) AS n FROM chargebacks GROUP BY provisional",
  );
  t.strictSame(
    marks.map(({ provisional }) => provisional),
    [true],
  );
});
