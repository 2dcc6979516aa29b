/** Every way in which each ecosystem allocates, explained and calculated again from the explanation alone. */
import { pino } from "pino";
import t from "tap";
import { buildApp } from "../../src/http/app.js";
import { holdContract } from "../http/contract.js";
import { soundness } from "../http/explained.js";
import { splitRows } from "../http/published-facts.js";
import { runRecords, today } from "../runner/runs.js";
import { startSimulatedService } from "./simulated-cloud.js";

/** Rows that were allocated in the same way, of which one is explained. */
const ways = "product_type, allocation_method, allocation_detail, component, tier, provisional";

t.test("amounts of three ecosystems", async (t) => {
  const { cloud, stores, config, run, tenants } = await startSimulatedService(t);
  const app = await buildApp({
    config,
    stores,
    control: undefined,
    logger: pino({ level: "silent" }),
    version: "1.2.3",
    mode: "both" as const,
    clock: () => new Date(`${today}T12:00:00Z`),
  });
  const contract = holdContract(app);
  t.teardown(() => app.close());
  // Confluent Cloud lacks what clients wrote, so that its days are provisional.
  cloud.metrics.setFaults([{ kind: "status", status: 503, match: "request_bytes" }]);
  const methods: Record<string, string[]> = {};
  for (const tenant of tenants) {
    await run(tenant);
    cloud.metrics.setFaults([]);
    const rows = await splitRows(stores, tenant, ways);
    methods[tenant] = [...new Set(rows.map(({ method }) => method))].sort();
    const [newest] = (await runRecords(stores, tenant)).slice(-1);
    await t.test(`${tenant}: ${rows.length} ways`, async (t) => {
      for (const { name, path } of rows) {
        const { answer, faults } = await soundness(app, path);
        t.strictSame(faults, [], name);
        t.strictSame([answer.run?.run_id, answer.run?.status], [newest.run_id, newest.status], name);
        const gaps = answer.tiers?.flatMap(({ sources }) => sources.flatMap(({ gap }) => gap ?? [])) ?? [];
        const { allocation_detail: detail } = answer.row;
        // What falls to nobody among others says so instead.
        if (detail !== "owner_unknown") t.equal(gaps.length > 0, detail === "metrics_fetch_failed", name);
        if (answer.row.provisional) t.ok(answer.lacks.length > 0, name);
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
