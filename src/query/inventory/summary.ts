/** How many resources and identities of each type there are, or were known at an instant. Both are counted by deleted_at. */
import type { Pool } from "pg";
import { readPostgres, type Statement } from "../../store/postgres/statement.js";
import { bindings } from "../stores/postgres-bindings.js";
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

/** Rows `{kind, type, total, active}`, by type. One statement: both kinds as of one moment. */
function inventoryCounts(tenantName: string, activeAt: string | undefined): Statement {
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
  const of = (kind: InventoryKind) =>
    Object.fromEntries(
      rows
        .filter((row) => row.kind === kind)
        .map(({ type, total, active }) => [type, { total, active, deleted: total - active }]),
    );
  return { resource_counts: of("resources"), identity_counts: of("identities") };
}
