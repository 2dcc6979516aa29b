/** A page of resources or identities, of the present or as they were known at some time. */
import type { Pool } from "pg";
import { type Bind, bindings } from "../../postgres/bindings.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import { type CursorKey, cursorFingerprint, cursorOf, encodeCursor } from "../page/cursor.js";
import type { PageRequest } from "../page/position.js";
import { activeThen, type InventoryKind, inventoryColumns, inventoryTables, knownAt } from "./known.js";
import { type MomentInput, momentOf } from "./moment.js";
import { type InventoryOrder, inventoryOrder, type SortOrder } from "./order.js";

export interface InventoryListInput extends PageRequest, MomentInput {
  /** Matches exactly. */
  readonly type?: string | undefined;
  /** For resources only. */
  readonly status?: string | undefined;
  /** Matches a part of the id or of the display name, ignoring case. */
  readonly search?: string | undefined;
  /** One of `inventorySorts`. */
  readonly sort: string;
  readonly order: SortOrder;
  readonly cursor?: string | undefined;
}

interface InventoryItem {
  readonly ecosystem: string;
  readonly tenant_id: string;
  readonly display_name: string | null;
  /** `2026-01-01T00:00:00Z`, with microseconds if there are any. */
  readonly created_at: string | null;
  readonly deleted_at: string | null;
  readonly last_seen_at: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface Resource extends InventoryItem {
  readonly resource_id: string;
  readonly resource_type: string;
  readonly parent_id: string | null;
  readonly owner_id: string | null;
  readonly status: "active" | "deleted";
}

export interface Identity extends InventoryItem {
  readonly identity_id: string;
  readonly identity_type: string;
}

interface ItemOf {
  readonly resources: Resource;
  readonly identities: Identity;
}

export interface InventoryPage<Item> {
  readonly items: Item[];
  readonly total: number;
  readonly next_cursor: string | null;
}

/**
 * One statement, so that rows and total are of the same moment. Selects `{total, cursor_key, item}`: one row more than
 * a page if more follow; for an empty page, a single row whose cursor_key is null.
 */
function inventoryPage(
  kind: InventoryKind,
  tenantName: string,
  input: InventoryListInput,
  { order, after }: { order: InventoryOrder; after: CursorKey | undefined },
): PgStatement {
  const { bind, params } = bindings();
  const moment = momentOf(input);
  const known = knownAt(kind, tenantName, moment, bind);
  const conditions = [activeThen(moment, bind), ...filters(kind, input, bind)].join(" AND ");
  const afterKey = after === undefined ? "true" : order.afterKey(after, bind);
  return {
    query: `
WITH entities AS NOT MATERIALIZED (
  SELECT * FROM (${known}) AS known_then WHERE ${conditions}
)
SELECT total, cursor_key, (SELECT row_to_json(shown) FROM (SELECT ${shown(kind)}) AS shown) AS item
FROM (SELECT count(*) AS total FROM entities) AS counted
LEFT JOIN (
  SELECT *, ${order.keySql} AS cursor_key FROM entities
  WHERE ${afterKey}
  ORDER BY ${order.orderBy}
  LIMIT ${bind(input.page_size + 1)} OFFSET ${bind((input.page - 1) * input.page_size)}
) AS page ON true
ORDER BY ${order.orderBy}`,
    params,
  };
}

function filters(kind: InventoryKind, { type, status, search }: InventoryListInput, bind: Bind): string[] {
  const tables = inventoryTables[kind];
  const conditions = [];
  if (type !== undefined) conditions.push(`${tables.type} = ${bind(type)}`);
  if (status !== undefined && kind === "resources") conditions.push(`status = ${bind(status)}`);
  if (search !== undefined) conditions.push(isFound(tables.id, bind(search)));
  return conditions;
}

/** Returns a condition: the id or the name has the text, in any case. */
export function isFound(id: string, text: string): string {
  const part = `lower(${text}::text)`;
  return `(strpos(lower(${id}), ${part}) > 0 OR strpos(lower(display_name), ${part}) > 0)`;
}

const times: readonly string[] = ["created_at", "deleted_at", "last_seen_at"];

function shown(kind: InventoryKind): string {
  return [...inventoryColumns(kind), "last_seen_at"]
    .map((column) => (times.includes(column) ? `${instantText(`page.${column}`)} AS ${column}` : column))
    .join(", ");
}

interface PageRow<Item> {
  readonly total: number;
  readonly cursor_key: string[] | null;
  readonly item: Item;
}

/** Throws InvalidParameterError for invalid times and cursors. */
export async function readInventoryPage<Kind extends InventoryKind>(
  pool: Pool,
  kind: Kind,
  tenantName: string,
  input: InventoryListInput,
  signal?: AbortSignal,
): Promise<InventoryPage<ItemOf[Kind]>> {
  const { page_size, page: _page, cursor: _cursor, ...query } = input;
  const fingerprint = cursorFingerprint({ ...query, tenantName });
  const order = inventoryOrder(kind, input.sort, input.order);
  const after = cursorOf(input, kind, fingerprint, order.keyColumns);
  const read = inventoryPage(kind, tenantName, input, { order, after });
  const rows = await readPostgres<PageRow<ItemOf[Kind]>>(pool, read, signal);
  const found = rows.filter(({ cursor_key }) => cursor_key !== null);
  const key = found.length > page_size ? found[page_size - 1]?.cursor_key : undefined;
  return {
    items: found.slice(0, page_size).map(({ item }) => item),
    total: rows[0]?.total ?? 0,
    next_cursor: key ? encodeCursor(kind, fingerprint, key) : null,
  };
}
