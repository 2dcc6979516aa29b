/**
 * Ways to share costs that other products publish, with numbers of our own: OpenCost's idle and shared costs, and Koku's
 * distribution of platform and unallocated costs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { csv } from "../ingest/focus/bills.js";
import { reconciled, runContext, runOnce, runRows } from "../runner/runs.js";
import { openTestStores, temporaryFolder } from "../stores.js";

const DAY = "2026-06-24";

interface Example {
  /** Cost by resource. */
  readonly bill: Readonly<Record<string, string>>;
  /** Used quantity by identity, by resource. */
  readonly used: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** YAML. */
  readonly allocation: readonly string[];
}

/** Returns what each identity pays of each resource. */
async function charged(t: Test, { bill, used, allocation }: Example): Promise<string[]> {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "bills", "2026-06"), { recursive: true });
  mkdirSync(join(folder, "usage"));
  const lines = Object.entries(bill).map(([resource, cost]) => ({
    ChargePeriodStart: `${DAY}T00:00:00Z`,
    ChargePeriodEnd: "2026-06-25T00:00:00Z",
    ResourceId: resource,
    BilledCost: cost,
    EffectiveCost: cost,
  }));
  writeFileSync(join(folder, "bills", "2026-06", "bill.csv"), csv(lines));
  const rows = Object.entries(used).flatMap(([resource, quantities]) =>
    Object.entries(quantities).map(([who, quantity]) => `${DAY},cpu_hours,${resource},${who},${quantity}`),
  );
  const head = "date,metric,resource_id,identity_id,quantity";
  writeFileSync(join(folder, "usage", "usage.csv"), [head, ...rows, ""].join("\n"));
  const yaml = `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      usage: { uploads: { metrics: [cpu_hours], folder: ${join(folder, "usage")}, settle_seconds: 0 } }
      sources: [{ name: bills, location: ${join(folder, "bills")}, limits: { settle_seconds: 0 } }]
    allocation:
${allocation.map((line) => `      ${line}`).join("\n")}`;
  const { config, stores } = await openTestStores(t, yaml);
  const { status, errors } = await runOnce(runContext(stores), config, "acme");
  t.strictSame([status, errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "acme")).off, []);
  const found = await runRows<{ resource: string; who: string; amount: string }>(
    stores,
    "acme",
    `SELECT resource_id AS resource, identity_id AS who, toString(sum(amount)) AS amount
     FROM chargebacks WHERE day = '${DAY}' GROUP BY resource, who ORDER BY resource, who`,
  );
  return found.map(({ resource, who, amount }) => `${resource}: ${who} ${amount}`);
}

const byUsage = (resource: string) =>
  `  - { name: ${resource}, where: { resource_id: ${resource} }, split: [{ by: usage, metric: cpu_hours }] }`;

t.test("OpenCost: idle cost is the cost of a node less that of its workloads", async (t) => {
  // A node of 48 core-hours for 24.00. What is requested or used costs 0.50 an hour, and the rest is idle.
  const bill = { "node-1": "24", "node-2": "12", management: "3.6" };
  const used = {
    "node-1": { checkout: 18, search: 6, idle: 24 },
    "node-2": { checkout: 3, search: 15, idle: 6 },
  };
  const workloads = {
    "node-1": { checkout: 18, search: 6 },
    "node-2": { checkout: 3, search: 15 },
  };
  const overhead = (more: string) =>
    `  - { name: overhead, where: { resource_id: management }, split: [{ by: cost${more} }] }`;
  const nodes = ["rules:", byUsage("node-1"), byUsage("node-2")];

  t.strictSame(
    await charged(t, { bill, used, allocation: [...nodes, overhead(", exclude: [idle]")] }),
    [
      // Workloads cost 10.50 each, so they share the overhead equally.
      "management: checkout 1.8",
      "management: search 1.8",
      "node-1: checkout 9",
      "node-1: idle 12",
      "node-1: search 3",
      "node-2: checkout 1.5",
      "node-2: idle 3",
      "node-2: search 7.5",
    ],
    "idle stays apart, and pays nothing of the overhead",
  );
  t.strictSame(
    await charged(t, { bill, used: workloads, allocation: [...nodes, overhead("")] }),
    [
      // Of 36.00, checkout has 18 + 2 and search has 6 + 10.
      "management: checkout 2",
      "management: search 1.6",
      "node-1: checkout 18",
      "node-1: search 6",
      "node-2: checkout 2",
      "node-2: search 10",
    ],
    "idle is shared on each node, so the nodes cost more",
  );
  const passing = [
    ...nodes,
    "pass_on: [{ name: idle, from: [idle], split: [{ by: cost, within: resource_id }, { by: cost }] }]",
  ];
  const { management: _, ...machines } = bill;
  t.strictSame(
    await charged(t, { bill: machines, used, allocation: passing }),
    ["node-1: checkout 18", "node-1: search 6", "node-2: checkout 2", "node-2: search 10"],
    "passing idle on within its node has the same result",
  );
});

t.test("Koku: platform and unallocated cost are distributed by what user projects cost", async (t) => {
  // Both are distributed by the cost of the user projects alone, so neither weighs in the other.
  const bill = { workers: "60", "control-plane": "20", "unallocated-workers": "40" };
  const used = { workers: { shop: 30, data: 90, "openshift-monitoring": 60 } };
  const distributed = (resource: string) =>
    `  - { name: ${resource}, where: { resource_id: ${resource} }, split: [{ by: cost, exclude: ["openshift-*"] }] }`;
  const rules = [
    "rules:",
    byUsage("workers"),
    distributed("control-plane"),
    distributed("unallocated-workers"),
  ];
  t.strictSame(await charged(t, { bill, used, allocation: rules }), [
    "control-plane: data 15",
    "control-plane: shop 5",
    "unallocated-workers: data 30",
    "unallocated-workers: shop 10",
    "workers: data 30",
    "workers: openshift-monitoring 20",
    "workers: shop 10",
  ]);
  const platform = 'pass_on: [{ name: platform, from: ["openshift-*"], split: [{ by: cost }] }]';
  t.strictSame(
    await charged(t, { bill, used, allocation: [...rules, platform] }),
    [
      "control-plane: data 15",
      "control-plane: shop 5",
      "unallocated-workers: data 30",
      "unallocated-workers: shop 10",
      "workers: data 45",
      "workers: shop 15",
    ],
    "the cost of the platform's own projects is distributed, too",
  );
});
