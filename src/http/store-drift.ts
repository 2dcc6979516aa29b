/**
 * Checks whether each tenant's store has the days that Postgres has recorded as published. Checks run on request, and
 * at most every few seconds. Only a few tenants of one store are checked at once, and none while the store does not
 * respond. While a check is slow, the previous result is returned. Until the next run repairs it, only this check
 * reports a lost store.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Logger } from "pino";
import { readRows } from "../clickhouse/statement.js";
import { dayOf } from "../common/days.js";
import { keyedLimit } from "../common/keyed-limit.js";
import type { TenantConfig } from "../config/config.js";
import { describeServer } from "../config/settings/storage.js";
import { readPostgres } from "../postgres/statement.js";
import { topicRetentionStart } from "../runner/topic-plan.js";
import { gatherWindow } from "../runner/window.js";
import { checkFacts, type FactsCheck } from "../stores/facts/check-facts.js";
import type { Stores } from "../stores/stores.js";
import {
  CACHE_MS,
  createChangeLog,
  createStoreProbes,
  inTime,
  PROBE_MS,
  SILENCE_MS,
} from "./store-probes.js";

/**
 * - `known`: the store that Postgres has recorded, or one that no run has used yet;
 * - `lost`: an empty store instead of the recorded one;
 * - `other`: a different store, such as that of another host.
 */
export const storeStates = ["known", "lost", "other"] as const;
export type DriftState = (typeof storeStates)[number];

export interface StoreDrift {
  readonly store: DriftState;
  /** Days with chargebacks that are published according to Postgres, and missing in the store. */
  readonly lostDays: ReadonlySet<string>;
}

export interface StoreDriftCheck {
  /**
   * Undefined if a store does not respond in time. Returns the previous result while many tenants wait for their check.
   */
  check(tenantName: string): Promise<StoreDrift | undefined>;
}

const POSTGRES = "Postgres";
/** Concurrent checks of one store. Four use about one core of it, and leave the other cores to readers. */
const CONCURRENT_CHECKS = 4;
/** With many tenants, each is checked less often, so that all checks together take a small part of a store's time. */
const CACHE_MS_PER_TENANT = 100;

/**
 * How long a request waits for a check to start if it can have the previous result instead. With many tenants, every
 * queue is long.
 */
const START_WAIT_MS = 200;

/** A check of one tenant. It waits until the tenant's store is open, and then in the queue of that store. */
interface Check {
  readonly at: number;
  /** Resolves when the check starts, or ends without having started. */
  started: Promise<void>;
  result: Promise<StoreDrift | undefined>;
  state: "waiting" | "running" | "succeeded" | "failed";
}

export function createStoreDriftCheck({
  stores,
  tenants,
  clock,
  logger,
}: {
  readonly stores: Stores;
  readonly tenants: ReadonlyMap<string, TenantConfig>;
  readonly clock: () => Date;
  readonly logger: Logger;
}): StoreDriftCheck {
  const { postgres } = stores;
  const cacheMs = Math.max(CACHE_MS, tenants.size * CACHE_MS_PER_TENANT);
  const checks = new Map<string, Check>();
  /** The previous result by tenant, and when it was requested. */
  const results = new Map<string, { readonly at: number; readonly drift: StoreDrift | undefined }>();
  const clients = new Map<string, ClickHouseClient>();
  const limitOf = keyedLimit(CONCURRENT_CHECKS);
  const probes = createStoreProbes(clock, logger);
  const change = createChangeLog(logger);

  const storesRespond = async (tenant: TenantConfig, client: ClickHouseClient): Promise<boolean> => {
    const respond = await Promise.all([
      probes.responds(describeServer(tenant.storage), (signal) =>
        readRows(client, { query: "SELECT 1", params: {} }, signal, { database: "default" }),
      ),
      probes.responds(POSTGRES, (signal) =>
        readPostgres(postgres, { query: "SELECT 1", params: [] }, signal),
      ),
    ]);
    return respond.every(Boolean);
  };

  const runCheck = async (tenant: TenantConfig, onStart: () => void): Promise<StoreDrift | undefined> => {
    const { tenant_name: tenantName } = tenant;
    const opening = AbortSignal.timeout(PROBE_MS);
    try {
      const { client } = await inTime(stores.tenant(tenantName), opening);
      clients.set(tenantName, client);
      const drift = await limitOf(describeServer(tenant.storage))(async () => {
        onStart();
        return (await storesRespond(tenant, client)) ? await readDrift(tenant, client) : undefined;
      });
      if (drift !== undefined)
        change.good(tenantName, { tenant: tenantName }, "a tenant's store responds again");
      return drift;
    } catch (error) {
      // A store that is still being opened is not logged: with many tenants, opening takes minutes.
      if (error === opening.reason) return undefined;
      probes.doubt(describeServer(tenant.storage));
      probes.doubt(POSTGRES);
      // If the whole store is down, `probes` logs it once. Do not log it again for each tenant.
      const client = clients.get(tenantName);
      if (client === undefined || (await storesRespond(tenant, client)))
        change.bad(tenantName, { err: error, tenant: tenantName }, "a tenant's store does not respond");
      return undefined;
    }
  };
  const readDrift = async (tenant: TenantConfig, client: ClickHouseClient): Promise<StoreDrift> => {
    const signal = AbortSignal.timeout(SILENCE_MS);
    const today = dayOf(clock());
    const check = checkFacts({
      client,
      postgres,
      tenantName: tenant.tenant_name,
      signal,
      keepFrom: {
        chargebacks: gatherWindow(today, tenant.retention_days, 0).start,
        topic_attributions: topicRetentionStart(tenant, today),
      },
    });
    return driftOf(await inTime(check, signal));
  };

  const startCheck = (tenant: TenantConfig, at: number): Check => {
    const check: Check = {
      at,
      started: Promise.resolve(),
      result: Promise.resolve(undefined),
      state: "waiting",
    };
    check.started = new Promise((resolve) => {
      const onStart = () => {
        check.state = "running";
        resolve();
      };
      check.result = runCheck(tenant, onStart).then((drift) => {
        results.set(tenant.tenant_name, { at, drift });
        check.state = drift === undefined ? "failed" : "succeeded";
        resolve();
        return drift;
      });
    });
    return check;
  };
  const isFresh = ({ at, state }: Check): boolean => {
    const age = Math.abs(clock().getTime() - at);
    return state === "waiting" || state === "running" || age < (state === "succeeded" ? cacheMs : CACHE_MS);
  };

  return {
    async check(tenantName) {
      const tenant = tenants.get(tenantName);
      if (tenant === undefined) return undefined;
      let check = checks.get(tenantName);
      if (check === undefined || !isFresh(check)) {
        check = startCheck(tenant, clock().getTime());
        checks.set(tenantName, check);
      }
      const previous = results.get(tenantName);
      const isRecent = previous?.drift !== undefined && clock().getTime() - previous.at < 2 * cacheMs;
      const startWaitMs = isRecent ? START_WAIT_MS : PROBE_MS;
      await Promise.race([check.started, delay(startWaitMs, undefined, { ref: false })]);
      const late = delay(PROBE_MS, undefined, { ref: false }).then(() => results.get(tenantName)?.drift);
      const drift = await (check.state === "waiting"
        ? results.get(tenantName)?.drift
        : Promise.race([check.result, late]));
      if (drift === undefined) return undefined;
      // Do not return a previous result if the store has stopped responding since.
      const client = clients.get(tenantName);
      return client !== undefined && (await storesRespond(tenant, client)) ? drift : undefined;
    },
  };
}

function driftOf({ storeId, knownStoreId, differing }: FactsCheck): StoreDrift {
  const isKnown = knownStoreId === null || storeId === knownStoreId;
  const lost = differing.filter(({ ledger, stored }) => ledger === "chargebacks" && stored === undefined);
  return {
    store: isKnown ? "known" : storeId === null ? "lost" : "other",
    lostDays: new Set(lost.map(({ day }) => day)),
  };
}
