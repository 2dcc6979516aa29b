import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { runStatement } from "../../postgres/statement.js";

/**
 * Records in Postgres which process has which store of a tenant open. A second host, whose embedded store is not the
 * recorded one, is therefore refused while the first one lives, instead of taking over the tenant.
 */
export interface StoreOwners {
  /** Records that this process has the store open, until `release`. */
  register(store: StoreRegistration): Promise<void>;
  /**
   * Returns the location of another store of the tenant that a live process elsewhere has open. Undefined if there is
   * none.
   */
  ownedElsewhere(store: StoreRegistration): Promise<string | undefined>;
  /** Removes the records of this process. */
  release(): Promise<void>;
}

export interface StoreRegistration {
  readonly tenantName: string;
  /** Null if no run has used the store yet. */
  readonly storeId: string | null;
  readonly location: StoreLocation;
}

/** Location of a store. Only one process can open an embedded one, so another one with the same id is a copy. */
export interface StoreLocation {
  /** For messages: host and data directory, or the address of the server. */
  readonly name: string;
  readonly isEmbedded: boolean;
}

/** Seconds between heartbeats, and how long a heartbeat counts. */
const HEARTBEAT_SECONDS = 20;
const ALIVE_SECONDS = 60;

export function createStoreOwners(postgres: Pool, logger: Logger): StoreOwners {
  const holder = randomUUID();
  let heartbeat: NodeJS.Timeout | undefined;
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
      heartbeat ??= setInterval(touch, HEARTBEAT_SECONDS * 1000).unref();
    },
    async ownedElsewhere({ tenantName, storeId, location }) {
      const { rows } = await runStatement<{ location: string }>(postgres, {
        query: HELD_ELSEWHERE,
        params: [tenantName, holder, location.name, storeId, location.isEmbedded, ALIVE_SECONDS],
      });
      return rows[0]?.location;
    },
    async release() {
      if (heartbeat === undefined) return;
      clearInterval(heartbeat);
      heartbeat = undefined;
      // If this fails, the records expire after a minute.
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

/** A process with the same location is this one, or a dead one, because a data directory has one owner. */
const HELD_ELSEWHERE = `
SELECT location FROM fact_store_holders
WHERE tenant_name = $1 AND holder <> $2 AND location <> $3 AND (store_id IS DISTINCT FROM $4::uuid OR $5::boolean)
  AND seen_at > now() - make_interval(secs => $6)
ORDER BY seen_at DESC LIMIT 1`;
