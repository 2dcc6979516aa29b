/** Resources of the lines that count, made distinct by the engine, with their latest names. */
import type { Statement } from "../../../../clickhouse/statement.js";

interface Kind {
  readonly id: string;
  /** SQL expressions over the line. */
  readonly type: string;
  readonly name: string;
  readonly parent: string;
}

/** If an id is that of a resource and of an account, the later kind in this list counts. */
const kinds: readonly Kind[] = [
  {
    id: "ResourceId",
    type: "if(ResourceType = '', 'resource', ResourceType)",
    name: "ResourceName",
    parent: "SubAccountId",
  },
  { id: "SubAccountId", type: "'sub_account'", name: "SubAccountName", parent: "BillingAccountId" },
  { id: "BillingAccountId", type: "'billing_account'", name: "BillingAccountName", parent: "''" },
];

/**
 * Takes the newest value that is not empty; the choice between two of the same day is deterministic. A line without a
 * readable date has no day.
 */
function resourcesOfKind({ id, type, name, parent }: Kind, rank: number, counted: string): string {
  const newest = (value: string) => `argMaxIf(${value}, (charge_day, ${value}), ${value} != '')`;
  return `
SELECT ${id} AS resource_id, ${rank} AS rank, ${newest(type)} AS resource_type, ${newest(name)} AS display_name, ${newest(parent)} AS parent_id,
  minOrNullIf(charge_day, charge_day > toDate(0)) AS first_day, if(isNull(first_day), NULL, max(charge_day)) AS last_day
FROM focus_lines WHERE delivery IN {deliveries:Array(UInt64)} AND ${id} != '' AND ${counted} GROUP BY resource_id`;
}

/** Selects rows for `InventorySink.resourceRows`. `counted`: SQL of `isCounted`. */
export function resourcesOf(deliveries: readonly number[], counted: string): Statement {
  const query = `
SELECT resource_id, resource_type, display_name, parent_id, '' AS owner_id, first_day, last_day
FROM (${kinds.map((kind, rank) => resourcesOfKind(kind, rank, counted)).join("\nUNION ALL")}
) ORDER BY rank DESC LIMIT 1 BY resource_id`;
  return { query, params: { deliveries } };
}
