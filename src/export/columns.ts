/** The columns that a CSV export can have, and how each is formatted. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../clickhouse/statement.js";
import { factTableColumns, type ShownColumn, shownColumns } from "../domain/fact-tables.js";
import { rowsInWindow } from "../query/chargebacks/scan.js";
import type { DateWindow } from "../query/time/date-window.js";

type StoredKind = "plain" | "text" | "flag" | "map";

/** The stored columns and their kinds. */
const stored = Object.fromEntries(
  shownColumns("chargebacks").map((name) => [name, storedKind(factTableColumns.chargebacks[name].kind)]),
) as Readonly<Record<ShownColumn<"chargebacks">, StoredKind>>;

function storedKind(kind: string): StoredKind {
  if (kind === "time") return "plain";
  return kind === "flag" || kind === "map" ? kind : "text";
}

export const exportColumns = {
  ...stored,
  dimension_id: "dimension_id",
  amount: "amount",
  tags: "tags",
  metadata: "metadata",
  tag_pairs: "tag_pairs",
  identity_name: "name",
  identity_type: "name",
  team: "name",
  resource_name: "name",
  resource_type: "name",
} as const;
export type ExportColumn = keyof typeof exportColumns;

export const exportColumnNames = Object.keys(exportColumns) as ExportColumn[];

export const defaultExportColumns: readonly ExportColumn[] = [
  "timestamp",
  "resource_id",
  "product_category",
  "product_type",
  "identity_id",
  "cost_type",
  "amount",
  "allocation_method",
  "tags",
];

/** Selects the currencies of a window's chargebacks, two at most. */
export function currenciesInWindow(window: DateWindow): Statement {
  const { condition, params } = rowsInWindow(window);
  return { query: `SELECT DISTINCT currency FROM chargebacks WHERE ${condition} LIMIT 2`, params };
}

/**
 * Returns the columns of an export for people: the default columns, with `currency` after `amount` if the window has
 * several currencies, which one column would mix.
 */
export async function columnsWithCurrency(
  client: ClickHouseClient,
  window: DateWindow,
  signal: AbortSignal,
): Promise<readonly ExportColumn[]> {
  const currencies = await readRows(client, currenciesInWindow(window), signal);
  if (currencies.length < 2) return defaultExportColumns;
  return defaultExportColumns.flatMap((column) => (column === "amount" ? [column, "currency"] : [column]));
}
