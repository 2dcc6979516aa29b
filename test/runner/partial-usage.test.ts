import t from "tap";
import { openTestStores } from "../stores.js";
import { chargedOn, daysBefore, runContext, runOnce, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

t.test("partially gathered usage never counts as measured", async (t) => {
  const day = daysBefore(3);
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["allocation_retry_limit: 1"]));
  const { upstream, ecosystems } = scriptedUpstream();
  const context = runContext(stores, { ecosystems });
  upstream.bill.set(day, { "metered-1": "8" });
  upstream.gaps.add(day);
  upstream.partly.add(day);

  await runOnce(context, config, "acme");
  t.same(await chargedOn(stores, "acme", day), ["UNALLOCATED: 8 metrics_fetch_failed"]);
  await runOnce(context, config, "acme");
  t.same(await chargedOn(stores, "acme", day), ["UNALLOCATED: 8 metrics_fetch_failed"], "nor later");
  upstream.bill.set(day, { "metered-1": "4" });
  await runOnce(context, config, "acme");
  t.same(await chargedOn(stores, "acme", day), ["UNALLOCATED: 4 metrics_fetch_failed"], "nor for a new bill");
  upstream.gaps.clear();
  await runOnce(context, config, "acme");
  t.same(await chargedOn(stores, "acme", day), ["ann: 1", "bob: 3"]);
});
