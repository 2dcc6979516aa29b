/**
 * Keeps published usage of a metric that can no longer be fetched: the published usage of the day and resource is
 * staged again, and the gap is dropped. So an outage neither degrades a healthy day nor causes a recalculation, and a
 * bill that is revised meanwhile is split by what was measured.
 *
 * Zero usage is a measurement, too: a resource counts as measured if its lines were published without a gap. A resource
 * that is new on the day, or has a new product, keeps its gap unless there are facts; the others of the day are not
 * affected. A resource also keeps its gap if the rules of the published day did not use the metric.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../../clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../../clickhouse/staging.js";
import type { MeasuredFacts, StagedDays } from "../measured-facts.js";
import { type MissingData, missingDataOf } from "../missing-data.js";

/** Returns the data that would be missing without the kept usage. */
export async function keepMeasuredUsage(
  client: ClickHouseClient,
  staged: StagedDays,
  facts: MeasuredFacts,
  signal: AbortSignal,
): Promise<MissingData> {
  if (staged.days.length === 0) return new Map();
  const params = {
    days: staged.days.map(isoDay),
    product_types: facts.productTypes ?? [],
    rules_hash: facts.rulesHash ?? "",
  };
  const measured = measuredGaps(staged.epoch, facts);
  const kept = await missingDataOf(client, { query: `SELECT * FROM (${measured})`, params }, signal);
  if (kept.size === 0) return kept;
  const usage = stagedTable(facts.ledger.usage, staged.epoch);
  const columns = `timestamp, metric, resource_id, ${facts.ledger.recipient}`;
  // Facts that came before the fetch was interrupted are already staged.
  await client.command({
    query_params: { ...params },
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    abort_signal: signal,
    query: `
      INSERT INTO ${usage} (${columns}, micro_units, scale)
      SELECT ${columns}, micro_units, scale FROM ${facts.ledger.usage}
      WHERE day IN {days:Array(Date)}
        AND (day, toString(metric), toString(resource_id)) IN (SELECT day, metric, resource_id FROM (${measured}))
        AND (${columns}) NOT IN (SELECT ${columns} FROM ${usage} WHERE day IN {days:Array(Date)})`,
  });
  await rewriteStagedDays(client, {
    table: facts.ledger.gaps,
    epoch: staged.epoch,
    signal,
    params,
    days: [...kept.keys()],
    select: "*",
    where: `(day, toString(metric), toString(resource_id)) NOT IN (SELECT day, metric, resource_id FROM (${measured}))`,
  });
  return kept;
}

/** Selects rows `{day, metric, resource_id, reason}`: staged gaps of usage that the published day has measured. */
function measuredGaps(epoch: number, { ledger, productTypes, rulesHash }: MeasuredFacts): string {
  const { usage, gaps } = ledger;
  const lines = `SELECT DISTINCT day, ${ledger.resource} AS resource_id, product_type FROM ${ledger.lines}`;
  const typeCondition =
    productTypes === undefined ? "" : " AND product_type IN {product_types:Array(String)}";
  const key = "day, toString(metric), toString(resource_id)";
  const line = "day, toString(resource_id), toString(product_type)";
  const inDays = "WHERE day IN {days:Array(Date)}";
  return `
    SELECT day, toString(metric) AS metric, toString(resource_id) AS resource_id, reason
    FROM ${stagedTable(gaps, epoch)} AS g
    ${inDays}
      AND (${key}) NOT IN (SELECT ${key} FROM ${gaps} ${inDays})
      AND (day, toString(metric)) NOT IN (SELECT day, toString(metric) FROM ${gaps} ${inDays} AND resource_id = '')
      AND (
        (${key}) IN (SELECT DISTINCT ${key} FROM ${usage} ${inDays})
        OR (
          (day, toString(resource_id)) IN (SELECT day, toString(resource_id) FROM (${lines} ${inDays}${typeCondition}))
          AND (day, toString(resource_id)) NOT IN (
            SELECT day, toString(resource_id) FROM ${stagedTable("billing", epoch)}
            ${inDays}${typeCondition} AND (${line}) NOT IN (SELECT ${line} FROM (${lines} ${inDays}${typeCondition}))
          )${rulesHash === undefined ? "" : ` AND NOT (${isNewlyMetered(inDays)})`}
        )
      )`;
}

/**
 * Condition on gaps: the rules use the metric now, and those of the published day did not; or it is a product that is
 * priced by samples, and the published day has no line of it. Takes the parameter `rules_hash`.
 */
function isNewlyMetered(inDays: string): string {
  const rules = "SELECT product_type FROM allocation_rules WHERE rules_hash = {rules_hash:String}";
  const metrics = "SELECT arrayJoin(sources) FROM allocation_rules WHERE kind = 'usage'";
  const published = `SELECT DISTINCT day, toString(rules_hash) AS rules_hash FROM chargebacks ${inDays}`;
  return `
    toString(metric) IN (${metrics} AND rules_hash = {rules_hash:String})
    AND (day, toString(metric)) NOT IN (
      SELECT p.day, toString(arrayJoin(r.sources)) FROM (${published}) AS p
      JOIN allocation_rules AS r ON r.rules_hash = p.rules_hash WHERE r.kind = 'usage'
    )
    AND day NOT IN (SELECT day FROM (${published}) WHERE rules_hash = '')
    OR toString(metric) IN (${rules})
    AND (day, toString(resource_id), toString(metric)) NOT IN (
      SELECT day, toString(resource_id), toString(product_type) FROM billing ${inDays}
    )`;
}
