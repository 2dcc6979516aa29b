/** Resources that the lines of the deliveries that count are about: distinct in the engine, at their latest names. */
import type { ClickHouseClient } from "@clickhouse/client";
import { streamRows } from "../../../../store/clickhouse/statement.js";
import type { InventorySink, ResourceRecord } from "../../../ecosystem.js";
import { seenOnDays } from "../../../inventory/seen.js";

interface Kind {
  readonly id: string;
  /** Expressions on the line. */
  readonly type: string;
  readonly name: string;
  readonly parent: string;
}

/** An id may be that of a resource and of an account: the account, which is sent last, then counts. */
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
function resourcesOf({ id, type, name, parent }: Kind): string {
  const newest = (value: string) => `argMaxIf(${value}, (charge_day, ${value}), ${value} != '')`;
  return `
SELECT ${id} AS resource_id, ${newest(type)} AS resource_type, ${newest(name)} AS display_name, ${newest(parent)} AS parent_id,
  toString(minOrNullIf(charge_day, charge_day > toDate(0))) AS first_day, toString(max(charge_day)) AS last_day
FROM focus_lines WHERE delivery IN {deliveries:Array(UInt64)} AND ${id} != '' GROUP BY resource_id`;
}

interface Row {
  readonly resource_id: string;
  readonly resource_type: string;
  readonly display_name: string;
  readonly parent_id: string;
  /** Null when no line of it has a readable date. */
  readonly first_day: string | null;
  readonly last_day: string;
}

export async function gatherResources(
  client: ClickHouseClient,
  deliveries: readonly number[],
  sink: InventorySink,
  signal: AbortSignal,
): Promise<void> {
  for (const kind of kinds) {
    const read = { query: resourcesOf(kind), params: { deliveries } };
    for await (const rows of streamRows<Row>(client, read, signal)) await sink.resources(rows.map(recordOf));
  }
}

function recordOf(row: Row): ResourceRecord {
  const { resource_id, resource_type, display_name, parent_id, first_day, last_day } = row;
  return {
    resource_id,
    resource_type,
    display_name: display_name === "" ? null : display_name,
    parent_id: parent_id === "" ? null : parent_id,
    owner_id: null,
    created_at: null,
    seen: first_day === null ? undefined : seenOnDays(first_day, last_day),
    metadata: {},
  };
}
