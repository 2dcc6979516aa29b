/**
 * Drops usage that stands in for a metric with staged usage. A gatherer stages stand-ins if it got nothing of a metric.
 * Later, staging may restore the published usage of that metric, because it could not be fetched or the upstream has
 * dropped its samples. Without this step the stand-ins would stay beside it, and an unchanged day would count as
 * changed.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import type { StagedDays } from "./measured-facts.js";

/** `metrics`: see `Ecosystem.standIns`. */
export async function dropStandIns(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  metrics: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (days.length === 0 || metrics.length < 2) return;
  const params = { days: days.map(isoDay), metrics: [...metrics] };
  const staged = stagedTable("usage", epoch);
  const position = "indexOf({metrics:Array(String)}, toString(metric))";
  const preferred = `
    SELECT day, toString(resource_id) AS resource_id, min(${position}) AS first, max(${position}) AS last
    FROM ${staged} WHERE day IN {days:Array(Date)} AND metric IN {metrics:Array(String)}
    GROUP BY day, resource_id HAVING first < last`;
  const read = { query: `SELECT DISTINCT toString(day) AS day FROM (${preferred}) ORDER BY day`, params };
  const found = await readRows<{ day: string }>(client, read, signal);
  await rewriteStagedDays(client, {
    table: "usage",
    epoch,
    signal,
    params,
    days: found.map(({ day }) => day),
    select: `${staged}.*`,
    from: `${staged} LEFT JOIN (${preferred}) AS preferred
      ON preferred.day = ${staged}.day AND preferred.resource_id = toString(${staged}.resource_id)`,
    where: `preferred.first = 0 OR ${position} <= preferred.first`,
  });
}
