/** Costs of the month up to a day as weights, independent of how its days are gathered. */
import t from "tap";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import { openTestStores } from "../stores.js";
import { chargedOn, runContext, runOnce } from "./runs.js";
import { scriptedUpstream, type Upstream } from "./scripted-upstream.js";

const tenant = (lookbackDays: number) => `tenants:
  x:
    ecosystem: generic_metrics_only
    tenant_id: x
    lookback_days: ${lookbackDays}
    cutoff_days: 1
    allocation:
      identity: [{ column: resource_id }]
      rules:
        - name: support
          where: { resource_id: s }
          split: [{ by: cost, over: month }]
        - name: rest
          split: [{ by: line }]
    storage: { connection_string: "embedded:x" }
    plugin_settings:
      cluster_id: c
      cost_types:
        - { name: COMPUTE, product_category: compute, rate: 0.10, cost_quantity: { type: fixed, count: 3 }, allocation_strategy: even_split }`;

const shared = (ann: number, bob: number) => [
  "bob: 100 line_identity_allocation",
  `ann: ${ann} cost_ratio_allocation`,
  `bob: ${bob} cost_ratio_allocation`,
];

t.test("costs from the beginning of a month count even if windows would cut them off", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(70));
  const { upstream, ecosystems } = scriptedUpstream();
  upstream.bill.set("2026-05-10", { ann: "100" });
  upstream.bill.set("2026-05-30", { bob: "100", s: "50" });
  const context = runContext(stores, { ecosystems });
  await runOnce(context, config, "x");
  t.same(await chargedOn(stores, "x", "2026-05-30"), shared(25, 25), "the first run counts them");
  t.equal((await runOnce(context, config, "x")).dates_calculated, 0, "the next run calculates nothing");
  upstream.bill.set("2026-05-10", { ann: "300" });
  await runOnce(context, config, "x");
  t.same(
    await chargedOn(stores, "x", "2026-05-30"),
    shared(37.5, 12.5),
    "a run with a revised bill counts them",
  );
});

/** Windows with unchanged responses are not read again, as with bills of clouds. */
function remembering(upstream: Upstream, ecosystems: ReadonlyMap<string, AnyEcosystem>) {
  const currentBill = () => JSON.stringify([...upstream.bill]);
  return new Map(
    [...ecosystems].map(([name, ecosystem]): [string, AnyEcosystem] => {
      const connect: AnyEcosystem["connect"] = (settings, context) => {
        const gatherer = ecosystem.connect(settings, context);
        return {
          ...gatherer,
          gatherWindow: async (...given) => ({
            ...(await gatherer.gatherWindow(...given)),
            responses: currentBill(),
          }),
          isUnchanged: async (_window, { ofWindow }) => ofWindow === currentBill(),
        };
      };
      return [name, { ...ecosystem, connect }];
    }),
  );
}

t.test("a day that has lost its bill no longer counts as a weight", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(25));
  const { upstream, ecosystems } = scriptedUpstream();
  upstream.bill.set("2026-05-10", { ann: "100" });
  upstream.bill.set("2026-05-12", { bob: "100", s: "50" });
  const now = () => new Date("2026-05-31T12:00:00Z");
  const context = runContext(stores, { ecosystems: remembering(upstream, ecosystems), now });
  await runOnce(context, config, "x");
  t.same(await chargedOn(stores, "x", "2026-05-12"), shared(25, 25));
  upstream.bill.delete("2026-05-10");
  upstream.bill.set("2026-05-11", { ann: "100" });
  await runOnce(context, config, "x");
  await runOnce(context, config, "x"); // A day without a bill is believed when it is found so twice.
  t.same(await chargedOn(stores, "x", "2026-05-10"), [], "the day is empty");
  t.same(
    await chargedOn(stores, "x", "2026-05-12"),
    shared(25, 25),
    "its charge is counted once as a weight",
  );
});
