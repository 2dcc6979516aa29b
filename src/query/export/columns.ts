/** What a CSV export can have as columns, and how each is written. */
export const exportColumns = {
  ecosystem: "text",
  tenant_id: "text",
  timestamp: "plain",
  resource_id: "text",
  product_category: "text",
  product_type: "text",
  identity_id: "text",
  cost_type: "text",
  amount: "amount",
  allocation_method: "text",
  allocation_detail: "text",
  provisional: "flag",
  currency: "text",
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
