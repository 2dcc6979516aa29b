/**
 * Resources or identities by what they cost in a period. The store sums the chargebacks of each; Postgres joins the
 * sums with the inventory, sorts and cuts the page. The sums go from one to the other as one text.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { readTuples, type Statement } from "../../clickhouse/statement.js";
import { type Bind, bindings } from "../../postgres/bindings.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import { withClause } from "../chargebacks/scan.js";
import { aggregateSource, columnKeys, rowsToSum } from "../chargebacks/summed-rows.js";
import type { PageRequest } from "../page/position.js";
import type { DateWindow } from "../time/date-window.js";
import { type InventoryKind, inventoryTables } from "./known.js";
import { isFound } from "./list.js";

/** SQL of each key that the list can be sorted by. */
const sortKeys = {
  cost: "cost_key",
  id: "id",
  type: "type",
  name: "lower(coalesce(display_name, id))",
  created_at: "created_at",
  deleted_at: "deleted_at",
  last_seen_at: "last_seen_at",
} as const;
type SortKey = keyof typeof sortKeys;
type CostOrder = `${SortKey}.${"asc" | "desc"}`;

export const costOrders = (Object.keys(sortKeys) as SortKey[]).flatMap((key): CostOrder[] => [
  `${key}.asc`,
  `${key}.desc`,
]);

export interface InventoryCostsInput extends PageRequest {
  readonly kind: InventoryKind;
  readonly window: DateWindow;
  /** Matches exactly. */
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  /** Matches a part of the id or of the display name, ignoring case. */
  readonly search?: string | undefined;
  /** Also lists what has no cost in the period. */
  readonly costless: boolean;
  readonly order: CostOrder;
}

/** An entry that only chargebacks name has no type, status and times. */
export interface InventoryCost {
  readonly id: string;
  readonly type: string | null;
  readonly display_name: string | null;
  readonly status: "active" | "deleted" | null;
  readonly parent_id: string | null;
  readonly owner_id: string | null;
  readonly team: string | null;
  readonly created_at: string | null;
  readonly deleted_at: string | null;
  readonly last_seen_at: string | null;
  /** By currency; plain decimals. Empty without cost. */
  readonly costs: { readonly currency: string; readonly amount: string }[];
}

/** Selects one JSON list of `{id, currency, amount}`, without sums that are 0. */
export function costsById(kind: InventoryKind, window: DateWindow): Statement {
  const { id } = inventoryTables[kind];
  const source = aggregateSource({
    window,
    filters: {},
    groupBy: [id === "resource_id" ? "resource_id" : "identity_id", "currency"],
    timeBucket: "day",
  });
  return {
    query: `
${withClause(...source.withClauses)}SELECT toJSONString(groupArray(CAST((c0, c1, toString(amount)), 'Tuple(id String, currency String, amount String)')))
FROM (
  SELECT c0, c1, sum(hi) + sum(lo) AS amount
  FROM ${rowsToSum(source, columnKeys(source.columns))}
  GROUP BY c0, c1 HAVING amount != 0
)`,
    params: source.params,
  };
}

/**
 * Selects `{total, item}`; for a page without entries, one row whose item is null. Costs in several currencies are
 * compared currency by currency, in the order of their codes.
 */
function inventoryByCost(
  tenantName: string,
  sums: string,
  { kind, type, status, search, costless, order, page, page_size }: InventoryCostsInput,
): PgStatement {
  const { present, id, type: typeColumn } = inventoryTables[kind];
  const { bind, params } = bindings();
  const [key, direction] = order.split(".") as [SortKey, "asc" | "desc"];
  // The id breaks ties. Values that are unknown come last in both directions.
  const orderBy = `${sortKeys[key]} ${direction.toUpperCase()} NULLS LAST, id`;
  const own = {
    resources: "parent_id, owner_id, NULL::text AS team",
    identities: "NULL::text AS parent_id, NULL::text AS owner_id, metadata->>'team' AS team",
  }[kind];
  const times = ["created_at", "deleted_at", "last_seen_at"].map(
    (column) => `${instantText(`page.${column}`)} AS ${column}`,
  );
  return {
    query: `
WITH sums AS MATERIALIZED (
  SELECT * FROM json_to_recordset(${bind(sums)}::json) AS sum (id text, currency text, amount numeric)
), costs AS (
  SELECT id, json_agg(json_build_object('currency', currency, 'amount', amount::text) ORDER BY currency) FILTER (WHERE amount IS NOT NULL) AS costs,
    array_agg(coalesce(amount, 0) ORDER BY currency) AS cost_key
  FROM (SELECT DISTINCT id FROM sums) AS ids CROSS JOIN (SELECT DISTINCT currency FROM sums) AS currencies LEFT JOIN sums USING (id, currency)
  GROUP BY id
), known AS (
  SELECT ${id} AS id, ${typeColumn} AS type, display_name, CASE WHEN deleted_at IS NULL THEN 'active' ELSE 'deleted' END AS status,
    ${own}, created_at, deleted_at, last_seen_at
  FROM ${present} WHERE tenant_name = ${bind(tenantName)}
), entries AS (
  SELECT * FROM known FULL JOIN costs USING (id) WHERE ${conditions({ type, status, search, costless }, bind)}
)
SELECT total, CASE WHEN page.id IS NOT NULL THEN (SELECT row_to_json(shown) FROM (
  SELECT id, type, display_name, status, parent_id, owner_id, team, ${times.join(", ")}, coalesce(costs, '[]') AS costs
) AS shown) END AS item
FROM (SELECT count(*) AS total FROM entries) AS counted
LEFT JOIN (SELECT * FROM entries ORDER BY ${orderBy} LIMIT ${bind(page_size)} OFFSET ${bind((page - 1) * page_size)}) AS page ON true
ORDER BY ${orderBy}`,
    params,
  };
}

function conditions(
  { type, status, search, costless }: Pick<InventoryCostsInput, "type" | "status" | "search" | "costless">,
  bind: Bind,
): string {
  return [
    "true",
    ...(type === undefined ? [] : [`type = ${bind(type)}`]),
    ...(status === undefined ? [] : [`status = ${bind(status)}`]),
    ...(search === undefined ? [] : [isFound("id", bind(search))]),
    ...(costless ? [] : ["costs IS NOT NULL"]),
  ].join(" AND ");
}

export async function readInventoryCosts(
  { client, postgres }: { readonly client: ClickHouseClient; readonly postgres: Pool },
  tenantName: string,
  input: InventoryCostsInput,
  signal?: AbortSignal,
): Promise<{ items: InventoryCost[]; total: number }> {
  const [[sums = "[]"] = []] = await readTuples<[string]>(
    client,
    costsById(input.kind, input.window),
    signal,
  );
  const read = inventoryByCost(tenantName, sums, input);
  const rows = await readPostgres<{ total: number; item: InventoryCost | null }>(postgres, read, signal);
  return { items: rows.flatMap(({ item }) => item ?? []), total: rows[0]?.total ?? 0 };
}
