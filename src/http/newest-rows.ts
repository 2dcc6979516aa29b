/**
 * Caches the newest row of dimensions. The keys contain the state of the published days, so entries are never
 * invalidated; the least recently used ones are evicted.
 */
import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { createSingleFlight } from "../common/single-flight.js";
import { type NewestRow, readNewestRow } from "../query/chargebacks/dimension-row.js";
import type { PublishedState } from "../query/state/published.js";
import type { Dimension } from "../tags/dimensions.js";
import { type HttpContext, openTenantStore } from "./context.js";

/** 16 MiB if characters take two bytes. */
const CAPACITY_CHARACTERS = 8 * 1024 * 1024;

interface CachedRow {
  /** Undefined if the dimension has no row. */
  readonly row: NewestRow | undefined;
}

interface NewestRowRead {
  readonly request: Pick<FastifyRequest, "tenant">;
  readonly dimension: Dimension;
  /** State of all days before the read. Undefined while it may be changing or cannot be read. */
  readonly state: PublishedState | undefined;
  readonly signal: AbortSignal;
}

/** Returns a function that reads the newest row. It throws `store_unavailable`. */
export function createNewestRows(context: Pick<HttpContext, "stores">) {
  const cache = new LRUCache<string, CachedRow>({
    maxSize: CAPACITY_CHARACTERS,
    sizeCalculation: (cached, key) => JSON.stringify(cached).length + key.length,
  });
  const inProgress = createSingleFlight<CachedRow>();
  return async ({ request, dimension, state, signal }: NewestRowRead): Promise<NewestRow | undefined> => {
    const { tenant } = request;
    const read = async (until: AbortSignal): Promise<CachedRow> => {
      const { client } = await openTenantStore(context, tenant);
      return { row: await readNewestRow(client, { ...dimension }, until) };
    };
    // If no day is published, the records in Postgres may be lost while the store still has its rows: do not cache.
    if (state === undefined || state.days === 0) return (await read(signal)).row;
    const key = JSON.stringify([tenant.tenant_name, dimension.dimension_id, state.fingerprint]);
    const readAndCache = async (until: AbortSignal) => {
      const found = await read(until);
      cache.set(key, found);
      return found;
    };
    return (cache.get(key) ?? (await inProgress.of(key, signal, readAndCache))).row;
  };
}
