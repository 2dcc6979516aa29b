import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { type Ledger, type LedgerName, ledgerNames, ledgers } from "../ledger.js";
import { runStatement } from "../postgres/statement.js";
import { type RecordedDay, readStoreState, type StoredDay, type StoreState } from "./store-state.js";

/**
 * Whether a tenant's store holds what Postgres says is published. It does not when its files were deleted, when it or Postgres was
 * set back to a backup, when the tenant was moved, and when it is the store of another host.
 */
export interface FactsCheck {
  /** Null in a store that no run has used yet. */
  readonly storeId: string | null;
  /** The store that Postgres knows; null before the first run. */
  readonly knownStoreId: string | null;
  /** Days that are not as Postgres has them. */
  readonly differing: readonly DifferingDay[];
  /** Days that are. */
  readonly agreeing: readonly (RecordedDay & { readonly ledger: LedgerName })[];
}

export interface DifferingDay {
  readonly ledger: LedgerName;
  readonly day: string;
  /** What the store holds instead, whole and noted; undefined when that is nothing, or nobody knows what. */
  readonly held: { readonly hash: string; readonly rows: number } | undefined;
}

export interface CheckedTenant {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  /** First UTC day that is kept: retention may be dropping older ones. */
  readonly keepFrom: Readonly<Record<LedgerName, string>>;
  readonly signal?: AbortSignal | undefined;
}

interface Claim {
  readonly ledger: LedgerName;
  readonly day: string;
  readonly hash: string;
  readonly rows: number;
  readonly version: string;
}

/**
 * Asks Postgres, the store, and where they differ Postgres again: a day that is being published meanwhile has its intent noted before
 * the store changes, and its result after it, so what Postgres says of it has changed and is not counted.
 */
export async function checkFacts(tenant: CheckedTenant): Promise<FactsCheck> {
  const knownStoreId = await readKnownStore(tenant.postgres, tenant.tenantName);
  const claims = await readClaims(tenant);
  const held = await readStoreState(tenant.client, tenant.signal);
  // A store from before stores had ids has noted nothing: its rows alone count.
  const isNoted = held.storeId !== null || knownStoreId !== null;
  const off = claims.filter((claim) => !isHeld(claim, held, isNoted));
  const still = new Set(off.length === 0 ? [] : (await readClaims(tenant)).map(keyOf));
  return {
    storeId: held.storeId,
    knownStoreId,
    differing: off
      .filter((claim) => still.has(keyOf(claim)))
      .map(({ ledger, day }) => ({ ledger, day, held: wholeDay(held.ledgers[ledger].get(day), isNoted) })),
    agreeing: claims.filter((claim) => !off.includes(claim)),
  };
}

export async function readKnownStore(postgres: Pool, tenantName: string): Promise<string | null> {
  const { rows } = await runStatement<{ store_id: string }>(postgres, {
    query: "SELECT store_id FROM fact_stores WHERE tenant_name = $1",
    params: [tenantName],
  });
  return rows[0]?.store_id ?? null;
}

function isHeld({ ledger, day, hash, rows }: Claim, held: StoreState, isNoted: boolean): boolean {
  const found = held.ledgers[ledger].get(day);
  if (rows === 0) return (found?.rows ?? 0) === 0;
  if (found === undefined || found.rows !== rows || !found.isBilled) return false;
  return !isNoted || found.hash === hash;
}

function wholeDay(found: StoredDay | undefined, isNoted: boolean): DifferingDay["held"] {
  if (!isNoted || found?.hash === undefined || found.rows === 0) return undefined;
  const isWhole = found.isBilled && found.rows === found.recordedRows;
  return isWhole ? { hash: found.hash, rows: found.rows } : undefined;
}

function keyOf({ ledger, day, version }: Claim): string {
  return `${ledger} ${day} ${version}`;
}

/** `$1` is the tenant; `keepFrom` is the parameter with the first day that is kept. */
const publishedOf = ({ name, state, rows }: Ledger, keepFrom: string) => `
SELECT '${name}' AS ledger, to_char(tracking_date, 'YYYY-MM-DD') AS day, published_hash AS hash, ${rows} AS rows,
  concat_ws(' ', published_hash, extract(epoch FROM calculated_at)) AS version
FROM ${state}
WHERE tenant_name = $1 AND tracking_date >= ${keepFrom}::date AND published_hash IS NOT NULL AND publishing_hash IS NULL`;

async function readClaims({ postgres, tenantName, keepFrom }: CheckedTenant): Promise<Claim[]> {
  const published = ledgerNames.map((name, index) => publishedOf(ledgers[name], `$${index + 2}`));
  const { rows } = await runStatement<Claim>(postgres, {
    query: `${published.join("\nUNION ALL")}\nORDER BY ledger, day`,
    params: [tenantName, ...ledgerNames.map((name) => keepFrom[name])],
  });
  return rows;
}
