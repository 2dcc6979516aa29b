/** Resources that the lines of the deliveries that count are about: distinct in the engine, at their latest names. */
import type { ClickHouseClient } from "@clickhouse/client";
import { streamRows } from "../../../../store/clickhouse/statement.js";
import type { InventorySink, ResourceRecord } from "../../../ecosystem.js";

const resources = `
SELECT ResourceId AS resource_id, argMax(if(ResourceType = '', 'resource', ResourceType), charge_day) AS resource_type,
  argMax(ResourceName, charge_day) AS display_name, argMax(SubAccountId, charge_day) AS parent_id
FROM focus_lines WHERE delivery IN {deliveries:Array(UInt64)} AND ResourceId != '' GROUP BY resource_id`;
const subAccounts = `
SELECT SubAccountId AS resource_id, 'sub_account' AS resource_type,
  argMax(SubAccountName, charge_day) AS display_name, argMax(BillingAccountId, charge_day) AS parent_id
FROM focus_lines WHERE delivery IN {deliveries:Array(UInt64)} AND SubAccountId != '' GROUP BY resource_id`;
const billingAccounts = `
SELECT BillingAccountId AS resource_id, 'billing_account' AS resource_type,
  argMax(BillingAccountName, charge_day) AS display_name, '' AS parent_id
FROM focus_lines WHERE delivery IN {deliveries:Array(UInt64)} AND BillingAccountId != '' GROUP BY resource_id`;

type Row = Record<"resource_id" | "resource_type" | "display_name" | "parent_id", string>;

export async function gatherResources(
  client: ClickHouseClient,
  deliveries: readonly number[],
  sink: InventorySink,
  signal: AbortSignal,
): Promise<void> {
  // An id may be that of a resource and of an account: the account, which is sent last, then counts.
  for (const query of [resources, subAccounts, billingAccounts]) {
    for await (const rows of streamRows<Row>(client, { query, params: { deliveries } }, signal))
      await sink.resources(rows.map(recordOf));
  }
}

function recordOf({ resource_id, resource_type, display_name, parent_id }: Row): ResourceRecord {
  return {
    resource_id,
    resource_type,
    display_name: display_name === "" ? null : display_name,
    parent_id: parent_id === "" ? null : parent_id,
    owner_id: null,
    created_at: null,
    metadata: {},
  };
}
