import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { runStatement } from "../postgres/statement.js";

/**
 * Which processes have which store of a tenant open, in Postgres. So that a second host, whose embedded store is not the one that
 * Postgres knows, is refused while the first one lives, instead of taking the tenant over.
 */
export interface StoreOwners {
  /** Says that this process has the store open, until `release`. */
  register(held: OwnedStoreAt): Promise<void>;
  /** Where a living process of another place has another store of the tenant open; undefined when none has. */
  ownedElsewhere(store: OwnedStoreAt): Promise<string | undefined>;
  /** Says that this process has no store open any more. */
  release(): Promise<void>;
}

export interface OwnedStoreAt {
  readonly tenantName: string;
  /** Null in a store that no run has used yet. */
  readonly storeId: string | null;
  readonly location: StoreLocation;
}

/** Where a store is. Only one process can have an embedded one open, so a second one with the same id is a copy. */
export interface StoreLocation {
  /** For people: host and data directory, or the address of the server. */
  readonly name: string;
  readonly isEmbedded: boolean;
}

/** Seconds between two signs of life, and how long one counts. */
const BEAT_SECONDS = 20;
const ALIVE_SECONDS = 60;

export function createStoreOwners(postgres: Pool, logger: Logger): StoreOwners {
  const holder = randomUUID();
  let beat: NodeJS.Timeout | undefined;
  const touch = () =>
    runStatement(postgres, {
      query: "UPDATE fact_store_holders SET seen_at = now() WHERE holder = $1",
      params: [holder],
    }).catch((error: unknown) =>
      logger.debug({ err: error }, "could not record the open stores in Postgres"),
    );
  return {
    async register({ tenantName, storeId, location }) {
      await runStatement(postgres, { query: HOLD, params: [tenantName, holder, storeId, location.name] });
      beat ??= setInterval(touch, BEAT_SECONDS * 1000).unref();
    },
    async ownedElsewhere({ tenantName, storeId, location }) {
      const { rows } = await runStatement<{ location: string }>(postgres, {
        query: HELD_ELSEWHERE,
        params: [tenantName, holder, location.name, storeId, location.isEmbedded, ALIVE_SECONDS],
      });
      return rows[0]?.location;
    },
    async release() {
      if (beat === undefined) return;
      clearInterval(beat);
      beat = undefined;
      // What stays behind of a process that cannot say so counts no longer after a minute.
      await runStatement(postgres, {
        query: "DELETE FROM fact_store_holders WHERE holder = $1",
        params: [holder],
      }).catch(() => undefined);
    },
  };
}

const HOLD = `
WITH outdated AS (
  DELETE FROM fact_store_holders WHERE tenant_name = $1 AND holder <> $2 AND seen_at < now() - interval '1 day'
)
INSERT INTO fact_store_holders (tenant_name, holder, store_id, location) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_name, holder) DO UPDATE SET store_id = excluded.store_id, location = excluded.location, seen_at = now()`;

/** A process of the same place is this one, or one that died: the data directory has one owner. */
const HELD_ELSEWHERE = `
SELECT location FROM fact_store_holders
WHERE tenant_name = $1 AND holder <> $2 AND location <> $3 AND (store_id IS DISTINCT FROM $4::uuid OR $5::boolean)
  AND seen_at > now() - make_interval(secs => $6)
ORDER BY seen_at DESC LIMIT 1`;
