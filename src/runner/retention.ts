import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { filledDays } from "../clickhouse/partitions.js";
import { isoDay } from "../clickhouse/sql-text.js";
import { type FactTable, factTables } from "../domain/fact-tables.js";
import { dropTotalsBefore } from "../ingest/control/record-totals.js";
import { runStatement } from "../postgres/statement.js";
import { publishAtomically } from "../stores/facts/atomic-swap.js";
import { deletePublishedDays } from "../stores/facts/store-state.js";
import { forgetDimensions } from "../tags/forget-dimensions.js";

/**
 * Drops data that is older than a tenant's retention: whole days of facts, their state and control totals, old runs,
 * and entities that were deleted before. Ecosystems drop data of their own, such as lines of bills, when they gather.
 */
export interface Retention {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly postgres: Pool;
  readonly tenantName: string;
  /** First UTC day within the retention. */
  readonly keepFrom: string;
  /** First UTC day within the retention of attributions to topics. */
  readonly keepAttributionsFrom: string;
  /** First UTC day that is still gathered. */
  readonly gatheredFrom: string;
}

const attributionTables: ReadonlySet<string> = new Set([
  "topic_usage",
  "topic_usage_gaps",
  "topic_attributions",
]);

/** Returns the number of days whose facts were dropped. */
export async function applyRetention(retention: Retention): Promise<number> {
  const { client, keepFrom } = retention;
  const dropped = new Set<string>();
  // Keep dimensions while lost days may still come back, so that they keep their tags.
  if (!(await waitsForLostDays(retention))) await forgetDimensions(retention);
  const filled = await filledDays(client, factTables);
  const oldDays = (table: FactTable) => {
    const from = attributionTables.has(table) ? retention.keepAttributionsFrom : keepFrom;
    return [...(filled.get(table) ?? [])].filter((day) => day < from);
  };
  const drop = async (table: FactTable) => {
    const old = oldDays(table);
    if (old.length === 0) return;
    const actions = old.map((day) => `DROP PARTITION '${isoDay(day)}'`).join(", ");
    await client.command({ query: `ALTER TABLE ${table} ${actions}` });
    for (const day of old) dropped.add(day);
  };
  const old = [...new Set([...oldDays("chargebacks"), ...oldDays("billing")])];
  if (old.length > 0) {
    const steps = { chargebacks: () => drop("chargebacks"), billing: () => drop("billing") };
    await publishAtomically(retention, old, { ...steps, removed: true });
  }
  for (const table of factTables) if (table !== "chargebacks" && table !== "billing") await drop(table);
  await deletePublishedDays(client, {
    chargebacks: keepFrom,
    topic_attributions: retention.keepAttributionsFrom,
  });
  await runStatement(retention.postgres, forgetBefore(retention));
  await runStatement(retention.postgres, dropTotalsBefore(retention.tenantName, keepFrom));
  for (const statement of forgetVersionsBefore(retention)) await runStatement(retention.postgres, statement);
  return dropped.size;
}

async function waitsForLostDays({ postgres, tenantName, gatheredFrom }: Retention): Promise<boolean> {
  const { rowCount } = await runStatement(postgres, {
    query:
      "SELECT FROM tracking_dates WHERE tenant_name = $1 AND lost_at IS NOT NULL AND tracking_date >= $2 LIMIT 1",
    params: [tenantName, gatheredFrom],
  });
  return rowCount !== 0;
}

/** One statement, so that all state of a day is deleted at once. */
function forgetBefore({ tenantName, keepFrom, keepAttributionsFrom }: Retention) {
  return {
    query: `
WITH days AS (DELETE FROM tracking_dates WHERE tenant_name = $1 AND tracking_date < $2),
  attributions AS (DELETE FROM topic_attribution_dates WHERE tenant_name = $1 AND tracking_date < $3),
  gathers AS (DELETE FROM gathered_days WHERE tenant_name = $1 AND tracking_date < $2),
  changes AS (DELETE FROM delivery_changes WHERE tenant_name = $1 AND $2 > ALL (days)),
  windows AS (DELETE FROM gathered_windows WHERE tenant_name = $1 AND window_end <= $2),
  usage AS (DELETE FROM usage_days WHERE tenant_name = $1 AND day < $2),
  old_uploads AS (
    DELETE FROM usage_uploads WHERE tenant_name = $1 AND origin = 'api' AND ended_at < $2::timestamp AT TIME ZONE 'UTC' AND last_day < $2
  ),
  old_runs AS (DELETE FROM runs WHERE tenant_name = $1 AND ended_at < $2::timestamp AT TIME ZONE 'UTC'),
  old_resources AS (DELETE FROM resources WHERE tenant_name = $1 AND deleted_at < $2::timestamp AT TIME ZONE 'UTC')
DELETE FROM identities WHERE tenant_name = $1 AND deleted_at < $2::timestamp AT TIME ZONE 'UTC'`,
    params: [tenantName, keepFrom, keepAttributionsFrom],
  };
}

/**
 * Deletes versions of resources and identities that ended before the first kept day. (Deleting an entity deletes its
 * versions.) The oldest remaining version then applies to all earlier time, as the first version always does. Two
 * statements per table, because the first frees the key that the second sets.
 */
function forgetVersionsBefore({ tenantName, keepFrom }: Retention) {
  const params = [tenantName, keepFrom];
  return (["resource_versions", "identity_versions"] as const).flatMap((table) => [
    {
      query: `DELETE FROM ${table} WHERE tenant_name = $1 AND valid_to <= $2::timestamp AT TIME ZONE 'UTC'`,
      params,
    },
    {
      query: `
UPDATE ${table} SET valid_from = '-infinity'
WHERE tenant_name = $1 AND valid_from > '-infinity' AND valid_from <= $2::timestamp AT TIME ZONE 'UTC'`,
      params,
    },
  ]);
}
