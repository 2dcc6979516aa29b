/** The order of inventory lists, and the condition for what comes after a row. The id breaks every tie. */
import type { Bind } from "../../postgres/bindings.js";
import type { CursorKey, KeyColumn } from "../page/cursor.js";
import { type InventoryKind, inventoryTables } from "./known.js";

export type SortOrder = "asc" | "desc";

export const sortOrders = ["asc", "desc"] as const satisfies readonly SortOrder[];

export const inventorySorts = {
  resources: [
    "resource_id",
    "resource_type",
    "display_name",
    "status",
    "created_at",
    "deleted_at",
    "last_seen_at",
  ],
  identities: ["identity_id", "identity_type", "display_name", "created_at", "deleted_at", "last_seen_at"],
} as const satisfies Record<InventoryKind, readonly string[]>;

interface SortKey {
  readonly sql: string;
  readonly type: "text" | "numeric";
}

const text = (column: string): SortKey => ({ sql: `coalesce(${column}, '')`, type: "text" });
/** Seconds since 1970, to the microsecond. Missing times come first. */
const time = (column: string): SortKey => ({
  sql: `coalesce(extract(epoch FROM ${column}), -1000000000000000)`,
  type: "numeric",
});

/** Keys by column. The id is always the last key, so it has no entry. */
const sortKeys = new Map<string, SortKey>([
  ["resource_type", text("resource_type")],
  ["identity_type", text("identity_type")],
  ["display_name", text("display_name")],
  ["status", text("status")],
  ["created_at", time("created_at")],
  ["deleted_at", time("deleted_at")],
  ["last_seen_at", time("last_seen_at")],
]);

export interface InventoryOrder {
  /** The text after ORDER BY. */
  readonly orderBy: string;
  /** The values of a row for its cursor, as an array of text. */
  readonly keySql: string;
  readonly keyColumns: readonly KeyColumn[];
  /** Condition for rows after a key. It compares rows, which for ids uses the index. */
  afterKey(key: CursorKey, bind: Bind): string;
}

export function inventoryOrder(kind: InventoryKind, sort: string, order: SortOrder): InventoryOrder {
  const byId: SortKey = { sql: inventoryTables[kind].id, type: "text" };
  const key = sortKeys.get(sort);
  const keys = key ? [key, byId] : [byId];
  const direction = { asc: "ASC", desc: "DESC" }[order];
  return {
    orderBy: keys.map(({ sql }) => `${sql} ${direction}`).join(", "),
    keySql: `ARRAY[${keys.map(({ sql }) => `(${sql})::text`).join(", ")}]`,
    keyColumns: keys.map(({ type }) => (type === "numeric" ? "decimal" : "text")),
    afterKey(cursorKey, bind) {
      const values = keys.map(({ type }, index) => `${bind(cursorKey[index])}::${type}`);
      return `(${keys.map(({ sql }) => sql).join(", ")}) ${order === "asc" ? ">" : "<"} (${values.join(", ")})`;
    },
  };
}
