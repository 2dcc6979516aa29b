/**
 * Whether each tenant's store holds what Postgres says is published, looked at when somebody asks, and not more often than every few
 * seconds. Tenants of one store wait in line, and none is looked at while the store does not respond. While a look takes long, what was seen
 * before is shown. Until a run has seen to it, a lost store is told by what is answered from here.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Logger } from "pino";
import type { TenantConfig } from "../config/config.js";
import { describeServer } from "../config/storage.js";
import { topicRetentionStart } from "../runner/topic-plan.js";
import { gatherWindow } from "../runner/window.js";
import { readRows } from "../store/clickhouse/statement.js";
import { checkFacts, type FactsCheck } from "../store/facts/check-facts.js";
import { keyedLimit } from "../store/keyed-limit.js";
import { readPostgres } from "../store/postgres/statement.js";
import type { Stores } from "../store/stores.js";
import { dayOf } from "../time/days.js";
import {
  CACHE_MS,
  createChangeLog,
  createStoreProbes,
  inTime,
  PROBE_MS,
  SILENCE_MS,
} from "./store-probes.js";

/**
 * - `known`: the store that Postgres knows, or one that no run has used yet;
 * - `lost`: an empty one in its place;
 * - `other`: another one, such as that of another host.
 */
export const storeStates = ["known", "lost", "other"] as const;
export type StoreState = (typeof storeStates)[number];

export interface StoreDrift {
  readonly store: StoreState;
  /** Days whose chargebacks Postgres has as published and the store does not have. */
  readonly lostDays: ReadonlySet<string>;
}

export interface StoreDriftCheck {
  /** Undefined when a store did not answer in time. While many tenants wait to be looked at, what was seen the last time. */
  check(tenantName: string): Promise<StoreDrift | undefined>;
}

const POSTGRES = "Postgres";
/** How many tenants of a store are looked at at once: enough to fill a core of it, and leave the others to readers. */
const AT_ONCE = 4;
/** With many tenants, each is looked at less often, so that all of them together take a small part of a store. */
const CACHE_MS_PER_TENANT = 100;

/** How long a look may wait in line if what was seen a while ago can be answered instead: with many tenants every line is long. */
const SEEN_PATIENCE_MS = 200;

/** A look at one tenant. It waits until the tenant is opened, and then for its place in the line of its store. */
interface Look {
  readonly at: number;
  /** Also fulfilled when it ends without having begun. */
  begun: Promise<void>;
  facts: Promise<StoreDrift | undefined>;
  state: "waits" | "begun" | "good" | "failed";
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
  const looks = new Map<string, Look>();
  /** What was seen the last time, and when it was asked for. */
  const seen = new Map<string, { readonly at: number; readonly facts: StoreDrift | undefined }>();
  const clients = new Map<string, ClickHouseClient>();
  const lineOf = keyedLimit(AT_ONCE);
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

  const lookNow = async (tenant: TenantConfig, begin: () => void): Promise<StoreDrift | undefined> => {
    const { tenant_name: tenantName } = tenant;
    const opening = AbortSignal.timeout(PROBE_MS);
    try {
      const { client } = await inTime(stores.tenant(tenantName), opening);
      clients.set(tenantName, client);
      const facts = await lineOf(describeServer(tenant.storage))(async () => {
        begin();
        return (await storesRespond(tenant, client)) ? await checkNow(tenant, client) : undefined;
      });
      if (facts !== undefined)
        change.good(tenantName, { tenant: tenantName }, "a tenant's store responds again");
      return facts;
    } catch (error) {
      // One that is still being opened is no news. With many tenants, that takes minutes.
      if (error === opening.reason) return undefined;
      probes.doubt(describeServer(tenant.storage));
      probes.doubt(POSTGRES);
      // What all tenants have in common is told once, and not of each.
      const client = clients.get(tenantName);
      if (client === undefined || (await storesRespond(tenant, client)))
        change.bad(tenantName, { err: error, tenant: tenantName }, "a tenant's store does not respond");
      return undefined;
    }
  };
  const checkNow = async (tenant: TenantConfig, client: ClickHouseClient): Promise<StoreDrift> => {
    const signal = AbortSignal.timeout(SILENCE_MS);
    const today = dayOf(clock());
    const check = checkFacts({
      ...{ client, postgres, tenantName: tenant.tenant_name, signal },
      keepFrom: {
        chargebacks: gatherWindow(today, tenant.retention_days, 0).start,
        topic_attributions: topicRetentionStart(tenant, today),
      },
    });
    return watched(await inTime(check, signal));
  };

  const startLook = (tenant: TenantConfig, at: number): Look => {
    const look: Look = { at, begun: Promise.resolve(), facts: Promise.resolve(undefined), state: "waits" };
    look.begun = new Promise((resolve) => {
      const begin = () => {
        look.state = "begun";
        resolve();
      };
      look.facts = lookNow(tenant, begin).then((facts) => {
        seen.set(tenant.tenant_name, { at, facts });
        look.state = facts === undefined ? "failed" : "good";
        resolve();
        return facts;
      });
    });
    return look;
  };
  const isFresh = ({ at, state }: Look): boolean => {
    const age = Math.abs(clock().getTime() - at);
    return state === "waits" || state === "begun" || age < (state === "good" ? cacheMs : CACHE_MS);
  };

  return {
    async check(tenantName) {
      const tenant = tenants.get(tenantName);
      if (tenant === undefined) return undefined;
      let look = looks.get(tenantName);
      if (look === undefined || !isFresh(look)) {
        look = startLook(tenant, clock().getTime());
        looks.set(tenantName, look);
      }
      const before = seen.get(tenantName);
      const isRecent = before?.facts !== undefined && clock().getTime() - before.at < 2 * cacheMs;
      const patience = isRecent ? SEEN_PATIENCE_MS : PROBE_MS;
      await Promise.race([look.begun, delay(patience, undefined, { ref: false })]);
      const late = delay(PROBE_MS, undefined, { ref: false }).then(() => seen.get(tenantName)?.facts);
      const facts = await (look.state === "waits"
        ? seen.get(tenantName)?.facts
        : Promise.race([look.facts, late]));
      if (facts === undefined) return undefined;
      // What was seen a while ago is not shown of a store that has gone away since.
      const client = clients.get(tenantName);
      return client !== undefined && (await storesRespond(tenant, client)) ? facts : undefined;
    },
  };
}

function watched({ storeId, knownStoreId, differing }: FactsCheck): StoreDrift {
  const isKnown = knownStoreId === null || storeId === knownStoreId;
  const lost = differing.filter(({ ledger, stored }) => ledger === "chargebacks" && stored === undefined);
  return {
    store: isKnown ? "known" : storeId === null ? "lost" : "other",
    lostDays: new Set(lost.map(({ day }) => day)),
  };
}
