/** Topic attributions that become final while the day's bill still waits to be charged. */
import t from "tap";
import { usualLimits } from "../../src/runner/tenant-run.js";
import { openTestStores } from "../stores.js";
import { daysBefore, runContext, runOnce, runRows, shortTenants, trackingDate } from "./runs.js";
import { clusterWithTopics, topicUpstream } from "./topic-upstream.js";

/** Too little memory for the crowd. */
const tight = { ...usualLimits, maxMemoryBytes: 30e6 };

t.test("a bill that waits to be charged is not replaced by the published bill", async (t) => {
  const settings = ["allocation_retry_limit: 5", "topic_attribution_retry_limit: 9"];
  const { config: plain, stores } = await openTestStores(t, shortTenants(["a"], settings));
  const config = clusterWithTopics(plain);
  const day = daysBefore(8);
  const { upstream, ecosystems } = topicUpstream({
    topicRules: [{ product_type: "METERED", metrics: ["topic_bytes_in"] }],
  });
  upstream.bill.set(day, { "metered-1": "8", "r-1": "2" });
  upstream.topicGaps.set(day, ["topic_bytes_in"]);
  const context = runContext(stores, { ecosystems });
  await runOnce(context, config, "a");

  upstream.bill.set(day, { "metered-1": "8", "r-1": "20" });
  upstream.crowd = 200_000;
  await runOnce({ ...context, limits: tight }, config, "a");
  const { staged_hash } = await trackingDate(stores, "a", day);
  t.type(staged_hash, "string", "the revised bill waits");

  // On the next day it is no longer gathered: it fails once more, and then it can be calculated.
  const next = { ...context, now: () => new Date(`${daysBefore(-1)}T12:00:00Z`) };
  const failed = await runOnce({ ...next, limits: tight }, config, "a");
  t.same(failed.notes, [], "nothing becomes final meanwhile");
  const charged = await runOnce(next, config, "a");
  t.same(charged.notes, [`${day} is older than lookback_days, and final without the missing data`]);
  t.equal((await trackingDate(stores, "a", day)).published_hash, staged_hash);
  const bill = await runRows<{ line: string }>(
    stores,
    "a",
    `SELECT concat(resource_id, ' ', toString(total_cost)) AS line FROM published_billing WHERE day = '${day}' ORDER BY line`,
  );
  t.same(
    bill.map(({ line }) => line),
    ["metered-1 8", "r-1 20"],
  );
});
