/** Configured rules on staged windows: what is staged, and what changes a day's hash. On the real stores. */
import t from "tap";
import { planAllocation } from "../../src/config/allocation/plan.js";
import type { TenantConfig } from "../../src/config/config.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { prepareStore } from "../../src/ingest/configured/store-maps.js";
import { tenantRuleSet } from "../../src/runner/tenant-rules.js";
import { forever } from "./generic_metrics_only/tenant.js";
import { DAYS, line, openStaging } from "./staging-script.js";

type Allocation = TenantConfig["allocation"];

/** Two accounts, one of which is in the map, and support on each day. */
const billing = DAYS.flatMap((day, index) => [
  line(day, { resource_id: "i-1", env_id: "acct-1", product_type: "EC2", total_cost: `${index + 1}` }),
  line(day, { resource_id: "i-2", env_id: "acct-2", product_type: "EC2", total_cost: "10" }),
  line(day, { resource_id: "s", product_type: "SUPPORT", total_cost: "5" }),
]);

const rules: Allocation["rules"] = [
  {
    name: "support",
    where: { product_type: "SUPPORT" },
    split: [
      { by: "cost", of: "direct", over: "month" },
      { by: "cost", of: "direct", over: "day" },
    ],
  },
  { name: "fixed", where: { resource_id: "nothing" }, split: [{ by: "fixed", shares: { x: "1" } }] },
  { name: "rest", split: [{ by: "line" }] },
];

function planOf(map: Readonly<Record<string, string>>, allocation: Partial<Allocation> = {}) {
  const plan = planAllocation(
    {
      allocation: {
        decimal_places: 4,
        identity: [{ column: "env_id", map: "m.csv" }],
        rules,
        pass_on: [],
        ...allocation,
      },
      identity_maps: new Map([
        ["m.csv", { hash: JSON.stringify(map), entries: new Map(Object.entries(map)) }],
      ]),
      line_columns: ruleColumns(),
    },
    [],
  );
  if (plan === undefined) throw new Error("no plan");
  return plan;
}

t.test("configured rules apply to staged days", async (t) => {
  const { store, stage, rows, hashes } = await openStaging(t);
  const staged = async (plan: ReturnType<typeof planOf>) => {
    await prepareStore(store.client, [plan], forever);
    return await stage({ billing }, { allocation: plan, rulesHash: tenantRuleSet([], plan).hash });
  };

  await t.test(
    "each line gets its rule and identity, and costs become weights by day and by month",
    async (t) => {
      await staged(planOf({ "acct-1": "ann" }));
      const lines = await rows("billing", "toString(day) AS date, resource_id, rule, named_identity");
      t.strictSame(
        lines.filter(({ date }) => date === DAYS[0]).map((each) => Object.values(each).slice(1)),
        [
          ["i-1", "rest", "ann"],
          ["i-2", "rest", ""],
          ["s", "support", ""],
        ],
      );
      const facts = await rows(
        "usage",
        "toString(day) AS date, metric, resource_id, identity_id, toString(micro_units) AS weight",
      );
      t.strictSame(
        facts.map((each) => Object.values(each).join(" ")),
        [
          "2026-01-01 cost USD ann 1000000",
          "2026-01-01 cost/month USD ann 1000000",
          "2026-01-02 cost USD ann 2000000",
          "2026-01-02 cost/month USD ann 3000000",
          "2026-01-03 cost USD ann 3000000",
          "2026-01-03 cost/month USD ann 6000000",
        ],
      );
    },
  );

  await t.test("weights of a month include published days that are not staged", async (t) => {
    await store.client.command({
      query: `INSERT INTO billing (timestamp, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, quantity, unit_price, total_cost, currency, granularity, metadata)
        VALUES ('2026-01-01 00:00:00', 'e', 't', 'acct-1', 'i-1', 'c', 'EC2', 1, 1, 40, 'USD', 'daily', '{}'),
               ('2025-12-31 00:00:00', 'e', 't', 'acct-1', 'i-1', 'c', 'EC2', 1, 1, 400, 'USD', 'daily', '{}')`,
    });
    const plan = planOf({ "acct-1": "ann" });
    const later = billing.filter(({ timestamp }) => !timestamp.startsWith("2026-01-01"));
    await stage({ billing: later, complete: DAYS.slice(1) }, { allocation: plan });
    const facts = await rows("usage", "toString(day) AS date, metric, toString(micro_units) AS weight");
    t.strictSame(
      facts.filter(({ metric }) => metric === "cost/month").map((each) => Object.values(each).join(" ")),
      ["2026-01-02 cost/month 42000000", "2026-01-03 cost/month 45000000"],
    );
    await store.client.command({ query: "TRUNCATE TABLE billing" });
  });

  await t.test("the input of a day has what its lines show, and how their rules split", async (t) => {
    const hashesOf = async (plan: ReturnType<typeof planOf>) => {
      await staged(plan);
      return (await hashes()).map(String);
    };
    const before = await hashesOf(planOf({ "acct-1": "ann" }));
    t.strictSame(
      await hashesOf(planOf({ "acct-1": "ann", "acct-9": "zoe" })),
      before,
      "a row of a map that no line uses changes no day",
    );
    for (const [what, plan] of Object.entries({
      "a row of a map": planOf({ "acct-1": "zoe" }),
      "an identity source": planOf({ "acct-1": "ann" }, { identity: [{ tag: "team" }] }),
      "a rule": planOf({ "acct-1": "ann" }, { rules: rules.slice(1) }),
    })) {
      const after = await hashesOf(plan);
      t.ok(
        after.every((hash) => !before.includes(hash)),
        `${what} changes every day`,
      );
    }
    t.strictSame(
      await hashesOf(planOf({ "acct-1": "ann" })),
      before,
      "the same configuration has the same hash",
    );
  });

  await t.test("a pattern that the store rejects stops the run before it gathers", async (t) => {
    const plan = planOf(
      {},
      { rules: [{ name: "a", where: { env_id: { matches: "(?=x)" } }, split: [{ by: "line" }] }] },
    );
    await t.rejects(
      prepareStore(store.client, [plan], forever),
      /OptimizedRegularExpression|cannot compile re2|CANNOT_COMPILE_REGEXP/,
    );
  });

  await t.test("without a configuration, lines get no rule and no weights are derived", async (t) => {
    await stage({ billing });
    t.strictSame(await rows("usage"), []);
    t.strictSame(await rows("billing", "DISTINCT rule, named_identity"), [{ rule: "", named_identity: "" }]);
  });
});
