import type { ClickHouseClient } from "@clickhouse/client";
import { filledDays } from "../clickhouse/partitions.js";
import { readRows } from "../clickhouse/statement.js";
import { checkPublishedAttributions, type DayCheck } from "./sql/check-conservation.js";

/**
 * Returns days whose visible topic attributions do not add up to their staged bill. Costs nothing if there are none.
 */
export async function outdatedAttributions(
  scope: { readonly client: ClickHouseClient; readonly epoch: number; readonly signal: AbortSignal },
  days: readonly string[],
): Promise<string[]> {
  const { client, epoch, signal } = scope;
  if (days.length === 0) return [];
  const filled = (await filledDays(client, ["topic_attributions"], signal)).get("topic_attributions");
  const attributed = days.filter((day) => filled?.has(day));
  if (attributed.length === 0) return [];
  const statement = checkPublishedAttributions({ epoch, days: attributed });
  const checks = await readRows<DayCheck>(client, statement, signal);
  return checks.filter((check) => check.lines_off !== 0).map((check) => check.day);
}
