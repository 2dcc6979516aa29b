/** Allocates all staged days like a run, and measures each stage. */
import type { ClickHouseClient } from "@clickhouse/client";
import { pino } from "pino";
import { allocatePending } from "../src/allocate/allocate-pending.js";
import { type RuleSet, storeRuleSet } from "../src/allocate/rules.js";
import { claimStaging } from "../src/clickhouse/staging.js";
import { runStatement } from "../src/postgres/statement.js";
import { acquireLease } from "../src/runner/lease.js";
import { registerTenant } from "../src/runner/sql/tenants.js";
import { usualLimits } from "../src/runner/tenant-run.js";
import type { RunStores, TenantStore } from "../src/stores/stores.js";
import { stageFacts } from "./dataset.js";
import { once } from "./measure.js";
import { allDays } from "./organisation.js";
import { timedClient } from "./timed-client.js";

export interface AllocationRun {
  readonly rows: number;
  readonly seconds: number;
  /** Seconds by stage; they add up to a little less than `seconds`. */
  readonly stages: Readonly<Record<Stage, number>>;
  readonly batches: number;
}

const stages = ["allocate", "check", "dimensions", "publish", "other"] as const;
export type Stage = (typeof stages)[number];

export async function allocateAll(
  stores: RunStores,
  store: TenantStore,
  rules: RuleSet,
  prepare: (client: ClickHouseClient, epoch: number) => Promise<void> = async () => undefined,
): Promise<AllocationRun> {
  const { tenantName, tenantId, ecosystem } = store;
  await runStatement(stores.postgres, registerTenant({ tenantName, tenantId, ecosystem }));
  const lease = await acquireLease(stores.postgres, tenantName, "bench");
  if (lease === undefined) throw new Error(`the lease of ${tenantName} is held`);
  try {
    await claimStaging(store.client, lease.epoch);
    await store.client.command({ query: "TRUNCATE TABLE dimensions" });
    await stageFacts(store.client, lease.epoch);
    await prepare(store.client, lease.epoch);
    await markStaged(stores, tenantName);
    return await run(stores, store, lease.epoch, rules);
  } finally {
    await lease.release();
  }
}

async function run(
  stores: RunStores,
  store: TenantStore,
  epoch: number,
  rules: RuleSet,
): Promise<AllocationRun> {
  await storeRuleSet(store.client, rules);
  const spent: Record<Stage, number> = { allocate: 0, check: 0, dimensions: 0, publish: 0, other: 0 };
  let rows = 0;
  let batches = 0;
  const ms = await once(() =>
    allocatePending({
      ...usualLimits,
      client: timedClient(store.client, spent, stageOf),
      postgres: stores.postgres,
      backupLock: stores.backupLock,
      tenantName: store.tenantName,
      epoch,
      rulesOn: () => rules,
      decimalPlaces: 4,
      retryLimit: 1,
      signal: new AbortController().signal,
      logger: pino({ level: "warn" }),
      onStage: async (stage) => {
        if (stage === "calculating") batches += 1;
      },
      onPending: () => undefined,
      onPublished: (day) => {
        rows += Number(day.rows);
      },
      onFailure: (day, message) => {
        throw new Error(`${day}: ${message}`);
      },
    }),
  );
  return { rows, seconds: ms / 1000, stages: spent, batches };
}

/** Writes what gathering writes when a day is complete. */
async function markStaged(stores: RunStores, tenantName: string): Promise<void> {
  await stores.postgres.query(
    `INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, staged_hash)
     SELECT $1, day, true, true, 'bench' FROM unnest($2::date[]) AS day
     ON CONFLICT (tenant_name, tracking_date) DO UPDATE
     SET staged_hash = 'bench', publishing_hash = NULL, billing_gathered = true, resources_gathered = true`,
    [tenantName, allDays],
  );
}

function stageOf(query: string): Stage {
  if (/^\s*INSERT INTO staged_chargebacks/.test(query)) return "allocate";
  if (query.includes("lines_off")) return "check";
  if (query.includes("dimensions")) return "dimensions";
  if (/PARTITION|groupUniqArray\(partition\)/.test(query)) return "publish";
  return "other";
}
