import type { Logger } from "pino";
import type { Config, TenantConfig } from "../config/config.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import { runStatement } from "../postgres/statement.js";
import type { PipelineControl } from "../runner/control.js";
import { type CycleRunner, createCycleRunner } from "../runner/cycle.js";
import { thisHolder } from "../runner/lease.js";
import { notifyAll, type RunListener } from "../runner/run-events.js";
import { repeatDue } from "../runner/schedule.js";
import { type DueTenant, dueTenants } from "../runner/sql/due-tenants.js";
import { expireLeases } from "../runner/sql/leases.js";
import { liftSuspensions } from "../runner/sql/tenants.js";
import { type TenantRunContext, usualLimits } from "../runner/tenant-run.js";
import { watchFolders } from "../runner/watch-folders.js";
import type { OpenedStores } from "../stores/open-stores.js";

/** The part of a process that runs the pipeline, for `serve`, `run` and `demo`. */
export interface Worker {
  readonly context: TenantRunContext;
  readonly cycles: CycleRunner;
  /** Used by the API. `settled` waits for the runs that it triggers. */
  readonly control: PipelineControl;
  /** Runs tenants as they become due, until the signal aborts. */
  repeat(): Promise<void>;
  /** Resolves when no triggered run is under way. */
  settled(): Promise<void>;
}

export interface WorkerOptions {
  readonly config: Config;
  readonly stores: OpenedStores;
  readonly logger: Logger;
  readonly observers: readonly RunListener[];
  /** The tenants of this worker; all of the configuration by default. */
  readonly tenants?: readonly TenantConfig[];
  /** Ends every run. */
  readonly signal: AbortSignal;
}

/**
 * Creates a worker. Lifts the suspensions of its tenants. With an embedded Postgres it ends all leases, since no other
 * process uses it.
 */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { config, stores, logger, signal } = options;
  const { tenants = [...config.tenants.values()] } = options;
  await runStatement(stores.postgres, liftSuspensions(tenants.map(({ tenant_name }) => tenant_name)));
  if (stores.ownsPostgres) await runStatement(stores.postgres, expireLeases());
  const since = (await stores.postgres.query<{ now: Date }>("SELECT now()")).rows[0]?.now ?? new Date();
  const context: TenantRunContext = {
    stores,
    ecosystems,
    holder: thisHolder(),
    logger,
    observer: notifyAll(options.observers),
    now: () => new Date(),
    limits: usualLimits,
  };
  const cycles = createCycleRunner(context, config.features.max_parallel_tenants);
  const triggered = new Set<Promise<unknown>>();
  let wakeSchedule: () => void = () => undefined;
  return {
    context,
    cycles,
    control: {
      async trigger(tenantName, { forceGather = false, stop: beginning } = {}) {
        const tenant = config.tenants.get(tenantName);
        if (tenant === undefined) throw new Error(`unknown tenant ${tenantName}`);
        const { run_id, queued, done } = await cycles.start(tenant, {
          trigger: "api",
          signal,
          forceGather,
          beginning,
        });
        triggered.add(done);
        void done.finally(() => triggered.delete(done));
        return { run_id, queued };
      },
      lookForDue: () => wakeSchedule(),
    },
    async repeat() {
      const request = { trigger: "schedule", signal } as const;
      const { enable_periodic_refresh: isPeriodic, refresh_interval: intervalSeconds } = config.features;
      if (!isPeriodic) return void (await cycles.run(tenants, request));
      const delivered = new Set<string>();
      const byName = new Map(tenants.map((tenant) => [tenant.tenant_name, tenant]));
      const dueQuery = dueTenants({ tenantNames: [...byName.keys()], intervalSeconds, since });
      await repeatDue({
        async due() {
          const { rows } = await runStatement<DueTenant>(stores.postgres, dueQuery);
          return rows.map((each) =>
            delivered.has(each.tenant_name) && !each.cut_off ? { ...each, due_in: 0 } : each,
          );
        },
        free: cycles.free,
        async run({ tenant_name: name, cut_off, delivered: isUploaded }) {
          const tenant = byName.get(name);
          if (tenant === undefined || (cut_off && !(await isReachable(stores, name)))) return false;
          const isInFolder = delivered.delete(name);
          const isDelivered = isInFolder || isUploaded;
          const hasRun = await cycles.runDue(tenant, { ...request, isDelivered });
          if (isInFolder && !hasRun) delivered.add(name);
          return hasRun;
        },
        watch(wake) {
          wakeSchedule = wake;
          // A network drive that does not answer must not hold up the end of the process.
          void watchFolders({
            tenants: tenants.map(({ tenant_name: name, ecosystem, plugin_settings: settings }) => ({
              name,
              folders: ecosystems.get(ecosystem)?.deliveryFolders?.(settings) ?? [],
            })),
            onDelivery(name) {
              delivered.add(name);
              wake();
            },
            signal,
          });
        },
        signal,
        logger,
      });
    },
    async settled() {
      await Promise.allSettled(triggered);
    },
  };
}

/** Checks that a lost store is reachable again, so that no run begins only to fail. */
async function isReachable(stores: OpenedStores, tenantName: string): Promise<boolean> {
  try {
    return (await (await stores.tenant(tenantName)).client.ping()).success;
  } catch {
    return false;
  }
}
