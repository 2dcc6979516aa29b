/**
 * Drops usage of excluded topics from restored usage. Topics that were measured before may be excluded by now, and are
 * charged nothing.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import type { StagedDays } from "./measured-facts.js";

export async function leaveOutExcluded(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  isExcluded: (topic: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  if (days.length === 0) return;
  const read = {
    query: `
      SELECT toString(topic_name) AS topic, groupUniqArray(toString(day)) AS days FROM ${stagedTable("topic_usage", epoch)}
      WHERE day IN {days:Array(Date)} GROUP BY topic`,
    params: { days: days.map(isoDay) },
  };
  const found = await readRows<{ topic: string; days: string[] }>(client, read, signal);
  const excluded = found.filter(({ topic }) => isExcluded(topic));
  await rewriteStagedDays(client, {
    table: "topic_usage",
    epoch,
    signal,
    select: "*",
    days: [...new Set(excluded.flatMap((each) => each.days))].sort(),
    where: "topic_name NOT IN {excluded_topics:Array(String)}",
    params: { excluded_topics: excluded.map(({ topic }) => topic) },
  });
}
