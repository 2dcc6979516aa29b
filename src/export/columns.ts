/** The columns that a CSV export can have, and how each is formatted. */
import { factTableColumns, type ShownColumn, shownColumns } from "../domain/fact-tables.js";

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
