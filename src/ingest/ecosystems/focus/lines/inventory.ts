/** Resources that the lines of the deliveries that count are about: distinct in the engine, at their latest names. */
import type { Statement } from "../../../../store/clickhouse/statement.js";

interface Kind {
  readonly id: string;
  /** Expressions on the line. */
  readonly type: string;
  readonly name: string;
  readonly parent: string;
}

/** An id may be that of a resource and of an account: the last one then counts. */
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

/** What the newest line says that says anything; of two of a day, the same one each time. A line without a readable date was seen on no day. */
function resourcesOfKind({ id, type, name, parent }: Kind, rank: number, counted: string): string {
  const newest = (value: string) => `argMaxIf(${value}, (charge_day, ${value}), ${value} != '')`;
  return `
SELECT ${id} AS resource_id, ${rank} AS rank, ${newest(type)} AS resource_type, ${newest(name)} AS display_name, ${newest(parent)} AS parent_id,
  minOrNullIf(charge_day, charge_day > toDate(0)) AS first_day, if(isNull(first_day), NULL, max(charge_day)) AS last_day
FROM focus_lines WHERE delivery IN {deliveries:Array(UInt64)} AND ${id} != '' AND ${counted} GROUP BY resource_id`;
}

/** As `InventorySink.resourceRows` takes them. `counted`: SQL of `isCounted`. */
export function resourcesOf(deliveries: readonly number[], counted: string): Statement {
  const query = `
SELECT resource_id, resource_type, display_name, parent_id, '' AS owner_id, first_day, last_day
FROM (${kinds.map((kind, rank) => resourcesOfKind(kind, rank, counted)).join("\nUNION ALL")}
) ORDER BY rank DESC LIMIT 1 BY resource_id`;
  return { query, params: { deliveries } };
}
