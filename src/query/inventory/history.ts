/** The history of one resource or identity: a version for each state it was in, the newest first. */
import type { Pool } from "pg";
import { bindings } from "../../postgres/bindings.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import type { PageRequest } from "../page/position.js";
import { type InventoryKind, inventoryColumns, inventoryTables } from "./known.js";
import type { Identity, Resource } from "./list.js";

/** `[valid_from, valid_to)`; null at an open end. */
interface Validity {
  readonly valid_from: string | null;
  readonly valid_to: string | null;
}

interface VersionOf {
  readonly resources: Resource & Validity;
  readonly identities: Identity & Validity;
}

interface HistoryRow<Version> {
  readonly total: number;
  readonly item: Version | null;
}

/** Selects `{total, item}`; for a page without versions, one row whose item is null. */
function inventoryHistory(
  kind: InventoryKind,
  { tenantName, id }: { readonly tenantName: string; readonly id: string },
  { page, page_size }: PageRequest,
): PgStatement {
  const { present, versions, id: idColumn } = inventoryTables[kind];
  const { bind, params } = bindings();
  const fromEntity = (table: string) =>
    `${table} WHERE tenant_name = ${bind(tenantName)} AND ${idColumn} = ${bind(id)}`;
  const times = ["created_at", "deleted_at", "last_seen_at"];
  const shown = [...inventoryColumns(kind), "last_seen_at"].map((column) =>
    times.includes(column) ? `${instantText(`version.${column}`)} AS ${column}` : column,
  );
  const end = (column: string) =>
    `CASE WHEN isfinite(version.${column}) THEN ${instantText(`version.${column}`)} END AS ${column}`;
  return {
    query: `
SELECT total, (
  SELECT row_to_json(shown) FROM (SELECT ${[...shown, end("valid_from"), end("valid_to")].join(", ")}) AS shown
  WHERE version.valid_from IS NOT NULL
) AS item
FROM (SELECT count(*) AS total FROM ${fromEntity(versions)}) AS counted
LEFT JOIN (
  SELECT ${[...inventoryColumns(kind), "valid_from", "valid_to"].join(", ")},
    coalesce(last_seen_at, (SELECT last_seen_at FROM ${fromEntity(present)})) AS last_seen_at
  FROM ${fromEntity(versions)}
  ORDER BY valid_from DESC
  LIMIT ${bind(page_size)} OFFSET ${bind((page - 1) * page_size)}
) AS version ON true
ORDER BY version.valid_from DESC`,
    params,
  };
}

/** The total is 0 if the entity was never known. */
export async function readInventoryHistory<Kind extends InventoryKind>(
  pool: Pool,
  kind: Kind,
  entity: { readonly tenantName: string; readonly id: string },
  paging: PageRequest,
  signal?: AbortSignal,
): Promise<{ items: VersionOf[Kind][]; total: number }> {
  const read = inventoryHistory(kind, entity, paging);
  const rows = await readPostgres<HistoryRow<VersionOf[Kind]>>(pool, read, signal);
  return {
    items: rows.flatMap(({ item }) => item ?? []),
    total: rows[0]?.total ?? 0,
  };
}
