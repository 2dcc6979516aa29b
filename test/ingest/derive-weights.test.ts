/**
 * Costs of a month as weights: those of the month up to the line's day. A day counts as staged or, if it is not staged,
 * as published.
 */
import t from "tap";
import { claimStaging, stagedTable } from "../../src/clickhouse/staging.js";
import { readRows } from "../../src/clickhouse/statement.js";
import { planAllocation } from "../../src/config/allocation/plan.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { assignLines } from "../../src/ingest/configured/assign-lines.js";
import { deriveWeights } from "../../src/ingest/configured/derive-weights.js";
import { openTestStores } from "../stores.js";

const epoch = 1;
const signal = new AbortController().signal;

const plan = planAllocation(
  {
    allocation: {
      decimal_places: 4,
      pass_on: [],
      identity: [{ tag: "team" }],
      rules: [
        {
          name: "support",
          where: { product_type: "SUPPORT" },
          split: [{ by: "cost", of: "direct", over: "month" }],
        },
        { name: "compute", where: { product_type: "COMPUTE" }, split: [{ by: "line" }] },
      ],
    },
    identity_maps: new Map(),
    line_columns: ruleColumns(),
  },
  [],
);

type Line = readonly [day: string, team: string, cost: string];
const compute = (lines: readonly Line[]) =>
  lines.map(([day, team, total_cost]) => ({
    timestamp: `${day} 00:00:00`,
    resource_id: `${day}-${team}`,
    product_type: "COMPUTE",
    currency: "USD",
    line_tags: { team },
    total_cost,
  }));
const support = (days: readonly string[]) =>
  days.map((day) => ({
    timestamp: `${day} 00:00:00`,
    resource_id: "plan",
    product_type: "SUPPORT",
    currency: "USD",
    total_cost: "1",
  }));

t.test("weights of a month's costs are those that are known when its days are calculated", async (t) => {
  if (plan === undefined) throw new Error("no plan");
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await claimStaging(client, epoch);
  const insert = async (table: string, values: readonly object[]) =>
    await client.insert({ table, values, format: "JSONEachRow" });

  await insert(
    "billing",
    compute([
      ["2026-04-30", "web", "1000"],
      ["2026-05-05", "web", "10"],
      // Staged again, without a line.
      ["2026-05-08", "web", "70"],
      // Staged again by a gathering of other days.
      ["2026-05-09", "web", "300"],
      ["2026-05-20", "data", "500"],
    ]),
  );
  await insert(stagedTable("billing", epoch), [
    ...compute([
      ["2026-05-09", "data", "2"],
      ["2026-05-10", "web", "3"],
      ["2026-05-11", "data", "4"],
      ["2026-05-12", "web", "5"],
      ["2026-05-13", "data", "900"],
    ]),
    ...support(["2026-05-10", "2026-05-12"]),
  ]);
  const days = ["2026-05-08", "2026-05-10", "2026-05-11", "2026-05-12", "2026-05-13"];
  await assignLines({ client, epoch, signal, days: ["2026-05-09"] }, plan);
  await assignLines({ client, epoch, signal, days }, plan);
  await deriveWeights({ client, epoch, signal, days }, plan);

  const weights = await readRows<{ weight: string }>(client, {
    query: `SELECT concat_ws(' ', toString(toDate(timestamp)), metric, resource_id, identity_id, toString(micro_units)) AS weight
      FROM ${stagedTable("usage", epoch)} ORDER BY weight`,
    params: {},
  });
  t.strictSame(
    weights.map(({ weight }) => weight),
    [
      "2026-05-10 cost/month USD data 2000000",
      "2026-05-10 cost/month USD web 13000000",
      "2026-05-12 cost/month USD data 6000000",
      "2026-05-12 cost/month USD web 18000000",
    ],
  );
});
