/**
 * Caches the stored inventory for gatherers that choose identities by lifetime. It is read at most once between two
 * gatherings of the inventory, so the windows of a run share one state.
 */
import type { Pool } from "pg";
import { runStatement } from "../../postgres/statement.js";
import type { KnownIdentity, KnownInventory, KnownResource } from "../known.js";
import { READ_KNOWN_IDENTITIES, READ_KNOWN_RESOURCES } from "./sql/read-known.js";

export interface KnownInventoryReader {
  read(signal: AbortSignal): Promise<KnownInventory>;
  /** Call after the inventory has been gathered again. */
  renew(): void;
}

export function createKnownInventory(postgres: Pool, tenantName: string): KnownInventoryReader {
  let known: Promise<KnownInventory> | undefined;
  return {
    async read(signal) {
      signal.throwIfAborted();
      known ??= readKnown(postgres, tenantName);
      try {
        return await known;
      } catch (error) {
        known = undefined; // do not keep a failed read for the rest of the run
        throw error;
      }
    },
    renew() {
      known = undefined;
    },
  };
}

async function readKnown(postgres: Pool, tenantName: string): Promise<KnownInventory> {
  const [resources, identities] = await Promise.all([
    runStatement<KnownRow>(postgres, { query: READ_KNOWN_RESOURCES, params: [tenantName] }),
    runStatement<KnownIdentity>(postgres, { query: READ_KNOWN_IDENTITIES, params: [tenantName] }),
  ]);
  const known = resources.rows.map(({ earlier, ...now }) => (earlier === null ? now : { ...now, earlier }));
  return { resources: known, identities: identities.rows };
}

type KnownRow = Omit<KnownResource, "earlier"> & {
  readonly earlier: NonNullable<KnownResource["earlier"]> | null;
};
