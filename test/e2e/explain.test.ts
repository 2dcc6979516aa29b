/** Every kind of allocation of each ecosystem can be recalculated from its explanation alone. */
import { pino } from "pino";
import t from "tap";
import { buildApp } from "../../src/http/app.js";
import { holdContract } from "../http/contract.js";
import { soundness } from "../http/explained.js";
import { splitRows } from "../http/published-facts.js";
import { runDay, runRecords } from "../runner/runs.js";
import { startSimulatedService } from "./simulated-cloud.js";

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
  t.strictSame(Object.values(methods), [
    ["direct_owner", "even_split", "terminal", "usage_ratio"],
    ["even_split", "usage_ratio"],
    ["even_split", "usage_ratio"],
  ]);
  t.strictSame(contract, []);
});
