/**
 * A service that serves one tenant while it runs another tenant's pipeline, in one process and on one engine. The other
 * tenant is a simulated Confluent Cloud organisation, new each time, so that there is a lot to gather and to allocate.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runStatement } from "../src/postgres/statement.js";
import { acquireLease } from "../src/runner/lease.js";
import { registerTenant } from "../src/runner/sql/tenants.js";
import { startUpstream } from "./backfill-upstream.js";
import type { Bench } from "./benchmark.js";
import { type BenchService, startBenchService } from "./service.js";

/** Large enough that the run takes far longer than the measurement. */
const RUN = { lines: 2_500, identities: 1_000, days: 300 } as const;

export interface ServiceWithRun extends BenchService {
  /** Starts the run. */
  run(): Promise<void>;
  /** True while the run is in progress. */
  isRunning(): Promise<boolean>;
}

/** Uses the default limits on reads. */
export async function startServiceWithRun({ stores, store, folder: data }: Bench): Promise<ServiceWithRun> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-bench-http-"));
  const gathered = `bench_gathered_${Date.now()}`;
  const undo = [() => rmSync(folder, { recursive: true, force: true })] as (() => unknown)[];
  const stop = async () => {
    for (const each of undo.splice(0).reverse()) await each();
  };
  try {
    // Hold the lease of the measured tenant, so that the service does not run it: no upstream has its data.
    const hold = async (tenantName: string, tenantId: string, ecosystem: string) => {
      await runStatement(stores.postgres, registerTenant({ tenantName, tenantId, ecosystem }));
      const lease = await acquireLease(stores.postgres, tenantName, "bench");
      if (lease === undefined) throw new Error(`somebody else runs ${tenantName}`);
      undo.push(() => lease.release());
      return lease;
    };
    await hold(store.tenantName, store.tenantId, store.ecosystem);
    const upstream = await startUpstream(folder, RUN);
    undo.push(() => upstream.stop());
    const { tenant_id, ecosystem } = upstream.tenant;
    const lease = await hold(gathered, String(tenant_id), String(ecosystem));
    undo.push(() => store.client.command({ query: `DROP DATABASE IF EXISTS ${gathered} SYNC` }));
    const service = await startBenchService(stores, store, data, {
      api: {},
      mode: "both",
      others: { [gathered]: upstream.tenant },
    });
    undo.push(() => service.stop());
    const pipeline = `${service.url}/api/v1/tenants/${gathered}/pipeline`;
    let address = "";
    return {
      ...service,
      stop,
      async run() {
        await lease.release();
        const response = await fetch(`${pipeline}/run`, { method: "POST" });
        if (response.status !== 202) throw new Error(`no run: ${response.status} ${await response.text()}`);
        address = `${pipeline}/runs/${((await response.json()) as { run_id: string }).run_id}`;
      },
      async isRunning() {
        const { status } = (await (await fetch(address)).json()) as { status?: string };
        return status === "running";
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
