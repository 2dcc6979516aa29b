/** Every kind of allocation of each ecosystem can be recalculated from its explanation alone. */
import { pino } from "pino";
import t from "tap";
import { buildApp } from "../../src/http/app.js";
import { holdContract } from "../http/contract.js";
import { billedCost, type ExplanationBody, soundness } from "../http/explained.js";
import { splitRows } from "../http/published-facts.js";
import { get } from "../http/service.js";
import { runDay, runRecords } from "../runner/runs.js";
import { startSimulatedService } from "./simulated-cloud.js";

/** Each line of the bill has one row of these. */
const lines = "resource_id, product_type, component";

/** How many lines show a product, of how many. */
function multiplied(explanations: readonly ExplanationBody[]) {
  const shown = explanations.filter((each) => billedCost(each) !== undefined);
  const reductions = shown.flatMap(({ line }) => line?.priced?.reductions ?? []);
  return {
    lines: explanations.length,
    shown: shown.length,
    kinds: [...new Set(reductions.map(({ kind }) => kind))].sort(),
    wrong: shown.filter((each) => billedCost(each) !== each.line?.total_cost).length,
  };
}

/** Rows with the same values were allocated in the same way. The test explains one of each. */
const ways = "product_type, allocation_method, allocation_detail, component, tier, provisional";

t.test("explanations of three ecosystems reproduce the amounts", async (t) => {
  const { cloud, stores, config, run, tenants } = await startSimulatedService(t);
  const app = await buildApp({
    config,
    stores,
    control: undefined,
    logger: pino({ level: "silent" }),
    version: "1.2.3",
    mode: "both" as const,
    clock: () => new Date(`${runDay}T12:00:00Z`),
  });
  const contract = holdContract(app);
  t.teardown(() => app.close());
  // Confluent Cloud is missing the written bytes of clients, so its days are provisional.
  cloud.metrics.setFaults([{ kind: "status", status: 503, match: "request_bytes" }]);
  const methods: Record<string, string[]> = {};
  for (const tenant of tenants) {
    await run(tenant);
    cloud.metrics.setFaults([]);
    const rows = await splitRows(stores, tenant, ways);
    methods[tenant] = [...new Set(rows.map(({ method }) => method))].sort();
    const [newest] = (await runRecords(stores, tenant)).slice(-1);
    await t.test(`${tenant}: all ${rows.length} kinds of allocation are explained`, async (t) => {
      for (const { name, path } of rows) {
        const { response: explanation, faults } = await soundness(app, path);
        t.strictSame(faults, [], name);
        t.strictSame(
          [explanation.run?.run_id, explanation.run?.status],
          [newest.run_id, newest.status],
          name,
        );
        const gaps =
          explanation.tiers?.flatMap(({ sources }) => sources.flatMap(({ gap }) => gap ?? [])) ?? [];
        const { allocation_detail: detail } = explanation.row;
        // Parts without an owner have another detail.
        if (detail !== "owner_unknown") t.equal(gaps.length > 0, detail === "metrics_fetch_failed", name);
        if (explanation.row.provisional) t.ok(explanation.lacks.length > 0, name);
      }
    });
  }
  await t.test("each line of the bill multiplies out, or shows no product", async (t) => {
    const products: Record<string, ReturnType<typeof multiplied>> = {};
    for (const tenant of tenants) {
      const explanations: ExplanationBody[] = [];
      for (const { path } of await splitRows(stores, tenant, lines))
        explanations.push((await get(app, path)).body);
      products[tenant] = multiplied(explanations);
    }
    // The line that shows none is a credit.
    t.strictSame(Object.values(products), [
      { lines: 109, shown: 108, kinds: ["discount"], wrong: 0 },
      { lines: 4, shown: 4, kinds: ["rounding"], wrong: 0 },
      { lines: 4, shown: 4, kinds: ["rounding"], wrong: 0 },
    ]);
  });
  t.strictSame(Object.values(methods), [
    ["direct_owner", "even_split", "terminal", "usage_ratio"],
    ["even_split", "usage_ratio"],
    ["even_split", "usage_ratio"],
  ]);
  t.strictSame(contract, []);
});
