import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { filledDays } from "../store/clickhouse/partitions.js";
import { isoDay } from "../store/clickhouse/sql-text.js";
import { type FactTable, factTables } from "../store/fact-tables.js";
import { publishAtomically } from "../store/facts/atomic-swap.js";
import { deletePublishedDays } from "../store/facts/store-state.js";
import { runStatement } from "../store/postgres/statement.js";
import { forgetDimensions } from "../tags/forget-dimensions.js";

/**
 * Drops what is older than a tenant's retention: whole days of facts, their state, old runs, entities deleted before. What an ecosystem keeps
 * for itself, such as lines of bills, it drops when it gathers.
 */
export interface Retention {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly postgres: Pool;
  readonly tenantName: string;
  /** First UTC day that is kept. */
  readonly keepFrom: string;
  /** The same for attributions to topics, which have a retention of their own. */
  readonly keepAttributionsFrom: string;
  /** First UTC day that is still gathered. */
  readonly gatheredFrom: string;
}

const attributionTables: ReadonlySet<string> = new Set([
  "topic_usage",
  "topic_usage_gaps",
  "topic_attributions",
]);

/** Returns how many days of facts went. */
export async function applyRetention(retention: Retention): Promise<number> {
  const { client, keepFrom } = retention;
  const dropped = new Set<string>();
  // Dimensions of days that a store has lost, and that come back, keep their tags.
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

/** One statement, so that the state of a day goes as a whole. */
function forgetBefore({ tenantName, keepFrom, keepAttributionsFrom }: Retention) {
  return {
    query: `
WITH days AS (DELETE FROM tracking_dates WHERE tenant_name = $1 AND tracking_date < $2),
  attributions AS (DELETE FROM topic_attribution_dates WHERE tenant_name = $1 AND tracking_date < $3),
  gathers AS (DELETE FROM gathered_days WHERE tenant_name = $1 AND tracking_date < $2),
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
 * States of resources and identities that were over by then. (With an entity its states go by themselves.) The oldest that stays
 * then stands for all the time before, as the first one always does. Two statements a table, for the one frees the other's key.
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
