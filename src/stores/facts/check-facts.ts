import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { type Ledger, type LedgerName, ledgerNames, ledgers } from "../../domain/ledger.js";
import { runStatement } from "../../postgres/statement.js";
import { type RecordedDay, readStoreState, type StoredDay, type StoreState } from "./store-state.js";

/**
 * Checks whether a tenant's store has what Postgres recorded as published. It does not if its files were deleted, if it
 * or Postgres was restored from a backup, if the tenant was moved, or if it is the store of another host.
 */
export interface FactsCheck {
  /** Null if no run has used the store yet. */
  readonly storeId: string | null;
  /** Id of the store that Postgres has recorded. Null before the first run. */
  readonly knownStoreId: string | null;
  /** Days whose state in the store differs from Postgres. */
  readonly differing: readonly DifferingDay[];
  /** Days whose state is the same in both. */
  readonly agreeing: readonly (RecordedDay & { readonly ledger: LedgerName })[];
}

export interface DifferingDay {
  readonly ledger: LedgerName;
  readonly day: string;
  /** The complete, recorded day that the store has instead. Undefined if it has none, or if that is unknown. */
  readonly stored: { readonly hash: string; readonly rows: number } | undefined;
}

export interface CheckedTenant {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  /** First UTC day of the retention. Older days may be in the middle of being dropped. */
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
 * Reads Postgres, then the store, and Postgres again if they differ. A publish in between does not count as a
 * difference: its intent is recorded before the store changes and its result afterwards, so Postgres's record of the
 * day has changed as well.
 */
export async function checkFacts(tenant: CheckedTenant): Promise<FactsCheck> {
  const knownStoreId = await readKnownStore(tenant.postgres, tenant.tenantName);
  const claims = await readClaims(tenant);
  const state = await readStoreState(tenant.client, tenant.signal);
  // A store from before stores had ids has recorded nothing, so only its numbers of rows are compared.
  const isRecorded = state.storeId !== null || knownStoreId !== null;
  const mismatches = claims.filter((claim) => !matches(claim, state, isRecorded));
  const unchanged = new Set(mismatches.length === 0 ? [] : (await readClaims(tenant)).map(keyOf));
  return {
    storeId: state.storeId,
    knownStoreId,
    differing: mismatches
      .filter((claim) => unchanged.has(keyOf(claim)))
      .map(({ ledger, day }) => ({
        ledger,
        day,
        stored: completeDay(state.ledgers[ledger].get(day), isRecorded),
      })),
    agreeing: claims.filter((claim) => !mismatches.includes(claim)),
  };
}

export async function readKnownStore(postgres: Pool, tenantName: string): Promise<string | null> {
  const { rows } = await runStatement<{ store_id: string }>(postgres, {
    query: "SELECT store_id FROM fact_stores WHERE tenant_name = $1",
    params: [tenantName],
  });
  return rows[0]?.store_id ?? null;
}

function matches({ ledger, day, hash, rows }: Claim, state: StoreState, isRecorded: boolean): boolean {
  const found = state.ledgers[ledger].get(day);
  if (rows === 0) return (found?.rows ?? 0) === 0;
  if (found === undefined || found.rows !== rows || !found.isBilled) return false;
  return !isRecorded || found.hash === hash;
}

function completeDay(found: StoredDay | undefined, isRecorded: boolean): DifferingDay["stored"] {
  if (!isRecorded || found?.hash === undefined || found.rows === 0) return undefined;
  const isComplete = found.isBilled && found.rows === found.recordedRows;
  return isComplete ? { hash: found.hash, rows: found.rows } : undefined;
}

function keyOf({ ledger, day, version }: Claim): string {
  return `${ledger} ${day} ${version}`;
}

/**
 * SQL for a ledger's published days. `$1` is the tenant. `keepFrom` is the parameter with the first day of the
 * retention.
 */
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
