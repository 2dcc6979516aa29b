/** Counts resources and identities per type, now or at an instant, split by deleted_at. */
import type { Pool } from "pg";
import { bindings } from "../../postgres/bindings.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import { type InventoryKind, inventoryTables, knownAt } from "./known.js";
import { momentOf } from "./moment.js";

export interface TypeCount {
  readonly total: number;
  readonly active: number;
  readonly deleted: number;
}

export interface InventorySummary {
  readonly resource_counts: Record<string, TypeCount>;
  readonly identity_counts: Record<string, TypeCount>;
}

/** Selects `{kind, type, total, active}`, by type. One statement, so that both kinds are of the same moment. */
function inventoryCounts(tenantName: string, activeAt: string | undefined): PgStatement {
  const { bind, params } = bindings();
  const moment = momentOf({ active_at: activeAt });
  const counts = (kind: InventoryKind) => `
SELECT '${kind}' AS kind, ${inventoryTables[kind].type} AS type, count(*) AS total, count(*) FILTER (WHERE deleted_at IS NULL) AS active
FROM (${knownAt(kind, tenantName, moment, bind)}) AS known_then
GROUP BY type`;
  return { query: `${counts("resources")}\nUNION ALL${counts("identities")}\nORDER BY kind, type`, params };
}

export async function readInventorySummary(
  pool: Pool,
  tenantName: string,
  activeAt: string | undefined,
  signal?: AbortSignal,
): Promise<InventorySummary> {
  const rows = await readPostgres<{ kind: InventoryKind; type: string; total: number; active: number }>(
    pool,
    inventoryCounts(tenantName, activeAt),
    signal,
  );
  const countsOf = (kind: InventoryKind) =>
    Object.fromEntries(
      rows
        .filter((row) => row.kind === kind)
        .map(({ type, total, active }) => [type, { total, active, deleted: total - active }]),
    );
  return { resource_counts: countsOf("resources"), identity_counts: countsOf("identities") };
}
