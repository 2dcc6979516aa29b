/**
 * Whether each tenant's store holds what Postgres says is published, looked at when somebody asks, and not more often than every few
 * seconds. Until a run has seen to it, a lost store is told by what is answered from here.
 */
import type { Logger } from "pino";
import type { TenantConfig } from "../config/config.js";
import { keptFrom } from "../runner/topic-plan.js";
import { gatherWindow } from "../runner/window.js";
import { checkFacts, type FactsCheck } from "../store/facts/check-facts.js";
import type { Stores } from "../store/stores.js";
import { dayOf } from "../time/days.js";

/**
 * - `known`: the store that Postgres knows, or one that no run has used yet;
 * - `lost`: an empty one in its place;
 * - `other`: another one, such as that of another host.
 */
export const storeStates = ["known", "lost", "other"] as const;
export type StoreState = (typeof storeStates)[number];

export interface WatchedFacts {
  readonly store: StoreState;
  /** Days whose chargebacks Postgres has as published and the store does not have. */
  readonly lostDays: ReadonlySet<string>;
}

export interface FactsWatch {
  /** Undefined when a store did not answer in time. */
  look(tenantName: string): Promise<WatchedFacts | undefined>;
}

const CACHE_MS = 2_000;
const PROBE_MS = 1_500;

export function createFactsWatch({
  stores,
  tenants,
  clock,
  logger,
}: {
  readonly stores: Stores;
  readonly tenants: ReadonlyMap<string, TenantConfig>;
  readonly clock: () => Date;
  readonly logger: Logger;
}): FactsWatch {
  const seen = new Map<string, { at: number; facts: Promise<WatchedFacts | undefined> }>();
  const lookNow = async (tenant: TenantConfig): Promise<WatchedFacts | undefined> => {
    const signal = AbortSignal.timeout(PROBE_MS);
    try {
      const { client } = await inTime(stores.tenant(tenant.tenant_name), signal);
      const today = dayOf(clock());
      const check = checkFacts({
        ...{ client, postgres: stores.postgres, tenantName: tenant.tenant_name, signal },
        keepFrom: {
          chargebacks: gatherWindow(today, tenant.retention_days, 0).start,
          topic_attributions: keptFrom(tenant, today),
        },
      });
      return watched(await inTime(check, signal));
    } catch (error) {
      logger.warn({ err: error, tenant: tenant.tenant_name }, "a tenant's store does not respond");
      return undefined;
    }
  };
  return {
    look(tenantName) {
      const tenant = tenants.get(tenantName);
      if (tenant === undefined) return Promise.resolve(undefined);
      const known = seen.get(tenantName);
      const now = clock().getTime();
      if (known !== undefined && Math.abs(now - known.at) < CACHE_MS) return known.facts;
      const facts = lookNow(tenant);
      seen.set(tenantName, { at: now, facts });
      return facts;
    },
  };
}

function watched({ storeId, knownStoreId, differing }: FactsCheck): WatchedFacts {
  const isKnown = knownStoreId === null || storeId === knownStoreId;
  const lost = differing.filter(({ ledger, held }) => ledger === "chargebacks" && held === undefined);
  return {
    store: isKnown ? "known" : storeId === null ? "lost" : "other",
    lostDays: new Set(lost.map(({ day }) => day)),
  };
}

/** What is not there in time is not waited for; what fails later is nobody's business any more. */
async function inTime<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  answer.catch(() => undefined);
  return await Promise.race([answer, late]);
}
